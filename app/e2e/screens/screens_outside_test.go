package screens

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"quartermaster/app/account"
	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// crawl follows every link and picture from the path within the area and returns the answers.
func crawl(v *apptest.Visitor, from string) map[string]apptest.Sheet {
	found, queue := map[string]apptest.Sheet{}, []string{from}
	for len(queue) > 0 && len(found) < 300 {
		path := queue[0]
		queue = queue[1:]
		if _, known := found[path]; known {
			continue
		}
		got := v.Get(path)
		found[path] = got
		got.Each(func(n *html.Node) {
			for _, name := range []string{"href", "src", "action"} {
				if to := apptest.Attr(n, name); strings.HasPrefix(to, from+"/") && !strings.Contains(to, "/logout") && !strings.Contains(to, "/do/") {
					queue = append(queue, to)
				}
			}
		})
	}
	return found
}

var (
	anyKey    = regexp.MustCompile(`name="idempotency_key" value="[^"]*"`)
	anyNumber = regexp.MustCompile(`[0-9]+`)
	digits    = regexp.MustCompile(`/([0-9]+)(/|$|\?)`)
)

// bare is an answer without the parts that differ between requests.
func bare(s apptest.Sheet) string {
	return fmt.Sprint(s.Status, " ", anyNumber.ReplaceAllString(anyKey.ReplaceAllString(s.Body, "K"), "N"))
}

// report makes the tenant report a problem with a photo and a note and returns the ticket's page.
func report(t *testing.T, v *apptest.Visitor, title string) string {
	t.Helper()
	photo := "\x89PNG\r\n\x1a\n" + title
	got := v.Upload("/portal/do/report_problem", map[string]string{"title": title, "priority": "high", "description": "of " + title}, "photo", "leak.png", photo)
	path := got.Header.Get("Location")
	if got.Status != http.StatusSeeOther || !strings.HasPrefix(path, "/portal/tickets/") {
		t.Fatalf("the report: %d to %q %.500s", got.Status, path, apptestHeading(got))
	}
	return path
}

// TestTwoTenants makes each of two tenants request every address of the other. An address with a number is not found,
// exactly like an unused number. One without shows the tenant's own page. Nothing of the other's is on any page, form
// or refusal.
func TestTwoTenants(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	one, two := h.as(asTenantA, "rental"), h.as(asTenantB, "rental")
	marks := [2]string{"The tap of Alpha drips", "The door of Beta squeaks"}
	tickets := [2]string{report(t, one, marks[0]), report(t, two, marks[1])}
	for i, v := range []*apptest.Visitor{one, two} {
		id := digits.FindStringSubmatch(tickets[i])[1]
		location(t, v.Post("/portal/do/add_note", "ticket_id", id, "text", "a note to "+marks[i]), tickets[i])
	}
	h.reported(t, marks[0])
	pages := [2]map[string]apptest.Sheet{crawl(one, "/portal"), crawl(two, "/portal")}
	others := [2]*apptest.Visitor{two, one}
	for i, theirs := range pages {
		assert.Must(t, theirs[tickets[i]].Status == http.StatusOK && strings.Contains(theirs[tickets[i]].Body, marks[i]) &&
			len(theirs) >= 4, "tenant %d does not reach the own report: %d pages", i, len(theirs))
		mine := h.leases[1-i]
		secrets := []string{marks[i], h.leases[i].Tenants[0].Name, h.leases[i].Property + " / " + h.leases[i].Unit, h.leases[i].Property + "/" + h.leases[i].Unit}
		secrets = slices.DeleteFunc(secrets, func(s string) bool { return mine.Property+"/"+mine.Unit == s })
		for path := range theirs {
			got := others[i].Get(path)
			for _, secret := range secrets {
				assert.Lacks(t, got.Body, secret, "%s shows the other tenant", path)
			}
			if !digits.MatchString(path) {
				continue
			}
			missing := others[i].Get(digits.ReplaceAllString(path, "/987654$2"))
			assert.That(t, got.Status == http.StatusNotFound && bare(got) == bare(missing),
				"%s: %d to the other tenant, and %d of a number that nobody has", path, got.Status, missing.Status)
		}
		for path, s := range theirs { // and no address names a lease or a tenant
			assert.That(t, !strings.Contains(path, "lease") && !strings.Contains(path, "tenant"),
				"an address of the portal is %s: %d", path, s.Status)
		}
	}
	h.acrossTenants(t, one, digits.FindStringSubmatch(tickets[1])[1])
}

// reported checks the report as staff and receivers see it: source portal, via portal.
func (h *demoFixture) reported(t *testing.T, title string) {
	t.Helper()
	status(t, h.as(asViewer, "rental").Get("/maintenance?q="+url.QueryEscape(title)), http.StatusOK, title)
	var via, event string
	err := h.Server.DB().View(context.Background(), func(c *db.Conn) (err error) {
		if via, _, err = db.One(c, db.Text, "SELECT via FROM audit WHERE action = 'ticket.created' AND instr(changes, ?) > 0", title); err != nil {
			return err
		}
		event, _, err = db.One(c, db.Text, "SELECT CAST(body AS TEXT) FROM events WHERE event = 'maintenance.created' AND instr(CAST(body AS TEXT), ?) > 0", title)
		return err
	})
	assert.That(t, err == nil && via == "portal" && strings.Contains(event, `"source":"portal"`),
		"a tenant's report is via %q, its event %s (%v)", via, event, err)
}

// acrossTenants tries a tenant's actions on the other's records.
func (h *demoFixture) acrossTenants(t *testing.T, v *apptest.Visitor, ticket string) {
	t.Helper()
	session := int64(0)
	err := h.Server.DB().View(context.Background(), func(c *db.Conn) (err error) {
		session, _, err = db.One(c, db.Int, "SELECT id FROM sessions WHERE kind = 'tenant' AND subject = ?", h.leases[1].Tenants[0].ID)
		return err
	})
	assert.Must(t, err == nil && session != 0, "the other tenant has no session:  %v", err)
	before := rowsOf(t, h.Server.DB())
	own, others := h.leases[0], h.leases[1]
	form := v.Get("/portal/report").Body
	assert.That(t, strings.Contains(form, `="`+own.Property+"/"+own.Unit+`"`) &&
		!strings.Contains(form, `="`+others.Property+"/"+others.Unit+`"`),
		"the units to choose from are not the tenant's own: %.2000s", form)
	for _, c := range []struct {
		act    string
		fields []string
		status int
	}{
		{"add_note", []string{"text", "x", "ticket_id", ticket}, http.StatusNotFound},
		{"end_session", []string{"id", fmt.Sprint(session)}, http.StatusNotFound},
		{"report_problem", []string{"title", "x", "unit", h.leases[1].Property + "/" + h.leases[1].Unit}, http.StatusUnprocessableEntity},
	} {
		got := v.Post("/portal/do/"+c.act, c.fields...)
		c.fields[len(c.fields)-1] = "987654"
		missing := v.Post("/portal/do/"+c.act, c.fields...)
		same := bare(got) == bare(missing) || c.act == "report_problem"
		assert.That(t, got.Status == c.status && missing.Status == c.status && same,
			"%s: %d of the other's, %d of nobody's", c.act, got.Status, missing.Status)
	}
	after := rowsOf(t, h.Server.DB())
	assert.That(t, after == before, "a tenant wrote %d rows about the other", after-before)
	for _, path := range []string{"/search?q=" + ticket, "/leases/1", "/tenants/1", "/leases/1?format=csv", "/maintenance/" + ticket, "/photos/1", "/export/leases"} {
		if got := v.Get(path); got.Status != http.StatusSeeOther || !strings.HasPrefix(got.Header.Get("Location"), "/login?") {
			t.Errorf("a tenant gets %s: %d", path, got.Status)
		}
	}
}

// TestTwoBuyers makes a buyer request the other's license, seats and receipt.
func TestTwoBuyers(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	one, two := h.as(asBuyer, "store"), h.second
	own := [2]map[string]apptest.Sheet{crawl(one, "/my"), crawl(two, "/my")}
	var orders [2]struct {
		Customer struct{ Email, Name string }
		Licenses []struct {
			ID  int64
			Key string `json:"license_key"`
		}
		BuyerURL string `json:"buyer_url"`
	}
	for i := range orders {
		h.Get("store", "/api/orders/"+h.orders[i]).JSON(t, &orders[i])
		assert.That(t, orders[i].BuyerURL == h.URL("store", "/my"),
			"the order's page for the buyer is %q", orders[i].BuyerURL)
		assert.Must(t, strings.Contains(own[i]["/my"].Body, orders[i].Licenses[0].Key) &&
			own[i]["/my/receipt"].Status == http.StatusOK, "buyer %d does not see the own license", i)
	}
	for i, v := range []*apptest.Visitor{two, one} {
		for path := range own[i] {
			got := v.Get(path)
			for _, secret := range []string{orders[i].Licenses[0].Key, orders[i].Customer.Email, h.orders[i]} {
				assert.Lacks(t, got.Body, secret, "%s shows the other buyer", path)
			}
			assert.That(t, !digits.MatchString(path) || got.Status == http.StatusNotFound,
				"an address of a buyer has a number: %s", path)
		}
	}
	key := orders[1].Licenses[0].Key
	a := h.Do("store", "POST", "/license/activate", "", `{"license_key":"`+key+`","fingerprint":"m-1","label":"Laptop of Two"}`)
	assert.Must(t, a.Status == http.StatusCreated, "%v", a.Body)
	var seat int64
	err := h.Server.DB().View(context.Background(), func(c *db.Conn) (err error) {
		seat, _, err = db.One(c, db.Int, "SELECT max(id) FROM store_activations WHERE license_id = ?", orders[1].Licenses[0].ID)
		return err
	})
	assert.OK(t, err)
	status(t, two.Get("/my"), http.StatusOK, "Laptop of Two")
	for _, confirm := range []string{"", "yes"} {
		got := one.Post("/my/do/release_seat", "activation_id", fmt.Sprint(seat), "confirm", confirm)
		missing := one.Post("/my/do/release_seat", "activation_id", "987654", "confirm", confirm)
		assert.That(t, got.Status == http.StatusNotFound && bare(got) == bare(missing) &&
			!strings.Contains(got.Body, "Laptop of Two"), "the other's seat: %d, nobody's: %d", got.Status, missing.Status)
	}
	asked := two.Post("/my/do/release_seat", "activation_id", fmt.Sprint(seat))
	status(t, asked, http.StatusOK, "confirm")
	location(t, two.Post("/my/do/release_seat", "activation_id", fmt.Sprint(seat), "confirm", "yes"), "/my")
	h.keysAreNotKept(t)
	h.wrongPairs(t, orders[0].Customer.Email, orders[1].Customer.Email)
}

// whole matches a whole license key.
var whole = regexp.MustCompile(`[0-9A-Z]{5}(-[0-9A-Z]{5}){4}`)

// keysAreNotKept requests the store's pages as a browser that accepts gzip. A page with a license key is neither
// cacheable nor compressed; any other is compressed.
func (h *demoFixture) keysAreNotKept(t *testing.T) {
	t.Helper()
	for _, c := range []struct {
		as, path string
		keys     bool
	}{
		{asBuyer, "/my", true}, {asAdmin, "/licenses/2", true}, {asAdmin, "/orders/" + h.orders[0], true},
		{asAdmin, "/licenses", false}, {asAdmin, "/orders", false}, {asAdmin, "/", false},
	} {
		v := h.as(c.as, "store")
		v.Head = map[string]string{"Accept-Encoding": "gzip"}
		packed := v.Get(c.path)
		v.Head = nil
		plain := v.Get(c.path)
		assert.Equal(t, whole.MatchString(plain.Body), c.keys, "%s shows a whole key", c.path)
		kept, gzip := packed.Header.Get("Cache-Control") != "no-store", packed.Header.Get("Content-Encoding") == "gzip"
		assert.That(t, kept != c.keys && gzip != c.keys, "%s: it may be stored: %v, it is packed: %v", c.path, kept, gzip)
	}
}

// wrongPairs tries pairs that do not match: the answer does not say which half was wrong.
func (h *demoFixture) wrongPairs(t *testing.T, email, other string) {
	t.Helper()
	first := ""
	for _, fields := range [][]string{
		{"order_ref", h.orders[0], "email", other}, {"order_ref", h.orders[0], "email", "nobody@example.com"},
		{"order_ref", "ORD-0000000000", "email", email}, {"license_key", "00000-00000-00000-00000-00000"},
	} {
		got := h.Visitor("store").Post("/my", fields...)
		said := apptestAlert(got)
		if first == "" {
			first = said
		}
		assert.That(t, got.Status == http.StatusNotFound && said == first && said != "",
			"%v: %d %q, and %q before", fields, got.Status, said, first)
	}
}

func apptestAlert(s apptest.Sheet) string {
	text := ""
	s.Each(func(n *html.Node) {
		if apptest.Attr(n, "role") == "alert" {
			text += apptest.Text(n)
		}
	})
	return text
}

// TestScannersOpenLinks follows every sign-in link repeatedly, as a mail scanner does. None is used up, and its
// addressee can sign in.
func TestScannersOpenLinks(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	token, _, err := account.Invite(context.Background(), h.Server.DB(), db.CLI(""), "admin-m")
	assert.OK(t, err)
	for _, c := range []struct{ service, path, password string }{
		{"store", "/welcome/" + token, apptest.Password},
		{"rental", "/portal/welcome/" + h.invite(h.leases[0].Tenants[0].ID), ""},
	} {
		before := rowsOf(t, h.Server.DB())
		for range 5 {
			v := h.Visitor(c.service)
			first := status(t, v.Get(c.path), http.StatusOK)
			assert.That(t, len(first.Header.Values("Set-Cookie")) <= 0 && first.Header.Get("Cache-Control") == "no-store",
				"%s: a look makes a session or is kept: %v", c.path, first.Header)
			first.Each(func(n *html.Node) { // a scanner follows linked pages too
				if to := apptest.Attr(n, "href"); strings.HasPrefix(to, "/") {
					v.Get(to)
				}
			})
			assert.Equal(t, v.Request(http.MethodHead, c.path).Status, http.StatusOK, "HEAD %s", c.path)
		}
		after := rowsOf(t, h.Server.DB())
		assert.That(t, after == before, "looking at %s wrote %d rows", c.path, after-before)
		v := h.Visitor(c.service)
		if got := v.Post(c.path, "password", c.password); got.Status != http.StatusSeeOther {
			t.Errorf("%s after the scanner: %d %s", c.path, got.Status, apptestHeading(got))
		}
		gone := h.Visitor(c.service)
		status(t, gone.Get(c.path), http.StatusGone)
		gone.Head = map[string]string{"Accept": "application/json"}
		status(t, gone.Get(c.path), http.StatusGone, `"error":"gone"`)
	}
	status(t, h.Visitor("rental").Get("/portal/welcome/"+strings.Repeat("x", 43)), http.StatusNotFound)
}
