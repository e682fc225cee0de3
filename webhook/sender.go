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

// Sender sends what is pending: each receiver's deliveries in the order in which their
// events happened, one after another or, to a receiver that was added so, several at a
// time in order per subject. Every receiver is served by itself.
type Sender struct {
	d      *db.DB
	o      Options
	client *client
	poll   time.Duration

	wake  chan struct{}
	stale atomic.Bool // a worker ended for want of the database: look again at the next poll

	mu      sync.Mutex
	workers map[int64]chan struct{} // by receiver that is being served; told when there is more to look for
	group   sync.WaitGroup
}

const (
	pollInterval = time.Second           // how often the sender looks whether another process has written
	cleanupEvery = time.Hour             // how often the log is cleaned up
	failureDelay = 20 * time.Millisecond // how long a receiver is left alone after a failure
	mostParallel = 16                    // deliveries at a time to one receiver
)

// NewSender returns a sender that does nothing yet. Resend may be used without Run.
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
		d: d, o: o, client: newClient(o.Timeout, o.AllowPrivate), poll: pollInterval,
		wake: make(chan struct{}, 1), workers: map[int64]chan struct{}{},
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
	polls, hours := time.NewTicker(s.poll), time.NewTicker(cleanupEvery)
	defer polls.Stop()
	defer hours.Stop()
	begun, look, clean, seen := false, false, false, int64(-1)
	for ctx.Err() == nil {
		if !begun {
			begun = s.recover(ctx, true)
			look, clean = begun, begun
		}
		if begun && look {
			s.look(ctx, attempts)
		}
		if begun && clean {
			s.group.Go(func() { s.cleanUp(ctx, rest) })
		}
		look, clean = false, false
		select {
		case <-ctx.Done():
		case <-s.wake:
			look = true
		case <-polls.C:
			look = s.moved(&seen)
		case <-hours.C:
			clean = true
		}
	}
}

// moved reports whether there was a write since it was last asked, or whether there
// is a reason to look all the same. Without writes, no table is read.
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
		if more, served := s.workers[id]; served {
			select {
			case more <- struct{}{}:
			default: // it has been told, and has not looked yet
			}
			continue
		}
		more := make(chan struct{}, 1)
		s.workers[id] = more
		s.group.Go(func() { s.serve(ctx, attempts, id, more) })
	}
}

// serve is a receiver's worker: it lives while there is something to send.
func (s *Sender) serve(ctx, attempts context.Context, endpoint int64, more chan struct{}) {
	for {
		newWorker(s, endpoint, more).run(ctx, attempts)
		s.mu.Lock()
		select {
		case <-more:
			s.mu.Unlock()
		default:
			delete(s.workers, endpoint)
			s.mu.Unlock()
			return
		}
	}
}
