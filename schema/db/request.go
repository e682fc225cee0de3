package db

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"

	"quartermaster/schema/fault"
)

// Request is what a request for a write brings beside its arguments. It travels in the
// Caller, so that it survives a change of the caller's service; callers made by System and
// Bookkeeping have none. Caller.Asking makes one.
//
// An operation is one transaction: the first Update that commits under a request is its
// only one, and a second is an error of the program. Several says that the operation is
// declared to take more of them; it keeps its answer itself, by a Work.
type Request struct {
	Key   string   // the idempotency key as the client sent it; "" for none
	Route string   // what was asked for: method and path with its ids, or the tool, or the operation
	Body  [32]byte // SHA-256 of the request's body
	// called first in the transaction; its error refuses the change, as when a form's record was changed since
	Expect  func(*Conn) error
	Several bool         // the operation takes several transactions
	Answer  reflect.Type // what the operation answers, and its Update with it; nil: anything

	// Render makes the status and the body that are kept of an answer for the key.
	Render func(answer any) (status int, body []byte, err error)

	owner Caller // who asked, as they came
	state atomic.Int32
}

// The states of a request.
const (
	requestOpen    int32 = iota // nothing is written yet
	requestInside               // an Update is under way
	requestWritten              // its Update has committed
)

// Replay is the error by which Update says that this very request was answered
// before; it carries the answer.
type Replay struct { //nolint:errname // it is an answer that travels as an error
	Status int
	Body   []byte
}

func (*Replay) Error() string { return "answered before" }

// Asking returns the caller with the request that they bring. Only one Handler may be
// called with it.
func (c Caller) Asking(r *Request) Caller {
	c.Request = nil
	r.owner = c
	c.Request = r
	return c
}

// route is what the answer is kept by, beside the API key. Callers without one are told
// apart by their names.
func (r *Request) route() string {
	if r.owner.KeyID == 0 {
		return r.owner.Service + " " + r.owner.User + " " + r.Route
	}
	return r.Route
}

// keeps reports whether the answer is kept for an idempotency key.
func (r *Request) keeps() bool { return r != nil && r.Key != "" && r.Render != nil }

// enter notes that an Update begins. It refuses an Update inside another one, which would
// wait for itself for ever, and a second one.
func (r *Request) enter() error {
	if r == nil || r.Several || r.state.CompareAndSwap(requestOpen, requestInside) {
		return nil
	}
	if r.state.Load() == requestInside {
		return misused("calls Update inside an Update: let the inner function take the transaction")
	}
	return misused("calls a second Update under one request: make it one transaction, or declare the operation as Several")
}

// leave notes that the Update is over.
func (r *Request) leave(committed bool) {
	switch {
	case r == nil || r.Several:
	case committed:
		r.state.Store(requestWritten)
	default:
		r.state.Store(requestOpen)
	}
}

// misused names the function outside of this package that called Update.
func misused(how string) error {
	var callers [32]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers[:])])
	for {
		f, more := frames.Next()
		if f.Function != "" && (!strings.Contains(f.Function, "/schema/db.") || strings.HasSuffix(f.File, "_test.go")) ||
			!more {
			return fmt.Errorf("db: %s (line %d) %s", f.Function, f.Line, how)
		}
	}
}

// admit is called first in the transaction of a request: it refuses who lost their access
// since the request came, gives the answer that was kept, and lets the request refuse what
// it no longer expects.
func (tx *Tx) admit(r *Request) error {
	if r == nil {
		return nil
	}
	if tx.d.mayStill != nil {
		if err := tx.d.mayStill(&tx.Conn, r.owner); err != nil {
			return err
		}
	}
	if err := tx.replay(r); err != nil {
		return err
	}
	if r.Expect != nil {
		return r.Expect(&tx.Conn)
	}
	return nil
}

// OnWrite sets what looks again, in the transaction of each request, at who asked for it:
// its error refuses the change. It is set before the first Update.
func (d *DB) OnWrite(mayStill func(*Conn, Caller) error) { d.mayStill = mayStill }

// keptFor is how long an answer is kept for its idempotency key, in seconds.
const keptFor = 24 * 60 * 60

// replay returns *Replay when this very request was answered within the last day, and
// a refusal when its key was used for another body.
func (c *Conn) replay(r *Request) error {
	if !r.keeps() {
		return nil
	}
	type answer struct {
		Replay
		request []byte
	}
	a, found, err := One(c, func(r *Row) answer {
		return answer{Replay: Replay{Status: int(r.Int()), Body: r.Bytes()}, request: r.Bytes()}
	}, "SELECT status, body, request FROM answers WHERE key_id = ? AND idempotency_key = ? AND route = ? AND created_at "+
		"> ?",
		r.owner.KeyID, r.Key, r.route(), c.Now()-keptFor)
	switch {
	case err != nil || !found:
		return err
	case !bytes.Equal(a.request, r.Body[:]):
		return r.reused()
	}
	return &a.Replay
}

// reused refuses a key that came with another body before.
func (r *Request) reused() error {
	name := "Idempotency-Key"
	if r.owner.Via == "mcp" {
		name = "request_key"
	}
	return fault.Conflictf("the %s %q was used for another body; use a new key for a new request", name,
		r.Key).At("idempotency_key")
}

// answers refuses an answer of another type than the operation's: what is kept of it, and what
// reads it when the request comes again, is made for that one.
func (r *Request) answers(answer any) error {
	if r == nil || r.Answer == nil || reflect.TypeOf(answer) == r.Answer {
		return nil
	}
	return misused(fmt.Sprintf("answers with a %T in its Update, and the operation with a %v: build the answer there",
		answer, r.Answer))
}

// keep stores the answer for the request's idempotency key.
func (tx *Tx) keep(r *Request, answer any) error {
	if !r.keeps() {
		return nil
	}
	status, body, err := r.Render(answer)
	if err != nil {
		return fmt.Errorf("render the kept answer: %w", err)
	}
	if err := run(tx.c, "DELETE FROM answers WHERE created_at <= ?", tx.Now()-keptFor); err != nil {
		return failed(err)
	}
	return failed(
		run(tx.c, "INSERT OR REPLACE INTO answers (key_id, idempotency_key, route, request, status, body, created_at) "+
			"VALUES (?, ?, ?, ?, ?, ?, ?)",
			r.owner.KeyID, r.Key, r.route(), r.Body[:], status, body, tx.Now()))
}

// Answered returns *Replay when the request was answered before, and a refusal when its
// key was used for another one. Update looks by itself; this is for callers that have to
// know before the record's state is read.
func (r *Request) Answered(ctx context.Context, d *DB) error {
	if !r.keeps() {
		return nil
	}
	return d.View(ctx, func(c *Conn) error { return c.replay(r) })
}

// Settle keeps the answer of a request under which nothing was written by its caller: an
// operation may write as the appliance, or not at all. One of several transactions keeps
// its own.
func (r *Request) Settle(ctx context.Context, d *DB, answer any) error {
	if !r.keeps() || r.Several || r.state.Load() == requestWritten {
		return nil
	}
	var again *Replay
	if err := r.Answered(ctx, d); errors.As(err, &again) { // by another click meanwhile, or by a Work
		return nil
	}
	return d.submit(ctx, Bookkeeping(), func(tx *Tx) error { return tx.keep(r, answer) })
}
