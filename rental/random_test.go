package rental

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// TestDoctorAfterRandomActions does random actions on random leases while days pass: reading, paying, reversing,
// charging, ending, moving ends, changing rent and proration. After each, doctor finds nothing, and only an end has
// changed a posted charge.
func TestDoctorAfterRandomActions(t *testing.T) {
	for seed := range uint64(2) {
		r := rand.New(rand.NewPCG(seed, 7))
		h := open(t, "2023-11-20")
		today := day(t, "2023-11-20")
		for _, f := range frequencies {
			for _, p := range prorations {
				h.lease("start_date="+(today-exact.Day(r.IntN(90))).String(), "frequency="+f, "proration="+p, fmt.Sprintf("due_day=%d", 1+r.IntN(31)),
					fmt.Sprintf("rent_cents=%d", r.IntN(200_000)))
			}
		}
		done := map[string]int{}
		for step := range 120 {
			if r.IntN(3) == 0 {
				today += exact.Day(r.IntN(25))
				h.On(today.String())
			}
			id := 1 + r.Int64N(10)
			act := []string{"look", "pay", "reverse", "charge", "end", "extend", "rent", "proration"}[r.IntN(8)]
			err := h.act(r, act, id, today)
			if _, refused := fault.As(err); err != nil && !refused {
				t.Fatalf("seed %d, step %d, %s: %v", seed, step, act, err)
			}
			if err == nil {
				done[act]++
			}
			for _, b := range h.breaches() {
				t.Fatalf("seed %d, step %d, after %s of lease %d (%v): %s", seed, step, act, id, err, b)
			}
		}
		if len(done) != 8 {
			t.Errorf("seed %d did only %v", seed, done)
		}
	}
}

// act does one action on a lease; most are refused now and then.
func (h *fixture) act(r *rand.Rand, act string, id int64, today exact.Day) error {
	l, err := h.Ledger(ctx, viewer, id)
	if err != nil {
		return err
	}
	change := func(cell string) error {
		return h.row("leases", "property=House", "unit="+l.Lease.Unit, "start_date="+l.Lease.StartDate.String(), cell)
	}
	before := lines(l.Charges)
	switch act {
	case "pay":
		if len(l.Charges) > 0 {
			_, err = h.RecordPayment(ctx, ann, PaymentRequest{LeaseID: id, ChargeID: l.Charges[r.IntN(len(l.Charges))].ID})
		}
		return err
	case "reverse":
		_, err = h.ReversePayment(ctx, cli, 1+r.Int64N(max(1, h.Number("SELECT count(*) FROM payments"))), "why not", nil)
		return err
	case "charge":
		_, err = h.AddCharge(ctx, cli, id, NewCharge{SingleTypes[r.IntN(5)], r.Int64N(1000), today + exact.Day(r.IntN(40)-20), fmt.Sprint(r.IntN(9))})
		return err
	case "end":
		_, err = h.EndLease(ctx, cli, id, today+exact.Day(r.IntN(80)-60))
		return err
	case "extend":
		to := "end_date="
		if r.IntN(2) == 0 {
			to += (today + exact.Day(r.IntN(60)-20)).String()
		}
		err = change(to)
	case "rent":
		err = change(fmt.Sprintf("rent_cents=%d", r.IntN(200_000)))
	case "proration":
		err = change("proration=" + prorations[r.IntN(2)])
	}
	after, lerr := h.Ledger(ctx, viewer, id)
	h.Must(lerr)
	now := map[string]bool{}
	for _, line := range lines(after.Charges) {
		now[line] = true
	}
	for _, line := range before {
		if !now[line] {
			h.T.Errorf("%s took the charge %q away", act, line)
		}
	}
	return err
}
