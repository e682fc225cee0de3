package table

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/db"
)

// together reads the rest of the file and groups the rows that agree in the columns; for a Load in any case of letters,
// as it distinguishes them itself. Groups are ordered by these values, or by their first row in the file. A row with
// none of the values is its own group, and an unreadable one is refused.
func (l *loading) together(columns []string, inOrder bool) (*sorter, error) {
	have := l.rows.columns()
	at := schema.Map(columns, func(name string) int { return slices.Index(have, name) })
	s, err := newSorter(inOrder)
	if err != nil {
		return nil, err
	}
	for {
		row, more, err := l.rows.next()
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
		if !more {
			return s, nil
		}
		if row.refusal != nil {
			l.refuse(row.line, row.refusal)
			continue
		}
		l.show(row.line, row.cells)
		err = s.add(keyOf(row, at, l.table.Load != nil), row.line, row.cells)
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
	}
}

func keyOf(r row, at []int, fold bool) string {
	var b strings.Builder
	blank := true
	for _, i := range at {
		if i >= 0 {
			text := strings.TrimSpace(r.cells[i])
			if fold {
				text = strings.ToLower(text)
			}
			b.WriteString(text)
			blank = blank && text == ""
		}
		b.WriteByte(0)
	}
	if blank {
		fmt.Fprintf(&b, "%d", r.line)
	}
	return b.String()
}

// The rows of a batch: at first, at least and at most. A row may take a millisecond.
const (
	firstSlice = 50
	leastSlice = 10
	mostSlice  = 20_000
)

// loadSlices passes the file, batch by batch, to a table with Load. Rows that belong together are in one batch,
// whatever their number.
func (l *loading) loadSlices(ctx context.Context) (err error) {
	rows, err := l.together(l.table.Together, !l.table.AnyOrder)
	if err != nil {
		return err
	}
	return errors.Join(l.loadSorted(ctx, rows), rows.close())
}

// loadSorted is loadSlices of grouped rows.
func (l *loading) loadSorted(ctx context.Context, rows *sorter) error {
	s := &slicer{loading: l, size: firstSlice, options: l.options.LoadOptions}
	s.options.Columns = l.rows.columns()
	s.options.DryRun = false // the trial around it rolls it back
	if s.work != nil {
		from, err := hex.DecodeString(s.work.Position)
		if err != nil {
			return err
		}
		s.from = string(from)
	}
	err := rows.each(func(key []byte, line int, cells []string) error {
		if s.from != "" && string(key) <= s.from {
			return nil
		}
		if len(s.lines) >= s.size && !bytes.Equal(key, s.key) {
			if err := s.load(ctx, false); err != nil {
				return err
			}
		}
		s.key = append(s.key[:0], key...)
		s.lines = append(s.lines, schema.Line{Number: line, Cells: l.rows.inOrder(cells)})
		return nil
	})
	if err != nil {
		return err
	}
	return s.load(ctx, true)
}

// slicer loads the batches of a file.
type slicer struct {
	*loading
	options schema.LoadOptions
	size    int // of the next batch
	lines   []schema.Line
	key     []byte // of the last line
	seen    int

	from string // the last key that an earlier run stored
}

// load stores the batch; last is true at the file's end.
func (s *slicer) load(ctx context.Context, last bool) error {
	began := time.Now()
	var loaded schema.Loaded
	act := func(d *db.DB) (err error) {
		if len(s.lines) > 0 {
			loaded, err = s.table.Load(ctx, d, s.who, s.lines, s.options)
		}
		return err
	}
	before := s.done
	move := func(d *db.DB) error {
		s.done.Merge(loaded)
		key := s.key
		if len(key) == 0 {
			key = []byte(s.from)
		}
		return s.work.Step(ctx, d, s.who,
			func(tx *db.Tx) error { return s.stepped(tx, before, hex.EncodeToString(key), last) })
	}
	var err error
	switch {
	case s.work == nil:
		err = act(s.d)
		s.done.Merge(loaded)
	case s.options.Add: // adding a row twice differs from once: both or neither
		err = s.d.Together(ctx, func(d *db.DB) error {
			if err := act(d); err != nil {
				return err
			}
			return move(d)
		})
	default:
		if err = act(s.d); err == nil {
			err = move(s.d)
		}
	}
	if err != nil && s.seen > 0 && !s.trying {
		return fmt.Errorf("some of the %d rows are stored; run the same import again to continue: %w", s.seen, err)
	}
	if err != nil {
		return err
	}
	took := max(time.Since(began), time.Microsecond)
	s.size = int(min(max(time.Duration(len(s.lines))*sliceFor/took, leastSlice), mostSlice, time.Duration(2*s.size)))
	if s.seen += len(s.lines); s.trying {
		s.d.NoteNoMore()
	}
	s.lines = s.lines[:0]
	s.progress(s.seen)
	return nil
}
