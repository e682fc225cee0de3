package rental

import (
	"context"
	"fmt"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/record"
)

// RecurringExpense is an expense on From and on each period's day after it, up to To.
type RecurringExpense struct {
	ID          int64      `json:"id"`
	Property    *string    `json:"property" about:"null: of all houses"`
	Unit        *string    `json:"unit"`
	Category    string     `json:"category"`
	Payee       *string    `json:"payee"`
	AmountCents int64      `json:"amount_cents"`
	TaxNote     *string    `json:"tax_note"`
	Frequency   string     `json:"frequency" enum:"weekly,fortnightly,monthly,quarterly,yearly"`
	From        exact.Day  `json:"from"`
	To          *exact.Day `json:"to" about:"null is open-ended"`
	NextDay     *exact.Day `json:"next_day" about:"the first day that is not entered yet; null when no more will come"`

	propertyID, unitID *int64
}

var repeated = record.New("recurring_expense", "recurring_expenses",
	record.OptText("property", func(x *RecurringExpense) **string { return &x.Property },
		"the house; empty: of all houses", schema.Most(maxName)).From("p.name"),
	record.OptText("unit", func(x *RecurringExpense) **string { return &x.Unit },
		"the unit, if the expense is for one", schema.Most(maxName)).From("u.name"),
	record.Text("category", func(x *RecurringExpense) *string { return &x.Category }, "what it is for", schema.Required,
		schema.Most(maxName)),
	record.OptText("payee", func(x *RecurringExpense) **string { return &x.Payee }, "who was paid", schema.Most(maxName)),
	record.Int("amount_cents", func(x *RecurringExpense) *int64 { return &x.AmountCents },
		"how much, in cents; below 0: money back", schema.Required, schema.Range(-maxCents, maxCents)),
	record.OptText("tax_note", func(x *RecurringExpense) **string { return &x.TaxNote }, "a note for the tax adviser",
		schema.Most(maxText)),
	record.Enum("frequency", func(x *RecurringExpense) *string { return &x.Frequency }, frequencies, "how often it comes",
		schema.Folded).Else(func(x *RecurringExpense) { x.Frequency = monthly }),
	record.Day("from", func(x *RecurringExpense) *exact.Day { return &x.From }, "the first day",
		schema.Required).Stored("from_day"),
	record.OptDay("to", func(x *RecurringExpense) **exact.Day { return &x.To },
		"the last day; empty is open-ended").Stored("to_day"),
	idElsewhere(func(x *RecurringExpense) *int64 { return &x.ID }),
	record.OptDay("next_day", func(x *RecurringExpense) **exact.Day { return &x.NextDay }, ""),
	record.OptInt("property_id", func(x *RecurringExpense) **int64 { return &x.propertyID }, ""),
	record.OptInt("unit_id", func(x *RecurringExpense) **int64 { return &x.unitID }, ""),
).Joined("e", placesOfExpenses)

// after is the next day of the expense; a day that a short month moved returns in the next long one.
func (x RecurringExpense) after(day exact.Day) *exact.Day {
	_, _, due := x.From.Date()
	t := terms{Start: x.From, Frequency: x.Frequency, DueDay: int64(due)}
	_, last := t.around(day)
	if x.To != nil && last+1 > *x.To {
		return nil
	}
	return new(last + 1)
}

// addRecurringExpense adds a recurring expense. Nothing is entered before post_expenses.
func addRecurringExpense(tx *db.Tx, n NewExpense, x RecurringExpense) (RecurringExpense, error) {
	var err error
	x.Payee, x.TaxNote = n.Payee, n.TaxNote
	x.AmountCents = schema.Or(n.AmountCents, x.AmountCents)
	if x.Category, err = categoryOf(&tx.Conn, n.Category); err != nil {
		return x, err
	}
	if x.propertyID, x.unitID, err = placeOf(&tx.Conn, n.Property, n.Unit); err != nil {
		return x, err
	}
	return insertRecurringExpense(tx, x)
}

func insertRecurringExpense(tx *db.Tx, x RecurringExpense) (RecurringExpense, error) {
	switch {
	case x.AmountCents == 0:
		return x, fault.Fieldf("amount_cents", "amount_cents: 0 is not an expense; enter what is paid each time")
	case x.To != nil && *x.To < x.From:
		return x, fault.Fieldf("to", "to: %s lies before from %s", x.To, x.From)
	}
	x.NextDay = &x.From
	id, err := repeated.Insert(tx, &x)
	if err != nil {
		return x, err
	}
	if x, err = repeated.ByID(&tx.Conn, id); err != nil {
		return x, err
	}
	return x, tx.Audit("recurring_expense.created", db.Subject("recurring_expense", id), x)
}

// endRecurringExpense makes to the last day of the recurring expense. Entered ones stay.
func endRecurringExpense(tx *db.Tx, id int64, to exact.Day) (RecurringExpense, error) {
	x, err := repeated.ByID(&tx.Conn, id)
	switch {
	case err != nil:
		return x, err
	case x.To != nil && to >= *x.To:
		return x, fault.Conflictf("the recurring expense %d ends on %s already", id, x.To).At("to")
	}
	was := x.To
	x.To = new(max(to, x.From-1))
	if x.NextDay != nil && *x.NextDay > *x.To {
		x.NextDay = nil
	}
	if err := repeated.Update(tx, &x, &x); err != nil {
		return x, err
	}
	return x, tx.Audit("recurring_expense.ended", db.Subject("recurring_expense", id),
		map[string]any{"from": was, "to": x.To})
}

// Posted are the expenses that post_expenses entered.
type Posted struct {
	Entered  int       `json:"entered"`
	SumCents int64     `json:"sum_cents"`
	Expenses []Expense `json:"expenses" about:"the first hundred"`
}

// mostPosted is how many expenses an answer lists.
const mostPosted = 100

// postExpenses enters each recurring expense due by today once, on its day; in a closed year on the first open one.
func postExpenses(tx *db.Tx) (done Posted, err error) {
	done.Expenses = []Expense{}
	if err := tx.CheckClock(); err != nil {
		return done, err
	}
	due, err := repeated.All(&tx.Conn, "WHERE e.next_day <= ? ORDER BY e.id", tx.Today())
	if err != nil {
		return done, err
	}
	for _, x := range due {
		if err := postExpense(tx, x, &done); err != nil {
			return done, err
		}
	}
	return done, nil
}

func postExpense(tx *db.Tx, x RecurringExpense, done *Posted) error {
	for x.NextDay != nil && *x.NextDay <= tx.Today() {
		day := *x.NextDay
		_, have, err := db.One(&tx.Conn, db.Int, "SELECT id FROM expenses WHERE recurring_id = ? AND due_day = ?", x.ID, day)
		if err != nil {
			return err
		}
		if !have {
			on, err := openFrom(&tx.Conn, day)
			if err != nil {
				return err
			}
			e, err := insertExpense(tx, Expense{propertyID: x.propertyID, unitID: x.unitID, Day: on, Category: x.Category,
				Payee: x.Payee, AmountCents: x.AmountCents, TaxNote: x.TaxNote, RecurringID: &x.ID, due: &day})
			if err != nil {
				return err
			}
			done.Entered++
			done.SumCents += e.AmountCents
			if len(done.Expenses) < mostPosted {
				done.Expenses = append(done.Expenses, e)
			}
		}
		x.NextDay = x.after(day)
	}
	tx.Do("UPDATE recurring_expenses SET next_day = ? WHERE id = ?", x.NextDay, x.ID)
	return nil
}

// ExpenseBook is the page of expenses.
type ExpenseBook struct {
	Expenses
	Recurring []RecurringExpense
	Due       int64 // recurring ones that wait to be entered
	DueCents  int64
}

// ExpenseBook returns a page of expenses, and those that come back.
func (s *Service) ExpenseBook(ctx context.Context, f ExpenseFilter) (ExpenseBook, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (b ExpenseBook, err error) {
		b = ExpenseBook{}
		if b.Expenses, err = listExpenses(c, f); err != nil {
			return b, err
		}
		b.Recurring, err = repeated.All(c, "ORDER BY e.id")
		for _, x := range b.Recurring {
			for day := x.NextDay; day != nil && *day <= c.Today(); day = x.after(*day) {
				b.Due++
				b.DueCents += x.AmountCents
			}
		}
		return b, err
	})
}

func (x RecurringExpense) String() string { return fmt.Sprintf("recurring expense %d", x.ID) }
