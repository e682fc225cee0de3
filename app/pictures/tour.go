package main

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"quartermaster/schema"
)

// tour follows one person's links, one page of each kind.
type tour struct {
	camera *camera
	who    string
	seen   map[string]bool
	queue  []string
	forms  []string // forms without a record: after all others
}

// named match the last parts of addresses that name a record.
var named = regexp.MustCompile(
	`^/(skus|purchase-orders|suppliers|products|units|plans|users|keys|orders|redeem-codes|licenses|customers|assets|work-orders|parts|leases|tenants|properties|payments|maintenance|photos|webhooks|docs|export|import|portal/tickets|portal/receipts|portal/photos|request|welcome|portal/welcome)/[^/?]+`)

// kind is an address without its record's name.
func kind(u *url.URL) string {
	path := named.ReplaceAllString(u.EscapedPath(), "/$1/N")
	if u.RawQuery != "" && !strings.HasPrefix(path, "/do/") {
		return path + "?"
	}
	return path
}

// follow queues an address, if it is one of our pages of a kind not shown yet.
func (t *tour) follow(host, address string) {
	u, err := url.Parse(address)
	if err != nil || u.Host != host || strings.HasPrefix(u.Path, "/static/") ||
		strings.Contains(u.RawQuery, "format=csv") || u.Path == "/logout" {
		return
	}
	u.Fragment = ""
	if strings.HasPrefix(u.Path, "/do/") && u.RawQuery == "" {
		t.forms = append(t.forms, u.String())
		return
	}
	if k := u.Host + kind(u); !t.seen[k] {
		t.seen[k] = true
		t.queue = append(t.queue, u.String())
	}
}

// walk shows the pages from the starts on.
func (t *tour) walk(ctx context.Context, starts ...string) error {
	if t.seen == nil {
		t.seen = map[string]bool{}
	}
	for _, s := range starts {
		u, err := url.Parse(s)
		if err != nil {
			return err
		}
		t.seen[u.Host+kind(u)] = true
		t.queue = append(t.queue, s)
	}
	for len(t.queue)+len(t.forms) > 0 {
		if len(t.queue) == 0 {
			u, err := url.Parse(t.forms[0])
			if err != nil {
				return err
			}
			if k := u.Host + kind(u); !t.seen[k] {
				t.seen[k] = true
				t.queue = append(t.queue, t.forms[0])
			}
			t.forms = t.forms[1:]
			continue
		}
		address := t.queue[0]
		t.queue = t.queue[1:]
		err := t.camera.shots(ctx, address, t.who+fileName(address))
		if err != nil && strings.Contains(err.Error(), "net::ERR_ABORTED") {
			t.camera.pages--
			continue // a file
		}
		if err != nil {
			return fmt.Errorf("%s: %w", address, err)
		}
		if err := t.camera.keep(ctx, address); err != nil {
			return err
		}
		links, err := chromedp.Run(ctx,
			chromedp.Evaluate[[]string](`[...document.querySelectorAll("a[href]:not([download])")].map(a => a.href)`))
		if err != nil {
			return err
		}
		here, err := url.Parse(address)
		if err != nil {
			return err
		}
		for _, l := range links {
			t.follow(here.Host, l)
		}
	}
	return nil
}

// keep writes the address, and its cookies, into the list.
func (c *camera) keep(ctx context.Context, address string) error {
	if c.list == "" {
		return nil
	}
	got, err := chromedp.Call(ctx, network.GetCookies, network.GetCookiesParams{URLs: []string{address}})
	if err != nil {
		return err
	}
	cookies := schema.Map(got.Cookies, func(k *network.Cookie) string { return k.Name + "=" + k.Value })
	c.shown = append(c.shown, address+"\t"+strings.Join(cookies, "; ")+"\n")
	return nil
}

// submit fills in the action's form and sends it: fields are CSS selectors and values. An empty address is the present
// page.
func submit(ctx context.Context, address string, fields ...string) error {
	if address != "" {
		if err := chromedp.Do(ctx, chromedp.Navigate(address), chromedp.WaitReady("main")); err != nil {
			return err
		}
	}
	for i := 0; i < len(fields); i += 2 {
		if err := chromedp.Do(ctx, chromedp.SetValue(fields[i], fields[i+1])); err != nil {
			return err
		}
	}
	// The next page does not have this page's mark.
	if _, err := chromedp.Run(ctx,
		chromedp.Evaluate[bool](
			`(() => { document.body.dataset.before = ""; const f = document.querySelector("main form[method=post]"); f.noValidate = true; setTimeout(() => f.submit(), 0); return true })()`)); err != nil {
		return err
	}
	return chromedp.Do(ctx, chromedp.WaitReady("body:not([data-before]) main"))
}

// tourAll visits everything as everybody.
func (c *camera) tourAll(ctx context.Context, bases []string) error {
	store, maintenance, rental := bases[0], bases[1], bases[2]
	if err := submit(ctx, maintenance+"/do/set_requests?asset_id=1"); err != nil {
		return err
	}
	staff := &tour{camera: c, who: "staff-"}
	for _, b := range bases {
		if err := staff.walk(ctx, b+"/"); err != nil {
			return err
		}
	}
	if err := c.states(ctx, bases); err != nil {
		return err
	}
	letter, err := c.letter(ctx, rental)
	if err != nil {
		return err
	}
	key, err := c.read(ctx, store+"/licenses/2", `document.querySelector("main code")?.textContent ?? ""`)
	if err != nil {
		return err
	}
	public, err := c.read(ctx, maintenance+"/assets/1", `document.querySelector("main a[href*='/request/']")?.href ?? ""`)
	if err != nil {
		return err
	}

	other, cancel := chromedp.NewContext(ctx, chromedp.WithNewBrowserContext())
	defer cancel()
	nobody := &tour{camera: c, who: "nobody-"}
	starts := []string{store + "/login", rental + "/portal", store + "/my", store + "/my/redeem", letter}
	if public != "" {
		starts = append(starts, public)
	}
	if err := nobody.walk(other, starts...); err != nil {
		return err
	}
	if err := submit(other, letter); err != nil {
		return err
	}
	tenant := &tour{camera: c, who: "tenant-"}
	if err := tenant.walk(other, rental+"/portal"); err != nil {
		return err
	}
	if err := submit(other, store+"/my", "#license_key", key); err != nil {
		return err
	}
	buyer := &tour{camera: c, who: "buyer-"}
	return buyer.walk(other, store+"/my")
}

// tourEmpty visits an empty installation as its admin.
func (c *camera) tourEmpty(ctx context.Context, bases []string) error {
	admin := &tour{camera: c, who: "empty-"}
	for _, b := range bases {
		if err := admin.walk(ctx, b+"/"); err != nil {
			return err
		}
	}
	return nil
}

// read returns the value of an expression in the page.
func (c *camera) read(ctx context.Context, address, expression string) (string, error) {
	if err := chromedp.Do(ctx, chromedp.Navigate(address), chromedp.WaitReady("main")); err != nil {
		return "", err
	}
	return chromedp.Run(ctx, chromedp.Evaluate[string](expression))
}
