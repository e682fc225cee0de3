package rental

import (
	"strings"
	"testing"

	"quartermaster/schema/assert"
)

func (h *fixture) end(lease int64, on string) (Ending, error) {
	h.T.Helper()
	return do2(h, cli, endEarly, lease, day(h.T, on))
}

func (h *fixture) payDue(lease int64, due string) int64 {
	h.T.Helper()
	charge := h.Number("SELECT id FROM charges WHERE lease_id = ? AND due_date = ?", lease, int64(day(h.T, due)))
	p := must(h, ann, recordPayment, PaymentRequest{LeaseID: lease, ChargeID: charge, Method: "cash", PaidDate: due})
	return p.PaymentID
}

func TestEndLeaseAheadOfTime(t *testing.T) {
	h := open(t, "2026-05-20")
	id := h.lease("start_date=2026-05-01", "rent_cents=310000", "proration=none")
	h.owes(id, "2026-05-01 310000 1-31 May 2026")
	h.payDue(id, "2026-05-01")
	e, err := h.end(id, "2026-07-10")
	h.Must(err)
	assert.That(t, e.Cut == nil && len(e.Withdrawn) == 0 && e.Lease.Status == active, "%s", asJSON(t, e))
	h.On("2026-07-10")
	want := []string{"2026-05-01 310000 1-31 May 2026 paid 2026-05-01 cash", "2026-06-01 310000 1-30 June 2026",
		"2026-07-01 310000 1-10 July 2026, 10 of 31 days, charged in full"}
	h.owes(id, want...)
	h.sound()
	// Ended earlier again: without proration the amount stays, so that even a paid one may be affected.
	h.payDue(id, "2026-07-01")
	e = assert.Value(h.end(id, "2026-07-05"))(h.T)
	if e.Cut == nil || e.Cut.AmountCents != 310000 || e.Cut.Label != "1-5 July 2026, 5 of 31 days, charged in full" || !e.Cut.Paid {
		t.Errorf("%s", asJSON(t, e.Cut))
	}
	// What was charged in full leaves nothing of July to be charged again.
	h.Must(h.row("leases", "property=House", "unit=U1", "start_date=2026-05-01", "end_date="))
	h.On("2026-08-01")
	want[1] = "2026-06-01 310000 1-30 June 2026"
	want[2] = "2026-07-01 310000 1-5 July 2026, 5 of 31 days, charged in full paid 2026-07-01 cash"
	h.owes(id, append(want, "2026-08-01 310000 1-31 August 2026")...)
	h.sound()
}

func TestEndLeaseWithUnpostedCharges(t *testing.T) {
	h := open(t, "2026-05-20")
	id := h.lease("start_date=2026-03-15", "rent_cents=310000", "due_day=1")
	e := assert.Value(h.end(id, "2026-04-15"))(h.T)
	assert.That(t, e.Totals.BilledCents == 170000+155000 && len(e.Withdrawn) == 0 && e.Cut == nil, "%s", asJSON(t, e))
	h.owes(id, "2026-03-15 170000 15-31 March 2026, 17 of 31 days", "2026-04-01 155000 1-15 April 2026, 15 of 30 days")
	h.sound()
	got := h.Texts("SELECT changes FROM audit WHERE action = 'lease.ended'")
	assert.That(t, len(got) == 1 && strings.Contains(got[0], `"from":null,"to":"2026-04-15"`), "audit %q", got)
}

// TestEndLeaseProratesByTheRentOfThatTime: the rent has changed since the period was posted.
func TestEndLeaseProratesByTheRentOfThatTime(t *testing.T) {
	h := open(t, "2026-03-20")
	id := h.lease("start_date=2026-03-11", "rent_cents=310000", "due_day=1")
	h.owes(id, "2026-03-11 210000 11-31 March 2026, 21 of 31 days")
	h.Must(h.row("leases", "property=House", "unit=U1", "start_date=2026-03-11", "rent_cents=620000"))
	_, err := h.end(id, "2026-03-20")
	h.Must(err)
	h.owes(id, "2026-03-11 100000 11-20 March 2026, 10 of 31 days")
	h.sound()
}

// TestEndLeaseNeverRaises: a prorated period keeps its amount, also when the lease lost proration since.
func TestEndLeaseNeverRaises(t *testing.T) {
	h := open(t, "2026-03-20")
	id := h.lease("start_date=2026-03-11", "rent_cents=310000", "due_day=1")
	h.owes(id, "2026-03-11 210000 11-31 March 2026, 21 of 31 days")
	h.Must(h.row("leases", "property=House", "unit=U1", "start_date=2026-03-11", "proration=none"))
	_, err := h.end(id, "2026-03-20")
	h.Must(err)
	h.owes(id, "2026-03-11 100000 11-20 March 2026, 10 of 31 days")
	h.sound()
}
