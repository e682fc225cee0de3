//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// password is the password of the run's user.
const password = "a fine long password"

// signIn follows the run's invitation and keeps the cookie.
func (b *bench) signIn(p *process) error {
	status, cookies, err := post(p, b.shop.welcome, url.Values{"password": {password}})
	if err != nil {
		return err
	}
	if status != http.StatusSeeOther || len(cookies) == 0 {
		return fmt.Errorf("the invitation: status %d", status)
	}
	b.shop.cookie = cookies[0].Name + "=" + cookies[0].Value
	return nil
}

// post sends a form to the store as a browser does.
func post(p *process, path string, form url.Values) (status int, cookies []*http.Cookie, err error) {
	base := "http://" + p.addrs["store"]
	r, err := http.NewRequest(http.MethodPost, base+path, strings.NewReader(form.Encode()))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "text/html")
	r.Header.Set("Origin", base)
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return 0, nil, err
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, resp.Cookies(), errors.Join(err, resp.Body.Close())
}

// browse requests a page as the signed-in browser, which accepts gzip.
func (s *shop) browse(path string) []byte {
	return fmt.Appendf(nil,
		"GET %s HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\nAccept-Encoding: gzip\r\nCookie: %s\r\n\r\n", path,
		s.cookie)
}

// pages are the pages as a browser requests them, one at a time and by many, each next to the empty handler and the
// same list or record over REST, and right after a change.
func (b *bench) pages(p, empty *process) ([]oneCase, error) {
	if err := b.signIn(p); err != nil {
		return nil, err
	}
	s := b.shop
	lease := s.leases / 2
	var cases []oneCase
	for _, c := range []struct{ name, service, path, rest, target string }{
		{"the board", "maintenance", "/", "", "p99 <= 2 ms"},
		{"work orders", "maintenance", "/work-orders", "/api/work-orders?limit=50", "p99 <= 2 ms"},
		{"a work order", "maintenance", "/work-orders/7", "/api/work-orders/7", "p99 <= 2 ms"},
		{"assets", "maintenance", "/assets", "/api/assets?limit=50", "p99 <= 2 ms"},
		{"what is due", "maintenance", "/pm-due", "/api/pm-due", "p99 <= 2 ms"},
		{"SKUs", "reorder", "/skus", "/api/skus?limit=50", "p99 <= 2 ms"},
		{"what to order", "reorder", "/", "/api/reorder-report", "p99 <= 2 ms"},
		{"this month", "rental", "/", "", "p99 <= 2 ms"},
		{"leases", "rental", "/leases", "/api/leases?limit=50", "p99 <= 2 ms"},
		{"a ledger", "rental", fmt.Sprintf("/leases/%d", lease), fmt.Sprintf("/api/leases/%d/ledger", lease), "p99 <= 3 ms"},
		{"arrears", "rental", "/arrears", "/api/arrears", "p99 <= 2 ms"},
		{"the shop today", "store", "/", "/api/stats", "p99 <= 2 ms"},
		{"orders", "store", "/orders", "/api/orders?limit=50", "p99 <= 2 ms"},
		{"licenses", "store", "/licenses", "/api/licenses?limit=50", "p99 <= 2 ms"},
	} {
		page := s.browse(c.path)
		floors := []floor{{"empty handler", b.ask(empty, "empty", 1, always(request("GET", "/", "", "")))}}
		if c.rest != "" {
			floors = append(floors, floor{"same over REST", b.ask(p, c.service, 1, always(s.get(c.service, c.rest)))},
				floor{"REST right after a change", b.afresh(p, c.service, s.get(c.service, c.rest)).run})
		}
		floors = append(floors, floor{"page right after a change", b.afresh(p, c.service, page).run})
		cases = append(cases, oneCase{name: "pages: " + c.name, clients: 1, target: c.target,
			ours: b.ask(p, c.service, 1, always(page)), floors: floors})
	}
	return append(append(cases, b.changedLists(p, empty)...), b.besides(p, empty)...), nil
}

// besides are pages and REST at once: the list of 200 while 16 browsers request pages as fast as they can, and while
// 100 people click once a second.
func (b *bench) besides(p, empty *process) []oneCase {
	s := b.shop
	list := b.ask(p, "maintenance", readers, always(s.get("maintenance", "/api/work-orders")))
	beside := func(clients int, pause time.Duration) runner {
		return func() (sample, error) { return b.whileBrowsing(p, clients, pause, list) }
	}
	alone := floor{"the list alone", list}
	return []oneCase{
		{name: "pages: work orders, 16 browsers", clients: readers,
			ours: b.ask(p, "maintenance", readers, always(s.browse("/work-orders"))),
			floors: []floor{{"empty handler", b.ask(empty, "empty", readers, always(request("GET", "/", "", "")))},
				{"same over REST", b.ask(p, "maintenance", readers, always(s.get("maintenance", "/api/work-orders?limit=50")))}}},
		{name: "pages: 200 over REST beside 16 browsers at once", clients: readers, target: "90 % of alone",
			ours: beside(readers, 0), floors: []floor{alone}},
		{name: "pages: 200 over REST beside 100 people", clients: readers, target: "90 % of alone",
			ours: beside(100, time.Second), floors: []floor{alone}},
		{name: "pages: 64 sign-ins at once", clients: 64, target: "<= 8 MiB more",
			ours:   func() (sample, error) { return b.signIns(p) },
			floors: []floor{{"empty handler", b.ask(empty, "empty", 64, always(request("POST", "/", "", "")))}}},
	}
}

// whileBrowsing does the turn while so many browsers request pages, each with a pause between two clicks.
func (b *bench) whileBrowsing(p *process, clients int, pause time.Duration, turn runner) (sample, error) {
	stop := make(chan struct{})
	var all sync.WaitGroup
	paths := []struct{ service, path string }{{"maintenance", "/work-orders"}, {"reorder", "/skus"}, {"rental", "/leases"},
		{"store", "/orders"}}
	failed := make(chan error, clients)
	for i := range clients {
		at := paths[i%len(paths)]
		all.Go(func() {
			c, err := dial(p.addrs[at.service])
			if err != nil {
				failed <- err
				return
			}
			defer c.close()
			r := b.shop.browse(at.path)
			for first := pause * time.Duration(i) / time.Duration(clients); ; first = pause {
				select {
				case <-stop:
					return
				case <-time.After(first):
				}
				if status, err := c.do(r); err != nil || status != http.StatusOK {
					failed <- fmt.Errorf("%s: status %d: %w", at.path, status, err)
					return
				}
			}
		})
	}
	s, err := turn()
	close(stop)
	all.Wait()
	select {
	case bad := <-failed:
		err = errors.Join(err, bad)
	default:
	}
	return s, err
}

// signIns signs in 64 people at once: one password is hashed at a time, eight wait, and the others are told to retry.
func (b *bench) signIns(p *process) (s sample, err error) {
	before, err := p.memory("VmHWM")
	if err != nil {
		return s, err
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	began := time.Now()
	for range 64 {
		all.Go(func() {
			asked := time.Now()
			status, _, err := post(p, "/login", url.Values{"name": {"nobody here"}, "password": {"a wrong long password"}})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				statuses[status]++
				s.Took = append(s.Took, time.Since(asked))
			}
		})
	}
	all.Wait()
	s.Ops, s.Wall = len(s.Took), time.Since(began)
	after, err := p.memory("VmHWM")
	fmt.Fprintf(b.log, "64 sign-ins at once: statuses %v, the peak of memory grew by %.1f MiB\n", statuses, after-before)
	return s, err
}
