package screens

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// figuresOf are the values of a page's figures: of the whole page, and of each row by its data-id.
func figuresOf(s apptest.Sheet) (all []string, rows map[string][]string) {
	rows = map[string][]string{}
	if s.Doc == nil {
		return nil, rows
	}
	var walk func(n *html.Node, row string)
	walk = func(n *html.Node, row string) {
		if n.Type == html.ElementNode {
			if apptest.Has(n, "data-id") {
				row = apptest.Attr(n, "data-id")
				if rows[row] == nil {
					rows[row] = []string{}
				}
			}
			value := ""
			switch n.Data {
			case "data":
				value = apptest.Attr(n, "value")
			case "time":
				value = apptest.Attr(n, "datetime")
			}
			if value != "" {
				all = append(all, value)
				if row != "" {
					rows[row] = append(rows[row], value)
				}
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c, row)
		}
	}
	walk(s.Doc, "")
	return all, rows
}

// object reads an answer of REST and keeps its numbers as written.
func object(t *testing.T, a apptest.Answer) map[string]any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader([]byte(a.Body)))
	d.UseNumber()
	var m map[string]any
	err := d.Decode(&m)
	assert.Must(t, err == nil && a.Status == http.StatusOK, "%d %v %.300s", a.Status, err, a.Body)
	return m
}

// plainOf is a value of REST in the form of a page's data; "" for null.
func plainOf(v any) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// at is a value in an answer; a dot enters an object.
func at(answer map[string]any, name string) string {
	var value any = answer
	for _, part := range strings.Split(name, ".") {
		of, _ := value.(map[string]any)
		value = of[part]
	}
	return plainOf(value)
}

// TestFiguresAreREST compares each page with REST's answer, to the digit: the rows' figures and dates by id, and the
// sums.
func TestFiguresAreREST(t *testing.T) {
	t.Parallel()
	h := openDemo(t)
	for _, c := range []struct {
		service, path, rest, list, id string
		fields                        string // of each row
		sums                          string // of the whole answer; a dot enters an object
	}{
		{"reorder", "/", "/api/reorder-report", "skus", "sku", "current_stock on_order reorder_point stockout_date suggested_qty est_cost_cents", "counts.below counts.near counts.healthy"},
		{"reorder", "/skus", "/api/reorder-report?status=all", "skus", "sku", "current_stock on_order avg_daily_demand stockout_date", ""},
		{"maintenance", "/work-orders", "/api/work-orders?limit=50", "work_orders", "id", "total_cost_cents due_date", "total"},
		{"maintenance", "/parts", "/api/parts", "parts", "id", "quantity min_quantity unit_cost_cents", ""},
		{"maintenance", "/pm-due", "/api/pm-due", "pm_due", "pm_id", "next_due days_until usage_remaining", ""},
		{"rental", "/arrears", "/api/arrears", "arrears", "id", "due_date days_overdue balance_cents", "total_cents buckets.days_1_30 buckets.days_31_60 buckets.days_61_90 buckets.days_over_90"},
		{"rental", "/leases", "/api/leases", "leases", "id", "start_date end_date rent_cents balance_cents", ""},
		{"rental", "/units", "/api/units", "units", "id", "market_rent_cents", ""},
		{"store", "/orders", "/api/orders?limit=50", "orders", "order_ref", "total_cents paid_at", ""},
		{"store", "/licenses", "/api/licenses?limit=50", "licenses", "id", "activation_count expires_at last_checked_at", ""},
		{"store", "/customers", "/api/customers?limit=50", "customers", "id", "paid_orders first_order_at last_order_at", ""},
	} {
		answer := object(t, h.Get(c.service, c.rest))
		got := status(t, h.as(asViewer, c.service).Get(c.path), http.StatusOK)
		all, rows := figuresOf(got)
		list, _ := answer[c.list].([]any)
		assert.That(t, len(list) != 0, "%s %s: REST lists nothing", c.service, c.rest)
		for i, item := range list {
			row, _ := item.(map[string]any)
			if i >= 50 {
				break
			}
			shown, there := rows[plainOf(row[c.id])]
			if !there {
				t.Errorf("%s %s: no row of %v", c.service, c.path, row[c.id])
				continue
			}
			for _, field := range strings.Fields(c.fields) {
				if value := plainOf(row[field]); value != "" && !slices.Contains(shown, value) {
					t.Errorf("%s %s: %s of %v is %s by REST; the row shows %v", c.service, c.path, field, row[c.id], value, shown)
				}
			}
		}
		for _, name := range strings.Fields(c.sums) {
			if text := at(answer, name); text == "" || !slices.Contains(all, text) {
				t.Errorf("%s %s: %s is %q by REST; the page has no such figure", c.service, c.path, name, text)
			}
		}
	}
	h.toOrder(t)
	h.ledgers(t)
	h.today(t)
}

// toOrder compares the first page's quantities to order with REST: the need minus open drafts.
func (h *demoFixture) toOrder(t *testing.T) {
	t.Helper()
	var drafted []string
	err := h.Server.DB().View(context.Background(), func(c *db.Conn) (err error) {
		drafted, err = db.All(c, db.Text, `SELECT sku FROM purchase_order_lines JOIN purchase_orders ON purchase_orders.id = order_id
			JOIN skus ON skus.id = sku_id WHERE status = 'draft'`)
		return err
	})
	assert.Must(t, err == nil && len(drafted) != 0, "drafts hold %v, %v", drafted, err)
	open := int64(0)
	list, _ := object(t, h.Get("reorder", "/api/reorder-report"))["skus"].([]any)
	for _, item := range list {
		row, _ := item.(map[string]any)
		if cents, err := strconv.ParseInt(plainOf(row["est_cost_cents"]), 10, 64); err != nil {
			t.Error(err)
		} else if !slices.Contains(drafted, plainOf(row["sku"])) {
			open += cents
		}
	}
	if all, _ := figuresOf(h.as(asViewer, "reorder").Get("/")); !slices.Contains(all, strconv.FormatInt(open, 10)) {
		t.Errorf("without what is in drafts it costs %d; the page has no such figure", open)
	}
}

// ledgers compares each lease's page, and its tenant's page, with its ledger.
func (h *demoFixture) ledgers(t *testing.T) {
	t.Helper()
	hold := func(what string, got apptest.Sheet, ledger map[string]any, sums ...string) {
		t.Helper()
		all, rows := figuresOf(got)
		charges, _ := ledger["charges"].([]any)
		for _, item := range charges {
			c, _ := item.(map[string]any)
			for _, field := range []string{"due_date", "amount_cents", "balance_cents"} {
				if value := plainOf(c[field]); !slices.Contains(rows[plainOf(c["id"])], value) {
					t.Errorf("%s: %s of charge %v is %s; the row shows %v", what, field, c["id"], value, rows[plainOf(c["id"])])
				}
			}
		}
		totals, _ := ledger["totals"].(map[string]any)
		for _, name := range sums {
			value := plainOf(totals[name])
			assert.That(t, slices.Contains(all, value), "%s: %s is %s by REST; the page has no such figure", what, name, value)
		}
	}
	var list struct{ Leases []struct{ ID int64 } }
	h.Get("rental", "/api/leases").JSON(t, &list)
	for _, l := range list.Leases {
		id := fmt.Sprint(l.ID)
		ledger := object(t, h.Get("rental", "/api/leases/"+id+"/ledger"))
		hold("lease "+id, status(t, h.as(asMember, "rental").Get("/leases/"+id), http.StatusOK), ledger, "billed_cents", "paid_cents", "balance_cents")
	}
	for i, caller := range []string{asTenantA, asTenantB} {
		ledger := object(t, h.Get("rental", fmt.Sprintf("/api/leases/%d/ledger", h.leases[i].ID)))
		got := status(t, h.as(caller, "rental").Get("/portal"), http.StatusOK)
		hold(caller, got, ledger)
		totals, _ := ledger["totals"].(map[string]any)
		all, _ := figuresOf(got)
		if owed := plainOf(totals["balance_cents"]); owed != "0" && all[0] != owed {
			t.Errorf("%s owes %s by REST; the first line says %s", caller, owed, all[0])
		}
	}
}

// today compares the store's first page with its stats, and a work order's page with its cost.
func (h *demoFixture) today(t *testing.T) {
	t.Helper()
	stats := object(t, h.Get("store", "/api/stats"))
	all, _ := figuresOf(status(t, h.as(asViewer, "store").Get("/"), http.StatusOK))
	for _, name := range []string{"customers", "activations", "licenses.active", "licenses.suspended", "codes.unused", "codes.redeemed"} {
		value := at(stats, name)
		assert.That(t, slices.Contains(all, value), "store /: %s is %q by REST; the page has no such figure", name, value)
	}
	order := object(t, h.Get("maintenance", "/api/work-orders/12"))
	all, _ = figuresOf(status(t, h.as(asViewer, "maintenance").Get("/work-orders/12"), http.StatusOK))
	for _, field := range []string{"labor_minutes", "labor_cost_cents", "parts_cost_cents", "total_cost_cents"} {
		if value := plainOf(order[field]); !slices.Contains(all, value) {
			t.Errorf("maintenance /work-orders/12: %s is %s by REST; the page has no such figure", field, value)
		}
	}
}
