package maintenance

import (
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/exact"
)

func TestCostOf(t *testing.T) {
	for _, c := range []struct {
		name                       string
		minutes, rate, typed, used int64
		labor, total               int64
	}{
		{"nothing", 0, 0, 0, 0, 0, 0},
		{"no rate", 90, 0, 1250, 300, 0, 1550},
		{"an hour", 60, 4500, 0, 0, 4500, 4500},
		{"ninety minutes", 90, 4500, 1250, 300, 6750, 8300},
		{"one minute: 0.75 cents is 1", 1, 45, 0, 0, 1, 1},
		{"exactly half a cent is 1", 1, 30, 0, 0, 1, 1},
		{"just less than half is 0", 1, 29, 0, 0, 0, 0},
		{"not cut off to whole units: 7 minutes at 10.01 an hour", 7, 1001, 0, 0, 117, 117}, // 116.78
		{"the bounds", maxMinutes, maxRate, maxTyped * 100, maxUsedCents, 16_666_666_666_667, 16_666_666_666_667 + 10_000_000_000 + maxUsedCents},
	} {
		got := costOf(c.minutes, c.rate, c.typed, c.used)
		want := Cost{LaborCents: c.labor, PartsTypedCents: c.typed, PartsUsedCents: c.used, TotalCents: c.total}
		assert.That(t, got == want, "%s: %+v, want %+v", c.name, got, want)
	}
}

func TestCostOfParts(t *testing.T) {
	for _, c := range []struct {
		qty  string
		unit int64
		want int64
	}{
		{"0", 100, 0}, {"1", 199, 199}, {"2.5", 199, 498}, // 497.5
		{"0.001", 499, 0}, {"0.001", 500, 1}, {"0.333", 1000, 333},
		{"1000000000", maxUnitCost, 9_223_372_036_854_775_807}, // above 64 bits: the nearer end, refused where it is used
	} {
		m := assert.Value(exact.ParseMilli(c.qty))(t)
		assert.Equal(t, costOfParts(m, c.unit), c.want, "%s at %d", c.qty, c.unit)
	}
}
