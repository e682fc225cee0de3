package screens

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// formOf is what a browser sends of the form with the id: its fields, and those with its form attribute.
func formOf(s apptest.Sheet, id string) url.Values {
	fields := url.Values{}
	s.Each(func(n *html.Node) {
		name, in := apptest.Attr(n, "name"), apptest.Attr(n, "form") == id
		for p := n.Parent; p != nil && !in; p = p.Parent {
			in = p.Data == "form" && apptest.Attr(p, "id") == id
		}
		if !in || name == "" {
			return
		}
		switch n.Data {
		case "input":
			if k := apptest.Attr(n, "type"); k == "checkbox" && !apptest.Has(n, "checked") {
				return
			}
			fields.Add(name, apptest.Attr(n, "value"))
		case "textarea":
			fields.Add(name, apptest.Text(n))
		case "select":
			for o := n.FirstChild; o != nil; o = o.NextSibling {
				if apptest.Has(o, "selected") {
					fields.Set(name, apptest.Attr(o, "value"))
				}
			}
		}
	})
	return fields
}

// button is the address to which the button with the label sends its form.
func button(t *testing.T, s apptest.Sheet, label string) (to string) {
	t.Helper()
	s.Each(func(n *html.Node) {
		if n.Data == "button" && strings.HasPrefix(apptest.Text(n), label) {
			to = apptest.Attr(n, "formaction")
		}
	})
	assert.Must(t, to != "", "no button %q leads anywhere", label)
	return to
}

func sendForm(v *apptest.Visitor, path string, fields url.Values) apptest.Sheet {
	var flat []string
	for name, values := range fields {
		for _, one := range values {
			flat = append(flat, name, one)
		}
	}
	return v.Post(path, flat...)
}

// TestMarksStayOverPages marks work orders on two pages, like a browser without script, and moves them at once. A
// refused one is named with its reason and stays marked. One tick marks all matches, on every page.
func TestMarksStayOverPages(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("maintenance", "ann", "member")
	status(t, v.Post("/do/save_asset", "asset_tag", "P-1", "name", "Pump"), http.StatusSeeOther)
	for i := range 120 {
		status(t, v.Post("/do/create_workorder", "asset_id", "1", "description", fmt.Sprint("Job ", i+1)), http.StatusSeeOther)
	}
	const form = "bulk-move_workorders"
	first := status(t, v.Get("/work-orders?status=open"), http.StatusOK, "All 120 that match")
	fields := formOf(first, form)
	fields["id"] = []string{"120", "100"}
	fields.Set("status", "done")
	second := status(t, sendForm(v, button(t, first, "Next page"), fields), http.StatusOK, "2 rows marked on other pages")
	rows := rowsShown(second)
	assert.Must(t, len(rows) == 50 && rows[0] == "70", "the second page has %d rows, the first %s", len(rows), rows[0])
	fields = formOf(second, form)
	assert.Must(t, fields.Get("status") == "done" && slices.Equal(fields["id"], []string{"120", "100"}),
		"on the second page: %v", fields)
	fields.Add("id", "50")
	back := status(t, sendForm(v, button(t, second, "First page"), fields), http.StatusOK, "1 row marked on other pages")
	fields = formOf(back, form)
	ids := slices.Sorted(slices.Values(fields["id"]))
	assert.Must(t, slices.Equal(ids, []string{"100", "120", "50"}), "back on the first page: %v", ids)
	status(t, v.Post("/do/advance_status", "id", "100", "status", "cancelled", "confirm", "yes"), http.StatusSeeOther)
	fields.Set("status", "in-progress")
	location(t, sendForm(v, "/do/move_workorders", fields), "/work-orders?status=open")
	after := status(t, v.Get("/work-orders"), http.StatusOK, "2 work orders are in progress", "work order 100: ")
	assert.EqualSlices(t, formOf(after, form)["id"], []string{"100"}, "marked after the act")

	fields = formOf(status(t, v.Get("/work-orders?status=open"), http.StatusOK, "All 117 that match"), form)
	fields["id"], fields["match"] = []string{"3"}, []string{"q=&status=open"}
	fields.Set("status", "in-progress")
	location(t, sendForm(v, "/do/move_workorders", fields), "/work-orders?status=open")
	status(t, v.Get("/work-orders?status=open"), http.StatusOK, "117 work orders are in progress", "No open work orders")

	fields = formOf(v.Get("/work-orders"), form)
	fields["match"] = []string{"q="}
	fields.Set("status", "cancelled")
	asked := status(t, sendForm(v, "/do/move_workorders", fields), http.StatusOK, "Cancel 119 jobs?", "and 114 more", "Keep it")
	status(t, v.Get("/work-orders?status=cancelled"), http.StatusOK, "1 cancelled work order")
	location(t, post(v, "/do/move_workorders", sentBy(t, asked, "/do/move_workorders")), "/work-orders")
	status(t, v.Get("/work-orders"), http.StatusOK, "119 work orders are cancelled", "work order 100: ")

	fields = formOf(v.Get("/work-orders"), form)
	var every string
	v.Get("/work-orders").Each(func(n *html.Node) {
		if apptest.Attr(n, "name") == "match" {
			every = apptest.Attr(n, "value")
		}
	})
	fields["match"] = []string{every}
	fields.Set("marked_open", "yes")
	status(t, sendForm(v, "/do/edit_workorders", fields), http.StatusOK, "All that match</span> <b>120</b>")

	nobody := s.Visitor("maintenance")
	status(t, sendForm(nobody, "/work-orders?after=60", fields), http.StatusUnauthorized, "Sign in")
}

// TestARefusedBulkActKeepsItsMarks sends an action on marked rows without a required value. The list returns with the
// marks, also those of other pages, and what was typed.
func TestARefusedBulkActKeepsItsMarks(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("maintenance", "ann", "member")
	v.Head = map[string]string{"Referer": s.URL("maintenance", "/work-orders?sort=id")}
	status(t, v.Post("/do/save_asset", "asset_tag", "P-1", "name", "Pump"), http.StatusSeeOther)
	for range 60 {
		status(t, v.Post("/do/create_workorder", "asset_id", "1", "description", "Job"), http.StatusSeeOther)
	}
	fields := formOf(v.Get("/work-orders?sort=id"), "bulk-move_workorders")
	fields.Set("status", "cancelled")
	status(t, sendForm(v, "/do/move_workorders", fields), http.StatusUnprocessableEntity, ">Mark at least one work order<")
	fields["id"] = []string{"2", "57"}
	fields.Set("status", "lost")
	fields.Set("skip_steps", "was not needed")
	got := sendForm(v, "/do/move_workorders", fields)
	assert.Must(t, got.Status == http.StatusUnprocessableEntity && len(rowsShown(got)) == 50,
		"%d with %d rows", got.Status, len(rowsShown(got)))
	again := formOf(got, "bulk-move_workorders")
	if ids := slices.Sorted(slices.Values(again["id"])); !slices.Equal(ids, []string{"2", "57"}) || again.Get("skip_steps") != "was not needed" {
		t.Errorf("it comes back with %v", again)
	}
	status(t, v.Get("/do/finish_workorders"), http.StatusOK, "None is marked. Go back and mark them")
	again.Set("marked_open", "yes")
	status(t, sendForm(v, "/do/edit_workorders", again), http.StatusOK, "<h1>Assign or reschedule</h1>")
	opened := status(t, sendForm(v, "/do/finish_workorders", again), http.StatusOK)
	sent := sentBy(t, opened, "/do/finish_workorders", "resolution", "Greased", "labor_minutes", "30")
	ids := slices.Sorted(slices.Values(sent["id"]))
	assert.That(t, slices.Equal(ids, []string{"2", "57"}) && !sent.Has("match"), "the form opened for marks has %v", sent)
	status(t, sendForm(v, "/do/finish_workorders", sent), http.StatusSeeOther)
	status(t, v.Get("/work-orders/57"), http.StatusOK, "Greased")

	status(t, v.Post("/do/create_workorder", "asset_id", "1", "description", "Job", "checklist", "Wipe"), http.StatusSeeOther)
	again = formOf(v.Get("/work-orders"), "bulk-move_workorders")
	again["id"] = []string{"3", "61"}
	again.Set("marked_open", "yes")
	sent = sentBy(t, sendForm(v, "/do/finish_workorders", again), "/do/finish_workorders", "resolution", "Oiled")
	done := sendForm(v, "/do/finish_workorders", sent)
	status(t, done, http.StatusSeeOther)
	list := status(t, v.Get(done.Header.Get("Location")), http.StatusOK, "Work order 3 is done", "work order 61: ")
	if left := formOf(list, "bulk-move_workorders"); !slices.Equal(left["id"], []string{"61"}) {
		t.Errorf("of two marked orders, of which one was refused, %v stay marked", left["id"])
	}
}

// TestRowsMarkedByDefault pages through the rows to order, which are marked by default. An unmarked row stays so, an
// unseen row is marked, and one tick drafts all matches.
func TestRowsMarkedByDefault(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("reorder", "ann", "member")
	for i := range 60 {
		sku := fmt.Sprintf("SKU-%02d", i)
		status(t, v.Post("/do/save_sku", "sku", sku, "name", sku, "supplier", "Wollwerk", "moq", "1"), http.StatusSeeOther)
	}
	var lines []string
	day := s.Server.DB().Now().AddDate(0, 0, -3).Format("2006-01-02")
	for i := range 60 {
		lines = append(lines, fmt.Sprintf(`{"sku":"SKU-%02d","date":"%s","qty":30}`, i, day))
	}
	a := s.Post("reorder", "/api/sales-history", `{"rows":[`+strings.Join(lines, ",")+`]}`)
	assert.Must(t, a.Status < 300, "the sales: %d %s", a.Status, a.Body)
	const form = "bulk-suggest_purchases"
	first := status(t, v.Get("/"), http.StatusOK, "All 60 that match")
	fields := formOf(first, form)
	assert.Must(t, len(fields["skus"]) == 50, "%d rows are marked at first", len(fields["skus"]))
	fields["skus"] = slices.DeleteFunc(fields["skus"], func(sku string) bool { return sku == "SKU-07" })
	second := status(t, sendForm(v, button(t, first, "Next page"), fields), http.StatusOK, "49 rows marked on other pages")
	back := sendForm(v, button(t, second, "First page"), formOf(second, form))
	marked := formOf(back, form)["skus"]
	assert.Must(t, len(marked) == 59 && !slices.Contains(marked, "SKU-07"),
		"%d are marked on the way back: %v", len(marked), marked)
	fields = formOf(back, form)
	fields["match"] = []string{"q="}
	location(t, sendForm(v, "/do/suggest_purchases", fields), "/purchase-orders?status=draft")
	assert.Equal(t, len(rowsShown(status(t, v.Get("/purchase-orders/PO-000001"), http.StatusOK, "Wollwerk"))), 60,
		"SKUs are drafted")
}
