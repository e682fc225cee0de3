package reorder

import (
	"context"
	"testing"

	"quartermaster/schema/db"
)

// TestDemo fills a fixture and checks that it shows enough.
func TestDemo(t *testing.T) {
	s := open(t)
	s.Must(s.Declare().Demo(context.Background(), day(t, "2026-11-20")))
	s.sound()
	rep := val(s.Report(context.Background(), ReportQuery{Status: All}))
	if c := rep.Counts; c.Below < 5 || c.Near < 5 || c.Healthy < 10 {
		t.Errorf("counts %+v: a shop has some of each", c)
	}
	suppliers, idle := map[string]bool{}, 0
	for _, r := range rep.SKUs {
		suppliers[r.Supplier] = true
		if r.DaysOfStock == nil {
			idle++
		}
	}
	if len(suppliers) < 3 || idle == 0 {
		t.Errorf("%d suppliers, %d SKUs without demand", len(suppliers), idle)
	}
	inactive := val(s.SKUs(context.Background(), CatalogueQuery{Active: "0", Limit: 100}))
	orders := val(s.Orders(context.Background(), OrderQuery{})).PurchaseOrders
	if len(inactive.SKUs) == 0 || len(orders) != 2 || orders[0].Status != Ordered || orders[1].Status != Draft {
		t.Errorf("%d inactive SKUs, orders %+v", len(inactive.SKUs), orders)
	}
	if got := s.events(); len(got) != 1 || got[0].SKU != "TEA-ROOIBOS-100" {
		t.Errorf("events %+v, want the one of the stock count", got)
	}
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
