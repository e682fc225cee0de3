package reorder

import (
	"context"
	"maps"
	"slices"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// SuggestOrders drafts one purchase order a supplier out of what is to be bought; SKUs
// without a supplier go to one whose supplier is "". What stands in other drafts counts
// as on order, so that nothing is drafted twice.
//
// Without codes it is about all active SKUs, and takes the place of the drafts that it
// made before and that were not edited since. With codes it is about those alone: they
// leave the untouched drafts, and the new ones are a person's choice, which a later
// suggestion does not replace.
func (s *Service) SuggestOrders(ctx context.Context, who db.Caller, codes ...string) ([]PurchaseOrder, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) ([]PurchaseOrder, error) {
		chosen, err := recordsOf(&tx.Conn, codes)
		if err != nil {
			return nil, err
		}
		replaced, err := clearSuggested(tx, chosen)
		if err != nil {
			return nil, err
		}
		drafts, err := draft(tx, chosen)
		if err != nil {
			return nil, err
		}
		made, numbers := []PurchaseOrder{}, []string{}
		for _, o := range drafts {
			o.suggested = len(codes) == 0
			if o.Number, err = nextNumber(&tx.Conn); err != nil {
				return nil, err
			}
			if err := rewrite(tx, storedOrder{}, &o, nil, cause{}); err != nil {
				return nil, err
			}
			shown, err := o.shown(&tx.Conn)
			if err != nil {
				return nil, err
			}
			made, numbers = append(made, shown), append(numbers, o.Number)
		}
		return made, tx.Audit("purchase_order.suggested", "purchase_orders", struct {
			Made     []string `json:"made"`
			Replaced []string `json:"replaced"`
		}{numbers, replaced})
	})
}

// recordsOf finds the SKUs, each once.
func recordsOf(c *db.Conn, codes []string) (all []record, err error) {
	seen := map[int64]bool{}
	for _, code := range codes {
		rec, err := find(c, strings.TrimSpace(code))
		if err != nil {
			return nil, err
		}
		if !seen[rec.id] {
			seen[rec.id] = true
			all = append(all, rec)
		}
	}
	return all, nil
}

// clearSuggested removes the untouched drafts of earlier suggestions and gives their
// numbers; or takes the chosen SKUs out of them, and removes those that are empty then.
func clearSuggested(tx *db.Tx, chosen []record) (removed []string, err error) {
	all, err := db.All(&tx.Conn, scanOrder, "SELECT "+orderColumns+" FROM purchase_orders WHERE suggested = 1 AND status = 'draft' ORDER BY id")
	if err != nil {
		return nil, err
	}
	removed = []string{}
	for _, o := range all {
		for _, rec := range chosen {
			if _, err := tx.Exec("DELETE FROM purchase_order_lines WHERE order_id = ? AND sku_id = ?", o.id, rec.id); err != nil {
				return nil, err
			}
		}
		if o.Lines, err = linesOf(&tx.Conn, o.id); err != nil {
			return nil, err
		}
		if len(chosen) > 0 && len(o.Lines) > 0 {
			continue
		}
		if _, err := tx.Exec("DELETE FROM purchase_orders WHERE id = ?", o.id); err != nil {
			return nil, err
		}
		removed = append(removed, o.Number)
	}
	return removed, nil
}

// draft makes purchase orders of what the SKUs, or with none all active ones, need
// beyond what is on order and in drafts: by supplier, their lines by SKU.
func draft(tx *db.Tx, chosen []record) ([]storedOrder, error) {
	h, since, err := asOfToday(&tx.Conn)
	if err != nil {
		return nil, err
	}
	drafted, err := draftedQuantities(&tx.Conn)
	if err != nil {
		return nil, err
	}
	if len(chosen) == 0 {
		if chosen, err = db.All(&tx.Conn, scan, "SELECT "+columns+" FROM skus WHERE active = 1 ORDER BY sku"); err != nil {
			return nil, err
		}
	}
	lines := map[string][]OrderLine{}
	for _, rec := range chosen {
		b := rec.basis()
		b.sold += since[rec.id]
		b.onOrder += drafted[rec.id]
		f := forecast(b, h)
		if f.suggested == 0 || !rec.Active {
			continue
		}
		l := lineOf(rec)
		l.Ordered = min(exact.Milli(f.suggested), maxQty/1000) * 1000
		lines[rec.Supplier] = append(lines[rec.Supplier], l)
	}
	var drafts []storedOrder
	for _, supplier := range slices.Sorted(maps.Keys(lines)) {
		slices.SortFunc(lines[supplier], func(a, b OrderLine) int { return strings.Compare(a.SKU, b.SKU) })
		drafts = append(drafts, storedOrder{PurchaseOrder: PurchaseOrder{Supplier: supplier, Status: Draft, Lines: lines[supplier]}})
	}
	return drafts, nil
}

// draftedQuantities is how much of each SKU stands in drafts, by SKU id.
func draftedQuantities(c *db.Conn) (map[int64]exact.Milli, error) {
	drafted := map[int64]exact.Milli{}
	err := db.Each(c, func(r *db.Row) error {
		id, qty := r.Int(), r.Milli()
		drafted[id] += qty
		return nil
	}, "SELECT sku_id, ordered FROM purchase_orders CROSS JOIN purchase_order_lines ON order_id = purchase_orders.id WHERE status = 'draft'")
	return drafted, err
}
