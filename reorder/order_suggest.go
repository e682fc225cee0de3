package reorder

import (
	"context"
	"slices"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// SuggestQuery says what to draft: these SKUs, or with none all active ones; of one supplier unless "".
type SuggestQuery struct {
	SKUs     []string
	Supplier string
}

// Suggested are the drafts with the requested SKUs.
type Suggested struct {
	PurchaseOrders []PurchaseOrder `json:"purchase_orders"`
	StillToOrder   int64           `json:"still_to_order,omitempty" about:"SKUs that need more than is on order and in drafts"`

	same []string // numbers of those that are as they were
}

// SuggestOrders drafts one purchase order a supplier out of what is to be bought; SKUs
// without a supplier go to one whose supplier is "". It adds to the supplier's draft that an
// earlier suggestion made and nobody edited, which keeps its number. What is in other drafts
// counts as on order, so that nothing is drafted twice.
//
// Without SKUs such drafts become what is needed now: lines that are not go. With SKUs it is
// about those alone.
func (s *Service) SuggestOrders(ctx context.Context, who db.Caller, q SuggestQuery) (Suggested, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (Suggested, error) {
		done := Suggested{PurchaseOrders: []PurchaseOrder{}}
		b, err := newDrafting(tx, q)
		if err != nil {
			return done, err
		}
		for _, supplier := range b.suppliers() {
			o, err := b.put(tx, supplier)
			if err != nil {
				return done, err
			}
			if o == nil {
				continue
			}
			shown, err := o.shown(&tx.Conn)
			if err != nil {
				return done, err
			}
			done.PurchaseOrders = append(done.PurchaseOrders, shown)
		}
		done.StillToOrder = b.left
		for _, o := range done.PurchaseOrders {
			if !slices.Contains(b.made, o.Number) && !slices.Contains(b.changed, o.Number) {
				done.same = append(done.same, o.Number)
			}
		}
		if len(b.made)+len(b.changed)+len(b.removed) == 0 {
			return done, nil
		}
		return done, tx.Audit("purchase_order.suggested", "purchase_orders", struct {
			Made     []string `json:"made"`
			Changed  []string `json:"changed"`
			Replaced []string `json:"replaced"`
		}{b.made, b.changed, b.removed})
	})
}

// drafting is the state of one suggestion.
type drafting struct {
	all       bool                       // not only chosen SKUs
	anew      func(supplier string) bool // whether lines that are not needed leave its draft
	untouched map[string]storedOrder     // the drafts to extend, by supplier
	needs     map[string][]OrderLine     // by supplier, their lines by SKU
	left      int64                      // other SKUs that need something
	made      []string                   // numbers of orders
	changed   []string
	removed   []string
}

func newDrafting(tx *db.Tx, q SuggestQuery) (*drafting, error) {
	d := &drafting{all: len(q.SKUs) == 0, anew: func(string) bool { return false }, needs: map[string][]OrderLine{},
		made: []string{}, changed: []string{}, removed: []string{}}
	chosen := map[string]bool{}
	for _, code := range q.SKUs {
		rec, err := find(&tx.Conn, strings.TrimSpace(code))
		if err != nil {
			return nil, err
		}
		chosen[rec.Code] = true
	}
	if err := d.readUntouched(tx); err != nil {
		return nil, err
	}
	h, since, err := asOfToday(&tx.Conn)
	if err != nil {
		return nil, err
	}
	drafted, err := draftedQuantities(&tx.Conn)
	if err != nil {
		return nil, err
	}
	isSupplier := named(q.Supplier)
	if d.all {
		d.anew = func(supplier string) bool { return q.Supplier == "" || isSupplier(supplier) }
	}
	return d, db.Each(&tx.Conn, func(r *db.Row) error {
		rec := articles.Row(r)
		asked := (d.all || chosen[rec.Code]) && (q.Supplier == "" || isSupplier(rec.Supplier))
		b := rec.basis()
		b.sold += since[rec.id]
		b.onOrder += drafted[rec.id]
		if asked {
			b.onOrder -= d.held(rec) // it is drafted again
		}
		suggested, _ := b.order(h, b.status(h))
		switch {
		case suggested == 0:
		case !asked:
			d.left++
		default:
			l := lineOf(rec)
			l.Ordered = min(exact.Milli(suggested), maxQty/1000) * 1000
			d.needs[rec.Supplier] = append(d.needs[rec.Supplier], l)
		}
		return nil
	}, "SELECT "+articles.Columns()+" FROM skus WHERE active = 1 ORDER BY sku")
}

// readUntouched finds the unedited drafts of earlier suggestions, one per supplier; of several the first stays, with
// the lines of all.
func (d *drafting) readUntouched(tx *db.Tx) error {
	all, err := db.All(&tx.Conn, scanOrder, "SELECT "+orderColumns+
		" FROM purchase_orders WHERE suggested = 1 AND status = 'draft' ORDER BY id")
	if err != nil {
		return err
	}
	d.untouched = map[string]storedOrder{}
	for _, o := range all {
		if o.Lines, err = linesOf(&tx.Conn, o.id); err != nil {
			return err
		}
		first, two := d.untouched[o.Supplier]
		if !two {
			d.untouched[o.Supplier] = o
			continue
		}
		tx.Do("UPDATE OR IGNORE purchase_order_lines SET order_id = ? WHERE order_id = ?", first.id,
			o.id)
		d.remove(tx, o)
		if first.Lines, err = linesOf(&tx.Conn, first.id); err != nil {
			return err
		}
		d.untouched[o.Supplier] = first
	}
	return nil
}

func (d *drafting) remove(tx *db.Tx, o storedOrder) {
	d.removed = append(d.removed, o.Number)
	tx.Do("DELETE FROM purchase_orders WHERE id = ?", o.id)
}

// held is how much of a SKU is in drafts whose line of it is made again.
func (d *drafting) held(rec article) (qty exact.Milli) {
	for supplier, o := range d.untouched {
		if l := o.line(rec.Code); l != nil && (supplier == rec.Supplier || d.anew(supplier)) {
			qty += l.Ordered
		}
	}
	return qty
}

// suppliers are those that are needed, or whose draft is made again.
func (d *drafting) suppliers() (names []string) {
	for name := range d.needs {
		names = append(names, name)
	}
	for name := range d.untouched {
		if _, needed := d.needs[name]; !needed && d.anew(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// put makes the supplier's draft, or adds to the one that there is; nil when nothing is needed.
func (d *drafting) put(tx *db.Tx, supplier string) (*storedOrder, error) {
	was, found := d.untouched[supplier]
	needs := d.needs[supplier]
	switch {
	case len(needs) == 0:
		d.remove(tx, was)
		return nil, nil
	case !found:
		o := storedOrder{PurchaseOrder: PurchaseOrder{Supplier: supplier, Status: Draft, Lines: needs}, suggested: true}
		var err error
		if o.Number, err = nextNumber(&tx.Conn); err != nil {
			return nil, err
		}
		d.made = append(d.made, o.Number)
		return &o, rewrite(tx, storedOrder{}, &o, nil, cause{})
	}
	now := was
	now.Lines = needs
	for _, l := range was.Lines {
		if slices.ContainsFunc(needs, func(n OrderLine) bool { return n.skuID == l.skuID }) {
			continue
		}
		if !d.anew(supplier) {
			now.Lines = append(now.Lines, l)
			continue
		}
		tx.Do("DELETE FROM purchase_order_lines WHERE order_id = ? AND sku_id = ?", was.id,
			l.skuID)
	}
	slices.SortFunc(now.Lines, func(a, b OrderLine) int { return strings.Compare(a.SKU, b.SKU) })
	if slices.Equal(now.Lines, was.Lines) {
		return &now, nil
	}
	d.changed = append(d.changed, now.Number)
	return &now, rewrite(tx, was, &now, nil, cause{})
}

// draftedQuantities is the quantity of each SKU in drafts, by SKU id.
func draftedQuantities(c *db.Conn) (map[int64]exact.Milli, error) {
	drafted := map[int64]exact.Milli{}
	err := db.Each(c, func(r *db.Row) error {
		id, qty := r.Int(), r.Milli()
		drafted[id] += qty
		return nil
	}, "SELECT sku_id, ordered FROM purchase_orders CROSS JOIN purchase_order_lines ON order_id = purchase_orders.id "+
		"WHERE status = 'draft'")
	return drafted, err
}
