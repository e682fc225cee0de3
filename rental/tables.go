package rental

import "quartermaster/schema/db"

// The trial's names of the service's rows, and the kinds of their columns.
func init() {
	db.Describe(db.Naming{
		Tables: map[string]db.Rows{
			"due_marks":  {Noun: "reminder"},
			"late_marks": {Noun: "reminder"},
		},
		Columns: map[string]db.Kind{
			"bank_lines.day":               db.DayNumber,
			"bank_lines.payer_key":         db.Derived,
			"bank_statements.from_day":     db.DayNumber,
			"bank_statements.to_day":       db.DayNumber,
			"charges.period_end":           db.DayNumber,
			"charges.period_start":         db.DayNumber,
			"late_fee_voids.rent_due":      db.DayNumber,
			"late_fees.from_day":           db.DayNumber,
			"expenses.day":                 db.DayNumber,
			"expenses.due_day":             db.DayNumber,
			"recurring_expenses.from_day":  db.DayNumber,
			"recurring_expenses.to_day":    db.DayNumber,
			"recurring_expenses.next_day":  db.DayNumber,
			"payment_returns.day":          db.DayNumber,
			"payment_return_parts.counted": db.DayNumber,
			"allocations.counted":          db.DayNumber,
			"payouts.day":                  db.DayNumber,
			"recurring_charges.from_day":   db.DayNumber,
			"recurring_charges.to_day":     db.DayNumber,
			"rent_steps.from_day":          db.DayNumber,
			"charges.fee_day":              db.Derived,
			"leases.last_day":              db.Derived,
			"leases.next_event_day":        db.Derived,
			"leases.next_post_day":         db.Derived,
			"leases.late_mailed_on":        db.DayNumber,
			"leases.paused_until":          db.DayNumber,
			"due_marks.due_day":            db.DayNumber,
		},
	})
}
