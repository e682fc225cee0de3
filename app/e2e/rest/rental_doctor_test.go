package rest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestDoctorOverABusyShop: people, agents and the operator work at once on the same leases while months pass. Nothing
// fails except by a refusal, and every rule of the ledger holds at the end.
func TestDoctorOverABusyShop(t *testing.T) {
	t.Parallel()
	l := apptest.NewRentalAt(t, time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), "UTC")
	for _, frequency := range []string{"weekly", "fortnightly", "monthly", "quarterly", "yearly"} {
		l.Lease("start_date=2025-12-31", "frequency="+frequency)
		l.Lease("start_date=2026-01-15", "frequency="+frequency, "due_day=1", "proration=none", "end_date=2026-10-10")
	}
	people := []string{l.Key("rental", "ann", "member", "full"), l.Key("rental", "bob", "admin", "full"), l.Keys["rental"]}
	var work sync.WaitGroup
	for n, key := range people {
		rng := rand.New(rand.NewPCG(uint64(n), 4))
		work.Go(func() {
			for range 60 {
				busy(l, key, rng)
			}
		})
	}
	rng := rand.New(rand.NewPCG(9, 4))
	work.Go(func() {
		for n := range 21 {
			operate(l, n, rng)
		}
	})
	work.Wait()
	l.Sound()
	if a := l.Arrears(); a.Total == 0 || len(rows(l, "payments")) == 0 || len(rows(l, "tickets")) == 0 {
		t.Errorf("nobody was busy: %+v", a)
	}
	for id := 1; id <= l.Units; id++ {
		l.Ledger(id) // checks its sums
	}
}

// busy does one action of a person or an agent.
func busy(l *apptest.Rental, key string, rng *rand.Rand) {
	lease, n := 1+rng.IntN(l.Units), 1+rng.IntN(60)
	answered := func(method, path, body string) {
		a := l.Do("rental", method, path, key, body)
		assert.That(l.T, a.Status < 500 && a.Status != 400 && (a.Status != 404 || strings.Contains(path, "maintenance")),
			"%s %s %s: %d %s", method, path, body, a.Status, a.Body)
	}
	switch rng.IntN(7) {
	case 0, 1, 2: // somebody else may pay it meanwhile, or end the lease
		if charges := l.Ledger(lease).Charges; len(charges) > 0 {
			charge := charges[rng.IntN(len(charges))].ID
			answered("POST", fmt.Sprintf("/api/leases/%d/payments", lease), fmt.Sprintf(`{"charge_id":%d,"method":"cash"}`, charge))
		}
	case 3:
		answered("GET", "/api/arrears", "")
	case 4:
		answered("POST", "/api/maintenance", fmt.Sprintf(`{"unit_id":%d,"title":"Tap"}`, lease))
	case 5:
		answered("POST", fmt.Sprintf("/api/maintenance/%d/status", n), `{"status":"`+[]string{"open", "in_progress", "resolved"}[rng.IntN(3)]+`"}`)
	case 6:
		l.ToolAs("rental", key, "rent_roll", `{}`)
	}
}

// operate lets days pass and does one action of the operator outside the server.
func operate(l *apptest.Rental, n int, rng *rand.Rand) {
	l.Clock.Set(l.Clock.Now().AddDate(0, 0, 14))
	lease := 1 + rng.IntN(l.Units)
	day := l.Clock.Now().AddDate(0, 0, rng.IntN(40)-30).Format(time.DateOnly)
	args := [][]string{
		{"charge", fmt.Sprint(lease), "--type", "other", "--amount", fmt.Sprint(rng.IntN(9999)), "--due", day, "--label", fmt.Sprintf("No. %d", n)},
		{"reverse-payment", fmt.Sprint(1 + rng.IntN(30)), "--reason", "typo"},
		{"end-lease", fmt.Sprint(lease), "--date", day},
	}[n%3]
	if code, _, errs := l.CLI(append([]string{"rental"}, args...)...); code != 0 && (code != 1 || strings.Contains(errs, "internal") || strings.Contains(errs, "SQL")) {
		l.T.Errorf("rental %q: exit %d: %s", args, code, errs)
	}
}

// TestDoctorNamesABrokenLedger changes rows directly, one at a time. Doctor names each breach, and its exit code is 1.
func TestDoctorNamesABrokenLedger(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	l.Lease("start_date=2026-09-01")
	l.Pay(1, "2026-09-01", "")
	l.Sound()
	for _, c := range []struct{ change, says string }{
		{"UPDATE charges SET paid_date = due_date, method = 'cash' WHERE id = 2", "charge 2 is paid, and the allocations of its payments are 0 of 100000"},
		{"UPDATE charges SET amount_cents = amount_cents + 1 WHERE id = 1", "charge 1 is paid, and the allocations of its payments are 100000 of 100001"},
		{"UPDATE charges SET amount_cents = amount_cents - 1 WHERE id = 3", "charge 3 is 99999, which is neither the rent 100000 nor its share"},
		{"UPDATE charges SET paid_cents = 0, paid_date = NULL, method = NULL WHERE id = 1", "charge 1 says that 0 are paid, and its allocations are 100000"},
		{"UPDATE leases SET next_post_day = next_post_day + 1", "next_post_day is 2026-12-02, and its postings go on at 2026-12-01"},
		{"UPDATE leases SET next_post_day = NULL", "next_post_day is none"},
		{"DELETE FROM charges WHERE id = 2", "the period of charge 3 begins on 2026-11-01, and not on 2026-10-01"},
	} {
		err := db.Exec(context.Background(), l.Server.DB(), db.Bookkeeping(), func(tx *db.Tx) error {
			_, err := tx.Exec(c.change)
			return err
		})
		assert.OK(t, err)
		code, out, errs := l.CLI("doctor")
		assert.That(t, code == 1 && strings.Contains(out, "rental: breach: ") && strings.Contains(out, c.says),
			"%s: exit %d, want 1 with %q\n%s%s", c.change, code, c.says, out, errs)
	}
}
