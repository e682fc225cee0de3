package webhook

import (
	"context"
	"time"

	"quartermaster/schema/db"
)

// worker sends one receiver's deliveries. What came of attempts and the marks of the next
// share a commit, so that in order each delivery costs one.
//
// After a failure its place is left free for a moment: a receiver that fails must not
// cost more than one that is well, and what waits for it may then find it recovered.
type worker struct {
	s        *Sender
	endpoint int64
	more     <-chan struct{} // there may be something new to send

	capacity int             // its number of simultaneous deliveries, as last read
	underWay map[string]bool // the attempts, by subject
	resting  int             // places left free after a failure
	ended    chan ending     // never full: there are at most two for each place
}

// ending is a finished attempt or, without an outcome, a place that may be used again.
type ending struct {
	outcome *Attempt
	subject string
}

func newWorker(s *Sender, endpoint int64, more <-chan struct{}) *worker {
	return &worker{s: s, endpoint: endpoint, more: more, underWay: map[string]bool{},
		ended: make(chan ending, 2*mostParallel)}
}

// run makes attempts until nothing is pending and none is under way, or ctx ends.
func (w *worker) run(ctx, attempts context.Context) {
	var over []Attempt // outcomes to store
	for {
		err := w.next(ctx, attempts, over)
		if err != nil {
			w.s.o.Trouble(err)
			if len(over) == 0 && len(w.underWay) == 0 {
				w.s.stale.Store(true)
				return
			}
			if pause(attempts) { // and retry storing the outcomes
				continue
			}
			for len(w.underWay) > 0 { // they are cut off
				over = w.note(<-w.ended, over)
			}
		}
		for _, a := range over {
			w.s.o.Log(a)
		}
		if err != nil || len(w.underWay) == 0 && (w.resting == 0 || ctx.Err() != nil) {
			return
		}
		over = w.wait(ctx)
	}
}

// note takes an ending, and adds its outcome to over. A failed attempt's place is used again a moment later.
func (w *worker) note(e ending, over []Attempt) []Attempt {
	if e.outcome == nil {
		w.resting--
		return over
	}
	delete(w.underWay, e.subject)
	if e.outcome.State == failed {
		w.resting++
		time.AfterFunc(failureDelay, func() { w.ended <- ending{} })
	}
	return append(over, *e.outcome)
}

// wait returns the outcomes of the attempts that ended, for one commit, at least one. It also returns when there is
// something new to send and a free place, and at ctx's end when nothing is under way.
func (w *worker) wait(ctx context.Context) (over []Attempt) {
	more, done := w.more, ctx.Done()
	if len(w.underWay)+w.resting >= w.capacity {
		more = nil // anything new must wait for a place
	}
	if len(w.underWay) > 0 {
		done = nil
	}
	select {
	case e := <-w.ended:
		over = w.note(e, over)
	case <-more:
	case <-done:
	}
	for {
		select {
		case e := <-w.ended:
			over = w.note(e, over)
		default:
			return over
		}
	}
}

// next stores the outcomes of finished attempts and begins the receiver's next deliveries, none after ctx has ended.
func (w *worker) next(ctx, attempts context.Context, over []Attempt) error {
	var taken []*outgoing
	err := db.Exec(context.WithoutCancel(ctx), w.s.d, db.Bookkeeping(), func(tx *db.Tx) error {
		for _, a := range over {
			if err := record(tx, a); err != nil {
				return err
			}
		}
		if len(over) > 0 {
			if err := prune(tx, w.endpoint); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the server stops: what is over is written, nothing is begun
		}
		var err error
		w.capacity, taken, err = take(tx, w.endpoint, len(w.underWay)+w.resting, w.underWay)
		return err
	})
	if err != nil {
		return err
	}
	for _, o := range taken {
		w.underWay[o.subject] = true
		w.s.group.Go(func() {
			a := w.s.try(attempts, o)
			w.ended <- ending{outcome: &a, subject: o.subject}
		})
	}
	return nil
}

// pause waits a poll's interval, and reports whether it was a whole one.
func pause(ctx context.Context) bool { return rest(ctx, pollInterval) }
