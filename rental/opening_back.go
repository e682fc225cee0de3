package rental

import (
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// takeOpeningBack removes what the lease's opening made. It refuses where the new one is less than
// what was paid of the old balance, or used and returned of the old deposit.
func takeOpeningBack(tx *db.Tx, l Lease, o Opening) error {
	if l.OpeningDay != nil {
		if err := mustBeOpen(&tx.Conn, "day", *l.OpeningDay); err != nil {
			return err
		}
	}
	charges, err := db.All(&tx.Conn, scanCharge, "SELECT "+chargeColumns+
		" FROM charges c WHERE c.lease_id = ? AND c.opening = 1", l.ID)
	if err != nil {
		return err
	}
	out, err := depositOut(&tx.Conn, l.ID)
	if err != nil {
		return err
	}
	for _, c := range charges {
		switch {
		case c.Type == openingType && c.PaidCents > max(o.BalanceCents, 0):
			return fault.Fieldf("balance_cents", "balance_cents: %d are paid of charge %d (%s), so enter at least that, or "+
				"reverse that payment first",
				fault.Cents(c.PaidCents), c.ID, c.Label)
		case c.Type == "deposit" && out > 0 && o.DepositCents < out:
			return fault.Fieldf("deposit_cents", "deposit_cents: %d of the deposit were used or returned, so enter at least "+
				"that", fault.Cents(out))
		}
		if err := release(tx, c.ID, c.PaidCents); err != nil {
			return err
		}
		if _, err := tx.Exec("DELETE FROM charges WHERE id = ?", c.ID); err != nil {
			return err
		}
	}
	payments, err := db.All(&tx.Conn, db.Int, "SELECT id FROM payments WHERE lease_id = ? AND method = 'opening'", l.ID)
	if err != nil {
		return err
	}
	for _, id := range payments {
		if err := removeOpeningPayment(tx, id); err != nil {
			return err
		}
	}
	return nil
}

// removeOpeningPayment deletes a payment that was taken over; what it paid is open again.
func removeOpeningPayment(tx *db.Tx, id int64) error {
	_, returned, err := db.One(&tx.Conn, db.Int,
		"SELECT 1 FROM allocations WHERE payment_id = ? AND payout_id IS NOT NULL", id)
	if err != nil {
		return err
	}
	if returned {
		return fault.Fieldf("balance_cents", "balance_cents: the opening credit was returned since, so it cannot be changed")
	}
	paid, err := db.All(&tx.Conn, db.Int, "SELECT charge_id FROM allocations WHERE payment_id = ?", id)
	if err != nil {
		return err
	}
	if _, err := tx.Exec("DELETE FROM allocations WHERE payment_id = ?", id); err != nil {
		return err
	}
	if _, err := tx.Exec("DELETE FROM payments WHERE id = ?", id); err != nil {
		return err
	}
	for _, charge := range paid {
		if err := recount(tx, charge); err != nil {
			return err
		}
	}
	return refreshFees(tx, paid...)
}
