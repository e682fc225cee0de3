package page

import (
	"quartermaster/maintenance"
	"quartermaster/schema"
	"quartermaster/schema/exact"
	"quartermaster/schema/page"
)

// The sortable columns of lists whose rows are all read for it.
var (
	partSorts = page.Sorts[maintenance.Part]{
		"name":            page.ByText(func(p maintenance.Part) string { return p.Name }),
		"quantity":        page.By(func(p maintenance.Part) exact.Milli { return p.Quantity }),
		"min_quantity":    page.By(func(p maintenance.Part) exact.Milli { return p.MinQuantity }),
		"unit_cost_cents": page.By(func(p maintenance.Part) int64 { return p.UnitCostCents }),
		"supplier":        page.ByText(func(p maintenance.Part) string { return schema.Cell(p.Supplier) }),
		"location":        page.ByText(func(p maintenance.Part) string { return schema.Cell(p.Location) }),
	}
	planSorts = page.Sorts[maintenance.Plan]{
		"title":    page.ByText(func(p maintenance.Plan) string { return p.Title }),
		"asset":    page.ByText(func(p maintenance.Plan) string { return p.Asset }),
		"next_due": page.ByPtr(func(p maintenance.Plan) *exact.Day { return p.NextDue }),
	}
	dueSorts = page.Sorts[maintenance.PMDueRow]{
		"title":      page.ByText(func(r maintenance.PMDueRow) string { return r.Title }),
		"days_until": page.ByPtr(func(r maintenance.PMDueRow) *int64 { return r.DaysUntil }),
		"next_due":   page.ByPtr(func(r maintenance.PMDueRow) *exact.Day { return r.NextDue }),
	}
)
