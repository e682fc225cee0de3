package db

import (
	"context"
	"fmt"

	"quartermaster/schema/fault"
)

// Idempotency asks Update to store its answer in the transaction of the write, and to
// replay the stored one when the same request comes again within a day.
type Idempotency struct {
	Key    string   // as the client sent it
	Route  string   // what was asked for: method and path with its ids, or the tool, or the operation
	Body   [32]byte // SHA-256 of the request's body
	Render func(answer any) (status int, body []byte, err error)
}

// Replay is the error by which Update says that this very request was answered
// before; it carries the answer.
type Replay struct { //nolint:errname // it is an answer that travels as an error
	Status int
	Body   []byte
}

func (*Replay) Error() string { return "answered before" }

type idempotencyKey struct{}

// once is a request of one caller: what the appliance writes by itself under the same
// context is not its answer.
type once struct {
	Idempotency
	who Caller
}

// Once returns a context under which the caller's Update answers the request once.
func Once(ctx context.Context, who Caller, request Idempotency) context.Context {
	return context.WithValue(ctx, idempotencyKey{}, &once{request, who})
}

func onceOf(ctx context.Context, who Caller) *once {
	if k, ok := ctx.Value(idempotencyKey{}).(*once); ok && k.who == who {
		return k
	}
	return nil
}

// route is what the answer is kept by, beside the API key. Callers without one are told
// apart by their names.
func (k *once) route() string {
	if k.who.KeyID == 0 {
		return k.who.Service + " " + k.who.User + " " + k.Route
	}
	return k.Route
}

// keptFor is how long an answer is kept for its idempotency key, in seconds.
const keptFor = 24 * 60 * 60

// replay returns *Replay when this very request was answered within the last day, and
// a refusal when its key was used for another body.
func (tx *Tx) replay(k *once) error { return tx.Conn.replay(k) }

func (c *Conn) replay(k *once) error {
	if k == nil {
		return nil
	}
	type answer struct {
		Replay
		request []byte
	}
	a, found, err := One(c, func(r *Row) answer {
		return answer{Replay: Replay{Status: int(r.Int()), Body: r.Bytes()}, request: r.Bytes()}
	}, "SELECT status, body, request FROM answers WHERE key_id = ? AND idempotency_key = ? AND route = ? AND created_at > ?",
		k.who.KeyID, k.Key, k.route(), c.Now()-keptFor)
	switch {
	case err != nil || !found:
		return err
	case string(a.request) != string(k.Body[:]):
		name := "Idempotency-Key"
		if k.who.Via == "mcp" {
			name = "request_key"
		}
		return fault.Conflictf("the %s %q was used for another body; use a new key for a new request", name, k.Key).At("idempotency_key")
	}
	return &a.Replay
}

// keep stores the answer for the request's idempotency key.
func (tx *Tx) keep(k *once, answer any) error {
	if k == nil {
		return nil
	}
	status, body, err := k.Render(answer)
	if err != nil {
		return fmt.Errorf("render the kept answer: %w", err)
	}
	if err := run(tx.c, "DELETE FROM answers WHERE created_at <= ?", tx.Now()-keptFor); err != nil {
		return failed(err)
	}
	return failed(run(tx.c, "INSERT OR REPLACE INTO answers (key_id, idempotency_key, route, request, status, body, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
		k.who.KeyID, k.Key, k.route(), k.Body[:], status, body, tx.Now()))
}

// Answered returns *Replay when the request of the context was answered before, and a
// refusal when its key was used for another one. Update looks by itself; this is for
// callers that have to know before the record's state is read.
func Answered(ctx context.Context, d *DB) error {
	k, _ := ctx.Value(idempotencyKey{}).(*once)
	if k == nil {
		return nil
	}
	return d.View(ctx, func(c *Conn) error { return c.replay(k) })
}

// Answer keeps the answer of the context's request, unless an Update of its caller did:
// an operation may write as the appliance, or not at all.
func Answer(ctx context.Context, d *DB, answer any) error {
	k, _ := ctx.Value(idempotencyKey{}).(*once)
	if k == nil {
		return nil
	}
	if err := d.View(ctx, func(c *Conn) error { return c.replay(k) }); err != nil {
		return nil //nolint:nilerr // it is kept
	}
	return d.submit(ctx, Bookkeeping(), func(tx *Tx) error { return tx.keep(k, answer) })
}
