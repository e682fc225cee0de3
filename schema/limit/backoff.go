package limit

import (
	"sync"
	"time"
)

// Backoff allows a key a few failures and then requires growing waits between its attempts: 1 s, 2 s, 4 s and so on up
// to a minute. A key without failures for an hour starts again. Its methods are safe for concurrent use.
type Backoff[K comparable] struct {
	free int

	mu sync.Mutex
	of map[K]failures
}

// failures are one key's.
type failures struct {
	n    int
	last int64 // in nanoseconds
}

const (
	longest   = time.Minute
	forgotten = time.Hour // after the last failure
)

// NewBackoff returns a Backoff without a wait for a key's first free failures.
func NewBackoff[K comparable](free int) *Backoff[K] {
	return &Backoff[K]{free: free, of: map[K]failures{}}
}

// Wait returns how long k must wait before its next attempt.
func (b *Backoff[K]) Wait(k K, now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.of[k]
	if f.n < b.free || stale(f.last, now.UnixNano()) {
		return 0
	}
	wait := longest
	if over := f.n - b.free; over < 6 {
		wait = min(longest, time.Second<<over)
	}
	return max(0, time.Duration(f.last+int64(wait)-now.UnixNano()))
}

// stale reports whether a failure no longer counts: it is too old, or the clock was set back before it.
func stale(last, now int64) bool { return last > now || last <= now-int64(forgotten) }

// Fail counts a failure of k. If the table is full, the key with the oldest failure is forgotten.
func (b *Backoff[K]) Fail(k K, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f, known := b.of[k]
	if !known && len(b.of) >= kept {
		b.dropOldest()
	}
	if stale(f.last, now.UnixNano()) {
		f.n = 0
	}
	b.of[k] = failures{n: f.n + 1, last: now.UnixNano()}
}

func (b *Backoff[K]) dropOldest() {
	var oldest K
	first := true
	for k, f := range b.of {
		if first || f.last < b.of[oldest].last {
			oldest, first = k, false
		}
	}
	delete(b.of, oldest)
}

// Forget clears the failures of k.
func (b *Backoff[K]) Forget(k K) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.of, k)
}
