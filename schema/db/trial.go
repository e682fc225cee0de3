package db

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"

	"zombiezen.com/go/sqlite"

	"quartermaster/schema/exact"
)

// Change is one field of a record that a trial run would have changed. Before is nil
// for a new record and for a field that was empty, After for a removed record and a
// field that was cleared.
type Change struct {
	Record string `json:"record"` // as the audit trail's subjects: work_order:12
	Field  string `json:"field"`
	Before any    `json:"before"`
	After  any    `json:"after"`
}

// trial is a transaction of the writer that is rolled back, and what runs in it.
type trial struct {
	d    *DB
	c    *handle
	now  exact.Instant
	busy bool // an Update is under way
}

type trialKey struct{}

func trialOf(ctx context.Context) *trial {
	t, _ := ctx.Value(trialKey{}).(*trial)
	return t
}

// Trying tells whether ctx is that of a trial run: what is not kept in the database
// (a message sent, a file written) is left out then.
func Trying(ctx context.Context) bool { return trialOf(ctx) != nil }

// Trial calls act and undoes it. Every View and Update under the context that act is
// given happens in one transaction, sees what came before it, and is rolled back at the
// end: nothing is committed, audited, emitted or kept for an idempotency key. It gives
// what would have changed, by record; what the appliance derives from it or notes beside
// it is left out. Other writers wait meanwhile.
//
// act must not go on in another goroutine. Its error is Trial's.
func (d *DB) Trial(ctx context.Context, act func(ctx context.Context) error) (changes []Change, err error) {
	if trialOf(ctx) != nil {
		return nil, errors.New("db: a trial in a trial")
	}
	undone := errors.New("db: undone")
	err = d.submit(ctx, Bookkeeping(), func(tx *Tx) error {
		changes, err = tx.rehearse(ctx, act)
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

func (tx *Tx) rehearse(ctx context.Context, act func(ctx context.Context) error) ([]Change, error) {
	tables, err := watchable(&tx.Conn)
	if err != nil {
		return nil, err
	}
	session, err := tx.c.CreateSession("main")
	if err != nil {
		return nil, err
	}
	defer session.Delete()
	for name := range tables {
		if err := session.Attach(name); err != nil {
			return nil, err
		}
	}
	t := &trial{d: tx.d, c: tx.c, now: tx.now}
	if err := act(context.WithValue(ctx, trialKey{}, t)); err != nil {
		return nil, err
	}
	var set bytes.Buffer
	if err := session.WriteChangeset(&set); err != nil {
		return nil, err
	}
	return changesIn(&tx.Conn, tables, &set)
}

// update runs one Update of a trial.
func (t *trial) update(who Caller, fn func(*Tx) error) error {
	if err := who.MayWrite("this change"); err != nil {
		return err
	}
	if t.busy {
		return nestedError()
	}
	t.busy = true
	defer func() { t.busy = false }()
	tx := &Tx{Conn: Conn{now: t.now, c: t.c, loc: t.d.zone}, d: t.d, who: who}
	return tx.Try(func() error { return failed(tx.run(fn)) })
}

// view runs one View of a trial.
func (t *trial) view(fn func(*Conn) error) error {
	return fn(&Conn{now: t.now, c: t.c, loc: t.d.zone})
}

// changesIn reads a changeset: by table and record, in the order of the columns.
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
	flush := func() { // a changeset has a table's rows together, in no order
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
func (w *watched) read(c *Conn, it *sqlite.ChangesetIterator, op sqlite.OpType) (name string, id int64, fields []Change, err error) {
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
			return sqlite.Value{} // changed or not, the row says it by its key
		}
		return value(key, i)
	})
	for i, col := range w.columns {
		if col.inKey == 1 && id == 0 {
			if v := value(key, i); v.Type() == sqlite.TypeInteger {
				id = v.Int64()
			}
		}
		if col.kind == kindDerived || col.inKey > 0 {
			continue
		}
		change := Change{Record: name, Field: col.name}
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
