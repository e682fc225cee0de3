// Package table reads and writes the tables that the services declare as CSV
// (RFC 4180, UTF-8). The header names the columns; what Export wrote, Import takes
// back unchanged. Cells are neither altered nor escaped for spreadsheets.
package table

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// batchRows is how many rows travel together from the reader to the transaction, and
// how often progress is told.
const batchRows = 500

// errDryRun rolls an import back that was only a rehearsal.
var errDryRun = errors.New("dry run")

// Import stores the rows of a CSV file in one transaction. A row that is refused is
// left out, with its line and the reason; the others are kept. A header that does
// not fit the table refuses the whole file, and any error that is not about a row
// leaves nothing written. With o.DryRun everything is done but kept.
//
// Empty lines are skipped. An absent column leaves that field of an existing record
// alone, an empty cell is its default. progress, unless nil, is told now and then
// how many rows were gone through.
func Import(ctx context.Context, d *db.DB, who db.Caller, t schema.Table, in io.Reader, o schema.LoadOptions, progress func(rows int)) (schema.Loaded, error) {
	if err := who.MayWrite("import"); err != nil {
		return schema.Loaded{}, err
	}
	if progress == nil {
		progress = func(int) {}
	}
	in, err := settled(in)
	if err != nil {
		return schema.Loaded{}, err
	}
	r, err := newReader(t, in)
	if err != nil {
		return schema.Loaded{}, err
	}
	done := schema.Loaded{Errors: []schema.Refused{}}
	if t.Load != nil {
		err = loadAll(ctx, who, t, r, o, &done)
	} else {
		err = putAll(ctx, d, who, t, r, o, progress, &done)
	}
	if err != nil {
		return schema.Loaded{}, err
	}
	slices.SortStableFunc(done.Errors, func(a, b schema.Refused) int { return a.Line - b.Line })
	return done, nil
}

// settled gives the file as something that is read without waiting: what comes
// through a pipe is taken in whole first, since others cannot write while the
// import's transaction is open.
func settled(in io.Reader) (io.Reader, error) {
	if f, ok := in.(*os.File); ok {
		if st, err := f.Stat(); err == nil && st.Mode().IsRegular() {
			return f, nil
		}
	}
	all, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("read the file: %w", err)
	}
	return bytes.NewReader(all), nil
}

// loadAll hands the whole file to a table that takes it at once.
func loadAll(ctx context.Context, who db.Caller, t schema.Table, r *reader, o schema.LoadOptions, done *schema.Loaded) error {
	var lines []schema.Line
	for {
		l, more, err := r.next()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if l.refusal != nil {
			refuse(done, l.number, l.refusal)
			continue
		}
		lines = append(lines, schema.Line{Number: l.number, Cells: r.inOrder(l.cells)})
	}
	o.Columns = r.columns
	loaded, err := t.Load(ctx, who, lines, o)
	done.Imported = loaded.Imported
	done.Errors = append(done.Errors, loaded.Errors...)
	return err
}

// putAll stores row after row. The rows are bound beside the transaction, by a
// goroutine that is a few batches ahead, so that neither the file's size nor the
// binding's time is the transaction's.
func putAll(ctx context.Context, d *db.DB, who db.Caller, t schema.Table, r *reader, o schema.LoadOptions, progress func(int), done *schema.Loaded) error {
	ctx, stop := context.WithCancel(ctx)
	rows := bindAll(ctx, t, r, o)
	defer func() {
		stop()
		<-rows.ended
	}()
	err := db.Exec(ctx, d, who, func(tx *db.Tx) error {
		seen := 0
		for batch := range rows.batches {
			for _, row := range batch {
				if err := store(tx, row, done); err != nil {
					return fmt.Errorf("line %d: %w", row.number, err)
				}
			}
			seen += len(batch)
			progress(seen)
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if rows.err != nil {
			return rows.err
		}
		if o.DryRun {
			return errDryRun
		}
		return nil
	})
	if errors.Is(err, errDryRun) {
		return nil
	}
	return err
}

func store(tx *db.Tx, row bound, done *schema.Loaded) error {
	err := row.err
	if err == nil {
		err = tx.Try(func() error { return row.put(tx) })
	}
	if err == nil {
		done.Imported++
		return nil
	}
	refusal, ok := ofRow(err)
	if !ok {
		return err
	}
	refuse(done, row.number, refusal)
	return nil
}

// ofRow tells a refusal of what a row says from everything else that can go wrong.
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

func refuse(done *schema.Loaded, number int, reason *fault.Error) {
	done.Errors = append(done.Errors, schema.Refused{Line: number, Reason: reason.Detail})
}

// bound is one row with what stores it, or with why it cannot be.
type bound struct {
	number int
	put    schema.Put
	err    error
}

// rows are the file's rows in order, batch by batch. err is set before batches is
// closed; ended is closed when the file is no longer read.
type rows struct {
	batches chan []bound
	err     error
	ended   chan struct{}
}

// bindAll binds the rest of the file's rows until ctx ends.
func bindAll(ctx context.Context, t schema.Table, r *reader, o schema.LoadOptions) *rows {
	all := &rows{batches: make(chan []bound, 2), ended: make(chan struct{})}
	go func() {
		defer close(all.ended)
		defer close(all.batches)
		for more := true; more; {
			var batch []bound
			if batch, more, all.err = bindBatch(t, r, o); all.err != nil {
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

func bindBatch(t schema.Table, r *reader, o schema.LoadOptions) (batch []bound, more bool, err error) {
	for len(batch) < batchRows {
		l, another, err := r.next()
		if err != nil || !another {
			return batch, false, err
		}
		row := bound{number: l.number}
		if l.refusal != nil {
			row.err = l.refusal
		} else {
			row.put, row.err = t.Decode(r.byName(l.cells), o)
		}
		batch = append(batch, row)
	}
	return batch, true, nil
}
