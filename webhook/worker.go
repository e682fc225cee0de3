package webhook

import (
	"context"
	"time"

	"quartermaster/schema/db"
)

// worker sends one receiver's deliveries. What came of attempts and the taking of the
// next share a commit, so that in order each delivery costs one, and commits of workers
// that wait at the same time share a sync.
//
// After a failure its place is left free for a moment: a receiver that is ill shall not
// cost more than one that is well, and what waits for it may then find it recovered.
type worker struct {
	s        *Sender
	endpoint int64
	more     <-chan struct{} // there may be something new to send

	capacity int             // how many deliveries it takes at a time, as was read last
	inFlight int             // attempts under way
	resting  int             // places that are left free after a failure
	busy     map[string]bool // the subjects of the attempts under way
	ended    chan ending     // never full: there are at most two for each place
}

// ending is an attempt that is over or, without an outcome, a place that may be used
// again.
type ending struct {
	outcome *Attempt
	subject string
}

func newWorker(s *Sender, endpoint int64, more <-chan struct{}) *worker {
	return &worker{s: s, endpoint: endpoint, more: more, busy: map[string]bool{}, ended: make(chan ending, 2*mostParallel)}
}

// run makes attempts until nothing is pending and none is under way, or ctx ends.
func (w *worker) run(ctx, attempts context.Context) {
	var over []Attempt // what is to be kept
	for {
		taken, err := w.next(ctx, over)
		if err != nil {
			w.s.o.Trouble(err)
			if len(over) == 0 && w.inFlight == 0 {
				w.s.stale.Store(true)
				return
			}
			if pause(attempts) { // what came of an attempt is not given up lightly
				continue
			}
			for w.inFlight > 0 { // they are cut off
				over = w.note(<-w.ended, over)
			}
		}
		for _, a := range over {
			w.s.o.Log(a)
		}
		if err != nil {
			return
		}
		for _, o := range taken {
			w.begin(attempts, o)
		}
		if w.inFlight == 0 && (w.resting == 0 || ctx.Err() != nil) {
			return
		}
		over = w.wait(ctx)
	}
}

// begin makes an attempt beside the worker.
func (w *worker) begin(attempts context.Context, o *outgoing) {
	w.inFlight++
	w.busy[o.subject] = true
	w.s.group.Go(func() {
		a := w.s.try(attempts, o)
		w.ended <- ending{outcome: &a, subject: o.subject}
	})
}

// note takes an ending, and adds its outcome to over. A place whose attempt failed is
// used again a moment later.
func (w *worker) note(e ending, over []Attempt) []Attempt {
	if e.outcome == nil {
		w.resting--
		return over
	}
	w.inFlight--
	delete(w.busy, e.subject)
	if e.outcome.State == failed {
		w.resting++
		time.AfterFunc(failureDelay, func() { w.ended <- ending{} })
	}
	return append(over, *e.outcome)
}

// wait returns what came of the attempts that end next: those that end together share a
// commit. It also comes back when there is something new to send and a place to send
// it by, and at ctx's end when nothing is under way.
func (w *worker) wait(ctx context.Context) (over []Attempt) {
	more, done := w.more, ctx.Done()
	if w.inFlight+w.resting >= w.capacity {
		more = nil // whatever it is waits for a place
	}
	if w.inFlight > 0 {
		done = nil
	}
	select {
	case e := <-w.ended:
		over = w.note(e, over)
	case <-more:
	case <-done:
	}
	if len(over) == 0 || w.inFlight == 0 {
		return over
	}
	enough := time.NewTimer(gatherFor)
	defer enough.Stop()
	for w.inFlight > 0 {
		select {
		case e := <-w.ended:
			over = w.note(e, over)
		case <-enough.C:
			return over
		}
	}
	return over
}

// next writes what came of the attempts that are over and takes the receiver's next
// deliveries, none when ctx has ended.
func (w *worker) next(ctx context.Context, over []Attempt) ([]*outgoing, error) {
	return db.Update(context.WithoutCancel(ctx), w.s.d, db.Bookkeeping(), func(tx *db.Tx) (taken []*outgoing, err error) {
		for _, a := range over {
			if err := record(tx, a); err != nil {
				return nil, err
			}
		}
		if len(over) > 0 {
			if err := prune(tx, w.endpoint); err != nil {
				return nil, err
			}
		}
		if ctx.Err() == nil {
			w.capacity, taken, err = take(tx, w.endpoint, w.inFlight+w.resting, w.busy)
		}
		return taken, err
	})
}

// pause waits a poll's interval, and reports whether it was a whole one.
func pause(ctx context.Context) bool { return rest(ctx, pollInterval) }
