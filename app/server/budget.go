package server

import (
	"net/http"
	"sync"
	"time"

	"quartermaster/schema/fault"
)

// A budget is the memory that the bodies and answers under way may take together. When
// it is used up, the largest of those that wait for their clients is cut off: a body that
// is sent in drops, an answer that nobody takes. So half-sent bodies and readers that do
// not read cost a bounded number of bytes, however many there are, and whoever sends and
// reads briskly is served beside them.
//
// The first bytes of each are not counted: what devices and most clients send and get
// never waits for the budget.
type budget struct {
	mu    sync.Mutex
	left  int64
	share int64 // what the requests of one address may hold
	held  map[*inFlight]struct{}
	by    map[string]int64 // by address
	freed chan struct{}    // closed and renewed whenever something is given back

	workers chan struct{} // answers that are worked out, and not counted yet
}

const (
	freeBytes  = 4 << 10 // of a body
	freeAnswer = 64 << 10
	maxWorkers = 8               // at once; the database has fewer readers
	waitBudget = 2 * time.Second // for those that hold it to end, or to be slow enough to be cut off
)

func newBudget(size int64) *budget {
	return &budget{left: size, share: size / 2, held: map[*inFlight]struct{}{}, by: map[string]int64{}, freed: make(chan struct{}), workers: make(chan struct{}, maxWorkers)}
}

// take takes n bytes for the request. It refuses, as unavailable, when there are none for
// some time.
func (b *budget) take(t *inFlight, n int64) error {
	deadline := time.Now().Add(waitBudget)
	for {
		b.mu.Lock()
		mine := b.by[t.address()]+n <= b.share || t.shared()
		if b.left >= n && mine {
			b.left -= n
			t.held += n
			b.held[t] = struct{}{}
			b.by[t.address()] += n
			b.mu.Unlock()
			return nil
		}
		victim, freed := b.slowest(t, !mine), b.freed
		b.mu.Unlock()
		if victim != nil {
			_ = victim.conn.Close()
		}
		if time.Now().After(deadline) {
			e := fault.Unavailablef(nil, "too much is being sent and fetched at once: nothing was written; try again in a moment")
			e.Retry = time.Second
			return e
		}
		select {
		case <-freed:
		case <-time.After(5 * time.Millisecond): // somebody may have begun to wait meanwhile
		}
	}
}

// slowest is the request that holds most of those that wait for their clients; only those of
// the same address when that has used its share up. It is called with mu held.
func (b *budget) slowest(t *inFlight, ofAddress bool) (most *inFlight) {
	now := time.Now()
	for other := range b.held {
		if other != t && (most == nil || other.held > most.held) && other.conn.idle(now) &&
			(!ofAddress || other.address() == t.address()) {
			most = other
		}
	}
	return most
}

// give returns what the request holds.
func (b *budget) give(t *inFlight) {
	if t.held == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += t.held
	if b.by[t.address()] -= t.held; b.by[t.address()] <= 0 {
		delete(b.by, t.address())
	}
	t.held = 0
	delete(b.held, t)
	close(b.freed)
	b.freed = make(chan struct{})
}

// Write sends a piece of the answer; a large one is counted while it is sent, which is as
// long as it is held. One beyond the budget is sent all the same: it is in memory already.
func (t *inFlight) Write(p []byte) (int, error) {
	if int64(len(p)) > freeAnswer {
		_ = t.budget.take(t, int64(len(p)))
	}
	t.rest()
	return t.ResponseWriter.Write(p)
}

// Work waits for a worker to compute an answer; see wire.Work.
func (t *inFlight) Work() {
	if !t.busy {
		t.budget.workers <- struct{}{}
		t.busy = true
	}
}

func (t *inFlight) rest() {
	if t.busy {
		t.busy = false
		<-t.budget.workers
	}
}

// Unwrap is for http.ResponseController.
func (t *inFlight) Unwrap() http.ResponseWriter { return t.ResponseWriter }
