package server

import (
	"sync"
	"time"
)

// workers bound how many answers are worked out at once: until one is sent, its memory is
// not counted.
type workers struct {
	free chan struct{} // has one element for each that works

	mu sync.Mutex
	on map[string]chan struct{} // the same, by question: half of them
}

const (
	maxWorkers = 8               // the database has fewer readers
	workerSize = 10 << 20        // of the budget, for each of them
	waitTurn   = 5 * time.Second // for a worker; meanwhile the request has one of the connections
)

func newWorkers(budget int64) *workers {
	n := min(maxWorkers, max(2, budget/workerSize))
	return &workers{free: make(chan struct{}, n), on: map[string]chan struct{}{}}
}

// turns has room for those who work on one question at once: half of all, so that a crowd
// that asks one thing leaves room for who asks another.
func (w *workers) turns(what string) chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	turn := w.on[what]
	if turn == nil {
		turn = make(chan struct{}, cap(w.free)/2)
		w.on[what] = turn
	}
	return turn
}

// Work waits for a worker to compute an answer; see wire.Work.
func (t *inFlight) Work(what string) error {
	if t.turn != nil {
		return nil
	}
	w := t.budget.workers
	turn := w.turns(what)
	select {
	case turn <- struct{}{}:
		select {
		case w.free <- struct{}{}:
			t.turn = turn
			return nil
		default:
			<-turn
		}
	default:
	}
	return t.wait(turn)
}

// wait waits for a worker behind those that came before.
func (t *inFlight) wait(turn chan struct{}) error {
	const refusal = "too much is being asked at once"
	if !t.budget.queue.enter() {
		return t.tooMuch(refusal)
	}
	defer t.budget.queue.leave()
	late := time.NewTimer(waitTurn)
	defer late.Stop()
	select {
	case turn <- struct{}{}:
	case <-late.C:
		return t.tooMuch(refusal)
	}
	select {
	case t.budget.workers.free <- struct{}{}:
		t.turn = turn
		return nil
	case <-late.C:
		<-turn
		return t.tooMuch(refusal)
	}
}

// rest gives the worker back.
func (t *inFlight) rest() {
	if t.turn != nil {
		<-t.budget.workers.free
		<-t.turn
		t.turn = nil
	}
}
