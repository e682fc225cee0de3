package rental

import (
	"strconv"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// ExpenseColumns are the columns of Cells.
var ExpenseColumns = []string{"property", "unit", "day", "category", "payee", "amount_cents", "tax_note", "ticket_id",
	"recurring_id", "due_day", "reverses_id", "id"}

// Cells is the expense as a row of the table.
func (e Expense) Cells() []string {
	return []string{set(e.Property), set(e.Unit), e.Day.String(), e.Category, set(e.Payee),
		strconv.FormatInt(e.AmountCents, 10), set(e.TaxNote),
		idCell(e.TicketID), idCell(e.RecurringID), cell(e.due), idCell(e.ReversesID), strconv.FormatInt(e.ID, 10)}
}

// Place are the ids of the expense's house and unit; 0 is none.
func (e Expense) Place() (property, unit int64) { return orZero(e.propertyID), orZero(e.unitID) }

func orZero(p *int64) int64 {
	if p == nil {
		return 0
	}
	return *p
}

// idCell is how an id, or another whole number, that may be missing stands in CSV and tables.
func idCell(p *int64) string {
	if p == nil {
		return ""
	}
	return strconv.FormatInt(*p, 10)
}

// expenseRow is a row of either table.
type expenseRow struct {
	property, unit, category, frequency string
	payee, note                         *string
	amount                              int64
	day                                 exact.Day
	to, due                             *exact.Day
	ticket, recurring, reverses, id     *int64
}

func (row *expenseRow) bindPlace(f *schema.Form) {
	f.Text(&row.property, "property", "the house; empty: of all houses", schema.Most(maxName))
	f.Text(&row.unit, "unit", "the unit, if the expense is for one", schema.Most(maxName))
}

func (row *expenseRow) bindAmount(f *schema.Form) {
	f.TextPtr(&row.payee, "payee", "who was paid", schema.Most(maxName))
	f.Int(&row.amount, "amount_cents", "how much, in cents; below 0: money back", schema.Required,
		schema.Range(-maxCents, maxCents))
	f.TextPtr(&row.note, "tax_note", "a note for the tax adviser", schema.Most(maxText))
}

func (row *expenseRow) bindID(f *schema.Form) {
	f.IntPtr(&row.id, "id", "its number elsewhere, which distinguishes equal rows", schema.Range(1, maxCents))
}

func bindExpenseRow(f *schema.Form) *expenseRow {
	row := &expenseRow{}
	row.bindPlace(f)
	f.Day(&row.day, "day", "when it was paid", schema.Required)
	f.Text(&row.category, "category", "what it was for", schema.Required, schema.Most(maxName))
	row.bindAmount(f)
	f.IntPtr(&row.ticket, "ticket_id", "the ticket that it was for", schema.Range(1, maxCents))
	f.IntPtr(&row.recurring, "recurring_id", "the recurring expense it belongs to", schema.Range(1, maxCents))
	f.DayPtr(&row.due, "due_day", "of a recurring one: its day")
	f.IntPtr(&row.reverses, "reverses_id", "the expense that it reverses", schema.Range(1, maxCents))
	row.bindID(f)
	return row
}

// place finds what the row names, with its category.
func (row *expenseRow) place(c *db.Conn) (property, unit *int64, category string, err error) {
	if category, err = categoryOf(c, row.category); err != nil {
		return nil, nil, "", err
	}
	if row.property != "" {
		id, err := findProperty(c, row.property)
		if err != nil {
			return nil, nil, "", err
		}
		property = &id
	}
	if row.unit != "" {
		id, err := findUnit(c, row.property, row.unit)
		if err != nil {
			return nil, nil, "", err
		}
		unit = &id
	}
	if row.amount == 0 {
		err = fault.Fieldf("amount_cents", "amount_cents: 0 is not an expense")
	}
	return property, unit, category, err
}

// expenseTable is the expenses as CSV: the n-th of equal rows is the n-th stored one.
func (s *Service) expenseTable() schema.Table {
	return schema.Grouped(schema.Table{
		Name: "expenses", About: "Money that went out. Equal rows are separate expenses; a file read twice adds nothing.",
		Group: []string{"day", "property", "unit", "category", "payee", "amount_cents", "tax_note"},
		Export: func(c *db.Conn, emit func(...string) error) error {
			return expenses.Each(c, func(e Expense) error { return emit(e.Cells()...) }, "ORDER BY e.id")
		},
	}, bindExpenseRow, putExpenses)
}

// putExpenses stores those of equal rows that are not stored yet.
func putExpenses(tx *db.Tx, rows []*expenseRow) (o schema.Outcome, err error) {
	c, first := &tx.Conn, rows[0]
	property, unit, category, err := first.place(c)
	if err != nil {
		return o, err
	}
	kept, err := db.Number(c, `SELECT count(*) FROM expenses WHERE day = ? AND amount_cents = ? AND category = ?
		AND property_id IS ? AND unit_id IS ?
		AND ifnull(payee, '') = ? AND ifnull(tax_note, '') = ?`, first.day, first.amount, category, property, unit,
		set(first.payee), set(first.note))
	if err != nil {
		return o, err
	}
	for _, row := range rows[min(int(kept), len(rows)):] {
		e := Expense{propertyID: property, unitID: unit, Day: row.day, Category: category, Payee: row.payee,
			AmountCents: row.amount, TaxNote: row.note,
			TicketID: row.ticket, due: row.due}
		if err := e.ofTicket(c); err != nil {
			return o, err
		}
		if e.ReversesID, err = row.reversed(c, e); err != nil {
			return o, err
		}
		if e.RecurringID, err = row.comesFrom(tx, &e); err != nil {
			return o, err
		}
		number, err := freeNumber(c, "expenses", row.id)
		if err != nil {
			return o, err
		}
		if e, err = insertExpense(tx, number, e); err != nil {
			return o, err
		}
		o.New, o.ID = true, e.ID
	}
	return o, nil
}

// freeNumber is the number of a row where no record has it yet.
func freeNumber(c *db.Conn, table string, id *int64) (*int64, error) {
	if id == nil {
		return nil, nil
	}
	_, taken, err := db.One(c, db.Int, "SELECT 1 FROM "+table+" WHERE id = ?", *id)
	if taken {
		return nil, err
	}
	return id, err
}

// reversed is the expense that the row reverses: by number, else the first of minus its amount.
func (row *expenseRow) reversed(c *db.Conn, e Expense) (*int64, error) {
	if row.reverses == nil {
		return nil, nil
	}
	id, found, err := db.One(c, db.Int, `SELECT id FROM expenses x WHERE amount_cents = ? AND category = ?
		AND property_id IS ? AND unit_id IS ? AND reverses_id IS NULL
		AND NOT EXISTS (SELECT 1 FROM expenses WHERE reverses_id = x.id) ORDER BY id <> ?, id LIMIT 1`, -e.AmountCents,
		e.Category, e.propertyID, e.unitID, *row.reverses)
	if err == nil && !found {
		err = fault.Fieldf("reverses_id", "reverses_id: there is no expense of %d to reverse", fault.Cents(-e.AmountCents))
	}
	return &id, err
}

// comesFrom is the recurring expense of the row, which is then entered for its day.
func (row *expenseRow) comesFrom(tx *db.Tx, e *Expense) (*int64, error) {
	if row.recurring == nil {
		e.due = nil
		return nil, nil
	}
	x, found, err := repeated.One(&tx.Conn, "WHERE e.id = ? AND e.category = ?", *row.recurring, e.Category)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, fault.Fieldf("recurring_id",
			"recurring_id: there is no recurring expense %d of %s; import recurring-expenses first", *row.recurring, e.Category)
	}
	if e.due == nil {
		e.due = &e.Day
	}
	if x.NextDay != nil && *x.NextDay == *e.due {
		tx.Do("UPDATE recurring_expenses SET next_day = ? WHERE id = ?", x.after(*e.due), x.ID)
	}
	return &x.ID, err
}

// recurringExpenseTable is the expenses that come back as CSV.
func (s *Service) recurringExpenseTable() schema.Table {
	bind := func(f *schema.Form) *expenseRow {
		row := &expenseRow{frequency: monthly}
		row.bindPlace(f)
		f.Text(&row.category, "category", "what it is for", schema.Required, schema.Most(maxName))
		row.bindAmount(f)
		f.Enum(&row.frequency, "frequency", "how often it comes", frequencies, schema.Folded)
		f.Day(&row.day, "from", "the first day", schema.Required)
		f.DayPtr(&row.to, "to", "the last day; empty is open-ended")
		row.bindID(f)
		return row
	}
	return schema.Grouped(schema.Table{
		Name: "recurring-expenses", About: "Recurring expenses. Equal rows are separate ones; a new last day changes one.",
		Group: []string{"from", "property", "unit", "category", "payee", "amount_cents", "tax_note", "frequency"},
		Export: func(c *db.Conn, emit func(...string) error) error {
			return repeated.Each(c, func(x RecurringExpense) error {
				return emit(set(x.Property), set(x.Unit), x.Category, set(x.Payee), strconv.FormatInt(x.AmountCents, 10),
					set(x.TaxNote), x.Frequency,
					x.From.String(), cell(x.To), strconv.FormatInt(x.ID, 10))
			}, "ORDER BY e.id")
		},
	}, bind, putRecurringExpenses)
}

func putRecurringExpenses(tx *db.Tx, rows []*expenseRow) (o schema.Outcome, err error) {
	c, first := &tx.Conn, rows[0]
	property, unit, category, err := first.place(c)
	if err != nil {
		return o, err
	}
	kept, err := repeated.All(c, `WHERE e.from_day = ? AND e.amount_cents = ? AND e.category = ?
		AND e.property_id IS ? AND e.unit_id IS ? AND ifnull(e.payee, '') = ? AND ifnull(e.tax_note, '') = ?
		AND e.frequency = ? ORDER BY e.id`,
		first.day, first.amount, category, property, unit, set(first.payee), set(first.note), first.frequency)
	if err != nil {
		return o, err
	}
	for i, row := range rows {
		if i < len(kept) {
			if changed, err := kept[i].setEnd(tx, row.to); err != nil {
				return o, err
			} else if changed {
				o.Fields = []string{"to"}
			}
			continue
		}
		number, err := freeNumber(c, "recurring_expenses", row.id)
		if err != nil {
			return o, err
		}
		x, err := insertRecurringExpense(tx, number, RecurringExpense{propertyID: property, unitID: unit, Category: category,
			Payee:       row.payee,
			AmountCents: row.amount, TaxNote: row.note, Frequency: row.frequency, From: row.day, To: row.to})
		if err != nil {
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
	if err := tx.UpdateRow("recurring_expenses", x.ID, recurringExpenseSets, x.sets()...); err != nil {
		return false, err
	}
	return true, tx.Audit("recurring_expense.changed", db.Subject("recurring_expense", x.ID),
		map[string]any{"from": was, "to": x.To})
}
