package db

import (
	"context"

	"quartermaster/schema/exact"
)

// Lasting tells whether what is worked out under a context stays right until the next commit
// or the end of the day: it was read from the database, and neither the time of day nor
// anything that no database holds took part.
type Lasting struct{ viewed, no bool }

type lastingKey struct{}

// Track returns a context whose Views and Updates note in the Lasting what they look at. It
// serves one goroutine.
func Track(ctx context.Context) (context.Context, *Lasting) {
	l := new(Lasting)
	return context.WithValue(ctx, lastingKey{}, l), l
}

func lastingOf(ctx context.Context) *Lasting {
	l, _ := ctx.Value(lastingKey{}).(*Lasting)
	return l
}

func (l *Lasting) never() {
	if l != nil {
		l.no = true
	}
}

// NoCache notes that the answer that is worked out under ctx depends on what is in no
// database, such as times that are stored later: it must not be cached.
func NoCache(ctx context.Context) { lastingOf(ctx).never() }

// Lasts reports whether the answer stays right until the next commit of its day.
func (l *Lasting) Lasts() bool { return l.viewed && !l.no }

// Today is the calendar day in the shop's time zone.
func (d *DB) Today() exact.Day { return exact.InstantOf(d.now()).Day(d.Zone()) }

// At is when an answer is right: at a version of the database, on a day. Its zero value is never.
type At struct {
	Version int64
	Day     exact.Day
}
