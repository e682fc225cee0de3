package page_test

import (
	"context"
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
