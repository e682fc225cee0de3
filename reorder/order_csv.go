package reorder

import (
	"reflect"
	"slices"
	"strconv"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// orderTable is the purchase orders as CSV, a row per line. Importing never changes the stock; the quantity on order
// follows.
func (s *Service) orderTable() schema.Table {
	return schema.Table{
		Name: "purchase-orders",
		About: "Purchase orders, one row per line, identified by number and SKU. Order columns are those of the whole " +
			"order. The stock does not change.",
		Row: func(f *schema.Form) schema.Put {
			e := bindOrderLine(f)
			return func(tx *db.Tx) (schema.Outcome, error) { return putOrderLine(tx, e) }
		},
		Export: exportOrders,
	}
}

func exportOrders(c *db.Conn, emit func(cells ...string) error) error {
	return db.Each(c, func(r *db.Row) error {
		o := scanOrder(r)
		return emit(o.Cells(scanLine(r))...)
	}, "SELECT "+orderColumns+", "+lineColumns+`
		FROM purchase_orders CROSS JOIN purchase_order_lines ON order_id = purchase_orders.id CROSS JOIN skus
		ON skus.id = sku_id
		ORDER BY number, sku`)
}

// Cells is a line of the order as a row of its table.
func (o PurchaseOrder) Cells(l OrderLine) []string {
	return []string{o.Number, l.SKU, o.Supplier, o.Status, schema.Cell(o.ExpectedDate), l.Ordered.String(),
		l.Received.String(), strconv.FormatInt(l.UnitCostCents, 10)}
}

// orderEdit is one row of the file: the line that it names and its columns.
type orderEdit struct {
	number, sku string
	order       []func(*PurchaseOrder)
	line        []func(*OrderLine)
	priced      bool // the row gives a price; otherwise a new line has the SKU's
	repriced    bool // the row's price is empty: the line gets the SKU's again
}

func bindOrderLine(f *schema.Form) orderEdit {
	var e orderEdit
	f.Text(&e.number, "number", "the purchase order", schema.Required, schema.Most(maxCode), schema.Example("PO-000001"))
	f.Text(&e.sku, "sku", "the SKU, case-sensitive", schema.Required, schema.Most(maxCode))
	o, l := PurchaseOrder{Status: Draft}, OrderLine{}
	order := func(name string, set func(*PurchaseOrder)) {
		if f.Given(name) {
			e.order = append(e.order, set)
		}
	}
	line := func(name string, set func(*OrderLine)) {
		if f.Given(name) {
			e.line = append(e.line, set)
		}
	}
	f.Text(&o.Supplier, "supplier", "who delivers", schema.Most(maxName))
	order("supplier", func(to *PurchaseOrder) { to.Supplier = o.Supplier })
	f.Enum(&o.Status, "status", "its status", orderMoves.States())
	order("status", func(to *PurchaseOrder) { to.Status = o.Status })
	f.DayPtr(&o.ExpectedDate, "expected_date", "when it is expected")
	order("expected_date", func(to *PurchaseOrder) { to.ExpectedDate = o.ExpectedDate })
	f.Milli(&l.Ordered, "ordered", "how much was ordered; above 0", schema.Range(0, int64(maxQty/1000)))
	line("ordered", func(to *OrderLine) { to.Ordered = l.Ordered })
	f.Milli(&l.Received, "received", "how much was received", schema.Range(0, int64(maxQty/1000)))
	line("received", func(to *OrderLine) { to.Received = l.Received })
	var cost *int64
	f.IntPtr(&cost, "unit_cost_cents", "unit cost in cents; empty is the SKU's", schema.Range(0, maxUnitCost))
	e.priced = cost != nil
	e.repriced = f.Given("unit_cost_cents") && cost == nil
	if e.priced {
		line("unit_cost_cents", func(to *OrderLine) { to.UnitCostCents = *cost })
	}
	return e
}

// keepsReceived refuses an import that would change the received quantity of a stored line, or order less than that:
// only a receipt changes the stock.
func (l OrderLine) keepsReceived(stored OrderLine, number string) error {
	switch {
	case l.Received != stored.Received:
		return fault.Invalidf(
			"received: %s of %s would become %s, but an import does not change stock: receive it (`reorder po receive %s "+
				"--line SKU=QTY`, or `reorder po unreceive` to undo)",
			stored.Received, l.SKU, l.Received, number)
	case l.Ordered < stored.Received:
		return fault.Invalidf("ordered: %s of %s is less than the %s received already", l.Ordered, l.SKU, stored.Received)
	}
	return nil
}

// isOver reports whether no more goods of the order are expected.
func (o *storedOrder) isOver() bool { return o.Status == Cancelled || o.Status == Closed }

// putOrderLine applies the row to its order and line, existing or new. Refused: an unknown SKU, a forbidden move, a
// draft with received goods, another received quantity of a stored line, numbers out of range. A row that changes
// nothing writes nothing.
func putOrderLine(tx *db.Tx, e orderEdit) (schema.Outcome, error) {
	var none schema.Outcome
	was, found, err := lookUpOrder(&tx.Conn, e.number)
	if err != nil {
		return none, err
	}
	now := was
	now.Lines = slices.Clone(was.Lines)
	if !found {
		now.PurchaseOrder = PurchaseOrder{Number: e.number, Status: Draft}
	}
	for _, set := range e.order {
		set(&now.PurchaseOrder)
	}
	if found && now.Status != was.Status && (!now.isOver() || !was.isOver()) {
		if err := orderMoves.Check("purchase order", was.Status, now.Status); err != nil {
			return none, err
		}
	}
	l := now.line(e.sku)
	if l == nil {
		rec, err := find(&tx.Conn, e.sku)
		if err != nil {
			return none, err
		}
		now.Lines = append(now.Lines, lineOf(rec))
		l = &now.Lines[len(now.Lines)-1]
	}
	stored := was.line(e.sku)
	for _, set := range e.line {
		set(l)
	}
	if e.repriced {
		rec, err := find(&tx.Conn, e.sku)
		if err != nil {
			return none, err
		}
		l.UnitCostCents = rec.UnitCostCents
	}
	if stored != nil {
		if err := l.keepsReceived(*stored, e.number); err != nil {
			return none, err
		}
	}
	if err := l.check(); err != nil {
		return none, err
	}
	if l.Received > 0 && now.Status == Draft {
		return none, fault.Invalidf("received: %s of %s were received, but the purchase order is a draft: order it "+
			"first", l.Received, l.SKU)
	}
	if now.isOver() {
		now.Status = Cancelled
		if slices.ContainsFunc(now.Lines, func(l OrderLine) bool { return l.Received > 0 }) {
			now.Status = Closed
		}
	}
	if found && reflect.DeepEqual(was.PurchaseOrder, now.PurchaseOrder) {
		return none, nil
	}
	now.suggested = false
	if err := rewrite(tx, was, &now, nil, cause{}); err != nil {
		return none, err
	}
	done := schema.Outcome{New: true}
	if stored != nil {
		done = schema.Changed(now.id, orderDifferences(was.PurchaseOrder, now.PurchaseOrder, *stored, *l))
	}
	return done, tx.Audit("purchase_order.imported", orderSubject(e.number), struct {
		Supplier     string     `json:"supplier"`
		Status       string     `json:"status"`
		ExpectedDate *exact.Day `json:"expected_date"`
		Line         OrderLine  `json:"line"`
	}{now.Supplier, now.Status, now.ExpectedDate, *l})
}

// orderDifferences names what a row changed of an order and its line.
func orderDifferences(was, now PurchaseOrder, stored, l OrderLine) map[string][2]any {
	d := map[string][2]any{}
	add := func(name string, was, now any) {
		if !reflect.DeepEqual(was, now) {
			d[name] = [2]any{was, now}
		}
	}
	add("supplier", was.Supplier, now.Supplier)
	add("status", was.Status, now.Status)
	add("expected_date", was.ExpectedDate, now.ExpectedDate)
	add("ordered", stored.Ordered, l.Ordered)
	add("received", stored.Received, l.Received)
	add("unit_cost_cents", stored.UnitCostCents, l.UnitCostCents)
	return d
}
