package store

import (
	"context"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// MonthSum is what one month came to: units of a product, or cents of a customer.
type MonthSum struct {
	Month exact.Month
	N     int64
}

// monthsShown is how many months the pages of products and customers show.
const monthsShown = 12

// MonthsOfProduct returns the units sold in each of the last 12 months, oldest first.
func (s *Service) MonthsOfProduct(ctx context.Context, sku string) ([]MonthSum, error) {
	return s.months(ctx, func(c *db.Conn, from exact.Instant) string {
		if wholeHours(c, from, c.Now()) {
			return `SELECT hour, qty FROM store_product_hours
				WHERE hour >= ? AND product_id = (SELECT id FROM store_products WHERE sku = ?)`
		}
		// Orders and their lines lie beside each other: reading all is faster than an index of the days.
		return `SELECT o.paid_at, i.qty FROM store_orders o NOT INDEXED
			CROSS JOIN store_order_lines i ON i.order_id = o.id
			WHERE o.paid_at >= ? AND o.status <> 'void' AND i.product_id = (SELECT id FROM store_products WHERE sku = ?)`
	}, sku)
}

// MonthsOfCustomer returns the cents that the customer paid in the currency in each of the last 12 months, oldest
// first; what was given back is not taken off.
func (s *Service) MonthsOfCustomer(ctx context.Context, id int64, currency string) ([]MonthSum, error) {
	return s.months(ctx, func(*db.Conn, exact.Instant) string {
		return `SELECT paid_at, total_cents FROM store_orders
			WHERE paid_at >= ? AND status <> 'void' AND customer_id = ? AND currency = ?`
	}, id, currency)
}

// months adds up a query's numbers by the month of their instant; its first argument is the first instant.
func (s *Service) months(ctx context.Context, query func(*db.Conn, exact.Instant) string, of ...any) (
	[]MonthSum, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) ([]MonthSum, error) {
		list := make([]MonthSum, monthsShown)
		first := c.Today().Month() - (monthsShown - 1)
		for i := range list {
			list[i].Month = first + exact.Month(i) // #nosec G115 -- at most 11
		}
		from := exact.InstantOf(first.First().Time(c.Zone()))
		err := db.Each(c, func(r *db.Row) error {
			if i := int(r.Instant().Day(c.Zone()).Month() - first); i < len(list) {
				list[i].N += r.Int()
			}
			return nil
		}, query(c, from), append([]any{from}, of...)...)
		return list, err
	})
}
