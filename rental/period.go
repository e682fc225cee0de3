package rental

import (
	"fmt"

	"quartermaster/schema/exact"
)

// The billing frequencies. Weekly and fortnightly periods count days from the lease's
// first day; the others count months from the month of that day.
const (
	weekly      = "weekly"
	fortnightly = "fortnightly"
	monthly     = "monthly"
	quarterly   = "quarterly"
	yearly      = "yearly"
)

var frequencies = []string{weekly, fortnightly, monthly, quarterly, yearly}

// How a period shortened by the lease's start or end is charged: prorated, or in full.
const (
	byDays = "actual"
	inFull = "none"
)

var prorations = []string{byDays, inFull}

// terms determine a lease's billing periods. Rent is in cents for a whole period; End is the last day, nil for an
// open-ended lease; DueDay applies to frequencies of months only.
type terms struct {
	Start     exact.Day
	End       *exact.Day
	Frequency string
	DueDay    int64
	Rent      int64
	Steps     []RentStep
	Proration string
}

// period is one billing period: First to Last are its days, and FullFirst to FullLast the whole calendar period around
// them. It is due on First.
type period struct {
	First, Last         exact.Day
	FullFirst, FullLast exact.Day
}

func (p period) days() int64     { return int64(p.Last-p.First) + 1 }
func (p period) fullDays() int64 { return int64(p.FullLast-p.FullFirst) + 1 }
func (p period) cut() bool       { return p.First > p.FullFirst || p.Last < p.FullLast }

// months is the length of a period that counts months, 0 of one that counts days.
func (t *terms) months() int {
	switch t.Frequency {
	case monthly:
		return 1
	case quarterly:
		return 3
	case yearly:
		return 12
	}
	return 0
}

// around returns the whole period of the lease's calendar around day. Every day is computed from the anchor, so that a
// due day that a short month moved returns in the next long one. day is not before the lease's start.
func (t *terms) around(day exact.Day) (first, last exact.Day) {
	months := t.months()
	if months == 0 {
		length := exact.Day(7)
		if t.Frequency == fortnightly {
			length = 14
		}
		first = day - (day-t.Start)%length
		return first, first + length - 1
	}
	anchor := t.Start.Month()
	steps := int(day.Month()-anchor) / months
	// #nosec G115 -- the calendar has 120,000 months
	due := func(step int) exact.Day { return (anchor + exact.Month(step*months)).Day(int(t.DueDay)) }
	if first = due(steps); first > day {
		return due(steps - 1), first - 1
	}
	return first, due(steps+1) - 1
}

// covers reports whether the lease runs on day.
func (t *terms) covers(day exact.Day) bool {
	return day >= t.Start && (t.End == nil || day <= *t.End)
}

// from returns the billing period that begins on first, a day of the lease: the rest of the whole period around it,
// until the lease's end.
func (t *terms) from(first exact.Day) period {
	p := period{First: first}
	p.FullFirst, p.FullLast = t.around(first)
	p.Last = p.FullLast
	if t.End != nil && *t.End < p.Last {
		p.Last = *t.End
	}
	return p
}

// prorates reports whether the period is prorated. Without proration a period shortened by the lease's start or end is
// charged in full; the rest of a prorated period is prorated as well.
func (t *terms) prorates(p period) bool {
	rest := p.First > p.FullFirst && p.First != t.Start
	return p.cut() && (t.Proration != inFull || rest)
}

// charge is the price of the period: rent x days / days of the whole period, rounded half up, if it is prorated.
func (t *terms) charge(p period) int64 {
	if !t.prorates(p) {
		return t.Rent
	}
	return byTheDay(t.Rent, p)
}

func byTheDay(rent int64, p period) int64 {
	return exact.RoundHalfUp(rent*p.days(), p.fullDays())
}

// resume is the first day to charge after a posted period, when the lease continues. If the posted part already cost
// the whole rent, nothing is left of that period.
func resume(p period, charged, rent int64) exact.Day {
	if charged > 0 && charged == rent {
		return p.FullLast + 1
	}
	return p.Last + 1
}

// label names the period for people: "1-31 March 2026", "15 March-14 April 2026",
// and for one cut short "1-14 March 2026, 14 of 31 days", with ", charged in full"
// where the days do not count.
func (t *terms) label(p period) string {
	text := spanText(p.First, p.Last)
	if p.cut() {
		text += fmt.Sprintf(", %d of %d days", p.days(), p.fullDays())
		if !t.prorates(p) {
			text += ", charged in full"
		}
	}
	return text
}

// spanText is two days, with the month and the year of the first only where they differ from the last's.
func spanText(first, last exact.Day) string {
	y1, m1, d1 := first.Date()
	y2, m2, d2 := last.Date()
	end := fmt.Sprintf("%d %s %d", d2, m2, y2)
	switch {
	case first == last:
		return end
	case y1 != y2:
		return fmt.Sprintf("%d %s %d-%s", d1, m1, y1, end)
	case m1 != m2:
		return fmt.Sprintf("%d %s-%s", d1, m1, end)
	}
	return fmt.Sprintf("%d-%s", d1, end)
}
