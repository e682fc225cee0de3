package rental

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/exact"
)

func day(t testing.TB, s string) exact.Day {
	t.Helper()
	d, ok := exact.ParseDay(s)
	assert.Must(t, ok, "%q is not a day", s)
	return d
}

// termsOf reads "monthly 31 from 2026-01-31 to 2026-06-30 rent 100000 actual"; "to -"
// is open-ended.
func termsOf(t testing.TB, s string) terms {
	t.Helper()
	var from, to string
	var x terms
	_, err := fmt.Sscanf(s, "%s %d from %s to %s rent %d %s", &x.Frequency, &x.DueDay, &from, &to, &x.Rent, &x.Proration)
	assert.OK(t, err, "%q", s)
	x.Start = day(t, from)
	if to != "-" {
		end := day(t, to)
		x.End = &end
	}
	return x
}

// schedule lists the periods due by today one by one, as posting does.
func (t *terms) schedule(today exact.Day) []string {
	var all []string
	for next := t.Start; next <= today && t.covers(next); {
		p := t.from(next)
		all = append(all, fmt.Sprintf("%v %v %d %s", p.First, p.Last, t.charge(p), t.label(p)))
		next = resume(p, t.charge(p), t.Rent)
	}
	return all
}

func TestSchedule(t *testing.T) {
	for _, c := range []struct {
		about, terms, today string
		want                []string
	}{
		{"due on the 31st comes back after every short month", "monthly 31 from 2026-01-31 to - rent 100000 actual", "2026-05-31", []string{
			"2026-01-31 2026-02-27 100000 31 January-27 February 2026",
			"2026-02-28 2026-03-30 100000 28 February-30 March 2026",
			"2026-03-31 2026-04-29 100000 31 March-29 April 2026",
			"2026-04-30 2026-05-30 100000 30 April-30 May 2026",
			"2026-05-31 2026-06-29 100000 31 May-29 June 2026",
		}},
		{"a leap year's February has a 29th, and the 31st is clipped to it", "monthly 31 from 2024-01-31 to - rent 100000 actual", "2024-03-30", []string{
			"2024-01-31 2024-02-28 100000 31 January-28 February 2024",
			"2024-02-29 2024-03-30 100000 29 February-30 March 2024",
		}},
		{"a day before the due day there is one period less", "monthly 31 from 2024-01-31 to - rent 100000 actual", "2024-02-28", []string{
			"2024-01-31 2024-02-28 100000 31 January-28 February 2024",
		}},
		{"the first, short month: 17 of March's 31 days", "monthly 1 from 2026-03-15 to - rent 100000 actual", "2026-04-01", []string{
			"2026-03-15 2026-03-31 54839 15-31 March 2026, 17 of 31 days", // 54838.7
			"2026-04-01 2026-04-30 100000 1-30 April 2026",
		}},
		{"the same in full, and said so", "monthly 1 from 2026-03-15 to - rent 100000 none", "2026-04-01", []string{
			"2026-03-15 2026-03-31 100000 15-31 March 2026, 17 of 31 days, charged in full",
			"2026-04-01 2026-04-30 100000 1-30 April 2026",
		}},
		{"due day after the start: the whole period began a month before", "monthly 20 from 2026-03-15 to - rent 28000 actual", "2026-03-20", []string{
			"2026-03-15 2026-03-19 5000 15-19 March 2026, 5 of 28 days", // 20 February to 19 March
			"2026-03-20 2026-04-19 28000 20 March-19 April 2026",
		}},
		{"cut by the end: 14 of 31 days", "monthly 1 from 2026-02-01 to 2026-03-14 rent 310000 actual", "2026-12-31", []string{
			"2026-02-01 2026-02-28 310000 1-28 February 2026",
			"2026-03-01 2026-03-14 140000 1-14 March 2026, 14 of 31 days",
		}},
		{"exactly a half cent is rounded up", "monthly 1 from 2026-04-16 to - rent 1 actual", "2026-04-16", []string{
			"2026-04-16 2026-04-30 1 16-30 April 2026, 15 of 30 days", // 0.5
		}},
		{"less than a half cent is rounded down", "monthly 1 from 2026-04-17 to - rent 1 actual", "2026-04-17", []string{
			"2026-04-17 2026-04-30 0 17-30 April 2026, 14 of 30 days", // 0.467
		}},
		{"a rent of nothing is still posted", "monthly 1 from 2026-04-01 to - rent 0 actual", "2026-04-01", []string{
			"2026-04-01 2026-04-30 0 1-30 April 2026",
		}},
		{"the largest rent there is", "yearly 1 from 2024-01-02 to - rent 1000000000000 actual", "2024-01-02", []string{
			"2024-01-02 2024-12-31 997267759563 2 January-31 December 2024, 365 of 366 days", // ...562.84
		}},
		{"cut by both, within one period", "monthly 1 from 2026-03-10 to 2026-03-12 rent 31000 actual", "2026-03-12", []string{
			"2026-03-10 2026-03-12 3000 10-12 March 2026, 3 of 31 days",
		}},
		{"a lease of a single day", "monthly 1 from 2026-03-10 to 2026-03-10 rent 31000 actual", "2026-03-12", []string{
			"2026-03-10 2026-03-10 1000 10 March 2026, 1 of 31 days",
		}},
		{"it ends the day before the due day: nothing more", "monthly 10 from 2026-03-10 to 2026-04-09 rent 31000 actual", "2026-12-31", []string{
			"2026-03-10 2026-04-09 31000 10 March-9 April 2026",
		}},
		{"it ends on the due day: one more day", "monthly 10 from 2026-03-10 to 2026-04-10 rent 30000 actual", "2026-12-31", []string{
			"2026-03-10 2026-04-09 30000 10 March-9 April 2026",
			"2026-04-10 2026-04-10 1000 10 April 2026, 1 of 30 days",
		}},
		{"weekly: five in a month of five Mondays", "weekly 1 from 2026-03-02 to - rent 20000 actual", "2026-03-31", []string{
			"2026-03-02 2026-03-08 20000 2-8 March 2026", "2026-03-09 2026-03-15 20000 9-15 March 2026",
			"2026-03-16 2026-03-22 20000 16-22 March 2026", "2026-03-23 2026-03-29 20000 23-29 March 2026",
			"2026-03-30 2026-04-05 20000 30 March-5 April 2026",
		}},
		{"weekly over the year's end, cut by the end", "weekly 1 from 2025-12-29 to 2026-01-07 rent 700 actual", "2026-02-01", []string{
			"2025-12-29 2026-01-04 700 29 December 2025-4 January 2026",
			"2026-01-05 2026-01-07 300 5-7 January 2026, 3 of 7 days",
		}},
		{"fortnightly over a leap day", "fortnightly 9 from 2024-02-20 to - rent 1400 none", "2024-03-05", []string{
			"2024-02-20 2024-03-04 1400 20 February-4 March 2024", "2024-03-05 2024-03-18 1400 5-18 March 2024",
		}},
		{"quarterly counts from the start's month, also when the due day lies before it", "quarterly 1 from 2026-02-10 to - rent 89000 actual", "2026-08-01", []string{
			"2026-02-10 2026-04-30 80000 10 February-30 April 2026, 80 of 89 days",
			"2026-05-01 2026-07-31 89000 1 May-31 July 2026", "2026-08-01 2026-10-31 89000 1 August-31 October 2026",
		}},
		{"quarterly on the 31st", "quarterly 31 from 2025-11-30 to - rent 90000 actual", "2026-08-31", []string{
			"2025-11-30 2026-02-27 90000 30 November 2025-27 February 2026", "2026-02-28 2026-05-30 90000 28 February-30 May 2026",
			"2026-05-31 2026-08-30 90000 31 May-30 August 2026", "2026-08-31 2026-11-29 90000 31 August-29 November 2026",
		}},
		{"yearly from a leap day", "yearly 29 from 2024-02-29 to - rent 365000 actual", "2028-02-29", []string{
			"2024-02-29 2025-02-27 365000 29 February 2024-27 February 2025", "2025-02-28 2026-02-27 365000 28 February 2025-27 February 2026",
			"2026-02-28 2027-02-27 365000 28 February 2026-27 February 2027", "2027-02-28 2028-02-28 365000 28 February 2027-28 February 2028",
			"2028-02-29 2029-02-27 365000 29 February 2028-27 February 2029",
		}},
		{"yearly with the due day after the start", "yearly 20 from 2026-03-15 to - rent 365000 actual", "2026-03-19", []string{
			"2026-03-15 2026-03-19 5000 15-19 March 2026, 5 of 365 days",
		}},
		{"before it starts there is nothing", "monthly 1 from 2026-03-01 to - rent 5 actual", "2026-02-28", nil},
	} {
		x := termsOf(t, c.terms)
		if got := x.schedule(day(t, c.today)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %s, by %s:\n%s\nwant\n%s", c.about, c.terms, c.today, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

func TestResume(t *testing.T) {
	for _, c := range []struct {
		about, terms, first string // the terms under which the period that begins on first was posted
		next, longer        string // where the lease continues, and its terms then
		want                string // the next period
	}{
		{"the rest of a prorated month", "monthly 1 from 2026-01-01 to 2026-03-14 rent 310000 actual", "2026-03-01",
			"2026-03-15", "monthly 1 from 2026-01-01 to - rent 310000 actual", "15-31 March 2026, 17 of 31 days 170000"},
		{"the rest at the rent of then", "monthly 1 from 2026-01-01 to 2026-03-14 rent 310000 actual", "2026-03-01",
			"2026-03-15", "monthly 1 from 2026-01-01 to - rent 620000 actual", "15-31 March 2026, 17 of 31 days 340000"},
		{"the rest is prorated also where cut periods are charged in full", "monthly 1 from 2026-01-01 to 2026-03-14 rent 310000 actual", "2026-03-01",
			"2026-03-15", "monthly 1 from 2026-01-01 to 2026-03-20 rent 310000 none", "15-20 March 2026, 6 of 31 days 60000"},
		{"a month charged in full leaves no rest", "monthly 1 from 2026-01-01 to 2026-03-14 rent 310000 none", "2026-03-01",
			"2026-04-01", "monthly 1 from 2026-01-01 to - rent 310000 none", "1-30 April 2026 310000"},
		{"a month that cost nothing leaves its rest", "monthly 1 from 2026-01-01 to 2026-03-14 rent 0 none", "2026-03-01",
			"2026-03-15", "monthly 1 from 2026-01-01 to - rent 310000 actual", "15-31 March 2026, 17 of 31 days 170000"},
		{"an uncut period", "weekly 1 from 2026-01-01 to - rent 700 actual", "2026-01-08",
			"2026-01-15", "weekly 1 from 2026-01-01 to - rent 700 actual", "15-21 January 2026 700"},
	} {
		x, longer := termsOf(t, c.terms), termsOf(t, c.longer)
		p := x.from(day(t, c.first))
		next := resume(p, x.charge(p), x.Rent)
		if next != day(t, c.next) {
			t.Errorf("%s: goes on at %v, want %s", c.about, next, c.next)
			continue
		}
		q := longer.from(next)
		assert.Equal(t, fmt.Sprintf("%s %d", longer.label(q), longer.charge(q)), c.want, "%s", c.about)
	}
}
