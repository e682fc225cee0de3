package limit

import (
	"sync"
	"time"
)

// Backoff lets a key fail a few times, and then asks for longer and longer waits
// between its tries: 1 s, 2 s, 4 s and so on up to a minute. A key that has not failed
// for a while begins anew. All of its methods may be called at once.
type Backoff[K comparable] struct {
	free int

	mu   sync.Mutex
	of   map[K]*failures
	head failures // of the ring of all, the one that failed last first
}

// failures is one key's; it stands in a ring, so that the oldest is at hand.
type failures struct {
	key        any
	n          int
	last       int64 // in nanoseconds
	next, prev *failures
}

const (
	longest   = time.Minute
	forgotten = time.Hour // after the last failure
)

// NewBackoff returns a Backoff that asks for no wait before the key has failed free times.
func NewBackoff[K comparable](free int) *Backoff[K] {
	b := &Backoff[K]{free: free, of: map[K]*failures{}}
	b.head.next, b.head.prev = &b.head, &b.head
	return b
}

// Wait reports how long k has to wait before its next try.
func (b *Backoff[K]) Wait(k K, now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.of[k]
	if f == nil || f.n < b.free || stale(f.last, now.UnixNano()) {
		return 0
	}
	wait := longest
	if over := f.n - b.free; over < 6 {
		wait = min(longest, time.Second<<over)
	}
	return max(0, time.Duration(f.last+int64(wait)-now.UnixNano()))
}

// stale reports whether a failure counts no more: it is long ago, or the clock was set
// back behind it.
func stale(last, now int64) bool { return last > now || last <= now-int64(forgotten) }

// Fail counts a failure of k. When there is no more room, the key that failed longest
// ago is forgotten.
func (b *Backoff[K]) Fail(k K, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.of[k]
	if f == nil {
		if len(b.of) >= kept {
			b.drop(b.head.prev)
		}
		f = &failures{key: k}
		b.of[k] = f
	} else {
		f.unlink()
		if stale(f.last, now.UnixNano()) {
			f.n = 0
		}
	}
	f.n, f.last = f.n+1, now.UnixNano()
	f.next, f.prev = b.head.next, &b.head
	f.next.prev, f.prev.next = f, f
}

// Forget forgives k what it did.
func (b *Backoff[K]) Forget(k K) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if f := b.of[k]; f != nil {
		b.drop(f)
	}
}

func (b *Backoff[K]) drop(f *failures) {
	f.unlink()
	delete(b.of, f.key.(K))
}

func (f *failures) unlink() { f.prev.next, f.next.prev = f.next, f.prev }
