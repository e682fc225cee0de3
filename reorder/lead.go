package reorder

import (
	"context"
	"slices"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// Lead is a purchase order's delivery time: from ordering to the promised day, and to the day its last goods arrived.
type Lead struct {
	Number         string
	Ordered        exact.Day
	Promised, Real int64 // days
}

// leadsShown is how many of the last orders a supplier's page shows.
const leadsShown = 12

// Leads returns the supplier's last completely received purchase orders, oldest first. Those without a stored ordering
// or arrival day are omitted.
func (s *Service) Leads(ctx context.Context, supplier string) ([]Lead, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) ([]Lead, error) {
		list, err := db.All(c, func(r *db.Row) (l Lead) {
			l.Number = r.Text()
			expected := r.Day()
			l.Ordered = r.Instant().Day(c.Zone())
			came := r.Instant().Day(c.Zone())
			l.Promised, l.Real = int64(expected-l.Ordered), int64(came-l.Ordered)
			return l
		}, `SELECT number, expected_date, min(at) FILTER (WHERE action = 'purchase_order.ordered'
				OR action = 'purchase_order.created' AND changes ->> '$.status' = 'ordered') AS placed,
			max(at) FILTER (WHERE action = 'purchase_order.received') AS came
			FROM purchase_orders CROSS JOIN audit ON subject = 'purchase_order:' || number AND service = 'reorder'
			WHERE status = 'received' AND supplier = ? AND expected_date IS NOT NULL
			GROUP BY purchase_orders.id HAVING placed IS NOT NULL AND came IS NOT NULL ORDER BY purchase_orders.id DESC LIMIT ?`,
			supplier, leadsShown)
		slices.Reverse(list)
		return list, err
	})
}
