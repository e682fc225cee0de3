package webhook

import (
	"context"
	"math"
	"time"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// abandoned is the age in seconds at which a resend in sending belongs to a dead process: an attempt ends after five.
const abandoned = 30

const leftBehind = `SELECT d.id, d.endpoint_id, e.service, e.event, e.id, d.kind
	FROM deliveries d CROSS JOIN events e ON e.seq = d.event_seq
	WHERE d.state = 'sending' AND d.kind = ? AND d.attempted_at < ?`

// anyAge is later than every attempt.
const anyAge = exact.Instant(math.MaxInt64)

// recover marks a dead process's deliveries in sending as interrupted, and reports whether it could: abandoned resends
// and, for the only server at its start, its own deliveries of any age. A running process's resend stays.
func (s *Sender) recover(ctx context.Context, begins bool) bool {
	left, err := db.Update(ctx, s.d, db.Bookkeeping(), func(tx *db.Tx) ([]Attempt, error) {
		left, err := interrupt(tx, "resend", tx.Now()-abandoned)
		if err != nil {
			return left, err
		}
		tests, err := interrupt(tx, "test", tx.Now()-abandoned)
		left = append(left, tests...)
		if err != nil || !begins {
			return left, err
		}
		own, err := interrupt(tx, "auto", anyAge)
		return append(left, own...), err
	})
	if err != nil {
		if ctx.Err() == nil {
			s.o.Trouble(err)
		}
		return false
	}
	for _, a := range left {
		s.o.Log(a)
	}
	return true
}

// interrupt marks deliveries of the kind that are in sending since before.
func interrupt(tx *db.Tx, kind string, before exact.Instant) ([]Attempt, error) {
	left, err := db.All(&tx.Conn, scanLeft, leftBehind, kind, before)
	if err != nil {
		return nil, err
	}
	for _, a := range left {
		if _, err := tx.Exec("UPDATE deliveries SET state = 'interrupted' WHERE id = ?", a.Delivery); err != nil {
			return nil, err
		}
	}
	return left, nil
}

func scanLeft(r *db.Row) Attempt {
	return Attempt{Delivery: r.Int(), Endpoint: r.Int(), Service: r.Text(), Event: r.Text(), EventID: r.Text(),
		Kind: r.Text(), State: interrupted}
}

// An event is kept while it has a delivery, so that it can be resent; of the others the newest eventsKept are.
// eventsAtOnce bounds how many are deleted in one transaction.
const (
	eventsKept   = 10_000
	eventsAtOnce = 200
)

const eventsDone = `SELECT seq FROM events WHERE seq <= (SELECT MAX(seq) FROM events) - ?
	AND NOT EXISTS (SELECT 1 FROM deliveries WHERE event_seq = events.seq) ORDER BY seq LIMIT ?`

// cleanUp does the housekeeping, without which a file would grow forever. After each step it pauses for several times
// the step's duration, so that it hardly delays other writers on a slow disk either. rest waits, and reports whether to
// continue.
func (s *Sender) cleanUp(ctx context.Context, rest func(context.Context, time.Duration) bool) {
	s.recover(ctx, false)
	for {
		began := time.Now()
		n, err := s.dropEvents(ctx)
		if err != nil && ctx.Err() == nil {
			s.o.Trouble(err)
		}
		if err != nil || n < eventsAtOnce || !rest(ctx, max(leastRest, restOfStep*time.Since(began))) {
			return
		}
	}
}

// How long the housekeeping pauses after a step.
const (
	restOfStep = 9 // times as long as the step took
	leastRest  = 100 * time.Millisecond
)

// rest waits, and reports whether it waited the whole time.
func rest(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// dropEvents deletes some unneeded events, and returns their number. They are searched outside the shared write
// transaction: an event without a delivery never gets one again.
func (s *Sender) dropEvents(ctx context.Context) (int, error) {
	done, err := db.Read(ctx, s.d, func(c *db.Conn) ([]int64, error) {
		return db.All(c, db.Int, eventsDone, eventsKept, eventsAtOnce)
	})
	if err != nil || len(done) == 0 {
		return 0, err
	}
	err = db.Exec(ctx, s.d, db.Bookkeeping(), func(tx *db.Tx) error {
		for _, seq := range done {
			if _, err := tx.Exec("DELETE FROM events WHERE seq = ?", seq); err != nil {
				return err
			}
		}
		return nil
	})
	return len(done), err
}
