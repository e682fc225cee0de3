package db

import (
	"slices"
	"sync/atomic"

	"quartermaster/schema/exact"
)

// Renewed keeps what was worked out of all records of a kind for a day, and renews it by
// those that were changed since: a table of the schema notes each change by its number, seq,
// and the record's id, and forgets the oldest. When the day ends, or many records were
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
	Size    func(T) int
	All     func() (T, error)
	Changed func(old T, ids []int64) (T, error) // ids are sorted, each once
}

// Looking at one record by itself takes about eight times what it takes among all; so few
// are always looked at by themselves.
const (
	renewedPart = 8
	renewedFew  = 16
)

// At returns the value as the connection sees it today. What a transaction sees before its
// commit is worked out anew and not kept.
func (k *Renewed[T]) At(c *Conn, by Renewal[T]) (value T, err error) {
	today := c.Today()
	last := k.last.Load() // before the view reads anything, so that it sees what last knows of
	seq, _, err := One(c, Int, by.Last)
	if err != nil {
		return value, err
	}
	if !c.committed || last == nil || last.day != today || last.seq > seq {
		return k.anew(c, today, seq, by)
	}
	if last.seq == seq {
		return last.value, nil
	}
	ids, err := All(c, Int, by.Since, last.seq)
	if err != nil {
		return value, err
	}
	noted := int64(len(ids))
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if noted != seq-last.seq || len(ids) > max(renewedFew, by.Size(last.value)/renewedPart) { // some are forgotten already, or many were changed
		return k.anew(c, today, seq, by)
	}
	if value, err = by.Changed(last.value, ids); err == nil {
		k.last.CompareAndSwap(last, &renewedValue[T]{today, seq, value})
	}
	return value, err
}

func (k *Renewed[T]) anew(c *Conn, today exact.Day, seq int64, by Renewal[T]) (T, error) {
	last := k.last.Load()
	value, err := by.All()
	if err == nil && c.committed && (last == nil || last.day < today || last.seq <= seq) {
		k.last.CompareAndSwap(last, &renewedValue[T]{today, seq, value})
	}
	return value, err
}
