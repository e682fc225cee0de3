package maintenance

import (
	"cmp"

	"quartermaster/schema"
	"quartermaster/schema/exact"
)

// The states of a plan, from the best to the worst.
const (
	dueOK      = "ok"
	dueSoon    = "due-soon"
	dueOverdue = "overdue"
)

// dueStatuses lists them in the order of the filter.
var dueStatuses = []string{dueOverdue, dueSoon, dueOK}

// dueRank orders them: the worst is 0.
func dueRank(status string) int {
	switch status {
	case dueOverdue:
		return 0
	case dueSoon:
		return 1
	}
	return 2
}

// schedule is the interval of a plan's service: by days, by use of a meter, or both. A nil trigger is unset.
type schedule struct {
	IntervalDays  *int64
	IntervalUsage *exact.Milli
	Start         exact.Day    // when the first service by days is due
	LastDone      *exact.Day   // nil: never done
	Baseline      *exact.Milli // the meter's reading at the last service; nil without a meter
	DueSoonDays   *int64       // nil: the default
	DueSoonUsage  *exact.Milli // nil: the default
}

// due is a schedule's result on a day.
type due struct {
	Next      *exact.Day // the earliest known date of both triggers
	DaysUntil *int64     // Next - today
	Status    string
	Remaining *exact.Milli // until the due reading; negative when past; nil without a usage trigger
	Source    string       // days, usage or both; "" without a usage trigger
}

// dueOn computes what is due on today. reading is the meter's present one and u its
// use; both are looked at with a usage trigger only.
//
//   - By days: last done + interval; never done: the start. Overdue from the day
//     after; due soon within the smaller of 14 days and a fifth of the interval,
//     rounded up, unless the plan says how many days.
//   - By use: due at baseline + interval. Overdue when nothing remains; due soon when
//     at most a tenth of the interval does, unless the plan says how much. The date
//     is a projection and decides nothing.
//
// The status is the worse of the two, the source the trigger that gives it.
func (s schedule) dueOn(today exact.Day, reading exact.Milli, u use) due {
	var d due
	days, usage := "", ""
	if s.IntervalDays != nil {
		day, status := s.byDays(today)
		days = status
		d.Next = &day
	}
	if s.IntervalUsage != nil {
		remaining, status := s.byUsage(reading)
		usage = status
		d.Remaining = &remaining
		if day, ok := u.project(remaining, today); ok && (d.Next == nil || day < *d.Next) {
			d.Next = &day
		}
	}
	d.Status, d.Source = worse(days, usage)
	if d.Next != nil {
		until := int64(*d.Next) - int64(today)
		d.DaysUntil = &until
	}
	return d
}

func (s schedule) byDays(today exact.Day) (day exact.Day, status string) {
	day = s.Start
	if s.LastDone != nil {
		day = *s.LastDone + exact.Day(*s.IntervalDays) // #nosec G115 -- an interval has at most maxDays
	}
	soon := schema.Or(s.DueSoonDays, min(14, (*s.IntervalDays+4)/5))
	switch until := int64(day) - int64(today); {
	case until < 0:
		return day, dueOverdue
	case until <= soon:
		return day, dueSoon
	}
	return day, dueOK
}

func (s schedule) byUsage(reading exact.Milli) (remaining exact.Milli, status string) {
	remaining = *s.Baseline + *s.IntervalUsage - reading
	soon := 10*remaining <= *s.IntervalUsage
	if s.DueSoonUsage != nil {
		soon = remaining <= *s.DueSoonUsage
	}
	switch {
	case remaining <= 0:
		return remaining, dueOverdue
	case soon:
		return remaining, dueSoon
	}
	return remaining, dueOK
}

// worse returns the worse of the triggers' statuses; "" is an unset trigger.
func worse(days, usage string) (status, source string) {
	switch {
	case usage == "":
		return days, ""
	case days == "" || dueRank(usage) < dueRank(days):
		return usage, "usage"
	case dueRank(days) < dueRank(usage):
		return days, "days"
	}
	return days, "both"
}

// compareDue orders rows of the due list: the worst status first, then by date with missing ones last, then by the
// plan's id.
func compareDue(a, b *PMDueRow) int {
	return cmp.Or(
		cmp.Compare(dueRank(a.DueStatus), dueRank(b.DueStatus)),
		cmp.Compare(dateOrLast(a.NextDue), dateOrLast(b.NextDue)),
		cmp.Compare(a.PMID, b.PMID),
	)
}

func dateOrLast(d *exact.Day) exact.Day {
	if d == nil {
		return exact.MaxDay + 1
	}
	return *d
}

// rebased is a plan's baseline after its meter was corrected from old to new. A baseline that the new value does not
// contradict stays: a typing error was corrected. A higher one moves with it, so that the use since the last service is
// kept: the meter was replaced.
func rebased(baseline, old, now exact.Milli) exact.Milli {
	if baseline <= now {
		return baseline
	}
	return now - (old - baseline)
}
