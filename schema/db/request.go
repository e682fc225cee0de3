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

// Request is what a write request carries beside its arguments. It is part of the Caller, so that it survives a change
// of the caller's service; callers made by System and Bookkeeping have none. Caller.Asking makes one.
//
// An operation is one transaction: the first Update that commits under a request is its only one, and a second is a
// programming error. Several marks an operation with more transactions; it stores its answer itself, by a Work.
type Request struct {
	Key   string   // the idempotency key as sent; "" for none
	Route string   // the called method and path with its ids, or the tool, or the operation
	Body  [32]byte // SHA-256 of the request's body
	// called first in the transaction; its error refuses the change, such as a form's record that was changed since
	Expect  func(*Conn) error
	Several bool         // the operation takes several transactions
	Answer  reflect.Type // the type of the operation's and its Update's answer; nil: any

	// Render makes the status and body that are stored for the key.
	Render func(answer any) (status int, body []byte, err error)

	owner Caller // the caller at the request's arrival
	state atomic.Int32
}

// requestOpen and the others are the states of a request.
const (
	requestOpen    int32 = iota // nothing is written yet
	requestInside               // an Update is under way
	requestWritten              // its Update has committed
)

// Replay is Update's error for a request that was answered before; it carries the answer.
type Replay struct { //nolint:errname // it is an answer that travels as an error
	Status int
	Body   []byte
}

func (*Replay) Error() string { return "answered before" }

// Asking returns the caller with their request. Only one Handler may be called with it.
func (c Caller) Asking(r *Request) Caller {
	c.Request = nil
	r.owner = c
	c.Request = r
	return c
}

// route identifies the stored answer, beside the API key. Callers without one are distinguished by name.
func (r *Request) route() string {
	if r.owner.KeyID == 0 {
		return r.owner.Service + " " + r.owner.User + " " + r.Route
	}
	return r.Route
}

// keeps reports whether the answer is stored for an idempotency key.
func (r *Request) keeps() bool { return r != nil && r.Key != "" && r.Render != nil }

// enter notes that an Update begins. It refuses an Update inside another one, which would wait for itself forever, and
// a second one.
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

// admit is called first in a request's transaction. It refuses callers who lost their access since, returns a stored
// answer, and calls the request's Expect.
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

// OnWrite sets the function that rechecks a request's caller in its transaction: its error refuses the change. Set it
// before the first Update.
func (d *DB) OnWrite(mayStill func(*Conn, Caller) error) { d.mayStill = mayStill }

// keptFor is how long an answer is stored for its idempotency key, in seconds.
const keptFor = 24 * 60 * 60

// replay returns *Replay if the request was answered within the last day, and a refusal if its key was used with
// another body.
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
	switch r.owner.Via {
	case "web":
		return fault.Conflictf("this form was sent before with other values, and that was done. Send it again only if you " +
			"mean one more")
	case "mcp":
		name = "request_key"
	}
	return fault.Conflictf("the %s %q was used for another body; use a new key for a new request", name,
		r.Key).At("idempotency_key")
}

// answers refuses an answer of another type than the operation's, since the stored form and its readers expect that
// type.
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

// Answered returns *Replay if the request was answered before, and a refusal if its key was used for another one.
// Update checks this itself; this is for callers that must know before they read the record.
func (r *Request) Answered(ctx context.Context, d *DB) error {
	if !r.keeps() {
		return nil
	}
	return d.View(ctx, func(c *Conn) error { return c.replay(r) })
}

// Settle stores the answer of a request whose caller wrote nothing: an operation may write as the appliance, or not at
// all. One of several transactions stores its own.
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
