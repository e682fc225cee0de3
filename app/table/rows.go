package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"quartermaster/schema"
	"quartermaster/schema/db"
)

// bound is one row, or the rows of a group, with the function that stores it or its refusal.
type bound struct {
	lines []int
	put   schema.Put
	err   error
}

// rows are the file's rows in order, batch by batch. err is set before batches is closed; ended is closed when reading
// stops.
type rows struct {
	batches chan []bound
	err     error
	ended   chan struct{}
}

// bindAll binds the rest of the file's rows until ctx ends.
func (l *loading) bindAll(ctx context.Context) *rows {
	all := &rows{batches: make(chan []bound, 2), ended: make(chan struct{})}
	go func() {
		defer close(all.ended)
		defer close(all.batches)
		for more := true; more; {
			var batch []bound
			if batch, more, all.err = l.bindBatch(); all.err != nil {
				return
			}
			select {
			case all.batches <- batch:
			case <-ctx.Done():
				all.err = context.Cause(ctx)
				return
			}
		}
	}()
	return all
}

func (l *loading) bindBatch() (batch []bound, more bool, err error) {
	for len(batch) < batchRows {
		row, another, err := l.rows.next()
		if err != nil || !another {
			return batch, false, err
		}
		b := bound{lines: []int{row.line}}
		if row.refusal != nil {
			b.err = row.refusal
		} else {
			l.show(row.line, row.cells)
			b.put, b.err = l.table.Decode(l.rows.byName(row.cells), l.options.LoadOptions)
		}
		batch = append(batch, b)
	}
	return batch, true, nil
}

// group is the rows of a file that make one record.
type group struct {
	lines []int
	cells []map[string]string // nil for an unreadable row
	err   error               // one of its rows is refused: so are the others
	at    int                 // the line of that one
}

// putGroups stores a table of which several rows make one record. They may be anywhere in the file, so all are read
// before the first is stored.
func (l *loading) putGroups(ctx context.Context) (err error) {
	rows, err := l.together(l.table.Group, true)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	groups, ended := make(chan *group, 100), make(chan error, 1)
	go func() {
		defer close(groups)
		ended <- errors.Join(l.gather(ctx, rows, groups), rows.close())
	}()
	defer func() {
		stop()
		if lost := <-ended; err == nil {
			err = lost
		}
	}()
	i, seen := 0, 0
	return l.inSlices(ctx, func(tx *db.Tx) (line int, err error) {
		g, more := <-groups
		if !more {
			l.progress(seen)
			return 0, nil
		}
		if err := l.putGroup(tx, g); err != nil {
			return 0, err
		}
		i++
		if seen += len(g.lines); i%batchRows == 0 {
			l.progress(seen)
		}
		return g.lines[0], nil
	})
}

// gather sends the groups of sorted rows.
func (l *loading) gather(ctx context.Context, rows *sorter, to chan<- *group) error {
	var g *group
	var at []byte
	send := func() error {
		if g == nil {
			return nil
		}
		select {
		case to <- g:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	err := rows.each(func(key []byte, line int, cells []string) error {
		if g == nil || !bytes.Equal(key, at) {
			if err := send(); err != nil {
				return err
			}
			g, at = &group{}, append(at[:0], key...)
		}
		g.lines, g.cells = append(g.lines, line), append(g.cells, l.rows.byName(cells))
		return nil
	})
	if err != nil {
		return err
	}
	return send()
}

func (l *loading) putGroup(tx *db.Tx, g *group) error {
	if l.skips() {
		return nil
	}
	row := bound{lines: g.lines}
	if g.err == nil {
		var at int
		if row.put, at, g.err = l.table.DecodeRows(g.cells, l.options.LoadOptions); g.err != nil {
			g.at = g.lines[at]
		}
	}
	if g.err == nil {
		return l.putRow(tx, row)
	}
	refusal, is := ofRow(g.err)
	if !is {
		return g.err
	}
	for _, line := range g.lines {
		if line == g.at {
			l.refuse(line, refusal)
			continue
		}
		l.done.Errors = append(l.done.Errors, schema.Refused{Line: line,
			Reason: fmt.Sprintf("it belongs to line %d, which was refused: %s", g.at, refusal.Detail)})
	}
	return nil
}
