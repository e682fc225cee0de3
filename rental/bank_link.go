package rental

import (
	"slices"

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
	m, err := payments.ByID(c, id)
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
	e, err := expenses.ByID(c, id)
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

// unsettle undoes what settled a line: it reverses the payment that booking it made, removes its link, or joins its
// free parts. A line whose payment was returned stays so.
func unsettle(tx *db.Tx, line int64, reason string) (done BankLines, err error) {
	l, err := lineRows.ByID(&tx.Conn, line)
	if err != nil {
		return done, err
	}
	changed := []int64{line}
	switch l.State {
	case lineFree:
		return done, fault.Conflictf("bank line %d is free", line).At("line_id")
	case lineReturned:
		return done, fault.Conflictf("bank line %d is a return: payment %s stays reversed", line, joinIDs(l.PaymentIDs)).At(
			"line_id")
	case lineBooked:
		if len(l.ExpenseIDs) > 0 {
			_, err = reverseExpense(tx, l.ExpenseIDs[0], reason, nil)
		} else {
			_, err = reversePayment(tx, l.PaymentIDs[0], reason, nil)
		}
	case lineLinked:
		if err := notReturned(&tx.Conn, l); err != nil {
			return done, err
		}
		changed, err = endLink(tx, line)
	case lineSplit:
		err = joinParts(tx, line)
	case lineIgnored:
		tx.Do("UPDATE bank_lines SET state = 'free', reason = NULL WHERE id = ?", line)
	}
	if err != nil {
		return done, err
	}
	if err := tx.Audit("bank_line.freed", db.Subject("bank_line", line),
		map[string]any{"was": l.State, "reason": reason}); err != nil {
		return done, err
	}
	return linesNow(&tx.Conn, changed)
}

// notReturned refuses to free a line of which the bank took a payment back.
func notReturned(c *db.Conn, l BankLine) error {
	payment, found, err := db.One(c, db.Int, "SELECT k.payment_id FROM bank_links k WHERE k.line_id = ? AND "+
		returnedByBank, l.ID)
	if err == nil && found {
		err = fault.Conflictf("bank line %d stays settled: the bank returned its payment %d", l.ID, payment).At("line_id")
	}
	return err
}

// endLink removes the links of a line, and of the lines that share its payments, and returns them all.
func endLink(tx *db.Tx, line int64) (lines []int64, err error) {
	lines, err = db.All(&tx.Conn, db.Int, `SELECT ?1 UNION SELECT o.line_id FROM bank_links k CROSS JOIN bank_links o
		ON o.payment_id = k.payment_id OR o.expense_id = k.expense_id OR o.payout_id = k.payout_id WHERE k.line_id = ?1`,
		line)
	if err != nil {
		return nil, err
	}
	slices.Sort(lines)
	for _, id := range lines {
		tx.Do("DELETE FROM bank_links WHERE line_id = ?", id)
		tx.Do("UPDATE bank_lines SET state = 'free' WHERE id = ?", id)
	}
	return lines, nil
}

// returnedByBank is what tells that a line took the payment k.payment_id back.
const returnedByBank = "EXISTS (SELECT 1 FROM bank_links z CROSS JOIN bank_lines y ON y.id = z.line_id WHERE " +
	"z.payment_id = k.payment_id AND y.state = 'returned' AND y.amount_cents < 0)"

// freePaymentLines frees the lines of a reversed payment. Lines of one that the bank returned never pay anything again:
// they are returned once all their payments are, and until then stay linked with the rest.
func freePaymentLines(tx *db.Tx, payment int64) error {
	_, byBank, err := db.One(&tx.Conn, db.Int, "SELECT 1 FROM bank_links k WHERE k.payment_id = ? AND "+returnedByBank,
		payment)
	if err != nil {
		return err
	}
	if byBank {
		tx.Do(`UPDATE bank_lines SET state = 'returned' WHERE state IN ('booked', 'linked')
			AND id IN (SELECT line_id FROM bank_links WHERE payment_id = ?)
			AND NOT EXISTS (SELECT 1 FROM bank_links o CROSS JOIN payments m ON m.id = o.payment_id
			WHERE o.line_id = bank_lines.id AND m.voided_at IS NULL)`, payment)
		return nil
	}
	lines, err := db.All(&tx.Conn, db.Int, `SELECT b.id FROM bank_links k CROSS JOIN bank_lines b ON b.id = k.line_id
		WHERE k.payment_id = ? AND b.state IN ('booked', 'linked')`, payment)
	for _, id := range lines {
		if err == nil {
			_, err = endLink(tx, id)
		}
	}
	return err
}

func joinParts(tx *db.Tx, line int64) error {
	settled, found, err := lineRows.One(&tx.Conn, "WHERE b.parent_id = ? AND b.state <> 'free' LIMIT 1", line)
	if err != nil {
		return err
	}
	if found {
		return fault.Conflictf("part %d of the line is %s; free it first", settled.ID, settled.State).At("line_id")
	}
	tx.Do("DELETE FROM bank_lines WHERE parent_id = ?", line)
	tx.Do("UPDATE bank_lines SET state = 'free' WHERE id = ?", line)
	return nil
}
