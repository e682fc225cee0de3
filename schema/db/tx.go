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
	forgot                  bool   // a person: nothing of them may be left in the file
	subject                 string // of the audit entry that was written last
}

// Who is the caller for whom the transaction runs.
func (tx *Tx) Who() Caller { return tx.who }

// Exec runs a statement that changes rows and returns how many it changed.
func (tx *Tx) Exec(query string, args ...any) (changed int, err error) {
	tx.wrote = true
	if err := run(tx.c, query, args...); err != nil {
		return 0, failed(err)
	}
	return tx.c.Changes(), nil
}

// Insert runs an INSERT and gives the new row's id.
func (tx *Tx) Insert(query string, args ...any) (id int64, err error) {
	if _, err := tx.Exec(query, args...); err != nil {
		return 0, err
	}
	return tx.c.LastInsertRowID(), nil
}

// Change prepares a statement that changes rows, for a loop.
func (tx *Tx) Change(query string) (*Stmt, error) {
	tx.wrote = true
	return tx.Prepare(query)
}

// Changed reports how many rows the last Run of a Change statement changed.
func (tx *Tx) Changed() int { return tx.c.Changes() }

// Try calls fn; when it fails, only what fn did is undone, and the error is given
// back. It is how one row of many is refused while the others are kept.
func (tx *Tx) Try(fn func() error) error {
	if err := run(tx.c, "SAVEPOINT try"); err != nil {
		return failed(err)
	}
	before := *tx
	if err := fn(); err != nil {
		*tx = before
		back := run(tx.c, "ROLLBACK TO try")
		if back == nil {
			back = run(tx.c, "RELEASE try")
		}
		if back != nil && !fault.Is(err, fault.Unavailable) {
			return failed(back)
		}
		return err // also when a full or failing disk ended the whole transaction: it says why
	}
	return failed(run(tx.c, "RELEASE try"))
}

// Audit writes the change's entry: an action such as "workorder.status", the subject
// such as "work_order:12", and what changed, as short JSON.
func (tx *Tx) Audit(action, subject string, changes any) error {
	return tx.AuditIn(tx.who.Service, action, subject, changes)
}

// AuditIn is Audit for a change of the appliance's own that belongs to one service,
// as a key does.
func (tx *Tx) AuditIn(service, action, subject string, changes any) error {
	return tx.audit(service, tx.who.User, action, subject, changes)
}

// AuditSystem is Audit for what the appliance does by itself in the course of a caller's
// write, as when a payment first posts the rent that is due. The actor is "system".
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

// About is an event's data that says what it is about, as the audit trail names it. The
// others are about the subject of the audit entry that the transaction wrote last.
type About interface{ EventSubject() string }

// Resent is an event's data that was told before: the event says so.
type Resent struct{ Data any }

// Emit writes an event of the caller's service and one pending delivery for every
// receiver that wants it. Its body is fixed here. A receiver that takes several at a
// time gets those of one subject in order.
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

// Example writes an event that did not happen, for a receiver to be tried with, and
// gives its place among the events. No delivery is made for it.
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
