package rental

import (
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// ExpenseColumns are the columns of Cells.
var ExpenseColumns = expenses.Header()

// Cells is the expense as a row of the table.
func (e Expense) Cells() []string { return expenses.Cells(e) }

// Place are the ids of the expense's house and unit; nil is none.
func (e Expense) Place() (property, unit *int64) { return e.propertyID, e.unitID }

// placed finds what a row of either table names, with its category.
func placed(c *db.Conn, house, unit *string, category string, cents int64) (property, in *int64, of string, err error) {
	if of, err = categoryOf(c, category); err != nil {
		return nil, nil, "", err
	}
	if set(house) != "" {
		id, err := findProperty(c, *house)
		if err != nil {
			return nil, nil, "", err
		}
		property = &id
	}
	if set(unit) != "" {
		id, err := findUnit(c, set(house), *unit)
		if err != nil {
			return nil, nil, "", err
		}
		in = &id
	}
	if cents == 0 {
		err = fault.Fieldf("amount_cents", "amount_cents: 0 is not an expense")
	}
	return property, in, of, err
}

// expenseTable is the expenses as CSV: the n-th of equal rows is the n-th stored one.
func expenseTable() schema.Table {
	t := expenses.Table("expenses",
		"Money that went out. Equal rows are separate expenses; a file read twice adds nothing.")
	t.Group = []string{"day", "property", "unit", "category", "payee", "amount_cents", "tax_note"}
	return schema.Grouped(t, expenses.Bind, putExpenses)
}

// putExpenses stores those of equal rows that are not stored yet.
func putExpenses(tx *db.Tx, rows []Expense) (o schema.Outcome, err error) {
	c, x := &tx.Conn, rows[0]
	property, unit, category, err := placed(c, x.Property, x.Unit, x.Category, x.AmountCents)
	if err != nil {
		return o, err
	}
	kept, err := db.Number(c, `SELECT count(*) FROM expenses WHERE day = ? AND amount_cents = ? AND category = ?
		AND property_id IS ? AND unit_id IS ?
		AND ifnull(payee, '') = ? AND ifnull(tax_note, '') = ?`, x.Day, x.AmountCents, category, property, unit,
		set(x.Payee), set(x.TaxNote))
	if err != nil {
		return o, err
	}
	for _, e := range rows[min(int(kept), len(rows)):] {
		e.propertyID, e.unitID, e.Category = property, unit, category
		if err := e.ofTicket(c); err != nil {
			return o, err
		}
		if err := e.findReversed(c); err != nil {
			return o, err
		}
		if err := e.findRecurring(tx); err != nil {
			return o, err
		}
		if e.ID, err = freeNumber(c, "expenses", e.ID); err != nil {
			return o, err
		}
		if e, err = insertExpense(tx, e); err != nil {
			return o, err
		}
		o.New, o.ID = true, e.ID
	}
	return o, nil
}

// freeNumber is the number of a row where no record has it yet, else 0.
func freeNumber(c *db.Conn, table string, id int64) (int64, error) {
	_, taken, err := db.One(c, db.Int, "SELECT 1 FROM "+table+" WHERE id = ?", id)
	if taken {
		return 0, err
	}
	return id, err
}

// findReversed finds the expense that a row reverses: by number, else the first of minus its amount.
func (e *Expense) findReversed(c *db.Conn) error {
	if e.ReversesID == nil {
		return nil
	}
	id, found, err := db.One(c, db.Int, `SELECT id FROM expenses x WHERE amount_cents = ? AND category = ?
		AND property_id IS ? AND unit_id IS ? AND reverses_id IS NULL
		AND NOT EXISTS (SELECT 1 FROM expenses WHERE reverses_id = x.id) ORDER BY id <> ?, id LIMIT 1`, -e.AmountCents,
		e.Category, e.propertyID, e.unitID, *e.ReversesID)
	if err == nil && !found {
		err = fault.Fieldf("reverses_id", "reverses_id: there is no expense of %d to reverse", fault.Cents(-e.AmountCents))
	}
	e.ReversesID = &id
	return err
}

// findRecurring finds the recurring expense of a row, which is then entered for its day.
func (e *Expense) findRecurring(tx *db.Tx) error {
	if e.RecurringID == nil {
		e.due = nil
		return nil
	}
	x, found, err := repeated.One(&tx.Conn, "WHERE e.id = ? AND e.category = ?", *e.RecurringID, e.Category)
	if err == nil && !found {
		err = fault.Fieldf("recurring_id", "recurring_id: there is no recurring expense %d of %s; import "+
			"recurring-expenses first", *e.RecurringID, e.Category)
	}
	if err != nil {
		return err
	}
	if e.due == nil {
		e.due = &e.Day
	}
	if x.NextDay != nil && *x.NextDay == *e.due {
		tx.Do("UPDATE recurring_expenses SET next_day = ? WHERE id = ?", x.after(*e.due), x.ID)
	}
	e.RecurringID = &x.ID
	return nil
}

// recurringExpenseTable is the expenses that come back as CSV.
func recurringExpenseTable() schema.Table {
	t := repeated.Table("recurring-expenses",
		"Recurring expenses. Equal rows are separate ones; a new last day changes one.")
	t.Group = []string{"from", "property", "unit", "category", "payee", "amount_cents", "tax_note", "frequency"}
	return schema.Grouped(t, repeated.Bind, putRecurringExpenses)
}

func putRecurringExpenses(tx *db.Tx, rows []RecurringExpense) (o schema.Outcome, err error) {
	c, x := &tx.Conn, rows[0]
	property, unit, category, err := placed(c, x.Property, x.Unit, x.Category, x.AmountCents)
	if err != nil {
		return o, err
	}
	kept, err := repeated.All(c, `WHERE e.from_day = ? AND e.amount_cents = ? AND e.category = ?
		AND e.property_id IS ? AND e.unit_id IS ? AND ifnull(e.payee, '') = ? AND ifnull(e.tax_note, '') = ?
		AND e.frequency = ? ORDER BY e.id`,
		x.From, x.AmountCents, category, property, unit, set(x.Payee), set(x.TaxNote), x.Frequency)
	if err != nil {
		return o, err
	}
	for i, x := range rows {
		if i < len(kept) {
			if changed, err := kept[i].setEnd(tx, x.To); err != nil {
				return o, err
			} else if changed {
				o.Fields = []string{"to"}
			}
			continue
		}
		x.propertyID, x.unitID, x.Category = property, unit, category
		if x.ID, err = freeNumber(c, "recurring_expenses", x.ID); err != nil {
			return o, err
		}
		if x, err = insertRecurringExpense(tx, x); err != nil {
			return o, err
		}
		o.New, o.ID = true, x.ID
	}
	return o, nil
}

// setEnd gives a recurring expense another last day; nil is open-ended.
func (x RecurringExpense) setEnd(tx *db.Tx, to *exact.Day) (changed bool, err error) {
	if ptrEqual(x.To, to) {
		return false, nil
	}
	was := x.To
	x.To = to
	last, _, err := db.One(&tx.Conn, (*db.Row).DayPtr, "SELECT max(due_day) FROM expenses WHERE recurring_id = ?", x.ID)
	if err != nil {
		return false, err
	}
	x.NextDay = &x.From
	if last != nil {
		x.NextDay = x.after(*last)
	}
	if x.To != nil && (*x.To < x.From-1 || x.NextDay != nil && *x.NextDay > *x.To) {
		x.To, x.NextDay = new(max(*x.To, x.From-1)), nil
	}
	if err := repeated.Update(tx, &x, &x); err != nil {
		return false, err
	}
	return true, tx.Audit("recurring_expense.changed", db.Subject("recurring_expense", x.ID),
		map[string]any{"from": was, "to": x.To})
}
