package rental

import (
	"context"
	"fmt"

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

const recurringExpenseSets db.Columns = "property_id, unit_id, category, payee, amount_cents, tax_note, frequency, " +
	"from_day, to_day, next_day"

func (x RecurringExpense) sets() []any {
	return []any{x.propertyID, x.unitID, x.Category, x.Payee, x.AmountCents, x.TaxNote, x.Frequency, x.From, x.To,
		x.NextDay}
}

var repeated = record.Read("recurring expense", "e", "e.id, p.name, u.name, "+recurringExpenseSets.Of("e"),
	"recurring_expenses e LEFT JOIN properties p ON p.id = e.property_id LEFT JOIN units u ON u.id = e.unit_id",
	scanRecurringExpense)

func scanRecurringExpense(r *db.Row) RecurringExpense {
	return RecurringExpense{ID: r.Int(), Property: r.TextPtr(), Unit: r.TextPtr(), propertyID: r.IntPtr(),
		unitID: r.IntPtr(), Category: r.Text(),
		Payee: r.TextPtr(), AmountCents: r.Int(), TaxNote: r.TextPtr(), Frequency: r.Text(), From: r.Day(), To: r.DayPtr(),
		NextDay: r.DayPtr()}
}

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
	if n.AmountCents != nil {
		x.AmountCents = *n.AmountCents
	}
	if x.Category, err = categoryOf(&tx.Conn, n.Category); err != nil {
		return x, err
	}
	if x.propertyID, x.unitID, err = placeOf(&tx.Conn, n.Property, n.Unit); err != nil {
		return x, err
	}
	return insertRecurringExpense(tx, nil, x)
}

func insertRecurringExpense(tx *db.Tx, number *int64, x RecurringExpense) (RecurringExpense, error) {
	switch {
	case x.AmountCents == 0:
		return x, fault.Fieldf("amount_cents", "amount_cents: 0 is not an expense; enter what is paid each time")
	case x.To != nil && *x.To < x.From:
		return x, fault.Fieldf("to", "to: %s lies before from %s", x.To, x.From)
	}
	x.NextDay = &x.From
	id, err := tx.InsertRow("recurring_expenses", "id, "+recurringExpenseSets, append([]any{number}, x.sets()...)...)
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
	if err := tx.UpdateRow("recurring_expenses", id, recurringExpenseSets, x.sets()...); err != nil {
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
			e, err := insertExpense(tx, nil, Expense{propertyID: x.propertyID, unitID: x.unitID, Day: on, Category: x.Category,
				Payee:       x.Payee,
				AmountCents: x.AmountCents, TaxNote: x.TaxNote, RecurringID: &x.ID, due: &day})
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
