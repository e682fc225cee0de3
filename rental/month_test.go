package rental

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// population is random leases in the program and, as reference, in accounts that follow the calendar alone.
type population struct {
	*fixture
	accounts   []*account
	properties []*property
	labels     int
	done, not  map[string]int
}

// TestMoneyAgainstAReference does random actions on random leases on random days: part payments, payments on account,
// credit and its return, deposits, late fees, recurring charges, steps of rent, early ends, reversals and voids. The
// program posts only through these actions and racing reads; the reference lives through every day. Both refuse the
// same actions. Every ledger is the same to the cent, and so are the statements around a year's end. Doctor finds
// nothing.
func TestMoneyAgainstAReference(t *testing.T) {
	leases := 300
	if testing.Short() { // with the race detector
		leases = 40
	}
	if n, err := strconv.Atoi(os.Getenv("RENTAL_LEASES")); err == nil {
		leases = n // 10000 takes minutes
	}
	r := rand.New(rand.NewPCG(17, uint64(leases))) // #nosec G404 -- a test that is the same each time
	today := day(t, "2025-09-15")
	w := &population{fixture: open(t, today.String()), done: map[string]int{}, not: map[string]int{}}
	w.build(r, leases, int(today))
	for range 8 {
		today += exact.Day(11 + r.IntN(20))
		w.On(today.String())
		if r.IntN(2) == 0 {
			w.race()
		}
		w.actAll(r, int(today))
	}
	today += 30
	w.On(today.String())
	w.race()
	w.race()
	for i, a := range w.accounts {
		a.live(int(today))
		w.Must(w.same(i, "the end", w.rowsOf(i)))
		w.statements(i)
	}
	w.propertyStatements()
	w.sound()
	twice := w.Number("SELECT count(*) FROM (SELECT 1 FROM charges WHERE period_start IS NOT NULL " +
		"GROUP BY lease_id, type, period_start HAVING count(*) > 1)")
	assert.That(t, twice <= 0, "%d periods are posted twice", twice)
	for _, act := range acts {
		if leases >= 300 && (w.done[act.name] < 15 || w.not[act.name] == 0 && act.refusable) {
			t.Errorf("%s was done %d times and refused %d times: too few to tell", act.name, w.done[act.name], w.not[act.name])
		}
	}
	t.Logf("%d leases, %d charges, %d payments; done %v, refused %v", leases, w.Number("SELECT count(*) FROM charges"), w.Number("SELECT count(*) FROM payments"), w.done, w.not)
}

// build makes properties, units, tenants and leases, in both.
func (w *population) build(r *rand.Rand, leases, today int) {
	w.T.Helper()
	w.Must(db.Exec(ctx, w.DB, cli, func(tx *db.Tx) error {
		for p := range 20 {
			if _, err := properties.Create(tx, &Property{Name: fmt.Sprint("P", p)}); err != nil {
				return err
			}
			w.properties = append(w.properties, &property{})
			if p%5 != 4 {
				if err := w.setFee(tx, r, p, today-20+r.IntN(40), today); err != nil {
					return err
				}
			}
		}
		if _, err := putTenant(tx, tenantRow{Tenant: Tenant{Name: "T"}, has: func(string) bool { return true }}); err != nil {
			return err
		}
		for i := range leases {
			if err := w.let(tx, r, i, today); err != nil {
				return err
			}
		}
		return nil
	}))
}

func (w *population) setFee(tx *db.Tx, r *rand.Rand, p, from, today int) error {
	f, x := LateFee{GraceDays: r.Int64N(12), From: exact.Day(from)}, fee{from: from, cents: -1, percent: -1}
	x.grace = int(f.GraceDays)
	if r.IntN(2) == 0 {
		x.cents = r.Int64N(5_000)
		f.Cents = &x.cents
	} else {
		x.percent = r.Int64N(2_000)
		f.Percent = new(exact.Milli(10 * x.percent))
	}
	for i := p; i < len(w.accounts); i += 20 {
		w.accounts[i].live(today)
	}
	h := w.properties[p]
	h.fees = slices.DeleteFunc(h.fees, func(f fee) bool { return f.from >= from })
	h.fees = append(h.fees, x)
	for i := p; i < len(w.accounts); i += 20 {
		w.accounts[i].reconcile()
		w.accounts[i].live(today)
	}
	return setLateFee(tx, int64(p+1), f)
}

func (w *population) let(tx *db.Tx, r *rand.Rand, i, today int) error {
	key := leaseKey{property: fmt.Sprint("P", i%20), unit: fmt.Sprint("U", i), start: exact.Day(today - 40 + r.IntN(60))}
	if _, err := putUnit(tx, Unit{Property: key.property, Name: key.unit}, nil); err != nil {
		return err
	}
	a := &account{first: int(key.start), end: never, base: 1 + r.Int64N(150_000), house: w.properties[i%20], waived: map[int]bool{}, full: i%2 == 1, lived: int(key.start) - 1}
	n := naive{start: key.start.Time(time.UTC), frequency: frequencies[r.IntN(4)], dueDay: 1 + r.IntN(31)}
	a.periods = calendar(n, n.start.AddDate(1, 0, 0))
	if i%3 == 0 {
		a.end = a.first + 30 + i%150
	}
	l := Lease{Property: key.property, Unit: key.unit, StartDate: key.start, Tenant: "T",
		BaseRentCents: a.base, Frequency: n.frequency, DueDay: int64(n.dueDay), Proration: prorations[i%2]}
	if a.end != never {
		l.EndDate = new(exact.Day(a.end))
	}
	_, err := putLease(tx, l, givenTerms)
	w.accounts = append(w.accounts, a)
	if err != nil || i%2 == 0 {
		return err
	}
	deposit := item{typ: "deposit", label: "Deposit", due: a.first, cents: 1 + r.Int64N(200_000)}
	a.live(today)
	a.chargeFor(today, deposit)
	_, err = addCharge(tx, int64(i+1), NewCharge{Type: deposit.typ, AmountCents: deposit.cents, DueDate: key.start, Label: deposit.label})
	return err
}

// race makes many readers post at once.
func (w *population) race() {
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			_, err := w.Arrears(ctx, viewer)
			assert.NoError(w.T, err)
		})
		for i := range 8 {
			all.Go(func() {
				_, err := w.Ledger(ctx, reader, int64(i+1))
				assert.NoError(w.T, err)
			})
		}
	}
	all.Wait()
}

// actAll does one random action on each lease in both, in one transaction.
func (w *population) actAll(r *rand.Rand, today int) {
	w.T.Helper()
	w.Must(db.Exec(ctx, w.DB, cli, func(tx *db.Tx) error {
		if err := w.setFee(tx, r, r.IntN(20), today-30+r.IntN(40), today); err != nil {
			return err
		}
		for i := range w.accounts {
			act := acts[r.IntN(len(acts))]
			w.accounts[i].live(today)
			try := w.accounts[i].copy()
			x := actOnLease{r: r, today: today, lease: int64(i + 1), was: w.accounts[i], try: try, population: w}
			var ok bool
			err := tx.Try(func() (err error) {
				ok, err = act.do(tx, &x)
				return err
			})
			if _, refused := fault.As(err); err != nil && !refused {
				return fmt.Errorf("lease %d, %s: %w", i+1, act.name, err)
			}
			if ok != (err == nil) {
				return fmt.Errorf("lease %d, %s on %s: the reference says %v, and the program %v\n%s", i+1, act.name, dayText(today), ok, err, strings.Join(w.accounts[i].rows(), "\n"))
			}
			if err != nil {
				w.not[act.name]++
				continue
			}
			w.done[act.name]++
			w.accounts[i] = try
			rows, err := ledgerRows(&tx.Conn, i)
			if err != nil {
				return err
			}
			if err := w.same(i, act.name, rows); err != nil {
				return err
			}
		}
		return nil
	}))
}

// same compares the program's rows of a lease with the reference's.
func (w *population) same(i int, after string, got []string) error {
	if want := w.accounts[i].rows(); !slices.Equal(got, want) {
		return fmt.Errorf("lease %d after %s:\n%s\nand by the reference\n%s", i+1, after, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	return nil
}

func (w *population) rowsOf(i int) (rows []string) {
	w.T.Helper()
	w.Must(w.DB.View(ctx, func(c *db.Conn) (err error) {
		rows, err = ledgerRows(c, i)
		return err
	}))
	return rows
}

// ledgerRows are a lease's charges and sums in the format of account.rows.
func ledgerRows(c *db.Conn, i int) ([]string, error) {
	lease := int64(i + 1)
	charges, err := chargesOf(c, lease)
	if err != nil {
		return nil, err
	}
	var rows []string
	for _, x := range charges {
		label, last, on := x.Label, "", ""
		if x.Type == rent {
			label, last = "", x.PeriodEnd.String()
		}
		if x.Paid {
			on = x.PaidDate.String()
		}
		rows = append(rows, fmt.Sprint(x.Type, " ", label, " ", x.DueDate, " ", last, " ", x.AmountCents, " ", x.PaidCents, " ", on))
	}
	slices.Sort(rows)
	t, err := totalsOf(c, lease)
	if t.BilledCents != t.PaidCents+t.BalanceCents {
		err = fmt.Errorf("lease %d: %+v", lease, t)
	}
	return append(rows, fmt.Sprint("credit ", t.CreditCents, ", held ", t.DepositHeldCents)), err
}

// statements compares a lease's two years with the reference's sums, and with each other at the year's end.
func (w *population) statements(i int) {
	w.T.Helper()
	var closing int64
	for _, year := range []int64{2025, 2026, 2027} {
		got := assert.Value(w.LeaseStatement(ctx, viewer, int64(i+1), year))(w.T)
		want := w.accounts[i].year(int(got.From), int(got.To))
		sums := func(s Statement) [8]int64 {
			return [8]int64{s.OpeningBalanceCents, s.ChargedCents, s.ReceivedCents, s.DepositUsedCents, s.CreditReturnedCents, s.ClosingBalanceCents, s.CreditCents, s.DepositHeldCents}
		}
		if sums(got) != sums(want) || year > 2025 && got.OpeningBalanceCents != closing {
			w.T.Errorf("lease %d in %d: %v, and by the reference %v after %d", i+1, year, sums(got), sums(want), closing)
		}
		closing = got.ClosingBalanceCents
	}
	l := w.ledger(int64(i + 1))
	assert.That(w.T, closing == l.Totals.BalanceCents-l.Totals.CreditCents,
		"lease %d: the last statement closes with %d, and its ledger has %+v", i+1, closing, l.Totals)
}

// propertyStatements: received sums by type, with credit received and used, equal the total received, and so do the
// units' shares.
func (w *population) propertyStatements() {
	w.T.Helper()
	for p := range w.properties {
		for _, year := range []int64{2025, 2026} {
			st := assert.Value(w.PropertyStatement(ctx, viewer, int64(p+1), year))(w.T)
			first, last := yearDays(year)
			var want, types, units int64
			for i := p; i < len(w.accounts); i += 20 {
				want += w.accounts[i].year(int(first), int(last)).ReceivedCents
			}
			for _, x := range st.ByType {
				types += x.ReceivedCents
			}
			for _, u := range st.Units {
				units += u.ReceivedCents
			}
			assert.That(w.T, st.ReceivedCents == want && units == want && types+st.CreditCents+st.CreditReturnedCents == want,
				"property %d in %d: %d received by the reference, and %s", p+1, year, want, asJSON(w.T, st))
		}
	}
}
