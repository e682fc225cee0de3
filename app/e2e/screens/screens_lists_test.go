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
	"quartermaster/app/server"
	"quartermaster/schema/assert"
)

// rowsShown are the ids of a list's rows in order.
func rowsShown(s apptest.Sheet) (ids []string) {
	s.Each(func(n *html.Node) {
		if n.Data == "tr" && apptest.Has(n, "data-id") {
			ids = append(ids, apptest.Attr(n, "data-id"))
		}
	})
	return ids
}

// TestLists tests every list page: a search for nonsense finds nothing, an empty filter does not filter, a column
// orders the same rows both ways, an unknown order is refused with the page and what is allowed, the total is shown,
// and a file has all filtered rows.
func TestLists(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	for service, lists := range map[string][]string{
		"maintenance": {"/work-orders", "/assets", "/pm-due", "/parts", "/plans", "/audit"},
		"rental":      {"/arrears", "/leases", "/units", "/properties", "/tenants"},
		"reorder":     {"/", "/skus", "/sales", "/purchase-orders", "/suppliers"},
		"store":       {"/orders", "/customers", "/licenses", "/redeem-codes", "/products"},
	} {
		v := h.as(asViewer, service)
		for _, path := range lists {
			h.list(t, v, service, path)
		}
	}
	for _, list := range []struct{ service, path, filter string }{
		{"maintenance", "/work-orders", "status=broken"}, {"maintenance", "/work-orders", "priority=none"}, {"rental", "/leases", "status=over"},
		{"rental", "/leases", "ends_before=soon"}, {"reorder", "/skus", "status=odd"}, {"store", "/orders", "status=lost&from=2026-13-01"}, {"store", "/licenses", "status=lost"},
	} {
		got := h.as(asViewer, list.service).Get(list.path + "?" + list.filter)
		if got.Status != http.StatusUnprocessableEntity || apptestAlert(got) == "" || len(rowsShown(got)) == 0 {
			t.Errorf("%s %s?%s: %d %q with %d rows", list.service, list.path, list.filter, got.Status, apptestAlert(got), len(rowsShown(got)))
		}
		name, _, _ := strings.Cut(list.filter, "=")
		assert.Equal(t, h.as(asViewer, list.service).Get(list.path+"?"+name+"=").Status, http.StatusOK,
			"%s %s: an empty %s", list.service, list.path, name)
	}
}

func (h *demoFixture) list(t *testing.T, v *apptest.Visitor, service, path string) {
	t.Helper()
	plain := status(t, v.Get(path), http.StatusOK)
	rows := rowsShown(plain)
	columns, pager := map[string]bool{}, false
	plain.Each(func(n *html.Node) {
		u, err := url.Parse(apptest.Attr(n, "href"))
		if n.Data == "a" && n.Parent.Data == "th" && err == nil && u.Query().Get("sort") != "" {
			columns[strings.TrimPrefix(u.Query().Get("sort"), "-")] = true
		}
		pager = pager || apptest.Attr(n, "class") == "pager"
	})
	assert.That(t, len(rows) != 0 && pager, "%s %s: %d rows, pager %v", service, path, len(rows), pager)
	file := v.Get(path + "?format=csv")
	if lines := strings.Count(file.Body, "\n") - 1; !strings.HasPrefix(file.Header.Get("Content-Type"), "text/csv; charset=utf-8") || lines < len(rows) ||
		!strings.HasPrefix(file.Header.Get("Content-Disposition"), "attachment") {
		t.Errorf("%s %s as CSV: %d lines of %d rows, %v", service, path, lines, len(rows), file.Header)
	}
	if export := v.Get("/export" + path); export.Status == http.StatusOK {
		header, _, _ := strings.Cut(export.Body, "\n")
		stored := "\n" + export.Body
		for i, line := range strings.SplitAfter(file.Body, "\n") {
			if i == 0 && strings.TrimSuffix(line, "\n") != header || !strings.Contains(stored, "\n"+line) {
				t.Errorf("%s %s as CSV: line %d is none of its export: %s", service, path, i+1, line)
				break
			}
		}
	}
	if path == "/audit" { // the audit trail has one order
		return
	}
	if len(columns) == 0 {
		t.Errorf("%s %s: no column sorts", service, path)
		return
	}
	for column := range columns {
		rising := status(t, v.Get(path+"?sort="+column), http.StatusOK, `aria-sort="ascending"`)
		falling := status(t, v.Get(path+"?sort=-"+column), http.StatusOK, `aria-sort="descending"`)
		up, down := rowsShown(rising), rowsShown(falling)
		assert.That(t, len(up) == len(rows) && len(down) == len(rows),
			"%s %s by %s: %d and %d rows, not %d", service, path, column, len(up), len(down), len(rows))
		if len(rows) < 50 { // all of them, in another order
			a, b := slices.Sorted(slices.Values(up)), slices.Sorted(slices.Values(rows))
			assert.EqualSlices(t, a, b, "%s %s by %s shows other rows", service, path, column)
		}
	}
	if got := v.Get(path + "?sort=nonsense"); got.Status != http.StatusUnprocessableEntity || !strings.Contains(apptestAlert(got), "nonsense") {
		t.Errorf("%s %s by nonsense: %d %q", service, path, got.Status, apptestAlert(got))
	}
	if strings.Contains(plain.Body, `name="q"`) && strings.Contains(plain.Body, `class="filters"`) && !strings.HasPrefix(path, "/sales") {
		if got := status(t, v.Get(path+"?q=zzqzzq"), http.StatusOK); len(rowsShown(got)) != 0 && hasFilter(plain, "q") {
			t.Errorf("%s %s: nonsense finds %d rows", service, path, len(rowsShown(got)))
		}
	}
}

func hasFilter(s apptest.Sheet, name string) bool {
	found := false
	s.Each(func(n *html.Node) {
		found = found || apptest.Attr(n, "id") == "filter-"+name
	})
	return found
}

// TestSearch types what is printed on a slip of paper: the name of one record leads straight to it.
func TestSearch(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	v := h.as(asMember, "store")
	var order struct {
		Ref      string `json:"order_ref"`
		Customer struct{ Email string }
		Licenses []struct {
			ID  int64
			Key string `json:"license_key"`
		}
	}
	h.Get("store", "/api/orders/"+h.orders[0]).JSON(t, &order)
	license := fmt.Sprint("/licenses/", order.Licenses[0].ID)
	location(t, v.Get("/search?q="+order.Ref), "/orders/"+order.Ref)
	location(t, v.Get("/search?q="+strings.ToLower(strings.TrimPrefix(order.Ref, "ORD-"))), "/orders/"+order.Ref)
	location(t, v.Get("/search?q="+order.Licenses[0].Key), license)
	location(t, v.Get("/search?q="+strings.ToLower(strings.ReplaceAll(order.Licenses[0].Key, "-", ""))), license)
	got := status(t, v.Get("/search?q="+url.QueryEscape(order.Customer.Email[:5])), http.StatusOK)
	for _, kind := range []string{"Orders", "Customers", "Licenses"} {
		assert.Contains(t, got.Body, kind, "a part of an address finds no")
	}
	location(t, h.as(asViewer, "maintenance").Get("/search?q=%2312"), "/work-orders/12")
	location(t, h.as(asViewer, "reorder").Get("/search?q=ACC-FILTER-PAPER"), "/skus/ACC-FILTER-PAPER")
	for _, service := range server.Names {
		assert.Equal(t, h.as(asViewer, service).Get("/search?q="+url.QueryEscape(`"x' OR 1 --%`)).Status, http.StatusOK,
			"%s: a hostile search", service)
	}
}

// TestTrailOfEveryRecord follows the link to the audit trail from each record's page.
func TestTrailOfEveryRecord(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	found := 0
	for service, patterns := range map[string][]string{
		"maintenance": {"/work-orders/:id", "/assets/:id", "/parts/:id"}, "rental": {"/leases/:id", "/properties/:id", "/tenants/:id", "/maintenance/:id"},
		"reorder": {"/skus/:sku", "/purchase-orders/:id"}, "store": {"/orders/:ref", "/customers/:id", "/licenses/:id", "/redeem-codes/:batch"},
	} {
		examples := h.examples(t, service)
		for _, p := range patterns {
			got := h.as(asViewer, service).Get(examples[p])
			trail := ""
			got.Each(func(n *html.Node) {
				if to := apptest.Attr(n, "href"); strings.HasPrefix(to, "/audit?subject=") {
					trail = to
				}
			})
			if examples[p] == "" || trail == "" {
				t.Errorf("%s %s (%s) leads to no trail", service, p, examples[p])
				continue
			}
			if len(rowsShown(status(t, h.as(asViewer, service).Get(trail), http.StatusOK))) > 0 {
				found++
			}
		}
	}
	if found < 8 { // some of the demo's functions write one entry for many records
		t.Errorf("only %d trails hold an entry", found)
	}
}
