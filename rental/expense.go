package rental

import (
	"context"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/record"
)

// capital is the category of what is no cost of the year: purchases, loan principal, the owner's draw.
const capital = "capital"

// expenseCategories are the categories that every shop has; settings add own ones.
var expenseCategories = []string{"advertising", "bank_fees", "cleaning", "commissions", "insurance", "legal",
	"management",
	"mortgage_interest", "repairs", "supplies", "taxes", "travel", "utilities", "other", capital}

// Expense is money spent on a property, a unit, or all properties; below 0 it was returned. A reversal is an expense of
// minus the reversed amount.
type Expense struct {
	ID           int64     `json:"id"`
	Property     *string   `json:"property" about:"null: of all houses"`
	Unit         *string   `json:"unit"`
	Day          exact.Day `json:"day"`
	Category     string    `json:"category"`
	Payee        *string   `json:"payee"`
	AmountCents  int64     `json:"amount_cents" about:"below 0: money back"`
	TaxNote      *string   `json:"tax_note"`
	TicketID     *int64    `json:"ticket_id"`
	LineID       *int64    `json:"line_id" about:"the bank's line that it is"`
	ReversesID   *int64    `json:"reverses_id"`
	ReversedByID *int64    `json:"reversed_by_id"`
	RecurringID  *int64    `json:"recurring_id"`

	propertyID, unitID *int64
	due                *exact.Day // of a recurring one
}

const expenseSets db.Columns = "property_id, unit_id, day, category, payee, amount_cents, tax_note, ticket_id, " +
	"reverses_id, recurring_id, due_day, recorded_at"

const expenseColumns = `e.id, p.name, u.name, e.day, e.category, e.payee, e.amount_cents, e.tax_note, e.ticket_id,
	(SELECT min(line_id) FROM bank_links WHERE expense_id = e.id), e.reverses_id, (SELECT id FROM expenses
	WHERE reverses_id = e.id),
	e.recurring_id, e.property_id, e.unit_id, e.due_day`

const fromExpenses = "expenses e LEFT JOIN properties p ON p.id = e.property_id LEFT JOIN units u ON u.id = " +
	"e.unit_id"

func scanExpense(r *db.Row) Expense {
	return Expense{ID: r.Int(), Property: r.TextPtr(), Unit: r.TextPtr(), Day: r.Day(), Category: r.Text(),
		Payee: r.TextPtr(), AmountCents: r.Int(),
		TaxNote: r.TextPtr(), TicketID: r.IntPtr(), LineID: r.IntPtr(), ReversesID: r.IntPtr(), ReversedByID: r.IntPtr(),
		RecurringID: r.IntPtr(),
		propertyID:  r.IntPtr(), unitID: r.IntPtr(), due: r.DayPtr()}
}

var expenses = record.Read("expense", "e", expenseColumns, fromExpenses, scanExpense)

// insertExpense stores an expense, with its imported id if there is one, and its audit entry.
func insertExpense(tx *db.Tx, number *int64, e Expense) (Expense, error) {
	if err := mustBeOpen(&tx.Conn, "day", e.Day); err != nil {
		return e, err
	}
	id, err := tx.InsertRow("expenses", "id, "+expenseSets, number, e.propertyID, e.unitID, e.Day, e.Category, e.Payee,
		e.AmountCents, e.TaxNote,
		e.TicketID, e.ReversesID, e.RecurringID, e.due, tx.Now())
	if err != nil {
		return e, err
	}
	if e, err = expenses.ByID(&tx.Conn, id); err != nil {
		return e, err
	}
	action := "expense.added"
	if e.ReversesID != nil {
		action = "expense.reversed"
	}
	return e, tx.Audit(action, db.Subject("expense", id), e)
}

// NewExpense is an expense to add. Property and Unit are ids or names. With a line of the bank its amount is minus the
// line's, and its day the line's, or the first open one.
type NewExpense struct {
	Property, Unit string
	Day            *exact.Day
	Category       string
	Payee, TaxNote *string
	AmountCents    *int64
	TicketID       *int64
	LineID         *int64
}

func addExpense(tx *db.Tx, n NewExpense) (e Expense, err error) {
	c := &tx.Conn
	e = Expense{Payee: n.Payee, TaxNote: n.TaxNote, TicketID: n.TicketID, Day: tx.Today()}
	if e.Category, err = categoryOf(c, n.Category); err != nil {
		return e, err
	}
	if e.propertyID, e.unitID, err = placeOf(c, n.Property, n.Unit); err != nil {
		return e, err
	}
	if err := e.ofTicket(c); err != nil {
		return e, err
	}
	if n.AmountCents != nil {
		e.AmountCents = *n.AmountCents
	}
	if n.Day != nil {
		e.Day = *n.Day
	} else if err := tx.CheckClock(); err != nil {
		return e, err
	}
	if n.LineID != nil {
		if err := e.ofLine(tx, n); err != nil {
			return e, err
		}
	}
	if e.AmountCents == 0 {
		return e, fault.Fieldf("amount_cents", "amount_cents: 0 is not an expense; enter what was paid, below 0 for money "+
			"back")
	}
	if e, err = insertExpense(tx, nil, e); err != nil || n.LineID == nil {
		return e, err
	}
	if err := settle(tx, *n.LineID, lineBooked, bankLink{expense: &e.ID, made: true}); err != nil {
		return e, err
	}
	return expenses.ByID(c, e.ID)
}

// ofTicket gives an expense without a place that of its ticket; another place is refused.
func (e *Expense) ofTicket(c *db.Conn) error {
	if e.TicketID == nil {
		return nil
	}
	k, err := tickets.ByID(c, *e.TicketID)
	if err != nil {
		return err
	}
	property, err := db.Number(c, "SELECT property_id FROM units WHERE id = ?", k.UnitID)
	switch {
	case err != nil:
		return err
	case e.propertyID == nil:
		e.propertyID, e.unitID = &property, &k.UnitID
	case *e.propertyID != property || e.unitID != nil && *e.unitID != k.UnitID:
		return fault.Fieldf("ticket_id", "ticket_id: ticket %d is of %s / %s", k.ID, k.Property, k.Unit)
	}
	return nil
}

// ofLine gives an expense the amount and the day of its line.
func (e *Expense) ofLine(tx *db.Tx, n NewExpense) error {
	l, err := freeLine(&tx.Conn, *n.LineID)
	if err == nil {
		err = bookable(tx, l)
	}
	if err != nil {
		return err
	}
	if n.AmountCents != nil && *n.AmountCents != -l.AmountCents {
		if tx.Who().Via == "web" {
			return fault.Fieldf("amount_cents", "amount_cents: the bank's line is %d, not %d; split the line first",
				fault.Cents(-l.AmountCents), fault.Cents(*n.AmountCents))
		}
		return fault.Fieldf("amount_cents", "amount_cents: %d is not the %d of line %d; split the line first",
			fault.Cents(*n.AmountCents), fault.Cents(-l.AmountCents), l.ID)
	}
	e.AmountCents = -l.AmountCents
	e.Day, err = openFrom(&tx.Conn, l.Day)
	return err
}

// placeOf finds a property and a unit by their ids or names; a unit alone brings its property.
func placeOf(c *db.Conn, property, unit string) (propertyID, unitID *int64, err error) {
	if property != "" {
		id, err := idOrName(c, property, "SELECT id FROM properties WHERE id = ?", lookupProperty)
		if err != nil {
			return nil, nil, err
		}
		propertyID = &id
	}
	if unit == "" {
		return propertyID, nil, nil
	}
	if propertyID != nil && !strings.Contains(unit, "/") {
		id, found, err := db.One(c, db.Int, "SELECT id FROM units WHERE property_id = ? AND name = ?", *propertyID, unit)
		if err != nil || found {
			return propertyID, &id, err
		}
	}
	id, err := idOrName(c, unit, "SELECT id FROM units WHERE id = ?", lookupUnit)
	if err != nil {
		return nil, nil, err
	}
	type place struct {
		property   int64
		name, unit string
	}
	of, _, err := db.One(c, func(r *db.Row) place { return place{r.Int(), r.Text(), r.Text()} },
		"SELECT p.id, p.name, u.name FROM units u CROSS JOIN properties p ON p.id = u.property_id WHERE u.id = ?", id)
	if err == nil && propertyID != nil && *propertyID != of.property {
		err = fault.Fieldf("unit", "unit: %s belongs to another house, %s", of.unit, of.name)
	}
	return &of.property, &id, err
}

// idOrName returns an existing record's id, else looks it up by name.
func idOrName(c *db.Conn, text, query string, lookup func(*db.Conn, string) (int64, error)) (int64, error) {
	if n, err := strconv.ParseInt(strings.TrimPrefix(text, "#"), 10, 64); err == nil {
		id, found, err := db.One(c, db.Int, query, n)
		if err != nil || found {
			return id, err
		}
	}
	return lookup(c, text)
}

// reverseExpense enters minus an expense, on its day, in a closed year today. Both stay, and its line is free.
func reverseExpense(tx *db.Tx, id int64, reason string, day *exact.Day) (Expense, error) {
	e, err := expenses.ByID(&tx.Conn, id)
	switch {
	case err != nil:
		return e, err
	case e.ReversesID != nil:
		return e, fault.Conflictf("expense %d is itself the reversal of expense %d; enter a new expense", id,
			*e.ReversesID).At("expense_id")
	case e.ReversedByID != nil:
		return e, fault.Conflictf("expense %d was reversed already, by expense %d", id, *e.ReversedByID).At("expense_id")
	}
	lines, err := db.All(&tx.Conn, db.Int, "SELECT line_id FROM bank_links WHERE expense_id = ?", id)
	if err != nil {
		return e, err
	}
	for _, line := range lines {
		if _, err := endLink(tx, line); err != nil {
			return e, err
		}
	}
	open, err := openFrom(&tx.Conn, e.Day)
	if err != nil {
		return e, err
	}
	on := e.Day
	switch {
	case day != nil:
		on = *day
	case open != e.Day:
		on = tx.Today()
	}
	back := Expense{propertyID: e.propertyID, unitID: e.unitID, Day: on, Category: e.Category, Payee: e.Payee,
		AmountCents: -e.AmountCents,
		TaxNote:     &reason, TicketID: e.TicketID, ReversesID: &e.ID}
	return insertExpense(tx, nil, back)
}

// Expenses is a page of expenses, newest day first.
type Expenses struct {
	Expenses []Expense `json:"expenses"`
	Next     *int64    `json:"next" about:"where the next page begins: pass it as after; null at the end"`
	Total    int64     `json:"total"`
	SumCents int64     `json:"sum_cents" about:"of all that match"`
}

// ExpenseFilter restricts the list of expenses; empty fields do not. Property is an id or a name.
type ExpenseFilter struct {
	schema.Cursor[int64]
	Property, Category string
	Year, TicketID     int64
}

// Expenses lists expenses, newest day first.
func (s *Service) Expenses(ctx context.Context, f ExpenseFilter) (Expenses, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (Expenses, error) { return listExpenses(c, f) })
}

func listExpenses(c *db.Conn, f ExpenseFilter) (list Expenses, err error) {
	where, args := " WHERE 1", []any{}
	and := func(condition string, all ...any) { where, args = where+" AND "+condition, append(args, all...) }
	if f.Property != "" {
		property, _, err := placeOf(c, f.Property, "")
		if err != nil {
			return list, err
		}
		and("e.property_id = ?", *property)
	}
	if f.Category != "" {
		name, err := categoryOf(c, f.Category)
		if err != nil {
			return list, err
		}
		and("e.category = ?", name)
	}
	if f.Year != 0 {
		first, last := yearDays(f.Year)
		and("e.day BETWEEN ? AND ?", first, last)
	}
	if f.TicketID != 0 {
		and("e.ticket_id = ?", f.TicketID)
	}
	_, _, err = db.One(c, func(r *db.Row) int64 { list.Total, list.SumCents = r.Int(), r.Int(); return 0 },
		"SELECT count(*), coalesce(sum(e.amount_cents), 0) FROM expenses e"+where, args...)
	if err != nil {
		return list, err
	}
	if f.After > 0 {
		and("(e.day, e.id) < (SELECT day, id FROM expenses WHERE id = ?)", f.After)
	}
	all, err := expenses.All(c, where+
		" ORDER BY e.day DESC, e.id DESC LIMIT ?", append(args, f.Fetch())...)
	list.Expenses, list.Next = schema.Cut(all, f.Limit, func(e Expense) int64 { return e.ID })
	if list.Expenses == nil {
		list.Expenses = []Expense{}
	}
	return list, err
}
