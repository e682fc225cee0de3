package db

import (
	"slices"
	"sync/atomic"

	"quartermaster/schema/exact"
)

// Renewed keeps what was worked out of all records of a kind for a day, and renews it by
// those that were changed since: a table of the schema notes each change by its number, seq,
// and the record's id, and forgets the oldest. When the day ends, or most records were
// changed, it is worked out anew. Its zero value is ready; what it gives is never changed,
// only replaced, and is not the caller's to change.
type Renewed[T any] struct {
	last atomic.Pointer[renewedValue[T]]
}

type renewedValue[T any] struct {
	day   exact.Day
	seq   int64 // the last change that it knows of
	value T
}

// Renewal is how a value is kept right.
type Renewal[T any] struct {
	Last    string // the statement for the last change's number, 0 without one
	Since   string // the statement for the ids of the records that were changed behind a number
	All     func() (T, error)
	Changed func(old T, ids []int64) (T, error) // ids are sorted, each once
}

// mostRenewed is up to how many changed records are looked at by themselves.
const mostRenewed = 500

// At returns the value as the connection sees it today. Without keep, as in a trial, it is
// worked out anew and not kept.
func (k *Renewed[T]) At(c *Conn, keep bool, by Renewal[T]) (value T, err error) {
	today := c.Today()
	seq, _, err := One(c, Int, by.Last)
	if err != nil {
		return value, err
	}
	last := k.last.Load()
	if !keep || last == nil || last.day != today || last.seq > seq {
		return k.anew(today, seq, keep, by)
	}
	if last.seq == seq {
		return last.value, nil
	}
	ids, err := All(c, Int, by.Since, last.seq)
	if err != nil {
		return value, err
	}
	if int64(len(ids)) != seq-last.seq || len(ids) > mostRenewed { // some are forgotten already, or most were changed
		return k.anew(today, seq, keep, by)
	}
	slices.Sort(ids)
	if value, err = by.Changed(last.value, slices.Compact(ids)); err == nil {
		k.last.CompareAndSwap(last, &renewedValue[T]{today, seq, value})
	}
	return value, err
}

func (k *Renewed[T]) anew(today exact.Day, seq int64, keep bool, by Renewal[T]) (T, error) {
	last := k.last.Load()
	value, err := by.All()
	if err == nil && keep && (last == nil || last.day < today || last.seq <= seq) {
		k.last.CompareAndSwap(last, &renewedValue[T]{today, seq, value})
	}
	return value, err
}
