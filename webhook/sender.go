package webhook

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"quartermaster/schema/db"
)

// Options say how deliveries are sent.
type Options struct {
	Version      string          // the program's, for User-Agent
	AllowPrivate bool            // let loopback and private addresses through
	Timeout      time.Duration   // for one whole exchange; 0 is 5 seconds
	Grace        time.Duration   // for the attempts under way when Run is told to end; 0 is 10 seconds
	Log          func(Attempt)   // told of every attempt once its outcome is kept; called by many goroutines
	Trouble      func(err error) // told when the database cannot be read or written; nothing is lost by it
}

// Sender sends what is pending, each receiver's deliveries one after another in the
// order in which their events happened, every receiver by itself.
type Sender struct {
	d      *db.DB
	o      Options
	client client
	beat   time.Duration

	wake  chan struct{}
	stale atomic.Bool // a lane ended for want of the database: look again at the next beat

	mu    sync.Mutex
	lanes map[int64]bool // receivers that are being served; true when there is more to look for
	group sync.WaitGroup
}

// beat is how often the sender looks whether another process has written; housework
// how often it tidies up; breath how long a receiver is left alone after a failure.
const (
	beat      = time.Second
	housework = time.Hour
	breath    = 20 * time.Millisecond
)

// NewSender gives a sender that does nothing yet. Resend may be used without Run.
func NewSender(d *db.DB, o Options) *Sender {
	if o.Timeout == 0 {
		o.Timeout = 5 * time.Second
	}
	if o.Grace == 0 {
		o.Grace = 10 * time.Second
	}
	if o.Log == nil {
		o.Log = func(Attempt) {}
	}
	if o.Trouble == nil {
		o.Trouble = func(error) {}
	}
	return &Sender{
		d: d, o: o, client: client{timeout: o.Timeout, allowPrivate: o.AllowPrivate}, beat: beat,
		wake: make(chan struct{}, 1), lanes: map[int64]bool{},
	}
}

// Wake tells the sender that there may be something to send. It never waits; it is
// what db.OnEmit is given.
func (s *Sender) Wake() {
	select {
	case s.wake <- struct{}{}:
	default: // it has been told, and has not looked yet
	}
}

// Run sends until ctx ends. Then it begins nothing new, lets the attempts under way
// finish, cuts off those that take longer than the grace (they are interrupted), and
// returns when nothing of it uses the database any more. Only one process may Run on
// a database: what it finds in sending, it takes for the leavings of a crash.
func (s *Sender) Run(ctx context.Context) {
	attempts, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	s.watch(ctx, attempts)
	finished := make(chan struct{})
	go func() {
		s.group.Wait()
		close(finished)
	}()
	select {
	case <-finished:
	case <-time.After(s.o.Grace):
		cut()
		<-finished
	}
}

// watch looks for work whenever there may be some.
func (s *Sender) watch(ctx, attempts context.Context) {
	beats, hours := time.NewTicker(s.beat), time.NewTicker(housework)
	defer beats.Stop()
	defer hours.Stop()
	begun, look, tidy, seen := false, false, false, int64(-1)
	for ctx.Err() == nil {
		if !begun {
			begun = s.mend(ctx, true)
			look, tidy = begun, begun
		}
		if begun && look {
			s.look(ctx, attempts)
		}
		if begun && tidy {
			s.group.Go(func() { s.tidy(ctx) })
		}
		look, tidy = false, false
		select {
		case <-ctx.Done():
		case <-s.wake:
			look = true
		case <-beats.C:
			look = s.moved(&seen)
		case <-hours.C:
			tidy = true
		}
	}
}

// moved tells whether anybody has written since it was last asked, or whether there
// is a reason to look all the same. While nobody writes, no table is read.
func (s *Sender) moved(seen *int64) bool {
	v, err := s.d.Version()
	if err != nil {
		s.o.Trouble(err)
		return false
	}
	stale := s.stale.Swap(false)
	moved := v != *seen
	*seen = v
	return moved || stale
}

const receiversOwed = `SELECT id FROM endpoints WHERE removed_at IS NULL AND enabled = 1
	AND EXISTS (SELECT 1 FROM deliveries WHERE endpoint_id = endpoints.id AND state = 'pending')`

// look sees to it that every receiver that is owed something is being served.
func (s *Sender) look(ctx, attempts context.Context) {
	var owed []int64
	err := s.d.View(ctx, func(c *db.Conn) (err error) {
		owed, err = db.All(c, db.Int, receiversOwed)
		return err
	})
	if err != nil {
		if ctx.Err() == nil {
			s.o.Trouble(err)
			s.stale.Store(true)
		}
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range owed {
		if _, served := s.lanes[id]; served {
			s.lanes[id] = true
			continue
		}
		s.lanes[id] = false
		s.group.Go(func() { s.serve(ctx, attempts, id) })
	}
}

// serve is a receiver's lane: it lives while there is something to send.
func (s *Sender) serve(ctx, attempts context.Context, endpoint int64) {
	for {
		s.drain(ctx, attempts, endpoint)
		s.mu.Lock()
		if !s.lanes[endpoint] {
			delete(s.lanes, endpoint)
			s.mu.Unlock()
			return
		}
		s.lanes[endpoint] = false
		s.mu.Unlock()
	}
}

// drain makes one attempt after another until nothing is pending or ctx ends. What
// came of an attempt and the taking of the next share a commit, and commits of lanes
// that wait at the same time share a sync. After a failure the lane rests a breath
// before it takes the next: a receiver that is ill shall not cost more than one that
// is well, and what waits for it may then find it recovered.
func (s *Sender) drain(ctx, attempts context.Context, endpoint int64) {
	var last *Attempt
	var rest <-chan time.Time // set after a failure
	for {
		p, err := s.next(ctx, endpoint, last, rest == nil)
		switch {
		case err != nil && last == nil:
			s.o.Trouble(err)
			s.stale.Store(true)
			return
		case err != nil:
			s.o.Trouble(err)
			if pause(attempts) { // what came of an attempt is not given up lightly
				continue
			}
			s.o.Log(*last)
			return
		}
		if last != nil {
			s.o.Log(*last)
		}
		if rest != nil {
			select {
			case <-rest:
			case <-ctx.Done():
			}
			last, rest = nil, nil
			continue
		}
		if p == nil {
			return
		}
		a := s.try(attempts, p)
		last = &a
		if a.State == failed {
			rest = time.After(breath)
		}
	}
}

// next writes what came of the last attempt and, if it is to, takes the receiver's next
// delivery, none when ctx has ended.
func (s *Sender) next(ctx context.Context, endpoint int64, last *Attempt, more bool) (*parcel, error) {
	return db.Update(context.WithoutCancel(ctx), s.d, db.Bookkeeping(), func(tx *db.Tx) (*parcel, error) {
		if last != nil {
			if err := record(tx, *last); err != nil {
				return nil, err
			}
			if err := prune(tx, endpoint); err != nil {
				return nil, err
			}
		}
		if more && ctx.Err() == nil {
			return take(tx, endpoint)
		}
		return nil, nil
	})
}

// pause waits a beat, and tells whether it was a whole one.
func pause(ctx context.Context) bool {
	t := time.NewTimer(beat)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
