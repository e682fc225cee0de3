package db

import (
	"context"

	"quartermaster/schema/exact"
)

// Dependencies are what an answer was worked out from: whether the database was read,
// what of the clock was looked at, and whether anything else took part. They tell how
// long the answer stays right.
type Dependencies struct {
	viewed, noCache bool
	now, today      bool
	day             exact.Day // of the view
}

type dependenciesKey struct{}

// Track returns a context under which View and Update note in the Dependencies what is
// asked of them. It serves one goroutine.
func Track(ctx context.Context) (context.Context, *Dependencies) {
	b := new(Dependencies)
	return context.WithValue(ctx, dependenciesKey{}, b), b
}

func dependenciesOf(ctx context.Context) *Dependencies {
	b, _ := ctx.Value(dependenciesKey{}).(*Dependencies)
	return b
}

// views notes a view of the database.
func (b *Dependencies) views(c *Conn) {
	if b == nil {
		return
	}
	if day := c.now.Day(c.loc); b.viewed && day != b.day {
		b.noCache = true // two days took part: it is right on neither
	} else {
		b.day = day
	}
	b.viewed = true
}

func (b *Dependencies) never() {
	if b != nil {
		b.noCache = true
	}
}

// include notes what a part of the answer depends on that was worked out before, and is right
// today.
func (b *Dependencies) include(today exact.Day, daily bool) {
	if b == nil {
		return
	}
	if b.viewed && today != b.day {
		b.noCache = true
	}
	b.viewed, b.day, b.today = true, today, b.today || daily
}

// NoCache notes that the answer that is worked out under ctx depends on what is in no
// database, such as times that are stored later: it must not be cached.
func NoCache(ctx context.Context) { dependenciesOf(ctx).never() }

// Cacheable reports whether the answer stays right until the next commit.
func (b *Dependencies) Cacheable() bool { return b.viewed && !b.noCache && !b.now }

// Day is the day to the end of which it stays right; ok is false when it depends on no day.
func (b *Dependencies) Day() (day exact.Day, ok bool) { return b.day, b.today }

// Today is the calendar day in the shop's time zone.
func (d *DB) Today() exact.Day { return exact.InstantOf(d.now()).Day(d.Zone()) }
