package db

import (
	"context"
	"sync/atomic"

	"quartermaster/schema/exact"
)

// Cached holds a value that was computed from the database, until anything is
// committed, by this process or another, or until the day ends on which it depends: what a
// first page adds up, which is looked at much more often than it changes. It holds one
// value, of the last question. Its zero value is ready; a caller must not
// change it.
type Cached[T any] struct {
	last atomic.Pointer[cachedValue[T]]
}

type cachedValue[T any] struct {
	version  int64
	question string
	daily    bool
	day      exact.Day
	value    T
}

// Read returns the value that answers the question, and calls read only if none is kept that
// is still right. What a trial or a larger transaction sees is never kept.
func (k *Cached[T]) Read(ctx context.Context, d *DB, question string, read func(ctx context.Context) (T, error)) (T, error) {
	if jointOf(ctx) != nil {
		return read(ctx)
	}
	version, err := d.Version()
	if err != nil {
		return read(ctx)
	}
	today := d.Today()
	if v := k.last.Load(); v != nil && v.version == version && v.question == question && (!v.daily || v.day == today) {
		dependenciesOf(ctx).include(today, v.daily)
		return v.value, nil
	}
	inner, on := Track(ctx)
	value, err := read(inner)
	day, daily := on.Day()
	if err != nil || !on.Cacheable() {
		NoCache(ctx)
		return value, err
	}
	dependenciesOf(ctx).include(day, daily)
	k.last.Store(&cachedValue[T]{version, question, daily, day, value})
	return value, nil
}
