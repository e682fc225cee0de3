package reorder

import (
	"context"
	"errors"
	"strings"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// BenchmarkYear is what pages and agents request in a shop of 10,000 SKUs with a year of sales: 3.65 million SKU-days.
func BenchmarkYear(b *testing.B) {
	path := stocked(b, 10_000, 365)
	moveWeekly(b, path)
	d, err := db.Open(path, benchOptions())
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	s, ctx, first := New(d), context.Background(), schema.Cursor[string]{Limit: 50}
	one := exact.Milli(1000)
	report := func() error { _, err := s.Report(ctx, ReportQuery{Status: Flagged}); return err }
	count := func() error { _, err := s.Adjust(ctx, cli, Adjustment{SKU: "SKU-004711", SetTo: &one}); return err }
	for _, c := range []struct {
		name string
		ask  func() error
	}{
		{"figures", func() error { _, err := s.StockFigures(ctx); return err }},
		{"to-order", func() error { _, err := s.ToOrder(ctx, ToOrderQuery{Status: Flagged, Cursor: first}); return err }},
		{"to-order-all-by-cost", func() error {
			_, err := s.ToOrder(ctx, ToOrderQuery{Status: All, Sort: "cost", Cursor: first})
			return err
		}},
		{"to-order-count", func() error { _, err := s.CountToOrder(ctx); return err }}, // on every staff page
		{"report-flagged", report},
		{"agent-report-20", func() error {
			_, err := s.AgentReport(ctx, AgentQuery{ReportQuery: ReportQuery{Status: Flagged}, Limit: 20, Asked: true})
			return err
		}},
		{"products-20", func() error { _, err := s.Products(ctx, ProductQuery{Limit: 20, Asked: true}); return err }},
		{"skus", func() error { _, err := s.Shelf(ctx, ShelfQuery{Cursor: first}); return err }},
		{"skus-search-few", func() error { _, err := s.Shelf(ctx, ShelfQuery{Q: "number 4711", Cursor: first}); return err }},
		{"skus-search-all", func() error { _, err := s.Shelf(ctx, ShelfQuery{Q: "widget", Cursor: first}); return err }},
		{"skus-search-none", func() error { _, err := s.Shelf(ctx, ShelfQuery{Q: "4006381333931", Cursor: first}); return err }},
		{"sales", func() error { _, err := s.Sales(ctx, SalesQuery{Limit: 50}); return err }},
		{"suppliers", func() error { _, err := s.Suppliers(ctx, SupplierQuery{Cursor: first}); return err }},
		{"product", func() error { _, err := s.ProductPage(ctx, "SKU-004711", 60); return err }},
		{"suggest", func() error { _, err := s.SuggestOrders(ctx, cli, SuggestQuery{}); return err }},
		{"count", count},
		{"leaving-out-days-without-stock/report-flagged", report},
		{"leaving-out-days-without-stock/count", count},
	} {
		if strings.HasPrefix(c.name, "leaving-out") {
			on := true
			if _, err := s.ChangeSettings(ctx, cli, SettingsChange{LeaveOutEmpty: &on}); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := c.ask(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// moveWeekly moves each SKU's stock once a week for a year, one in ten down to nothing each second time.
func moveWeekly(b *testing.B, path string) {
	b.Helper()
	d, err := db.Open(path, benchOptions())
	if err != nil {
		b.Fatal(err)
	}
	err = db.Exec(context.Background(), d, cli, func(tx *db.Tx) error {
		_, err := tx.Exec(`WITH RECURSIVE week(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM week WHERE n < 51)
			INSERT INTO stock_movements (sku_id, at, kind, qty, current_stock, reason, number, actor, via)
			SELECT s.id, (?1 - 365 + 7 * n) * 86400, 'count',
				CASE WHEN s.id % 10 > 0 THEN 1000 WHEN n % 2 THEN s.current_stock ELSE -s.current_stock END,
				CASE WHEN s.id % 10 > 0 OR n % 2 THEN s.current_stock ELSE 0 END, '', '', 'cli', 'cli'
			FROM week CROSS JOIN skus s`, int64(benchToday))
		return errors.Join(err, tx.Audit("bench", "bench", nil))
	})
	if err := errors.Join(err, d.Close()); err != nil {
		b.Fatal(err)
	}
}
