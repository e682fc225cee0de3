package record

import (
	"quartermaster/schema"
	"quartermaster/schema/db"
)

// Changes are the columns that an edit changed, each with the old and the new value.
type Changes map[string][2]any

// Edit applies the given columns of now to held and returns the changes. The key and columns that are written once
// stay.
func (n *Noun[T]) Edit(held *T, now T, given func(column string) bool) Changes {
	changes := Changes{}
	for i := range n.columns {
		if c := &n.columns[i]; c.sets() && given(c.name) {
			if was, is, differ := c.lay(held, &now); differ {
				changes[c.name] = [2]any{c.show(was), c.show(is)}
			}
		}
	}
	if len(changes) > 0 && n.derive != nil {
		n.derive(held)
	}
	return changes
}

// Insert writes a new record, with its id or, if 0, the next one, and returns that.
func (n *Noun[T]) Insert(tx *db.Tx, now *T) (id int64, err error) {
	if n.check != nil {
		if err := n.check(tx, nil, now); err != nil {
			return 0, err
		}
	}
	values := make([]any, 0, len(n.columns))
	for i := range n.columns {
		if c := &n.columns[i]; c.inserts() {
			values = append(values, c.value(now))
		}
	}
	return tx.Insert(n.inserts, values...)
}

// Update writes all columns that an edit may change. held is the old record.
func (n *Noun[T]) Update(tx *db.Tx, held, now *T) error {
	if n.check != nil {
		if err := n.check(tx, held, now); err != nil {
			return err
		}
	}
	values := make([]any, 0, len(n.columns)+1)
	for i := range n.columns {
		if c := &n.columns[i]; c.sets() {
			values = append(values, c.value(now))
		}
	}
	_, err := tx.Exec(n.updates, append(values, n.columns[n.id].plain(held))...)
	return err
}

// Told is the audit entry of a new record: its Told columns, or else the whole record.
func (n *Noun[T]) Told(t *T) any {
	told := map[string]any{}
	for i := range n.columns {
		if c := &n.columns[i]; c.told {
			told[c.name] = c.show(c.plain(t))
		}
	}
	if len(told) == 0 {
		return *t
	}
	return told
}

// Put makes the record of now's key, or applies the given columns of now to it, with an audit entry.
func (n *Noun[T]) Put(tx *db.Tx, now T, given func(column string) bool) (o schema.Outcome, err error) {
	held, found, err := n.keyed(&tx.Conn, n.columns[n.key].value(&now))
	if err != nil {
		return o, err
	}
	if !found {
		return n.Create(tx, &now)
	}
	return n.Change(tx, held, now, given)
}

// Create makes the record, with its audit entry.
func (n *Noun[T]) Create(tx *db.Tx, now *T) (o schema.Outcome, err error) {
	if o.ID, err = n.Insert(tx, now); err != nil {
		return o, err
	}
	o.New = true
	return o, tx.Audit(n.made, n.called(now, o.ID), n.Told(now))
}

// Change applies the given columns of now to held, with an audit entry, if that changes anything.
func (n *Noun[T]) Change(tx *db.Tx, held, now T, given func(column string) bool) (schema.Outcome, error) {
	id, is := n.columns[n.id].plain(&held).(int64), held
	changes := n.Edit(&is, now, given)
	if len(changes) == 0 {
		return schema.Outcome{ID: id}, nil
	}
	if err := n.Update(tx, &held, &is); err != nil {
		return schema.Outcome{}, err
	}
	var told any = changes
	if n.whole {
		told = n.Told(&is)
	}
	return schema.Changed(id, changes), tx.Audit(n.changed, n.called(&held, id), told)
}

// called is the record's name in the audit trail.
func (n *Noun[T]) called(t *T, id int64) string {
	if n.byKey {
		return n.subject + ":" + n.columns[n.key].cell(t)
	}
	return db.Subject(n.subject, id)
}
