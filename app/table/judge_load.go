package table

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
)

// loadJudge tells what the rows of a table that loads many at once would do, by what the
// table exports of their records before and after. It sorts both, and the file's lines, by
// the records' keys, so that it holds one record at a time.
type loadJudge struct {
	table   schema.Table
	columns []string
	key     []int // the columns that name a record
	all     sorter
	wanted  map[string]bool // the keys of the lines; nil when they are too many to be held
	refused map[int]bool    // lines
}

// Where what the records were, what they are, and the file's lines stand among the rows
// of one key: half a milliard of each, which a number of 32 bits holds too.
const (
	rowsAfter = 1 << 29
	fileLines = 1 << 30
)

// mostWanted is up to how many keys of lines are held, so that no other record is sorted.
const mostWanted = 20_000

// keyColumns name a record beside those that the table cannot do without.
var keyColumns = []string{"channel", "read_date"}

func newLoadJudge(t schema.Table) *loadJudge {
	j := &loadJudge{table: t, wanted: map[string]bool{}, refused: map[int]bool{}}
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

// line takes in a line of the file.
func (j *loadJudge) line(number int, cells []string) error {
	key := j.keyOf(cells)
	if j.wanted != nil {
		j.wanted[key] = true
		if len(j.wanted) > mostWanted {
			j.wanted = nil
		}
	}
	return j.all.add(key, fileLines+number, nil)
}

// records takes in the records that lines name as they stand, numbered from at on.
func (j *loadJudge) records(ctx context.Context, d *db.DB, at int) error {
	return d.View(ctx, func(c *db.Conn) error {
		return j.table.Export(c, func(cells ...string) error {
			key := j.keyOf(cells)
			if j.wanted != nil && !j.wanted[key] {
				return nil
			}
			at++
			return j.all.add(key, at, cells)
		})
	})
}

// judgeLoad loads the file, and tells of each line that was taken what became of its record.
func (l *loading) judgeLoad(ctx context.Context, in *File) (err error) {
	j := newLoadJudge(l.table)
	defer func() { err = errors.Join(err, j.all.close()) }()
	rows, err := l.together(l.table.Together, !l.table.AnyOrder, j.line)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.close()) }()
	if err := j.records(ctx, l.d, 0); err != nil {
		return err
	}
	if err := l.loadSorted(ctx, in, rows); err != nil {
		return err
	}
	if err := j.records(ctx, l.d, rowsAfter); err != nil {
		return err
	}
	for _, e := range l.done.Errors {
		j.refused[e.Line] = true
	}
	return j.compare(l)
}

// stateOf is what is exported of one record: one row or more.
type stateOf struct {
	rows  []byte
	cells []string // of the first row
}

func (s *stateOf) add(cells []string) {
	if s.cells == nil {
		s.cells = cells
	}
	for _, c := range cells {
		s.rows = append(append(s.rows, c...), 1)
	}
	s.rows = append(s.rows, 2)
}

func (s *stateOf) clear() { s.rows, s.cells = s.rows[:0], nil }

// compare goes through the sorted rows: of each key what its record was, what it is, and
// the file's lines that name it.
func (j *loadJudge) compare(l *loading) error {
	l.done.New, l.done.Changed, l.done.Same = 0, 0, 0
	var key []byte
	var was, is stateOf
	err := j.all.each(func(k []byte, at int, cells []string) error {
		if !bytes.Equal(k, key) {
			key = append(key[:0], k...)
			was.clear()
			is.clear()
		}
		line := at - fileLines
		switch {
		case at < rowsAfter:
			was.add(cells)
		case at < fileLines:
			is.add(cells)
		case j.refused[line]:
		case bytes.Equal(was.rows, is.rows):
			l.done.Same++
		case was.cells == nil:
			l.done.New++
		default:
			l.done.Changed++
			l.changes = append(l.changes, RowChange{Line: line, Fields: j.differ(was.cells, is.cells)})
			if len(l.changes) > 2*MaxShown {
				l.firstChanges()
			}
		}
		return nil
	})
	l.firstChanges()
	return err
}

// firstChanges keeps those of the first lines.
func (l *loading) firstChanges() {
	slices.SortFunc(l.changes, func(a, b RowChange) int { return cmp.Compare(a.Line, b.Line) })
	l.changes = l.changes[:min(len(l.changes), MaxShown)]
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
