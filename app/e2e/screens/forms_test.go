package screens

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// sentBy is what a browser sends of the page's form with that action: all its fields, changed by the given names and
// values.
func sentBy(t *testing.T, page apptest.Sheet, action string, change ...string) url.Values {
	t.Helper()
	var form *html.Node
	page.Each(func(n *html.Node) {
		if n.Data == "form" && apptest.Attr(n, "action") == action && form == nil {
			form = n
		}
	})
	assert.Must(t, form != nil, "no form of %s: %.1500s", action, apptest.Text(page.Doc))
	sent := url.Values{}
	for n := range form.Descendants() {
		name := apptest.Attr(n, "name")
		switch kind := apptest.Attr(n, "type"); {
		case name == "" || n.Type != html.ElementNode:
		case n.Data == "textarea":
			sent.Add(name, strings.TrimPrefix(rawText(n), "\n"))
		case n.Data == "select":
			sent.Add(name, pickedOf(n))
		case n.Data == "input" && (kind != "checkbox" || apptest.Has(n, "checked")):
			sent.Add(name, apptest.Attr(n, "value"))
		}
	}
	for i := 0; i+1 < len(change); i += 2 {
		sent[change[i]] = []string{change[i+1]}
	}
	return sent
}

func rawText(n *html.Node) string {
	var b strings.Builder
	for c := range n.Descendants() {
		if c.Type == html.TextNode {
			b.WriteString(c.Data)
		}
	}
	return b.String()
}

func pickedOf(n *html.Node) (value string) {
	first := true
	for o := range n.Descendants() {
		if o.Data == "option" && (first || apptest.Has(o, "selected")) {
			value, first = apptest.Attr(o, "value"), false
		}
	}
	return value
}

func post(v *apptest.Visitor, path string, fields url.Values) apptest.Sheet {
	var flat []string
	for name, values := range fields {
		for _, value := range values {
			flat = append(flat, name, value)
		}
	}
	return v.Post(path, flat...)
}

// nouns are the forms that make a record, and those that edit one.
var nouns = []struct {
	service, op, keys string
	make              []string
	change            [2]string
}{
	{"reorder", "save_sku", "sku=N-1", []string{"sku", "N-1", "name", "Tea", "unit_cost", "3.20", "lead_time_days", "9"}, [2]string{"name", "Green tea"}},
	{"reorder", "save_supplier", "name=Leaf", []string{"name", "Leaf", "email", "l@example.org", "notes", "by train"}, [2]string{"phone", "555"}},
	{"maintenance", "save_asset", "asset_tag=N-1", []string{"asset_tag", "N-1", "name", "Lathe", "location", "hall"}, [2]string{"name", "Big lathe"}},
	{"maintenance", "save_part", "part_number=P-1", []string{"part_number", "P-1", "name", "Belt", "unit_cost", "4.25"}, [2]string{"name", "Wide belt"}},
	{"maintenance", "save_plan", "asset_tag=N-1&title=Oil", []string{"asset_tag", "N-1", "title", "Oil", "interval_days", "90"}, [2]string{"interval_days", "60"}},
	{"store", "save_product", "sku=NEW", []string{"sku", "NEW", "name", "New", "price", "49.00"}, [2]string{"name", "Newer"}},
	{"store", "save_customer", "email=new%40example.org", []string{"email", "new@example.org", "name", "Ann"}, [2]string{"name", "Ann Lee"}},
	{"rental", "save_property", "name=Mill", []string{"name", "Mill", "address", "1 Mill Lane"}, [2]string{"address", "2 Mill Lane"}},
	{"rental", "save_unit", "property=Mill&name=1", []string{"property", "Mill", "name", "1", "market_rent", "950.00"}, [2]string{"market_rent", "990.00"}},
	{"rental", "save_tenant", "name=Ada+New", []string{"name", "Ada New", "email", "ada@new.example", "phone", "555"}, [2]string{"phone", "556"}},
	{
		"rental", "save_lease", "property=Mill&unit=1&start_date=2030-01-01",
		[]string{"property", "Mill", "unit", "1", "start_date", "2030-01-01", "tenant", "Ada New", "rent", "950.00"}, [2]string{"rent", "960.00"},
	},
}

// TestNewAndEditAreDifferentForms makes a record of each noun by its form, sends the same form again, then opens it for
// editing. The second is refused with a link and changes nothing. The Edit form has all stored values, with the
// identifier fixed, and writes only what was changed.
func TestNewAndEditAreDifferentForms(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	ada := s.Person("reorder", "ada", "admin")
	for _, n := range nouns {
		v, path := ada.At(s.URL(n.service, "")), "/do/"+n.op
		fresh := status(t, v.Get(path), http.StatusOK, "New ")
		status(t, post(v, path, sentBy(t, fresh, path, n.make...)), http.StatusSeeOther)
		before := rowsOf(t, s.Server.DB())
		edit := status(t, v.Get(path+"?"+n.keys), http.StatusOK, "Edit ", `name="seen"`, `class="fact"`)
		for i := 0; i < len(n.make); i += 2 {
			if got := sentBy(t, edit, path).Get(n.make[i]); got != n.make[i+1] {
				t.Errorf("%s: the Edit form has %s = %q, want %q", n.op, n.make[i], got, n.make[i+1])
			}
		}

		again := sentBy(t, v.Get(path), path, n.make...)
		again.Set(n.change[0], n.change[1])
		told := status(t, post(v, path, again), http.StatusConflict, "exists. Open it to change it.", "Open it</a>", "New ")
		assert.Equal(t, sentBy(t, told, path).Get(n.change[0]), n.change[1], "%s: what was typed", n.op)
		var link string
		told.Each(func(a *html.Node) {
			if a.Data == "a" && apptest.Text(a) == "Open it" {
				link = apptest.Attr(a, "href")
			}
		})
		status(t, v.Get(link), http.StatusOK, "Edit ")
		after := rowsOf(t, s.Server.DB())
		assert.That(t, after == before, "%s: a refused form wrote %d rows", n.op, after-before)

		if n.op == "save_part" {
			status(t, post(v, path, sentBy(t, edit, path, "quantity", "")), http.StatusUnprocessableEntity, "Quantity is required.")
		}
		status(t, post(v, path, sentBy(t, edit, path, n.change[0], n.change[1])), http.StatusSeeOther)
		changed := sentBy(t, v.Get(path+"?"+n.keys), path)
		for i := 0; i < len(n.make); i += 2 {
			want := n.make[i+1]
			if n.make[i] == n.change[0] {
				want = n.change[1]
			}
			if got := changed.Get(n.make[i]); got != want {
				t.Errorf("%s: after the edit %s is %q, want %q", n.op, n.make[i], got, want)
			}
		}
	}
}

// TestTwoPeopleEditDifferentFields: only a field that both changed is a conflict. A field that one left unchanged does
// not overwrite what the other stored.
func TestTwoPeopleEditDifferentFields(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	ada, bob := s.Person("reorder", "ada", "member"), s.Person("reorder", "bob", "member")
	const path = "/do/save_sku"
	status(t, ada.Post(path, "sku", "T-1", "name", "Tea", "supplier", "Leaf", "unit_cost", "3.20"), http.StatusSeeOther)
	of, ofBob := ada.Get(path+"?sku=T-1"), bob.Get(path+"?sku=T-1")
	status(t, post(ada, path, sentBy(t, of, path, "unit_cost", "3.50")), http.StatusSeeOther)
	status(t, post(bob, path, sentBy(t, ofBob, path, "supplier", "Twig")), http.StatusSeeOther)
	now := sentBy(t, ada.Get(path+"?sku=T-1"), path)
	assert.That(t, now.Get("unit_cost") == "3.50" && now.Get("supplier") == "Twig" && now.Get("name") == "Tea",
		"both edits are not there: %v", now)
	both := status(t, post(bob, path, sentBy(t, ofBob, path, "unit_cost", "3.60")), http.StatusConflict, "3.50", "3.60")
	status(t, post(bob, path, sentBy(t, both, path)), http.StatusSeeOther)
	now = sentBy(t, ada.Get(path+"?sku=T-1"), path)
	assert.That(t, now.Get("unit_cost") == "3.60" && now.Get("supplier") == "Twig",
		"sent again it wrote more than its own field: %v", now)
}

// TestARefusedFormComesBackOnItsPage sends a wrong value by a form on a record's page. The page returns with the value
// as typed, marked and focused, and with its facts. Sending it again clears no field that the form lacks.
func TestARefusedFormComesBackOnItsPage(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	v := h.as(asAdmin, "maintenance")
	const path = "/do/edit_workorder"
	id := countOf(t, h, "SELECT min(id) FROM work_orders WHERE status = 'open'")
	at := "/work-orders/" + id
	status(t, v.Post(path, "id", id, "assigned_to", "Bob", "due_date", "2031-05-06"), http.StatusSeeOther)
	job := status(t, v.Get(at), http.StatusOK, "Bob")
	wrong := status(t, post(v, path, sentBy(t, job, path, "labor_minutes", "soon")), http.StatusUnprocessableEntity, `role="alert"`, "Bob")
	assert.That(t, wrong.First("h1") != nil && apptest.Text(wrong.First("h1")) == apptest.Text(job.First("h1")),
		"it came back on another page: %.400s", apptest.Text(wrong.Doc))
	focused, marks := "", 0
	wrong.Each(func(n *html.Node) {
		if apptest.Has(n, "autofocus") {
			focused += apptest.Attr(n, "name")
		}
		if apptest.Attr(n, "aria-invalid") == "true" {
			marks++
		}
	})
	assert.That(t, focused == "labor_minutes" && marks == 1, "the keys are at %q, %d fields are marked", focused, marks)
	again := sentBy(t, wrong, path)
	assert.That(t, again.Get("labor_minutes") == "soon", "what was typed came back as %q", again.Get("labor_minutes"))
	again.Set("labor_minutes", "90")
	location(t, post(v, path, again), at)
	status(t, v.Get(at), http.StatusOK, "Bob", "2031")

	alone := status(t, v.Post(path, "id", id, "due_date", "soon"), http.StatusUnprocessableEntity)
	if got := sentBy(t, alone, path); got.Get("assigned_to") != "Bob" || got.Get("due_date") != "soon" {
		t.Errorf("a refused field led to a form without what is stored: %v", got)
	}
}

// TestRowsOfARefusedFormComeBackOnTheirPage sends three forms over a table's rows with one wrong cell, twice.
func TestRowsOfARefusedFormComeBackOnTheirPage(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	for _, c := range []struct{ service, at, op, cell string }{
		{"reorder", "/count", "count_stock", "counts.1.qty"},
		{"reorder", "/purchase-orders/PO-000002", "edit_purchase", "lines.0.unit_cost"},
		{"rental", "/opening", "set_opening", "leases.2.deposit"},
	} {
		v, path := h.as(asAdmin, c.service), "/do/"+c.op
		shown := status(t, v.Get(c.at), http.StatusOK)
		sent := cellsOf(shown, c.op)
		if sent.Set(c.cell, "1o"); c.op == "set_opening" {
			sent.Set("leases.2.lease_id", shown.Field("leases.2.lease_id"))
		}
		for range 2 {
			sent.Set("then", c.at)
			shown = status(t, post(v, path, sent), http.StatusUnprocessableEntity, `role="alert"`, "1o")
			sent = cellsOf(shown, c.op)
			assert.That(t, sent.Get(c.cell) == "1o" && shown.First("h1") != nil && (c.op != "set_opening" ||
				sent.Get("leases.2.lease_id") != ""), "%s: %v", c.op, sent)
		}
	}
}

// cellsOf is what a browser would send of a form over a table's rows: the fields in it, and those outside.
func cellsOf(page apptest.Sheet, op string) url.Values {
	sent := url.Values{}
	page.Each(func(n *html.Node) {
		inside := n.Parent != nil && apptest.Attr(n.Parent, "id") == "bulk-"+op
		if n.Data == "input" && (inside || apptest.Attr(n, "form") == "bulk-"+op) &&
			(apptest.Attr(n, "type") != "checkbox" || apptest.Has(n, "checked")) {
			sent.Add(apptest.Attr(n, "name"), apptest.Attr(n, "value"))
		}
	})
	return sent
}

// countOf returns a number from the demo's database.
func countOf(t *testing.T, h *demoFixture, query string) (n string) {
	t.Helper()
	err := h.Server.DB().View(context.Background(), func(c *db.Conn) error {
		found, _, err := db.One(c, db.Int, query)
		n = fmt.Sprint(found)
		return err
	})
	assert.OK(t, err)
	return n
}

// TestCancellingAJobAsks: the board's button leads to a question that names the job, and writes nothing. A finish form
// with open steps comes back as typed, and a replaced meter's overdue plan stays in the calendar.
func TestCancellingAJobAsks(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	v := h.as(asMember, "maintenance")
	const path = "/do/advance_status"
	id := countOf(t, h, "SELECT min(id) FROM work_orders WHERE status = 'open'")
	asked := status(t, v.Post(path, "id", id, "status", "cancelled"), http.StatusOK, "Cancel work order "+id, "Cancel job", "Keep it",
		"<span>Work order</span>")
	assert.Equal(t, countOf(t, h, "SELECT count(*) FROM work_orders WHERE status = 'open' AND id = "+id), "1",
		"it was cancelled at one tap")
	status(t, post(v, path, sentBy(t, asked, path)), http.StatusSeeOther)
	assert.Equal(t, countOf(t, h, "SELECT count(*) FROM work_orders WHERE status = 'cancelled' AND id = "+id), "1",
		"it was")
	status(t, v.Post(path, "id", id, "status", "in-progress"), http.StatusUnprocessableEntity,
		"This work order is cancelled for good and cannot become in progress.")
	id = countOf(t, h, "SELECT min(id) FROM work_orders WHERE status = 'open'")
	status(t, v.Post(path, "id", id, "status", "done", "resolution", "Mended"), http.StatusUnprocessableEntity,
		"This work order is open. It cannot become done now, only in progress or cancelled.")
	status(t, v.Post("/do/create_workorder", "asset_id", "1", "description", "Grease",
		"checklist", "Lock it\nGrease it"), http.StatusSeeOther)
	id = countOf(t, h, "SELECT max(id) FROM work_orders")
	status(t, v.Post("/do/advance_status", "id", id, "status", "in-progress"), http.StatusSeeOther)
	form := status(t, v.Get("/work-orders/"+id+"/done"), http.StatusOK, "<h1>Mark as done: Grease</h1>")
	v.Head = map[string]string{"Referer": h.URL("maintenance", "/work-orders/"+id+"/done")}
	got := status(t, post(v, "/do/finish_workorders", sentBy(t, form, "/do/finish_workorders", "resolution", "Greased it", "step", "1")),
		http.StatusUnprocessableEntity, "<h1>Mark as done: Grease</h1>", "Greased it</textarea>", "tick them, or give the reason",
		`name="step" value="1" checked`, `name="step" value="2"`)
	v.Head["Referer"] = h.URL("maintenance", "/do/finish_workorders") // a browser's address after the refusal
	got = status(t, post(v, "/do/finish_workorders", sentBy(t, got, "/do/finish_workorders", "resolution", "")),
		http.StatusUnprocessableEntity, "<h1>Mark as done: Grease</h1>", `name="step" value="1" checked`)
	assert.Lacks(t, apptest.Text(got.Doc), "skip_steps", "a job with open steps is refused by an argument's name")
	status(t, post(v, "/do/finish_workorders", sentBy(t, got, "/do/finish_workorders", "resolution", "Greased it", "skip_steps", "No time")), http.StatusSeeOther)
	status(t, v.Get("/work-orders/"+id), http.StatusOK, "is done", "Reopen it")
	status(t, v.Get("/figures?from=2025-11-21&to=2026-11-20"), http.StatusOK, "Nov 25", "Nov 26")
	status(t, v.Post("/do/replace_meter", "asset_id", "3", "meter", "odometer", "last_reading", "124500", "reading", "10"), http.StatusSeeOther)
	lower := status(t, v.Post("/do/record_meter", "asset_id", "3", "meter", "odometer", "reading", "9"), http.StatusConflict, "under More")
	assert.Lacks(t, apptest.Text(lower.Doc), "REST", "a lower reading is sent to REST")
	_, weeks, _ := strings.Cut(apptest.Text(v.Get("/pm-due").Doc), "Twelve weeks ahead")
	if late, _, _ := strings.Cut(weeks, "This week"); !strings.Contains(late, "Van 1") {
		t.Errorf("a plan that is overdue by a replaced meter is not in the calendar: %.300s", weeks)
	}
}

// TestRarelyUsedFieldsAreUnderMore counts the fields of two daily forms that are visible at once.
func TestRarelyUsedFieldsAreUnderMore(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	ada := s.Person("store", "ada", "admin")
	for _, c := range []struct {
		service, op string
		most        int
		folded      []string
	}{
		{"maintenance", "create_workorder", 5, []string{"wo_type", "labor_minutes", "parts_cost", "downtime_minutes", "pm_id", "checklist"}},
		{"store", "record_order", 9, []string{"tier", "currency", "provider", "provider_ref", "lines.0.sku"}},
	} {
		got := status(t, ada.At(s.URL(c.service, "")).Get("/do/"+c.op), http.StatusOK)
		var all, folded []string
		got.Each(func(n *html.Node) {
			if name := apptest.Attr(n, "name"); apptest.Attr(n, "id") != "" && strings.HasPrefix(apptest.Attr(n, "id"), "f-"+c.op) && name != "" {
				all = append(all, name)
			}
			if n.Data == "details" {
				for x := range n.Descendants() {
					if name := apptest.Attr(x, "name"); name != "" {
						folded = append(folded, name)
					}
				}
			}
		})
		for _, name := range c.folded {
			assert.That(t, slices.Contains(folded, name), "%s: %s is not under More", c.op, name)
		}
		n := len(all) - len(folded)
		assert.That(t, n <= c.most, "%s shows %d fields at once, want at most %d: %v", c.op, n, c.most, all)
		wrong := ada.At(s.URL(c.service, "")).Post("/do/"+c.op, c.folded[1], "?!", "email", "nobody")
		if at := marked(wrong); c.service == "maintenance" && at[c.folded[1]] == "" {
			t.Errorf("%s: a refused field under More is not marked: %v", c.op, at)
		}
	}
}

// TestSearchAndChipsKeepEachOther: the search form keeps the filters of chips and column heads, and the chips keep the
// search text.
func TestSearchAndChipsKeepEachOther(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	got := status(t, h.as(asAdmin, "maintenance").Get("/work-orders?status=open&q=oil&sort=due_date"), http.StatusOK)
	filters := sentBy(t, got, "/work-orders")
	assert.That(t, filters.Get("status") == "open" && filters.Get("q") == "oil" && filters.Get("sort") == "due_date",
		"the search sends %v", filters)
	chips := 0
	got.Each(func(n *html.Node) {
		if href := apptest.Attr(n, "href"); n.Data == "a" && strings.HasPrefix(href, "/work-orders?") && strings.Contains(href, "status=done") {
			chips++
			assert.That(t, strings.Contains(href, "q=oil") && strings.Contains(href, "sort=due_date"),
				"the chip leads to %s", href)
		}
	})
	assert.That(t, chips != 0, "there is no chip")
}
