package store

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"quartermaster/schema/exact"
)

// TestExpiredAtTheEdgesOfSpans: licenses that end at the edges of the cached spans are counted like one by one, at each
// edge and a second to either side.
func TestExpiredAtTheEdgesOfSpans(t *testing.T) {
	s := newFixture(t)
	const year = 365 * 86400
	edge := s.now() + year
	edge += spanLong - edge%spanLong // where spans of all three lengths begin
	var sold, ends, looks []exact.Instant
	for _, after := range []exact.Instant{0, spanShort, 63 * spanShort, spanMiddle, spanMiddle + spanShort, 63 * spanMiddle, spanLong} {
		for _, second := range []exact.Instant{-1, 0, 1, 1800} {
			sold = append(sold, edge-year+after+second)
		}
	}
	slices.Sort(sold)
	for i, at := range sold {
		s.At(time.Unix(int64(at), 0).UTC())
		order := s.sell("YEAR", fmt.Sprintf("%d@b.c", i), 1)
		ends = append(ends, *order.Licenses[0].ExpiresAt)
	}
	for _, end := range ends {
		looks = append(looks, end-1, end, end+1)
	}
	for _, at := range looks {
		var want int64
		for _, end := range ends {
			if end <= at {
				want++
			}
		}
		s.At(time.Unix(int64(at), 0).UTC())
		got := val(s.Stats(background))
		if got.Licenses.Expired != want || got.Licenses.Active != int64(len(ends))-want {
			t.Errorf("at %s: %+v, want %d expired of %d", at, got.Licenses, want, len(ends))
		}
	}
	s.holdsTogether()
}
