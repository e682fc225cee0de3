package maintenance

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/exact"
)

// dueCase is a plan as a person would write it; "" is unset.
type dueCase struct {
	name                string
	today               string
	everyDays, everyUse string
	start, lastDone     string
	baseline, reading   string
	soonDays, soonUse   string
	use                 use
	next, status        string
	until               int64
	remaining, source   string
}

func (c dueCase) schedule(t *testing.T) schedule {
	t.Helper()
	num := func(s string) *int64 {
		if s == "" {
			return nil
		}
		n := assert.Value(strconv.ParseInt(s, 10, 64))(t)
		return &n
	}
	amount := func(s string) *exact.Milli {
		if s == "" {
			return nil
		}
		m := milli(t, s)
		return &m
	}
	s := schedule{IntervalDays: num(c.everyDays), IntervalUsage: amount(c.everyUse),
		LastDone: dayPtr(t, c.lastDone), DueSoonDays: num(c.soonDays), DueSoonUsage: amount(c.soonUse)}
	if c.start != "" {
		s.Start = day(t, c.start)
	}
	if c.baseline != "" {
		baseline := milli(t, c.baseline)
		s.Baseline = &baseline
	}
	return s
}

func TestDueByDays(t *testing.T) {
	for _, c := range []dueCase{
		{name: "never done, starts today", today: "2026-11-20", everyDays: "30", start: "2026-11-20", next: "2026-11-20", until: 0, status: "due-soon"},
		{name: "never done, started yesterday", today: "2026-11-20", everyDays: "30", start: "2026-11-19", next: "2026-11-19", until: -1, status: "overdue"},
		{name: "never done, starts in 7 days, soon is 6", today: "2026-11-20", everyDays: "30", start: "2026-11-27", next: "2026-11-27", until: 7, status: "ok"},
		{name: "due today", today: "2026-11-20", everyDays: "30", lastDone: "2026-10-21", next: "2026-11-20", until: 0, status: "due-soon"},
		{name: "a day late", today: "2026-11-21", everyDays: "30", lastDone: "2026-10-21", next: "2026-11-20", until: -1, status: "overdue"},
		{name: "a fifth of 30 days", today: "2026-11-14", everyDays: "30", lastDone: "2026-10-21", next: "2026-11-20", until: 6, status: "due-soon"},
		{name: "one day more than a fifth", today: "2026-11-13", everyDays: "30", lastDone: "2026-10-21", next: "2026-11-20", until: 7, status: "ok"},
		{name: "a fifth of 31 days rounds up to 7", today: "2026-11-14", everyDays: "31", lastDone: "2026-10-21", next: "2026-11-21", until: 7, status: "due-soon"},
		{name: "a fifth of 1 day rounds up to 1", today: "2026-11-20", everyDays: "1", lastDone: "2026-11-20", next: "2026-11-21", until: 1, status: "due-soon"},
		{name: "a fifth of 365 is more than 14", today: "2026-11-20", everyDays: "365", lastDone: "2025-12-04", next: "2026-12-04", until: 14, status: "due-soon"},
		{name: "15 days before, every 365", today: "2026-11-19", everyDays: "365", lastDone: "2025-12-04", next: "2026-12-04", until: 15, status: "ok"},
		{name: "its own 30 days", today: "2026-11-04", everyDays: "365", lastDone: "2025-12-04", soonDays: "30", next: "2026-12-04", until: 30, status: "due-soon"},
		{name: "its own 0 days", today: "2026-12-03", everyDays: "365", lastDone: "2025-12-04", soonDays: "0", next: "2026-12-04", until: 1, status: "ok"},
		{name: "its own 0 days, today", today: "2026-12-04", everyDays: "365", lastDone: "2025-12-04", soonDays: "0", next: "2026-12-04", until: 0, status: "due-soon"},
		{name: "365 days from a leap day", today: "2024-03-01", everyDays: "365", lastDone: "2024-02-29", next: "2025-02-28", until: 364, status: "ok"},
		{name: "366 days over a leap day", today: "2023-03-01", everyDays: "366", lastDone: "2023-03-01", next: "2024-03-01", until: 366, status: "ok"},
		{name: "30 days over a month's end", today: "2026-01-31", everyDays: "30", lastDone: "2026-01-31", next: "2026-03-02", until: 30, status: "ok"},
		{name: "done early: counted from the day it was done", today: "2026-11-10", everyDays: "30", start: "2026-01-01", lastDone: "2026-11-05", next: "2026-12-05", until: 25, status: "ok"},
	} {
		c.check(t)
	}
}

func (c dueCase) check(t *testing.T) {
	t.Helper()
	reading := exact.Milli(0)
	if c.reading != "" {
		reading = milli(t, c.reading)
	}
	d := c.schedule(t).dueOn(day(t, c.today), reading, c.use)
	got := fmt.Sprintf("%s %s", d.Status, d.Source)
	want := fmt.Sprintf("%s %s", c.status, c.source)
	if d.Remaining != nil {
		got += " remaining " + d.Remaining.String()
	}
	if c.remaining != "" {
		want += " remaining " + c.remaining
	}
	if d.Next != nil {
		got += fmt.Sprintf(" next %v in %d", d.Next, *d.DaysUntil)
	} else if d.DaysUntil != nil {
		t.Errorf("%s: days until without a date", c.name)
	}
	if c.next != "" {
		want += fmt.Sprintf(" next %s in %d", c.next, c.until)
	}
	assert.That(t, got == want, "%s:\n got %s\nwant %s", c.name, got, want)
}

func TestDueByUse(t *testing.T) {
	tenADay := between(t, "2026-11-01", "100", "2026-11-11", "200")
	for _, c := range []dueCase{
		{name: "at birth", today: "2026-11-20", everyUse: "250", baseline: "5000", reading: "5000", remaining: "250", status: "ok", source: "usage"},
		{name: "projected", today: "2026-11-11", everyUse: "250", baseline: "0", reading: "200", use: tenADay, remaining: "50", next: "2026-11-16", until: 5, status: "ok", source: "usage"},
		{name: "more than a tenth remains", today: "2026-11-11", everyUse: "250", baseline: "0", reading: "224.999", remaining: "25.001", status: "ok", source: "usage"},
		{name: "a tenth remains", today: "2026-11-11", everyUse: "250", baseline: "0", reading: "225", remaining: "25", status: "due-soon", source: "usage"},
		{name: "a tenth that is no whole thousandth", today: "2026-11-11", everyUse: "0.005", baseline: "0", reading: "0.004", remaining: "0.001", status: "ok", source: "usage"},
		{name: "its own amount", today: "2026-11-11", everyUse: "250", baseline: "0", reading: "200", soonUse: "50", remaining: "50", status: "due-soon", source: "usage"},
		{name: "a thousandth above its own amount", today: "2026-11-11", everyUse: "250", baseline: "0", reading: "199.999", soonUse: "50", remaining: "50.001", status: "ok", source: "usage"},
		{name: "nothing remains", today: "2026-11-11", everyUse: "250", baseline: "0", reading: "250", remaining: "0", status: "overdue", source: "usage"},
		{name: "a thousandth remains", today: "2026-11-11", everyUse: "250", baseline: "0", reading: "249.999", remaining: "0.001", status: "due-soon", source: "usage"},
		{name: "past, and when", today: "2026-11-20", everyUse: "150", baseline: "20", reading: "200", use: tenADay, remaining: "-30", next: "2026-11-08", until: -12, status: "overdue", source: "usage"},
		{name: "past, and not known when", today: "2026-11-20", everyUse: "150", baseline: "20", reading: "200", remaining: "-30", status: "overdue", source: "usage"},
		{name: "stale readings are not overdue while use remains", today: "2026-11-30", everyUse: "250", baseline: "0", reading: "200", use: tenADay, remaining: "50", next: "2026-11-30", until: 0, status: "ok", source: "usage"},
		{name: "a baseline below nothing, after a replaced meter", today: "2026-11-20", everyUse: "250", baseline: "-200", reading: "10", remaining: "40", status: "ok", source: "usage"},
	} {
		c.check(t)
	}
}

func TestDueByBoth(t *testing.T) {
	tenADay := between(t, "2026-11-01", "100", "2026-11-11", "200")
	for _, c := range []dueCase{
		{name: "days are worse", today: "2026-11-21", everyDays: "30", lastDone: "2026-10-21", everyUse: "250", baseline: "0", reading: "200",
			remaining: "50", next: "2026-11-20", until: -1, status: "overdue", source: "days"},
		{name: "use is worse, its date unknown", today: "2026-11-11", everyDays: "365", lastDone: "2026-11-01", everyUse: "250", baseline: "0", reading: "225",
			remaining: "25", next: "2027-11-01", until: 355, status: "due-soon", source: "usage"},
		{name: "use is worse and earlier", today: "2026-11-11", everyDays: "365", lastDone: "2026-11-01", everyUse: "220", baseline: "0", reading: "200", use: tenADay,
			remaining: "20", next: "2026-11-13", until: 2, status: "due-soon", source: "usage"},
		{name: "both fine", today: "2026-11-11", everyDays: "30", lastDone: "2026-11-10", everyUse: "1000", baseline: "0", reading: "200", use: tenADay,
			remaining: "800", next: "2026-12-10", until: 29, status: "ok", source: "both"},
		{name: "both soon", today: "2026-11-11", everyDays: "30", lastDone: "2026-10-15", everyUse: "210", baseline: "0", reading: "200", use: tenADay,
			remaining: "10", next: "2026-11-12", until: 1, status: "due-soon", source: "both"},
		{name: "both overdue, the earlier date", today: "2026-11-20", everyDays: "30", lastDone: "2026-10-11", everyUse: "150", baseline: "0", reading: "200", use: tenADay,
			remaining: "-50", next: "2026-11-06", until: -14, status: "overdue", source: "both"},
		{name: "a projection before the days' date does not make it soon", today: "2026-11-11", everyDays: "365", lastDone: "2026-11-01", everyUse: "250", baseline: "0", reading: "200", use: tenADay,
			remaining: "50", next: "2026-11-16", until: 5, status: "ok", source: "both"},
	} {
		c.check(t)
	}
}

func TestRebased(t *testing.T) {
	for _, c := range []struct {
		name                     string
		baseline, old, now, want string
	}{
		{"a typing error put right: 99999 was 9999", "9500", "99999", "9999", "9500"},
		{"the baseline equal to the new value", "9999", "99999", "9999", "9999"},
		{"a thousandth above it", "9999.001", "99999", "9999", "-80000.999"},
		{"a meter replaced: 200 used since the last service", "4800", "5000", "0", "-200"},
		{"a service done on a typing error", "99999", "99999", "9999", "9999"},
		{"replaced twice", "-200", "50", "0", "-200"},
		{"corrected upwards", "4800", "5000", "5100", "4800"},
	} {
		got := rebased(milli(t, c.baseline), milli(t, c.old), milli(t, c.now))
		assert.That(t, got == milli(t, c.want), "%s: %v, want %s", c.name, got, c.want)
	}
}

func TestDueOrder(t *testing.T) {
	row := func(id int64, status, next string) PMDueRow {
		return PMDueRow{PMID: id, DueStatus: status, NextDue: dayPtr(t, next)}
	}
	want := []PMDueRow{
		row(9, dueOverdue, "2026-01-01"), row(2, dueOverdue, "2026-01-02"), row(3, dueOverdue, "2026-01-02"), row(1, dueOverdue, ""),
		row(8, dueSoon, "2025-01-01"), row(7, dueSoon, "9999-12-31"), row(4, dueSoon, ""), row(5, dueSoon, ""),
		row(6, dueOK, "2026-01-01"),
	}
	got := slices.Clone(want)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
	slices.SortFunc(got, func(a, b PMDueRow) int { return compareDue(&a, &b) })
	for i := range want {
		assert.That(t, got[i].PMID == want[i].PMID, "place %d: plan %d, want %d", i, got[i].PMID, want[i].PMID)
	}
}
