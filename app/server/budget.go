package server

import (
	"net/http"
	"runtime"
	"sync"
	"time"

	"quartermaster/schema/fault"
)

// A budget is the memory that the bodies and answers under way may take together. When
// it is used up, the largest of those that wait for their clients is cut off: a body that
// is sent in drops, an answer that is not read. So half-sent bodies and readers that do
// not read cost a bounded number of bytes, however many there are, and whoever sends and
// reads briskly is served beside them.
//
// What is counted are the buffers, not the bytes in them; and what was given back is
// taken again only when the collector has run, for it is in memory until then.
//
// The first bytes of each are not counted: what devices and most clients send and get
// never waits for the budget.
type budget struct {
	mu         sync.Mutex
	size, left int64
	garbage    int64 // given back, and not collected yet
	collecting bool
	share      int64 // what the requests of one address may hold, and all answers
	answers    int64 // what they hold
	held       map[*inFlight]struct{}
	by         map[string]int64 // by address
	freed      chan struct{}    // closed and renewed whenever something is given back

	workers chan struct{}            // answers that are worked out, and not counted yet
	on      map[string]chan struct{} // those of one question: half of them
}

const (
	freeAnswer = 64 << 10
	maxWorkers = 8               // at once; the database has fewer readers
	workerSize = 10 << 20        // of the budget, for each of them: an answer that is worked out is not counted
	waitBudget = 5 * time.Second // for those that hold it to end, or to be slow enough to be cut off
	waitTurn   = 5 * time.Second // for a worker; meanwhile the request has one of the connections
)

func newBudget(size int64) *budget {
	return &budget{
		size: size, left: size, share: size / 2, held: map[*inFlight]struct{}{}, by: map[string]int64{}, freed: make(chan struct{}),
		workers: make(chan struct{}, min(maxWorkers, max(2, size/workerSize))), on: map[string]chan struct{}{},
	}
}

// take takes n bytes for the request, of its answer or of its body. It refuses, as
// unavailable, when there are none for some time. A request that is alone may have more
// than there is: an upload, or a report, that is allowed finds room.
func (b *budget) take(t *inFlight, n int64, answer bool) error {
	deadline := time.Now().Add(waitBudget)
	for {
		b.mu.Lock()
		mine := b.by[t.address()]+n <= b.share || t.shared() || b.by[t.address()] == t.held
		inTurn := !answer || b.answers+n <= b.share || b.answers == t.sent
		if inTurn && mine && (b.left >= n || b.left+t.held >= b.size) {
			b.left -= n
			t.held += n
			b.held[t] = struct{}{}
			b.by[t.address()] += n
			if answer {
				t.sent += n
				b.answers += n
			}
			b.mu.Unlock()
			return nil
		}
		if inTurn && mine && b.garbage > 0 && !b.collecting {
			b.collect()
			b.mu.Unlock()
			continue
		}
		victim, freed := b.slowest(t, !mine, !inTurn), b.freed
		b.mu.Unlock()
		if victim != nil {
			_ = victim.conn.Close()
		}
		if time.Now().After(deadline) {
			return tooMuch("too much is being sent and fetched at once")
		}
		select {
		case <-freed:
		case <-time.After(5 * time.Millisecond): // another may have begun to wait meanwhile
		}
	}
}

// slowest is the request that holds most of those that wait for clients that are not brisk; only those of
// the same address, or of answers, when those have used their share up. It is called with mu held.
func (b *budget) slowest(t *inFlight, ofAddress, ofAnswers bool) (most *inFlight) {
	now := time.Now()
	for other := range b.held {
		if other != t && (most == nil || other.held > most.held) && other.conn.stalled(now) &&
			(!ofAddress || other.address() == t.address()) && (!ofAnswers || other.sent > 0) {
			most = other
		}
	}
	return most
}

// collect has the collector free what was given back. It is called with mu held, which it
// gives up meanwhile.
func (b *budget) collect() {
	n := b.garbage
	b.garbage, b.collecting = 0, true
	b.mu.Unlock()
	runtime.GC()
	b.mu.Lock()
	b.left, b.collecting = b.left+n, false
	b.tell()
}

// tell wakes those that wait for the budget. It is called with mu held.
func (b *budget) tell() {
	close(b.freed)
	b.freed = make(chan struct{})
}

// give returns n bytes of what the request holds, of which nothing is in use any more.
func (b *budget) give(t *inFlight, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.garbage += n
	if b.by[t.address()] -= n; b.by[t.address()] <= 0 {
		delete(b.by, t.address())
	}
	if t.held -= n; t.held == 0 {
		b.answers, t.sent = b.answers-t.sent, 0
		delete(b.held, t)
	}
	b.tell()
}

// Write sends a piece of the answer; a large one is counted while it is sent, which is as
// long as it is held. One for which there is no room in time is not sent: its client is
// cut off.
func (t *inFlight) Write(p []byte) (int, error) {
	if n := int64(len(p)); n > freeAnswer {
		if err := t.budget.take(t, n, true); err != nil {
			_ = t.conn.Close()
			return 0, err
		}
	}
	t.rest()
	return t.ResponseWriter.Write(p)
}

// Work waits for a worker to compute an answer; see wire.Work.
func (t *inFlight) Work(what string) error {
	if t.turn != nil {
		return nil
	}
	turn := t.budget.turns(what)
	late := time.NewTimer(waitTurn)
	defer late.Stop()
	select {
	case turn <- struct{}{}:
	case <-late.C:
		return tooMuch("too much is being asked at once")
	}
	select {
	case t.budget.workers <- struct{}{}:
	case <-late.C:
		<-turn
		return tooMuch("too much is being asked at once")
	}
	t.turn = turn
	return nil
}

// tooMuch refuses for now.
func tooMuch(what string) error {
	e := fault.Unavailablef(nil, "%s: nothing was written; try again in a moment", what)
	e.Retry = time.Second
	return e
}

func (t *inFlight) rest() {
	if t.turn != nil {
		<-t.budget.workers
		<-t.turn
		t.turn = nil
	}
}

// turns has room for those who work on one question at once: half of all, so that a crowd
// that asks one thing leaves room for who asks another.
func (b *budget) turns(what string) chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	turn := b.on[what]
	if turn == nil {
		turn = make(chan struct{}, cap(b.workers)/2)
		b.on[what] = turn
	}
	return turn
}

// Unwrap is for http.ResponseController.
func (t *inFlight) Unwrap() http.ResponseWriter { return t.ResponseWriter }
