package rental

import (
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// payFromDeposit pays a charge from a lease's deposit, by default the smaller of the deposit and the open amount. It
// emits nothing, since no money was received.
func payFromDeposit(tx *db.Tx, charge int64, amount *int64, day *exact.Day) (Payment, error) {
	_, lease, err := chargeOf(&tx.Conn, charge)
	if err != nil {
		return Payment{}, err
	}
	if err := post(tx, lease); err != nil {
		return Payment{}, err
	}
	id, err := useDeposit(tx, lease, charge, amount, day)
	if err != nil {
		return Payment{}, err
	}
	m, err := findPayment(&tx.Conn, id)
	if err != nil {
		return Payment{}, err
	}
	return m.answer(&tx.Conn)
}

func useDeposit(tx *db.Tx, lease, charge int64, amount *int64, day *exact.Day) (payment int64, err error) {
	c, err := findCharge(&tx.Conn, lease, charge)
	if err != nil {
		return 0, err
	}
	t, err := totalsOf(&tx.Conn, lease)
	if err != nil {
		return 0, err
	}
	cents := min(t.DepositHeldCents, c.BalanceCents)
	if amount != nil {
		cents = *amount
	}
	switch {
	case c.Type == "deposit":
		return 0, fault.Fieldf("charge_id", "charge_id: charge %d is itself a deposit and cannot be paid from one", c.ID)
	case c.Paid || c.BalanceCents == 0:
		return 0, fault.Conflictf("charge %d (%s) has nothing open", c.ID, c.Label)
	case t.DepositHeldCents == 0:
		return 0, fault.Conflictf("lease %d has no deposit to use", lease)
	case cents > c.BalanceCents:
		return 0, fault.Fieldf("amount_cents",
			"amount_cents: %d is more than the open %d of charge %d", fault.Cents(cents), fault.Cents(c.BalanceCents), c.ID)
	case cents > t.DepositHeldCents:
		return 0, fault.Fieldf("amount_cents",
			"amount_cents: %d is more than the deposit held, %d", fault.Cents(cents), fault.Cents(t.DepositHeldCents))
	case cents < 1:
		return 0, fault.Fieldf("amount_cents", "amount_cents: %d is out of range; it takes cents from %d", fault.Cents(cents),
			fault.Cents(1))
	}
	on := tx.Today()
	if day != nil {
		on = *day
	}
	id, err := payParts(tx, nil, lease, cents, byDeposit, on, paidPart{c.ID, cents})
	if err != nil {
		return 0, err
	}
	return id, afterPayment(tx, lease, id)
}

// Payout is money that went out again: credit or a deposit that was returned.
type Payout struct {
	ID          int64     `json:"payout_id"`
	LeaseID     int64     `json:"lease_id"`
	Kind        string    `json:"kind" enum:"credit,deposit"`
	Day         exact.Day `json:"day"`
	AmountCents int64     `json:"amount_cents"`
	Method      string    `json:"method"`
	Totals      Totals    `json:"totals"`
}

// PayoutRequest asks to return credit or a deposit; without an amount all of it, without a
// day today.
type PayoutRequest struct {
	LeaseID     int64
	AmountCents *int64
	Day         *exact.Day
	Method      string
}

// returnDeposit pays a lease's deposit out, never more than what is held.
func returnDeposit(tx *db.Tx, p PayoutRequest) (Payout, error) { return payOut(tx, "deposit", p) }

// returnCredit pays a lease's credit out, never more than there is.
func returnCredit(tx *db.Tx, p PayoutRequest) (Payout, error) { return payOut(tx, "credit", p) }

func payOut(tx *db.Tx, kind string, p PayoutRequest) (done Payout, err error) {
	if _, err := postedLease(tx, p.LeaseID); err != nil {
		return done, err
	}
	t, err := totalsOf(&tx.Conn, p.LeaseID)
	if err != nil {
		return done, err
	}
	have, what := t.CreditCents, "credit"
	if kind == "deposit" {
		have, what = t.DepositHeldCents, "deposit that is held"
	}
	done = Payout{LeaseID: p.LeaseID, Kind: kind, Day: tx.Today(), AmountCents: have, Method: methodOf(p.Method)}
	if p.AmountCents != nil {
		done.AmountCents = *p.AmountCents
	}
	if p.Day != nil {
		done.Day = *p.Day
	}
	switch {
	case have == 0:
		return done, fault.Conflictf("lease %d has no %s", p.LeaseID, what)
	case done.AmountCents < 1 || done.AmountCents > have:
		return done, fault.Fieldf("amount_cents", "amount_cents: %d is out of range; it takes cents from %d to %d, the %s",
			fault.Cents(done.AmountCents), fault.Cents(1), fault.Cents(have), what)
	}
	if done.ID, err = insertPayout(tx, done); err != nil {
		return done, err
	}
	if kind == "credit" {
		if err := takeCredit(tx, done); err != nil {
			return done, err
		}
	}
	if err := catchUp(tx, p.LeaseID); err != nil {
		return done, err
	}
	done.Totals, err = totalsOf(&tx.Conn, p.LeaseID)
	return done, err
}

// insertPayout stores a payout, with its audit entry.
func insertPayout(tx *db.Tx, p Payout) (id int64, err error) {
	if err := mustBeOpen(&tx.Conn, "day", p.Day); err != nil {
		return 0, err
	}
	id, err = tx.Insert(
		"INSERT INTO payouts (lease_id, kind, day, amount_cents, method, recorded_at) VALUES (?, ?, ?, ?, ?, ?)",
		p.LeaseID, p.Kind, p.Day, p.AmountCents, p.Method, tx.Now())
	if err != nil {
		return 0, err
	}
	return id, tx.Audit(p.Kind+".returned", db.Subject("lease", p.LeaseID),
		map[string]any{"payout_id": id, "amount_cents": p.AmountCents, "day": p.Day, "method": p.Method})
}

// takeCredit takes what is returned from the payments that have credit, oldest first.
func takeCredit(tx *db.Tx, out Payout) error {
	type credit struct{ id, cents int64 }
	all, err := db.All(&tx.Conn, func(r *db.Row) credit { return credit{r.Int(), r.Int()} },
		"SELECT id, credit_cents FROM payments WHERE lease_id = ? AND credit_cents > 0 ORDER BY paid_date, id", out.LeaseID)
	if err != nil {
		return err
	}
	rest := out.AmountCents
	for _, m := range all {
		n := min(rest, m.cents)
		if n == 0 {
			break
		}
		if err := returnPart(tx, m.id, out.ID, n); err != nil {
			return err
		}
		rest -= n
	}
	return nil
}

// returnPart takes cents of a payment's credit for a payout.
func returnPart(tx *db.Tx, payment, payout, cents int64) error {
	_, err := tx.Exec("INSERT INTO allocations (payment_id, payout_id, amount_cents) VALUES (?, ?, ?)", payment, payout,
		cents)
	if err == nil {
		_, err = tx.Exec("UPDATE payments SET credit_cents = credit_cents - ? WHERE id = ?", cents, payment)
	}
	return err
}
