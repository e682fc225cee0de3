package rest

import (
	"fmt"
	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"strings"
	"testing"
	"time"
)

func zoneOf(t testing.TB, name string) *time.Location {
	t.Helper()
	zone := assert.Value(time.LoadLocation(name))(t)
	return zone
}

// TestTheDayChangesInTheShopsZone moves the clock over midnight in the shop's zone, at the ends of months and years and
// on both days of a clock change. Rent is due from the first second of its day, and overdue from the first second of
// the next.
func TestTheDayChangesInTheShopsZone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zone, due  string
		start, end string // of a lease whose next period is due on that day
		frequency  string
		hours      int // of that day
	}{
		{"UTC", "2026-11-21", "2026-10-21", "", "monthly", 24},
		{"UTC", "2026-12-01", "2026-11-01", "", "monthly", 24},
		{"UTC", "2027-01-01", "2026-01-01", "", "yearly", 24},
		{"Pacific/Kiritimati", "2026-12-01", "2026-11-01", "", "monthly", 24}, // 14 hours ahead of UTC
		{"Pacific/Kiritimati", "2027-01-01", "2026-10-01", "", "quarterly", 24},
		{"Pacific/Kiritimati", "2028-02-29", "2028-01-31", "", "monthly", 24},
		{"America/Los_Angeles", "2026-12-01", "2026-11-01", "", "monthly", 24},
		{"America/Los_Angeles", "2027-01-01", "2026-12-01", "", "monthly", 24},
		{"America/Los_Angeles", "2026-03-08", "2026-03-01", "", "weekly", 23},      // clocks go forward
		{"America/Los_Angeles", "2026-11-01", "2026-10-18", "", "fortnightly", 25}, // and back
	} {
		zone := zoneOf(t, c.zone)
		due := assert.Value(time.ParseInLocation(time.DateOnly, c.due, zone))(t)
		next := due.AddDate(0, 0, 1)
		assert.MustEqual(t, next.Sub(due), time.Duration(c.hours)*time.Hour, "%s in %s has", c.due, c.zone)
		l := apptest.NewRentalAt(t, due.Add(-time.Second), c.zone)
		id := l.Lease("start_date="+c.start, "frequency="+c.frequency)
		yesterday := due.AddDate(0, 0, -1).Format(time.DateOnly)
		expect := func(at time.Time, today string, charges, overdue, days int) {
			t.Helper()
			l.Clock.Set(at)
			a := l.Arrears()
			if got := l.Ledger(id).Charges; a.Today != today || len(a.Arrears) != overdue || len(got) != charges {
				t.Errorf("%s in %s: today is %s with %d charges, %d overdue; want %s with %d, %d", at.In(zone), c.zone, a.Today, len(got), len(a.Arrears), today, charges, overdue)
			}
			if n := len(a.Arrears); n > 0 && a.Arrears[n-1].DaysOverdue != int64(days) {
				t.Errorf("%s in %s: %d days overdue, want %d", at.In(zone), c.zone, a.Arrears[n-1].DaysOverdue, days)
			}
			var roll struct{ Month string }
			apptest.AnswerOf(l.Content("rent_roll", `{}`)).JSON(t, &roll)
			if roll.Month != today[:7] {
				t.Errorf("%s in %s: the rent roll is of %s", at.In(zone), c.zone, roll.Month)
			}
		}
		first := int(due.Sub(mustDay(t, c.start, zone)).Hours()+12) / 24
		expect(due.Add(-time.Second), yesterday, 1, 1, first-1)
		expect(due, c.due, 2, 1, first)
		expect(next.Add(-time.Second), c.due, 2, 1, first)
		// A payment without a date gets the shop's date.
		assert.Equal(t, *l.Pay(id, c.start, "").Charge.PaidDate, c.due, "in %s it was paid on", c.zone)
		expect(next, next.Format(time.DateOnly), 2, 1, 1)
		l.Sound()
	}
}

func mustDay(t testing.TB, s string, zone *time.Location) time.Time {
	t.Helper()
	d := assert.Value(time.ParseInLocation(time.DateOnly, s, zone))(t)
	return d
}

// TestALeaseBeginsAndEndsInTheShopsZone: the status of lease and unit and the lease of a ticket change at midnight
// there, on the first day and after the last.
func TestALeaseBeginsAndEndsInTheShopsZone(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Pacific/Kiritimati", "America/Los_Angeles"} {
		zone := zoneOf(t, name)
		starts, over := mustDay(t, "2026-10-31", zone), mustDay(t, "2026-11-02", zone) // the clocks change in between
		l := apptest.NewRentalAt(t, starts.Add(-time.Second), name)
		l.Lease("start_date=2026-10-31", "end_date=2026-11-01")
		tickets := 0
		expect := func(at time.Time, lease, unit, ticket string) {
			t.Helper()
			l.Clock.Set(at)
			var leases struct{ Leases []struct{ Status string } }
			l.Get("rental", "/api/leases?status="+lease).JSON(t, &leases)
			var units struct{ Units []struct{ Status string } }
			l.Get("rental", "/api/units?status="+unit).JSON(t, &units)
			if len(leases.Leases) != 1 || leases.Leases[0].Status != lease || len(units.Units) != 1 || units.Units[0].Status != unit {
				t.Errorf("%s: %+v %+v, want %s and %s", at.In(zone), leases, units, lease, unit)
			}
			l.Post("rental", "/api/maintenance", `{"unit_id":1,"title":"Tap"}`)
			tickets++
			if k := l.Ticket(tickets); !strings.Contains(k, `"lease_id":`+ticket+",") {
				t.Errorf("%s: the ticket %s, want the lease %s", at.In(zone), k, ticket)
			}
			properties := l.Content("list_properties", `{}`)
			if want := map[string]string{"occupied": `"occupied_count":1,"vacant_count":0,"occupancy":1,"late_fee":null}`, "vacant": `"occupied_count":0,"vacant_count":1,"occupancy":0,"late_fee":null}`}[unit]; !strings.Contains(properties, want) {
				t.Errorf("%s: %s, want %s", at.In(zone), properties, want)
			}
		}
		expect(starts.Add(-time.Second), "upcoming", "vacant", "null")
		expect(starts, "active", "occupied", "1")
		expect(over.Add(-time.Second), "active", "occupied", "1")
		expect(over, "ended", "vacant", "null")
		l.Owes(1, "2026-10-31 6667 31 October-1 November 2026, 2 of 30 days")
		l.Sound()
	}
}

// TestDayAfterDay moves the clock over a new year, a leap day and a clock change and reads the arrears in the first
// minute of each day. There are as many charges as periods begun.
func TestDayAfterDay(t *testing.T) {
	t.Parallel()
	zone := zoneOf(t, "America/Los_Angeles")
	l := apptest.NewRentalAt(t, time.Date(2027, 12, 30, 12, 0, 0, 0, zone), "America/Los_Angeles")
	monthly, weekly := l.Lease("start_date=2027-12-31"), l.Lease("start_date=2027-12-31", "frequency=weekly")
	for d := time.Date(2027, 12, 31, 0, 0, 0, 0, zone); d.Before(time.Date(2028, 4, 2, 0, 0, 0, 0, zone)); d = d.AddDate(0, 0, 1) {
		l.Clock.Set(d.Add(time.Minute))
		months := (d.Year()-2027)*12 + int(d.Month()) - 11 // since December 2027, inclusive
		if last := d.AddDate(0, 0, 1).Day() == 1; !last {
			months-- // this month's comes on its last day
		}
		weeks := int(d.Add(2*time.Hour).Sub(time.Date(2027, 12, 31, 0, 0, 0, 0, zone)).Hours())/(24*7) + 1
		l.Arrears()
		if got, want := len(l.Ledger(monthly).Charges), months; got != want {
			t.Fatalf("on %s %d monthly charges, want %d", d.Format(time.DateOnly), got, want)
		}
		if got, want := len(l.Ledger(weekly).Charges), weeks; got != want {
			t.Fatalf("on %s %d weekly charges, want %d", d.Format(time.DateOnly), got, want)
		}
	}
	l.Sound()
}

// TestAWrongClockPostsNoRent: while the clock cannot be right, operations that depend on the date are refused and write
// nothing. Stored data is still shown.
func TestAWrongClockPostsNoRent(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	l.Lease("start_date=2026-09-01")
	l.Lease("start_date=2024-09-01", "frequency=yearly")
	l.Ledger(2)
	before := apptest.SnapshotOf(t, l.Fixture)
	for _, day := range []string{"2024-10-01", "2026-11-19", "2028-12-01"} {
		l.On(day)
		if day != "2024-10-01" {
			for _, path := range []string{"/api/leases/1/ledger", "/api/arrears", "/api/leases"} {
				l.Refused(l.Get("rental", path), 503, "clock")
			}
		}
		l.Refused(l.Post("rental", "/api/leases/2/payments", `{"charge_id":1}`), 503, "clock")
	}
	l.On("2026-11-19")
	if a := l.Get("rental", "/api/leases/2/ledger"); a.Status != 200 || strings.Count(a.Body, `"type":"rent"`) != 3 {
		t.Errorf("what is posted: %d %s", a.Status, a.Body)
	}
	before.Check("a wrong clock")
	l.On("2026-11-20")
	l.Owes(1, "2026-09-01 100000 1-30 September 2026", "2026-10-01 100000 1-31 October 2026", "2026-11-01 100000 1-30 November 2026")
	a := l.Post("rental", "/api/leases/2/payments", fmt.Sprintf(`{"charge_id":%d}`, l.Ledger(2).Charges[0].ID))
	assert.That(t, a.Status == 201, "when it is right again: %d %s", a.Status, a.Body)
	l.Sound()
}
