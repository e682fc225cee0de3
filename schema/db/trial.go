package db

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"zombiezen.com/go/sqlite"

	"quartermaster/schema/exact"
)

// Change is one field that a trial would have changed. Before is nil for a new record and an empty field, After for a
// deleted record and a cleared field.
type Change struct {
	Record string `json:"record"` // as in the audit trail's subjects: work_order:12
	Field  string `json:"field"`
	Before any    `json:"before"`
	After  any    `json:"after"`
}

// joint is the one transaction of everything that is done with a database bound to it.
type joint struct {
	d     *DB
	c     *handle
	now   exact.Instant
	trial *sqlite.Session // records the changes of a trial
	busy  bool            // an Update is running

	audited, emitted, forgot bool
}

func (tx *Tx) join(trial *sqlite.Session, act func(*DB) error) error {
	t := &joint{d: tx.d, c: tx.c, now: tx.now, trial: trial}
	err := act(&DB{core: tx.d.core, in: t})
	tx.audited, tx.emitted, tx.forgot = t.audited, t.emitted, t.forgot
	return err
}

// Trying reports whether d belongs to a trial. Effects outside the database (a sent message, a written file) are
// omitted then.
func (d *DB) Trying() bool { return d.in != nil && d.in.trial != nil }

// NoteNoMore makes d's trial record no further changes: a long one reports the first ones and does not keep all in
// memory.
func (d *DB) NoteNoMore() {
	if d.Trying() {
		d.in.trial.Disable()
	}
}

// Together calls act and commits everything that it does in one transaction, or nothing if it fails or the process
// ends. Every Update and View of act's database is part of it; other writers wait. act must not continue in another
// goroutine.
func (d *DB) Together(ctx context.Context, act func(*DB) error) error {
	if d.in != nil {
		return act(d)
	}
	return d.submit(ctx, Bookkeeping(), func(tx *Tx) error { return tx.join(nil, act) })
}

// Trial calls act and rolls it back. Every View and Update of act's database happens in one transaction and sees the
// earlier ones. Nothing is committed, audited, emitted or stored for an idempotency key. It returns what would have
// changed, by record, without derived data and bookkeeping. Other writers wait meanwhile.
//
// act must not continue in another goroutine. Its error is Trial's.
func (d *DB) Trial(ctx context.Context, act func(*DB) error) (changes []Change, err error) {
	if d.in != nil {
		return nil, errors.New("db: a trial in a trial")
	}
	undone := errors.New("db: undone")
	err = d.submit(ctx, Bookkeeping(), func(tx *Tx) error {
		changes, err = tx.rehearse(act)
		if err != nil {
			return err
		}
		return undone
	})
	if errors.Is(err, undone) {
		err = nil
	}
	return changes, err
}

func (tx *Tx) rehearse(act func(*DB) error) ([]Change, error) {
	tables, err := watchable(&tx.Conn)
	if err != nil {
		return nil, err
	}
	session, err := tx.c.CreateSession("main")
	if err != nil {
		return nil, err
	}
	defer session.Delete()
	for _, name := range slices.Sorted(maps.Keys(tables)) { // the order of the changeset, and of the answer
		if err := session.Attach(name); err != nil {
			return nil, err
		}
	}
	if err := tx.join(session, act); err != nil {
		return nil, err
	}
	var set bytes.Buffer
	if err := session.WriteChangeset(&set); err != nil {
		return nil, err
	}
	return changesIn(&tx.Conn, tables, &set)
}

// update runs one Update.
func (t *joint) update(ctx context.Context, who Caller, fn func(*Tx) error) error {
	if ctx.Err() != nil {
		return failed(sqlite.ResultInterrupt.ToError())
	}
	if err := who.MayWrite("this change"); err != nil {
		return err
	}
	if t.busy {
		return misused("calls Update inside an Update: let the inner function take the transaction")
	}
	t.busy = true
	defer func() { t.busy = false }()
	tx := &Tx{Conn: Conn{now: t.now, c: t.c, loc: t.d.Zone()}, d: t.d, who: who, trying: t.trial != nil}
	err := tx.Try(func() error { return failed(tx.run(fn)) })
	t.audited, t.emitted, t.forgot = t.audited || tx.audited, t.emitted || tx.emitted, t.forgot || tx.forgot
	return err
}

// view runs one View.
func (t *joint) view(fn func(*Conn) error) error {
	return fn(&Conn{now: t.now, c: t.c, loc: t.d.Zone()})
}

// changesIn reads a changeset, by table and record, in the order of the columns.
func changesIn(c *Conn, tables map[string]*watched, set *bytes.Buffer) ([]Change, error) {
	changes := []Change{}
	if set.Len() == 0 {
		return changes, nil
	}
	it, err := sqlite.NewChangesetIterator(set)
	if err != nil {
		return nil, err
	}
	type row struct {
		id     int64 // the first column of the primary key, if it is a number
		name   string
		fields []Change
	}
	var rows []row
	table := ""
	flush := func() { // a changeset groups the rows by table, unordered
		slices.SortFunc(rows, func(a, b row) int { return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.name, b.name)) })
		for _, r := range rows {
			changes = append(changes, r.fields...)
		}
		rows = rows[:0]
	}
	err = func() error {
		for {
			more, err := it.Next()
			if err != nil || !more {
				return err
			}
			op, err := it.Operation()
			if err != nil {
				return err
			}
			w := tables[op.TableName]
			if op.TableName != table {
				flush()
				table = op.TableName
			}
			name, id, fields, err := w.read(c, it, op.Type)
			if err != nil {
				return err
			}
			rows = append(rows, row{id, name, fields})
		}
	}()
	flush()
	return changes, errors.Join(err, it.Close())
}

// read reads the change of one row.
func (w *watched) read(c *Conn, it *sqlite.ChangesetIterator, op sqlite.OpType) (name string, id int64, fields []Change,
	err error) {
	value := func(of func(int) (sqlite.Value, error), i int) sqlite.Value {
		v, failure := of(i)
		err = errors.Join(err, failure)
		return v
	}
	key := it.Old
	if op == sqlite.OpInsert {
		key = it.New
	}
	name, nameErr := w.called(c, func(i int) sqlite.Value {
		if op == sqlite.OpUpdate && w.columns[i].inKey == 0 {
			return sqlite.Value{} // the row is identified by its key in any case
		}
		return value(key, i)
	})
	for i, col := range w.columns {
		if col.inKey == 1 && id == 0 {
			if v := value(key, i); v.Type() == sqlite.TypeInteger {
				id = v.Int64()
			}
		}
		if col.kind == Derived || col.inKey > 0 {
			continue
		}
		change := Change{Record: name, Field: col.name}
		if strings.HasSuffix(name, "_secret") { // a setting that is one
			col.kind = Secret
		}
		switch op {
		case sqlite.OpInsert:
			change.After = col.kind.value(value(it.New, i))
		case sqlite.OpDelete:
			change.Before = col.kind.value(value(it.Old, i))
		default:
			// A column that did not change has neither value.
			change.Before, change.After = col.kind.value(value(it.Old, i)), col.kind.value(value(it.New, i))
		}
		if change.Before != nil || change.After != nil {
			fields = append(fields, change)
		}
	}
	return name, id, fields, errors.Join(err, nameErr)
}
