package maintenance

import (
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/exact"
)

// day parses a date that the test knows to be valid.
func day(t testing.TB, s string) exact.Day {
	t.Helper()
	d, ok := exact.ParseDay(s)
	assert.Must(t, ok, "%q is no day", s)
	return d
}

// dayPtr is day, and nil for "".
func dayPtr(t testing.TB, s string) *exact.Day {
	t.Helper()
	if s == "" {
		return nil
	}
	d := day(t, s)
	return &d
}

func milli(t testing.TB, s string) exact.Milli {
	t.Helper()
	m, err := exact.ParseMilli(s)
	assert.OK(t, err, "%q", s)
	return m
}

func between(t testing.TB, firstDay, first, lastDay, last string) use {
	t.Helper()
	return use{Any: true,
		First: point{Day: day(t, firstDay), Value: milli(t, first)},
		Last:  point{Day: day(t, lastDay), Value: milli(t, last)}}
}

func TestWindowStart(t *testing.T) {
	for _, c := range []struct{ today, want string }{
		{"2026-03-31", "2026-01-01"}, // 31 + 28 + 31 days, both ends included
		{"2024-03-30", "2024-01-01"}, // 31 + 29 + 30
		{"2026-11-20", "2026-08-23"},
	} {
		got := windowStart(day(t, c.today))
		assert.That(t, got == day(t, c.want), "today %s: the window begins %v, want %s", c.today, got, c.want)
	}
}

func TestPerDay(t *testing.T) {
	for _, c := range []struct {
		name string
		use  use
		want string // "" is unknown
	}{
		{"no readings", use{}, ""},
		{"one day", between(t, "2026-11-01", "5", "2026-11-01", "9"), ""},
		{"ten a day", between(t, "2026-11-01", "100", "2026-11-11", "200"), "10"},
		{"stood still", between(t, "2026-11-01", "100", "2026-11-11", "100"), "0"},
		{"a third", between(t, "2026-11-01", "0", "2026-11-04", "1"), "0.3333"},
		{"two thirds", between(t, "2026-11-01", "0", "2026-11-04", "2"), "0.6667"},
		{"half a ten-thousandth rounds up", between(t, "2026-11-01", "0", "2026-11-21", "0.001"), "0.0001"},
		{"less rounds down", between(t, "2026-11-01", "0", "2026-11-22", "0.001"), "0"},
		{"over a leap day", between(t, "2024-02-28", "0", "2024-03-01", "3"), "1.5"},
		{"over no leap day", between(t, "2025-02-28", "0", "2025-03-01", "3"), "3"},
		{"a late reading stands higher", between(t, "2026-11-01", "120", "2026-11-11", "100"), ""},
	} {
		got := c.use.PerDay()
		switch {
		case got == nil && c.want != "":
			t.Errorf("%s: unknown, want %s", c.name, c.want)
		case got != nil && got.String() != c.want:
			t.Errorf("%s: %v, want %q", c.name, got, c.want)
		}
	}
}

func TestProject(t *testing.T) {
	tenADay := between(t, "2026-11-01", "100", "2026-11-11", "200")
	for _, c := range []struct {
		name      string
		use       use
		remaining string
		today     string
		want      string // "" is no date
	}{
		{"five days ahead", tenADay, "50", "2026-11-11", "2026-11-16"},
		{"the day is rounded down", tenADay, "59.999", "2026-11-11", "2026-11-16"},
		{"exactly six", tenADay, "60", "2026-11-11", "2026-11-17"},
		{"less than a day", tenADay, "0.001", "2026-11-11", "2026-11-11"},
		{"counted from the last reading", tenADay, "50", "2026-11-14", "2026-11-16"},
		{"a stale reading: not before today while use remains", tenADay, "50", "2026-11-20", "2026-11-20"},
		{"nothing remains: the day of the last reading", tenADay, "0", "2026-11-20", "2026-11-11"},
		{"past: when it was reached", tenADay, "-30", "2026-11-20", "2026-11-08"},
		{"past by less than a day", tenADay, "-0.001", "2026-11-20", "2026-11-10"},
		{"over a leap day", between(t, "2024-02-20", "0", "2024-02-27", "7"), "3", "2024-02-27", "2024-03-01"},
		{"over the same days without one", between(t, "2025-02-20", "0", "2025-02-27", "7"), "3", "2025-02-27", "2025-03-02"},
		{"stood still", between(t, "2026-11-01", "100", "2026-11-11", "100"), "50", "2026-11-11", ""},
		{"no readings", use{}, "50", "2026-11-11", ""},
		{"one reading", between(t, "2026-11-11", "5", "2026-11-11", "5"), "50", "2026-11-11", ""},
		{"the last day of the calendar", between(t, "2026-11-10", "0", "2026-11-11", "1"), "2912128", "2026-11-11", "9999-12-31"},
		{"past the calendar", between(t, "2026-11-10", "0", "2026-11-11", "1"), "2912129", "2026-11-11", ""},
		{"far past the calendar", between(t, "2026-08-23", "0", "2026-11-11", "0.001"), "1000000000000", "2026-11-11", ""},
		{"long before the calendar", between(t, "2026-08-23", "0", "2026-11-11", "0.001"), "-1000000000000", "2026-11-11", ""},
	} {
		got, ok := c.use.project(milli(t, c.remaining), day(t, c.today))
		assert.That(t, ok == (c.want != "") && (!ok || got.String() == c.want), "%s: %v, %v, want %q", c.name, got, ok,
			c.want)
	}
}

func TestJumped(t *testing.T) {
	tenADay := between(t, "2026-11-01", "100", "2026-11-11", "200")
	for _, c := range []struct {
		name          string
		use           use
		before, after string
		days          int64
		want          bool
	}{
		{"ten times in a day is no jump", tenADay, "200", "300", 1, false},
		{"a thousandth more is one", tenADay, "200", "300.001", 1, true},
		{"over three days", tenADay, "200", "500", 3, false},
		{"more over three days", tenADay, "200", "500.001", 3, true},
		{"the same day counts as one", tenADay, "200", "300", 0, false},
		{"the same day, more", tenADay, "200", "300.001", 0, true},
		{"an older date counts as one day", tenADay, "200", "300.001", -5, true},
		{"a meter that stood still", between(t, "2026-11-01", "7", "2026-11-11", "7"), "7", "7.001", 9, true},
		{"use unknown", use{}, "0", "99999", 1, false},
	} {
		assert.Equal(t, c.use.jumped(milli(t, c.before), milli(t, c.after), c.days), c.want, "%s", c.name)
	}
}

func TestUseWith(t *testing.T) {
	window := day(t, "2026-08-23")
	p := func(d, v string) point { return point{Day: day(t, d), Value: milli(t, v)} }
	u := use{}
	for _, step := range []struct {
		add  point
		want use
	}{
		{p("2026-08-22", "1"), use{}}, // a day before the window
		{p("2026-09-01", "10"), between(t, "2026-09-01", "10", "2026-09-01", "10")},
		{p("2026-09-01", "12"), between(t, "2026-09-01", "10", "2026-09-01", "12")}, // a second one on that day
		{p("2026-09-05", "20"), between(t, "2026-09-01", "10", "2026-09-05", "20")},
		{p("2026-09-03", "20"), between(t, "2026-09-01", "10", "2026-09-05", "20")}, // late, between
		{p("2026-08-23", "20"), between(t, "2026-08-23", "20", "2026-09-05", "20")}, // late, the window's first day
	} {
		u = u.with(step.add, window)
		assert.MustEqual(t, u, step.want, "after %v", step.add)
	}
}
