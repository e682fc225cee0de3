package screens

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"quartermaster/app/apptest"
	"quartermaster/app/server"
	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/page"
)

// shownAct is a link to an act's form or a button that does it, on a page.
type shownAct struct {
	page, op, action string
	fields           url.Values
	button           bool
}

// actsOf are the acts that a page shows, but those of its frame.
func actsOf(path, base string, got apptest.Sheet) (all []shownAct) {
	main := got.First("main")
	if main == nil {
		return nil
	}
	for n := range main.Descendants() {
		to := apptest.Attr(n, "href") + apptest.Attr(n, "formaction")
		button := n.Data == "form" && apptest.Attr(n, "method") == "post"
		if button {
			to = apptest.Attr(n, "action")
		}
		u, err := url.Parse(to)
		if err != nil {
			continue
		}
		op, is := strings.CutPrefix(u.Path, base)
		if !is {
			continue
		}
		a := shownAct{path, op, to, u.Query(), button}
		if button {
			a.fields = fieldsOf(n)
		}
		all = append(all, a)
	}
	return all
}

// fieldsOf is what a form sends when nothing is typed.
func fieldsOf(form *html.Node) url.Values {
	sent := url.Values{}
	for n := range form.Descendants() {
		name, kind := apptest.Attr(n, "name"), apptest.Attr(n, "type")
		switch {
		case name == "" || n.Type != html.ElementNode:
		case n.Data == "textarea":
			sent.Add(name, strings.TrimPrefix(rawText(n), "\n"))
		case n.Data == "select":
			sent.Add(name, pickedOf(n))
		case n.Data == "input" && (kind != "checkbox" || apptest.Has(n, "checked")):
			sent.Add(name, apptest.Attr(n, "value"))
		}
	}
	return sent
}

// notInTheDemo are acts whose place is on a record that the demo does not have, or that agents alone do.
var notInTheDemo = []string{
	"disable_webhook", "enable_webhook", "remove_webhook", "rotate_webhook", "set_webhook_parallel", "test_webhook",
	"resend_delivery", "switch_on", "enable_user", "unblock_address", "block_address", "cancel_mail", "resend_mail", "pause_mail",
	"resume_mail", "send_digests", "reset_mail_text", "mail_order", "mail_portal_invitation", "send_expiry_notices",
	"license_action", "update_workorder", "update_ticket", // agents' tools
	"recost", "remove_asset", "resume_plan", "tick_step", "end_recurring", "free_line", "open_year", "return_credit",
	"void_charge", "unreceive_purchase", "dismiss_payment", "retry_payment", "link_subscription", "remove_signing_key",
	"use_signing_key", "resume_license", "unset_provider", "void_order", "remove_photo", "return_part", "remove_logo",
	"cancel_lease", "set_first_day", // of a lease without payments
}

// TestWhatIsShownIsAllowed crawls the pages of every role. Every act that a page shows is open to who sees it:
// its form opens, its button does it, asks, or wants a field. Every act that the role may do is on some page.
func TestWhatIsShownIsAllowed(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	for _, role := range []string{asViewer, asMember, asAdmin} {
		for _, service := range server.Names {
			c := &actCrawl{t: t, what: role + " of " + service, v: h.as(role, service), base: "/do/",
				acts: h.Server.Screens(service).Acts(page.Staff)}
			if service == "rental" {
				c.also = []string{"/tenants/5"} // whose lease has ended: only such a one is forgotten
			}
			c.crawl("/")
			for _, op := range c.acts {
				if (op.Writes || op.Personal) && (ranks[role] >= ranks[roleOf(op)]) != c.shown[op.Name] &&
					!slices.Contains(notInTheDemo, op.Name) {
					t.Errorf("%s: %s is shown: %t", c.what, op.Name, c.shown[op.Name])
				}
			}
			if role == asAdmin {
				c.press()
			}
		}
	}
	for caller, at := range map[string]struct{ service, home string }{asTenantA: {"rental", "/portal"}, asBuyer: {"store", "/my"}} {
		c := &actCrawl{t: t, what: caller, v: h.as(caller, at.service), base: at.home + "/do/"}
		c.crawl(at.home)
		c.press()
		assert.That(t, len(c.shown) >= 2, "%s: only %v are shown", caller, c.shown)
	}
}

// actCrawl visits a service's pages as one person.
type actCrawl struct {
	t       *testing.T
	what    string
	v       *apptest.Visitor
	base    string
	acts    []schema.Op
	also    []string // pages that it visits whatever leads to them
	shown   map[string]bool
	buttons map[string]shownAct // the first of an act on a kind of page
}

func (c *actCrawl) crawl(home string) {
	c.shown, c.buttons = map[string]bool{}, map[string]shownAct{}
	asked, queue, alike := map[string]bool{home: true}, append([]string{home}, c.also...), map[string]int{}
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		got := c.v.Get(path)
		assert.That(c.t, got.Status < 400, "%s: %s is linked and answers %d", c.what, path, got.Status)
		for _, a := range actsOf(path, c.base, got) {
			c.shown[a.op] = true
			key := pattern(path) + " " + a.op
			if _, known := c.buttons[key]; known {
				continue
			}
			if c.buttons[key] = a; a.button {
				continue
			}
			if form := c.v.Get(a.action); form.Status >= 400 {
				c.t.Errorf("%s: %s leads to %s: %d %.100s", c.what, path, a.action, form.Status, apptestHeading(form))
			}
		}
		got.Each(func(a *html.Node) {
			u, err := url.Parse(apptest.Attr(a, "href"))
			if a.Data != "a" || err != nil || u.Host != "" || !strings.HasPrefix(u.Path, home) || strings.HasPrefix(u.Path, c.base) {
				return
			}
			if u.RawQuery != "" && !u.Query().Has("status") || u.Query().Has("sort") || u.Query().Has("format") {
				return
			}
			if next := u.RequestURI(); !asked[next] && alike[pattern(next)] < 2 {
				asked[next] = true
				alike[pattern(next)]++
				queue = append(queue, next)
			}
		})
	}
}

// press presses each kind of button on its page as it is now: a refusal may only ask for a field.
func (c *actCrawl) press() {
	for key, a := range c.buttons {
		if !a.button || slices.Contains(ownSession, a.op) || a.op == "test_mail" { // the demo sends no mail
			continue
		}
		now := actsOf(a.page, c.base, c.v.Get(a.page))
		at := slices.IndexFunc(now, func(b shownAct) bool { return b.op == a.op && b.button })
		if at < 0 {
			continue
		}
		got := post(c.v, now[at].action, now[at].fields)
		switch got.Status {
		case http.StatusOK, http.StatusSeeOther, http.StatusUnprocessableEntity, http.StatusUnauthorized: // the password again
		default:
			c.t.Errorf("%s: %s: %d %.300s", c.what, key, got.Status, apptest.Text(got.First("main")))
		}
	}
}

// TestListsNameTheirFiguresOnAPhone reads the first rows of the lists: a bare figure or amount that a phone shows
// has its name beside it, as no head stands over it there.
func TestListsNameTheirFiguresOnAPhone(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	bare := regexp.MustCompile(`^[-–0-9.,\s]+$`)
	for service, paths := range map[string][]string{
		"store": {"/customers", "/redeem-codes"}, "maintenance": {"/work-orders", "/pm-due", "/assets", "/parts"},
		"rental":  {"/leases", "/units", "/tenants", "/properties", "/bank"},
		"reorder": {"/", "/skus", "/purchase-orders", "/suppliers"},
	} {
		for _, path := range paths {
			status(t, h.as(asAdmin, service).Get(path), http.StatusOK).Each(func(n *html.Node) {
				classes := strings.Fields(apptest.Attr(n, "class"))
				shown := slices.ContainsFunc(classes, func(c string) bool { return c == "b" || c == "d" || c == "e" })
				if n.Data == "td" && shown && bare.MatchString(apptest.Text(n)) && apptest.Attr(n, "data-label") == "" {
					t.Errorf("%s %s: %q has no name", service, path, apptest.Text(n))
				}
			})
		}
	}
}
