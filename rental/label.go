package rental

import (
	"strconv"

	"quartermaster/schema/exact"
)

// label names the period for people: "1-31 March 2026", "15 March-14 April 2026",
// and for one cut short "1-14 March 2026, 14 of 31 days", with ", charged in full"
// where the days do not count.
func (t *terms) label(p period) string {
	var b [80]byte
	return string(t.appendLabel(b[:0], p))
}

func (t *terms) appendLabel(b []byte, p period) []byte {
	b = appendSpan(b, p.First, p.Last)
	if !p.cut() {
		return b
	}
	b = append(b, ", "...)
	b = strconv.AppendInt(b, p.days(), 10)
	b = append(b, " of "...)
	b = strconv.AppendInt(b, p.fullDays(), 10)
	b = append(b, " days"...)
	if !t.prorates(p) {
		b = append(b, ", charged in full"...)
	}
	return b
}

// appendSpan writes two days, naming the month and the year of the first only where
// they differ from the last's.
func appendSpan(b []byte, first, last exact.Day) []byte {
	y1, m1, d1 := first.Date()
	y2, m2, d2 := last.Date()
	if first != last {
		b = strconv.AppendInt(b, int64(d1), 10)
		if m1 != m2 || y1 != y2 {
			b = append(b, ' ')
			b = append(b, m1.String()...)
		}
		if y1 != y2 {
			b = append(b, ' ')
			b = strconv.AppendInt(b, int64(y1), 10)
		}
		b = append(b, '-')
	}
	b = strconv.AppendInt(b, int64(d2), 10)
	b = append(b, ' ')
	b = append(b, m2.String()...)
	b = append(b, ' ')
	return strconv.AppendInt(b, int64(y2), 10)
}
