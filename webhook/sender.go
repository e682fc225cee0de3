package webhook

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"quartermaster/schema/db"
)

// Options say how deliveries are sent.
type Options struct {
	Version      string          // the program's, for User-Agent
	AllowPrivate bool            // allow loopback and private addresses
	Timeout      time.Duration   // for one whole exchange; 0 is 5 seconds
	Grace        time.Duration   // for running attempts when Run ends; 0 is 10 seconds
	Log          func(Attempt)   // called with every attempt after its outcome is stored; by many goroutines
	Trouble      func(err error) // called if the database cannot be read or written; nothing is lost
}

// Sender sends pending deliveries: each receiver's in the order of their events, one by one or, if the receiver allows
// it, several at a time in order per subject. Receivers do not wait for each other.
type Sender struct {
	d      *db.DB
	o      Options
	client *client
	poll   time.Duration

	wake  chan struct{}
	stale atomic.Bool // a worker ended because of the database: look again at the next poll

	mu      sync.Mutex
	workers map[int64]chan struct{} // by receiver with a worker; signalled when there is more to send
	group   sync.WaitGroup
}

const (
	pollInterval = time.Second           // interval of checks for other processes' writes
	cleanupEvery = time.Hour             // interval of the housekeeping
	failureDelay = 20 * time.Millisecond // pause after a receiver's failure
	mostParallel = 16                    // deliveries at a time to one receiver
)

// NewSender returns a sender that does nothing yet. Resend may be used without Run.
func NewSender(d *db.DB, o Options) *Sender {
	o.Timeout = cmp.Or(o.Timeout, 5*time.Second)
	o.Grace = cmp.Or(o.Grace, 10*time.Second)
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

// Wake signals that there may be something to send. It never waits; it is the argument of db.OnEmit.
func (s *Sender) Wake() {
	select {
	case s.wake <- struct{}{}:
	default: // a signal is pending already
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

// watch looks for deliveries whenever there may be some.
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

// moved reports whether there was a write since the last call, or another reason to look. Without writes, no table is
// read.
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

// look starts a worker for every receiver with pending deliveries.
func (s *Sender) look(ctx, attempts context.Context) {
	owed, err := db.Read(ctx, s.d, func(c *db.Conn) ([]int64, error) { return db.All(c, db.Int, receiversOwed) })
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
			default: // a signal is pending already
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
