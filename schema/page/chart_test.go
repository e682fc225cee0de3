package page_test

import (
	"context"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"quartermaster/schema/assert"
	"quartermaster/schema/exact"
	"quartermaster/schema/page"
)

// drawn is the markup of a chart of bars on these days of 2026.
func drawn(t *testing.T, days ...exact.Day) string {
	t.Helper()
	c := page.Chart{Title: "Sold", Label: "Day", Names: [2]string{"Sold", ""}}
	for i, d := range days {
		c.Bars = append(c.Bars, page.Point{Day: d, Value: int64(137 * (i + 1))})
	}
	var b strings.Builder
	f := &page.Frame{Zone: time.UTC, Today: days[len(days)-1]}
	assert.OK(t, page.ChartOf(c).Render(page.With(context.Background(), f), &b))
	return b.String()
}

// TestChartPositionsBarsByDay has three sales within ten days. Each bar is at its day, days between are a gap, the
// lines have round numbers, and each bar has its text.
func TestChartPositionsBarsByDay(t *testing.T) {
	first := exact.DayOf(time.Date(2025, 12, 27, 0, 0, 0, 0, time.UTC))
	got := drawn(t, first, first+1, first+9)
	for _, want := range []string{
		`x="15.0"`, `x="115.0"`, `x="915.0"`, // tenths of the plot
		`>0</text>`, `>200</text>`, `>400</text>`, `>500</text>`,
		`>27 Dec 2025</text>`, `2026</text>`,
		`<title>28`, `: 274</title>`,
	} {
		assert.Contains(t, got, want, "the chart lacks")
	}
	n := strings.Count(got, `class="bar"`)
	assert.That(t, n == 3, "the chart has %d bars for 3 days with sales", n)
}

// TestChartComparesManyDaysInTwoStrips has 30 days and the 30 before, with a loss: each strip has its bars, none
// reaches into the other's, and equal values are equally high in both.
func TestChartComparesManyDaysInTwoStrips(t *testing.T) {
	first := exact.DayOf(time.Date(2026, 10, 30, 0, 0, 0, 0, time.UTC))
	c := page.Chart{Title: "Net", Label: "Day", Past: true, Whole: true, Until: first + 29,
		Names: [2]string{"Net", "The 30 days before"}}
	for i := range exact.Day(30) {
		c.Bars = append(c.Bars, page.Point{Day: first + i, Value: 100})
		c.Line = append(c.Line, page.Point{Day: first + i, Value: 100})
	}
	c.Bars[3].Value, c.Line[4].Value, c.Line[5].Value = 300, -50, 0
	var b strings.Builder
	f := &page.Frame{Zone: time.UTC, Today: first + 29}
	assert.OK(t, page.ChartOf(c).Render(page.With(context.Background(), f), &b))
	tops, heights := map[string][]float64{}, map[string][]float64{}
	for _, m := range regexp.MustCompile(`<rect class="([^"]+)" x="[^"]+" y="([^"]+)" width="[^"]+" height="([^"]+)"`).
		FindAllStringSubmatch(b.String(), -1) {
		top, err := strconv.ParseFloat(m[2], 64)
		assert.OK(t, err)
		height, err := strconv.ParseFloat(m[3], 64)
		assert.OK(t, err)
		tops[m[1]], heights[m[1]] = append(tops[m[1]], top), append(heights[m[1]], height)
	}
	now, past := heights["bar"], heights["bar past"]
	assert.That(t, len(now) == 29 && len(heights["bar going"]) == 1 && len(past) == 30,
		"%d days, %d of today and %d before are drawn", len(now), len(heights["bar going"]), len(past))
	assert.That(t, math.Abs(now[0]-past[0]) <= .1, "100 is %v high and was %v", now[0], past[0])
	assert.That(t, math.Abs(now[3]-3*now[0]) <= .3, "300 is %v high, 100 is %v", now[3], now[0])
	assert.That(t, math.Abs(past[4]-past[0]/2) <= .1 && past[5] == 0, "-50 was %v high, 0 was %v", past[4], past[5])
	lowest, highest := 0.0, math.Inf(1)
	for i, top := range tops["bar"] {
		lowest = max(lowest, top+now[i])
	}
	for _, top := range tops["bar past"] {
		highest = min(highest, top)
	}
	assert.That(t, lowest < highest, "a bar ends at %v, one of the days before begins at %v", lowest, highest)
	for _, want := range []string{`>The 30 days before</text>`, `>today</text>`} {
		assert.Contains(t, b.String(), want, "the chart lacks")
	}
}
