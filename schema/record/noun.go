package record

import (
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// Noun is a kind of record: its table and its columns.
type Noun[T any] struct {
	made    string // the audit entry of a new record: part.created
	changed string // of a changed one: part.changed
	subject string // the record's name in the audit trail: subject:id
	byKey   bool   // or subject:key
	table   string
	order   string // of an export
	columns []Column[T]
	id, key int // their indexes among the columns; -1: none
	derive  func(*T)
	stand   func(*db.Conn, *T)
	check   func(tx *db.Tx, held, now *T) error
	empties bool
	whole   bool

	prefix           string // of the table's columns in a SELECT: "p."
	read             string // the columns of a SELECT
	from             string // FROM ...
	selects          string // SELECT ... FROM ...
	inserts, updates string
}

// New declares a noun. word is its name in the audit trail.
func New[T any](word, table string, columns ...Column[T]) *Noun[T] {
	n := &Noun[T]{made: word + ".created", changed: word + ".changed", subject: word, table: table, order: "id",
		columns: columns, id: -1, key: -1}
	for i := range columns {
		switch {
		case columns[i].id:
			n.id = i
		case columns[i].key:
			n.key = i
		}
	}
	n.reads("", "")
	n.writes()
	return n
}

// reads makes the SELECT, from the table under the alias and its joins.
func (n *Noun[T]) reads(alias, joins string) {
	if alias != "" {
		n.prefix = alias + "."
	}
	read := make([]string, len(n.columns))
	for i := range n.columns {
		if read[i] = n.columns[i].from; read[i] == "" {
			read[i] = n.prefix + n.columns[i].stored
		}
	}
	n.read = strings.Join(read, ", ")
	n.from = " FROM " + strings.Join(strings.Fields(n.table+" "+alias+" "+joins), " ") + " "
	n.selects = "SELECT " + n.read + n.from
}

// writes makes the INSERT and the UPDATE.
func (n *Noun[T]) writes() {
	var made, marks, set []string
	for i := range n.columns {
		c := &n.columns[i]
		if c.inserts() {
			made, marks = append(made, c.stored), append(marks, "?")
		}
		if c.sets() {
			set = append(set, c.stored+" = ?")
		}
	}
	n.inserts = "INSERT INTO " + n.table + " (" + strings.Join(made, ", ") + ") VALUES (" + strings.Join(marks, ", ") + ")"
	n.updates = "UPDATE " + n.table + " SET " + strings.Join(set, ", ") + " WHERE id = ?"
}

// Derive calls set after a record was read, for fields that follow from its columns.
func (n *Noun[T]) Derive(set func(*T)) *Noun[T] { n.derive = set; return n }

// Standing is Derive for fields that follow from the day too, of records that One, ByID, All and Each read.
func (n *Noun[T]) Standing(set func(*db.Conn, *T)) *Noun[T] { n.stand = set; return n }

// Check calls check before a row is written: it refuses invalid records and sets values that depend on the time. held
// is nil for a new record.
func (n *Noun[T]) Check(check func(tx *db.Tx, held, now *T) error) *Noun[T] {
	n.check = check
	return n
}

// Subject is the record's name in the audit trail, if it is not the noun's word.
func (n *Noun[T]) Subject(noun string) *Noun[T] { n.subject = noun; return n }

// ByKey makes the audit trail name a record by its key instead of its id.
func (n *Noun[T]) ByKey() *Noun[T] { n.byKey = true; return n }

// Sorted is the order of an export, as SQL; the default is by id.
func (n *Noun[T]) Sorted(order string) *Noun[T] { n.order = order; return n }

// Joined reads the table under the alias, with joins: for columns with From.
func (n *Noun[T]) Joined(alias, joins string) *Noun[T] {
	n.reads(alias, joins)
	if n.order == "id" {
		n.order = alias + ".id"
	}
	return n
}

// Whole gives the audit entry of a change the content of a new record's.
func (n *Noun[T]) Whole() *Noun[T] { n.whole = true; return n }

// Saved audits new and changed records alike, as part.saved, with Whole's content.
func (n *Noun[T]) Saved() *Noun[T] {
	n.made = n.subject + ".saved"
	n.changed = n.made
	return n.Whole()
}

// Empties makes null, or an empty text, set any field but the key to its default.
func (n *Noun[T]) Empties() *Noun[T] { n.empties = true; return n }

// Columns are the columns of the noun's own SELECTs; Row reads them.
func (n *Noun[T]) Columns() string { return n.read }

// Scan fills a record in place from a row of Columns.
func (n *Noun[T]) Scan(r *db.Row, t *T) {
	for i := range n.columns {
		n.columns[i].scan(r, t)
	}
	if n.derive != nil {
		n.derive(t)
	}
}

// Row reads a record from a row of Columns.
func (n *Noun[T]) Row(r *db.Row) (t T) {
	n.Scan(r, &t)
	return t
}

// scanIn is Scan for rows of a view.
func (n *Noun[T]) scanIn(c *db.Conn) func(*db.Row, *T) {
	if n.stand == nil {
		return n.Scan
	}
	return func(r *db.Row, t *T) {
		n.Scan(r, t)
		n.stand(c, t)
	}
}

// One returns the first record of rest ("WHERE id = ?"), and whether there is one.
func (n *Noun[T]) One(c *db.Conn, rest string, args ...any) (T, bool, error) {
	scan := n.scanIn(c)
	return db.One(c, func(r *db.Row) (t T) { scan(r, &t); return t }, n.selects+rest, args...)
}

// ByID returns the record with the number; without one the refusal is "there is no part 4".
func (n *Noun[T]) ByID(c *db.Conn, id int64) (T, error) {
	t, found, err := n.One(c, "WHERE "+n.prefix+"id = ?", id)
	if err == nil && !found {
		err = fault.NotFoundf("there is no %s %d", strings.ReplaceAll(n.subject, "_", " "), id)
	}
	return t, err
}

// All returns the records of rest ("WHERE ... ORDER BY ...").
func (n *Noun[T]) All(c *db.Conn, rest string, args ...any) ([]T, error) {
	return db.AllInto(c, n.scanIn(c), n.selects+rest, args...)
}

// Count returns the number of records of rest.
func (n *Noun[T]) Count(c *db.Conn, rest string, args ...any) (int64, error) {
	return db.Number(c, "SELECT count(*)"+n.from+rest, args...)
}

// Each calls fn for every record of rest.
func (n *Noun[T]) Each(c *db.Conn, fn func(*T) error, rest string, args ...any) error {
	var t, zero T
	scan := n.scanIn(c)
	return db.Each(c, func(r *db.Row) error {
		t = zero
		scan(r, &t)
		return fn(&t)
	}, n.selects+rest, args...)
}

// Bind binds the columns that people set: the fields of a form, or a row's columns. An absent column has its default.
func (n *Noun[T]) Bind(f *schema.Form) (t T) {
	n.BindTo(f, &t)
	return t
}

// BindTo is Bind into a record that has the defaults.
func (n *Noun[T]) BindTo(f *schema.Form, t *T) {
	for i := range n.columns {
		if c := &n.columns[i]; c.bound {
			if c.els != nil {
				c.els(t)
			}
			c.bind(f, t)
		}
	}
}

// Edits binds a record that is made or edited, and returns which columns the call has.
func (n *Noun[T]) Edits(f *schema.Form) (t T, given func(column string) bool) {
	if !n.empties {
		return n.Bind(f), f.Given
	}
	brought := n.Form(f, &t, true, nil)
	return t, func(column string) bool { return brought[column] }
}

// Form binds the fields of a form into t and returns which of them the call has: those named, or all that are not
// FileOnly. more holds a column's options in this form. In an Edit form null, or an empty field, clears an optional
// value.
func (n *Noun[T]) Form(f *schema.Form, t *T, edits bool, more func(column string) []schema.Opt,
	only ...string) map[string]bool {
	given := map[string]bool{}
	for i := range n.columns {
		c := &n.columns[i]
		if !c.bound || c.fileOnly || len(only) > 0 && !slices.Contains(only, c.name) {
			continue
		}
		var opts []schema.Opt
		if more != nil {
			opts = more(c.name)
		}
		if c.els != nil {
			c.els(t)
		}
		var emptied bool
		if edits && (c.nullable || n.empties && !c.key) {
			opts = append(opts, schema.Clear(&emptied))
		}
		given[c.name] = c.bind(f, t, opts...) || emptied
	}
	return given
}

// Header lists the columns of the CSV file.
func (n *Noun[T]) Header() (names []string) {
	for i := range n.columns {
		if n.columns[i].files() {
			names = append(names, n.columns[i].name)
		}
	}
	return names
}

// Cells is a record as a row of the CSV file.
func (n *Noun[T]) Cells(t T) []string {
	cells := make([]string, 0, len(n.columns))
	for i := range n.columns {
		if n.columns[i].files() {
			cells = append(cells, n.columns[i].cell(&t))
		}
	}
	return cells
}

// Texts is a record as texts by column: the values of its Edit form.
func (n *Noun[T]) Texts(t T) map[string]string {
	texts := make(map[string]string, len(n.columns))
	for i := range n.columns {
		if c := &n.columns[i]; c.bound || c.id || c.files() {
			texts[c.name] = c.cell(&t)
		}
	}
	return texts
}

// Fill is schema.Op's Fill: the form of the record with the given key.
func (n *Noun[T]) Fill(c *db.Conn, given map[string]string) (map[string]string, bool, error) {
	t, found, err := n.keyed(c, given[n.columns[n.key].name])
	if err != nil || !found {
		return nil, false, err
	}
	return n.Texts(t), true, nil
}

// keyed finds a record by its key.
func (n *Noun[T]) keyed(c *db.Conn, key any) (T, bool, error) {
	return n.One(c, "WHERE "+n.columns[n.key].stored+" = ?", key)
}

// Rows is the Row of a table whose rows are stored by put, with which of the columns each has.
func (n *Noun[T]) Rows(put func(tx *db.Tx, now T, given func(column string) bool) (schema.Outcome, error)) func(
	*schema.Form) schema.Put {
	return func(f *schema.Form) schema.Put {
		now, given := n.Edits(f)
		return func(tx *db.Tx) (schema.Outcome, error) { return put(tx, now, given) }
	}
}

// Saves is the Bind of an operation that makes or changes a record: put stores it as a row of a file, and read returns
// what it is then.
func Saves[T, R any](d *db.DB, n *Noun[T], put func(*db.Tx, T, func(column string) bool) (schema.Outcome, error),
	read func(c *db.Conn, now T, id int64) (R, error)) func(*schema.Form) schema.Handler {
	return schema.Writes2(d, func(f *schema.Form, now *T, given *func(string) bool) { *now, *given = n.Edits(f) },
		func(tx *db.Tx, now T, given func(string) bool) (saved R, err error) {
			o, err := put(tx, now, given)
			if err != nil {
				return saved, err
			}
			return read(&tx.Conn, now, o.ID)
		})
}

// Table is the noun's CSV table: rows are identified by the key, if there is one.
func (n *Noun[T]) Table(name, about string) schema.Table {
	t := schema.Table{
		Name: name, About: about,
		Row: n.Rows(n.Put),
		Export: func(c *db.Conn, emit func(cells ...string) error) error {
			return n.Each(c, func(t *T) error { return emit(n.Cells(*t)...) }, "ORDER BY "+n.order)
		},
	}
	if n.key >= 0 {
		t.Find = func(c *db.Conn, cell func(column string) string) ([]string, bool, error) {
			t, found, err := n.keyed(c, strings.TrimSpace(cell(n.columns[n.key].name)))
			return n.Cells(t), found, err
		}
	}
	return t
}
