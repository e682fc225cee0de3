package maintenance

import "quartermaster/schema/exact"

// useWindow is the number of days for use per day, including today.
const useWindow = 90

// point is a meter's value on a day.
type point struct {
	Day   exact.Day
	Value exact.Milli
}

// use is a meter's use: from the first of its readings in the last 90 days to the last of them, by date, both since its
// last correction. The zero value is a meter without a reading there.
type use struct {
	Any         bool // there is a reading
	First, Last point
}

// windowStart is the first day whose readings count for use per day.
func windowStart(today exact.Day) exact.Day { return today - (useWindow - 1) }

// days is how many days lie between the two readings.
func (u use) days() int64 { return int64(u.Last.Day) - int64(u.First.Day) }

// moved is how far the meter went between the two readings.
func (u use) moved() int64 { return int64(u.Last.Value) - int64(u.First.Value) }

// known reports whether there is a use per day: readings on two different days, the later one not below the earlier. (A
// reading that was posted late may be above one with a later date; then the difference means nothing.)
func (u use) known() bool { return u.days() > 0 && u.moved() >= 0 }

// PerDay is the use per day, (last - first) / days, rounded half up to four decimals for display; nil if unknown.
func (u use) PerDay() *exact.Decimal {
	if !u.known() {
		return nil
	}
	return &exact.Decimal{Unscaled: exact.Mul(u.moved(), 10).DivRound(u.days()), Places: 4}
}

// project is the day on which remaining will be used up: the last reading's day + floor(remaining / use per day), not
// before today while something remains. Not ok if use per day is unknown or 0, and if the day is outside the calendar.
func (u use) project(remaining exact.Milli, today exact.Day) (day exact.Day, ok bool) {
	if !u.known() || u.moved() == 0 {
		return 0, false
	}
	ahead := exact.Mul(int64(remaining), u.days()).DivFloor(u.moved())
	if ahead > int64(exact.MaxDay-u.Last.Day) || ahead < int64(exact.MinDay-u.Last.Day) {
		return 0, false
	}
	day = u.Last.Day + exact.Day(ahead) // #nosec G115 -- it was compared with the ends of the calendar
	if remaining > 0 {
		day = max(day, today)
	}
	return day, true
}

// jumped reports whether a meter moved from before to after, days later, more than ten times as far as its use per day
// predicts. The days count as at least one. With an unknown use per day nothing is a jump.
func (u use) jumped(before, after exact.Milli, days int64) bool {
	if !u.known() {
		return false
	}
	expected := exact.Mul(u.moved(), 10*max(days, 1))
	return exact.Mul(int64(after-before), u.days()).Cmp(expected) > 0
}

// with is the use after one more reading, not a correction, of the day that window
// begins with or later.
func (u use) with(p point, window exact.Day) use {
	if p.Day < window {
		return u
	}
	if !u.Any {
		return use{Any: true, First: p, Last: p}
	}
	if p.Day < u.First.Day {
		u.First = p
	}
	if p.Day >= u.Last.Day {
		u.Last = p
	}
	return u
}
