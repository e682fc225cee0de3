package rental

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// Booking says what a free line is: a payment of a lease, or payments that are recorded already; with neither it is
// what the line's match says, if that is one thing.
type Booking struct {
	LineID     int64
	LeaseID    *int64
	PaymentIDs []int64
}

// BookLines books lines, all or none, each as one payment by bank transfer on its day, or links it with the payments
// that are named. certain is all lines that are. Every line that cannot be booked is named.
func (s *Service) BookLines(ctx context.Context, who db.Caller, lines []Booking, certain bool) (BankLines, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (BankLines, error) {
		due, err := toPost(&tx.Conn)
		if err == nil {
			err = post(tx, due...)
		}
		if err != nil {
			return BankLines{}, err
		}
		return bookLines(tx, lines, certain)
	})
}

func bookLines(tx *db.Tx, lines []Booking, all bool) (BankLines, error) {
	free, err := freeLines(&tx.Conn)
	if err != nil {
		return BankLines{}, err
	}
	byID := map[int64]BankLine{}
	for _, l := range free {
		byID[l.ID] = l
		if all && l.Match != nil && *l.Match == certain {
			lines = append(lines, Booking{LineID: l.ID})
		}
	}
	var changed []int64
	var refused []fault.Field
	for i, b := range lines {
		err := tx.Try(func() error { return book(tx, b, byID) })
		if e, ok := fault.As(err); ok {
			refused = append(refused, fault.Field{Field: fmt.Sprintf("lines.%d", i), Detail: fmt.Sprintf("line %d: %s", b.LineID, e.Detail)})
			if len(lines) == 1 {
				return BankLines{}, err
			}
			continue
		}
		if err != nil {
			return BankLines{}, err
		}
		changed = append(changed, b.LineID)
	}
	if len(refused) > 0 {
		texts := make([]string, len(refused))
		for i, f := range refused {
			texts[i] = f.Detail
		}
		e := fault.Invalidf("%s", strings.Join(texts, "; "))
		e.Fields = refused
		return BankLines{}, e
	}
	return linesNow(&tx.Conn, changed)
}

// linesNow are lines as they are, with what is proposed for free ones.
func linesNow(c *db.Conn, ids []int64) (list BankLines, err error) {
	list.Lines = []BankLine{}
	for _, id := range ids {
		l, err := findLine(c, id)
		if err != nil {
			return list, err
		}
		list.Lines = append(list.Lines, l)
	}
	list.Total = int64(len(list.Lines))
	return list, proposeFor(c, list.Lines)
}

func book(tx *db.Tx, b Booking, free map[int64]BankLine) error {
	l, err := freeLine(&tx.Conn, b.LineID)
	if err != nil {
		return err
	}
	if b.LeaseID == nil && len(b.PaymentIDs) == 0 {
		found := free[l.ID].Candidates
		if len(found) != 1 || l.AmountCents < 0 {
			return fault.Fieldf("lease_id", "lease_id is missing: choose the lease that paid")
		}
		b.LeaseID, b.PaymentIDs = found[0].LeaseID, found[0].PaymentIDs
	}
	if len(b.PaymentIDs) > 0 {
		return linkLines(tx, Link{LineIDs: []int64{l.ID}, PaymentIDs: b.PaymentIDs})
	}
	return bookPayment(tx, l, *b.LeaseID)
}

// bookPayment records a line as a payment of the lease.
func bookPayment(tx *db.Tx, l BankLine, leaseID int64) error {
	if err := bookable(tx, l); err != nil {
		return err
	}
	lease, err := findLease(&tx.Conn, leaseID)
	switch {
	case err != nil:
		return err
	case l.AmountCents <= 0:
		return fault.Fieldf("line_id", "line_id: %d is money out, so it cannot be a payment", l.ID)
	case lease.OpeningDay != nil && l.Day < *lease.OpeningDay:
		return fault.Fieldf("line_id",
			"line_id: %d is from %s, before the opening day %s of lease %d", l.ID, l.Day, lease.OpeningDay, lease.ID)
	}
	on, err := openFrom(&tx.Conn, l.Day)
	if err != nil {
		return err
	}
	paid, err := receive(tx, ReceiptRequest{LeaseID: leaseID, AmountCents: l.AmountCents, Method: "bank_transfer", PaidDate: on.String()})
	if err != nil {
		return err
	}
	return settle(tx, l.ID, lineBooked, bankLink{payment: &paid.PaymentID, made: true})
}

// bookable refuses a line of another currency than the shop's, and any while the clock cannot be right.
func bookable(tx *db.Tx, l BankLine) error {
	shops, err := tx.Currency()
	if err != nil {
		return err
	}
	if l.currency != shops.Code {
		return fault.Fieldf("line_id", "line_id: %d is in %s; only lines in %s are booked", l.ID, l.currency, shops.Code)
	}
	return tx.CheckClock()
}

// bankLink is what a line is settled by.
type bankLink struct {
	payment, payout, expense *int64
	made                     bool // booking the line made it
}

// settle notes what lines became, and by what.
func settle(tx *db.Tx, line int64, state string, links ...bankLink) error {
	if _, err := tx.Exec("UPDATE bank_lines SET state = ? WHERE id = ?", state, line); err != nil {
		return err
	}
	changes := map[string]any{"state": state}
	for _, k := range links {
		if _, err := tx.Exec("INSERT INTO bank_links (line_id, payment_id, payout_id, expense_id, made) VALUES (?, ?, ?, ?, ?)", line, k.payment, k.payout, k.expense, k.made); err != nil {
			return err
		}
		switch {
		case k.payment != nil:
			changes["payment_id"] = *k.payment
		case k.expense != nil:
			changes["expense_id"] = *k.expense
		default:
			changes["payout_id"] = *k.payout
		}
	}
	return tx.Audit("bank_line."+state, db.Subject("bank_line", line), changes)
}

// Link says that lines are payments, expenses or payouts that are recorded already.
type Link struct {
	LineIDs    []int64
	PaymentIDs []int64
	ExpenseIDs []int64
	PayoutIDs  []int64
}

// LinkLines links lines with payments or payouts of the same sum. It books nothing and tells nobody.
func (s *Service) LinkLines(ctx context.Context, who db.Caller, k Link) (BankLines, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (BankLines, error) {
		if err := linkLines(tx, k); err != nil {
			return BankLines{}, err
		}
		return linesNow(&tx.Conn, k.LineIDs)
	})
}

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
		return fault.Fieldf("line_id", "line_id: the lines are %d and the records %d; both sums must be equal", fault.Cents(lines), fault.Cents(records))
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
		err = fault.Conflictf("expense %d reverses expense %d; enter the money back as an expense below 0", id, *e.ReversesID).At("expense_id")
	}
	return e, err
}

// SplitLine parts a free line into lines of its sign that add up to it.
func (s *Service) SplitLine(ctx context.Context, who db.Caller, line int64, amounts []int64) (BankLines, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (BankLines, error) { return splitLine(tx, line, amounts) })
}

func splitLine(tx *db.Tx, line int64, amounts []int64) (done BankLines, err error) {
	l, err := freeLine(&tx.Conn, line)
	if err != nil {
		return done, err
	}
	var sum int64
	for _, n := range amounts {
		if n == 0 || (n < 0) != (l.AmountCents < 0) || n > maxCents || n < -maxCents {
			return done, fault.Fieldf("amounts", "amounts: a part of %d is wrong; each part has the line's sign and is not 0", fault.Cents(n))
		}
		sum += n
	}
	if len(amounts) < 2 || sum != l.AmountCents {
		return done, fault.Fieldf("amounts", "amounts: two or more parts must add up to %d, and these are %d", fault.Cents(l.AmountCents), fault.Cents(sum))
	}
	ids := []int64{line}
	for _, n := range amounts {
		id, err := tx.Insert(`INSERT INTO bank_lines (account_id, statement_id, parent_id, day, amount_cents, payer_name, payer_account, text, reference, bank_reference, returned, payer_key, state)
			SELECT account_id, statement_id, id, day, ?, payer_name, payer_account, text, reference, bank_reference, returned, payer_key, 'free' FROM bank_lines WHERE id = ?`, n, line)
		if err != nil {
			return done, err
		}
		ids = append(ids, id)
	}
	if err := settle(tx, line, lineSplit); err != nil {
		return done, err
	}
	return linesNow(&tx.Conn, ids)
}

// BookReturn takes back the payment that the bank returned with a line of minus its amount.
func (s *Service) BookReturn(ctx context.Context, who db.Caller, line, payment int64) (BankLines, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (done BankLines, err error) {
		l, err := freeLine(&tx.Conn, line)
		if err == nil {
			err = bookable(tx, l)
		}
		if err != nil {
			return done, err
		}
		m, err := findPayment(&tx.Conn, payment)
		if err != nil {
			return done, err
		}
		switch {
		case m.Method == byDeposit || m.Method == byOpening:
			return done, fault.Fieldf("payment_id", "payment_id: payment %d is by %s; no money came in with it", m.ID, m.Method)
		case l.AmountCents != -m.AmountCents:
			return done, fault.Fieldf("payment_id", "payment_id: the line is %d and payment %d is %d; split the line first, if the bank took a fee", fault.Cents(l.AmountCents), m.ID, fault.Cents(m.AmountCents))
		}
		on, err := openFrom(&tx.Conn, max(l.Day, m.PaidDate))
		if err != nil {
			return done, err
		}
		if err := settle(tx, l.ID, lineReturned, bankLink{payment: &m.ID}); err != nil {
			return done, err
		}
		if _, err := reversePayment(tx, m.ID, "returned by the bank on "+l.Day.String(), &on); err != nil {
			return done, err
		}
		return linesNow(&tx.Conn, []int64{line})
	})
}

// IgnoreLines settles lines by saying that they are nothing of the houses'.
func (s *Service) IgnoreLines(ctx context.Context, who db.Caller, lines []int64, reason string) (BankLines, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (BankLines, error) {
		for _, id := range lines {
			if _, err := freeLine(&tx.Conn, id); err != nil {
				return BankLines{}, err
			}
			if _, err := tx.Exec("UPDATE bank_lines SET reason = ? WHERE id = ?", reason, id); err != nil {
				return BankLines{}, err
			}
			if err := settle(tx, id, lineIgnored); err != nil {
				return BankLines{}, err
			}
		}
		return linesNow(&tx.Conn, lines)
	})
}

// FreeLine undoes what settled a line: it reverses the payment that booking it made, ends its link, or joins its free
// parts. A line whose payment was returned stays so.
func (s *Service) FreeLine(ctx context.Context, who db.Caller, line int64, reason string) (BankLines, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (done BankLines, err error) {
		l, err := findLine(&tx.Conn, line)
		if err != nil {
			return done, err
		}
		changed := []int64{line}
		switch l.State {
		case lineFree:
			return done, fault.Conflictf("bank line %d is free", line).At("line_id")
		case lineReturned:
			return done, fault.Conflictf("bank line %d is a return: payment %s stays reversed", line, joinIDs(l.PaymentIDs)).At("line_id")
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
			_, err = tx.Exec("UPDATE bank_lines SET state = 'free', reason = NULL WHERE id = ?", line)
		}
		if err != nil {
			return done, err
		}
		if err := tx.Audit("bank_line.freed", db.Subject("bank_line", line), map[string]any{"was": l.State, "reason": reason}); err != nil {
			return done, err
		}
		return linesNow(&tx.Conn, changed)
	})
}

// notReturned refuses to free a line of which the bank took a payment back.
func notReturned(c *db.Conn, l BankLine) error {
	payment, found, err := db.One(c, db.Int, "SELECT k.payment_id FROM bank_links k WHERE k.line_id = ? AND "+returnedByBank, l.ID)
	if err == nil && found {
		err = fault.Conflictf("bank line %d stays settled: the bank returned its payment %d", l.ID, payment).At("line_id")
	}
	return err
}

// endLink takes the links of a line away, with those of the lines that share its payments, and gives them all.
func endLink(tx *db.Tx, line int64) (lines []int64, err error) {
	lines, err = db.All(&tx.Conn, db.Int, `SELECT ?1 UNION SELECT o.line_id FROM bank_links k CROSS JOIN bank_links o
		ON o.payment_id = k.payment_id OR o.expense_id = k.expense_id OR o.payout_id = k.payout_id WHERE k.line_id = ?1`, line)
	if err != nil {
		return nil, err
	}
	slices.Sort(lines)
	for _, id := range lines {
		if _, err := tx.Exec("DELETE FROM bank_links WHERE line_id = ?", id); err != nil {
			return nil, err
		}
		if _, err := tx.Exec("UPDATE bank_lines SET state = 'free' WHERE id = ?", id); err != nil {
			return nil, err
		}
	}
	return lines, nil
}

// returnedByBank is what tells that a line took the payment k.payment_id back.
const returnedByBank = "EXISTS (SELECT 1 FROM bank_links z CROSS JOIN bank_lines y ON y.id = z.line_id WHERE z.payment_id = k.payment_id AND y.state = 'returned' AND y.amount_cents < 0)"

// freePaymentLines frees the lines of a payment that was reversed. Lines of one that the bank took back never pay
// anything again: they are returned once all that they paid is, and until then they stay linked with the rest.
func freePaymentLines(tx *db.Tx, payment int64) error {
	_, byBank, err := db.One(&tx.Conn, db.Int, "SELECT 1 FROM bank_links k WHERE k.payment_id = ? AND "+returnedByBank, payment)
	if err != nil {
		return err
	}
	if byBank {
		_, err := tx.Exec(`UPDATE bank_lines SET state = 'returned' WHERE state IN ('booked', 'linked') AND id IN (SELECT line_id FROM bank_links WHERE payment_id = ?)
			AND NOT EXISTS (SELECT 1 FROM bank_links o CROSS JOIN payments m ON m.id = o.payment_id WHERE o.line_id = bank_lines.id AND m.voided_at IS NULL)`, payment)
		return err
	}
	lines, err := db.All(&tx.Conn, db.Int, `SELECT b.id FROM bank_links k CROSS JOIN bank_lines b ON b.id = k.line_id WHERE k.payment_id = ? AND b.state IN ('booked', 'linked')`, payment)
	for _, id := range lines {
		if err == nil {
			_, err = endLink(tx, id)
		}
	}
	return err
}

func joinParts(tx *db.Tx, line int64) error {
	settled, found, err := db.One(&tx.Conn, scanLine, "SELECT "+lineColumns+fromLines+"WHERE b.parent_id = ? AND b.state <> 'free' LIMIT 1", line)
	if err != nil {
		return err
	}
	if found {
		return fault.Conflictf("part %d of the line is %s; free it first", settled.ID, settled.State).At("line_id")
	}
	if _, err := tx.Exec("DELETE FROM bank_lines WHERE parent_id = ?", line); err != nil {
		return err
	}
	_, err = tx.Exec("UPDATE bank_lines SET state = 'free' WHERE id = ?", line)
	return err
}
