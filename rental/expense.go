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
	recordedAt         exact.Instant
}

// idElsewhere binds the number that a record has elsewhere: 0 is none.
func idElsewhere[T any](at func(*T) *int64) record.Column[T] {
	return record.ID(at).Field(func(f *schema.Form, t *T, _ ...schema.Opt) bool {
		return f.Int(at(t), "id", "its number elsewhere, which distinguishes equal rows", schema.Range(1, maxCents))
	})
}

const placesOfExpenses = "LEFT JOIN properties p ON p.id = e.property_id LEFT JOIN units u ON u.id = e.unit_id"

var expenses = record.New("expense", "expenses",
	record.OptText("property", func(e *Expense) **string { return &e.Property }, "the house; empty: of all houses",
		schema.Most(maxName)).From("p.name"),
	record.OptText("unit", func(e *Expense) **string { return &e.Unit }, "the unit, if the expense is for one",
		schema.Most(maxName)).From("u.name"),
	record.Day("day", func(e *Expense) *exact.Day { return &e.Day }, "when it was paid", schema.Required),
	record.Text("category", func(e *Expense) *string { return &e.Category }, "what it was for", schema.Required,
		schema.Most(maxName)),
	record.OptText("payee", func(e *Expense) **string { return &e.Payee }, "who was paid", schema.Most(maxName)),
	record.Int("amount_cents", func(e *Expense) *int64 { return &e.AmountCents },
		"how much, in cents; below 0: money back", schema.Required, schema.Range(-maxCents, maxCents)),
	record.OptText("tax_note", func(e *Expense) **string { return &e.TaxNote }, "a note for the tax adviser",
		schema.Most(maxText)),
	record.OptInt("ticket_id", func(e *Expense) **int64 { return &e.TicketID }, "the ticket that it was for",
		schema.Range(1, maxCents)),
	record.OptInt("recurring_id", func(e *Expense) **int64 { return &e.RecurringID },
		"the recurring expense it belongs to", schema.Range(1, maxCents)),
	record.OptDay("due_day", func(e *Expense) **exact.Day { return &e.due }, "of a recurring one: its day"),
	record.OptInt("reverses_id", func(e *Expense) **int64 { return &e.ReversesID }, "the expense that it reverses",
		schema.Range(1, maxCents)),
	idElsewhere(func(e *Expense) *int64 { return &e.ID }),
	record.OptInt("line_id", func(e *Expense) **int64 { return &e.LineID }, "").
		From("(SELECT min(line_id) FROM bank_links WHERE expense_id = e.id)"),
	record.OptInt("reversed_by_id", func(e *Expense) **int64 { return &e.ReversedByID }, "").
		From("(SELECT id FROM expenses WHERE reverses_id = e.id)"),
	record.OptInt("property_id", func(e *Expense) **int64 { return &e.propertyID }, ""),
	record.OptInt("unit_id", func(e *Expense) **int64 { return &e.unitID }, ""),
	record.Moment("recorded_at", func(e *Expense) *exact.Instant { return &e.recordedAt }),
).Joined("e", placesOfExpenses).
	Check(func(tx *db.Tx, _, now *Expense) error { now.recordedAt = tx.Now(); return nil })

// insertExpense stores an expense, with its imported id if it has one, and its audit entry.
func insertExpense(tx *db.Tx, e Expense) (Expense, error) {
	if err := mustBeOpen(&tx.Conn, "day", e.Day); err != nil {
		return e, err
	}
	id, err := expenses.Insert(tx, &e)
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
	e.AmountCents = schema.Or(n.AmountCents, e.AmountCents)
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
	if e, err = insertExpense(tx, e); err != nil || n.LineID == nil {
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
	of, err := units.ByID(c, id)
	if err == nil && propertyID != nil && *propertyID != of.PropertyID {
		err = fault.Fieldf("unit", "unit: %s belongs to another house, %s", of.Name, of.Property)
	}
	return &of.PropertyID, &id, err
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
	return insertExpense(tx, back)
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
	var w db.Where
	if f.Property != "" {
		property, _, err := placeOf(c, f.Property, "")
		if err != nil {
			return list, err
		}
		w.And(true, "e.property_id = ?", property)
	}
	if f.Category != "" {
		name, err := categoryOf(c, f.Category)
		if err != nil {
			return list, err
		}
		w.And(true, "e.category = ?", name)
	}
	first, last := yearDays(f.Year)
	w.And(f.Year != 0, "e.day BETWEEN ? AND ?", first, last)
	w.And(f.TicketID != 0, "e.ticket_id = ?", f.TicketID)
	_, _, err = db.One(c, func(r *db.Row) int64 { list.Total, list.SumCents = r.Int(), r.Int(); return 0 },
		"SELECT count(*), coalesce(sum(e.amount_cents), 0) FROM expenses e WHERE 1"+w.Text, w.Args...)
	if err != nil {
		return list, err
	}
	w.And(f.After > 0, "(e.day, e.id) < (SELECT day, id FROM expenses WHERE id = ?)", f.After)
	all, err := expenses.All(c, "WHERE 1"+w.Text+" ORDER BY e.day DESC, e.id DESC LIMIT ?", append(w.Args, f.Fetch())...)
	list.Expenses, list.Next = schema.Cut(all, f.Limit, func(e Expense) int64 { return e.ID })
	return list, err
}
