package rental

import (
	"testing"
	"time"

	"quartermaster/schema/fault"
)

// TestPostingFollowsTheShopsZone: a period is posted, and a charge overdue, from the first second of the day in the
// shop's zone. It covers month ends, year ends, leap days and both clock changes, also far from UTC and where the clock
// change is at midnight.
func TestPostingFollowsTheShopsZone(t *testing.T) {
	for _, c := range []struct {
		zone, due string
		lease     []string
	}{
		{"UTC", "2026-12-01", []string{"start_date=2026-11-01"}},
		{"Pacific/Kiritimati", "2026-12-01", []string{"start_date=2026-11-01"}},
		{"Pacific/Kiritimati", "2027-01-01", []string{"start_date=2026-12-01"}},
		{"Pacific/Pago_Pago", "2027-01-01", []string{"start_date=2026-01-01", "frequency=yearly"}},
		{"America/Los_Angeles", "2027-01-01", []string{"start_date=2026-12-01"}},
		{"America/Los_Angeles", "2028-02-29", []string{"start_date=2028-01-31"}},
		{"America/Los_Angeles", "2026-03-08", []string{"start_date=2026-03-01", "frequency=weekly"}},      // clocks forward
		{"America/Los_Angeles", "2026-11-01", []string{"start_date=2026-10-18", "frequency=fortnightly"}}, // clocks back
		{"Europe/Berlin", "2026-03-29", []string{"start_date=2026-02-28", "due_day=29"}},
		{"Europe/Berlin", "2026-10-25", []string{"start_date=2026-07-25", "frequency=quarterly"}},
		{"America/Santiago", "2026-09-06", []string{"start_date=2026-08-06"}}, // midnight is skipped
		{"America/Havana", "2026-11-01", []string{"start_date=2026-10-01"}},   // midnight nearly comes twice
		{"Asia/Kathmandu", "2026-12-31", []string{"start_date=2026-11-30", "due_day=31"}},
	} {
		zone, err := time.LoadLocation(c.zone)
		if err != nil {
			t.Fatal(err)
		}
		midnight := day(t, c.due).Time(zone)
		h := openIn(t, zone, midnight.Add(-time.Second))
		id := h.lease(c.lease...)
		count := func(want int64, overdue int) {
			t.Helper()
			l, err := h.Ledger(ctx, viewer, id)
			h.Must(err)
			a, err := h.Arrears(ctx, viewer)
			h.Must(err)
			if got := h.Number("SELECT count(*) FROM charges WHERE due_date = ?", int64(day(t, c.due))); got != want || len(a.Arrears) != overdue {
				t.Errorf("%s at %s: %d charges due %s, want %d; %d overdue, want %d of %q", c.zone, h.Now(), got, c.due, want, len(a.Arrears), overdue, lines(l.Charges))
			}
		}
		count(0, 1) // the preceding period is overdue
		h.At(midnight)
		count(1, 1)
		h.At((day(t, c.due) + 1).Time(zone).Add(-time.Second))
		count(1, 1)
		h.At((day(t, c.due) + 1).Time(zone))
		count(1, 2)
		h.sound()
	}
}

// TestDayByDay moves the clock day by day over fifteen months with a leap day, with leases of every frequency. It
// compares each day's postings with the naive walk.
func TestDayByDay(t *testing.T) {
	zone, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		t.Fatal(err)
	}
	at := day(t, "2023-12-01").Time(zone)
	h := openIn(t, zone, at)
	start, end := time.Date(2023, 12, 31, 0, 0, 0, 0, time.UTC), time.Date(2024, 10, 10, 0, 0, 0, 0, time.UTC)
	walks := map[int64]naive{}
	for _, f := range frequencies {
		id := h.lease("start_date=2023-12-31", "frequency="+f)
		walks[id] = naive{start: start, frequency: f, dueDay: 31, rent: 100000}
		id = h.lease("start_date=2023-12-31", "frequency="+f, "due_day=5", "proration=none", "end_date=2024-10-10")
		walks[id] = naive{start: start, end: end, frequency: f, dueDay: 5, rent: 100000, full: true}
	}
	for d := day(t, "2023-12-01"); d <= day(t, "2025-03-02"); d++ {
		h.At(d.Time(zone).Add(time.Duration(d%24) * time.Hour))
		if _, err := h.Arrears(ctx, viewer); err != nil {
			t.Fatal(err)
		}
		for id, walk := range walks {
			today := time.Unix(int64(d)*86400, 0).UTC()
			if n := h.Number("SELECT count(*) FROM charges WHERE lease_id = ?", id); n != int64(len(walk.charges(today))) {
				t.Fatalf("on %s lease %d has %d charges, want %d", d, id, n, len(walk.charges(today)))
			}
		}
	}
	h.sound()
}

// TestAWrongClockPostsNothing: a machine whose clock is in the past, or years ahead, refuses operations that depend on
// the date and still shows stored data.
func TestAWrongClockPostsNothing(t *testing.T) {
	h := open(t, "2026-11-20")
	id := h.lease("start_date=2024-01-01", "rent_cents=5", "frequency=yearly")
	before := h.written()
	for _, on := range []string{"2025-06-01", "2026-11-19", "2028-01-01"} {
		h.On(on)
		_, err := h.Ledger(ctx, viewer, id)
		h.Refused(err, fault.Unavailable, "clock")
		_, err = h.Arrears(ctx, viewer)
		h.Refused(err, fault.Unavailable, "clock")
	}
	if h.written() != before {
		t.Error("a wrong clock wrote something")
	}
	h.On("2026-11-20")
	want := []string{"2024-01-01 5 1 January-31 December 2024", "2025-01-01 5 1 January-31 December 2025", "2026-01-01 5 1 January-31 December 2026"}
	h.owes(id, want...)
	h.On("2026-11-19")
	h.owes(id, want...) // nothing to post: reading works
	_, err := h.RecordPayment(ctx, ann, PaymentRequest{LeaseID: id, ChargeID: 1})
	h.Refused(err, fault.Unavailable, "clock")
	// its date is given
	_, err = h.RecordPayment(ctx, ann, PaymentRequest{LeaseID: id, ChargeID: 1, PaidDate: "2026-11-01"})
	h.Must(err)
}
