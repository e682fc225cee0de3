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

// Desk runs Examine for all callers: one run at a time, whose result everyone who asks meanwhile gets.
type Desk struct {
	db       *db.DB
	services []schema.Service
	mails    *mailer.Book
	ctx      context.Context // ends with the desk: runs outlive the requests that began them
	quit     context.CancelFunc

	mu   sync.Mutex
	last *run
}

// run is the present run, or the last.
type run struct {
	number int64
	done   atomic.Int64
	ended  chan struct{}
	found  *Diagnosis // after ended
}

// NewDesk makes the desk of a server. Close it before the database.
func NewDesk(d *db.DB, services []schema.Service, mails *mailer.Book) *Desk {
	ctx, quit := context.WithCancel(context.Background())
	return &Desk{db: d, services: services, mails: mails, ctx: ctx, quit: quit}
}

// Close cancels a run and waits until it has ended.
func (k *Desk) Close() {
	k.quit()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.last != nil {
		<-k.last.ended
	}
}

// Progress is the progress of a run.
type Progress struct {
	Run         int64
	Done, Parts int64
	Found       *Diagnosis // nil while it is running
}

// Ask returns the result of the run of that number or of a later one; 0 means one that began after now, or is running.
// It waits at most that long, and returns the progress.
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
