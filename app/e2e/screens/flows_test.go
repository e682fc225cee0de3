package screens

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// flowFixture is the demo with staff to sign in, a receiver, and a buyer's license key.
type flowFixture struct {
	*apptest.Fixture
	receiver string
	key      string

	hook  *apptest.Receiver
	admin *apptest.Visitor
}

// miss makes the receiver refuse one event and accept the next.
func (h *flowFixture) miss(t *testing.T) {
	t.Helper()
	h.hook.Answer(500)
	status(t, h.admin.Post("/do/test_webhook", "id", "1"), 303)
	apptest.Await(t, "the refused delivery", func() bool {
		return strings.Contains(h.admin.Get("/").Body, "did not accept its last event")
	})
	h.hook.Answer(204)
}

var licenseKey = regexp.MustCompile(`<code[^>]*>([0-9A-Z]{5}(?:-[0-9A-Z]{5}){4})</code>`)

func newFlowFixture(t *testing.T) *flowFixture {
	t.Helper()
	h := &flowFixture{Fixture: demoShop(t)}
	alice := h.Person("store", "alice", "admin")
	got := licenseKey.FindStringSubmatch(alice.Get("/licenses/2").Body)
	assert.Must(t, got != nil, "license 2 shows no key")
	h.key = got[1]
	h.hook, h.admin = apptest.Receive(t), alice
	h.receiver = h.hook.URL + "/hook"
	status(t, alice.Post("/do/add_webhook", "url", h.receiver, "idempotency_key", "hook"), 200)
	status(t, alice.Post("/do/test_webhook", "id", "1", "idempotency_key", "test"), 303)
	return h
}

// file writes a file to upload.
func (h *flowFixture) file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	assert.OK(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func (g *guest) signIn(service, name string) {
	g.open(service, "/login")
	g.fill("name", name)
	g.fill("password", apptest.Password)
	g.press("Sign in")
}

// TestFlows runs the same steps without a browser, in Chromium with script on a narrow phone, and in Chromium without
// script: the daily tasks with their taps, refused forms, undo, a session that ends while a form is open, tenants and
// buyers. There is no violation of the security policy and no request to another host.
func TestFlows(t *testing.T) {
	t.Parallel()
	chromium := browser(t)
	for _, way := range []struct {
		name string
		open func(t *testing.T, h *flowFixture) pager
		taps bool
	}{
		{"plain", func(t *testing.T, h *flowFixture) pager { return newPlain(t, h.Visitor("store")) }, false},
		{"script", func(t *testing.T, _ *flowFixture) pager { return newTab(t, chromium, 320, 640, true) }, true},
		{"no script", func(t *testing.T, _ *flowFixture) pager { return newTab(t, chromium, 360, 740, false) }, false},
	} {
		t.Run(way.name, func(t *testing.T) {
			h := newFlowFixture(t)
			g := &guest{pager: way.open(t, h), t: t, demo: h, name: strings.ReplaceAll(way.name, " ", "-")}
			g.signIn("store", "alice")
			for _, f := range daily {
				t.Run(f.name, func(t *testing.T) {
					g.into(t)
					g.open(f.service, "/")
					f.do(g)
					n := g.taps()
					assert.That(t, !way.taps || n == f.taps, "it takes %d taps, not %d", n, f.taps)
				})
			}
			for _, f := range rarer {
				t.Run(f.name, func(t *testing.T) {
					g.into(t)
					g.open(f.service, "/")
					f.do(g)
				})
			}
		})
	}
}

// into reports failures to the running test.
func (g *guest) into(t *testing.T) {
	g.t = t
	switch p := g.pager.(type) {
	case *plain:
		p.t, p.v.T = t, t
	case *tab:
		p.t = t
	}
}

// rarer are further tasks, and failures.
var rarer = []struct {
	name, service string
	do            func(g *guest)
}{
	{"undo a count", "reorder", func(g *guest) {
		g.press("Count")
		g.fill("Gift box|.qty", "7")
		g.press("Save the count")
		g.see("1 SKU is counted")
		g.press("Undo")
		g.see("it was 7")
	}},
	{"refused and filled again", "reorder", func(g *guest) {
		g.open("reorder", "/do/save_sku?sku=CHAI-"+g.name)
		g.fill("name", "Chai <b>&amp;\" tea")
		g.fill("unit_cost", "1.2.3.4")
		g.fill("lead_time_days", "soon")
		g.press("Save")
		g.see("soon")
		for name, want := range map[string]string{"name": "Chai <b>&amp;\" tea", "unit_cost": "1.2.3.4", "lead_time_days": "soon"} {
			assert.Equal(g.t, g.field(name), want, "%s holds", name)
		}
		g.fill("unit_cost", "1.234,56")
		g.fill("lead_time_days", "3")
		g.press("Save")
		g.see("1,234.56 USD")
	}},
	{"the session ended while a form was open", "reorder", func(g *guest) {
		g.open("reorder", "/do/save_supplier?name=Late+"+g.name)
		g.fill("notes", "typed before the session ended")
		g.demo.MustCLI("user", "disable", "alice")
		g.demo.MustCLI("user", "enable", "alice")
		g.press("Save")
		g.see("Sign in")
		g.fill("name", "alice")
		g.fill("password", apptest.Password)
		g.press("Sign in")
		assert.Equal(g.t, g.field("notes"), "typed before the session ended", "after signing in the form holds")
		g.press("Save")
		g.see("Late " + g.name)
	}},
	{"receive a purchase order in part", "reorder", func(g *guest) {
		g.press("Purchase orders")
		g.press("PO-000001")
		g.fill("Colombia|lines.0.qty", "10")
		g.press("Add to stock")
		g.see("Partly here")
	}},
	{"end a lease, asked before", "rental", func(g *guest) {
		g.press("Leases")
		g.press("Harbour House / 2B|Harbour House / 2B")
		g.press("End lease")
		g.fill("date", "2026-12-31")
		g.press("End lease")
		g.see("Keep it")
		g.press("End lease")
		g.see("31 Dec")
	}},
	{"a ticket to its end", "rental", func(g *guest) {
		g.press("Tickets")
		g.press("Bulb on the stairs|Start")
		g.press("Bulb on the stairs|Resolve")
		g.see("is resolved")
	}},
	{"mint codes, shown once", "store", func(g *guest) {
		g.press("Redeem codes")
		g.press("Mint codes")
		g.fill("count", "3")
		g.fill("sku", "PLUGIN")
		g.fill("tier", "basic")
		g.fill("batch", "cards-"+g.name)
		g.press("Mint codes")
		g.see("3 codes for ")
		g.see("Batch cards-" + g.name)
	}},
	{"a buyer frees a seat", "store", func(g *guest) {
		g.open("store", "/my")
		g.fill("license_key", strings.ToLower(g.demo.key))
		g.press("Open")
		g.see(g.demo.key)
		g.press("Receipt")
		g.see("Receipt ORD-")
	}},
	{"a tenant reports a leak", "rental", func(g *guest) {
		code := g.demo.invite(g.t, "2")
		g.open("rental", "/portal")
		g.fill("code", strings.ToLower(code))
		g.press("Sign in")
		g.see("Ben Okafor")
		g.press("Report a problem")
		g.fill("title", "Leak "+g.name)
		g.fill("description", "Below the sink")
		g.press("Send")
		g.see("Leak " + g.name)
	}},
}

// invite makes a tenant's letter and returns its code.
func (h *flowFixture) invite(t *testing.T, tenant string) string {
	t.Helper()
	got := h.Invited("rental", "alice").Post("/do/invite_tenant", "tenant_id", tenant, "idempotency_key", "invite")
	status(t, got, 200)
	code := regexp.MustCompile(`<strong class="code">([^<]+)</strong>`).FindStringSubmatch(got.Body)
	assert.Must(t, code != nil, "the letter has no code: %.2000s", got.Body)
	return code[1]
}
