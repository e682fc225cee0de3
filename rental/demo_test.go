package rental

import (
	"maps"
	"slices"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/exact"
)

// TestDemo fills a file on dates that are awkward for months and checks what a visitor should see.
func TestDemo(t *testing.T) {
	for _, on := range []string{"2026-11-20", "2027-01-31", "2028-02-29", "2026-03-01"} {
		h := open(t, on)
		h.Must(h.Declare().Demo(ctx, day(t, on)))
		h.sound()
		leases := assert.Value(h.Leases(ctx, viewer, LeaseFilter{}))(h.T)
		status, frequency := map[string]int{}, map[string]int{}
		for _, l := range leases.Leases {
			status[l.Status]++
			frequency[l.Frequency]++
		}
		assert.That(t, status[active] == 10 && status[ended] == 5 && status[upcoming] == 1 && len(frequency) == 3,
			"on %s: %v, %v", on, status, frequency)
		p := assert.Value(h.Properties(ctx, PropertyFilter{}))(h.T)
		assert.That(t, len(p.Properties) == 2 && p.Properties[0].UnitCount+p.Properties[1].UnitCount == 12,
			"on %s: %s", on, asJSON(t, p))
		a := h.arrears()
		behind := map[string]bool{}
		for _, r := range a.Arrears {
			behind[r.Tenant] = true
		}
		got := slices.Sorted(maps.Keys(behind))
		assert.That(t, slices.Equal(got, []string{"Ben Okafor", "Chloe Martin"}), "on %s: %q are behind", on, got)
		states := h.Texts("SELECT DISTINCT status FROM tickets ORDER BY 1")
		assert.That(t, len(states) == 3, "on %s: tickets are %q", on, states)
		e := h.events()
		assert.That(t, len(e) <= 5, "on %s: a storm of %d events", on, len(e))
	}
}

// TestDemoIsOneTransaction: a failed one leaves nothing.
func TestDemoIsOneTransaction(t *testing.T) {
	h := open(t, "2026-11-20")
	h.Must(h.row("properties", "name=4 Mill Lane"))
	h.Must(h.row("units", "property=4 Mill Lane", "name=Garage"))
	h.Must(h.row("tenants", "name=X"))
	h.Must(h.row("leases", "property=4 Mill Lane", "unit=Garage", "start_date=2000-01-01", "tenant=X", "rent_cents=1"))
	before := h.written()
	err := h.Declare().Demo(ctx, exact.DayOf(h.Now()))
	assert.Must(t, err != nil, "a demo over a let garage was accepted")
	assert.That(t, h.written() == before && h.Number("SELECT count(*) FROM units") == 1, "half a demo was left")
}
