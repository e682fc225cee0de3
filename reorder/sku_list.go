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
	Open        int64 // units to order beyond what is in drafts
	Catalogue   SKU
	Outstanding []Outstanding
	Last        *LastCount // if it was asked for
}

// LastCount is when a SKU was counted last, and how far its stock was off; Off is nil at the first count.
type LastCount struct {
	At  exact.Instant
	Off *exact.Milli
	had exact.Milli
}

// Large reports whether the stock was off by more than one, and by a tenth or more of what was expected.
func (n LastCount) Large() bool {
	if n.Off == nil {
		return false
	}
	off := max(*n.Off, -*n.Off)
	return off > 1000 && off >= n.had/10
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
	Last                        bool // with each SKU's last count
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
		drafted, err := draftedQuantities(c)
		if err != nil {
			return err
		}
		k, err := rankBeside(c, drafted)
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
		if err := k.records(c, entries, func(i int, rec *article) {
			page.Rows[i] = ShelfRow{Row: rowOf(*rec, k.h), Active: rec.Active, Open: entries[i].open, Catalogue: rec.SKU}
		}); err != nil || !q.Last {
			return err
		}
		for i, e := range entries {
			if page.Rows[i].Last, err = lastCount(c, e.id, e.code); err != nil {
				return err
			}
		}
		return nil
	})
	return page, err
}

// lastCount finds a SKU's last count, nil without any among its last few hundred movements. A count that changed
// nothing is no movement, only an audit entry.
func lastCount(c *db.Conn, id int64, code string) (*LastCount, error) {
	last, known, err := db.One(c, func(r *db.Row) LastCount {
		n := LastCount{At: r.Instant()}
		if off, after := r.Milli(), r.Milli(); off != after {
			n.Off, n.had = &off, after-off
		}
		return n
	}, `SELECT at, qty, current_stock FROM (SELECT id, at, kind, qty, current_stock FROM stock_movements WHERE sku_id = ?
		ORDER BY id DESC LIMIT 300) WHERE kind = 'count' ORDER BY id DESC LIMIT 1`, id)
	if err != nil {
		return nil, err
	}
	same, found, err := db.One(c, (*db.Row).Instant, `SELECT at FROM (SELECT id, at, action, changes FROM audit
		WHERE subject = ? ORDER BY id DESC LIMIT 50) WHERE action = 'stock.adjusted'
		AND changes ->> 'from' = changes ->> 'to' ORDER BY id DESC LIMIT 1`, subject(code))
	switch {
	case err != nil:
		return nil, err
	case found && same >= last.At:
		return &LastCount{At: same, Off: new(exact.Milli)}, nil
	case known:
		return &last, nil
	}
	return nil, nil
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
