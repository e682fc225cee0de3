// #nosec G115 -- day numbers of the years that are taken lie far within int32, and a digit within a byte

package exact

import (
	"errors"
	"time"
)

// Day is a day of the proleptic Gregorian calendar, counted from 1970-01-01 (0). The difference of two Days is a number
// of days.
type Day int32

// MinDay and MaxDay are the ends of the days with a text form: ParseDay returns nothing outside them.
const (
	MinDay Day = -719162 // 0001-01-01
	MaxDay Day = 2932896 // 9999-12-31
)

// ErrNotDay is the error of parsing an invalid day, and of writing a Day outside MinDay..MaxDay as text.
var ErrNotDay = errors.New("not a calendar day YYYY-MM-DD")

const secondsPerDay = 24 * 60 * 60

// ParseDay parses exactly YYYY-MM-DD, an existing day, year 0001 to 9999.
func ParseDay(s string) (Day, bool) { return parseDay(s) }

// ParseDayBytes is ParseDay of the text in b.
func ParseDayBytes(b []byte) (Day, bool) { return parseDay(b) }

func parseDay[T string | []byte](s T) (Day, bool) {
	t, err := time.Parse(time.DateOnly, string(s))
	if err != nil || t.Year() == 0 {
		return 0, false
	}
	return DayOf(t), true
}

func floorDiv[T int | int64](a, b T) T {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// DayOf returns the calendar day that a clock in t's location shows at t.
func DayOf(t time.Time) Day {
	_, offset := t.Zone()
	return Day(floorDiv(t.Unix()+int64(offset), secondsPerDay))
}

// DateOf returns the day of a date. A month outside 1..12 or a day outside its month is carried over as time.Date does:
// 31 June is 1 July, day 0 the last day of the month before. The result is undefined beyond Day's range (some five
// million years either way).
func DateOf(year int, month time.Month, day int) Day {
	return DayOf(time.Date(year, month, day, 0, 0, 0, 0, time.UTC))
}

// Date returns the parts of the day. Any Day has them.
func (d Day) Date() (year int, month time.Month, day int) { return d.utc().Date() }

// utc is the day's midnight in UTC.
func (d Day) utc() time.Time { return time.Unix(int64(d)*secondsPerDay, 0).UTC() }

// Month returns the calendar month of the day.
func (d Day) Month() Month {
	y, m, _ := d.Date()
	return Month(y*12 + int(m) - 1)
}

// Time returns the first instant of the day in loc: the earliest at which the calendar there shows d or a later day.
// That is midnight; the earlier one if clocks are put back over it; the first moment after a gap; or the start of the
// next existing day. It panics if loc is nil.
func (d Day) Time(loc *time.Location) time.Time {
	if loc == nil {
		panic("exact: Day.Time with a nil location")
	}
	midnight := int64(d) * secondsPerDay
	// Two days before midnight UTC no zone shows d yet; walk the zone's offsets from there.
	at := midnight - 2*secondsPerDay
	for {
		t := time.Unix(at, 0).In(loc)
		_, offset := t.Zone()
		at = max(at, midnight-int64(offset))
		_, end := t.ZoneBounds()
		if end.IsZero() || at < end.Unix() {
			return time.Unix(at, 0).In(loc)
		}
		at = end.Unix()
	}
}

// String returns YYYY-MM-DD. A year beyond 9999 has as many digits as it needs, one before 0 a minus sign; neither can
// be parsed.
func (d Day) String() string { return string(d.Append(make([]byte, 0, 16))) }

// Append appends the text of String to b.
func (d Day) Append(b []byte) []byte { return d.utc().AppendFormat(b, time.DateOnly) }

// Words is the day as people read it: 31 Dec 2026.
func (d Day) Words() string { return d.utc().Format("2 Jan 2006") }

func (d Day) valid() bool { return d >= MinDay && d <= MaxDay }

// MarshalText returns YYYY-MM-DD, or ErrNotDay outside MinDay..MaxDay.
func (d Day) MarshalText() ([]byte, error) {
	if !d.valid() {
		return nil, ErrNotDay
	}
	return d.Append(make([]byte, 0, 10)), nil
}

// UnmarshalText parses what ParseDayBytes accepts; otherwise ErrNotDay.
func (d *Day) UnmarshalText(b []byte) error {
	v, ok := ParseDayBytes(b)
	if !ok {
		return ErrNotDay
	}
	*d = v
	return nil
}

// MarshalJSON returns the quoted day, also one outside MinDay..MaxDay: an answer is not lost for it.
func (d Day) MarshalJSON() ([]byte, error) {
	return append(d.Append(append(make([]byte, 0, 12), '"')), '"'), nil
}

// UnmarshalJSON parses a quoted YYYY-MM-DD without escapes. Everything else, including null, is ErrNotDay: a missing
// day must not become 1970-01-01.
func (d *Day) UnmarshalJSON(b []byte) error {
	if len(b) != 12 || b[0] != '"' || b[11] != '"' {
		return ErrNotDay
	}
	return d.UnmarshalText(b[1:11])
}
