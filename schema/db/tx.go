package db

import (
	"crypto/rand"
	"encoding/hex"

	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
)

// Tx is a write transaction. Only Update gives one.
type Tx struct {
	Conn
	d                       *DB
	who                     Caller
	wrote, audited, emitted bool
	forgot                  bool   // a person: the file must contain nothing of them
	past                    bool   // its clock is set back
	trying                  bool   // it belongs to a trial
	subject                 string // of the last audit entry
	failure                 error  // of Do
}

// Who is the transaction's caller.
func (tx *Tx) Who() Caller { return tx.who }

// Past does something in the transaction as if another caller had done it at an earlier time: a demo's history.
func (tx *Tx) Past(who Caller, at exact.Instant, act func() error) error {
	was, now, past := tx.who, tx.now, tx.past
	defer func() { tx.who, tx.now, tx.past = was, now, past }()
	tx.who, tx.now, tx.past = who, at, true
	return act()
}

// Do runs a statement that changes rows. Only a failing engine or disk can fail it, which no caller can mend: that fails
// the transaction. Its later changes are not run, and Update, or Try, returns the error, whatever its function returns.
func (tx *Tx) Do(query string, args ...any) {
	_, tx.failure = tx.Exec(query, args...)
}

// Exec is Do that returns how many rows it changed.
func (tx *Tx) Exec(query string, args ...any) (changed int, err error) {
	if tx.failure != nil {
		return 0, tx.failure
	}
	tx.wrote = true
	if err := run(tx.c, query, args...); err != nil {
		return 0, failed(err)
	}
	return tx.c.Changes(), nil
}

// Insert runs an INSERT and returns the new row's id.
func (tx *Tx) Insert(query string, args ...any) (id int64, err error) {
	if _, err := tx.Exec(query, args...); err != nil {
		return 0, err
	}
	return tx.c.LastInsertRowID(), nil
}

// Change prepares a statement that changes rows, for a loop.
func (tx *Tx) Change(query string) (*Stmt, error) {
	tx.wrote = true
	s, err := tx.Prepare(query)
	if err == nil {
		s.tx = tx
	}
	return s, err
}

// Try calls fn; if it fails, only fn's changes are undone, and its error is returned. It refuses one row of many and
// keeps the others.
func (tx *Tx) Try(fn func() error) error {
	if tx.failure != nil {
		return tx.failure
	}
	if err := run(tx.c, "SAVEPOINT try"); err != nil {
		return failed(err)
	}
	before := *tx
	if err := tx.outcome(fn); err != nil {
		*tx = before
		back := run(tx.c, "ROLLBACK TO try")
		if back == nil {
			back = run(tx.c, "RELEASE try")
		}
		if back != nil && !fault.Is(err, fault.Unavailable) {
			return failed(back)
		}
		return err // also if a full or failing disk ended the whole transaction
	}
	return failed(run(tx.c, "RELEASE try"))
}

// outcome calls fn and returns the transaction's failure, or else fn's error.
func (tx *Tx) outcome(fn func() error) error {
	err := fn()
	if tx.failure != nil {
		return tx.failure
	}
	return err
}

// Audit writes the change's entry: an action such as "workorder.status", a subject such as "work_order:12", and the
// changes as short JSON.
func (tx *Tx) Audit(action, subject string, changes any) error {
	return tx.audit(tx.who.Service, tx.who.User, action, subject, changes)
}

// AuditIn is Audit for a change of the appliance's own data that belongs to one service, such as a key.
func (tx *Tx) AuditIn(service, action, subject string, changes any) error {
	return tx.audit(service, tx.who.User, action, subject, changes)
}

// AuditSystem is Audit for what the appliance does by itself during a caller's write, such as posting due rent before a
// payment. The actor is "system".
func (tx *Tx) AuditSystem(action, subject string, changes any) error {
	return tx.audit(tx.who.Service, systemUser, action, subject, changes)
}

func (tx *Tx) audit(service, actor, action, subject string, changes any) error {
	if err := tx.markClock(); err != nil {
		return err
	}
	return tx.insertAudit(service, actor, tx.who.Via, action, subject, changes)
}

func (tx *Tx) insertAudit(service, actor, via, action, subject string, changes any) error {
	if tx.failure != nil {
		return tx.failure
	}
	body, err := strict.Marshal(changes)
	if err != nil {
		return err
	}
	tx.audited, tx.subject = true, subject
	return failed(
		run(tx.c, "INSERT INTO audit (at, service, actor, via, action, subject, changes) VALUES (?, ?, ?, ?, ?, ?, ?)",
			tx.Now(), service, actor, via, action, subject, string(body)))
}

// event is the body of a delivery.
type event struct {
	ID        string        `json:"id"`
	Event     string        `json:"event"`
	Test      bool          `json:"test,omitempty"`
	Resent    bool          `json:"resent,omitempty"`
	Service   string        `json:"service"`
	CreatedAt exact.Instant `json:"created_at"`
	Data      any           `json:"data"`
}

// About is an event's data with its own subject, in the audit trail's form. Without it, an event's subject is that of
// the transaction's last audit entry.
type About interface{ EventSubject() string }

// Resent is the data of an event that was sent before: the event says so.
type Resent struct{ Data any }

// Emit writes an event of the caller's service and one pending delivery per subscribed receiver. Its body is fixed
// here. A receiver with several simultaneous deliveries gets those of one subject in order.
func (tx *Tx) Emit(name string, data any) error {
	about := tx.subject
	if a, ok := data.(About); ok {
		about = a.EventSubject()
	}
	seq, err := tx.insertEvent(name, about, data, false)
	if err != nil {
		return err
	}
	owed, err := tx.Exec(`INSERT INTO deliveries (endpoint_id, event_seq, kind, state, created_at)
		SELECT id, ?, 'auto', 'pending', ? FROM endpoints
		WHERE service = ? AND removed_at IS NULL AND enabled = 1
		AND (events = '' OR instr(',' || events || ',', ',' || ? || ',') > 0)`, seq, tx.Now(), tx.who.Service, name)
	tx.emitted = tx.emitted || owed > 0
	return err
}

// Example writes an example event for testing a receiver and returns its sequence number. It makes no delivery.
func (tx *Tx) Example(name string, data any) (seq int64, err error) {
	return tx.insertEvent(name, "", data, true)
}

func (tx *Tx) insertEvent(name, about string, data any, test bool) (seq int64, err error) {
	e := event{ID: "evt_" + randomHex(16), Event: name, Test: test, Service: tx.who.Service, CreatedAt: tx.Now(),
		Data: data}
	if again, ok := data.(Resent); ok {
		e.Resent, e.Data = true, again.Data
	}
	body, err := strict.Marshal(e)
	if err != nil {
		return 0, err
	}
	return tx.Insert(
		"INSERT INTO events (id, service, event, created_at, body, subject, test) VALUES (?, ?, ?, ?, ?, ?, ?)",
		e.ID, e.Service, e.Event, e.CreatedAt, body, about, test)
}

func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
