package rental

import (
	"fmt"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// Booking says what a free line is: a payment of a lease, or recorded payments; with neither it is the line's match, if
// there is one.
type Booking struct {
	LineID     int64
	LeaseID    *int64
	PaymentIDs []int64
}

// Bookings are lines to book, all or none, each as one payment by bank transfer on its day, or linked with the named
// payments; and all certain lines with Certain, or with Match those that the filters of the bank page's address show,
// on all its pages: "from=2026-11-01&state=free". Every line that cannot be booked is named.
type Bookings struct {
	Lines   []Booking
	Certain bool
	Match   string
}

// also chooses the certain lines that are booked too.
func (b Bookings) also() (func(BankLine) bool, error) {
	if b.Match == "" {
		return func(BankLine) bool { return b.Certain }, nil
	}
	var x LineFilter
	err := schema.Filters(b.Match, func(f *schema.Form) {
		f.DayPtr(&x.From, "from", "from this day")
		f.DayPtr(&x.To, "to", "up to this day")
	})
	return x.dated, err
}

func bookLines(tx *db.Tx, b Bookings) (BankLines, error) {
	also, err := b.also()
	if err != nil {
		return BankLines{}, err
	}
	if err := postAll(tx); err != nil {
		return BankLines{}, err
	}
	lines := b.Lines
	free, err := freeLines(&tx.Conn)
	if err != nil {
		return BankLines{}, err
	}
	byID := map[int64]BankLine{}
	for _, l := range free {
		byID[l.ID] = l
		if l.Match != nil && *l.Match == certain && also(l) {
			lines = append(lines, Booking{LineID: l.ID})
		}
	}
	var changed []int64
	var refused []fault.Field
	for i, b := range lines {
		err := tx.Try(func() error { return book(tx, b, byID) })
		if e, ok := fault.As(err); ok {
			refused = append(refused, fault.Field{Field: fmt.Sprintf("lines.%d", i), Detail: fmt.Sprintf("line %d: %s", b.LineID,
				e.Detail)})
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
		e := fault.Invalidf("%s", strings.Join(schema.Map(refused, func(f fault.Field) string { return f.Detail }), "; "))
		e.Fields = refused
		return BankLines{}, e
	}
	return linesNow(&tx.Conn, changed)
}

// linesNow are lines as they are, with what is proposed for free ones.
func linesNow(c *db.Conn, ids []int64) (list BankLines, err error) {
	list.Lines = []BankLine{}
	for _, id := range ids {
		l, err := lineRows.ByID(c, id)
		if err != nil {
			return list, err
		}
		list.Lines = append(list.Lines, l)
	}
	list.Total = int64(len(list.Lines))
	return list, proposeFor(matching(c), list.Lines)
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

func bookPayment(tx *db.Tx, l BankLine, leaseID int64) error {
	if err := bookable(tx, l); err != nil {
		return err
	}
	lease, err := leases.ByID(&tx.Conn, leaseID)
	switch {
	case err != nil:
		return err
	case l.AmountCents <= 0:
		return fault.Fieldf("line_id", "line_id: %d is money out, so it cannot be a payment", l.ID)
	case lease.OpeningDay != nil && l.Day < *lease.OpeningDay && tx.Who().Via == "web":
		return fault.Fieldf("line_id", "line_id: %s was taken over on %s, and this line is from %s, so its money is in the "+
			"balance taken over. Ignore the line, or take the lease over from an earlier day", leaseName(lease),
			lease.OpeningDay, l.Day)
	case lease.OpeningDay != nil && l.Day < *lease.OpeningDay:
		return fault.Fieldf("line_id",
			"line_id: %d is from %s, before the opening day %s of lease %d; what came in before it is in the balance "+
				"taken over: ignore the line, or set an earlier opening day", l.ID, l.Day, lease.OpeningDay, lease.ID)
	}
	on, err := openFrom(&tx.Conn, l.Day)
	if err != nil {
		return err
	}
	paid, err := receive(tx, ReceiptRequest{LeaseID: leaseID, AmountCents: l.AmountCents, Method: "bank_transfer",
		PaidDate: on.String()})
	if err != nil {
		return err
	}
	return settle(tx, l.ID, lineBooked, bankLink{payment: &paid.PaymentID, made: true})
}

// bookable refuses a line in another currency than the shop's, and any while the clock is implausible.
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

// bankLink is what settled a line.
type bankLink struct {
	payment, payout, expense *int64
	made                     bool // booking the line made it
}

// settle notes what lines became, and by what.
func settle(tx *db.Tx, line int64, state string, links ...bankLink) error {
	tx.Do("UPDATE bank_lines SET state = ? WHERE id = ?", state, line)
	changes := map[string]any{"state": state}
	for _, k := range links {
		tx.Do("INSERT INTO bank_links (line_id, payment_id, payout_id, expense_id, made) VALUES (?, ?, ?, ?, ?)", line, k.payment,
			k.payout, k.expense, k.made)
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

// splitLine splits a free line into lines of its sign that add up to it.
func splitLine(tx *db.Tx, line int64, amounts []int64) (done BankLines, err error) {
	l, err := freeLine(&tx.Conn, line)
	if err != nil {
		return done, err
	}
	var sum int64
	for _, n := range amounts {
		if n == 0 || (n < 0) != (l.AmountCents < 0) || n > maxCents || n < -maxCents {
			return done, fault.Fieldf("amounts", "amounts: a part of %d is wrong; each part has the line's sign and is not 0",
				fault.Cents(n))
		}
		sum += n
	}
	if len(amounts) < 2 || sum != l.AmountCents {
		return done, fault.Fieldf("amounts", "amounts: two or more parts must add up to %d, and these are %d",
			fault.Cents(l.AmountCents), fault.Cents(sum))
	}
	ids := []int64{line}
	for _, n := range amounts {
		id, err := tx.Insert(`INSERT INTO bank_lines (account_id, statement_id, parent_id, day, amount_cents, payer_name,
			payer_account, text, reference, bank_reference, returned, payer_key, state)
			SELECT account_id, statement_id, id, day, ?, payer_name, payer_account, text, reference, bank_reference, returned,
			payer_key, 'free' FROM bank_lines WHERE id = ?`, n, line)
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

// bookReturn reverses the payment that the bank returned with a line of minus its amount.
func bookReturn(tx *db.Tx, line, payment int64) (done BankLines, err error) {
	l, err := freeLine(&tx.Conn, line)
	if err == nil {
		err = bookable(tx, l)
	}
	if err != nil {
		return done, err
	}
	m, err := payments.ByID(&tx.Conn, payment)
	if err != nil {
		return done, err
	}
	switch {
	case m.Method == byDeposit || m.Method == byOpening:
		return done, fault.Fieldf("payment_id", "payment_id: payment %d is by %s; no money came in with it", m.ID, m.Method)
	case l.AmountCents != -m.AmountCents:
		return done, fault.Fieldf("payment_id",
			"payment_id: the line is %d and payment %d is %d; split the line first, if the bank took a fee",
			fault.Cents(l.AmountCents), m.ID, fault.Cents(m.AmountCents))
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
}

// ignoreLines settles lines that do not concern the properties.
func ignoreLines(tx *db.Tx, lines []int64, reason string) (BankLines, error) {
	for _, id := range lines {
		if _, err := freeLine(&tx.Conn, id); err != nil {
			return BankLines{}, err
		}
		tx.Do("UPDATE bank_lines SET reason = ? WHERE id = ?", reason, id)
		if err := settle(tx, id, lineIgnored); err != nil {
			return BankLines{}, err
		}
	}
	return linesNow(&tx.Conn, lines)
}
