package maintenance

import (
	"context"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// Begun reports whether there is an asset, a meter and a plan.
func (s *Service) Begun(ctx context.Context) ([]bool, error) {
	return db.Some(ctx, s.db, "assets", "meters", "pm_plans")
}

// unfinished counts the open jobs.
const unfinished = "SELECT coalesce(sum(n), 0) FROM work_order_counts WHERE status IN ('open', 'in-progress')"

// Sentence says what is most urgent: the number of unfinished urgent jobs, else of all.
func (s *Service) Sentence(ctx context.Context) (string, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (string, error) {
		urgent, _, err := db.One(c, db.Int, unfinished+" AND priority = 'urgent'")
		if err != nil || urgent > 0 {
			return exact.Plural(urgent, "job", "jobs") + " urgent", err
		}
		n, _, err := db.One(c, db.Int, unfinished)
		return exact.Plural(n, "job", "jobs") + " to do", err
	})
}
