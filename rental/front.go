package rental

import (
	"context"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// Begun reports whether there is a property, a unit, a tenant and a lease.
func (s *Service) Begun(ctx context.Context) ([]bool, error) {
	return db.Some(ctx, s.db, "properties", "units", "tenants", "leases")
}

// Sentence says how many tenants are behind, by the charges that are posted.
func (s *Service) Sentence(ctx context.Context) (string, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (string, error) {
		n, _, err := db.One(c, db.Int, `SELECT count(DISTINCT x.tenant_id) FROM charges c INDEXED BY charges_unpaid
			CROSS JOIN lease_tenants x ON x.lease_id = c.lease_id AND x.position = 1 WHERE c.paid_date IS NULL
			AND c.due_date < ?`, c.Today())
		return exact.Plural(n, "tenant", "tenants") + " behind", err
	})
}
