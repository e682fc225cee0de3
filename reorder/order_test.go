package reorder

import (
	"context"
	"slices"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// create makes a purchase order from lines in the command line's format.
func (s *fixture) create(supplier string, order bool, lines ...string) (PurchaseOrder, error) {
	s.T.Helper()
	n := NewOrder{Supplier: supplier, Order: order}
	for _, text := range lines {
		l := val(ParseLine(text))
		n.Lines = append(n.Lines, l)
	}
	return s.CreateOrder(context.Background(), cli, n)
}

// holds fails unless the SKU has the stock and the quantity on order.
func (s *fixture) holds(sku, stock, onOrder string) {
	s.T.Helper()
	if rec := s.record(sku); rec.CurrentStock != milli(s.T, stock) || rec.OnOrder != milli(s.T, onOrder) {
		s.T.Errorf("%s: %s in stock, %s on order; want %s and %s", sku, rec.CurrentStock, rec.OnOrder, stock, onOrder)
	}
	s.sound()
}

func TestPurchaseOrderRefuses(t *testing.T) {
	s := open(t)
	s.sku("sku,current_stock", "A,999999999")
	s.sku("sku,current_stock", "B,0")
	draft := val(s.create("Acme", false, "A=5"))
	ordered := val(s.create("Acme", true, "A=5", "B=5"))
	done := val(s.create("Acme", true, "B=1"))
	val(s.Receive(context.Background(), cli, done.Number, nil))
	before, orders := len(s.audit()), func() string {
		all := val(s.Orders(context.Background(), OrderQuery{})).PurchaseOrders
		return asJSON(t, all)
	}
	were := orders()
	for _, c := range []struct {
		what  string
		do    func(ctx context.Context) (PurchaseOrder, error)
		kind  fault.Kind
		parts []string
	}{
		{"no supplier", func(context.Context) (PurchaseOrder, error) { return s.create(" ", false, "A=1") }, fault.Invalid, []string{"supplier"}},
		{"no line", func(context.Context) (PurchaseOrder, error) { return s.create("Acme", false) }, fault.Invalid, []string{"line"}},
		{"an unknown SKU", func(context.Context) (PurchaseOrder, error) { return s.create("Acme", false, "a=1") }, fault.NotFound, []string{`"a"`}},
		{"a SKU twice", func(context.Context) (PurchaseOrder, error) { return s.create("Acme", false, "A=1", "A=2") }, fault.Invalid, []string{"A", "two lines"}},
		{"none of it", func(context.Context) (PurchaseOrder, error) { return s.create("Acme", false, "A=0") }, fault.Invalid, []string{"qty", "more than 0"}},
		{"too much", func(context.Context) (PurchaseOrder, error) { return s.create("Acme", false, "A=1000000000.001") }, fault.Invalid, []string{"qty"}},
		{"a negative price", func(context.Context) (PurchaseOrder, error) { return s.create("Acme", false, "A=1@-1") }, fault.Invalid, []string{"unit_cost_cents"}},
		{"unknown", func(ctx context.Context) (PurchaseOrder, error) { return s.PlaceOrder(ctx, cli, "PO-9", false) }, fault.NotFound, []string{`"PO-9"`}},
		{"ordered twice", func(ctx context.Context) (PurchaseOrder, error) { return s.PlaceOrder(ctx, cli, ordered.Number, false) }, fault.Invalid, []string{"ordered", "partial, received, cancelled"}},
		{"received of a draft", func(ctx context.Context) (PurchaseOrder, error) { return s.Receive(ctx, cli, draft.Number, nil) }, fault.Invalid, []string{"draft", "ordered, cancelled"}},
		{"received twice", func(ctx context.Context) (PurchaseOrder, error) { return s.Receive(ctx, cli, done.Number, nil) }, fault.Invalid, []string{"received", "final"}},
		{"cancelled after all came", func(ctx context.Context) (PurchaseOrder, error) { return s.CancelOrder(ctx, cli, done.Number) }, fault.Invalid, []string{"final"}},
		{"more than ordered", func(ctx context.Context) (PurchaseOrder, error) {
			return s.Receive(ctx, cli, ordered.Number, []Receipt{{SKU: "B", Qty: 5001}})
		}, fault.Invalid, []string{"5.001", "at most 5"}},
		{"none came", func(ctx context.Context) (PurchaseOrder, error) {
			return s.Receive(ctx, cli, ordered.Number, []Receipt{{SKU: "B", Qty: 0}})
		}, fault.Invalid, []string{"more than 0"}},
		{"less than none came", func(ctx context.Context) (PurchaseOrder, error) {
			return s.Receive(ctx, cli, ordered.Number, []Receipt{{SKU: "B", Qty: -1000}})
		}, fault.Invalid, []string{"more than 0"}},
		{"a SKU came twice", func(ctx context.Context) (PurchaseOrder, error) {
			return s.Receive(ctx, cli, ordered.Number, []Receipt{{SKU: "B", Qty: 1000}, {SKU: "B", Qty: 1000}})
		}, fault.Invalid, []string{"B", "two lines"}},
		{"a SKU that was not ordered", func(ctx context.Context) (PurchaseOrder, error) {
			return s.Receive(ctx, cli, ordered.Number, []Receipt{{SKU: "C", Qty: 1000}})
		}, fault.Invalid, []string{`"C"`, ordered.Number}},
		{"the shelf is full: B came, but not A", func(ctx context.Context) (PurchaseOrder, error) { return s.Receive(ctx, cli, ordered.Number, nil) }, fault.Invalid, []string{"stock of A", "at most"}},
		{"a viewer", func(ctx context.Context) (PurchaseOrder, error) {
			return s.PlaceOrder(ctx, db.Caller{Service: "reorder", User: "vera", Role: "viewer", Scope: "full"}, draft.Number, false)
		}, fault.Forbidden, []string{"vera"}},
	} {
		_, err := c.do(context.Background())
		if !fault.Is(err, c.kind) {
			t.Errorf("%s: %v, want a refusal of kind %s", c.what, err, c.kind)
			continue
		}
		s.Refused(err, c.kind, c.parts...)
	}
	if got := orders(); got != were || len(s.audit()) != before {
		t.Errorf("refused acts changed the orders:\n%s\n%s\nor wrote %d audit entries", were, got, len(s.audit())-before)
	}
	s.holds("A", "999999999", "5")
	s.holds("B", "1", "5")
}

func TestParseLine(t *testing.T) {
	for _, text := range []string{"", "A", "=5", "A=", "A=x", "A=1.0005", "A=1@", "A=1@1.5", "A=1@x", "A=@5"} {
		l, err := ParseLine(text)
		assert.That(t, fault.Is(err, fault.Invalid), "%q is read as %+v, %v", text, l, err)
	}
	l, err := ParseLine(" A@HOME=x = 2.5@300")
	assert.That(t, err == nil && l.SKU == "A@HOME=x" && l.Qty == 2500 && *l.UnitCostCents == 300, "%+v, %v", l, err)
}

// told returns purchase orders in short.
func told(all []PurchaseOrder) (short []string) {
	for _, o := range all {
		text := o.Number + " " + o.Supplier + " " + o.Status
		for _, l := range o.Lines {
			text += " " + l.SKU + "=" + l.Ordered.String()
		}
		short = append(short, text)
	}
	return short
}

func TestSuggestOrders(t *testing.T) {
	s := ranked(t) // below-1 (X) needs 77, below-2 (Y) 60, near-a (Y) and near-b (X) 56
	s.sku("sku,current_stock,unit_cost_cents", "orphan,0,10")
	s.upload(`{"rows":[{"date":"2026-10-22","sku":"orphan","qty":3}]}`)
	if got := s.suggest(); !slices.Equal(got, []string{"PO-000001  draft orphan=4", "PO-000002 X draft below-1=77 near-b=56", "PO-000003 Y draft below-2=60 near-a=56"}) {
		t.Errorf("made %q", got)
	}
	s.holds("below-1", "3", "0") // a draft is not on order

	// X's draft is placed and Y's is edited: both stay, and their SKUs are not drafted again. The next suggestion drafts
	// the rest as needed then.
	val(s.PlaceOrder(context.Background(), cli, "PO-000002", false))
	s.Must(s.row(s.orderTable(), "number,sku,ordered", "PO-000003,below-2,61"))
	s.holds("below-1", "3", "77")
	s.upload(`{"rows":[{"date":"2026-10-22","sku":"orphan","qty":3}]}`)
	assert.EqualSlices(t, s.suggest(), []string{"PO-000001  draft orphan=8"}, "made")
	all := val(s.Orders(context.Background(), OrderQuery{})).PurchaseOrders
	var numbers []string
	for _, o := range all {
		numbers = append(numbers, o.Number+" "+o.Status)
	}
	assert.EqualSlices(t, numbers, []string{"PO-000001 draft", "PO-000002 ordered", "PO-000003 draft"}, "there")
	entries := s.audit()
	if last := entries[len(entries)-1]; last != `purchase_order.suggested purchase_orders {"made":[],"changed":["PO-000001"],"replaced":[]}` {
		t.Errorf("audit entry %s", last)
	}
}

// TestReceiptUpdatesTheAlarm: a receipt is a stock change like any other. It lifts a SKU off its reorder point, and
// falling below again raises the alarm again.
func TestReceiptUpdatesTheAlarm(t *testing.T) {
	s := open(t)
	s.sku("sku,current_stock", "A,30")
	s.upload(`{"rows":[{"date":"2026-10-22","sku":"A","qty":60}]}`)
	s.stock("A", "20")
	s.fired("A")
	o := val(s.create("Acme", true, "A=1"))
	val(s.Receive(context.Background(), cli, o.Number, nil))
	assert.That(t, !s.record("A").isBelow, "21 is above the point of 20, but the flag stands")
	s.stock("A", "20")
	s.fired("A", "A")
}

func TestNumbersSkipThoseOfAFile(t *testing.T) {
	s := open(t)
	s.sku("sku", "A")
	s.Must(s.row(s.orderTable(), "number,sku,ordered", "PO-000002,A,5"))
	for _, want := range []string{"PO-000003", "PO-000004"} {
		o := val(s.create("Acme", false, "A=1"))
		assert.That(t, o.Number == want, "%s, want %s", o.Number, want)
	}
}
