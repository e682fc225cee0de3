package page

import (
	"strings"
	"testing"

	"quartermaster/rental"
	"quartermaster/schema/assert"
	"quartermaster/schema/page"
)

// TestYearShowsAPageOfUnits: the page of a year has 200 units of all houses, and says how many it leaves out; its file
// has all.
func TestYearShowsAPageOfUnits(t *testing.T) {
	t.Parallel()
	units := make([]rental.YearUnit, 150)
	for i := range units {
		units[i] = rental.YearUnit{Unit: page.Num(int64(i)), IncomeCents: 100, ResultCents: 100}
	}
	house := rental.PropertyYear{Units: units}
	v := yearView{YearReport: rental.YearReport{Year: 2026, Properties: []rental.PropertyYear{house, house}}}
	var drawn strings.Builder
	assert.OK(t, yearUnits(v.short().Properties[1]).Render(t.Context(), &drawn))
	n := strings.Count(drawn.String(), "data-id=")
	assert.That(t, n == 50 && v.short().hidden == 100, "%d rows of the second house, %d left out", n, v.short().hidden)
	n = len(v.Rows())
	assert.That(t, n >= 300, "the file has %d rows", n)
}

// TestAPageOfArrearsShowsWholeTenants: tenants are shown with all their charges, as many as 200 rows hold, at least one.
func TestAPageOfArrearsShowsWholeTenants(t *testing.T) {
	t.Parallel()
	people := func(charges ...int) (all []rental.TenantBehind) {
		for _, n := range charges {
			all = append(all, rental.TenantBehind{Charges: make([]rental.Arrear, n)})
		}
		return all
	}
	for _, c := range []struct {
		charges []int
		want    int
	}{{nil, 0}, {[]int{1, 2}, 2}, {[]int{99, 99}, 2}, {[]int{99, 99, 1}, 2}, {[]int{500, 1}, 1}, {[]int{1, 500}, 1}} {
		got := fit(people(c.charges...))
		assert.That(t, got == c.want, "%v: %d tenants on the page, want %d", c.charges, got, c.want)
	}
}
