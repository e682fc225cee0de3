package page

import (
	"strings"
	"testing"

	"quartermaster/rental"
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
	if err := yearUnits(v.short().Properties[1]).Render(t.Context(), &drawn); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(drawn.String(), "data-id="); n != 50 || v.short().hidden != 100 {
		t.Errorf("%d rows of the second house, %d left out", n, v.short().hidden)
	}
	if n := len(v.Rows()); n < 300 {
		t.Errorf("the file has %d rows", n)
	}
}
