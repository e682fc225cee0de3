package reorder

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// BenchmarkRanking is 20 rows of the agents' report: the first of a day, and right after a
// count. The ranking's memory is told by the SKU.
func BenchmarkRanking(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		s, ctx := open(b), context.Background()
		s.Must(db.Exec(ctx, s.DB, db.Bookkeeping(), func(tx *db.Tx) error {
			_, err := tx.Exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
				INSERT INTO skus (active, current_stock, sold, first_sold, is_below, judged_on, lead_time_days, safety_stock_days,
					pack_size, moq, unit_cost_cents, created_at, updated_at, sku, name, supplier, supplier_sku, barcode, unit)
				SELECT 1, i * 7919 % 900 * 1000, i * 104729 % 300 * 1000, 20000, 0, 0, 3 + i % 25, i % 20, 1, 0, 250, 0, 0,
					printf('SKU-%06d', i * 7919 % 1000003), 'Widget', 'Supplier ' || i % 40, '', '', 'piece' FROM n`, n)
			return err
		}))
		ask := func(svc *Service) {
			if _, err := svc.AgentReport(ctx, AgentQuery{ReportQuery: ReportQuery{Status: Flagged}, Limit: 20, Asked: true}); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(fmt.Sprintf("first/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			kept := New(s.DB)
			ask(kept)
			runtime.GC()
			runtime.ReadMemStats(&after)
			for b.Loop() {
				ask(New(s.DB))
			}
			b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(n), "B/SKU")
			runtime.KeepAlive(kept)
		})
		b.Run(fmt.Sprintf("after-a-count/%d", n), func(b *testing.B) {
			ask(s.Service)
			one := exact.Milli(1000)
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				if _, err := s.Adjust(ctx, cli, Adjustment{SKU: fmt.Sprintf("SKU-%06d", 7919*(1+i*97%1000)%1000003), Delta: &one}); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				ask(s.Service)
			}
		})
	}
}
