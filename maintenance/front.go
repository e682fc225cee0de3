package maintenance

import (
	"context"

	"quartermaster/schema"
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

// Found are the records that have each word of a text, the first of each kind.
type Found struct {
	Assets     []Asset
	Parts      []Part
	WorkOrders []WorkOrder
	Plans      []Plan
}

// Find finds at most so many records of each kind. It does not count the others, which takes as long as finding them.
func (s *Service) Find(ctx context.Context, text string, most int64) (Found, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (f Found, err error) {
		first := schema.First(most)
		assets, err := listAssets(c, AssetFilter{Q: text, Cursor: first})
		if err != nil {
			return f, err
		}
		parts, err := pageOfParts(c, PartFilter{Q: text, Cursor: first})
		if err != nil {
			return f, err
		}
		plans := PlanFilter{Q: text}.where()
		f = Found{Assets: assets.Assets, Parts: parts.Parts}
		if f.Plans, err = plansWhere(c, plans.SQL()+" ORDER BY p.id LIMIT ?", append(plans.Args, most)...); err != nil {
			return f, err
		}
		f.WorkOrders, err = Filter{Q: text, Cursor: first}.read(c)
		return f, err
	})
}
