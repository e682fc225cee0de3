package reorder

import (
	"context"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/words"
)

// The states of a purchase order.
const (
	Draft     = "draft"
	Ordered   = "ordered"
	Partial   = "partial" // some of it has arrived
	Received  = "received"
	Cancelled = "cancelled"
	Closed    = "closed" // some of it arrived, the rest is cancelled; stored as cancelled
)

// orderMoves is the only definition of a purchase order's moves.
var orderMoves = schema.Transitions{
	{Name: Draft, To: []string{Ordered, Cancelled}},
	{Name: Ordered, To: []string{Partial, Received, Cancelled}},
	{Name: Partial, To: []string{Received, Cancelled, Closed}},
	{Name: Received},
	{Name: Cancelled},
	{Name: Closed},
}

// PurchaseOrder is an order, or a draft, to one supplier.
type PurchaseOrder struct {
	Number       string      `json:"number"`
	Supplier     string      `json:"supplier"`
	Status       string      `json:"status" enum:"draft,ordered,partial,received,cancelled,closed"`
	ExpectedDate *exact.Day  `json:"expected_date"`
	Lines        []OrderLine `json:"lines"`
	TotalCents   int64       `json:"total_cents" about:"what all its lines cost as ordered"`

	BelowMinimumCents int64 `json:"below_minimum_cents" about:"by how much the total is below the supplier's minimum order; 0 if it is not"`

	CreatedAt exact.Instant `json:"-"`

	mailedTo string // where it was just mailed
	taken    string // what was just taken back: "12 of TEA-1"
}

// OrderLine is one SKU of a purchase order, which has it once.
type OrderLine struct {
	SKU           string      `json:"sku"`
	Ordered       exact.Milli `json:"ordered"`
	Received      exact.Milli `json:"received"`
	UnitCostCents int64       `json:"unit_cost_cents"`
	Name          string      `json:"name"`
	SupplierSKU   string      `json:"supplier_sku"`
	Unit          string      `json:"unit"`
	TotalCents    int64       `json:"total_cents" about:"ordered x unit cost, half up"`

	skuID   int64
	costNow int64 // the catalogue's present cost
}

// CostNow is the SKU's unit cost in the catalogue, which may have changed since.
func (l OrderLine) CostNow() int64 { return l.costNow }

// lineOf is a line of the SKU, with nothing ordered yet.
func lineOf(rec article) OrderLine {
	return OrderLine{skuID: rec.id, SKU: rec.Code, UnitCostCents: rec.UnitCostCents, Name: rec.Name,
		SupplierSKU: rec.SupplierSKU, Unit: rec.Unit,
		costNow: rec.UnitCostCents}
}

// shown fills in the values derived from the order's lines and its supplier.
func (o *storedOrder) shown(c *db.Conn) (PurchaseOrder, error) {
	o.TotalCents, o.BelowMinimumCents = 0, 0
	for i := range o.Lines {
		l := &o.Lines[i]
		l.TotalCents = exact.Mul(int64(l.Ordered), l.UnitCostCents).DivRound(1000)
		o.TotalCents = addCents(o.TotalCents, l.TotalCents)
	}
	supplier, _, err := lookUpSupplier(c, o.Supplier)
	o.BelowMinimumCents = max(0, supplier.MinOrderCents-o.TotalCents)
	return o.PurchaseOrder, err
}

// storedOrder is a stored purchase order.
type storedOrder struct {
	id int64
	PurchaseOrder
	suggested bool // made by suggest, and not edited since
}

// orderSets are the columns of a purchase order that change, with their values: one list
// for INSERT, UPDATE and scanOrder.
const orderSets db.Columns = "supplier, status, expected_date, suggested"

func (o *storedOrder) sets() []any {
	status := o.Status
	if status == Closed {
		status = Cancelled
	}
	return []any{o.Supplier, status, o.ExpectedDate, o.suggested}
}

var orderColumns = ("id, number, created_at, " + orderSets).Of("purchase_orders") +
	", status = 'cancelled' AND EXISTS (SELECT 1 FROM purchase_order_lines AS came WHERE came.order_id = " +
	"purchase_orders.id AND came.received > 0)"

func scanOrder(r *db.Row) (o storedOrder) {
	o.id, o.Number, o.CreatedAt = r.Int(), r.Text(), r.Instant()
	o.Supplier, o.Status, o.ExpectedDate, o.suggested = r.Text(), r.Text(), r.DayPtr(), r.Bool()
	if r.Bool() {
		o.Status = Closed
	}
	return o
}

const lineColumns = "sku_id, sku, ordered, received, purchase_order_lines.unit_cost_cents, name, supplier_sku, unit, " +
	"skus.unit_cost_cents"

func scanLine(r *db.Row) OrderLine {
	return OrderLine{
		skuID: r.Int(), SKU: r.Text(), Ordered: r.Milli(), Received: r.Milli(), UnitCostCents: r.Int(),
		Name: r.Text(), SupplierSKU: r.Text(), Unit: r.Text(), costNow: r.Int(),
	}
}

// lookUpOrder returns a purchase order with its lines, in the order of the SKUs.
func lookUpOrder(c *db.Conn, number string) (o storedOrder, found bool, err error) {
	o, found, err = db.One(c, scanOrder, "SELECT "+orderColumns+" FROM purchase_orders WHERE number = ?", number)
	if err != nil || !found {
		return o, found, err
	}
	o.Lines, err = linesOf(c, o.id)
	return o, true, err
}

func linesOf(c *db.Conn, order int64) ([]OrderLine, error) {
	return db.All(c, scanLine, "SELECT "+lineColumns+
		" FROM purchase_order_lines CROSS JOIN skus ON skus.id = sku_id WHERE order_id = ? ORDER BY sku", order)
}

func findOrder(c *db.Conn, number string) (storedOrder, error) {
	o, found, err := lookUpOrder(c, number)
	if err == nil && !found {
		err = fault.NotFoundf("no purchase order %s; `reorder po list` lists them", schema.Quote(number))
	}
	return o, err
}

// PurchaseOrder returns one purchase order. Refused: an unknown number.
func (s *Service) PurchaseOrder(ctx context.Context, number string) (o PurchaseOrder, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		stored, err := findOrder(c, number)
		if err != nil {
			return err
		}
		o, err = stored.shown(c)
		return err
	})
	return o, err
}

// OrderQuery restricts the purchase orders: to a status, a supplier, those with Q in number, supplier or a SKU.
type OrderQuery struct {
	Status, Supplier, Q string
	Newest              bool // the last number first
	schema.Cursor[string]
}

// OrderPage is a page of purchase orders as lists show them.
type OrderPage struct {
	PurchaseOrders []PurchaseOrder `json:"purchase_orders"`
	Next           *string         `json:"next" about:"pass it as after; null at the end"`
	Total          int64           `json:"total" about:"how many there are in all"`
}

// takes reports whether the order has the requested status and supplier, if any.
func (q OrderQuery) takes(o storedOrder) bool {
	return (q.Status == "" || o.Status == q.Status) && (q.Supplier == "" || folded(o.Supplier) == folded(q.Supplier))
}

// Orders lists purchase orders in the order of their numbers, page by page.
func (s *Service) Orders(ctx context.Context, q OrderQuery) (page OrderPage, err error) {
	page.PurchaseOrders = []PurchaseOrder{}
	wanted, number := words.Of(q.Q), words.Number(q.Q, "PO")
	err = s.db.View(ctx, func(c *db.Conn) error {
		stored, err := db.All(c, scanOrder, "SELECT "+orderColumns+" FROM purchase_orders ORDER BY number")
		if err != nil {
			return err
		}
		if q.Newest {
			slices.Reverse(stored)
		}
		for _, o := range stored {
			isNumber := number != 0 && number == words.Number(o.Number, "PO")
			if !q.takes(o) || !isNumber && !wanted.In(o.Number, o.Supplier) {
				continue
			}
			page.Total++
			if q.After != "" && (!q.Newest && o.Number <= q.After || q.Newest && o.Number >= q.After) {
				continue
			}
			if n := int64(len(page.PurchaseOrders)); q.Limit > 0 && n == q.Limit {
				page.Next = &page.PurchaseOrders[n-1].Number
				continue
			}
			if o.Lines, err = linesOf(c, o.id); err != nil {
				return err
			}
			shown, err := o.shown(c)
			if err != nil {
				return err
			}
			page.PurchaseOrders = append(page.PurchaseOrders, shown)
		}
		return nil
	})
	return page, err
}

// outstanding is a line's quantity on order while its purchase order has the status.
func (l OrderLine) outstanding(status string) exact.Milli {
	if status == Ordered || status == Partial {
		return l.Ordered - l.Received
	}
	return 0
}

func orderSubject(number string) string { return "purchase_order:" + number }

// rewrite stores a changed purchase order and updates its SKUs: on order by the difference of what is outstanding, the
// stock by received goods (by SKU id; nil if none). was is the zero storedOrder for a new one. The caller has checked
// the change and writes its audit entry.
func rewrite(tx *db.Tx, was storedOrder, now *storedOrder, cameIn map[int64]exact.Milli, why cause) error {
	why.number = now.Number
	if err := storeOrder(tx, now); err != nil {
		return err
	}
	h, err := rollToToday(tx)
	if err != nil {
		return err
	}
	before := map[int64]OrderLine{}
	for _, l := range was.Lines {
		before[l.skuID] = l
	}
	for _, l := range now.Lines {
		old := before[l.skuID]
		if l != old {
			storeLine(tx, now.id, l)
		}
		more := l.outstanding(now.Status) - old.outstanding(was.Status)
		if more == 0 && cameIn[l.skuID] == 0 {
			continue
		}
		rec, err := find(&tx.Conn, l.SKU)
		if err != nil {
			return err
		}
		if _, err := move(tx, h, &rec, rec.CurrentStock+cameIn[l.skuID], rec.OnOrder+more, why); err != nil {
			return err
		}
	}
	return nil
}

// storeOrder writes the order without its lines.
func storeOrder(tx *db.Tx, o *storedOrder) (err error) {
	if o.id == 0 {
		o.CreatedAt = tx.Now()
		o.id, err = tx.InsertRow("purchase_orders", "number, created_at, updated_at, "+orderSets,
			append([]any{o.Number, tx.Now(), tx.Now()}, o.sets()...)...)
		return err
	}
	return tx.UpdateRow("purchase_orders", o.id, "updated_at, "+orderSets, append([]any{tx.Now()}, o.sets()...)...)
}

// storeLine inserts or updates a line. Lines of an order are never deleted.
func storeLine(tx *db.Tx, order int64, l OrderLine) {
	tx.Do(
		"INSERT OR REPLACE INTO purchase_order_lines (order_id, sku_id, ordered, received, unit_cost_cents) VALUES (?, ?, "+
			"?, ?, ?)",
		order, l.skuID, l.Ordered, l.Received, l.UnitCostCents)
}
