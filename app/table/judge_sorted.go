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

// Where what the records were, what they are, and the file's lines stand among the rows
// of one key: half a milliard of each, which a number of 32 bits holds too.
const (
	rowsAfter = 1 << 29
	fileLines = 1 << 30
)

// judgedSlices loads a large file in slices, and tells of each line that was taken what
// became of its record, as judged does: with the records on temporary files.
func (l *loading) judgedSlices(ctx context.Context, in *File) (err error) {
	j, all := newLoadJudge(l.table), &sorter{}
	defer func() { err = errors.Join(err, all.close()) }()
	if err := j.keep(ctx, l.d, all, 0); err != nil {
		return err
	}
	l.taken = func(line schema.Line) error { return all.add(j.keyOf(line.Cells), fileLines+line.Number, nil) }
	if err := l.loadSlices(ctx, in); err != nil {
		return err
	}
	if err := j.keep(ctx, l.d, all, rowsAfter); err != nil {
		return err
	}
	return l.compare(j, all)
}

// keep sorts every record's rows in, in their order from a number on.
func (j *loadJudge) keep(ctx context.Context, d *db.DB, all *sorter, at int) error {
	return d.View(ctx, func(c *db.Conn) error {
		return j.table.Export(c, func(cells ...string) error {
			at++
			return all.add(j.keyOf(cells), at, cells)
		})
	})
}

// compare goes through the sorted rows: of each key what its record was, what it is, and
// the file's lines that name it.
func (l *loading) compare(j *loadJudge, all *sorter) error {
	refused := map[int]bool{}
	for _, e := range l.done.Errors {
		refused[e.Line] = true
	}
	l.done.New, l.done.Changed, l.done.Same = 0, 0, 0
	var key []byte
	var was, is stateOf
	err := all.each(func(k []byte, at int, cells []string) error {
		if !bytes.Equal(k, key) {
			key, was, is = append(key[:0], k...), stateOf{}, stateOf{}
		}
		line := at - fileLines
		switch {
		case at < rowsAfter:
			was.add(cells)
		case at < fileLines:
			is.add(cells)
		case refused[line]:
		case was.rows == is.rows:
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

func (s *stateOf) add(cells []string) {
	if s.cells == nil {
		s.cells = cells
	}
	s.rows += strings.Join(cells, "\x01") + "\x02"
}
