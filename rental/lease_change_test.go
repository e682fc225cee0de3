package rental

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

func (h *fixture) change(cells ...string) error {
	h.T.Helper()
	return h.row("leases", append([]string{"property=House", "unit=U1", "start_date=2026-01-31"}, cells...)...)
}

// TestUnpostedLeaseFollowsItsNewTerms: before anything is posted, a mistake can be corrected.
func TestUnpostedLeaseFollowsItsNewTerms(t *testing.T) {
	h := open(t, "2026-03-30")
	id := h.lease("start_date=2026-01-31", "rent_cents=1")
	h.Must(h.change("rent_cents=100000", "frequency=quarterly", "due_day=15"))
	h.owes(id, "2026-01-31 82222 31 January-14 April 2026, 74 of 90 days")
	h.sound()
}

func TestImportRefusesWhatEndLeaseIsFor(t *testing.T) {
	h := open(t, "2026-03-30")
	id := h.lease("start_date=2026-01-31", "end_date=2026-12-31")
	h.Refused(h.change("end_date=2026-12-30"), fault.Invalid, "end_date: 2026-12-30 would shorten", "end-lease 1 --date")
	h.Must(h.change("frequency=yearly"))
	h.Must(h.change("frequency=monthly", "due_day=30"))
	h.Must(h.change("due_day="))
	h.owes(id, "2026-01-31 100000 31 January-27 February 2026", "2026-02-28 100000 28 February-30 March 2026")
	before := h.written()
	h.Refused(h.change("frequency=weekly"), fault.Invalid, "frequency", "stays monthly")
	h.Refused(h.change("due_day=1"), fault.Invalid, "due_day", "stays 31")
	h.Refused(h.change("end_date=2026-06-30"), fault.Invalid, "shorten")
	h.Refused(h.row("leases", "property=House", "unit=U1", "start_date=2026-02-01", "tenant=Tenant U1", "rent_cents=5"),
		fault.Invalid, "may not cover the same day", "lease 1")
	h.Must(h.change("frequency=monthly", "due_day=31", "end_date=2026-12-31", "rent_cents=100000")) // unchanged
	assert.That(t, h.written() == before, "a refused or empty change wrote something")
	h.Must(h.change("end_date="))
	h.Refused(h.change("end_date=2040-01-01"), fault.Invalid, "shorten")
	h.Must(h.change("tenant=Tenant U1", "deposit_cents=7"))
	h.sound()
}

func TestMovingAnEndOut(t *testing.T) {
	h := open(t, "2026-03-20")
	id := h.lease("start_date=2026-01-31", "due_day=1", "end_date=2026-03-14", "rent_cents=310000")
	posted := []string{"2026-01-31 10000 31 January 2026, 1 of 31 days", "2026-02-01 310000 1-28 February 2026", "2026-03-01 140000 1-14 March 2026, 14 of 31 days"}
	h.owes(id, posted...)
	h.Refused(h.row("leases", "property=House", "unit=U1", "start_date=2026-03-14", "tenant=Tenant U1", "rent_cents=5"), fault.Invalid, "same day")
	h.Must(h.row("leases", "property=House", "unit=U1", "start_date=2026-05-01", "tenant=Tenant U1", "rent_cents=5"))
	h.Refused(h.change("end_date="), fault.Invalid, "may not cover the same day", "lease 2")
	h.Must(h.change("end_date=2026-03-20", "rent_cents=620000"))
	h.Must(h.change("end_date=2026-04-30"))
	// Each time the rest begins where the last period ended, at the rent of that time.
	h.On("2026-06-01")
	h.owes(id, append(posted, "2026-03-15 120000 15-20 March 2026, 6 of 31 days", "2026-03-21 220000 21-31 March 2026, 11 of 31 days", "2026-04-01 620000 1-30 April 2026")...)
	h.sound()
}

func TestDoctorNamesBreaches(t *testing.T) {
	h := open(t, "2026-03-10")
	id := h.lease("start_date=2026-01-31")
	h.Must(h.row("units", "property=House", "name=Other"))
	h.owes(id, "2026-01-31 100000 31 January-27 February 2026", "2026-02-28 100000 28 February-30 March 2026")
	h.payDue(id, "2026-01-31")
	must(h, ann, createTicket, NewTicket{UnitID: 1, Title: "Tap"})
	h.sound()
	for _, c := range []struct{ break_, says string }{
		{"UPDATE charges SET amount_cents = amount_cents + 1 WHERE id = 1", "the allocations of its payments are 100000 of 100001"},
		{"UPDATE charges SET amount_cents = amount_cents + 1 WHERE id = 1", "billed 200001 is not paid 100000 + balance 100000"},
		{"UPDATE charges SET amount_cents = amount_cents + 1 WHERE id = 2", "neither the rent"},
		{"UPDATE charges SET paid_date = NULL, method = NULL WHERE id = 1", "charge 1 is unpaid, and the allocations of its payments are all of it"},
		{"UPDATE charges SET paid_date = 1, method = 'cash' WHERE id = 2", "charge 2 is paid, and the allocations of its payments are 0 of 100000"},
		{"UPDATE payments SET paid_date = 1", "differ in lease, method or day"},
		{"UPDATE leases SET next_post_day = next_post_day + 1", "next_post_day"},
		{"UPDATE leases SET next_post_day = NULL", "next_post_day is none"},
		{"DELETE FROM charges WHERE id = 2", "next_post_day"},
		{"UPDATE charges SET due_date = due_date + 1, period_start = period_start + 1 WHERE id = 2", "begins on 2026-03-01, and not on 2026-02-28"},
		{"UPDATE charges SET period_end = period_end + 1 WHERE id = 2", "ends on 2026-03-31, after 2026-03-30"},
		{"UPDATE leases SET end_date = 20520, last_day = 20520", "lies outside the lease"},
		{"INSERT INTO leases (unit_id, start_date, last_day, rent_cents, frequency, due_day, deposit_cents, proration, next_post_day) VALUES (1, 20521, 2932896, 1, 'monthly', 1, 0, 'actual', 20521)", "leases 1 and 2 cover the same day"},
		{"UPDATE tickets SET unit_id = 2", "ticket 1 belongs to a lease of another unit"},
	} {
		var breaches []string
		undo := errors.New("undo")
		err := db.Exec(ctx, h.DB, db.Bookkeeping(), func(tx *db.Tx) error {
			if _, err := tx.Exec(c.break_); err != nil {
				return err
			}
			var err error
			breaches, err = h.Declare().Check(&tx.Conn)
			return errors.Join(undo, err)
		})
		assert.Must(t, err != nil && err.Error() == "undo", "%v", err)
		assert.That(t, slices.ContainsFunc(breaches, func(b string) bool { return strings.Contains(b, c.says) }),
			"after %s doctor says %q, want %q", c.break_, breaches, c.says)
	}
}
