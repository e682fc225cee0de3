//go:build linux

package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
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

// pages are the pages as a browser requests them, each next to the empty handler, and the same list or record over REST
// right after a change.
func (b *bench) pages(p *process, nothing floor) ([]oneCase, error) {
	if err := b.signIn(p); err != nil {
		return nil, err
	}
	s := b.shop
	lease := s.leases / 2
	var cases []oneCase
	for _, c := range []struct{ name, service, path, rest string }{
		{"the board", "maintenance", "/", ""},
		{"work orders", "maintenance", "/work-orders", "/api/work-orders?limit=50"},
		{"a work order", "maintenance", "/work-orders/7", "/api/work-orders/7"},
		{"assets", "maintenance", "/assets", "/api/assets?limit=50"},
		{"what is due", "maintenance", "/pm-due", "/api/pm-due"},
		{"SKUs", "reorder", "/skus", "/api/skus?limit=50"},
		{"what to order", "reorder", "/", "/api/reorder-report"},
		{"this month", "rental", "/", ""},
		{"leases", "rental", "/leases", "/api/leases?limit=50"},
		{"a ledger", "rental", fmt.Sprintf("/leases/%d", lease), fmt.Sprintf("/api/leases/%d/ledger", lease)},
		{"arrears", "rental", "/arrears", "/api/arrears"},
		{"the shop today", "store", "/", "/api/stats"},
		{"orders", "store", "/orders", "/api/orders?limit=50"},
		{"licenses", "store", "/licenses", "/api/licenses?limit=50"},
	} {
		floors := []floor{nothing}
		if c.rest != "" {
			floors = append(floors, floor{"same over REST", b.afresh(p, c.service, s.get(c.service, c.rest)).run})
		}
		cases = append(cases, oneCase{name: "pages: " + c.name, clients: 1, floors: floors,
			ours: b.ask(p, c.service, 1, always(s.browse(c.path)))})
	}
	return cases, nil
}
