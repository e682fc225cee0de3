package rental

import (
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Voided is a charge that was removed as a mistake.
type Voided struct {
	LeaseID int64  `json:"lease_id"`
	Charge  Charge `json:"charge"`
	Reason  string `json:"reason"`
	Totals  Totals `json:"totals"`
}

// voidCharge takes a charge that is not rent out of the ledger; the audit trail keeps it.
// The same may be charged again. An unknown charge is not found, rent is invalid, and one
// of which something is paid is a conflict. A late fee that was voided never comes again.
func voidCharge(tx *db.Tx, charge int64, reason string) (Voided, error) {
	c, err := charges.ByID(&tx.Conn, charge)
	if err != nil {
		return Voided{}, err
	}
	done := Voided{LeaseID: c.lease, Reason: reason}
	done.Totals, err = acted(tx, c.lease, func() error {
		if done.Charge, err = charges.ByID(&tx.Conn, charge); err != nil { // credit may have paid it
			return err
		}
		return void(tx, done.Charge, reason)
	})
	return done, err
}

func void(tx *db.Tx, c Charge, reason string) error {
	switch {
	case c.Type == rent:
		return fault.Fieldf("charge_id", "charge_id: charge %d (%s) is rent and cannot be voided; end the lease "+
			"earlier or set another rent", c.ID, c.Label)
	case c.opening:
		return fault.Conflictf("charge %d (%s) was taken over with the lease; set the lease's opening again", c.ID,
			c.Label)
	case c.Paid || c.PaidCents > 0:
		return fault.Conflictf("of charge %d (%s) %d cents are paid: reverse that payment first", c.ID, c.Label,
			fault.Cents(c.PaidCents))
	}
	if c.feeOf != nil {
		tx.Do(`INSERT INTO late_fee_voids (lease_id, rent_due) SELECT lease_id, due_date FROM charges WHERE id = ?
			ON CONFLICT DO NOTHING`, *c.feeOf)
	}
	tx.Do("DELETE FROM charges WHERE id = ?", c.ID)
	return tx.Audit("charge.voided", db.Subject("charge", c.ID), map[string]any{"lease_id": c.lease, "charge": c,
		"reason": reason})
}

// Cancelled is a lease that was removed as a mistake.
type Cancelled struct {
	Lease   Lease `json:"lease"`
	Charges int   `json:"charges" about:"how many it had"`
}

// cancelLease removes a lease that was made by mistake: it is in no list, its days are free, and its tickets keep the
// unit; the audit trail keeps it. An unknown lease is not found, and one with a payment is a conflict.
func cancelLease(tx *db.Tx, lease int64) (Cancelled, error) {
	l, err := leases.ByID(&tx.Conn, lease)
	if err != nil {
		return Cancelled{}, err
	}
	if err := notPaid(&tx.Conn, lease, ", or end the lease"); err != nil {
		return Cancelled{}, err
	}
	charges, err := chargesOf(&tx.Conn, lease)
	if err != nil {
		return Cancelled{}, err
	}
	dropLease(tx, lease)
	done := Cancelled{Lease: l, Charges: len(charges)}
	return done, tx.Audit("lease.cancelled", db.Subject("lease", lease), map[string]any{"lease": l, "charges": charges})
}

// notPaid refuses a lease with a payment that stands, saying what else can be done.
func notPaid(c *db.Conn, lease int64, or string) error {
	m, found, err := payments.One(c, `WHERE m.lease_id = ? AND m.voided_at IS NULL AND m.method <> 'opening'
		LIMIT 1`, lease)
	if err == nil && found {
		err = fault.Conflictf("lease %d has payments, the first is payment %d of %d cents on %s; reverse them first%s",
			lease, m.ID, fault.Cents(m.AmountCents), m.PaidDate, or)
	}
	return err
}

// dropLease deletes a lease's rows, those that refer to others first.
func dropLease(tx *db.Tx, lease int64) {
	for _, query := range []string{
		"UPDATE tickets SET lease_id = NULL WHERE lease_id = ?",
		"DELETE FROM allocations WHERE payment_id IN (SELECT id FROM payments WHERE lease_id = ?)",
		"DELETE FROM payments WHERE lease_id = ?",
		"DELETE FROM payouts WHERE lease_id = ?",
		"UPDATE charges SET fee_of = NULL WHERE lease_id = ?",
		"DELETE FROM charges WHERE lease_id = ?",
		"DELETE FROM late_fee_voids WHERE lease_id = ?",
		"DELETE FROM recurring_charges WHERE lease_id = ?",
		"DELETE FROM rent_steps WHERE lease_id = ?",
		"DELETE FROM lease_tenants WHERE lease_id = ?",
		"DELETE FROM leases WHERE id = ?",
	} {
		tx.Do(query, lease)
	}
}

// Reversal is the result of reversing a payment: its charges are unpaid again.
type Reversal struct {
	PaymentID   int64        `json:"payment_id"`
	LeaseID     int64        `json:"lease_id"`
	Reason      string       `json:"reason"`
	Charge      *Charge      `json:"charge" about:"the one charge that it had paid; null when there were several or none"`
	Totals      Totals       `json:"totals"`
	Allocations []Allocation `json:"allocations" about:"what it had paid"`
}

// reversePayment takes a whole payment back with all that it had paid, and the payment
// stays, voided, with the reason, which is needed. An unknown payment is not found; a
// voided one is a conflict, and so is one of which credit was returned since, or whose
// deposit was used or returned.
//
// day, by default today, counts for a payment of a closed year: that year stays as it is, and the year of the day has
// the payment as returned.
func reversePayment(tx *db.Tx, payment int64, reason string, day *exact.Day) (Reversal, error) {
	m, err := payments.ByID(&tx.Conn, payment)
	if err != nil {
		return Reversal{}, err
	}
	if m.VoidedAt != nil {
		return Reversal{}, fault.Conflictf("payment %d was reversed already, at %s", payment, m.VoidedAt)
	}
	if m.Method == byOpening {
		return Reversal{}, fault.Conflictf("payment %d was taken over with the lease; set the lease's opening again", payment)
	}
	if err := post(tx, m.LeaseID); err != nil {
		return Reversal{}, err
	}
	if err := returnOn(tx, m, day); err != nil {
		return Reversal{}, err
	}
	done := Reversal{PaymentID: payment, LeaseID: m.LeaseID, Reason: reason}
	if done.Allocations, err = allocationsOf(&tx.Conn, payment); err != nil {
		return done, err
	}
	if err := reverse(tx, m, done.Allocations, reason); err != nil {
		return done, err
	}
	if done.Totals, err = totalsOf(&tx.Conn, m.LeaseID); err != nil {
		return done, err
	}
	if len(done.Allocations) == 1 {
		c, found, err := charges.One(&tx.Conn, "WHERE c.id = ?",
			done.Allocations[0].ChargeID)
		if err != nil {
			return done, err
		}
		if found {
			done.Charge = &c
		}
	}
	return done, nil
}

// returnOn keeps the return of a payment of a closed year, on a day, or today.
func returnOn(tx *db.Tx, m StoredPayment, day *exact.Day) error {
	on := tx.Today()
	if day != nil {
		if on = *day; on < m.PaidDate {
			return fault.Fieldf("day", "day: %s lies before the payment, which is from %s", on, m.PaidDate)
		}
		if err := mustBeOpen(&tx.Conn, "day", on); err != nil {
			return err
		}
	}
	open, err := openFrom(&tx.Conn, m.PaidDate)
	if err != nil || open == m.PaidDate {
		return err
	}
	return keepReturn(tx, m, max(on, open))
}

func reverse(tx *db.Tx, m StoredPayment, paid []Allocation, reason string) error {
	type payout struct {
		id    int64
		day   exact.Day
		cents int64
	}
	returned, found, err := db.One(&tx.Conn, func(r *db.Row) payout { return payout{r.Int(), r.Day(), r.Int()} },
		"SELECT o.id, o.day, a.amount_cents FROM allocations a CROSS JOIN payouts o ON o.id = a.payout_id WHERE "+
			"a.payment_id = ?", m.ID)
	if err != nil {
		return err
	}
	if found {
		return fault.Conflictf("payment %d cannot be reversed: %d cents of it were returned as credit on %s", m.ID,
			fault.Cents(returned.cents), returned.day)
	}
	tx.Do("DELETE FROM allocations WHERE payment_id = ?", m.ID)
	tx.Do("UPDATE payments SET voided_at = ?, void_reason = ?, credit_cents = 0 WHERE id = ?", tx.Now(), reason,
		m.ID)
	if err := freePaymentLines(tx, m.ID); err != nil {
		return err
	}
	ids := make([]int64, len(paid))
	for i, a := range paid {
		ids[i] = a.ChargeID
		recount(tx, a.ChargeID)
	}
	changes := map[string]any{"reason": reason}
	if len(paid) == 1 {
		changes["charge_id"] = paid[0].ChargeID
	} else {
		changes["allocations"] = paid
	}
	if err := tx.Audit("payment.reversed", db.Subject("payment", m.ID), changes); err != nil {
		return err
	}
	if err := refreshFees(tx, ids...); err != nil {
		return err
	}
	if err := catchUp(tx, m.LeaseID); err != nil {
		return err
	}
	t, err := totalsOf(&tx.Conn, m.LeaseID)
	if err == nil && t.DepositHeldCents < 0 {
		err = fault.Conflictf("payment %d cannot be reversed: %d cents of the deposit it paid were used or returned "+
			"since", m.ID, fault.Cents(-t.DepositHeldCents))
	}
	return err
}
