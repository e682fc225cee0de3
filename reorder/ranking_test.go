package reorder

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// lists returns answers that are made of the ranking, as JSON: with n, others.
func (s *fixture) lists(svc *Service, n int) (all []string) {
	s.T.Helper()
	ctx := context.Background()
	note := func(v any, err error) {
		s.T.Helper()
		s.Must(err)
		all = append(all, asJSON(s.T, v))
	}
	q := ReportQuery{[]string{Below, Near, Healthy, Flagged, All}[n%5], []string{"", "X", "Y"}[n%3]}
	if s.Number("SELECT count(*) FROM skus WHERE supplier = ?", q.Supplier) == 0 {
		q.Supplier = "" // a tool refuses one that there is none of
	}
	rep, err := svc.Report(ctx, q)
	note(rep, err)
	s.adds(rep)
	for after := ""; ; {
		page, err := svc.AgentReport(ctx, AgentQuery{ReportQuery: q, After: after, Limit: 4})
		note(page, err)
		if page.Next == nil {
			break
		}
		after = *page.Next
	}
	sort, cursor := append(ShelfSorts, "")[n%(len(ShelfSorts)+1)], schema.Cursor[string]{Limit: 6}
	toOrder, err := svc.ToOrder(ctx, ToOrderQuery{Status: q.Status, Supplier: q.Supplier, Sort: sort, Falling: n%2 == 0, Cursor: cursor})
	note(toOrder, err)
	shelf, err := svc.Shelf(ctx, []ShelfQuery{
		{Sort: sort, Cursor: cursor}, {Q: "A", Cursor: cursor}, {Q: "S-1", Active: "1", Cursor: cursor}, {Supplier: "x", Cursor: cursor},
		{Status: Flagged, Cursor: cursor}, {Active: "0", Sort: sort, Falling: true}, {Status: All, Sort: "cover", Cursor: cursor},
	}[n%7])
	note(shelf, err)
	products, err := svc.Products(ctx, []ProductQuery{{Limit: 6}, {Q: "S-1", Limit: 3}, {BelowReorder: true, Limit: 6}, {Status: Near, After: "S-1", Limit: 6}}[n%4])
	note(products, err)
	return all
}

// adds fails the test unless the report's order and sums are those of its rows.
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
	if cost != rep.EstCostCents {
		s.T.Fatalf("the rows cost %d, the sum is %d", cost, rep.EstCostCents)
	}
}

// TestWhatIsKeptOfTheReportIsWhatIsComputed changes everything that the report depends on,
// at random, by this process and by another, and compares what the service keeps with what
// a service that keeps nothing computes from the records.
func TestWhatIsKeptOfTheReportIsWhatIsComputed(t *testing.T) {
	s := open(t)
	r := rand.New(rand.NewPCG(12, 21))
	ctx := context.Background()
	for i := range 20 {
		s.sku("sku,name,supplier,current_stock,unit_cost_cents,pack_size", fmt.Sprintf("S-%d,%s,%s,%d,%d,%d", i, string(rune('a'+i)), []string{"X", "Y", ""}[i%3], r.IntN(60), r.IntN(500), 1+r.IntN(5)))
	}
	compare := func(after string, n int) {
		t.Helper()
		kept, computed := s.lists(s.Service, n), s.lists(New(s.DB), n)
		for i := range computed {
			if kept[i] != computed[i] {
				t.Fatalf("after %s\nkept     %s\ncomputed %s", after, kept[i], computed[i])
			}
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
		switch r.IntN(9) {
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
			if _, err = svc.SuggestOrders(ctx, cli); err == nil {
				number := s.Texts("SELECT coalesce(max(number), '') FROM purchase_orders WHERE status = 'draft'")[0]
				if number != "" {
					_, err = svc.PlaceOrder(ctx, cli, number)
				}
			}
		case 8:
			what = "what was undone"
			err = s.DB.Together(ctx, func(ctx context.Context) error {
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

// TestManyChangesAreRankedAnew: what noted more changes than are looked at one by one, or
// than are remembered, has everything ranked anew.
func TestManyChangesAreRankedAnew(t *testing.T) {
	s := open(t)
	for i := range 40 {
		s.sku("sku,current_stock", fmt.Sprintf("S-%d,5", i))
	}
	ranked := func() (k *ranking) {
		s.Must(s.DB.View(context.Background(), func(c *db.Conn) (err error) {
			k, err = s.ranked(c)
			return err
		}))
		return k
	}
	count := func(n int) {
		for i := range n {
			s.stock(fmt.Sprintf("S-%d", i), fmt.Sprint(i))
		}
	}
	first := ranked()
	count(3)
	second := ranked()
	if second.byCode[39] != first.byCode[39] || second.byCode[0] == first.byCode[0] {
		t.Error("three counts: the SKUs that nobody touched are ranked anew, or those that were are not")
	}
	count(20)
	if third := ranked(); third.byCode[39] == second.byCode[39] {
		t.Error("twenty of 40 counts: each was looked at by itself")
	}
}
