// Package table reads and writes the services' tables as files: CSV (RFC 4180), which Export writes and an import reads
// back unchanged, and other programs' files: other delimiters and encodings, XLSX workbooks, other column names, other
// formats of dates and amounts.
package table

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
)

// batchRows is the number of rows sent together from the reader to the transaction, and the interval of progress
// reports.
const batchRows = 500

// Outcome is the result of an import, or of a dry run.
type Outcome struct {
	schema.Loaded
	Found  Found
	Left   []string          // unknown columns of the file
	Called map[string]string // what another program's file calls its products, by SKU
	Notes  []string          // notes beside stored rows: skipped, netted
	DryRun bool

	// Of a dry run only.
	Refused  int            // rows
	Would    []db.Change    // the changes by record, the first MaxShown
	Events   map[string]int // the events that would be sent
	Follows  schema.Foreseen
	Replaced int        // rows with a value that is stored as another
	Columns  []string   // of the sample
	Sample   [][]string // the first rows as they would be stored
}

// MaxShown bounds the listed changes of a dry run; its counts are complete.
const MaxShown = 1000

// noted is the number of rows after which a dry run records no further changes by record.
const noted = 20_000

// sampleRows is the number of rows of a dry run shown as they would be stored.
const sampleRows = 20

// Run stores the rows of a file, read with o, in batches between which others write. A refused row is skipped, with its
// line and the reason; the others are stored. A header that does not fit the table refuses the whole file. For any
// error outside a row see inSlices.
//
// Empty lines are skipped. An absent column leaves that field of an existing record unchanged, an empty cell is its
// default. progress, unless nil, is called now and then with the number of rows read.
//
// With o.DryRun it stores nothing, and its outcome is what would change and which events would be sent.
func Run(ctx context.Context, d *db.DB, who db.Caller, t schema.Table, f *File, o Options, progress func(rows int)) (
	Outcome, error) {
	if err := MayImport(who, t); err != nil {
		return Outcome{}, err
	}
	if err := o.Check(t); err != nil {
		return Outcome{}, err
	}
	if progress == nil {
		progress = func(int) {}
	}
	in, err := shopOf(ctx, d)
	if err != nil {
		return Outcome{}, err
	}
	who.Unmailed = true
	l := &loading{d: d, who: who, table: t, options: o, progress: progress, currency: in.currency, mail: in.mail}
	if err := l.read(f, in); err != nil {
		return Outcome{}, err
	}
	if o.DryRun {
		return l.rehearse(ctx)
	}
	l.work = o.Work
	if err := l.resume(); err != nil {
		return Outcome{}, err
	}
	if err := l.store(ctx); err != nil {
		return Outcome{}, err
	}
	return l.outcome(), nil
}

// MayImport refuses callers who may not write the table: a table that gives access is for admins.
func MayImport(who db.Caller, t schema.Table) error {
	if err := who.MayWrite("import"); err != nil {
		return err
	}
	if t.Secret && who.Role != "admin" {
		return fault.Forbiddenf("import: %s are for the role admin; %s has the role %s", t.Name, who.User, who.Role)
	}
	return nil
}

func shopOf(ctx context.Context, d *db.DB) (in shop, err error) {
	in.zone = d.Zone()
	err = d.View(ctx, func(c *db.Conn) error {
		if in.currency, err = c.Currency(); err == nil {
			in.mail, err = mail.SetUp(c)
		}
		return err
	})
	return in, err
}

// loading is a running import.
type loading struct {
	d        *db.DB
	who      db.Caller
	mail     bool // it is set up
	table    schema.Table
	options  Options
	progress func(int)
	rows     *reader
	done     schema.Loaded
	sample   []shown
	notes    []string
	follows  schema.Foreseen
	currency exact.Currency
	trying   bool     // a dry run, in a copy of the database
	work     *db.Work // its progress; nil: it cannot be repeated
	skip     int      // records that an earlier run stored
	earlier  int      // rows that it stored
}

// read opens the file, after collecting its returns if they are netted.
func (l *loading) read(f *File, in shop) (err error) {
	l.done = schema.Loaded{Errors: []schema.Refused{}}
	var back *returns
	if l.rows, err = f.open(l.table, l.options.Reading, in); err != nil {
		return err
	}
	if l.options.Returns == "net" || l.rows.translate != nil && l.rows.translate.program.net {
		if back, err = collect(l.rows); err != nil {
			return err
		}
		if l.rows, err = f.open(l.table, l.options.Reading, in); err == nil {
			l.rows.returns = back
		}
	}
	return err
}

// store writes the rows of the file.
func (l *loading) store(ctx context.Context) (err error) {
	switch {
	case l.table.Load != nil:
		err = l.loadSlices(ctx)
	case l.table.Rows != nil:
		err = l.putGroups(ctx)
	default:
		err = l.putAll(ctx)
	}
	slices.SortStableFunc(l.done.Errors, func(a, b schema.Refused) int { return a.Line - b.Line })
	return err
}

func (l *loading) outcome() Outcome {
	out := Outcome{Loaded: l.done, Found: l.rows.found, Left: l.rows.layout.left, DryRun: l.options.DryRun}
	out.Notes = slices.Clone(l.notes)
	if l.options.DryRun && l.mail {
		out.Notes = append(out.Notes, "an import sends no mail")
	}
	if l.earlier > 0 {
		out.Notes = append(out.Notes, exact.Plural(l.earlier, "row of these was", "rows of these were")+
			" stored by an earlier import of this file that was cut off, and not again")
	}
	if l.rows.translate != nil {
		out.Notes = append(out.Notes, l.rows.translate.told()...)
		out.Called = l.rows.translate.called
	}
	if l.rows.returns != nil {
		out.Notes = append(out.Notes, l.rows.returns.told()...)
	}
	for _, r := range l.done.Remarks {
		out.Notes = append(out.Notes, toldOf(r))
	}
	return out
}

// rehearse runs the import in a copy of the database, for which no writer waits.
func (l *loading) rehearse(ctx context.Context) (Outcome, error) {
	l.trying = true
	events := map[string]int{}
	changes, err := l.d.TrialAside(ctx, func(d *db.DB) error {
		defer func(outside *db.DB) { l.d = outside }(l.d)
		l.d = d
		var before int64
		if err := l.d.View(ctx, func(c *db.Conn) (err error) {
			before, _, err = db.One(c, db.Int, "SELECT coalesce(max(seq), 0) FROM events")
			return err
		}); err != nil {
			return err
		}
		l.options.Replaced = new(int)
		if err := l.foresee(ctx); err != nil {
			return err
		}
		return l.d.View(ctx, func(c *db.Conn) error {
			return db.Each(c, func(r *db.Row) error {
				name := r.Text()
				events[name] = int(r.Int())
				return nil
			}, "SELECT event, count(*) FROM events WHERE seq > ? GROUP BY event", before)
		})
	})
	if err != nil {
		return Outcome{}, err
	}
	out := l.outcome()
	out.Refused, out.Events, out.Follows = len(l.done.Errors), events, l.follows
	if l.follows.Text != nil {
		out.Notes = append(out.Notes, l.follows.Text(l.currency.Format))
	}
	if out.Replaced = *l.options.Replaced; out.Replaced > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("rows with a replaced value: %d; an unknown payment method became "+
			"other, and an unreadable day became today", out.Replaced))
	}
	out.Columns, out.Sample = l.inOrder(l.rows.columns(), l.sampled())
	out.Would = changes[:min(len(changes), MaxShown)]
	return out, nil
}

// foresee stores the rows and returns the table's later effects.
func (l *loading) foresee(ctx context.Context) (err error) {
	store := func() error { return l.store(ctx) }
	if l.table.Foresee == nil {
		return store()
	}
	l.follows, err = l.table.Foresee(ctx, l.d, l.who, store)
	return err
}

// show keeps the first rows for a preview, with spares since some may be refused.
func (l *loading) show(line int, cells []string) {
	if !l.trying || len(l.sample) >= 10*sampleRows {
		return
	}
	cells = slices.Clone(cells)
	for i, t := range l.rows.layout.targets {
		if t.arg.Secret {
			cells[i] = masked(cells[i])
		}
	}
	l.sample = append(l.sample, shown{line, cells})
}

// masked hides a cell that gives access except its end.
func masked(cell string) string {
	const shown = 4
	r := []rune(strings.TrimSpace(cell))
	if len(r) <= shown {
		return cell
	}
	return "…" + string(r[len(r)-shown:])
}

// toldOf is a remark for people: "2 rows: must be typed exactly ... (lines 4 and 9)".
func toldOf(r schema.Remark) string {
	lines := schema.Map(r.Lines, strconv.Itoa)
	text := exact.Plural(r.Rows, "row", "rows") + ": " + r.Text + " (" +
		pick(len(lines) > 1, "lines ", "line ") + joined(lines)
	return text + pick(r.Rows > len(lines), " ...)", ")")
}

// shown is a row as it would be stored, unless it is refused.
type shown struct {
	line  int
	cells []string
}

// inOrder arranges the columns of rows as the table has them.
func (l *loading) inOrder(columns []string, rows [][]string) ([]string, [][]string) {
	all := l.table.Columns()
	place := func(i int) int {
		return slices.IndexFunc(all, func(a schema.Arg) bool { return a.Name == columns[i] })
	}
	order := make([]int, len(columns))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return place(a) - place(b) })
	arranged := func(row []string) []string {
		return schema.Map(order, func(at int) string { return row[at] })
	}
	for i, row := range rows {
		rows[i] = arranged(row)
	}
	return arranged(columns), rows
}

// sampled returns the first of the rows that would be stored.
func (l *loading) sampled() (rows [][]string) {
	for _, s := range l.sample {
		refused := slices.ContainsFunc(l.done.Errors, func(e schema.Refused) bool { return e.Line == s.line })
		if !refused && len(rows) < sampleRows {
			rows = append(rows, s.cells)
		}
	}
	return rows
}

// putAll stores row by row. A goroutine binds the rows a few batches ahead, so that neither the file's size nor the
// binding delays the transaction.
func (l *loading) putAll(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	rows := l.bindAll(ctx)
	defer func() {
		stop()
		<-rows.ended
	}()
	var batch []bound
	seen := 0
	return l.inSlices(ctx, func(tx *db.Tx) (line int, err error) {
		for len(batch) == 0 {
			l.progress(seen)
			var more bool
			if batch, more = <-rows.batches; !more {
				return 0, rows.err
			}
			seen += len(batch)
		}
		row := batch[0]
		batch = batch[1:]
		if err := l.putRow(tx, row); err != nil {
			return 0, fmt.Errorf("line %d: %w", row.lines[0], err)
		}
		return row.lines[0], nil
	})
}

// putRow stores one row, or the rows of one group.
func (l *loading) putRow(tx *db.Tx, row bound) error {
	if l.skips() {
		return nil
	}
	err := row.err
	if err == nil {
		var o schema.Outcome
		if o, err = row.put.Try(tx); err == nil {
			l.done.Note(o, row.lines...)
			return nil
		}
	}
	refusal, ok := ofRow(err)
	if !ok {
		return err
	}
	for _, line := range row.lines {
		l.refuse(line, refusal)
	}
	return nil
}

// ofRow distinguishes a refusal of a row from all other errors.
func ofRow(err error) (*fault.Error, bool) {
	e, ok := fault.As(err)
	if !ok {
		return nil, false
	}
	switch e.Kind {
	case fault.Internal, fault.Unauthorized, fault.Forbidden, fault.Limited, fault.Unavailable:
		return nil, false
	}
	return e, true
}

func (l *loading) refuse(line int, reason *fault.Error) {
	r := schema.Refused{Line: line, Reason: reason.Detail}
	if len(reason.Fields) > 0 {
		r.Column = reason.Fields[0].Field
	}
	l.done.Errors = append(l.done.Errors, r)
}
