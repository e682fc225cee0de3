package rental

import (
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// Link says that lines are payments, expenses or payouts that are recorded already.
type Link struct {
	LineIDs    []int64
	PaymentIDs []int64
	ExpenseIDs []int64
	PayoutIDs  []int64
}

// linked is linkLines, and the lines as they are then.
func linked(tx *db.Tx, k Link) (BankLines, error) {
	if err := linkLines(tx, k); err != nil {
		return BankLines{}, err
	}
	return linesNow(&tx.Conn, k.LineIDs)
}

// linkLines links lines with payments or payouts of the same sum. It books nothing and sends no event.
func linkLines(tx *db.Tx, k Link) error {
	named := len(k.PaymentIDs) + len(k.ExpenseIDs) + len(k.PayoutIDs)
	if named == 0 || named != max(len(k.PaymentIDs), len(k.ExpenseIDs), len(k.PayoutIDs)) {
		return fault.Fieldf("payment_id", "payment_id: name payments, expenses or payouts to link with, of one kind")
	}
	if len(k.LineIDs) > 1 && named > 1 {
		return fault.Fieldf("payment_id", "payment_id: several lines are linked with one payment, or one line with several")
	}
	var lines, records int64
	for _, id := range k.LineIDs {
		l, err := freeLine(&tx.Conn, id)
		if err == nil {
			err = bookable(tx, l)
		}
		if err != nil {
			return err
		}
		lines += l.AmountCents
	}
	var links []bankLink
	for _, id := range k.PaymentIDs {
		m, err := linkable(&tx.Conn, id)
		if err != nil {
			return err
		}
		records += m.AmountCents
		links = append(links, bankLink{payment: &m.ID})
	}
	for _, id := range k.ExpenseIDs {
		e, err := linkableExpense(&tx.Conn, id)
		if err != nil {
			return err
		}
		records -= e.AmountCents
		links = append(links, bankLink{expense: &e.ID})
	}
	for _, id := range k.PayoutIDs {
		cents, err := linkablePayout(&tx.Conn, id)
		if err != nil {
			return err
		}
		records -= cents
		links = append(links, bankLink{payout: &id})
	}
	if lines != records {
		return fault.Fieldf("line_id", "line_id: the lines are %d and the records %d; both sums must be equal",
			fault.Cents(lines), fault.Cents(records))
	}
	for _, id := range k.LineIDs {
		if err := settle(tx, id, lineLinked, links...); err != nil {
			return err
		}
	}
	return nil
}

// linkable is a payment that stands, of money that came in, and without a line.
func linkable(c *db.Conn, id int64) (StoredPayment, error) {
	m, err := findPayment(c, id)
	if err != nil {
		return m, err
	}
	line, taken, err := db.One(c, db.Int, "SELECT line_id FROM bank_links WHERE payment_id = ?", id)
	switch {
	case err != nil:
		return m, err
	case m.VoidedAt != nil:
		return m, fault.Conflictf("payment %d was reversed, at %s", id, m.VoidedAt).At("payment_id")
	case taken:
		return m, fault.Conflictf("payment %d is linked with bank line %d already", id, line).At("payment_id")
	case m.Method == byDeposit || m.Method == byOpening:
		return m, fault.Fieldf("payment_id", "payment_id: payment %d is by %s; no money came in with it", id, m.Method)
	}
	return m, nil
}

func linkablePayout(c *db.Conn, id int64) (cents int64, err error) {
	cents, found, err := db.One(c, db.Int, "SELECT amount_cents FROM payouts WHERE id = ?", id)
	if err != nil {
		return 0, err
	}
	if !found {
		return 0, fault.NotFoundf("there is no payout %d", id)
	}
	line, taken, err := db.One(c, db.Int, "SELECT line_id FROM bank_links WHERE payout_id = ?", id)
	if err == nil && taken {
		err = fault.Conflictf("payout %d is linked with bank line %d already", id, line).At("payout_id")
	}
	return cents, err
}

// linkableExpense is an expense that stands and has no line.
func linkableExpense(c *db.Conn, id int64) (Expense, error) {
	e, err := findExpense(c, id)
	switch {
	case err != nil:
	case e.LineID != nil:
		err = fault.Conflictf("expense %d is linked with bank line %d already", id, *e.LineID).At("expense_id")
	case e.ReversedByID != nil:
		err = fault.Conflictf("expense %d was reversed, by expense %d", id, *e.ReversedByID).At("expense_id")
	case e.ReversesID != nil:
		err = fault.Conflictf("expense %d reverses expense %d; enter the money back as an expense below 0", id,
			*e.ReversesID).At("expense_id")
	}
	return e, err
}
