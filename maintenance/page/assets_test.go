package page

import (
	"context"
	"testing"
	"time"

	"quartermaster/maintenance"
	"quartermaster/schema/assert"
	"quartermaster/schema/exact"
	"quartermaster/schema/page"
)

// TestRepairsStandOnTheFirstLine: an asset's repairs and since when it is down stand on the first meter that has a line,
// which need not be its first meter, and on no other.
func TestRepairsStandOnTheFirstLine(t *testing.T) {
	today := exact.DayOf(time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC))
	at := exact.Instant(time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC).Unix())
	line := []maintenance.MeterReading{{Day: today - 30, Value: 1000}, {Day: today, Value: 2000}}
	ctx := page.With(context.Background(), &page.Frame{Zone: time.UTC, Today: today})
	meters := []maintenance.Meter{{ID: 1, Name: "cooler"}, {ID: 2, Name: "odometer"}}
	for _, c := range []struct {
		name     string
		readings map[int64][]maintenance.MeterReading
		want     map[int64]int // events of each meter that has a line
	}{
		{"both have lines", map[int64][]maintenance.MeterReading{1: line, 2: line}, map[int64]int{1: 2, 2: 0}},
		{"the first was read once", map[int64][]maintenance.MeterReading{1: line[:1], 2: line}, map[int64]int{2: 2}},
	} {
		var v assetView
		v.Meters, v.Readings, v.Down = meters, c.readings, &at
		v.Done = []maintenance.WorkOrder{{Type: "corrective", Description: "Door seal", CompletedAt: &at}}
		for _, m := range meters {
			if want, ok := c.want[m.ID]; ok {
				got := len(v.readingsChart(ctx, m).Events)
				assert.That(t, got == want, "%s: %s has %d events, want %d", c.name, m.Name, got, want)
			}
		}
	}
}
