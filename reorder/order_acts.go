package reorder

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// NewOrder is a purchase order to be made: a draft, or ordered right away.
type NewOrder struct {
	Supplier     string
	ExpectedDate *exact.Day
	Lines        []NewLine
	Order        bool
}

// NewLine is a SKU with its quantity; its price is the SKU's unit cost unless given.
type NewLine struct {
	SKU           string
	Qty           exact.Milli
	UnitCostCents *int64
	Instead       string // the SKU that replaces it in a draft; "" is none
}

// ParseLine reads a line as the command line writes it: SKU=QTY or SKU=QTY@CENTS.
func ParseLine(text string) (NewLine, error) {
	at := strings.LastIndexByte(text, '=')
	if at < 1 {
		return NewLine{}, fault.Invalidf("line %s: write it as SKU=QTY or SKU=QTY@CENTS", schema.Quote(text))
	}
	l := NewLine{SKU: strings.TrimSpace(text[:at])}
	qty, cents, priced := strings.Cut(text[at+1:], "@")
	var err error
	if l.Qty, err = exact.ParseMilli(strings.TrimSpace(qty)); err != nil {
		return NewLine{}, fault.Invalidf("line %s: cannot read the quantity %s: %s; give a number with at most 3 "+
			"decimals", schema.Quote(text), schema.Quote(qty), err)
	}
	if priced {
		n, err := strconv.ParseInt(strings.TrimSpace(cents), 10, 64)
		if err != nil {
			return NewLine{}, fault.Invalidf("line %s: the price %s is not a whole number of cents", schema.Quote(text),
				schema.Quote(cents))
		}
		l.UnitCostCents = &n
	}
	return l, nil
}

// CreateOrder makes a purchase order with the next free number. Refused: no supplier, no line, an unknown SKU, one in
// two lines, a quantity that is not above 0 or above 10^9, a price below 0 or above 10^10 cents.
func (s *Service) CreateOrder(ctx context.Context, who db.Caller, n NewOrder) (PurchaseOrder, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (PurchaseOrder, error) {
		n.Supplier = strings.TrimSpace(n.Supplier)
		if n.Supplier == "" {
			return PurchaseOrder{}, fault.Fieldf("supplier", "supplier is empty: name the supplier")
		}
		if err := schema.CheckText("supplier", n.Supplier, maxName); err != nil {
			return PurchaseOrder{}, err
		}
		o := storedOrder{PurchaseOrder: PurchaseOrder{Supplier: n.Supplier, Status: Draft, ExpectedDate: n.ExpectedDate}}
		if n.Order {
			o.Status = Ordered
		}
		var err error
		if o.Lines, err = newLines(&tx.Conn, n.Lines); err != nil {
			return PurchaseOrder{}, err
		}
		if o.Number, err = nextNumber(&tx.Conn); err != nil {
			return PurchaseOrder{}, err
		}
		if n.Order {
			if err := o.expect(tx); err != nil {
				return PurchaseOrder{}, err
			}
		}
		if err := rewrite(tx, storedOrder{}, &o, nil, cause{}); err != nil {
			return PurchaseOrder{}, err
		}
		shown, err := o.shown(&tx.Conn)
		if err != nil {
			return PurchaseOrder{}, err
		}
		return shown, tx.Audit("purchase_order.created", orderSubject(o.Number), shown)
	})
}

func newLines(c *db.Conn, wanted []NewLine) ([]OrderLine, error) {
	if len(wanted) == 0 {
		return nil, fault.Fieldf("lines", "line is missing: give at least one")
	}
	lines, seen := []OrderLine{}, map[int64]bool{}
	for _, w := range wanted {
		rec, err := find(c, w.SKU)
		if err != nil {
			return nil, err
		}
		l := lineOf(rec)
		l.Ordered = w.Qty
		l.UnitCostCents = schema.Or(w.UnitCostCents, l.UnitCostCents)
		if seen[l.skuID] {
			return nil, fault.Fieldf("lines", "line: %s is in two lines; give it once", rec.Code)
		}
		seen[l.skuID] = true
		if err := l.checkNew(); err != nil {
			return nil, err
		}
		lines = append(lines, l)
	}
	return lines, nil
}

// checkNew is check for a line that is given as a quantity.
func (l OrderLine) checkNew() error {
	if l.Ordered <= 0 || l.Ordered > maxQty {
		return fault.Fieldf("lines", "qty: %s of %s is out of range; it takes more than 0 and at most %s", l.Ordered, l.SKU,
			maxQty)
	}
	return l.check()
}

// check refuses a line with numbers out of range.
func (l OrderLine) check() error {
	switch {
	case l.Ordered <= 0 || l.Ordered > maxQty:
		return fault.Fieldf("ordered", "ordered: %s of %s is out of range; it takes more than 0 and at most %s", l.Ordered,
			l.SKU, maxQty)
	case l.Received < 0 || l.Received > l.Ordered:
		return fault.Fieldf("received", "received: %s of %s is out of range; it takes 0 to what is ordered, %s", l.Received,
			l.SKU, l.Ordered)
	case l.UnitCostCents < 0 || l.UnitCostCents > maxUnitCost:
		return fault.Fieldf("unit_cost_cents", "unit_cost_cents: %d of %s is out of range; it takes 0 to %d",
			fault.Cents(l.UnitCostCents), l.SKU, fault.Cents(maxUnitCost))
	}
	return nil
}

// nextNumber is the first number that was never used: ids are not reused, and a file may have brought its own numbers.
func nextNumber(c *db.Conn) (string, error) {
	last, _, err := db.One(c, db.Int, "SELECT seq FROM sqlite_sequence WHERE name = 'purchase_orders'")
	for n := last + 1; err == nil; n++ {
		number := fmt.Sprintf("PO-%06d", n)
		var taken bool
		if _, taken, err = db.One(c, db.Int, "SELECT 1 FROM purchase_orders WHERE number = ?", number); !taken && err == nil {
			return number, nil
		}
	}
	return "", err
}

// act changes one purchase order in a transaction of its own and audits it.
func (s *Service) act(ctx context.Context, who db.Caller, number, action string,
	fn func(*db.Tx, *storedOrder) (changes any, err error)) (PurchaseOrder, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (PurchaseOrder, error) {
		o, err := findOrder(&tx.Conn, number)
		if err != nil {
			return PurchaseOrder{}, err
		}
		changes, err := fn(tx, &o)
		if err != nil {
			return PurchaseOrder{}, err
		}
		shown, err := o.shown(&tx.Conn)
		if err != nil {
			return PurchaseOrder{}, err
		}
		return shown, tx.Audit(action, orderSubject(number), changes)
	})
}

// moved is the audit entry of a purchase order that changed its status.
type moved struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// moveTo changes the order's status, with its SKUs.
func (o *storedOrder) moveTo(tx *db.Tx, status string) (any, error) {
	was := *o
	if err := orderMoves.Check("purchase order", o.Status, status); err != nil {
		return nil, err
	}
	o.Status, o.suggested = status, false
	return moved{was.Status, status}, rewrite(tx, was, o, nil, cause{})
}

// PlaceOrder turns a draft into an order. Unless a day is set, it is expected after the supplier's lead time, or the
// longest of its lines'. With mails it is mailed to its supplier; one that cannot be mailed is not ordered. Refused: an
// order without a supplier.
func (s *Service) PlaceOrder(ctx context.Context, who db.Caller, number string, mails bool) (PurchaseOrder, error) {
	to := ""
	o, err := s.act(ctx, who, number, "purchase_order.ordered", func(tx *db.Tx, o *storedOrder) (any, error) {
		if err := orderMoves.Check("purchase order", o.Status, Ordered); err != nil {
			return nil, err
		}
		if o.Supplier == "" {
			return nil, fault.Fieldf("supplier", "supplier: purchase order %s has no supplier; choose one first", o.Number)
		}
		if err := o.expect(tx); err != nil {
			return nil, err
		}
		changes, err := o.moveTo(tx, Ordered)
		if err != nil || !mails {
			return changes, err
		}
		r, supplier, err := o.mailed(&tx.Conn)
		if err == nil {
			to = r.To
			_, err = purchaseKind.Ask(tx, r, supplier)
		}
		return changes, err
	})
	o.mailedTo = to
	return o, err
}

// CancelOrder cancels an open purchase order; a partly received one is closed. Received goods stay received.
func (s *Service) CancelOrder(ctx context.Context, who db.Caller, number string) (PurchaseOrder, error) {
	return s.act(ctx, who, number, "purchase_order.cancelled", func(tx *db.Tx, o *storedOrder) (any, error) {
		if o.Status == Partial {
			return o.moveTo(tx, Closed)
		}
		return o.moveTo(tx, Cancelled)
	})
}

// expect sets the expected day of an order placed today, unless it has one.
func (o *storedOrder) expect(tx *db.Tx) error {
	if o.ExpectedDate != nil {
		return nil
	}
	supplier, _, err := lookUpSupplier(&tx.Conn, o.Supplier)
	if err != nil {
		return err
	}
	lead := int64(0)
	if supplier.LeadTimeDays != nil {
		lead = *supplier.LeadTimeDays
	} else {
		for _, l := range o.Lines {
			rec, err := find(&tx.Conn, l.SKU)
			if err != nil {
				return err
			}
			lead = max(lead, rec.LeadTimeDays)
		}
	}
	day := tx.Today() + exact.Day(lead) // #nosec G115 -- at most maxDays
	o.ExpectedDate = &day
	return nil
}

// Receipt is a received quantity of a SKU.
type Receipt struct {
	SKU string      `json:"sku"`
	Qty exact.Milli `json:"qty"`

	field string // of a page's form, for its refusal
}

// Receive adds goods of a purchase order to stock: the given lines, or with none everything outstanding. Refused: an
// order that is not ordered or partial, an unknown or repeated SKU, more than is outstanding, a stock above 10^9.
func (s *Service) Receive(ctx context.Context, who db.Caller, number string, given []Receipt) (PurchaseOrder, error) {
	return s.act(ctx, who, number, "purchase_order.received", func(tx *db.Tx, o *storedOrder) (any, error) {
		if len(given) == 0 {
			for _, l := range o.Lines {
				if left := l.Ordered - l.Received; left > 0 {
					given = append(given, Receipt{SKU: l.SKU, Qty: left})
				}
			}
		}
		was := *o
		was.Lines = append([]OrderLine(nil), o.Lines...)
		cameIn, err := o.receive(given)
		if err != nil {
			return nil, err
		}
		return struct {
			moved
			Lines []Receipt `json:"lines"`
		}{moved{was.Status, o.Status}, given}, rewrite(tx, was, o, cameIn, cause{kind: movedByReceipt})
	})
}

// Unreceipt is a quantity of a SKU to remove from a purchase order's receipts.
type Unreceipt struct {
	SKU    string
	Qty    exact.Milli
	Reason string
}

// Unreceive reverses a receipt, such as one on the wrong order: the stock falls and the order's status returns to
// partial, or to ordered if nothing is received. Refused: an order that is not partial or received, a SKU that is not
// in it, more than was received, a stock below 0.
func (s *Service) Unreceive(ctx context.Context, who db.Caller, number string, u Unreceipt) (PurchaseOrder, error) {
	u.Reason = strings.TrimSpace(u.Reason)
	if err := schema.CheckText("reason", u.Reason, maxName); err != nil {
		return PurchaseOrder{}, err
	}
	o, err := s.act(ctx, who, number, "purchase_order.unreceived", func(tx *db.Tx, o *storedOrder) (any, error) {
		was := *o
		was.Lines = slices.Clone(o.Lines)
		if o.Status != Partial && o.Status != Received {
			return nil, fault.Fieldf("number", "status: purchase order %s is %s; a receipt can be undone only while it is "+
				"partial or received", o.Number, o.Status)
		}
		l := o.line(strings.TrimSpace(u.SKU))
		switch {
		case l == nil:
			return nil, fault.Fieldf("sku", "sku: %s is not in purchase order %s", schema.Quote(u.SKU), o.Number)
		case u.Qty <= 0 || u.Qty > l.Received:
			return nil, fault.Fieldf("qty",
				"qty: %s of %s is out of range; it takes more than 0 and at most what was received, %s", u.Qty, l.SKU, l.Received)
		}
		l.Received -= u.Qty
		o.Status = Ordered
		for _, l := range o.Lines {
			if l.Received > 0 {
				o.Status = Partial
			}
		}
		return struct {
				moved
				SKU    string      `json:"sku"`
				Qty    exact.Milli `json:"qty"`
				Reason string      `json:"reason,omitempty"`
			}{moved{was.Status, o.Status}, l.SKU, u.Qty, u.Reason}, rewrite(tx, was, o, map[int64]exact.Milli{l.skuID: -u.Qty},
				cause{kind: movedByReturn, reason: u.Reason})
	})
	o.taken = fmt.Sprintf("%s of %s", u.Qty, strings.TrimSpace(u.SKU))
	return o, err
}

// receive books the receipts on the order's lines and changes its status.
func (o *storedOrder) receive(given []Receipt) (cameIn map[int64]exact.Milli, err error) {
	if o.Status != Partial { // a partial one that stays partial does not move
		if err := orderMoves.Check("purchase order", o.Status, Received); err != nil {
			return nil, err
		}
	}
	cameIn = map[int64]exact.Milli{}
	for _, g := range given {
		l, field, name := o.line(g.SKU), "lines", "line"
		if g.field != "" {
			field, name = g.field, g.field
		}
		switch {
		case l == nil:
			return nil, fault.Fieldf(field, "%s: %s is not in purchase order %s", name, schema.Quote(g.SKU), o.Number)
		case cameIn[l.skuID] != 0:
			return nil, fault.Fieldf(field, "%s: %s is in two lines; give it once", name, l.SKU)
		case g.field != "" && g.Qty > l.Ordered-l.Received:
			return nil, fault.Fieldf(field, "%s: %s of %s is too much; at most %s are to come", name, g.Qty, l.SKU,
				l.Ordered-l.Received)
		case g.Qty <= 0 || g.Qty > l.Ordered-l.Received:
			return nil, fault.Fieldf(field,
				"%s: %s of %s is out of range; more than 0 and at most %s are outstanding (%s ordered, %s received)",
				name, g.Qty, l.SKU, l.Ordered-l.Received, l.Ordered, l.Received)
		}
		l.Received += g.Qty
		cameIn[l.skuID] = g.Qty
	}
	o.Status = Received
	for _, l := range o.Lines {
		if l.Received < l.Ordered {
			o.Status = Partial
		}
	}
	return cameIn, nil
}

func (o *storedOrder) line(sku string) *OrderLine {
	for i := range o.Lines {
		if o.Lines[i].SKU == sku {
			return &o.Lines[i]
		}
	}
	return nil
}
