package rental

import (
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// creditReturned marks a payment's row for credit that was paid out: due_date is the day, and label the method.
const creditReturned = "credit_returned"

// paymentRow is one row of the file: a payment's part for a charge or, without a charge, its credit, or returned
// credit.
type paymentRow struct {
	key              leaseKey
	typ, label       string
	due              *exact.Day
	method, paidDate string
	amount, payment  *int64
}

func (row paymentRow) charge() bool {
	return !row.returned() && (row.typ != "" || row.due != nil || row.label != "")
}

func (row paymentRow) returned() bool { return row.typ == creditReturned }

func bindPaymentRow(f *schema.Form) *paymentRow {
	row := &paymentRow{key: bindLeaseKey(f, "lease_start")}
	f.Enum(&row.typ, "type", "what the charge is for; empty for the payment's credit; credit_returned for returned "+
		"credit (due_date is the day, label the method)",
		append(slices.Clone(chargeTypes), creditReturned), schema.Folded)
	f.DayPtr(&row.due, "due_date", "when the charge is due")
	f.Loose(&row.method, "method", "how it was paid; anything unknown is other")
	f.Loose(&row.paidDate, "paid_date", "when it was paid; an invalid day counts as today")
	f.Text(&row.label, "label", "the charge's label, if several of that type are due on that day", schema.Most(maxName))
	f.IntPtr(&row.amount, "amount_cents", "how much (default: all that is open)", schema.Range(0, maxCents))
	f.IntPtr(&row.payment, "payment", "the payment's number: rows of one number are one payment",
		schema.Range(1, maxCents))
	if f.Describing() {
		return row
	}
	if _, day := exact.ParseDay(strings.TrimSpace(row.paidDate)); f.Options.Replaced != nil &&
		(row.paidDate != "" && !day || unknownMethod(row.method)) {
		*f.Options.Replaced++
	}
	switch {
	case row.charge() && row.typ == "":
		f.Refuse("type", "type is missing: it takes one of the charges' types, or nothing beside an empty due_date and label")
	case (row.charge() || row.returned()) && row.due == nil:
		f.Refuse("due_date", "due_date is missing: it takes the day on which the charge is due, as YYYY-MM-DD")
	case !row.charge() && (row.amount == nil || row.payment == nil):
		f.Refuse("type", "type is missing: a row without a charge is credit, and needs amount_cents and payment")
	}
	return row
}

// paymentTable is the payments, without reversed ones, as CSV. A row pays the charge that it names, as a request would;
// due charges of the lease are posted first. Rows of one payment number are one payment.
func (s *Service) paymentTable() schema.Table {
	return schema.Grouped(schema.Table{
		Name: "payments", About: "Payments. A row pays the charge that it names; a charge that is paid already is refused.",
		Group:  []string{"payment"},
		Export: exportPayments,
	}, bindPaymentRow, putPayment)
}

// exportPayments emits a row for every charge that a payment paid, one for its credit, and one for returned credit.
// Used deposits are in the table deposits.
func exportPayments(c *db.Conn, emit func(...string) error) error {
	return eachLease(c, func(id int64, property, unit, start string) error {
		return db.Each(c, func(r *db.Row) error {
			typ, due := r.Text(), schema.Cell(r.DayPtr())
			return emit(property, unit, start, typ, due, r.Text(), r.Day().String(), r.Text(), number(r), number(r))
		}, `SELECT c.type, c.due_date, m.method, m.paid_date, c.label, a.amount_cents, m.id, 0, 0
				FROM payments m CROSS JOIN allocations a ON a.payment_id = m.id CROSS JOIN charges c ON c.id = a.charge_id
				WHERE m.lease_id = ?1 AND m.voided_at IS NULL AND m.method NOT IN ('deposit', 'opening')
			UNION ALL SELECT 'credit_returned', o.day, m.method, m.paid_date, o.method, a.amount_cents, m.id, 1, o.id
				FROM payments m CROSS JOIN allocations a ON a.payment_id = m.id CROSS JOIN payouts o ON o.id = a.payout_id
				WHERE m.lease_id = ?1 AND m.voided_at IS NULL AND m.method NOT IN ('deposit', 'opening')
			UNION ALL SELECT NULL, NULL, method, paid_date, NULL, credit_cents, id, 2, 0
				FROM payments WHERE lease_id = ?1 AND voided_at IS NULL AND method NOT IN ('deposit', 'opening')
				AND credit_cents > 0
			ORDER BY 4, 7, 8, 2, 9, 1, 5`, id)
	})
}

// putPayment records one payment from its rows, and emits its event. A stored one with this number, lease, day and
// amount is the same, and skipped.
func putPayment(tx *db.Tx, rows []*paymentRow) (o schema.Outcome, err error) {
	first := rows[0]
	l, err := first.key.lease(&tx.Conn)
	if err != nil {
		return o, err
	}
	for _, row := range rows[1:] {
		if row.key != first.key || row.paidDate != first.paidDate || methodOf(row.method) != methodOf(first.method) {
			return o, fault.Fieldf("payment",
				"payment: the rows of payment %d differ in lease, paid_date or method; one payment has one of each", *first.payment)
		}
	}
	number, same, err := paymentNumber(tx, l, rows)
	if err != nil || same {
		return o, err
	}
	o.New = true
	if len(rows) == 1 && first.charge() && number == nil {
		c, err := chargeToPay(tx, l, first)
		if err != nil {
			return o, err
		}
		_, err = pay(tx, l, c, first.amount, first.method, first.paidDate)
		return o, err
	}
	return o, putParts(tx, l, number, rows)
}

// paymentNumber is the number of the rows' payment: its own if it is free, nil without one or if another payment has
// it. It reports whether that payment is stored already.
func paymentNumber(tx *db.Tx, l Lease, rows []*paymentRow) (number *int64, same bool, err error) {
	first := rows[0]
	if first.payment == nil {
		return nil, false, nil
	}
	was, found, err := payments.One(&tx.Conn, "WHERE m.id = ?",
		*first.payment)
	if err != nil {
		return nil, false, err
	}
	if !found {
		return first.payment, false, nil
	}
	var sum int64
	for _, row := range rows {
		if row.amount == nil {
			return nil, false, nil
		}
		sum += *row.amount
	}
	returned, err := db.Number(&tx.Conn, `SELECT coalesce(sum(amount_cents), 0) FROM allocations WHERE payment_id = ?
		AND payout_id IS NOT NULL`, was.ID)
	if err != nil {
		return nil, false, err
	}
	on, ok := exact.ParseDay(first.paidDate)
	same = was.LeaseID == l.ID && ok && was.PaidDate == on && was.VoidedAt == nil && was.Method != byDeposit &&
		was.Method != byOpening &&
		(sum == was.AmountCents || sum == was.AmountCents-returned)
	return nil, same, nil
}

// putParts records a payment of several charges, or partly credit.
func putParts(tx *db.Tx, l Lease, number *int64, rows []*paymentRow) error {
	if err := post(tx, l.ID); err != nil {
		return err
	}
	var parts []paidPart
	var sum int64
	for _, row := range rows {
		if !row.charge() {
			if row.amount == nil {
				return fault.Fieldf("amount_cents", "amount_cents is missing: enter the returned credit in cents")
			}
			sum += *row.amount
			continue
		}
		c, err := chargeToPay(tx, l, row)
		if err != nil {
			return err
		}
		cents := schema.Or(row.amount, c.BalanceCents)
		switch {
		case c.Paid:
			return fault.Conflictf("charge %d (%s) was paid already, on %s", c.ID, c.Label, c.PaidDate)
		case cents > c.BalanceCents:
			return fault.Fieldf("amount_cents", "amount_cents: %d is more than what is open of charge %d (%s): %d", cents, c.ID,
				c.Label, c.BalanceCents)
		}
		parts = append(parts, paidPart{c.ID, cents})
		sum += cents
	}
	on, err := paidOn(tx, rows[0].paidDate)
	if err != nil {
		return err
	}
	id, err := payParts(tx, number, l.ID, sum, methodOf(rows[0].method), on, parts...)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.returned() {
			if err := wasReturned(tx, l.ID, id, row); err != nil {
				return err
			}
		}
	}
	if err := afterPayment(tx, l.ID, id); err != nil {
		return err
	}
	_, err = emitPayment(tx, l, id)
	return err
}

// wasReturned stores that credit of a payment was paid out on a day.
func wasReturned(tx *db.Tx, lease, payment int64, row *paymentRow) error {
	if *row.amount < 1 {
		return fault.Fieldf("amount_cents", "amount_cents: %d is out of range; credit that was returned is at least 1",
			*row.amount)
	}
	out := Payout{LeaseID: lease, Kind: "credit", Day: *row.due, AmountCents: *row.amount, Method: methodOf(row.label)}
	id, err := insertPayout(tx, out)
	if err != nil {
		return err
	}
	returnPart(tx, payment, id, out.AmountCents)
	return nil
}

// chargeToPay returns the row's charge, after posting due charges of its lease; none if the row is ambiguous.
func chargeToPay(tx *db.Tx, l Lease, row *paymentRow) (c Charge, err error) {
	if err := post(tx, l.ID); err != nil {
		return c, err
	}
	all, err := charges.All(&tx.Conn, `WHERE c.lease_id = ?1 AND c.type = ?2 AND c.due_date = ?3
		AND (?4 = '' OR c.label = ?4)`, l.ID, row.typ, *row.due, row.label)
	switch {
	case err != nil:
		return c, err
	case len(all) == 0 && row.label != "":
		return c, fault.Fieldf("due_date", "due_date: no %s charge of the lease is due on %s with the label %s", row.typ,
			row.due, schema.Quote(row.label))
	case len(all) == 0:
		return c, fault.Fieldf("due_date", "due_date: no %s charge of the lease is due on %s", row.typ, row.due)
	case len(all) > 1:
		return c, fault.Fieldf("label", "label: %d %s charges of the lease are due on %s; name one in the column "+
			"label", len(all), row.typ, row.due)
	}
	return all[0], nil
}

// depositTable is what was used and returned of deposits as CSV.
func (s *Service) depositTable() schema.Table {
	return schema.Table{
		Name: "deposits", About: "Deposits that were used for a charge or returned. A row equal to a stored one is skipped.",
		Row: func(f *schema.Form) schema.Put {
			key := bindLeaseKey(f, "lease_start")
			var row paymentRow
			var day exact.Day
			var kind, method string
			var amount int64
			f.Day(&day, "day", "when", schema.Required)
			f.Enum(&kind, "kind", "whether it paid a charge or was given back", []string{"use", "return"}, schema.Required,
				schema.Folded)
			f.Int(&amount, "amount_cents", "how much, in cents", schema.Required, schema.Range(1, maxCents))
			f.Loose(&method, "method", "how it was returned")
			f.Enum(&row.typ, "type", "of a use: what the charge is for", chargeTypes, schema.Folded)
			f.DayPtr(&row.due, "due_date", "of a use: when the charge is due")
			f.Text(&row.label, "label", "of a use: what the charge says", schema.Most(maxName))
			if kind == "use" && (row.typ == "" || row.due == nil) {
				f.Refuse("type", "type and due_date are missing: a use needs the charge that it paid")
			}
			return func(tx *db.Tx) (o schema.Outcome, err error) {
				l, err := key.lease(&tx.Conn)
				if err != nil {
					return o, err
				}
				if err := post(tx, l.ID); err != nil {
					return o, err
				}
				if kind == "return" {
					return putReturn(tx, PayoutRequest{LeaseID: l.ID, AmountCents: &amount, Day: &day, Method: method})
				}
				c, err := chargeToPay(tx, l, &row)
				if err != nil {
					return o, err
				}
				return putUse(tx, l.ID, c, amount, day)
			}
		},
		Export: func(c *db.Conn, emit func(...string) error) error {
			return db.Each(c, func(r *db.Row) error {
				return emit(r.Text(), r.Text(), r.Day().String(), r.Day().String(), r.Text(), number(r), r.Text(), r.Text(),
					schema.Cell(r.DayPtr()), r.Text())
			}, `SELECT p.name, u.name, l.start_date, d.day, d.kind, d.cents, d.method, c.type, c.due_date, c.label`+fromLeases+`
				CROSS JOIN (SELECT m.lease_id, m.paid_date AS day, 'use' AS kind, a.amount_cents AS cents, 'deposit' AS method,
				a.charge_id, m.recorded_at AS at, m.id
						FROM payments m JOIN allocations a ON a.payment_id = m.id WHERE m.method = 'deposit' AND m.voided_at IS NULL
					UNION ALL SELECT lease_id, day, 'return', amount_cents, method, NULL, recorded_at, id FROM payouts
					WHERE kind = 'deposit') d ON d.lease_id = l.id
				LEFT JOIN charges c ON c.id = d.charge_id ORDER BY p.name, u.name, l.start_date, d.day, d.at, d.kind DESC, d.id`)
		},
	}
}

func putReturn(tx *db.Tx, p PayoutRequest) (o schema.Outcome, err error) {
	_, same, err := db.One(&tx.Conn, db.Int,
		"SELECT 1 FROM payouts WHERE lease_id = ? AND kind = 'deposit' AND day = ? AND amount_cents = ? AND method = ?",
		p.LeaseID, *p.Day, *p.AmountCents, methodOf(p.Method))
	if err != nil || same {
		return o, err
	}
	o.New = true
	_, err = payOut(tx, "deposit", p)
	return o, err
}

func putUse(tx *db.Tx, lease int64, c Charge, cents int64, day exact.Day) (o schema.Outcome, err error) {
	_, same, err := db.One(&tx.Conn, db.Int, `SELECT 1 FROM allocations a CROSS JOIN payments m ON m.id = a.payment_id
		WHERE a.charge_id = ? AND a.amount_cents = ? AND m.method = 'deposit' AND m.paid_date = ? AND m.voided_at IS NULL`,
		c.ID, cents, day)
	if err != nil || same {
		return o, err
	}
	o.New = true
	_, err = useDeposit(tx, lease, c.ID, &cents, &day)
	return o, err
}
