package db

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Work is an action of several transactions: an import, resending failed deliveries. Its row stores the progress. Each
// of its transactions (Step) reads the row and moves it, so that the action is done once although two runs compete, the
// process is killed, or the form is sent again. A run that finds the row moved by another one stops; a run after a kill
// continues at the row's Position. The last transaction stores the answer (End).
//
// A nil Work has no row; its steps are plain transactions.
type Work struct {
	Job
	ID       int64
	Position string // where the next step begins, in a format of the caller; "" is the beginning
	Done     int64  // of Total
	Started  exact.Instant
	Moved    exact.Instant // time of the last step
	Notes    []string      // notes of earlier runs, step by step
	Answer   *string       // its result; nil until then

	d       *DB
	request *Request // the request whose answer it stores; nil: none
	steps   int64
	release func()
}

// Job names a work and what it does.
type Job struct {
	Service string
	Owner   string   // its owner: nobody else may continue it; "" is everybody
	Route   string   // what it does: "import/sales-history"
	Key     string   // which one, so that the same one is found again
	Body    [32]byte // SHA-256 of the request; another one under the same key is refused
	Token   string   // the request's token, if that is not the key
	Asked   string   // what is needed to continue
	Total   int64
}

// keptWork is how long a work's row stays after its last step, in seconds: an interrupted one can be continued, and a
// finished one read.
const keptWork = 7 * 24 * 60 * 60

// underWay are the works that run in this process.
type underWay struct {
	sync.Mutex
	ended map[string]chan struct{} // closed when the run has ended
}

func (j Job) name() string { return j.Owner + "\x00" + j.Route + "\x00" + j.Key }

// UnderWay reports whether the work runs in this process.
func (d *DB) UnderWay(j Job) bool {
	d.works.Lock()
	defer d.works.Unlock()
	return d.works.ended[j.name()] != nil
}

// claim waits until no other run of this process has the work.
func (d *DB) claim(ctx context.Context, name string) (release func(), err error) {
	for {
		d.works.Lock()
		other := d.works.ended[name]
		if other == nil {
			if d.works.ended == nil {
				d.works.ended = map[string]chan struct{}{}
			}
			mine := make(chan struct{})
			d.works.ended[name] = mine
			d.works.Unlock()
			return sync.OnceFunc(func() {
				d.works.Lock()
				delete(d.works.ended, name)
				d.works.Unlock()
				close(mine)
			}), nil
		}
		d.works.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Begin begins or continues a work. It waits while another run of this process has it, and returns its row, with the
// Answer if it is finished. The caller closes it.
func (d *DB) Begin(ctx context.Context, j Job) (w *Work, err error) {
	release, err := d.claim(ctx, j.name())
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			release()
		}
	}()
	err = d.submit(ctx, Bookkeeping(), func(tx *Tx) error {
		if _, err := tx.Exec("DELETE FROM works WHERE moved_at <= ?", tx.Now()-keptWork); err != nil {
			return err
		}
		if _, err := tx.Exec(`INSERT INTO works (service, owner, route, key, body, token, asked, position, done, total,
			steps, started_at, moved_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, '', 0, ?, 0, ?9, ?9) ON CONFLICT DO NOTHING`,
			j.Service, j.Owner, j.Route, j.Key, j.Body[:], j.Token, j.Asked, j.Total, tx.Now()); err != nil {
			return err
		}
		w, err = workIn(&tx.Conn, "owner = ? AND route = ? AND key = ?", j.Owner, j.Route, j.Key)
		if err == nil && w.Body != j.Body {
			err = fault.Conflictf("the key %q was used for another request; use a new key for a new request",
				j.Key).At("idempotency_key")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	w.d, w.release = d, release
	return w, nil
}

// BeginFor is Begin for the request of an operation declared as Several: its key names the work, whose last step stores
// the operation's answer. Without a key it returns nil. A request that was answered before gives *Replay.
func (d *DB) BeginFor(ctx context.Context, who Caller) (*Work, error) {
	r := who.Request
	if !r.keeps() {
		return nil, nil
	}
	w, err := d.Begin(ctx, Job{
		Service: r.owner.Service, Owner: fmt.Sprint(r.owner.KeyID), Route: r.route(), Key: r.Key, Body: r.Body,
	})
	if err != nil {
		return nil, err
	}
	w.request = r
	if err := r.Answered(ctx, d); err != nil { // by the run that this one waited for
		return nil, errors.Join(err, w.Drop(ctx))
	}
	return w, nil
}

// FindWork returns a work's row by its id; nil if there is none.
func FindWork(c *Conn, id int64) (*Work, error) { return workIn(c, "id = ?", id) }

// FindWorkOf returns the work of the token; nil if there is none.
func FindWorkOf(c *Conn, token string) (*Work, error) {
	return workIn(c, "token = ? AND token <> ''", token)
}

func workIn(c *Conn, where string, args ...any) (*Work, error) {
	w, found, err := One(c, func(r *Row) *Work {
		w := &Work{ID: r.Int(), Job: Job{Service: r.Text(), Owner: r.Text(), Route: r.Text(), Key: r.Text()}}
		copy(w.Body[:], r.Bytes())
		w.Token, w.Asked, w.Position, w.Done, w.Total = r.Text(), r.Text(), r.Text(), r.Int(), r.Int()
		w.steps, w.Started, w.Moved, w.Answer = r.Int(), r.Instant(), r.Instant(), r.TextPtr()
		return w
	}, `SELECT id, service, owner, route, key, body, token, asked, position, done, total, steps, started_at, moved_at,
		answer
		FROM works WHERE `+where, args...)
	if err != nil || !found {
		return nil, err
	}
	w.Notes, err = All(c, Text, "SELECT note FROM work_notes WHERE work = ? ORDER BY step", w.ID)
	return w, err
}

// Step is one transaction of the work: fn does the next part, from w.Position, and sets Position and Done to where the
// next one begins. If fn or the commit fails, all of it is undone. A nil Work is a plain Exec.
func (w *Work) Step(ctx context.Context, d *DB, who Caller, fn func(*Tx) error) error {
	if w == nil {
		return Exec(ctx, d, who, fn)
	}
	before := *w
	err := Exec(ctx, d, who, func(tx *Tx) error {
		if err := w.unmoved(&tx.Conn); err != nil {
			return err
		}
		if err := fn(tx); err != nil {
			return err
		}
		w.steps++
		return failed(
			run(tx.c, "UPDATE works SET position = ?, done = ?, total = ?, token = ?, asked = ?, steps = ?, moved_at = ? "+
				"WHERE id = ?",
				w.Position, w.Done, w.Total, w.Token, w.Asked, w.steps, tx.Now(), w.ID))
	})
	if err != nil {
		*w = before
	}
	return err
}

// unmoved refuses to continue if another run has continued.
func (w *Work) unmoved(c *Conn) error {
	steps, found, err := One(c, Int, "SELECT steps FROM works WHERE id = ? AND answer IS NULL", w.ID)
	if err == nil && !found {
		if _, done, err := One(c, Int, "SELECT 1 FROM works WHERE id = ?", w.ID); err != nil || !done {
			return errors.Join(err, fault.Conflictf("the saved progress of this work was removed; begin again"))
		}
	}
	if err == nil && (!found || steps != w.steps) {
		err = fault.Conflictf("another run is doing the same work; nothing was done twice")
	}
	return err
}

// Note stores a result of the step, for later runs and for the answer.
func (w *Work) Note(tx *Tx, note string) error {
	if w == nil {
		return nil
	}
	return failed(run(tx.c, "INSERT INTO work_notes VALUES (?, ?, ?)", w.ID, w.steps, note))
}

// End stores the answer in the last step. For a work that BeginFor began, answer is the operation's, and the row is
// deleted; for another one it is a text, which the row keeps.
func (w *Work) End(tx *Tx, answer any) error {
	if w == nil {
		return nil
	}
	if w.request != nil {
		if err := tx.keep(w.request, answer); err != nil {
			return err
		}
		return failed(run(tx.c, "DELETE FROM works WHERE id = ?", w.ID))
	}
	text := fmt.Sprint(answer)
	w.Answer = &text
	return failed(run(tx.c, "UPDATE works SET answer = ? WHERE id = ?", text, w.ID))
}

// Drop deletes the row, after its result was shown, or before it begins again.
func (w *Work) Drop(ctx context.Context) error {
	if w == nil {
		return nil
	}
	defer w.Close()
	return w.d.submit(ctx, Bookkeeping(), func(tx *Tx) error {
		_, err := tx.Exec("DELETE FROM works WHERE id = ?", w.ID)
		return err
	})
}

// Close lets the next run of this process have the work.
func (w *Work) Close() {
	if w != nil && w.release != nil {
		w.release()
	}
}
