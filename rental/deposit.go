package rental

import (
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// byDeposit is the method of a payment from a deposit: no money was received.
const byDeposit = "deposit"

// Allocation is a part of a payment used for a charge.
type Allocation struct {
	ChargeID    int64  `json:"charge_id"`
	Label       string `json:"label"`
	AmountCents int64  `json:"amount_cents"`
}

// allocationsOf lists a payment's allocations, by the charges' due dates.
func allocationsOf(c *db.Conn, payment int64) ([]Allocation, error) {
	return db.All(c, func(r *db.Row) Allocation { return Allocation{r.Int(), r.Text(), r.Int()} },
		`SELECT c.id, c.label, a.amount_cents FROM allocations a CROSS JOIN charges c ON c.id = a.charge_id
		WHERE a.payment_id = ? ORDER BY c.due_date, c.id`, payment)
}

// allocate pays cents of a charge from a payment's credit. A payment of a closed year does so with today's date, since
// the year must not change.
func allocate(tx *db.Tx, payment, charge, cents int64) error {
	closed, err := closedThrough(&tx.Conn)
	if err != nil {
		return err
	}
	first, _ := yearDays(closed + 1)
	tx.Do(`INSERT INTO allocations (payment_id, charge_id, amount_cents, counted)
		SELECT ?1, ?2, ?3, iif(paid_date < ?4 AND method <> 'opening', ?5, NULL) FROM payments WHERE id = ?1
		ON CONFLICT (payment_id, charge_id) DO UPDATE SET amount_cents = amount_cents + ?3`, payment, charge, cents, first,
		tx.Today())
	recount(tx, charge)
	_, err = tx.Exec("UPDATE payments SET credit_cents = credit_cents - ? WHERE id = ?", cents, payment)
	return err // which ends the loop of spend
}

// release returns cents of a charge to credit, from its last payments first.
func release(tx *db.Tx, charge, cents int64) error {
	type used struct{ id, payment, cents int64 }
	parts, err := db.All(&tx.Conn, func(r *db.Row) used { return used{r.Int(), r.Int(), r.Int()} },
		`SELECT a.id, a.payment_id, a.amount_cents FROM allocations a CROSS JOIN payments m ON m.id = a.payment_id
		WHERE a.charge_id = ? ORDER BY m.paid_date DESC, m.id DESC`, charge)
	if err != nil {
		return err
	}
	for _, p := range parts {
		n := min(p.cents, cents)
		if n == p.cents {
			tx.Do("DELETE FROM allocations WHERE id = ?", p.id)
		} else if n > 0 {
			tx.Do("UPDATE allocations SET amount_cents = amount_cents - ? WHERE id = ?", n, p.id)
		}
		tx.Do("UPDATE payments SET credit_cents = credit_cents + ? WHERE id = ?", n, p.payment)
		cents -= n
	}
	recount(tx, charge)
	return nil
}

// recount sets a charge's payment columns from its allocations: it is paid if they add up to it and there is one, on
// the day of the last.
func recount(tx *db.Tx, charge int64) {
	tx.Do(`UPDATE charges SET paid_cents = (SELECT coalesce(sum(amount_cents), 0) FROM allocations WHERE charge_id = ?1),
		(paid_date, method) = (SELECT m.paid_date, m.method FROM allocations a CROSS JOIN payments m ON m.id = a.payment_id
		WHERE a.charge_id = ?1
		AND charges.amount_cents <= (SELECT sum(amount_cents) FROM allocations WHERE charge_id = ?1)
		ORDER BY m.paid_date DESC, m.id DESC LIMIT 1) WHERE id = ?1`, charge)
}

// openCharges are a lease's open charges due by a day, oldest first.
const openCharges = " FROM charges c WHERE c.lease_id = ? AND c.paid_date IS NULL AND c.amount_cents > c.paid_cents " +
	"AND c.due_date <= ? ORDER BY c.due_date, c.id"

// spend pays charges due by a day from a payment's credit, oldest first, and returns them. A rent's late fee is updated
// before it is paid: a payment dated within the grace does not pay the fee that it removes.
func spend(tx *db.Tx, lease, payment int64, by exact.Day) (paid []int64, err error) {
	type open struct{ id, cents int64 }
	for {
		credit, err := db.Number(&tx.Conn, "SELECT credit_cents FROM payments WHERE id = ?", payment)
		if err != nil || credit == 0 {
			return paid, err
		}
		c, found, err := db.One(&tx.Conn, func(r *db.Row) open { return open{r.Int(), r.Int()} },
			"SELECT c.id, c.amount_cents - c.paid_cents"+openCharges+" LIMIT 1", lease, by)
		if err != nil || !found {
			return paid, err
		}
		if err := allocate(tx, payment, c.id, min(credit, c.cents)); err != nil {
			return paid, err
		}
		paid = append(paid, c.id)
		if err := refreshFees(tx, c.id); err != nil {
			return paid, err
		}
	}
}

// useCredit pays a lease's charges due by a day from its credit, oldest payment and oldest charge first.
func useCredit(tx *db.Tx, lease int64, by exact.Day) error {
	for {
		oldest, found,
			err := db.One(&tx.Conn, db.Int,
			"SELECT id FROM payments WHERE lease_id = ? AND credit_cents > 0 ORDER BY paid_date, id LIMIT 1", lease)
		if err != nil || !found {
			return err
		}
		paid, err := spend(tx, lease, oldest, by)
		if err != nil || len(paid) == 0 {
			return err
		}
		err = tx.AuditSystem("credit.used", db.Subject("payment", oldest), struct {
			LeaseID int64   `json:"lease_id"`
			Charges []int64 `json:"charges"`
		}{lease, paid})
		if err != nil {
			return err
		}
	}
}

// findCharge returns a charge of the lease; any other is invalid.
func findCharge(c *db.Conn, lease, id int64) (Charge, error) {
	charge, found,
		err := charges.One(c, "WHERE c.id = ? AND c.lease_id = ?", id, lease)
	if err == nil && !found {
		err = fault.Fieldf("charge_id", "charge_id: %d is not a charge of lease %d; its ledger lists its charges", id, lease)
	}
	return charge, err
}

// payFromDeposit pays a charge from a lease's deposit, by default the smaller of the deposit and the open amount. It
// emits nothing, since no money was received.
func payFromDeposit(tx *db.Tx, charge int64, amount *int64, day *exact.Day) (Payment, error) {
	c, err := charges.ByID(&tx.Conn, charge)
	if err != nil {
		return Payment{}, err
	}
	if err := post(tx, c.lease); err != nil {
		return Payment{}, err
	}
	id, err := useDeposit(tx, c.lease, charge, amount, day)
	if err != nil {
		return Payment{}, err
	}
	m, err := payments.ByID(&tx.Conn, id)
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
	cents := schema.Or(amount, min(t.DepositHeldCents, c.BalanceCents))
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
	on := schema.Or(day, tx.Today())
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

	Lease Lease `json:"-"`
}

// PayoutRequest asks to return credit or a deposit; without an amount all of it, without a
// day today.
type PayoutRequest struct {
	LeaseID     int64
	AmountCents *int64
	Day         *exact.Day
	Method      string
}

// payOut pays a lease's credit, or the deposit that is held, out: never more than there is.
func payOut(tx *db.Tx, kind string, p PayoutRequest) (done Payout, err error) {
	l, err := postedLease(tx, p.LeaseID)
	if err != nil {
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
	done = Payout{LeaseID: p.LeaseID, Kind: kind, Day: tx.Today(), AmountCents: have, Lease: l}
	if done.Method, err = methodFor(tx, p.LeaseID, p.Method); err != nil {
		return done, err
	}
	done.AmountCents = schema.Or(p.AmountCents, done.AmountCents)
	done.Day = schema.Or(p.Day, done.Day)
	switch {
	case have == 0:
		return done, fault.Conflictf("lease %d has no %s", p.LeaseID, what)
	case done.AmountCents < 1 || done.AmountCents > have:
		return done, fault.Fieldf("amount_cents", "amount_cents: %d is out of range; it takes cents from %d to %d, the %s",
			fault.Cents(done.AmountCents), fault.Cents(1), fault.Cents(have), what)
	}
	done.Totals, err = acted(tx, p.LeaseID, func() error {
		if done.ID, err = insertPayout(tx, done); err != nil || kind != "credit" {
			return err
		}
		return takeCredit(tx, done)
	})
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
		returnPart(tx, m.id, out.ID, n)
		rest -= n
	}
	return nil
}

// returnPart takes cents of a payment's credit for a payout.
func returnPart(tx *db.Tx, payment, payout, cents int64) {
	tx.Do("INSERT INTO allocations (payment_id, payout_id, amount_cents) VALUES (?, ?, ?)", payment, payout, cents)
	tx.Do("UPDATE payments SET credit_cents = credit_cents - ? WHERE id = ?", cents, payment)
}
