package screens

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// links are the addresses that the sheet links, with the text of each link.
func links(s apptest.Sheet) map[string]string {
	all := map[string]string{}
	s.Each(func(n *html.Node) {
		if n.Data == "a" {
			all[apptest.Attr(n, "href")] = apptest.Text(n)
		}
	})
	return all
}

// TestRecordPages saves a record of each kind. Saving leads to its page, with its facts, actions and history. List,
// search and history link to it. A viewer sees it without actions. An unknown one is 404.
func TestRecordPages(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	for _, c := range []struct {
		service, op string
		fields      []string
		page        string // a pattern of the page's address
		list, name  string // the list that links it, and the link's text
		shows       []string
		acts        []string
		missing     string
	}{
		{"rental", "save_property", []string{"name", "Mill Court & Co", "address", "1 Mill Lane"}, `^/properties/\d+$`,
			"/properties?q=mill", "Mill Court & Co",
			[]string{"1 Mill Lane"}, []string{"save_unit", "save_property", "set_late_fee"}, "/properties/98765"},
		{"rental", "save_unit", []string{"property", "Mill Court & Co", "name", "1/A", "market_rent", "950,00", "notes",
			"Balcony"}, `^/units/\d+$`, "/units?q=balcony", "Mill Court & Co / 1/A",
			[]string{"is vacant", "Balcony", "950.00", "Never let"}, []string{"save_lease", "create_ticket", "save_unit"},
			"/units/98765"},
		{"rental", "save_tenant", []string{"name", "Zora Quist", "email", "zora@example.org"}, `^/tenants/\d+$`,
			"/tenants?q=zora", "Zora Quist",
			[]string{"zora@example.org"}, []string{"invite_tenant", "save_tenant", "forget_tenant"}, "/tenants/98765"},
		{"rental", "save_lease", []string{"property", "Mill Court & Co", "unit", "1/A", "start_date", "2026-11-01", "tenant",
			"Zora Quist", "rent", "900"}, `^/leases/\d+$`, "/leases?q=zora", "Mill Court & Co / 1/A",
			[]string{"Zora Quist", "900.00"}, []string{"receive_payment", "add_charge", "end_lease"}, "/leases/98765"},
		{"maintenance", "save_asset", []string{"asset_tag", "KILN-9", "name", "Kiln <9>"}, `^/assets/\d+$`, "/assets?q=kiln",
			"Kiln <9>",
			[]string{"KILN-9"}, []string{"create_workorder", "save_asset", "save_plan"}, "/assets/98765"},
		{"maintenance", "save_plan", []string{"asset_tag", "KILN-9", "title", "Change the door seal", "interval_days", "90",
			"checklist", "Cool down\nPull the seal"}, `^/plans/\d+$`, "/plans?q=seal", "Change the door seal",
			[]string{"Every 90 days", "Pull the seal", "No service yet"}, []string{"create_workorder", "complete_plan",
				"pause_plan", "save_plan", "remove_plan"}, "/plans/98765"},
		{"maintenance", "save_part", []string{"part_number", "SEAL-9", "name", "Door seal", "quantity", "4"}, `^/parts/\d+$`,
			"/parts?q=seal-9", "Door seal",
			[]string{"SEAL-9"}, []string{"save_part"}, "/parts/98765"},
		{"reorder", "save_supplier", []string{"name", "Nine & Sons", "email", "nine@example.org", "min_order", "90"},
			`^/suppliers/Nine%20&%20Sons$`, "/suppliers?q=nine", "Nine & Sons",
			[]string{"nine@example.org", "90.00", "No purchase orders yet"}, []string{"create_purchase", "save_supplier"},
			"/suppliers/Nobody"},
		{"reorder", "save_sku", []string{"sku", "T/9", "name", "Tea of nine", "supplier", "Nine & Sons", "lead_time_days",
			"9"}, `^/skus/T%2F9$`, "/skus?q=nine", "Tea of nine",
			[]string{"Nine & Sons"}, []string{"save_sku", "adjust_stock"}, "/skus/NIX"},
		{"store", "save_product", []string{"sku", "NINE 9", "name", "The nine", "kind", "license", "price", "49",
			"activation_limit", "3"}, `^/products/NINE%209$`, "/products?q=nine", "The nine",
			[]string{"49.00", "NINE 9", "Seats a license"}, []string{"save_product", "record_order", "mint_codes"},
			"/products/NIX"},
		{"store", "save_customer", []string{"email", "nine@example.org", "name", "Nina Nine"}, `^/customers/\d+$`,
			"/customers?q=nina", "Nina Nine",
			[]string{"nine@example.org"}, []string{"save_customer", "change_email", "forget_customer"}, "/customers/98765"},
	} {
		admin, viewer := h.as(asAdmin, c.service), h.as(asViewer, c.service)
		made := admin.Post("/do/"+c.op, c.fields...)
		path := made.Header.Get("Location")
		if made.Status != http.StatusSeeOther || !regexp.MustCompile(c.page).MatchString(path) {
			t.Errorf("%s: %d leads to %q %s", c.op, made.Status, path, apptestAlert(made))
			continue
		}
		shown := status(t, admin.Get(path), http.StatusOK)
		text := apptest.Text(shown.Doc)
		for _, want := range c.shows {
			assert.Contains(t, text, want, "%s: the page", path)
		}
		acts := formsAndLinks(shown)
		for _, op := range c.acts {
			assert.That(t, acts["/do/"+op], "%s: %s is not next to hand", path, op)
		}
		assert.Equal(t, links(admin.Get(c.list))[path], c.name, "%s links %s by", c.list, path)
		found := admin.Get("/search?q=" + url.QueryEscape(c.name))
		if _, there := links(found)[path]; !there && found.Header.Get("Location") != path && c.op != "save_lease" {
			t.Errorf("a search for %s does not lead to %s: %d %s", c.name, path, found.Status, found.Header.Get("Location"))
		}
		trail := ""
		for to := range links(shown) {
			if strings.HasPrefix(to, "/audit?subject=") {
				trail = to
			}
		}
		// by the address, which leads to a search
		if _, there := links(status(t, admin.Get(trail), http.StatusOK))[path]; !there && c.op != "save_customer" {
			t.Errorf("%s: its trail %q does not lead back", path, trail)
		}
		for op := range formsAndLinks(status(t, viewer.Get(path), http.StatusOK)) {
			assert.That(t, !strings.HasPrefix(op, "/do/"), "%s: a viewer finds %s", path, op)
		}
		status(t, admin.Get(c.missing), http.StatusNotFound)
	}
	status(t, h.as(asAdmin, "reorder").Get("/suppliers/Nine%20&%20Sons"), http.StatusOK, "Tea of nine")
}

// formsAndLinks are the addresses of forms and links, without their queries.
func formsAndLinks(s apptest.Sheet) map[string]bool {
	all := map[string]bool{}
	s.Each(func(n *html.Node) {
		for _, name := range []string{"href", "action"} {
			to, _, _ := strings.Cut(apptest.Attr(n, name), "?")
			all[to] = true
		}
	})
	return all
}

// TestTheTrailLeadsToTheNearestPage reads audit entries of records without a page of their own. Each links to the page
// that shows the record, or to its row of a list.
func TestTheTrailLeadsToTheNearestPage(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	for _, c := range []struct{ service, action, to string }{
		{"maintenance", "meter.reading", `^/assets/\d+$`},
		{"rental", "charge.created", `^/leases/\d+$`},
		{"rental", "user.added", `^/users#user-\d+$`},
		{"store", "key.created", `^/keys#key-\d+$`},
	} {
		admin, want := h.as(asAdmin, c.service), regexp.MustCompile(c.to)
		entries := status(t, admin.Get("/audit?q="+c.action), http.StatusOK)
		found := 0
		for to := range links(entries) {
			if !want.MatchString(to) {
				continue
			}
			found++
			path, row, _ := strings.Cut(to, "#")
			status(t, admin.Get(path), http.StatusOK, `id="`+row)
		}
		if found == 0 {
			t.Errorf("%s: no entry leads to %s: %v", c.action, c.to, links(entries))
		}
	}
}

// TestCachedPageIsServed requests a page twice. The second has its own idempotency keys and is otherwise the same,
// for this user alone. A write shows at once.
func TestCachedPageIsServed(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	v := h.as(asMember, "maintenance")
	one, two := status(t, v.Get("/work-orders/1"), http.StatusOK), status(t, v.Get("/work-orders/1"), http.StatusOK)
	key := one.Field("idempotency_key")
	assert.That(t, key != "" && key != two.Field("idempotency_key") &&
		!strings.Contains(two.Body, strings.Split(key, "-")[0]), "both pages have the key %q", key)
	assert.That(t, bare(one) == bare(two), "the second page is another one")
	theirs := status(t, h.as(asViewer, "maintenance").Get("/work-orders/1"), http.StatusOK)
	assert.That(t, theirs.Field(
		"idempotency_key") == "", "a viewer gets a member's page")
	const text = "It hums in the evening"
	if got := v.Post("/do/edit_workorder", "id", "1", "description", text); got.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", got.Status, apptestAlert(got))
	}
	status(t, v.Get("/work-orders/1"), http.StatusOK, text)
}

// TestViewersTrailIsRestricted reads the trail of each service as a viewer. It has nothing of users and
// the appliance, which admins see there. It has as many entries as the audit command's operation, and every link leads
// to a page that a viewer may open.
func TestViewersTrailIsRestricted(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	for _, service := range []string{"store", "maintenance", "rental", "reorder"} {
		assert.Contains(t, h.as(asAdmin, service).Get("/audit?subject=user").Body, "User added", "%s: an admin", service)
		viewer := h.as(asViewer, service)
		for path := "/audit"; path != ""; {
			shown := status(t, viewer.Get(path), http.StatusOK)
			path = ""
			for to := range links(shown) {
				switch {
				case strings.HasPrefix(to, "/audit?") && strings.Contains(to, "after="):
					path = to
				case strings.HasPrefix(to, "/audit?subject=user"), strings.HasPrefix(to, "/users"), strings.HasPrefix(to, "/keys"):
					t.Errorf("%s: a viewer's trail leads to %s", service, to)
				case strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "/audit"):
					if got := viewer.Get(to); got.Status == http.StatusForbidden {
						t.Errorf("%s: a viewer's trail leads to %s, which is forbidden", service, to)
					}
				}
			}
		}
		assert.Lacks(t, viewer.Get("/audit?subject=user").Body, "User added", "%s: a viewer finds who was added", service)
	}
}
