package table

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"quartermaster/schema/db"
)

// sliceFor is how long an import keeps the writer before waiting writers get their turn.
const sliceFor = 50 * time.Millisecond

// sliceOf is how many records a batch has at least, however slow the machine is: a file as small is stored at once.
const sliceOf = 20

// inSlices stores the file's records in batches, each in its own transaction: put stores the next one and returns its
// last line, 0 at the end. A small file is one batch. An error outside a row, or a kill, leaves the earlier batches
// stored, with complete records; repeating the import changes nothing of those and continues. A dry run is one batch,
// since no writer waits for it.
func (l *loading) inSlices(ctx context.Context, put func(*db.Tx) (line int, err error)) error {
	stored, more := 0, true
	from, err := l.placeOf()
	if err != nil {
		return err
	}
	l.skip = from
	for n := 0; more; {
		reached, before := 0, l.done
		err := l.work.Step(ctx, l.d, l.who, func(tx *db.Tx) error {
			for began, first := time.Now(), n; more && (l.trying || n-first < sliceOf || time.Since(began) < sliceFor); {
				if err := ctx.Err(); err != nil {
					return err
				}
				line, err := put(tx)
				if err != nil {
					return err
				}
				if l.trying && (len(l.done.Changes) >= MaxShown || l.done.Imported > noted) {
					l.d.NoteNoMore()
				}
				if reached, more = max(reached, line), line > 0; more {
					n++
				}
			}
			return l.stepped(tx, before, strconv.Itoa(max(n, from)), !more)
		})
		if err != nil && stored > 0 {
			return fmt.Errorf("the rows up to line %d are stored; run the same import again to continue: %w", stored, err)
		}
		if err != nil {
			return err
		}
		stored = max(stored, reached)
	}
	return nil
}
