package reorder

import (
	"context"
	"maps"
	"slices"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// SuggestOrders drafts one purchase order a supplier out of what the report suggests
// to buy; SKUs without a supplier go to one whose supplier is "". It takes the place
// of the drafts that it made before and that nobody has touched since.
func (s *Service) SuggestOrders(ctx context.Context, who db.Caller) ([]PurchaseOrder, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) ([]PurchaseOrder, error) {
		replaced, err := db.All(&tx.Conn, db.Text, "SELECT number FROM purchase_orders WHERE suggested = 1 AND status = 'draft' ORDER BY id")
		if err != nil {
			return nil, err
		}
		if _, err := tx.Exec("DELETE FROM purchase_orders WHERE suggested = 1 AND status = 'draft'"); err != nil {
			return nil, err
		}
		drafts, err := draft(tx)
		if err != nil {
			return nil, err
		}
		made, numbers := []PurchaseOrder{}, []string{}
		for _, o := range drafts {
			if o.Number, err = nextNumber(&tx.Conn); err != nil {
				return nil, err
			}
			if err := rewrite(tx, storedOrder{}, &o, nil); err != nil {
				return nil, err
			}
			made, numbers = append(made, o.PurchaseOrder), append(numbers, o.Number)
		}
		return made, tx.Audit("purchase_order.suggested", "purchase_orders", struct {
			Made     []string `json:"made"`
			Replaced []string `json:"replaced"`
		}{numbers, replaced})
	})
}

// draft turns the report into purchase orders, by supplier, their lines by SKU.
func draft(tx *db.Tx) ([]storedOrder, error) {
	h, d, err := seenToday(&tx.Conn)
	if err != nil {
		return nil, err
	}
	rep, _, err := report(&tx.Conn, h, d, ReportQuery{Status: Flagged})
	if err != nil {
		return nil, err
	}
	lines := map[string][]OrderLine{}
	for _, r := range rep.SKUs {
		if r.SuggestedQty == 0 {
			continue
		}
		rec, err := find(&tx.Conn, r.SKU)
		if err != nil {
			return nil, err
		}
		units := min(exact.Milli(r.SuggestedQty), maxQty/1000)
		lines[r.Supplier] = append(lines[r.Supplier], OrderLine{skuID: rec.id, SKU: r.SKU, Ordered: units * 1000, UnitCostCents: rec.UnitCostCents})
	}
	var drafts []storedOrder
	for _, supplier := range slices.Sorted(maps.Keys(lines)) {
		slices.SortFunc(lines[supplier], func(a, b OrderLine) int { return strings.Compare(a.SKU, b.SKU) })
		drafts = append(drafts, storedOrder{suggested: true,
			PurchaseOrder: PurchaseOrder{Supplier: supplier, Status: Draft, Lines: lines[supplier]}})
	}
	return drafts, nil
}
