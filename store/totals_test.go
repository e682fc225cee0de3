package store

import (
	"fmt"
	"testing"
	"time"

	"quartermaster/schema/exact"
)

// Licenses that end at the edges of hours and days are counted as one would count them
// one by one, at each of those instants and a second to either side.
func TestExpiredAtTheEdgesOfHoursAndDays(t *testing.T) {
	s := newShop(t)
	midnight := s.now() - s.now()%86400 + 86400
	var sold, ends, looks []exact.Instant
	for _, hour := range []exact.Instant{0, 1, 23, 24, 25} {
		for _, second := range []exact.Instant{-1, 0, 1, 1800} {
			sold = append(sold, midnight+hour*3600+second)
		}
	}
	for i, at := range sold {
		s.At(time.Unix(int64(at), 0).UTC())
		year := s.sell("YEAR", fmt.Sprintf("%d@b.c", i), 1)
		ends = append(ends, *year.Licenses[0].ExpiresAt)
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
		got, err := s.Stats(background)
		must(t, err)
		if got.Licenses.Expired != want || got.Licenses.Active != int64(len(ends))-want {
			t.Errorf("at %s: %+v, want %d expired of %d", at, got.Licenses, want, len(ends))
		}
	}
	s.holdsTogether()
}
