package table

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"quartermaster/schema/db"
)

// judge tells what each row of a dry run would do, by the audit entries that storing it
// wrote: none, and nothing changed; a change tells its fields, each with what it was
// and what it is.
type judge struct {
	seen  int64  // the last audit entry
	count string // the query that moves with each new record; "": the entries tell
	last  int64  // what it gave
}

// counts are, of the tables whose audit entries do not tell a new record from a changed
// one, queries that do.
var counts = map[string]string{
	"products":        "SELECT coalesce(max(id), 0) FROM store_products",
	"customers":       "SELECT coalesce(max(id), 0) FROM store_customers",
	"purchase-orders": "SELECT count(*) FROM purchase_order_lines",
}

func (l *loading) judge(tx *db.Tx) (*judge, error) {
	if !l.judging {
		return nil, nil
	}
	j := &judge{count: counts[l.table.Name]}
	return j, j.mark(tx)
}

func (j *judge) mark(tx *db.Tx) (err error) {
	if j.seen, _, err = db.One(&tx.Conn, db.Int, "SELECT coalesce(max(id), 0) FROM audit"); err != nil {
		return err
	}
	j.last, err = j.counted(tx)
	return err
}

func (j *judge) counted(tx *db.Tx) (n int64, err error) {
	if j.count != "" {
		n, _, err = db.One(&tx.Conn, db.Int, j.count)
	}
	return n, err
}

// entry is an audit entry of a row.
type entry struct{ action, subject, changes string }

func (j *judge) row(tx *db.Tx, row bound, l *loading) error {
	if j == nil {
		return nil
	}
	entries, err := db.All(&tx.Conn, func(r *db.Row) entry { return entry{r.Text(), r.Text(), r.Text()} },
		"SELECT action, subject, changes FROM audit WHERE id > ? AND actor <> 'system' ORDER BY id", j.seen)
	if err != nil {
		return err
	}
	n, err := j.counted(tx)
	if err != nil {
		return err
	}
	fields := map[string]bool{}
	unsaid := ""
	isNew := n > j.last
	for _, e := range entries {
		changed := changedFields(e)
		isNew = isNew || changed == nil && j.count == ""
		for _, f := range changed {
			fields[f] = true
		}
		if len(changed) == 0 {
			unsaid = e.subject
		}
	}
	switch n := len(row.lines); {
	case len(entries) == 0:
		l.done.Same += n
	case isNew:
		l.done.New += n
	default:
		l.done.Changed += n
		if len(l.changes) < MaxShown {
			l.changes = append(l.changes, RowChange{Line: row.lines[0], Fields: slices.Sorted(maps.Keys(fields)), record: unsaid})
		}
	}
	return j.mark(tx)
}

// changedFields are the fields of an entry of a change; nil for one of a new record.
func changedFields(e entry) []string {
	_, act, _ := strings.Cut(e.action, ".")
	switch act {
	case "created", "recorded", "opened", "added", "posted":
		return nil
	case "saved", "imported": // they hold the whole record, new or not
		return []string{}
	}
	var changes map[string]json.RawMessage
	if json.Unmarshal([]byte(e.changes), &changes) != nil {
		return []string{}
	}
	fields := []string{}
	for name, v := range changes {
		if act == "changed" && len(v) > 0 && v[0] != '[' {
			continue // says which record it is
		}
		fields = append(fields, name)
	}
	return fields
}

// fill names the fields of the changes whose audit entries do not, by what the trial saw.
func fill(rows []RowChange, changes []db.Change) {
	byRecord := map[string][]string{}
	for _, c := range changes {
		byRecord[c.Record] = append(byRecord[c.Record], c.Field)
	}
	for i, r := range rows {
		if len(r.Fields) == 0 && r.record != "" {
			rows[i].Fields = byRecord[r.record]
		}
		if rows[i].Fields == nil {
			rows[i].Fields = []string{}
		}
	}
}
