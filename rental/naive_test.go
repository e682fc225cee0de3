package rental

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"quartermaster/schema/exact"
)

// naive computes a lease's charges without the program's arithmetic. It walks the calendar of package time day by day,
// decides for each day whether rent is due, and counts days one by one.
type naive struct {
	start, end time.Time // a zero end is open
	frequency  string
	dueDay     int
	rent       int64
	full       bool
}

func (n naive) due(d time.Time) bool {
	switch n.frequency {
	case "weekly", "fortnightly":
		every := map[string]int{"weekly": 7, "fortnightly": 14}[n.frequency]
		return n.daysBetween(n.start, d)%every == 0
	}
	last := time.Date(d.Year(), d.Month()+1, 0, 0, 0, 0, 0, time.UTC).Day()
	if d.Day() != min(n.dueDay, last) {
		return false
	}
	apart := d.Year()*12 + int(d.Month()) - n.start.Year()*12 - int(n.start.Month())
	every := map[string]int{"monthly": 1, "quarterly": 3, "yearly": 12}[n.frequency]
	return apart%every == 0
}

func (naive) daysBetween(a, b time.Time) int {
	return int(b.Sub(a) / (24 * time.Hour))
}

func tomorrow(d time.Time) time.Time  { return d.AddDate(0, 0, 1) }
func yesterday(d time.Time) time.Time { return d.AddDate(0, 0, -1) }

// charges lists the charges due by today, as terms.schedule does without the label.
func (n naive) charges(today time.Time) []string {
	var all []string
	for d := n.start; !d.After(today) && (n.end.IsZero() || !d.After(n.end)); d = tomorrow(d) {
		if !d.Equal(n.start) && !n.due(d) {
			continue
		}
		before, after, days := 0, 1, 1
		for x := d; !n.due(x); x = yesterday(x) {
			before++
		}
		last := d
		for x := tomorrow(d); !n.due(x); x = tomorrow(x) {
			after++
			if n.end.IsZero() || !x.After(n.end) {
				days++
				last = x
			}
		}
		amount := n.rent
		if full := before + after; days != full && !n.full {
			amount = halfUp(big.NewRat(n.rent*int64(days), int64(full)))
		}
		all = append(all, fmt.Sprintf("%s %s %d", d.Format(time.DateOnly), last.Format(time.DateOnly), amount))
	}
	return all
}

// halfUp rounds through the decimal text of r + 1/2, cut at the point.
func halfUp(r *big.Rat) int64 {
	whole, _, _ := strings.Cut(new(big.Rat).Add(r, big.NewRat(1, 2)).FloatString(9), ".")
	var n int64
	_, _ = fmt.Sscan(whole, &n)
	return n
}

func TestScheduleAgainstNaive(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2026))
	epoch := time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	cases, charges := 0, 0
	for range 66 { // times 5 frequencies and 31 due days
		for _, frequency := range frequencies {
			for dueDay := range 31 {
				start := time.Date(1895+r.IntN(220), time.Month(1+r.IntN(12)), 1+r.IntN(31), 0, 0, 0, 0, time.UTC)
				if r.IntN(4) == 0 { // near the end of a February
					start = time.Date(1999+r.IntN(10), 2, 24+r.IntN(8), 0, 0, 0, 0, time.UTC)
				}
				n := naive{start: start, frequency: frequency, dueDay: dueDay + 1, rent: r.Int64N(300_000), full: r.IntN(4) == 0}
				x := terms{Frequency: frequency, DueDay: int64(dueDay + 1), Rent: n.rent, Proration: byDays}
				x.Start = exact.Day(n.daysBetween(epoch, start))
				if n.full {
					x.Proration = inFull
				}
				length := 60 + months12(frequency)
				if r.IntN(2) == 0 {
					end := x.Start + exact.Day(r.IntN(length))
					x.End = &end
					n.end = epoch.AddDate(0, 0, int(end))
				}
				today := x.Start + exact.Day(r.IntN(length)-1)
				want := n.charges(epoch.AddDate(0, 0, int(today)))
				got := x.schedule(today)
				for i, c := range got {
					got[i] = strings.Join(strings.Fields(c)[:3], " ")
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%+v by %v:\n%s\nnaive:\n%s", n, today, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				cases++
				charges += len(want)
			}
		}
	}
	if cases < 10_000 || charges < cases {
		t.Fatalf("%d leases with %d charges are too few to tell", cases, charges)
	}
	t.Logf("%d leases, %d charges", cases, charges)
}

// months12 is the approximate number of days in which a lease has several periods.
func months12(frequency string) int {
	switch frequency {
	case yearly:
		return 1500
	case quarterly:
		return 600
	}
	return 200
}
