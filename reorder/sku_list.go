package reorder

import (
	"context"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// ShelfRow is a SKU, active or not, with its figures.
type ShelfRow struct {
	Row
	Active      bool
	Catalogue   SKU
	Outstanding []Outstanding
}

// Outstanding is the open quantity of a SKU in one purchase order, or in a draft.
type Outstanding struct {
	Number, Supplier, Status string
	ExpectedDate             *exact.Day
	Qty                      exact.Milli
}

// ShelfQuery narrows and orders the SKUs with their figures: what screens show. Q is
// looked for in SKU, name and barcode, in any case; Status is of active ones, Out those without stock; Active is
// "1", "0" or "" for both; Sort is one of ShelfSorts, "" the SKUs' own order.
type ShelfQuery struct {
	Q, Supplier, Status, Active string
	Sort                        string
	Falling                     bool
	schema.Cursor[string]
}

// ShelfSorts are the columns that a shelf can be ordered by.
var ShelfSorts = []string{"sku", "name", "supplier", "stock", "cover", "order", "cost"}

// Shelf is a page of SKUs.
type Shelf struct {
	Rows  []ShelfRow
	Total int64
	Next  string
}

// Shelf lists SKUs with their figures.
func (s *Service) Shelf(ctx context.Context, q ShelfQuery) (page Shelf, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		k, err := rank(c)
		if err != nil {
			return err
		}
		var found map[int64]bool
		if q.Q != "" {
			if found, err = mentioning(c, q.Q, true); err != nil {
				return err
			}
		}
		isSupplier, wanted := named(q.Supplier), ReportQuery{Status: q.Status}
		entries := k.where(func(e *entry) bool {
			active := e.status != inactive
			return (q.Q == "" || found[e.id]) && (q.Active == "" || active == (q.Active == "1")) &&
				(q.Supplier == "" || isSupplier(e.supplier)) && (q.Status == "" || q.Status == Out && active && e.stock == 0 ||
				active && wanted.wantsStatus(statuses[e.status]))
		})
		page.Total = int64(len(entries))
		if err := k.sort(c, entries, q.Sort, q.Falling); err != nil {
			return err
		}
		entries, page.Next = After(entries, q.After, q.Limit, codeOf)
		page.Rows = make([]ShelfRow, len(entries))
		return k.records(c, entries, func(i int, rec *article) {
			page.Rows[i] = ShelfRow{Row: rowOf(*rec, k.h), Active: rec.Active, Catalogue: rec.SKU}
		})
	})
	return page, err
}

// Find returns the first SKUs, by code, that have each word in code, name or barcode.
func (s *Service) Find(ctx context.Context, text string, most int64) ([]SKU, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) ([]SKU, error) {
		return db.All(c, func(r *db.Row) SKU { return articles.Row(r).SKU }, "SELECT "+articles.Columns()+
			" FROM skus WHERE has_words(?, sku, name, barcode) ORDER BY +sku LIMIT ?", text, most)
	})
}

// named reports whether a text is the name, in any case; it folds a text once.
func named(name string) func(text string) bool {
	wanted, known := folded(name), map[string]bool{}
	return func(text string) bool {
		is, told := known[text]
		if !told {
			is = folded(text) == wanted
			known[text] = is
		}
		return is
	}
}
