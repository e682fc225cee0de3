package rental

import (
	"quartermaster/schema/db"
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
	reason, err := checkText("reason", reason, maxText)
	if err != nil {
		return Voided{}, err
	}
	_, lease, err := chargeOf(&tx.Conn, charge)
	if err != nil {
		return Voided{}, err
	}
	if err := post(tx, lease); err != nil { // credit may have paid it
		return Voided{}, err
	}
	c, _, err := chargeOf(&tx.Conn, charge)
	if err != nil {
		return Voided{}, err
	}
	done := Voided{LeaseID: lease, Charge: c, Reason: reason}
	switch {
	case c.Type == rent:
		return done, fault.Fieldf("charge_id", "charge_id: charge %d (%s) is rent and cannot be voided; end the lease "+
			"earlier or set another rent", c.ID, c.Label)
	case c.opening:
		return done, fault.Conflictf("charge %d (%s) was taken over with the lease; set the lease's opening again", c.ID,
			c.Label)
	case c.Paid || c.PaidCents > 0:
		return done, fault.Conflictf("of charge %d (%s) %d cents are paid: reverse that payment first", c.ID, c.Label,
			fault.Cents(c.PaidCents))
	}
	if c.feeOf != nil {
		_, err := tx.Exec(`INSERT INTO late_fee_voids (lease_id, rent_due) SELECT lease_id, due_date FROM charges WHERE id = ?
			ON CONFLICT DO NOTHING`, *c.feeOf)
		if err != nil {
			return done, err
		}
	}
	if _, err := tx.Exec("DELETE FROM charges WHERE id = ?", c.ID); err != nil {
		return done, err
	}
	if err := tx.Audit("charge.voided", db.Subject("charge", c.ID), map[string]any{"lease_id": lease, "charge": c,
		"reason": reason}); err != nil {
		return done, err
	}
	if err := catchUp(tx, lease); err != nil {
		return done, err
	}
	done.Totals, err = totalsOf(&tx.Conn, lease)
	return done, err
}

// Cancelled is a lease that was removed as a mistake.
type Cancelled struct {
	Lease   Lease `json:"lease"`
	Charges int   `json:"charges" about:"how many it had"`
}

// cancelLease removes a lease that was made by mistake: it is in no list, its days are free, and its tickets keep the
// unit; the audit trail keeps it. An unknown lease is not found, and one with a payment is a conflict.
func cancelLease(tx *db.Tx, lease int64) (Cancelled, error) {
	l, err := findLease(&tx.Conn, lease)
	if err != nil {
		return Cancelled{}, err
	}
	m, found, err := db.One(&tx.Conn, scanPayment, "SELECT "+paymentColumns+
		" FROM payments m WHERE m.lease_id = ? AND m.voided_at IS NULL AND m.method <> 'opening' LIMIT 1", lease)
	if err != nil {
		return Cancelled{}, err
	}
	if found {
		return Cancelled{}, fault.Conflictf("lease %d has payments, the first is payment %d of %d cents on %s; reverse "+
			"them first, or end the lease",
			lease, m.ID, fault.Cents(m.AmountCents), m.PaidDate)
	}
	charges, err := chargesOf(&tx.Conn, lease)
	if err != nil {
		return Cancelled{}, err
	}
	if err := dropLease(tx, lease); err != nil {
		return Cancelled{}, err
	}
	done := Cancelled{Lease: l, Charges: len(charges)}
	return done, tx.Audit("lease.cancelled", db.Subject("lease", lease), map[string]any{"lease": l, "charges": charges})
}

// dropLease deletes a lease's rows, those that refer to others first.
func dropLease(tx *db.Tx, lease int64) error {
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
		if _, err := tx.Exec(query, lease); err != nil {
			return err
		}
	}
	return nil
}
