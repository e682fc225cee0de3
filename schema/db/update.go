package db

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"zombiezen.com/go/sqlite"

	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Update is the only way to write. It refuses a caller who may not write, then calls fn in a transaction and commits;
// fn's error, or its panic, rolls everything back. A write without an audit entry is an error. The answer is stored in
// the same transaction if the caller's Request has a key; a request that was answered before returns *Replay.
//
// Waiting writers share one commit, each in a savepoint with its own outcome, so that many small writes need one sync.
// When Update returns without an error, the change is on the disk.
func Update[T any](ctx context.Context, d *DB, who Caller, fn func(*Tx) (T, error)) (T, error) {
	var answer, none T
	err := update(ctx, d, who, func(tx *Tx) (kept any, err error) {
		answer, err = fn(tx)
		return answer, err
	})
	if err != nil {
		return none, err
	}
	return answer, nil
}

// update is the part of Update that does not depend on the answer's type: it is compiled once.
func update(ctx context.Context, d *DB, who Caller, run func(*Tx) (answer any, err error)) error {
	if d.in != nil {
		return d.in.update(ctx, who, func(tx *Tx) error {
			_, err := run(tx)
			return err
		})
	}
	request := who.Request
	if err := request.enter(); err != nil {
		return err
	}
	committed := false
	defer func() { request.leave(committed) }() // also if run panics
	err := d.submit(ctx, who, func(tx *Tx) error {
		if err := tx.admit(request); err != nil {
			return err
		}
		answer, err := run(tx)
		if err != nil || request != nil && request.Several {
			return err
		}
		if err := request.answers(answer); err != nil {
			return err
		}
		return tx.keep(request, answer)
	})
	committed = err == nil
	return err
}

// Exec is Update for a change without an answer.
func Exec(ctx context.Context, d *DB, who Caller, fn func(*Tx) error) error {
	_, err := Update(ctx, d, who, func(tx *Tx) (struct{}, error) { return struct{}{}, fn(tx) })
	return err
}

// pending is a write that waits for the writer, and its outcome.
type pending struct {
	ctx      context.Context
	who      Caller
	fn       func(*Tx) error
	since    time.Time
	err      error
	panicked *Panic
	ran      bool // its function was called
	emitted  bool
	audited  bool
	forgot   bool
	done     chan struct{}
}

var errClosed = errors.New("db: closed")

func (d *DB) submit(ctx context.Context, who Caller, fn func(*Tx) error) error {
	if err := who.MayWrite("this change"); err != nil {
		return err
	}
	if d.in != nil || onWriter() { // it would wait for itself forever
		return misused("calls Update inside an Update: let the inner function take the transaction")
	}
	t := &pending{ctx: ctx, who: who, fn: fn, since: time.Now(), done: make(chan struct{})}
	select {
	case d.queue <- t:
	case <-d.closing:
		return errClosed
	case <-ctx.Done():
		return failed(sqlite.ResultInterrupt.ToError())
	}
	<-t.done
	if t.panicked != nil {
		panic(t.panicked)
	}
	return t.err
}

// onWriter reports whether it is called on the writer's goroutine, by the function of a write.
func onWriter() bool {
	var callers [256]uintptr
	n := runtime.Callers(0, callers[:])
	frames := runtime.CallersFrames(callers[max(0, n-4):n]) // the goroutine began in them
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.Function, "schema/db.(*DB).write") {
			return true
		}
		if !more {
			return false
		}
	}
}

// write is the writer's goroutine: it owns the one writing connection.
func (d *DB) write(c *handle) {
	defer close(d.done)
	defer func() { _ = d.endWriter(c) }() // Close checkpoints the log, or says why it could not
	b := batcher{queue: d.queue, closing: d.closing}
	batch := make([]*pending, 0, maxBatch)
	for {
		if batch = b.next(batch[:0]); len(batch) == 0 {
			return
		}
		var emitted bool
		emitted, b.synced = d.commit(c, batch)
		b.answered = len(batch)
		pause := d.long
		for _, t := range batch {
			d.waits.add(time.Since(t.since))
			close(t.done)
		}
		if emitted {
			d.wakes()
		}
		if pause {
			time.Sleep(letIn)
		}
	}
}

// commit runs a batch in one transaction, sets each write's outcome and returns how long making it durable took. If the
// commit fails, every write of the batch fails, whatever its result: it may have read what a neighbour wrote.
func (d *DB) commit(c *handle, batch []*pending) (emitted bool, synced time.Duration) {
	if err := d.sameFile(); err != nil {
		failAll(batch, err)
		return false, 0
	}
	if err := begin(c); err != nil {
		failAll(batch, failed(err))
		return false, 0
	}
	begun := time.Now()
	defer func() { d.long = time.Since(begun)-synced >= longTurn }()
	now := exact.InstantOf(d.now())
	good, audited, forgot := 0, false, false
	for _, t := range batch {
		err := d.attempt(c, t, now, len(batch) > 1)
		d.fatalIfUnsynced(t.err)                 // a change larger than the cache syncs before its commit
		if err == nil && c.AutocommitEnabled() { // the engine rolled back the whole transaction
			err = errors.Join(t.err)
			if err == nil {
				err = fault.Unavailablef(nil, "the database gave the transaction up: nothing was written; try again")
			}
		}
		if err != nil {
			if !c.AutocommitEnabled() {
				_ = run(c, "ROLLBACK")
			}
			failAll(batch, err)
			return false, 0
		}
		if t.err == nil && t.panicked == nil {
			good++
			emitted, audited, forgot = emitted || t.emitted, audited || t.audited, forgot || t.forgot
		}
	}
	if good == 0 {
		_ = run(c, "ROLLBACK")
		return false, 0
	}
	began := time.Now()
	if err := run(c, "COMMIT"); err != nil {
		_ = run(c, "ROLLBACK")
		d.fatalIfUncertain(err)
		failAll(batch, failed(err))
		return false, 0
	}
	synced = time.Since(began)
	if audited {
		d.sawClock(now)
	}
	if forgot { // before it is answered
		d.afterForgetting()
	}
	return emitted, synced
}

// fatalIfUnsynced ends the process when err is a sync that failed: afterwards the system may treat unwritten data as
// written, so a second sync would prove nothing.
func (d *DB) fatalIfUnsynced(err error) {
	if sqlite.ErrCode(err) == sqlite.ResultIOErrFsync {
		d.fatal(err)
	}
}

// fatalIfUncertain ends the process when a failed COMMIT may have happened: it failed in its sync, or after it in the
// log's index. A crash could then bring back a commit that was answered as failed.
func (d *DB) fatalIfUncertain(err error) {
	switch sqlite.ErrCode(err) {
	case sqlite.ResultIOErrFsync, sqlite.ResultIOErrSHMMap, sqlite.ResultIOErrSHMSize, sqlite.ResultIOErrSHMOpen,
		sqlite.ResultIOErrSHMLock,
		sqlite.ResultIOErrNoMem, sqlite.ResultNoMem:
		d.fatal(err)
	}
}

// attempt runs one write, in a savepoint if it shares the transaction. An error belongs to the transaction: the write
// could not be undone alone.
func (d *DB) attempt(c *handle, t *pending, now exact.Instant, shared bool) error {
	if t.ctx.Err() != nil {
		t.err = failed(sqlite.ResultInterrupt.ToError())
		return nil //nolint:nilerr // it is the write's own error, not the transaction's
	}
	tx := &Tx{Conn: Conn{now: now, c: c, loc: d.Zone()}, d: d, who: t.who}
	if shared {
		if err := run(c, "SAVEPOINT one"); err != nil {
			return failed(err)
		}
	}
	t.ran = true
	t.err = tx.call(t)
	t.emitted, t.audited, t.forgot = tx.emitted, tx.audited, tx.forgot
	if c.AutocommitEnabled() || !shared {
		return nil
	}
	if t.err != nil || t.panicked != nil {
		if err := run(c, "ROLLBACK TO one"); err != nil {
			return failed(err)
		}
	}
	return failed(run(c, "RELEASE one"))
}

// call runs the write's function and keeps its panic, with the stack, for the caller.
func (tx *Tx) call(t *pending) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			tx.c.resetAll()
			t.panicked = panicOf(cause)
		}
	}()
	return failed(tx.run(t.fn))
}

// run calls fn and refuses a change without an entry in the audit trail.
func (tx *Tx) run(fn func(*Tx) error) error {
	if err := tx.outcome(func() error { return fn(tx) }); err != nil {
		return err
	}
	if tx.forgot && !tx.trying {
		if err := tx.forgetWords(); err != nil {
			return err
		}
	}
	if tx.wrote && !tx.audited && !tx.who.quiet {
		return errors.New("db: a write without an audit entry")
	}
	return nil
}

// failAll answers every write of the batch with the error; one whose request ended before it ran keeps its own.
func failAll(batch []*pending, err error) {
	for _, t := range batch {
		if t.ran || t.err == nil {
			t.err = err
		}
	}
}

// Panic is the value of Update's panic when its function panicked: the cause, and the stack of the function, which ran
// on the writer's goroutine.
type Panic struct { //nolint:errname // it is a panic that travels as an error, not one of the program's
	Cause any
	Stack []byte
}

func panicOf(cause any) *Panic {
	if p, is := cause.(*Panic); is {
		return p
	}
	return &Panic{Cause: cause, Stack: debug.Stack()}
}

// StackOf is the stack of a panic, for the deferred function that recovered cause.
func StackOf(cause any) []byte {
	if p, is := cause.(*Panic); is {
		return p.Stack
	}
	return debug.Stack()
}

func (p *Panic) Error() string { return fmt.Sprint(p.Cause) }

// Unwrap returns the cause if it is an error.
func (p *Panic) Unwrap() error {
	err, _ := p.Cause.(error)
	return err
}

// waits adds up how long writes waited for their commit.
type waits struct{ n, nanos atomic.Int64 }

func (w *waits) add(d time.Duration) {
	w.n.Add(1)
	w.nanos.Add(int64(d))
}

// Stats are counts since the database was opened.
type Stats struct {
	Writes int64
	Waited time.Duration // of all writes, from the call to being on the disk
}

// Stats returns the present counts.
func (d *DB) Stats() Stats {
	return Stats{Writes: d.waits.n.Load(), Waited: time.Duration(d.waits.nanos.Load())}
}
