package store

import (
	"context"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// Begun reports whether there is a product, and a payment provider or an order.
func (s *Service) Begun(ctx context.Context) ([]bool, error) {
	some, err := db.Some(ctx, s.db, "store_products", "store_providers", "store_orders")
	return []bool{some[0], some[1] || some[2]}, err
}

// Sentence says how many orders were paid today.
func (s *Service) Sentence(ctx context.Context) (string, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (string, error) {
		n, _, err := db.One(c, db.Int, "SELECT count(*) FROM store_orders WHERE paid_at >= ? AND status <> 'void'",
			exact.InstantOf(c.Today().Time(c.Zone())))
		return exact.Plural(n, "order", "orders") + " today", err
	})
}
