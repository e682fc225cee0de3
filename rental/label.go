package rental

import (
	"fmt"

	"quartermaster/schema/exact"
)

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
