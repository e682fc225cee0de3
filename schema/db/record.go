package db

import (
	"fmt"
	"maps"
	"strings"

	"zombiezen.com/go/sqlite"

	"quartermaster/schema/exact"
)

// Rows names the rows of a table in a trial's changes.
type Rows struct {
	Noun string // "work_order"; "" is the table's name in the singular, without the service's prefix
	Key  string // the column that names a row, as in the audit trail's subjects; "": the primary key
	Skip bool   // bookkeeping, or derived from other tables by triggers and sums
}

// Naming describes a service's tables, before any database is opened.
type Naming struct {
	Prefix  string          // of its tables' names
	Tables  map[string]Rows // tables with another name
	Columns map[string]Kind // by table.column: kinds that the names do not imply
}

// The names of the tables without a service, and those added by Describe.
var (
	rows = map[string]Rows{
		"answers": {Skip: true}, "audit": {Skip: true}, "credential_stamp": {Skip: true}, "deliveries": {Skip: true},
		"accepted_requests": {Skip: true}, "sign_ins": {Skip: true}, "events": {Skip: true}, "import_choices": {Skip: true},
		"import_files": {Skip: true}, "import_pieces": {Skip: true}, "import_trials": {Skip: true},
		"schema_migrations": {Skip: true}, "sessions": {Skip: true},
		"endpoints": {Noun: "webhook"}, "settings": {Noun: "settings"},
	}
	kinds    = map[string]Kind{}
	prefixes []string
)

// Describe registers a service's tables. Call it when the program starts.
func Describe(n Naming) {
	maps.Copy(rows, n.Tables)
	maps.Copy(kinds, n.Columns)
	if n.Prefix != "" {
		prefixes = append(prefixes, n.Prefix)
	}
}

func rowsOf(table string) Rows {
	r := rows[table]
	if r.Noun == "" {
		r.Noun = table
		for _, p := range prefixes {
			r.Noun = strings.TrimPrefix(r.Noun, p)
		}
		if stem, ok := strings.CutSuffix(r.Noun, "ies"); ok {
			r.Noun = stem + "y"
		} else {
			r.Noun = strings.TrimSuffix(r.Noun, "s")
		}
	}
	return r
}

// Kind is the meaning of a column's whole number, or that its value is hidden. Dates end in _date or _day, instants in
// _at or _until; a column whose CHECK allows 0 and 1 is a boolean.
type Kind int

// The kinds of columns.
const (
	Plain Kind = iota
	Bool
	DayNumber
	Moment
	Thousandths
	Secret  // reported as changed, without values
	Derived // not reported: it follows from other columns, or from the time of the change
)

// kindOf returns the kind of a table's column. sql is the table's declaration.
func kindOf(table, column, declared, sql string) Kind {
	if k, ok := kinds[table+"."+column]; ok {
		return k
	}
	switch {
	case declared == "BLOB", strings.HasSuffix(column, "secret"), strings.HasSuffix(column, "hash"),
		strings.HasSuffix(column, "token"),
		strings.HasPrefix(column, "password"):
		return Secret
	case column == "updated_at":
		return Derived
	case declared != "INTEGER":
		return Plain
	case strings.HasSuffix(column, "_at"), strings.HasSuffix(column, "_until"):
		return Moment
	case strings.HasSuffix(column, "_date"), strings.HasSuffix(column, "_day"), column == "day":
		return DayNumber
	case strings.Contains(sql, "CHECK ("+column+" IN (0, 1))"):
		return Bool
	}
	return Plain
}

// notShown replaces a hidden value, or bytes that are no text.
const notShown = "(not shown)"

// value is a column's value as people and JSON read it; nil for NULL.
func (k Kind) value(v sqlite.Value) any {
	switch {
	case v.Type() == sqlite.TypeNull:
		return nil
	case k == Secret:
		return notShown
	case v.Type() == sqlite.TypeText:
		return v.Text()
	}
	n := v.Int64()
	switch k {
	case Bool:
		return n != 0
	case DayNumber:
		return exact.Day(n) // #nosec G115 -- it was written as a day
	case Moment:
		return exact.Instant(n)
	case Thousandths:
		return exact.Milli(n)
	}
	return n
}

// column is one column of a table that a trial watches.
type column struct {
	name  string
	kind  Kind
	inKey int // its position in the primary key; 0: none
}

// watched is a table with its columns, in a changeset's order.
type watched struct {
	Rows
	name    string
	columns []column
}

// watchable lists the tables whose changes a trial reports.
func watchable(c *Conn) (map[string]*watched, error) {
	type table struct{ name, sql string }
	tables, err := All(c, func(r *Row) table { return table{r.Text(), r.Text()} },
		`SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
			AND name NOT IN (SELECT name FROM pragma_table_list WHERE type IN ('virtual', 'shadow'))`)
	if err != nil {
		return nil, err
	}
	all := map[string]*watched{}
	for _, t := range tables {
		w := &watched{Rows: rowsOf(t.name), name: t.name}
		if w.Skip {
			continue
		}
		keyed := false
		err := Each(c, func(r *Row) error {
			name, declared, pk := r.Text(), r.Text(), int(r.Int())
			keyed = keyed || pk > 0
			w.columns = append(w.columns, column{name, kindOf(t.name, name, declared, t.sql), pk})
			return nil
		}, "SELECT name, type, pk FROM pragma_table_info(?)", t.name)
		if err != nil {
			return nil, err
		}
		if keyed {
			all[t.name] = w
		}
	}
	return all, nil
}

// called returns a row's name, such as "work_order:12". at reads a column of the row.
func (w *watched) called(c *Conn, at func(column int) sqlite.Value) (string, error) {
	var where, parts []string
	var args []any
	for i, col := range w.columns {
		if col.name == w.Key && at(i).Type() != sqlite.TypeNull {
			return fmt.Sprintf("%s:%v", w.Noun, col.kind.value(at(i))), nil
		}
		if col.inKey == 0 || col.name == "only" {
			continue
		}
		v := at(i)
		parts = append(parts, fmt.Sprint(col.kind.value(v)))
		where = append(where, fmt.Sprintf("%s = ?%d", col.name, len(args)+1))
		if v.Type() == sqlite.TypeText {
			args = append(args, v.Text())
		} else {
			args = append(args, v.Int64())
		}
	}
	if w.Key != "" {
		// #nosec G201 -- names of the schema
		name, found, err := One(c, Text, fmt.Sprintf("SELECT %s FROM %s WHERE %s", w.Key, w.name,
			strings.Join(where, " AND ")), args...)
		if err != nil {
			return "", err
		}
		if found {
			return w.Noun + ":" + name, nil
		}
	}
	return strings.Join(append([]string{w.Noun}, parts...), ":"), nil
}
