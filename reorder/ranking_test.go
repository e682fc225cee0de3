package reorder

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// agree fails the test unless every list equals the SKUs read one by one.
func (s *fixture) agree(n int) {
	s.T.Helper()
	ctx := context.Background()
	rows, counts := map[string]Row{}, Counts{}
	for _, code := range s.Texts("SELECT sku FROM skus WHERE active = 1") {
		p := val(s.Product(ctx, code, 1))
		rows[code] = p.Row
		counts = Counts{counts.Below + is(p.Status, Below), counts.Near + is(p.Status, Near), counts.Healthy + is(p.Status, Healthy)}
	}
	same := func(row Row) {
		s.T.Helper()
		got, want := asJSON(s.T, row), asJSON(s.T, rows[row.SKU])
		assert.Must(s.T, got == want, "listed    %s\nlooked up %s", got, want)
	}
	q := ReportQuery{[]string{Below, Near, Healthy, Flagged, All}[n%5], []string{"", "X", "Y"}[n%3]}
	if s.Number("SELECT count(*) FROM skus WHERE supplier = ?", q.Supplier) == 0 {
		q.Supplier = "" // a tool refuses an unknown one
	}
	rep := val(s.Report(ctx, q))
	s.adds(rep)
	var wanted int
	for _, row := range rows {
		if q.wantsStatus(row.Status) && (q.Supplier == "" || q.Supplier == row.Supplier) {
			wanted++
		}
	}
	assert.Must(s.T, len(rep.SKUs) == wanted && rep.Counts == counts,
		"%+v: %d rows of %d, %+v of %+v", q, len(rep.SKUs), wanted, rep.Counts, counts)
	at := 0
	for after := ""; ; {
		page := val(s.AgentReport(ctx, AgentQuery{ReportQuery: q, After: after, Limit: 4}))
		for _, r := range page.SKUs {
			assert.Must(s.T, asJSON(s.T, r.Full.Row) == asJSON(s.T, rep.SKUs[at]),
				"row %d of the agents' report is %s", at, asJSON(s.T, r))
			at++
		}
		if page.Total != wanted || after == "" && *page.EstCostCents != rep.EstCostCents {
			s.T.Fatalf("the agents' sums are %s", asJSON(s.T, page))
		}
		if page.Next == nil {
			break
		}
		after = *page.Next
	}
	list := val(s.Products(ctx, ProductQuery{Limit: 200}))
	assert.Must(s.T, list.Total == len(rows), "%d products are listed, there are %d", list.Total, len(rows))
	for _, r := range list.Products {
		same(*r.Full)
	}
	sort, cursor := append(ShelfSorts, "")[n%(len(ShelfSorts)+1)], schema.Cursor[string]{Limit: 6}
	toOrder := val(s.ToOrder(ctx, ToOrderQuery{Status: q.Status, Supplier: q.Supplier, Sort: sort, Falling: n%2 == 0, Cursor: cursor}))
	assert.Must(s.T, toOrder.Total == int64(wanted) && toOrder.EstCostCents == rep.EstCostCents,
		"the page is of %d rows for %d, want %d for %d", toOrder.Total, toOrder.EstCostCents, wanted, rep.EstCostCents)
	var ofSupplier Counts
	for _, r := range val(s.Report(ctx, ReportQuery{Status: All, Supplier: q.Supplier})).SKUs {
		ofSupplier.Below += is(r.Status, Below)
		ofSupplier.Near += is(r.Status, Near)
		ofSupplier.Healthy += is(r.Status, Healthy)
	}
	assert.Must(s.T, toOrder.Counts == ofSupplier,
		"the page counts %+v of %q, want %+v", toOrder.Counts, q.Supplier, ofSupplier)
	for i, r := range toOrder.Rows {
		same(r.Row)
		if i > 0 && sort == "" && r.Open > 0 && toOrder.Rows[i-1].Open == 0 {
			s.T.Fatalf("%s is to be ordered, and comes after %s that orders cover", r.SKU, toOrder.Rows[i-1].SKU)
		}
	}
	shelf, err := s.Shelf(ctx, []ShelfQuery{
		{Sort: sort, Cursor: cursor}, {Q: "A", Cursor: cursor}, {Q: "S-1", Active: "1", Cursor: cursor}, {Supplier: "x", Cursor: cursor},
		{Status: Flagged, Cursor: cursor}, {Active: "1", Sort: sort, Falling: true}, {Status: All, Sort: "cover", Cursor: cursor},
	}[n%7])
	s.Must(err)
	for _, r := range shelf.Rows {
		if r.Active {
			same(r.Row)
		}
	}
}

func is(status, wanted string) int64 {
	if status == wanted {
		return 1
	}
	return 0
}

// adds fails the test unless the report's order and sums match its rows.
func (s *fixture) adds(rep Report) {
	s.T.Helper()
	cost, place := int64(0), map[string]int{Below: 0, Near: 1, Healthy: 2}
	for i, row := range rep.SKUs {
		cost += row.EstCostCents
		if i == 0 {
			continue
		}
		before := rep.SKUs[i-1]
		cover := coverCompare(before.CurrentStock, before.SoldInWindow, before.DemandDays, row.CurrentStock, row.SoldInWindow, row.DemandDays)
		if a, b := place[before.Status], place[row.Status]; a > b || a == b && (cover > 0 || cover == 0 && before.SKU > row.SKU) {
			s.T.Fatalf("%+v stands before %+v", before, row)
		}
	}
	assert.Must(s.T, cost == rep.EstCostCents, "the rows cost %d, the sum is %d", cost, rep.EstCostCents)
}

// TestReportMatchesTheRows changes everything that the report depends on, at random, by this process and
// another. It compares every list with the SKUs read one by one, and the stored sums with the rows.
func TestReportMatchesTheRows(t *testing.T) {
	s := open(t)
	r := rand.New(rand.NewPCG(12, 21))
	ctx := context.Background()
	for i := range 20 {
		s.sku("sku,name,supplier,current_stock,unit_cost_cents,pack_size", fmt.Sprintf("S-%d,%s,%s,%d,%d,%d", i, string(rune('a'+i)), []string{"X", "Y", ""}[i%3], r.IntN(60), r.IntN(500), 1+r.IntN(5)))
	}
	compare := func(after string, n int) {
		t.Helper()
		s.agree(n)
		s.Must(s.DB.View(ctx, func(c *db.Conn) error {
			breaches, err := check(c)
			for _, b := range breaches {
				t.Errorf("after %s: %s", after, b)
			}
			return err
		}))
		if t.Failed() {
			t.FailNow()
		}
	}
	compare("nothing", 0)
	for i := range 200 {
		code := fmt.Sprintf("S-%d", r.IntN(20))
		qty, window := exact.Milli(1000*r.Int64N(80)), 1+r.Int64N(60)
		svc := s.Service
		if r.IntN(4) == 0 {
			svc = New(s.DB) // as another process would
		}
		var what string
		var err error
		switch r.IntN(10) {
		case 0, 1:
			what = "a count"
			_, err = svc.Adjust(ctx, cli, Adjustment{SKU: code, SetTo: &qty})
		case 2:
			what = "sales"
			s.upload(fmt.Sprintf(`{"rows":[{"date":"%s","sku":"%s","qty":%d},{"date":"%s","sku":"S-3","qty":1}]}`,
				s.Now().AddDate(0, 0, -r.IntN(40)).Format(time.DateOnly), code, r.IntN(90), s.Now().Format(time.DateOnly)))
		case 3:
			what = "an edit"
			s.sku("sku,supplier,active,lead_time_days,unit_cost_cents", fmt.Sprintf("%s,%s,%d,%d,%d", code, []string{"X", "Y", "x", fmt.Sprint("new ", i)}[r.IntN(4)], r.IntN(2), r.IntN(30), r.IntN(900)))
		case 4:
			what = "a new SKU"
			s.sku("sku,active", fmt.Sprintf("N-%d,%d", i, r.IntN(2)))
		case 5:
			what = "settings"
			_, err = svc.ChangeSettings(ctx, cli, SettingsChange{ForecastWindowDays: &window})
		case 6:
			what = "a day"
			s.At(s.Now().Add(24 * time.Hour))
		case 7:
			what = "orders"
			if _, err = svc.SuggestOrders(ctx, cli, SuggestQuery{}); err == nil {
				number := s.Texts("SELECT coalesce(max(number), '') FROM purchase_orders WHERE status = 'draft'")[0]
				if number != "" {
					_, err = svc.PlaceOrder(ctx, cli, number, false)
				}
			}
		case 8:
			what = "a row that somebody wrote who knows nothing of the report"
			err = db.Exec(ctx, s.DB, cli, func(tx *db.Tx) error {
				if _, err := tx.Exec("UPDATE skus SET unit_cost_cents = ? WHERE sku = ?", r.IntN(900), code); err != nil {
					return err
				}
				return tx.Audit("test", "test", nil)
			})
		case 9:
			what = "what was undone"
			err = s.DB.Together(ctx, func(d *db.DB) error {
				svc := New(d)
				_, failed := svc.Adjust(ctx, cli, Adjustment{SKU: code, SetTo: &qty})
				_, unread := svc.Report(ctx, ReportQuery{Status: All})
				return errors.Join(fault.Invalidf("undone"), failed, unread)
			})
		}
		if _, refused := fault.As(err); err != nil && !refused {
			t.Fatal(err)
		}
		compare(what, r.IntN(840))
	}
}
