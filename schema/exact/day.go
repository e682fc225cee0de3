// #nosec G115 -- day numbers of the years that are taken lie far within int32, and a digit within a byte

package exact

import (
	"errors"
	"strconv"
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

// ErrNotDay is the error of parsing an invalid day, and of writing a Day outside MinDay..MaxDay as JSON or text.
var ErrNotDay = errors.New("not a calendar day YYYY-MM-DD")

const secondsPerDay = 24 * 60 * 60

// ParseDay parses exactly YYYY-MM-DD, an existing day, year 0001 to 9999. It does not allocate.
func ParseDay(s string) (Day, bool) { return parseDay(s) }

// ParseDayBytes is ParseDay of the text in b.
func ParseDayBytes(b []byte) (Day, bool) { return parseDay(b) }

func parseDay[T string | []byte](s T) (Day, bool) {
	if len(s) != 10 || s[4] != '-' || s[7] != '-' {
		return 0, false
	}
	y, m, ok := yearMonth(s)
	d1, d2 := uint(s[8])-'0', uint(s[9])-'0'
	if !ok || d1 > 9 || d2 > 9 {
		return 0, false
	}
	d := d1*10 + d2
	if d == 0 || d > 28 && d > uint(monthDays(int(y), int(m))) {
		return 0, false
	}
	return dayOfCivil(int(y), int(m), int(d)), true
}

// yearMonth parses YYYY-MM at the start of s, which has at least seven bytes and a checked hyphen.
func yearMonth[T string | []byte](s T) (y, m uint, ok bool) {
	y1, y2, y3, y4 := uint(s[0])-'0', uint(s[1])-'0', uint(s[2])-'0', uint(s[3])-'0'
	m1, m2 := uint(s[5])-'0', uint(s[6])-'0'
	if y1 > 9 || y2 > 9 || y3 > 9 || y4 > 9 || m1 > 1 || m2 > 9 {
		return 0, 0, false
	}
	y = y1*1000 + y2*100 + y3*10 + y4
	m = m1*10 + m2
	return y, m, y != 0 && m-1 < 12
}

// marchDays is the number of days from 1 March to the first of a month, in a year that begins in March.
var marchDays = [13]uint16{0, 306, 337, 0, 31, 61, 92, 122, 153, 184, 214, 245, 275}

// dayOfCivil counts the days to day d (any number) of month m (1..12) of year y.
func dayOfCivil(y, m, d int) Day {
	if m <= 2 {
		y--
	}
	leaps := y/4 - y/100 + y/400
	if y < 0 {
		leaps = floorDiv(y, 4) - floorDiv(y, 100) + floorDiv(y, 400)
	}
	return Day(y*365 + leaps + int(marchDays[m]) + d - 719469)
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
	m := int(month) - 1
	carry := floorDiv(m, 12)
	return dayOfCivil(year+carry, m-12*carry+1, day)
}

// Date returns the parts of the day. Any Day has them.
func (d Day) Date() (year int, month time.Month, day int) {
	const era = 146097 // days in 400 years
	z := int(d) + 719468
	e := floorDiv(z, era)
	doe := z - e*era
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day = doy - (153*mp+2)/5 + 1
	m := mp + 3
	year = yoe + e*400
	if m > 12 {
		m -= 12
		year++
	}
	return year, time.Month(m), day
}

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
func (d Day) Append(b []byte) []byte {
	y, m, day := d.Date()
	b = appendYearMonth(b, y, int(m))
	return append(b, '-', byte('0'+day/10), byte('0'+day%10))
}

// Words is the day as people read it: 31 Dec 2026.
func (d Day) Words() string {
	y, m, n := d.Date()
	return strconv.Itoa(n) + " " + m.String()[:3] + " " + strconv.Itoa(y)
}

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
