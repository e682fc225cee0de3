package schema

import (
	"context"
	"strings"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/strict"
)

// TestCentsHaveNoPoint: 950.00 in a field of cents is an amount in another unit and is never read as 950 cents.
func TestCentsHaveNoPoint(t *testing.T) {
	var rent, days int64
	ask := func(f *Form) Put {
		rent, days = -1, -1
		f.Int(&rent, "rent_cents", "the rent", Range(0, 1000))
		f.Int(&days, "days", "how many")
		return func(*db.Tx) (Outcome, error) { return Outcome{}, nil }
	}
	table := Table{Row: ask}
	op := Op{Bind: func(f *Form) Handler {
		ask(f)
		return func(context.Context, db.Caller) (any, error) { return nil, nil }
	}}
	for _, c := range []struct {
		cents string
		want  int64 // -1: refused
	}{
		{"950", 950}, {"0", 0}, {"1000", 1000}, {"-0", 0},
		{"950.00", -1}, {"950.0", -1}, {"0.0", -1}, {"9.5", -1}, {"1e2", -1}, {"1E2", -1}, {"1001", -1}, {"-1", -1},
	} {
		_, cell := table.Decode(map[string]string{"rent_cents": c.cents, "days": "7.0"}, LoadOptions{})
		if inCell := rent; (cell == nil) != (c.want >= 0) || cell == nil && (inCell != c.want || days != 7) {
			t.Errorf("the cell %s: %d, %v", c.cents, inCell, cell)
		}
		body, err := strict.Parse([]byte(`{"rent_cents":`+c.cents+`,"days":1e1}`), strict.MaxDepth)
		assert.OK(t, err)
		_, err = op.Decode(Input{Body: body, HasBody: true})
		assert.That(t, (err == nil) == (c.want >= 0) && (err != nil || rent == c.want && days == 10), "in JSON %s: %d, %v",
			c.cents, rent, err)
		assert.That(t, !strings.ContainsAny(c.cents, ".eE") || strings.Contains(err.Error(), "rent_cents") &&
			strings.Contains(err.Error(), "without a decimal point"), "%s: %v", c.cents, err)
	}
}
