package rental

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// TestItNeverMattersWhoLookedWhen does the same random acts to the same random leases of
// two houses: payments on account, part payments, reversals, charges, deposits and their
// uses, under late fees, steps of rent and recurring charges. One house is looked at every
// day, the other only by the acts. After them every ledger is the same in both, doctor
// finds nothing in either, and a payment that is reversed at once leaves no trace.
func TestItNeverMattersWhoLookedWhen(t *testing.T) {
	leases := 300
	if testing.Short() { // with the race detector
		leases = 30
	}
	if n, err := strconv.Atoi(os.Getenv("RENTAL_LEASES")); err == nil {
		leases = n // 10000 takes minutes
	}
	const begin, days = "2026-01-05", 120
	daily, lazy := open(t, begin), open(t, begin)
	for _, h := range []*house{daily, lazy} {
		h.let(rand.New(rand.NewPCG(1, 9)), leases, day(t, begin))
	}
	for d := range exact.Day(days) {
		today := day(t, begin) + d
		daily.On(today.String())
		_, err := daily.Arrears(ctx, viewer)
		daily.Must(err)
		if d%20 != 13 {
			continue
		}
		lazy.On(today.String())
		for _, h := range []*house{daily, lazy} {
			h.actAll(rand.New(rand.NewPCG(uint64(d), 5)), leases, today)
		}
	}
	end := (day(t, begin) + days).String()
	for _, h := range []*house{daily, lazy} {
		h.On(end)
		_, err := h.Arrears(ctx, viewer)
		h.Must(err)
		h.sound()
	}
	sums := "SELECT count(*) || ' ' || sum(amount_cents) || ' ' || sum(paid_cents) FROM charges GROUP BY type ORDER BY type"
	if a, b := daily.Texts(sums), lazy.Texts(sums); !slices.Equal(a, b) {
		t.Errorf("charges by type: %q and %q", a, b)
	}
	rows := `SELECT lease_id || ' ' || type || ' ' || due_date || ' ' || label || ' ' || amount_cents || ' ' || paid_cents || ' ' || ifnull(paid_date, '') || ' ' || ifnull(method, '')
		FROM charges ORDER BY lease_id, due_date, type, label`
	a, b := daily.Texts(rows), lazy.Texts(rows)
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("looked at daily: %s\nlooked at seldom: %s", a[i], b[i])
		}
	}
	t.Logf("%d leases, %d charges by type %q", leases, len(a), daily.Texts(sums))
}

// let makes properties with late fees and leases with steps and recurring charges.
func (h *house) let(r *rand.Rand, leases int, today exact.Day) {
	h.T.Helper()
	h.Must(db.Exec(ctx, h.DB, cli, func(tx *db.Tx) error {
		for p := range 20 {
			id, err := putProperty(tx, fmt.Sprint("P", p), "", true)
			if err != nil {
				return err
			}
			fee := LateFee{GraceDays: r.Int64N(12), From: today + exact.Day(r.IntN(40)-20)}
			if p%2 == 0 {
				fee.Cents = new(r.Int64N(5_000))
			} else {
				fee.Percent = new(exact.Milli(10 * r.Int64N(2_000)))
			}
			if p%5 != 4 {
				if err := setLateFee(tx, id, fee); err != nil {
					return err
				}
			}
		}
		if err := putTenant(tx, tenantRow{name: "T", has: func(string) bool { return true }}); err != nil {
			return err
		}
		for i := range leases {
			if err := letOne(tx, r, i, today); err != nil {
				return err
			}
		}
		return nil
	}))
}

func letOne(tx *db.Tx, r *rand.Rand, i int, today exact.Day) error {
	property, unit := fmt.Sprint("P", i%20), fmt.Sprint("U", i)
	if err := putUnit(tx, property, unit, func(*unitFacts) {}); err != nil {
		return err
	}
	key := leaseKey{property: property, unit: unit, start: today + exact.Day(r.IntN(60)-40)}
	frequency, due, base := frequencies[r.IntN(3)], 1+r.Int64N(31), r.Int64N(150_000)
	err := putLease(tx, key, []func(*Lease){func(l *Lease) {
		l.Tenant, l.BaseRentCents, l.Frequency, l.DueDay, l.Proration = "T", base, frequency, due, prorations[i%2]
		if i%3 == 0 {
			l.EndDate = new(key.start + exact.Day(30+i%100))
		}
	}})
	if err != nil {
		return err
	}
	l, err := key.lease(&tx.Conn)
	if err != nil {
		return err
	}
	for range r.IntN(3) {
		if err := setStep(tx, l, key.start+exact.Day(r.IntN(120)), new(r.Int64N(150_000))); err != nil {
			return err
		}
		if l, err = findLease(&tx.Conn, l.ID); err != nil {
			return err
		}
	}
	if r.IntN(2) == 0 {
		_, err = insertRecurring(tx, Recurring{LeaseID: l.ID, Type: "utility", Label: "Water", AmountCents: 1 + r.Int64N(9_000), From: key.start + exact.Day(r.IntN(60))})
	}
	return err
}

// actAll does one random act to each lease; most refusals are as they should be.
func (h *house) actAll(r *rand.Rand, leases int, today exact.Day) {
	h.T.Helper()
	h.Must(db.Exec(ctx, h.DB, cli, func(tx *db.Tx) error {
		for i := range leases {
			lease, n, cents, ago := int64(i+1), r.IntN(8), 1+r.Int64N(250_000), exact.Day(r.IntN(25))
			err := tx.Try(func() error { return randomAct(tx, lease, n, cents, (today - ago).String(), today) })
			if _, refused := fault.As(err); err != nil && !refused {
				return fmt.Errorf("lease %d, act %d: %w", lease, n, err)
			}
		}
		return nil
	}))
}

func randomAct(tx *db.Tx, lease int64, act int, cents int64, on string, today exact.Day) error {
	switch act {
	case 0, 1, 2:
		_, err := receive(tx, ReceiptRequest{LeaseID: lease, AmountCents: cents, PaidDate: on, Method: "cash"})
		return err
	case 3: // received and reversed at once: as if it had not been
		if err := post(tx, lease); err != nil {
			return err
		}
		before, err := totalsOf(&tx.Conn, lease)
		if err != nil {
			return err
		}
		p, err := receive(tx, ReceiptRequest{LeaseID: lease, AmountCents: cents, PaidDate: on})
		if err != nil {
			return err
		}
		done, err := reversePayment(tx, p.PaymentID, "a slip")
		if err == nil && done.Totals != before {
			err = fmt.Errorf("a payment and its reversal made %+v of %+v", done.Totals, before)
		}
		return err
	case 4:
		last, found, err := db.One(&tx.Conn, db.Int, "SELECT max(id) FROM payments WHERE lease_id = ? AND voided_at IS NULL", lease)
		if err != nil || !found || last == 0 {
			return err
		}
		_, err = reversePayment(tx, last, "bounced")
		return err
	case 5:
		_, err := addCharge(tx, lease, NewCharge{Type: SingleTypes[cents%5], AmountCents: cents / 10, DueDate: today + exact.Day(cents%40) - 20, Label: fmt.Sprint(cents)})
		return err
	case 6:
		if err := post(tx, lease); err != nil {
			return err
		}
		charge, found, err := db.One(&tx.Conn, db.Int, "SELECT id FROM charges WHERE lease_id = ? AND paid_date IS NULL AND type <> 'deposit' ORDER BY due_date, label LIMIT 1", lease)
		if err != nil || !found {
			return err
		}
		_, err = useDeposit(tx, lease, charge, nil, nil)
		return err
	}
	if err := post(tx, lease); err != nil {
		return err
	}
	_, err := payOut(tx, []string{"credit", "deposit"}[cents%2], PayoutRequest{LeaseID: lease})
	return err
}
