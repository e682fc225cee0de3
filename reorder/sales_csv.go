package reorder

import (
	"context"
	"errors"

	"quartermaster/schema"
	"quartermaster/schema/db"
)

// salesTable is the sales history as CSV. A file replaces what is stored for its SKUs
// and days, unless --add adds to it; its rows are checked as those of the request.
func (s *Service) salesTable() schema.Table {
	return schema.Table{
		Name:    "sales",
		About:   "Sales, one row a day and SKU; rows of the same day and SKU are totalled. The totals replace what is stored, or with --add are added to it.",
		Options: []string{"add"},
		Row: func(f *schema.Form) schema.Put {
			var sold Sale
			f.Day(&sold.Date, "date", "the day, not in the future", schema.Required)
			f.Text(&sold.SKU, "sku", "a SKU of the catalogue, case-sensitive", schema.Required, schema.Most(maxCode))
			f.Milli(&sold.Qty, "qty", "how much was sold", schema.Required, schema.Range(0, int64(maxQty/1000)))
			return nil // Load stores
		},
		Load: s.LoadSales,
		Export: func(c *db.Conn, emit func(cells ...string) error) error {
			return db.Each(c, func(r *db.Row) error {
				day, sku, qty := r.Day(), r.Text(), r.Milli()
				for ; qty > maxQty; qty -= maxQty { // a day may hold more than a row
					if err := emit(day.String(), sku, maxQty.String()); err != nil {
						return err
					}
				}
				return emit(day.String(), sku, qty.String())
			}, "SELECT day, sku, qty FROM sales CROSS JOIN skus ON skus.id = sku_id ORDER BY day, sku")
		},
	}
}

// errDry undoes what a dry run did.
var errDry = errors.New("a dry run leaves nothing")

// LoadSales stores the lines of a CSV file, whose cells are date, sku and qty.
func (s *Service) LoadSales(ctx context.Context, who db.Caller, lines []schema.Line, o schema.LoadOptions) (schema.Loaded, error) {
	u := newUpload(len(lines))
	for i, l := range lines {
		u.addCells(int32(i), l.Cells)
	}
	var done Ingested
	err := db.Exec(ctx, s.db, who, func(tx *db.Tx) (err error) {
		if done, err = ingest(tx, u, !o.Add); err == nil && o.DryRun {
			err = errDry
		}
		return err
	})
	if err != nil && !errors.Is(err, errDry) {
		return schema.Loaded{}, err
	}
	loaded := schema.Loaded{Imported: done.Imported, Errors: []schema.Refused{}}
	for _, e := range done.Errors {
		loaded.Errors = append(loaded.Errors, schema.Refused{Line: lines[e.Row].Number, Reason: e.Reason})
	}
	return loaded, nil
}
