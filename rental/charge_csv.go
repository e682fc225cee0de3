package rental

import (
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

func (s *Service) chargeTable() schema.Table {
	return schema.Table{
		Name: "charges", About: "Charges of leases. Rent rows are billing periods, posted in their order. A late fee of 0 " +
			"for a period's rent was voided.",
		Row: func(f *schema.Form) schema.Put {
			key := bindLeaseKey(f, "lease_start")
			var row chargeRow
			f.Enum(&row.typ, "type", "what it is for", chargeTypes[:len(chargeTypes)-1], schema.Required, schema.Folded)
			f.Day(&row.due, "due_date", "when it is due", schema.Required)
			f.Text(&row.label, "label", "what it says; rent has the label of its period", schema.Required, schema.Most(maxName))
			f.IntPtr(&row.amount, "amount_cents", "how much, in cents", schema.Range(0, maxCents))
			if f.Given("amount_cents") && row.amount == nil {
				f.Refuse("amount_cents", "amount_cents is empty: enter the amount in cents")
			}
			return func(tx *db.Tx) (schema.Outcome, error) { return putCharge(tx, key, row) }
		},
		Export: func(c *db.Conn, emit func(...string) error) error {
			return eachLease(c, func(id int64, property, unit, start string) error {
				return db.Each(c, func(r *db.Row) error {
					typ, due, label, cents := r.Text(), r.Day().String(), r.Text(), number(r)
					if rentDue := r.DayPtr(); rentDue != nil {
						label = feeLabel(*rentDue)
					}
					return emit(property, unit, start, typ, due, label, cents)
				}, `SELECT type, due_date, label, amount_cents, NULL FROM charges WHERE lease_id = ?1 AND opening = 0
					UNION ALL SELECT 'late_fee', v.rent_due + 1 + coalesce((SELECT f.grace_days FROM leases l CROSS JOIN units u
					ON u.id = l.unit_id
						CROSS JOIN late_fees f ON f.property_id = u.property_id WHERE l.id = v.lease_id AND f.from_day <= v.rent_due
						ORDER BY f.from_day DESC LIMIT 1), 0),
						'', 0, v.rent_due FROM late_fee_voids v WHERE v.lease_id = ?1
					ORDER BY 2, 1, 3, 5`, id)
			})
		},
	}
}

// eachLease calls fn for every lease by property, unit and start. What belongs to a lease is then
// read lease by lease, so that an export need not sort all of it in memory.
func eachLease(c *db.Conn, fn func(id int64, property, unit, start string) error) error {
	return db.Each(c, func(r *db.Row) error { return fn(r.Int(), r.Text(), r.Text(), r.Day().String()) },
		"SELECT l.id, p.name, u.name, l.start_date"+fromLeases+" ORDER BY p.name, u.name, l.start_date, l.id")
}

// chargeRow is one row of the file besides the lease's key.
type chargeRow struct {
	typ, label string
	due        exact.Day
	amount     *int64
}

// putCharge makes the charge, or changes the amount of one that is neither rent nor
// paid. What stays as it was is not written.
func putCharge(tx *db.Tx, k leaseKey, row chargeRow) (o schema.Outcome, err error) {
	l, err := k.lease(&tx.Conn)
	if err != nil {
		return o, err
	}
	if row.typ == rent {
		return putRent(tx, l, row)
	}
	was, found, err := findSingle(&tx.Conn, l.ID, row.typ, row.due, row.label)
	if err != nil {
		return o, err
	}
	if rentDue, waives := row.waives(); waives && (!found || was.feeOf != nil) {
		o.New, err = waiveFee(tx, l.ID, rentDue)
		return o, err
	}
	switch {
	case !found && row.amount == nil:
		return o, fault.Fieldf("amount_cents", "amount_cents is missing: enter the amount in cents")
	case !found:
		if _, err := insertSingle(tx, l.ID, NewCharge{Type: row.typ, AmountCents: *row.amount, DueDate: row.due,
			Label: row.label}); err != nil {
			return o, err
		}
		o.New = true
		return o, importedCharge(tx, l.ID)
	case row.amount == nil || *row.amount == was.AmountCents:
		return o, nil
	case was.opening:
		return o, fault.Conflictf("amount_cents: charge %d was taken over with the lease; set the lease's opening "+
			"again", was.ID)
	case was.Paid:
		return o, fault.Conflictf("amount_cents: charge %d is paid, so it stays %d; reverse its payment first", was.ID,
			was.AmountCents)
	case was.feeOf != nil:
		return o, nil // a late fee that was posted is what the payments' days make it
	case was.PaidCents > 0 && *row.amount <= was.PaidCents:
		return o, fault.Conflictf("amount_cents: %[2]d cents of charge %[1]d are paid; reverse that payment first, or "+
			"enter at least that", was.ID, was.PaidCents)
	}
	tx.Do("UPDATE charges SET amount_cents = ? WHERE id = ?", *row.amount, was.ID)
	o.Fields = []string{"amount_cents"}
	return o, tx.Audit("charge.changed", db.Subject("charge", was.ID),
		map[string][2]int64{"amount_cents": {was.AmountCents, *row.amount}})
}

// waives tells the day of the rent whose late fee the row says was voided.
func (row chargeRow) waives() (rentDue exact.Day, ok bool) {
	if row.typ != lateFee || row.amount == nil || *row.amount != 0 {
		return 0, false
	}
	rentDue, ok = exact.ParseDay(strings.TrimPrefix(row.label, feeLabelFor))
	return rentDue, ok
}

// waiveFee lets the late fee for the rent that is due on a day never come, and takes away
// one that is unpaid.
func waiveFee(tx *db.Tx, lease int64, rentDue exact.Day) (waived bool, err error) {
	_, have, err := db.One(&tx.Conn, db.Int, "SELECT 1 FROM late_fee_voids WHERE lease_id = ? AND rent_due = ?", lease,
		rentDue)
	if err != nil || have {
		return false, err
	}
	tx.Do("INSERT INTO late_fee_voids (lease_id, rent_due) VALUES (?, ?)", lease, rentDue)
	if err := tx.Audit("late_fee.waived", db.Subject("lease", lease), map[string]any{"rent_due": rentDue}); err != nil {
		return false, err
	}
	rents, err := db.All(&tx.Conn, db.Int, "SELECT id FROM charges WHERE lease_id = ? AND type = 'rent' AND due_date = ?",
		lease, rentDue)
	if err != nil {
		return false, err
	}
	if err := refreshFees(tx, rents...); err != nil || len(rents) == 0 {
		return true, err
	}
	return true, catchUpTo(tx, lease, rentDue)
}

// putRent imports a row of rent. A posted period must equal the row, since a posted charge never changes. Another one
// is posted as the row says, after the periods before it by the lease's terms: so another file's ledger is imported to
// the cent, also if the rent has changed since.
func putRent(tx *db.Tx, l Lease, row chargeRow) (o schema.Outcome, err error) {
	was, found, err := charges.One(&tx.Conn, "WHERE c.lease_id = ? AND c.type = 'rent' AND c.period_start = ?", l.ID,
		row.due)
	switch {
	case err != nil:
		return o, err
	case found && was.Label != row.label:
		return o, fault.Conflictf("label: the rent due on %s is posted as %s, and a posted charge never changes", row.due,
			schema.Quote(was.Label))
	case found && row.amount != nil && *row.amount != was.AmountCents:
		return o, fault.Conflictf("amount_cents: the rent due on %s is posted with %d, and a posted charge never changes",
			row.due, was.AmountCents)
	case found:
		return o, nil
	case l.nextPost == nil || row.due < *l.nextPost:
		return o, fault.Fieldf("due_date", "due_date: no billing period of the lease begins on %s", row.due)
	case row.due > tx.Today():
		return o, fault.Fieldf("due_date", "due_date: rent is posted when it is due, and %s is in the future", row.due)
	}
	if err := postBefore(tx, l, row.due); err != nil {
		return o, err
	}
	next, _, err := db.One(&tx.Conn, (*db.Row).DayPtr, "SELECT next_post_day FROM leases WHERE id = ?", l.ID)
	if err != nil {
		return o, err
	}
	if next == nil || *next != row.due {
		return o, fault.Fieldf("due_date", "due_date: no billing period of the lease begins on %s", row.due)
	}
	if err := postAs(tx, l, row); err != nil {
		return o, err
	}
	o.New = true
	return o, catchUpTo(tx, l.ID, row.due)
}

// postBefore posts the periods that begin before a day by the lease's own terms.
func postBefore(tx *db.Tx, l Lease, day exact.Day) error {
	if l.nextPost == nil || *l.nextPost >= day {
		return nil
	}
	if err := tx.CheckClock(); err != nil {
		return err
	}
	return catchUpTo(tx, l.ID, day-1)
}

// postAs posts the lease's next period by the row: shortened if its label says that the lease's end shortened it, with
// the row's amount.
func postAs(tx *db.Tx, l Lease, row chargeRow) error {
	own := l.terms()
	rent := own.at(row.due)
	for end := own.from(row.due).Last; end >= row.due; end-- {
		for _, proration := range prorations {
			then := rent
			then.End, then.Proration = &end, proration
			p := then.from(row.due)
			if then.label(p) != row.label {
				continue
			}
			amount := schema.Or(row.amount, then.charge(p))
			then.Rent = then.rentOf(p, amount)
			return postOne(tx, l.ID, &own, &then, p, amount)
		}
	}
	return fault.Fieldf("label", "label: the billing period due on %s is called %s, not %s",
		row.due, schema.Quote(own.label(own.from(row.due))), schema.Quote(row.label))
}

// rentOf is the rent of a whole period by which p comes to the amount: the lease's own
// where it does.
func (t *terms) rentOf(p period, amount int64) int64 {
	switch {
	case t.charge(p) == amount:
		return t.Rent
	case t.prorates(p):
		return exact.Mul(amount, p.fullDays()).DivRound(p.days())
	}
	return amount
}

// postOne posts one period by the terms of then, in a lease whose terms are own now.
func postOne(tx *db.Tx, lease int64, own, then *terms, p period, amount int64) error {
	if err := tx.CheckClock(); err != nil {
		return err
	}
	writeRent(tx, lease, then, p, amount)
	poster, _, err := newPoster(tx, lease)
	if err != nil {
		return err
	}
	if err := poster.beside(p.First); err != nil {
		return err
	}
	after := own.remaining(resume(p, amount, then.Rent))
	tx.Do("UPDATE leases SET next_post_day = ? WHERE id = ?", after, lease)
	return tx.Audit("lease.posted", db.Subject("lease", lease), postings{Charges: 1, From: p.First, To: p.Last,
		AmountCents: amount})
}

// importedCharge pays an imported charge from the lease's credit, unless earlier charges must be posted: then the next
// read does.
func importedCharge(tx *db.Tx, lease int64) error {
	credit, err := creditOf(&tx.Conn, lease)
	if err != nil || credit == 0 {
		return err
	}
	return catchUp(tx, lease)
}
