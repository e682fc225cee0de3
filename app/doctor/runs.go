package doctor

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"quartermaster/app/mailer"
	"quartermaster/schema"
	"quartermaster/schema/db"
)

// Desk runs Examine for all who ask: one run at a time, which everybody who comes
// meanwhile is given.
type Desk struct {
	db       *db.DB
	services []schema.Service
	mails    *mailer.Book
	ctx      context.Context // ends with the desk: runs outlive the requests that began them
	quit     context.CancelFunc

	mu   sync.Mutex
	last *run
}

// run is one that is under way, or the last.
type run struct {
	number int64
	done   atomic.Int64
	ended  chan struct{}
	found  *Diagnosis // after ended
}

// NewDesk makes the desk of a server. It is closed before the database is.
func NewDesk(d *db.DB, services []schema.Service, mails *mailer.Book) *Desk {
	ctx, quit := context.WithCancel(context.Background())
	return &Desk{db: d, services: services, mails: mails, ctx: ctx, quit: quit}
}

// Close cuts a run off and waits until it has ended.
func (k *Desk) Close() {
	k.quit()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.last != nil {
		<-k.last.ended
	}
}

// Progress is how far a run is.
type Progress struct {
	Run         int64
	Done, Parts int64
	Found       *Diagnosis // nil while it is under way
}

// Ask gives the outcome of the run of that number or of a later one; 0 is one that began
// after now, or is under way. It waits for at most that long, and tells how far it is.
func (k *Desk) Ask(ctx context.Context, number int64, wait time.Duration) Progress {
	r := k.run(number)
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	select {
	case <-r.ended:
	case <-timeout.C:
	case <-ctx.Done():
	}
	p := Progress{Run: r.number, Done: r.done.Load(), Parts: Parts(k.services)}
	select {
	case <-r.ended:
		p.Found = r.found
	default:
	}
	return p
}

func (k *Desk) run(number int64) *run {
	k.mu.Lock()
	defer k.mu.Unlock()
	next := int64(1)
	if k.last != nil {
		select {
		case <-k.last.ended:
			if number != 0 && number <= k.last.number {
				return k.last
			}
		default:
			return k.last
		}
		next = k.last.number + 1
	}
	r := &run{number: next, ended: make(chan struct{})}
	k.last = r
	go func() {
		defer close(r.ended)
		r.found = Examine(k.ctx, k.db, k.services, k.mails, &r.done)
	}()
	return r
}
