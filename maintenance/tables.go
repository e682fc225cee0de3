package maintenance

import "quartermaster/schema/db"

// The trial's names of the service's rows, and the kinds of their columns.
func init() {
	db.Describe(db.Naming{
		Tables: map[string]db.Rows{
			"work_order_counts":    {Skip: true},
			"work_order_sums":      {Skip: true},
			"maintenance_settings": {Noun: "settings:maintenance"},
			"part_uses":            {Noun: "part_use"},
		},
		Columns: map[string]db.Kind{
			"meters.last_value":              db.Thousandths,
			"meters.reading":                 db.Thousandths,
			"part_uses.qty":                  db.Thousandths,
			"parts.min_quantity":             db.Thousandths,
			"parts.quantity":                 db.Thousandths,
			"pm_plans.baseline":              db.Thousandths,
			"pm_plans.due_soon_usage":        db.Thousandths,
			"pm_plans.interval_usage":        db.Thousandths,
			"readings.value":                 db.Thousandths,
			"work_orders.pm_before_baseline": db.Derived,
			"work_orders.pm_before_by":       db.Derived,
			"work_orders.pm_before_done":     db.Derived,
		},
	})
}
