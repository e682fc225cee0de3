package schema

import (
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/exact"
)

func TestUnbounded(t *testing.T) {
	type line struct{ N int }
	type record struct {
		ID   int64
		Name *string
		Day  exact.Day
		Line line
	}
	type page struct {
		Record record
		Lines  []line
	}
	for _, c := range []struct {
		v    any
		want bool
	}{
		{record{}, false}, {&record{}, false}, {page{}, true}, {struct{ Page page }{}, true}, {[]record{}, true},
		{map[string]int{}, true}, {nil, true}, {struct{ V any }{}, true},
	} {
		assert.Equal(t, ShapeOf(c.v).Unbounded(), c.want, "%T", c.v)
	}
}
