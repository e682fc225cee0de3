package reorder

import (
	"context"
	"slices"
	"strings"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/fault"
)

// Two channels of one SKU-day are added up everywhere and replaced apart; a request
// without a channel replaces the whole day.
func TestChannels(t *testing.T) {
	s := open(t)
	s.sku("sku,current_stock", "A,5")
	s.sku("sku,current_stock", "B,5")
	put := func(body string, imported, replaced int) {
		t.Helper()
		done := s.upload(body)
		if done.Imported != imported || done.ReplacedDays != nil && *done.ReplacedDays != replaced {
			t.Errorf("%s: %s", body, asJSON(t, done))
		}
	}
	const a = `{"rows":[{"date":"2026-11-20","sku":"A","qty":`
	put(a+`2}]}`, 1, 0)
	put(a+`3}],"channel":"web"}`, 1, 0)
	put(a+`4}],"channel":" shop "}`, 1, 0)
	s.hasSales("2026-11-20 A 2", "2026-11-20 A 4 shop", "2026-11-20 A 3 web")
	put(a+`1}],"channel":"web"}`, 1, 0) // added
	s.hasSales("2026-11-20 A 2", "2026-11-20 A 4 shop", "2026-11-20 A 4 web")
	put(a+`7}],"channel":"web","replace":true}`, 1, 1)
	put(a+`1}],"channel":"app","replace":true}`, 1, 0) // nothing of it was stored
	s.hasSales("2026-11-20 A 2", "2026-11-20 A 1 app", "2026-11-20 A 4 shop", "2026-11-20 A 7 web")
	if p, err := s.Product(context.Background(), "A", 1); err != nil || p.SoldInWindow != 14_000 || p.History[0].Qty != 14_000 {
		t.Errorf("the figures add up to %s, %v", p.SoldInWindow, err)
	}
	put(a+`9}],"replace":true}`, 1, 1) // the whole day
	s.hasSales("2026-11-20 A 9")
	_, err := s.call(s.ingestSales(), schema.REST, a+`1}],"channel":"`+strings.Repeat("x", 65)+`"}`)
	s.Refused(err, fault.Invalid, "channel", "64")
	for _, body := range []string{`1}],"channel":5}`} {
		_, err := s.call(s.ingestSales(), schema.REST, a+body)
		s.Refused(err, fault.Invalid, "channel")
	}

	// A file with the column replaces each share by itself, and one without it the day.
	load := func(columns string, cells ...[]string) {
		t.Helper()
		var lines []schema.Line
		for i, c := range cells {
			lines = append(lines, schema.Line{Number: i + 2, Cells: c})
		}
		loaded, err := s.LoadSales(context.Background(), cli, lines, schema.LoadOptions{Columns: strings.Split(columns, ",")})
		s.Must(err)
		if len(loaded.Errors) > 0 {
			t.Errorf("%+v", loaded)
		}
	}
	load("date,sku,qty,channel", []string{"2026-11-20", "A", "5", "web"}, []string{"2026-11-20", "A", "1", "web"}, []string{"2026-11-20", "B", "2", ""})
	s.hasSales("2026-11-20 A 9", "2026-11-20 A 6 web", "2026-11-20 B 2")
	load("date,sku,qty,channel", []string{"2026-11-20", "A", "3", ""})
	s.hasSales("2026-11-20 A 3", "2026-11-20 A 6 web", "2026-11-20 B 2")
	load("date,sku,qty", []string{"2026-11-20", "A", "8", ""})
	s.hasSales("2026-11-20 A 8", "2026-11-20 B 2")

	page, err := s.Sales(context.Background(), SalesQuery{Channel: "web"})
	s.Must(err)
	if page.Total != 0 || len(page.Sales) != 0 {
		t.Errorf("sold on the web: %s", asJSON(t, page))
	}
}

// A supplier's lead time is that of its SKUs that say nothing themselves.
func TestSuppliers(t *testing.T) {
	s := open(t)
	supplier := func(header, cells string) { t.Helper(); s.Must(s.row(s.supplierTable(), header, cells)) }
	supplier("name,lead_time_days,min_order_cents,email", "Leaf,12,5000,a@leaf.example")
	lead := func(sku string, want int64) {
		t.Helper()
		if got := s.record(sku).LeadTimeDays; got != want {
			t.Errorf("%s has a lead time of %d, want %d", sku, got, want)
		}
	}
	s.sku("sku,supplier", "NEW,Leaf")
	lead("NEW", 12)
	s.sku("sku,supplier,lead_time_days", "SAID,Leaf,3")
	lead("SAID", 3)
	s.sku("sku,supplier", "OTHER,Iron") // of whom there is no record
	lead("OTHER", 7)
	s.sku("sku,supplier", "OTHER,Leaf") // absent column: left alone
	lead("OTHER", 7)
	s.sku("sku,lead_time_days", "OTHER,") // empty cell: the default
	lead("OTHER", 12)
	supplier("name,lead_time_days", "Leaf,")
	s.sku("sku,lead_time_days", "OTHER,")
	lead("OTHER", 7)
	if got := s.exported(s.supplierTable()); !slices.Equal(got[1:], []string{"Leaf|a@leaf.example||||5000|"}) {
		t.Errorf("stored %q", got)
	}
	before := len(s.audit())
	supplier("name,min_order_cents", "Leaf,5000")
	if len(s.audit()) != before {
		t.Error("a row that changes nothing was audited")
	}
	s.Refused(s.row(s.supplierTable(), "name,lead_time_days", "Leaf,3651"), fault.Invalid, "lead_time_days")

	s.sku("sku,unit_cost_cents", "NEW,1999")
	o, err := s.create("Leaf", false, "NEW=1.5")
	s.Must(err)
	if o.TotalCents != 2999 || o.BelowMinimumCents != 2001 || o.Lines[0].TotalCents != 2999 { // 2998.5, half up
		t.Errorf("%s", asJSON(t, o))
	}
}

func TestUnreceive(t *testing.T) {
	s := open(t)
	s.sku("sku,current_stock", "A,2")
	o, err := s.create("Acme", true, "A=10")
	s.Must(err)
	ctx := context.Background()
	_, err = s.Receive(ctx, cli, o.Number, nil)
	s.Must(err)
	s.holds("A", "12", "0")
	take := func(qty, status, stock, onOrder string) {
		t.Helper()
		got, err := s.Unreceive(ctx, cli, o.Number, Unreceipt{SKU: "A", Qty: milli(t, qty), Reason: "wrong order"})
		s.Must(err)
		if got.Status != status {
			t.Errorf("it is %s, want %s", got.Status, status)
		}
		s.holds("A", stock, onOrder)
	}
	take("4", Partial, "8", "4")
	if s.stock("A", "3") {
		t.Error("an alarm without demand")
	}
	_, err = s.Unreceive(ctx, cli, o.Number, Unreceipt{SKU: "A", Qty: 6000})
	s.Refused(err, fault.Invalid, "never negative")
	s.stock("A", "6")
	take("6", Ordered, "0", "10")
	for _, u := range []Unreceipt{{SKU: "A", Qty: 1000}, {SKU: "B", Qty: 1000}} {
		_, err = s.Unreceive(ctx, cli, o.Number, u)
		s.Refused(err, fault.Invalid)
	}
	moves, err := s.Movements(ctx, "A", 10)
	s.Must(err)
	var kinds []string
	for _, m := range moves {
		kinds = append(kinds, m.Kind+" "+m.Qty.String()+" "+m.CurrentStock.String())
	}
	if want := []string{"return -6 0", "count 3 6", "count -5 3", "return -4 8", "receipt 10 12", "edit 2 2"}; !slices.Equal(kinds, want) {
		t.Errorf("%q, want %q", kinds, want)
	}
}

// An import moves no stock: it neither changes what came in of a stored line nor orders
// less than that.
func TestImportsKeepWhatCameIn(t *testing.T) {
	s := open(t)
	s.sku("sku,current_stock", "A,2")
	o, err := s.create("Acme", true, "A=10")
	s.Must(err)
	_, err = s.Receive(context.Background(), cli, o.Number, []Receipt{{"A", 4000}})
	s.Must(err)
	for _, c := range []struct{ header, cells, says string }{
		{"number,sku,received", o.Number + ",A,10", "receive it"},
		{"number,sku,received", o.Number + ",A,", "receive it"},
		{"number,sku,ordered", o.Number + ",A,3", "ordered"},
	} {
		s.Refused(s.row(s.orderTable(), c.header, c.cells), fault.Invalid, c.says)
	}
	s.Must(s.row(s.orderTable(), "number,sku,received,ordered", o.Number+",A,4,12"))
	s.holds("A", "6", "8")
}

// What was marked becomes drafts that stay; what stands in them is not drafted twice.
func TestSuggestMarked(t *testing.T) {
	s := ranked(t)
	ctx := context.Background()
	_, err := s.SuggestOrders(ctx, cli)
	s.Must(err)
	made, err := s.SuggestOrders(ctx, cli, "near-a", "below-1", "near-a")
	s.Must(err)
	if got := told(made); !slices.Equal(got, []string{"PO-000003 X draft below-1=77", "PO-000004 Y draft near-a=56"}) {
		t.Errorf("made %q", got)
	}
	made, err = s.SuggestOrders(ctx, cli)
	s.Must(err)
	if got := told(made); !slices.Equal(got, []string{"PO-000005 X draft near-b=56", "PO-000006 Y draft below-2=60"}) {
		t.Errorf("made again %q", got)
	}
	if made, err = s.SuggestOrders(ctx, cli, "near-a"); err != nil || len(made) != 0 {
		t.Errorf("drafted twice: %q, %v", told(made), err)
	}
	_, err = s.SuggestOrders(ctx, cli, "nope")
	s.Refused(err, fault.NotFound, "nope")
}

func TestEditDraft(t *testing.T) {
	s := open(t)
	s.sku("sku,unit_cost_cents", "A,100")
	s.sku("sku,unit_cost_cents", "B,100")
	o, err := s.create("Acme", false, "A=1", "B=2")
	s.Must(err)
	got, err := s.EditOrder(context.Background(), cli, o.Number, OrderEdit{Lines: []NewLine{{SKU: "A"}, {SKU: "B", Qty: 5000}}})
	s.Must(err)
	if text := told([]PurchaseOrder{got}); text[0] != o.Number+" Acme draft B=5" {
		t.Errorf("%q", text)
	}
	_, err = s.EditOrder(context.Background(), cli, o.Number, OrderEdit{Lines: []NewLine{{SKU: "B"}}})
	s.Refused(err, fault.Invalid, "at least one")
	_, err = s.PlaceOrder(context.Background(), cli, o.Number)
	s.Must(err)
	_, err = s.EditOrder(context.Background(), cli, o.Number, OrderEdit{})
	s.Refused(err, fault.Invalid, "only a draft")
	s.sound()
}

// Classes by hand: of 1,000 cents sold, A's 700 begin at 0 %, B's 200 at 70 %, C's 60 at
// 90 %, D's 40 at 96 %; E sold nothing in all
// the 365 days since the shop's first sale.
func TestStockFigures(t *testing.T) {
	s := open(t)
	for _, k := range []string{"A,10,100,X", "B,1,100,Y", "C,0,100,Y", "D,0.005,100,Y", "E,3,200,"} {
		s.sku("sku,current_stock,unit_cost_cents,supplier", k)
	}
	s.upload(`{"rows":[{"date":"2026-11-20","sku":"A","qty":7},{"date":"2026-08-22","sku":"B","qty":2},
		{"date":"2025-11-21","sku":"C","qty":0.6},{"date":"2026-11-19","sku":"D","qty":0.4},{"date":"2025-11-20","sku":"D","qty":50}]}`)
	got, err := s.StockFigures(context.Background())
	s.Must(err)
	const want = `{"today":"2026-11-20","value_cents":1701,"suppliers":[{"supplier":"X","value_cents":1000},{"supplier":"","value_cents":600},{"supplier":"Y","value_cents":101}],` +
		`"classes":[{"class":"A","skus":2,"sold_cost_cents":900},{"class":"B","skus":1,"sold_cost_cents":60},{"class":"C","skus":2,"sold_cost_cents":40}],` +
		`"unsold":[{"days":90,"skus":3,"value_cents":700},{"days":180,"skus":2,"value_cents":600},{"days":365,"skus":1,"value_cents":600}],"skus":[` +
		`{"sku":"A","name":"A","value_cents":1000,"class":"A","unsold_days":0},{"sku":"E","name":"E","value_cents":600,"class":"C","unsold_days":365},` +
		`{"sku":"B","name":"B","value_cents":100,"class":"A","unsold_days":90},{"sku":"D","name":"D","value_cents":1,"class":"C","unsold_days":1},` +
		`{"sku":"C","name":"C","value_cents":0,"class":"B","unsold_days":364}]}`
	if text := asJSON(t, got); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}
