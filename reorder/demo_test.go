package reorder

import (
	"context"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// TestDemo fills a fixture and checks that it shows enough.
func TestDemo(t *testing.T) {
	s := open(t)
	s.Must(s.Declare().Demo(context.Background(), day(t, "2026-11-20")))
	s.sound()
	rep := val(s.Report(context.Background(), ReportQuery{Status: All}))
	c := rep.Counts
	assert.That(t, c.Below >= 5 && c.Near >= 5 && c.Healthy >= 10, "counts %+v: a shop has some of each", c)
	suppliers, idle := map[string]bool{}, 0
	for _, r := range rep.SKUs {
		suppliers[r.Supplier] = true
		if r.DaysOfStock == nil {
			idle++
		}
	}
	assert.That(t, len(suppliers) >= 3 && idle != 0, "%d suppliers, %d SKUs without demand", len(suppliers), idle)
	inactive := val(s.SKUs(context.Background(), CatalogueQuery{Active: "0", Limit: 100}))
	orders := val(s.Orders(context.Background(), OrderQuery{})).PurchaseOrders
	assert.That(t, len(inactive.SKUs) != 0 && len(orders) == 2 && orders[0].Status == Ordered && orders[1].Status == Draft,
		"%d inactive SKUs, orders %+v", len(inactive.SKUs), orders)
	got := s.events()
	assert.That(t, len(got) == 1 && got[0].SKU == "TEA-ROOIBOS-100", "events %+v, want the one of the stock count", got)
}

// sound fails if the rows and the stored sums differ.
func (s *fixture) sound() {
	s.T.Helper()
	s.Must(s.DB.View(context.Background(), func(c *db.Conn) error {
		breaches, err := check(c)
		for _, b := range breaches {
			s.T.Errorf("check: %s", b)
		}
		return err
	}))
}
