package reorder

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
)

// TestRacingUploads: uploads, counts and reports at once. Every upload is stored once, no sum is lost, and each SKU
// raises one alarm.
func TestRacingUploads(t *testing.T) {
	s := open(t)
	const skus, writers, rounds = 5, 8, 12
	for i := range skus {
		s.sku("sku,current_stock", fmt.Sprintf("S%d,%d", i, 200)) // below when 600 were sold
	}
	var body []string
	for i := range skus {
		for d := range 2 {
			body = append(body, fmt.Sprintf(`{"date":"2026-10-%d","sku":"S%d","qty":3.5}`, 22+d, i))
		}
	}
	rows := val(strict.Parse([]byte("["+strings.Join(body, ",")+"]"), strict.MaxDepth))
	var all sync.WaitGroup
	failed := make(chan error, 3*writers)
	for range writers {
		all.Go(func() {
			for range rounds {
				if got, err := s.Ingest(context.Background(), cli, rows, IngestOptions{}); err != nil || got.Imported != 2*skus {
					failed <- fmt.Errorf("upload: %+v, %w", got, err)
					return
				}
			}
		})
		all.Go(func() {
			for i := range rounds {
				delta := exact.Milli(1000 - 2000*(i%2))
				if _, err := s.Adjust(context.Background(), cli, Adjustment{SKU: "S0", Delta: &delta}); err != nil {
					failed <- err
					return
				}
			}
		})
		all.Go(func() {
			for range rounds {
				rep, err := s.Report(context.Background(), ReportQuery{Status: All})
				if err != nil || len(rep.SKUs) != skus {
					failed <- fmt.Errorf("report: %+v, %w", rep, err)
					return
				}
				for _, r := range rep.SKUs { // an upload is visible completely or not at all
					if int64(r.SoldInWindow)%7000 != 0 {
						failed <- fmt.Errorf("%s sold %s: half an upload", r.SKU, r.SoldInWindow)
						return
					}
				}
			}
		})
	}
	all.Wait()
	close(failed)
	for err := range failed {
		t.Error(err)
	}
	for i := range skus {
		if rec := s.record(fmt.Sprintf("S%d", i)); rec.sold != writers*rounds*7000 || rec.CurrentStock != 200_000 {
			t.Errorf("S%d: %s sold, %s in stock", i, rec.sold, rec.CurrentStock)
		}
	}
	s.sound()
	counts := map[string]int{}
	for _, e := range s.events() {
		counts[e.SKU]++
	}
	for i := 1; i < skus; i++ { // S0's stock goes up and down meanwhile
		sku := fmt.Sprintf("S%d", i)
		assert.That(t, counts[sku] == 1, "%s raised %d alarms", sku, counts[sku])
	}
}

// TestRacingReceipts: two people receive the same purchase order; one succeeds, one is refused.
func TestRacingReceipts(t *testing.T) {
	s := open(t)
	s.sku("sku", "A")
	for range 10 {
		before := s.record("A").CurrentStock
		o := val(s.create("Acme", true, "A=5"))
		var all sync.WaitGroup
		errs := make([]error, 4)
		for i := range errs {
			all.Go(func() { _, errs[i] = s.Receive(context.Background(), cli, o.Number, nil) })
		}
		all.Wait()
		good := 0
		for _, err := range errs {
			if err == nil {
				good++
			} else if !fault.Is(err, fault.Invalid) {
				t.Error(err)
			}
		}
		if got := s.record("A").CurrentStock; good != 1 || got != before+5000 {
			t.Fatalf("%d receipts went through, the stock went from %s to %s", good, before, got)
		}
	}
	s.sound()
}
