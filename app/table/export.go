package table

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// Export writes every record of the table, at one instant, below a header of the table's columns. A text that a
// spreadsheet would run as a formula is written by Safe; times have the shop's offset.
func Export(ctx context.Context, d *db.DB, t schema.Table, w io.Writer) error {
	columns := t.Columns()
	header := make([]string, len(columns))
	texts := make([]int, 0, len(columns))
	for i, c := range columns {
		header[i] = c.Name
		if c.Kind == schema.TextKind {
			texts = append(texts, i)
		}
	}
	return d.View(ctx, func(c *db.Conn) error {
		written := len(header)
		if t.Written != nil {
			var err error
			if written, err = t.Written(c); err != nil {
				return err
			}
		}
		out := csv.NewWriter(w)
		if err := out.Write(header[:written]); err != nil {
			return err
		}
		err := c.Spilling(func() error {
			return t.Export(c, func(cells ...string) error {
				if len(cells) != len(header) {
					return fmt.Errorf("table %s exports %d cells for %d columns", t.Name, len(cells), len(header))
				}
				for _, i := range texts {
					cells[i] = Safe(cells[i])
					if isInstant(columns[i]) {
						cells[i] = exact.Local(cells[i], c.Zone())
					}
				}
				return out.Write(cells[:written])
			})
		})
		if err != nil {
			return err
		}
		out.Flush()
		return out.Error()
	})
}
