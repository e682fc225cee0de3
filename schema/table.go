package schema

import (
	"context"
	"maps"
	"slices"

	"quartermaster/schema/db"
)

// Table is a set of records in CSV: header names are the columns, and an export imports again unchanged.
type Table struct {
	Name    string
	About   string
	Options []string // its flags of import: "add", "emit"
	Sheet   bool     // people write it: usual column names are accepted too, and money is in currency units
	// it contains what gives access, in columns that are Secret: for admins only, who type their password again
	Secret bool

	// Row binds one row's columns and returns what stores it. Like Op.Bind it is also called without values, to describe
	// the columns. The identifier's columns are Required; f.Given distinguishes a column of the file from an absent one.
	Row func(f *Form) Put

	// Load, if set, stores many rows at once instead of Row's Put, which then only describes the columns. A file comes in
	// batches, each of which stays stored if a later one fails. Load is called several times. Rows that agree in the
	// columns of Together, which it needs, come in one call, in the file's order. Calls follow the first row of each such
	// group, unless AnyOrder allows any order.
	Load     func(ctx context.Context, d *db.DB, who db.Caller, lines []Line, o LoadOptions) (Loaded, error)
	Together []string
	AnyOrder bool
	After    string // the table whose records the rows name, "skus": it is imported first

	// Find returns one record's cells in the order of the columns: the one named by the cells of its identifier's columns
	// (or its id). It is for Edit forms.
	Find func(c *db.Conn, cell func(column string) string) (cells []string, found bool, err error)

	// Page is the address of the page of the record that those cells name, to show it after saving.
	Page func(c *db.Conn, cell func(column string) string) (path string, err error)

	// Group and Rows, if set, store the rows that agree in the columns of Group together, wherever they are in the file.
	// Rows binds the form of each, in the file's order, and returns what stores them all. One refused row refuses its
	// group. Row then only describes the columns.
	Group []string
	Rows  func(fs []*Form) Put

	// Export passes every record to emit, the cells in the order of the columns.
	Export func(c *db.Conn, emit func(cells ...string) error) error

	// Written returns how many of the columns an export has: later ones are for imports, or empty in every record. nil is
	// all.
	Written func(c *db.Conn) (columns int, err error)

	// Foresee, if set, calls store, which stores a file's rows in a trial, and returns their later automatic effects.
	Foresee func(ctx context.Context, d *db.DB, who db.Caller, store func() error) (Foreseen, error)
}

// Foreseen are the later effects of a file's rows; none without Text. A person may set Column for all rows to avoid
// them; Label asks for its value.
type Foreseen struct {
	WouldPost     any
	Text          func(Money) string `json:"-"`
	Column, Label string
}

// Put stores one row and returns what that did; its refusal refuses the row alone.
type Put func(tx *db.Tx) (Outcome, error)

// Try stores the row; if that fails, only its own changes are undone.
func (put Put) Try(tx *db.Tx) (o Outcome, err error) {
	err = tx.Try(func() error {
		o, err = put(tx)
		return err
	})
	return o, err
}

// Outcome is the effect of storing a record: it is New, or Fields of it changed. With neither it is unchanged, and
// nothing was written.
type Outcome struct {
	ID     int64 // the record's, if it has a number
	New    bool
	Fields []string // the columns that changed, sorted
}

// Changed is the outcome for an existing record: the changes by column.
func Changed[V any](id int64, changes map[string]V) Outcome {
	return Outcome{ID: id, Fields: slices.Sorted(maps.Keys(changes))}
}

// Line is one row of a file: its line number and its cells in the order of the table's columns; "" for a column that
// the file lacks.
type Line struct {
	Number int
	Cells  []string
}

// LoadOptions are import's flags.
type LoadOptions struct {
	Add, Emit, DryRun bool
	Columns           []string // of the file, for a table that is imported as a whole
	// in a dry run: rows with a value that is stored as another, such as an unknown payment method as other
	Replaced *int
}

// Loaded is the result of an import.
type Loaded struct {
	Imported int       `json:"imported"`
	Errors   []Refused `json:"errors"`

	New, Changed, Same int          `json:"-"` // numbers of imported rows by outcome
	Changes            []LineChange `json:"-"` // the changed rows, the first MostChanges of them

	Remarks []Remark  `json:"-"` // notes about accepted rows
	Unknown []Unknown `json:"-"` // unknown names of records in refused rows, each once
}

// Remark is one sentence about accepted rows.
type Remark struct {
	Text  string
	Rows  int
	Lines []int // the first few
}

// Unknown is a name in a file that means no record yet, and the operation that maps it: with Fields unchanged, and the
// record in Field, one of the field's choices.
type Unknown struct {
	Name, Op, Field string
	Rows            int
	Fields          map[string]string
}

// Merge adds the result of another part of the same import.
func (l *Loaded) Merge(part Loaded) {
	l.Imported += part.Imported
	l.New += part.New
	l.Changed += part.Changed
	l.Same += part.Same
	l.Changes = append(l.Changes, part.Changes...)
	l.Changes = l.Changes[:min(len(l.Changes), MostChanges)]
	l.Errors = append(l.Errors, part.Errors...)
	for _, r := range part.Remarks {
		l.remark(r)
	}
	for _, u := range part.Unknown {
		l.Miss(u)
	}
}

// Remark notes a sentence about a row.
func (l *Loaded) Remark(text string, line int) {
	l.remark(Remark{Text: text, Rows: 1, Lines: []int{line}})
}

func (l *Loaded) remark(r Remark) {
	at := slices.IndexFunc(l.Remarks, func(is Remark) bool { return is.Text == r.Text })
	if at < 0 {
		l.Remarks = append(l.Remarks, Remark{Text: r.Text})
		at = len(l.Remarks) - 1
	}
	const few = 10
	is := &l.Remarks[at]
	is.Rows += r.Rows
	is.Lines = append(is.Lines, r.Lines...)
	is.Lines = is.Lines[:min(len(is.Lines), few)]
}

// Miss notes rows whose name means no record.
func (l *Loaded) Miss(u Unknown) {
	at := slices.IndexFunc(l.Unknown, func(is Unknown) bool {
		return is.Name == u.Name &&
			maps.Equal(is.Fields, u.Fields)
	})
	if at >= 0 {
		l.Unknown[at].Rows += u.Rows
		return
	}
	l.Unknown = append(l.Unknown, u)
}

// LineChange is one row of a file that changes a record, with the changed fields.
type LineChange struct {
	Line   int      `json:"line"`
	Fields []string `json:"fields"`
}

// MostChanges bounds the listed changes of an import; its counts are complete.
const MostChanges = 1000

// Note counts the lines of a stored record by outcome.
func (l *Loaded) Note(o Outcome, lines ...int) {
	rows := len(lines)
	l.Imported += rows
	switch {
	case o.New:
		l.New += rows
	case len(o.Fields) > 0:
		l.Changed += rows
		if len(l.Changes) < MostChanges {
			l.Changes = append(l.Changes, LineChange{Line: lines[0], Fields: o.Fields})
		}
	default:
		l.Same += rows
	}
}

// Refused is a row that was not imported, and why.
type Refused struct {
	Line   int    `json:"line"`
	Reason string `json:"reason"`
	Column string `json:"-"` // the first column concerned; "" for the row
}

// Grouped gives a table the Row and Rows by which put stores the rows of a group, each bound by bind.
func Grouped[R any](t Table, bind func(*Form) R, put func(tx *db.Tx, rows []R) (Outcome, error)) Table {
	t.Rows = func(forms []*Form) Put {
		rows := Map(forms, bind)
		return func(tx *db.Tx) (Outcome, error) { return put(tx, rows) }
	}
	t.Row = func(f *Form) Put { return t.Rows([]*Form{f}) }
	return t
}

// Columns describes the table's columns in order.
func (t Table) Columns() []Arg {
	f := &Form{describing: true, surface: CSV}
	t.Row(f)
	return f.args
}

// Decode reads one row's cells by column name.
func (t Table) Decode(cells map[string]string, o LoadOptions) (Put, error) {
	f := &Form{surface: CSV, in: Input{Surface: CSV, Cells: cells}, Options: o}
	put := t.Row(f)
	if err := f.finish(); err != nil {
		return nil, err
	}
	return put, nil
}

// BindLines binds a Load's lines by bind, and passes each row with its number, its cells by column, and its own
// refusal. A column that the file lacks is absent.
func BindLines[R any](lines []Line, o LoadOptions, bind func(*Form) R,
	each func(number int, cells map[string]string, row R, refusal error)) {
	var row R
	t := Table{Row: func(f *Form) Put {
		row = bind(f)
		return nil
	}}
	columns := t.Columns()
	for _, l := range lines {
		cells := make(map[string]string, len(columns))
		for i, c := range columns {
			if o.Columns == nil || slices.Contains(o.Columns, c.Name) {
				cells[c.Name] = l.Cells[i]
			}
		}
		_, err := t.Decode(cells, o)
		each(l.Number, cells, row, err)
	}
}

// DecodeRows reads the cells of a group's rows. A refusal comes with the index of its row.
func (t Table) DecodeRows(rows []map[string]string, o LoadOptions) (put Put, at int, err error) {
	forms := Map(rows, func(cells map[string]string) *Form {
		return &Form{surface: CSV, in: Input{Surface: CSV, Cells: cells}, Options: o}
	})
	put = t.Rows(forms)
	for i, f := range forms {
		if err := f.finish(); err != nil {
			return nil, i, err
		}
	}
	return put, 0, nil
}
