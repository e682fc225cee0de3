package table

import (
	"context"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
)

// loadJudge tells what the rows of a table that takes the whole file at once would do,
// by what the table exports of their records before and after.
type loadJudge struct {
	table   schema.Table
	columns []string
	key     []int // the columns that name a record
}

// stateOf is what is exported of one record: one row or more.
type stateOf struct {
	rows  string
	cells []string // of the first row
}

// keyColumns name a record beside those that the table cannot do without.
var keyColumns = []string{"channel", "read_date"}

func newLoadJudge(t schema.Table) *loadJudge {
	j := &loadJudge{table: t}
	for i, c := range t.Columns() {
		j.columns = append(j.columns, c.Name)
		if c.Required && c.Name != "qty" || slices.Contains(keyColumns, c.Name) {
			j.key = append(j.key, i)
		}
	}
	return j
}

func (j *loadJudge) keyOf(cells []string) string {
	var b strings.Builder
	for _, i := range j.key {
		b.WriteString(strings.TrimSpace(cells[i]))
		b.WriteByte(0)
	}
	return b.String()
}

// look exports the records of the lines.
func (j *loadJudge) look(ctx context.Context, d *db.DB, wanted map[string]bool) (map[string]stateOf, error) {
	found := map[string]stateOf{}
	err := d.View(ctx, func(c *db.Conn) error {
		return j.table.Export(c, func(cells ...string) error {
			key := j.keyOf(cells)
			if !wanted[key] {
				return nil
			}
			s, again := found[key]
			if !again {
				s.cells = slices.Clone(cells)
			}
			s.rows += strings.Join(cells, "\x01") + "\x02"
			found[key] = s
			return nil
		})
	})
	return found, err
}

// judged calls load and tells of each line that it took what became of its record.
func (l *loading) judged(ctx context.Context, lines []schema.Line, load func() (schema.Loaded, error)) (schema.Loaded, error) {
	j := newLoadJudge(l.table)
	wanted := map[string]bool{}
	for _, line := range lines {
		wanted[j.keyOf(line.Cells)] = true
	}
	before, err := j.look(ctx, l.d, wanted)
	if err != nil {
		return schema.Loaded{}, err
	}
	done, err := load()
	if err != nil {
		return done, err
	}
	after, err := j.look(ctx, l.d, wanted)
	if err != nil {
		return done, err
	}
	refused := map[int]bool{}
	for _, e := range done.Errors {
		refused[e.Line] = true
	}
	done.New, done.Changed, done.Same = 0, 0, 0
	for _, line := range lines {
		if refused[line.Number] {
			continue
		}
		key := j.keyOf(line.Cells)
		was, there := before[key]
		is := after[key]
		switch {
		case was.rows == is.rows:
			done.Same++
		case !there:
			done.New++
		default:
			done.Changed++
			if len(l.changes) < MaxShown {
				l.changes = append(l.changes, RowChange{Line: line.Number, Fields: j.differ(was.cells, is.cells)})
			}
		}
	}
	return done, nil
}

func (j *loadJudge) differ(was, is []string) []string {
	fields := []string{}
	for i, name := range j.columns {
		if i < len(was) && i < len(is) && was[i] != is[i] {
			fields = append(fields, name)
		}
	}
	return fields
}
