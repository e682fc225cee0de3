package reorder

import (
	"encoding/json"
	"strings"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/fault"
)

// ranked makes a fixture with SKUs in every status: 60 sold in the window, 7 + 3 days, so
// the point is 20.
func ranked(t testing.TB) *fixture {
	s := open(t)
	for _, row := range []string{
		"healthy-2,X,400", "healthy-1,X,40", "near-b,X,24", "near-a,Y,24", "below-2,Y,20", "below-1,X,3", "OFF,X,0",
	} {
		s.sku("sku,supplier,current_stock,unit_cost_cents", row+",150")
		sku, _, _ := strings.Cut(row, ",")
		s.upload(`{"rows":[{"date":"2026-10-22","sku":"` + sku + `","qty":60}]}`)
	}
	s.sku("sku,active", "OFF,0")
	s.sku("sku,supplier,current_stock", "dead,Y,5")
	s.sku("sku,supplier,current_stock", "dead-empty,X,0")
	return s
}

func codes(rows []Row) string {
	var all []string
	for _, r := range rows {
		all = append(all, r.SKU)
	}
	return strings.Join(all, " ")
}

func TestReportOrderAndFilters(t *testing.T) {
	s := ranked(t)
	for _, c := range []struct{ status, want string }{
		{"", "below-1 below-2 dead-empty near-a near-b"},
		{Flagged, "below-1 below-2 dead-empty near-a near-b"},
		{Below, "below-1 below-2 dead-empty"},
		{Near, "near-a near-b"},
		{Healthy, "healthy-1 healthy-2 dead"},
		{All, "below-1 below-2 dead-empty near-a near-b healthy-1 healthy-2 dead"},
	} {
		query := map[string][]string{"status": {c.status}}
		if c.status == "" {
			query = nil
		}
		got := val(s.get(s.reorderReport(), query))
		rep := got.(Report)
		assert.That(t, codes(rep.SKUs) == c.want, "status %q: %s, want %s", c.status, codes(rep.SKUs), c.want)
		assert.That(t, rep.Counts == (Counts{Below: 3, Near: 2, Healthy: 3}), "status %q: counts %+v", c.status, rep.Counts)
		var cost int64
		for _, r := range rep.SKUs {
			cost += r.EstCostCents
		}
		assert.That(t, rep.EstCostCents == cost, "status %q: %d cents, the rows have %d", c.status, rep.EstCostCents, cost)
	}
	for _, q := range []map[string][]string{{"status": {"urgent"}}, {"status": {""}}, {"state": {"below"}}, {"supplier": {"X"}}} {
		_, err := s.get(s.reorderReport(), q)
		s.Refused(err, fault.Invalid)
	}
}

// TestByWeek: weeks begin on Monday.
func TestByWeek(t *testing.T) {
	got := byWeek([]Sold{{day(t, "2026-11-15"), 1000}, {day(t, "2026-11-16"), 2000}, {day(t, "2026-11-22"), 3000}, {day(t, "2026-11-23"), 500}})
	want := `[{"date":"2026-11-09","qty":1},{"date":"2026-11-16","qty":5},{"date":"2026-11-23","qty":0.5}]`
	assert.That(t, asJSON(t, got) == want, "%s, want %s", asJSON(t, got), want)
}

func TestListProducts(t *testing.T) {
	s := ranked(t)
	s.sku("sku,name", "below-1,Ünïcode Tea")
	for _, c := range []struct {
		args, want string
		total      int
	}{
		{`{}`, "below-1 below-2 dead dead-empty healthy-1 healthy-2 near-a near-b", 8},
		{`{"limit":3}`, "below-1 below-2 dead", 8},
		{`{"below_reorder":true}`, "below-1 below-2 dead-empty", 3},
		{`{"below_reorder":false}`, "below-1 below-2 dead dead-empty healthy-1 healthy-2 near-a near-b", 8},
		{`{"below_reorder":true,"status":"near"}`, "", 0},
		{`{"status":"healthy","supplier":"X"}`, "healthy-1 healthy-2", 2},
		{`{"q":"EA"}`, "below-1 dead dead-empty healthy-1 healthy-2 near-a near-b", 7},
		{`{"q":"ÜNÏ"}`, "below-1", 1},
		{`{"q":"off"}`, "", 0},
	} {
		got := val(s.call(s.listProducts(), schema.Tool, c.args))
		if p := got.(Products); codes(products(p.Products)) != c.want || p.Total != c.total || p.Products == nil {
			t.Errorf("%s: %s, %d in all; want %s, %d", c.args, codes(products(p.Products)), p.Total, c.want, c.total)
		}
	}
	for _, args := range []string{`{"status":"flagged"}`, `{"limit":201}`, `{"below_reorder":1}`} {
		_, err := s.call(s.listProducts(), schema.Tool, args)
		s.Refused(err, fault.Invalid)
	}
}

func TestProductDetail(t *testing.T) {
	s := ranked(t)
	s.upload(`{"rows":[{"date":"2026-11-20","sku":"OFF","qty":1.5},{"date":"2026-11-19","sku":"OFF","qty":0},
		{"date":"2026-08-23","sku":"OFF","qty":2},{"date":"2026-08-22","sku":"OFF","qty":3},{"date":"2026-11-20","sku":"dead","qty":9}]}`)
	got := val(s.call(s.productDetail(), schema.Tool, `{"sku":"OFF"}`))
	p := got.(Product)
	if asJSON(t, p.History) != `[{"date":"2026-08-23","qty":2},{"date":"2026-10-22","qty":60},{"date":"2026-11-20","qty":1.5}]` {
		t.Errorf("the last 90 days of an inactive SKU: %s", asJSON(t, p.History))
	}
	var fields map[string]any
	s.Must(json.Unmarshal([]byte(asJSON(t, p)), &fields))
	for _, name := range strings.Fields("sku name supplier supplier_sku barcode unit unit_cost_cents current_stock on_order lead_time_days " +
		"safety_stock_days pack_size moq active created_at updated_at avg_daily_demand reorder_point days_of_stock suggested_qty est_cost_cents " +
		"status sold_in_window demand_days need stockout_date history") {
		if _, is := fields[name]; !is {
			t.Errorf("no %s in %s", name, asJSON(t, p))
		}
	}
	assert.That(t, len(fields) == 29 && fields["active"] == false, "%d fields: %s", len(fields), asJSON(t, p))
	for _, c := range []struct {
		args string
		days int
	}{{`{"sku":"OFF","history_days":1}`, 1}, {`{"sku":"OFF","history_days":91}`, 4}, {`{"sku":"OFF","history_days":365}`, 4}, {`{"sku":"dead-empty"}`, 0}} {
		got := val(s.call(s.productDetail(), schema.Tool, c.args))
		h := got.(Product).History
		assert.That(t, len(h) == c.days && h != nil, "%s: history %v, want %d days", c.args, h, c.days)
	}
	for _, args := range []string{`{"sku":"OFF","history_days":0}`, `{"sku":"OFF","history_days":366}`, `{}`, `{"sku":""}`, `{"sku":["OFF"]}`} {
		_, err := s.call(s.productDetail(), schema.Tool, args)
		s.Refused(err, fault.Invalid)
	}
	_, err := s.call(s.productDetail(), schema.Tool, `{"sku":"off"}`)
	s.Refused(err, fault.NotFound, `"off"`)
}

func TestCatalogue(t *testing.T) {
	s := ranked(t)
	for _, c := range []struct{ query, want, next string }{
		{"", "OFF below-1 below-2 dead dead-empty healthy-1 healthy-2 near-a near-b", ""},
		{"limit=2", "OFF below-1", "below-1"},
		{"limit=2&after=below-1", "below-2 dead", "dead"},
		{"limit=2&after=near-a", "near-b", ""},
		{"limit=9", "OFF below-1 below-2 dead dead-empty healthy-1 healthy-2 near-a near-b", ""},
		{"limit=8", "OFF below-1 below-2 dead dead-empty healthy-1 healthy-2 near-a", "near-a"},
		{"limit=100000", "OFF below-1 below-2 dead dead-empty healthy-1 healthy-2 near-a near-b", ""},
		{"active=0", "OFF", ""},
		{"active=1&supplier=X", "below-1 dead-empty healthy-1 healthy-2 near-b", ""},
		{"supplier=X", "OFF below-1 dead-empty healthy-1 healthy-2 near-b", ""},
		{"supplier=x", "", ""},
		{"q=BELOW&limit=1", "below-1", "below-1"},
		{"q=off", "OFF", ""},
		{"q=EA&active=1&after=dead", "dead-empty healthy-1 healthy-2 near-a near-b", ""},
	} {
		query := map[string][]string{}
		for _, pair := range strings.Split(c.query, "&") {
			if name, value, ok := strings.Cut(pair, "="); ok {
				query[name] = []string{value}
			}
		}
		got := val(s.get(s.listSKUs(), query))
		page := got.(Catalogue)
		var all []string
		for _, k := range page.SKUs {
			all = append(all, k.Code)
		}
		next := ""
		if page.Next != nil {
			next = *page.Next
		}
		assert.That(t, strings.Join(all, " ") == c.want && next == c.next && page.SKUs != nil,
			"%s: %v, next %q; want %s, next %q", c.query, all, next, c.want, c.next)
	}
	for _, q := range []map[string][]string{{"active": {""}}, {"active": {"2"}}, {"active": {"true"}}, {"limit": {"0"}}, {"limit": {"-1"}}, {"limit": {"x"}}, {"page": {"2"}}} {
		_, err := s.get(s.listSKUs(), q)
		s.Refused(err, fault.Invalid)
	}
}
