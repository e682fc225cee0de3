package table

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// TestImportDoesNotBlockWriters: a writer waits for one batch, not for the whole file.
func TestImportDoesNotBlockWriters(t *testing.T) {
	s := newShelf(t)
	var file strings.Builder
	file.WriteString("code,name,count\n")
	for i := range 30_000 {
		fmt.Fprintf(&file, "c%d,name,%d\n", i, i)
	}
	begun, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		first := true
		_, err := Import(context.Background(), s.db, db.CLI("shelf"), s.table(), strings.NewReader(file.String()), schema.LoadOptions{}, func(rows int) {
			if rows > 0 && first {
				first = false
				close(begun)
			}
		})
		ended <- err
	}()
	<-begun
	writes := 0
	for {
		select {
		case err := <-ended:
			assert.That(t, err == nil && writes >= 3, "%d writes beside the import (%v)", writes, err)
			return
		default:
		}
		began := time.Now()
		assert.OK(t,
			db.Exec(context.Background(), s.db, db.CLI("shelf"), func(tx *db.Tx) error { return tx.Audit("other", "x:1", nil) }))
		took := time.Since(began)
		assert.That(t, took <= 5*time.Second, "a write waited for %v", took)
		writes++
	}
}

// TestDryRunDoesNotBlockWriters: a writer gets in during a dry run of tables that store a row, a group or many rows at
// once.
func TestDryRunDoesNotBlockWriters(t *testing.T) {
	for name, of := range map[string]func(s *shelf) schema.Table{
		"a row": (*shelf).table,
		"a group": func(s *shelf) schema.Table {
			table := s.table()
			row := table.Row
			table.Group = []string{"code"}
			table.Rows = func(fs []*schema.Form) schema.Put { return row(fs[0]) }
			return table
		},
		"many rows": func(s *shelf) schema.Table {
			table := s.table()
			table.Together = []string{"code"}
			table.Load = func(ctx context.Context, d *db.DB, who db.Caller, lines []schema.Line, _ schema.LoadOptions) (schema.Loaded, error) {
				return schema.Loaded{Imported: len(lines), New: len(lines)}, db.Exec(ctx, d, who, func(tx *db.Tx) error {
					for _, l := range lines {
						if _, err := tx.Exec("INSERT INTO things VALUES (?, ?, 1)", l.Cells[0], l.Cells[1]); err != nil {
							return err
						}
					}
					return tx.Audit("things.imported", "things", len(lines))
				})
			}
			return table
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShelf(t)
			var file strings.Builder
			file.WriteString("code,name\n")
			for i := range 3 * batchRows {
				fmt.Fprintf(&file, "c%d,name\n", i)
			}
			writes := int64(0)
			out, err := Run(context.Background(), s.db, db.CLI("shelf"), of(s), InMemory([]byte(file.String())), Options{LoadOptions: schema.LoadOptions{DryRun: true}}, func(rows int) {
				if rows == 0 {
					return
				}
				ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
				defer cancel()
				assert.NoError(t,
					db.Exec(ctx, s.db, db.CLI("shelf"), func(tx *db.Tx) error { return tx.Audit("other", "x:1", nil) }))
				writes++
			})
			assert.That(t, err == nil && out.New+out.Changed == 3*batchRows && out.Imported == 3*batchRows,
				"%d new and %d changed of %d, %v", out.New, out.Changed, out.Imported, err)
			if got := s.export(t); writes == 0 || s.audited(t) != writes || got != "code,name,count\n" {
				t.Errorf("%d writes, %d entries, stored %s", writes, s.audited(t), got)
			}
		})
	}
}
