// #nosec G115 -- month numbers of the years that are taken lie far within int32, and a digit within a byte

package exact

import (
	"errors"
	"time"
)

// Month is a calendar month, counted as year*12 + month-1 with month 1..12. The
// difference of two Months is a number of months.
type Month int32

// MinMonth and MaxMonth are the ends of the months with a text form: ParseMonth returns nothing outside them.
const (
	MinMonth Month = 1 * 12       // 0001-01
	MaxMonth Month = 9999*12 + 11 // 9999-12
)

// ErrNotMonth is the error of parsing an invalid month, and of writing a Month outside MinMonth..MaxMonth as
// text.
var ErrNotMonth = errors.New("not a calendar month YYYY-MM")

// ParseMonth parses exactly YYYY-MM, year 0001 to 9999.
func ParseMonth(s string) (Month, bool) { return parseMonth(s) }

// ParseMonthBytes is ParseMonth of the text in b.
func ParseMonthBytes(b []byte) (Month, bool) { return parseMonth(b) }

const monthLayout = "2006-01"

func parseMonth[T string | []byte](s T) (Month, bool) {
	t, err := time.Parse(monthLayout, string(s))
	if err != nil || t.Year() == 0 {
		return 0, false
	}
	return DayOf(t).Month(), true
}

// Date returns the year and the month of the year.
func (m Month) Date() (year int, month time.Month) {
	year = floorDiv(int(m), 12)
	return year, time.Month(int(m) - year*12 + 1)
}

// Days returns the number of days in the month, 28 to 31.
func (m Month) Days() int {
	y, mo := m.Date()
	_, _, last := DateOf(y, mo+1, 0).Date()
	return last
}

// Day returns day n of the month, with n clipped to 1..Days(): day 31 of
// February is its last day.
func (m Month) Day(n int) Day {
	y, mo := m.Date()
	return DateOf(y, mo, min(max(n, 1), m.Days()))
}

// First returns the first day of the month.
func (m Month) First() Day { return m.Day(1) }

// Last returns the last day of the month.
func (m Month) Last() Day { return m.Day(31) }

// String returns YYYY-MM. A year beyond 9999 has as many digits as it needs, one before 0 a minus sign; neither can be
// parsed.
func (m Month) String() string { return string(m.Append(make([]byte, 0, 16))) }

// Append appends the text of String to b.
func (m Month) Append(b []byte) []byte { return m.First().utc().AppendFormat(b, monthLayout) }

func (m Month) valid() bool { return m >= MinMonth && m <= MaxMonth }

// MarshalText returns YYYY-MM, or ErrNotMonth outside MinMonth..MaxMonth.
func (m Month) MarshalText() ([]byte, error) {
	if !m.valid() {
		return nil, ErrNotMonth
	}
	return m.Append(make([]byte, 0, 7)), nil
}

// UnmarshalText parses what ParseMonthBytes accepts; otherwise ErrNotMonth.
func (m *Month) UnmarshalText(b []byte) error {
	v, ok := ParseMonthBytes(b)
	if !ok {
		return ErrNotMonth
	}
	*m = v
	return nil
}

// MarshalJSON returns the quoted month, also one outside MinMonth..MaxMonth.
func (m Month) MarshalJSON() ([]byte, error) {
	return append(m.Append(append(make([]byte, 0, 9), '"')), '"'), nil
}

// UnmarshalJSON parses a quoted YYYY-MM without escapes. Everything else, including null, is ErrNotMonth.
func (m *Month) UnmarshalJSON(b []byte) error {
	if len(b) != 9 || b[0] != '"' || b[8] != '"' {
		return ErrNotMonth
	}
	return m.UnmarshalText(b[1:8])
}
