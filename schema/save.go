package schema

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/strict"
)

// Saved is the answer of an operation that makes or changes a record of a table: the record as the table's row.
type Saved struct {
	Created bool              `json:"created"`
	Record  map[string]string `json:"record"`

	page string // of the record
}

// Page is the record's page, "" if there is none.
func (s Saved) Page() string { return s.page }

// Save makes the operation that makes or changes a record of the table, by the table's row: it stores what an import of
// that one row would, with the same checks. The table needs Find. op has what the table lacks: name, sentence, command.
func (t Table) Save(d *db.DB, op Op) Op {
	op.Writes = true
	op.Bind = func(f *Form) Handler {
		put := t.Row(f)
		cells := f.cells()
		return func(ctx context.Context, who db.Caller) (any, error) {
			return db.Update(ctx, d, who, func(tx *db.Tx) (Saved, error) { return t.save(tx, put, cells) })
		}
	}
	if op.Response == nil {
		op.Response = Saved{Created: true, Record: map[string]string{}}
	}
	if op.Leads == nil {
		op.Leads = func(answer any) string { return answer.(Saved).page }
	}
	op.Fill = func(c *db.Conn, given map[string]string) (map[string]string, bool, error) { return t.record(c, given) }
	return op
}

func (t Table) save(tx *db.Tx, put Put, cells map[string]string) (Saved, error) {
	_, found, err := t.record(&tx.Conn, cells)
	if err != nil {
		return Saved{}, err
	}
	if _, err := put(tx); err != nil {
		return Saved{}, err
	}
	record, kept, err := t.record(&tx.Conn, cells)
	if err == nil && !kept {
		record = cells
	}
	saved := Saved{Created: !found, Record: record}
	if err == nil && t.Page != nil {
		saved.page, err = t.Page(&tx.Conn, func(column string) string { return strings.TrimSpace(cells[column]) })
	}
	return saved, err
}

// record returns the record that the cells name, by column.
func (t Table) record(c *db.Conn, cells map[string]string) (map[string]string, bool, error) {
	if t.Find == nil {
		return nil, false, nil
	}
	row, found, err := t.Find(c, func(column string) string { return cells[column] })
	if err != nil || !found {
		return nil, false, err
	}
	record := make(map[string]string, len(row))
	for i, column := range t.Columns() {
		if i < len(row) {
			record[column.Name] = row[i]
		}
	}
	return record, true, nil
}

// cells returns the texts of a command or a page, one for each argument, by its name.
func (f *Form) cells() map[string]string {
	cells := map[string]string{}
	for _, a := range f.args {
		if v, ok := f.in.Values[f.field(a)]; ok && len(v) > 0 {
			cells[a.Name] = v[len(v)-1]
		}
	}
	return cells
}

// Filled returns the fields of the operation's form on a page, from the record that the given fields name. If the form
// can make the record, it need not exist. Amounts are written in the currency.
func (o Op) Filled(c *db.Conn, given map[string][]string, currency exact.Currency) (fields map[string][]string,
	found bool, err error) {
	if o.Fill == nil {
		return nil, false, nil
	}
	args := o.Args(Page)
	named := map[string]string{}
	for _, a := range args {
		if v := given[PageField(a.Name)]; len(v) > 0 {
			named[a.Name] = v[len(v)-1]
		}
	}
	record, found, err := o.Fill(c, named)
	if err != nil || !found {
		return nil, false, err
	}
	fields = map[string][]string{}
	for _, a := range args {
		if a.Kind == TableKind {
			a.fillRecords(fields, record, currency)
			continue
		}
		text, there := record[a.Name]
		if !there {
			continue
		}
		if a.cents() && text != "" {
			if n, err := strconv.ParseInt(text, 10, 64); err == nil {
				text = currency.Plain(n)
			}
		}
		fields[PageField(a.Name)] = []string{text}
	}
	return fields, true, nil
}

// fillRecords fills the fields of a list of objects: the record has them under lines.0.sku, lines.0.unit_cost_cents,
// lines.1.sku ..., by argument.
func (a Arg) fillRecords(fields map[string][]string, record map[string]string, currency exact.Currency) {
	for name, text := range record {
		rest, ok := strings.CutPrefix(name, a.Name+".")
		place, of, ok2 := strings.Cut(rest, ".")
		if !ok || !ok2 {
			continue
		}
		one := Arg{Name: of}
		for _, x := range a.Fields {
			if x.Name == of {
				one = x
			}
		}
		if one.cents() && text != "" {
			if n, err := strconv.ParseInt(text, 10, 64); err == nil {
				text = currency.Plain(n)
			}
		}
		fields[PageField(a.Name)+"."+place+"."+PageField(of)] = []string{text}
	}
}

// Seen is the record from which a form was filled, as one text: the form carries it, and Unchanged compares it with the
// record when the form is sent.
func Seen(fields map[string][]string) string {
	b := []byte{'{'}
	for i, name := range slices.Sorted(maps.Keys(fields)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strict.AppendText(b, name), ':')
		b = strict.AppendText(b, fields[name][0])
	}
	return string(append(b, '}'))
}
