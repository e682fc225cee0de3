package rental

import (
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

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
	reason, err := checkText("reason", reason, maxText)
	if err != nil {
		return Reversal{}, err
	}
	m, err := findPayment(&tx.Conn, payment)
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
		c, found, err := db.One(&tx.Conn, scanCharge, "SELECT "+chargeColumns+" FROM charges c WHERE c.id = ?",
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
	if _, err := tx.Exec("DELETE FROM allocations WHERE payment_id = ?", m.ID); err != nil {
		return err
	}
	_, err = tx.Exec("UPDATE payments SET voided_at = ?, void_reason = ?, credit_cents = 0 WHERE id = ?", tx.Now(), reason,
		m.ID)
	if err != nil {
		return err
	}
	if err := freePaymentLines(tx, m.ID); err != nil {
		return err
	}
	ids := make([]int64, len(paid))
	for i, a := range paid {
		ids[i] = a.ChargeID
		if err := recount(tx, a.ChargeID); err != nil {
			return err
		}
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
