package reorder

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/fault"
)

// TestChannels: two channels of one SKU-day are added up everywhere and replaced separately; a request without a
// channel replaces the whole day.
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
	put(a+`1}],"channel":"app","replace":true}`, 1, 0) // none of it was stored
	s.hasSales("2026-11-20 A 2", "2026-11-20 A 1 app", "2026-11-20 A 4 shop", "2026-11-20 A 7 web")
	days, channels, err := s.LastSales(context.Background())
	s.Must(err)
	if got := fmt.Sprint(days, channels); got != fmt.Sprint([]DaySum{{days[0].Day, 14_000}}, []ChannelSum{{"web", 7_000}, {"shop", 4_000}, {"app", 1_000}, {"", 2_000}}) {
		t.Errorf("the last days: %s", got)
	}
	if p, err := s.Product(context.Background(), "A", 1); err != nil || p.SoldInWindow != 14_000 || p.History[0].Qty != 14_000 {
		t.Errorf("the figures add up to %s, %v", p.SoldInWindow, err)
	}
	put(a+`9}],"replace":true}`, 1, 1) // the whole day
	s.hasSales("2026-11-20 A 9")
	_, err = s.call(s.ingestSales(), schema.REST, a+`1}],"channel":"`+strings.Repeat("x", 65)+`"}`)
	s.Refused(err, fault.Invalid, "channel", "64")
	for _, body := range []string{`1}],"channel":5}`} {
		_, err := s.call(s.ingestSales(), schema.REST, a+body)
		s.Refused(err, fault.Invalid, "channel")
	}

	// A file with the column replaces each channel separately, one without it the day.
	load := func(columns string, cells ...[]string) {
		t.Helper()
		var lines []schema.Line
		for i, c := range cells {
			lines = append(lines, schema.Line{Number: i + 2, Cells: c})
		}
		loaded := val(s.LoadSales(context.Background(), cli, lines, schema.LoadOptions{Columns: strings.Split(columns, ",")}))
		assert.That(t, len(loaded.Errors) <= 0, "%+v", loaded)
	}
	load("date,sku,qty,channel", []string{"2026-11-20", "A", "5", "web"}, []string{"2026-11-20", "A", "1", "web"}, []string{"2026-11-20", "B", "2", ""})
	s.hasSales("2026-11-20 A 9", "2026-11-20 A 6 web", "2026-11-20 B 2")
	load("date,sku,qty,channel", []string{"2026-11-20", "A", "3", ""})
	s.hasSales("2026-11-20 A 3", "2026-11-20 A 6 web", "2026-11-20 B 2")
	load("date,sku,qty", []string{"2026-11-20", "A", "8", ""})
	s.hasSales("2026-11-20 A 8", "2026-11-20 B 2")

	page := val(s.Sales(context.Background(), SalesQuery{Channel: "web"}))
	assert.That(t, page.Total == 0 && len(page.Sales) == 0, "sold on the web: %s", asJSON(t, page))
}

// TestSuppliers: a supplier's lead time applies to its SKUs without one.
func TestSuppliers(t *testing.T) {
	s := open(t)
	supplier := func(header, cells string) { t.Helper(); s.Must(s.row(supplierTable(), header, cells)) }
	supplier("name,lead_time_days,min_order_cents,email", "Leaf,12,5000,a@leaf.example")
	lead := func(sku string, want int64) {
		t.Helper()
		assert.Equal(t, s.record(sku).LeadTimeDays, want, "%s has a lead time of", sku)
	}
	s.sku("sku,supplier", "NEW,Leaf")
	lead("NEW", 12)
	s.sku("sku,supplier,lead_time_days", "SAID,Leaf,3")
	lead("SAID", 3)
	s.sku("sku,supplier", "OTHER,Iron") // whose record is made
	lead("OTHER", 7)
	s.sku("sku,supplier", "OTHER,Leaf") // absent column: unchanged
	lead("OTHER", 7)
	s.sku("sku,lead_time_days", "OTHER,") // empty cell: the default
	lead("OTHER", 12)
	supplier("name,lead_time_days", "Leaf,")
	s.sku("sku,lead_time_days", "OTHER,")
	lead("OTHER", 7)
	got := s.exported(supplierTable())
	assert.That(t, slices.Equal(got[1:], []string{"Iron|||||0|", "Leaf|a@leaf.example||||5000|"}), "stored %q", got)
	before := len(s.audit())
	supplier("name,min_order_cents", "Leaf,5000")
	assert.That(t, len(s.audit()) == before, "a row that changes nothing was audited")
	s.Refused(s.row(supplierTable(), "name,lead_time_days", "Leaf,3651"), fault.Invalid, "lead_time_days")

	s.sku("sku,unit_cost_cents", "NEW,1999")
	o := val(s.create("Leaf", false, "NEW=1.5"))
	if o.TotalCents != 2999 || o.BelowMinimumCents != 2001 || o.Lines[0].TotalCents != 2999 { // 2998.5, half up
		t.Errorf("%s", asJSON(t, o))
	}
}

func TestUnreceive(t *testing.T) {
	s := open(t)
	s.sku("sku,current_stock", "A,2")
	o := val(s.create("Acme", true, "A=10"))
	ctx := context.Background()
	val(s.Receive(ctx, cli, o.Number, nil))
	s.holds("A", "12", "0")
	take := func(qty, status, stock, onOrder string) {
		t.Helper()
		got := val(s.Unreceive(ctx, cli, o.Number, Unreceipt{SKU: "A", Qty: milli(t, qty), Reason: "wrong order"}))
		assert.That(t, got.Status == status, "it is %s, want %s", got.Status, status)
		s.holds("A", stock, onOrder)
	}
	take("4", Partial, "8", "4")
	assert.That(t, !s.stock("A", "3"), "an alarm without demand")
	_, err := s.Unreceive(ctx, cli, o.Number, Unreceipt{SKU: "A", Qty: 6000})
	s.Refused(err, fault.Invalid, "never negative")
	s.stock("A", "6")
	take("6", Ordered, "0", "10")
	for _, u := range []Unreceipt{{SKU: "A", Qty: 1000}, {SKU: "B", Qty: 1000}} {
		_, err = s.Unreceive(ctx, cli, o.Number, u)
		s.Refused(err, fault.Invalid)
	}
	moves := val(s.Movements(ctx, "A", 10))
	var kinds []string
	for _, m := range moves {
		kinds = append(kinds, m.Kind+" "+m.Qty.String()+" "+m.CurrentStock.String())
	}
	want := []string{"return -6 0", "count 3 6", "count -5 3", "return -4 8", "receipt 10 12", "edit 2 2"}
	assert.That(t, slices.Equal(kinds, want), "%q, want %q", kinds, want)
}

// TestImportsKeepReceivedQuantities: an import moves no stock. It neither changes the received quantity of a stored
// line nor orders less than that.
func TestImportsKeepReceivedQuantities(t *testing.T) {
	s := open(t)
	s.sku("sku,current_stock", "A,2")
	o := val(s.create("Acme", true, "A=10"))
	val(s.Receive(context.Background(), cli, o.Number, []Receipt{{SKU: "A", Qty: 4000}}))
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

// TestSuggestAddsToTheSuppliersDraft: marked SKUs are added to the supplier's unedited draft, which keeps its number.
// "Nothing to draft" is said only if no SKU needs anything.
func TestSuggestAddsToTheSuppliersDraft(t *testing.T) {
	s := ranked(t) // below-1 (X) needs 77, below-2 (Y) 60, near-a (Y) and near-b (X) 56
	ctx := context.Background()
	suggests := func(want []string, codes ...string) {
		t.Helper()
		assert.EqualSlices(t, s.suggest(codes...), want, "%q drafted", codes)
	}
	says := func(want string, codes ...string) {
		t.Helper()
		done := val(s.SuggestOrders(ctx, cli, SuggestQuery{SKUs: codes}))
		assert.Contains(t, didSuggest(done, func(int64) string { return "money" }), want, "%q says", codes)
	}
	suggests([]string{"PO-000001 Y draft near-a=56"}, "near-a", "near-a")
	suggests([]string{"PO-000002 X draft below-1=77", "PO-000001 Y draft below-2=60 near-a=56"}, "below-1", "below-2")
	says("1 more SKU needs ordering", "near-a")
	suggests([]string{"PO-000002 X draft below-1=77 near-b=56", "PO-000001 Y draft below-2=60 near-a=56"})
	suggests([]string{"PO-000002 X draft below-1=77 near-b=56", "PO-000001 Y draft below-2=60 near-a=56"})

	// If the draft was edited, a second one has only what is missing.
	val(s.EditOrder(ctx, cli, "PO-000001", OrderEdit{Lines: []NewLine{{SKU: "near-a"}}}))
	says("1 more SKU needs ordering", "below-2") // near-a
	suggests([]string{"PO-000003 Y draft near-a=56"}, "near-a")
	suggests([]string{}, "below-2")
	for _, o := range []string{"PO-000001", "PO-000002", "PO-000003"} {
		val(s.PlaceOrder(ctx, cli, o, false))
	}
	says("There is nothing to draft")
	assert.Equal(t, s.Number("SELECT count(*) FROM purchase_orders"), 3, "purchase orders")
	_, err := s.SuggestOrders(ctx, cli, SuggestQuery{SKUs: []string{"nope"}})
	s.Refused(err, fault.NotFound, "nope")
	s.sound()
}

// TestSuggestOfOneSupplier: it leaves the drafts of other suppliers unchanged.
func TestSuggestOfOneSupplier(t *testing.T) {
	s := ranked(t)
	s.suggest()
	s.stock("near-a", "500")
	done := val(s.SuggestOrders(context.Background(), cli, SuggestQuery{Supplier: "x"}))
	assert.EqualSlices(t, told(done.PurchaseOrders), []string{"PO-000001 X draft below-1=77 near-b=56"}, "drafted")
	assert.EqualSlices(t, s.suggest(), []string{"PO-000001 X draft below-1=77 near-b=56", "PO-000002 Y draft below-2=60"},
		"drafted")
}

// TestOrderingSetsTheExpectedDay: an order needs a supplier. Ordering sets the expected date by the supplier's lead
// time, else the longest of its lines.
func TestOrderingSetsTheExpectedDay(t *testing.T) {
	s := ranked(t)
	ctx := context.Background()
	s.sku("sku,current_stock,lead_time_days", "orphan,0,21")
	s.sku("sku,current_stock,lead_time_days", "other,0,9")
	s.upload(`{"rows":[{"date":"2026-10-22","sku":"orphan","qty":3},{"date":"2026-10-22","sku":"other","qty":3}]}`)
	s.suggest("orphan", "other")
	_, err := s.PlaceOrder(ctx, cli, "PO-000001", false)
	s.Refused(err, fault.Invalid, "supplier")
	leaf := "Leaf"
	val(s.EditOrder(ctx, cli, "PO-000001", OrderEdit{Supplier: &leaf}))
	expects := func(o PurchaseOrder, err error, day string) {
		t.Helper()
		s.Must(err)
		assert.That(t, o.ExpectedDate != nil && o.ExpectedDate.String() == day,
			"%s is expected on %v, want %s", o.Number, o.ExpectedDate, day)
	}
	o, err := s.PlaceOrder(ctx, cli, "PO-000001", false)
	expects(o, err, "2026-12-11")
	s.Must(s.row(supplierTable(), "name,lead_time_days", "Leaf,3"))
	o, err = s.create("Leaf", true, "orphan=1")
	expects(o, err, "2026-11-23")
}

// TestAPartlyReceivedOrderIsClosed: cancelling a partly received order closes it, in lists and files too.
func TestAPartlyReceivedOrderIsClosed(t *testing.T) {
	s := open(t)
	ctx := context.Background()
	s.sku("sku,current_stock", "A,2")
	s.sku("sku,current_stock", "B,2")
	o := val(s.create("Acme", true, "A=10", "B=4"))
	val(s.Receive(ctx, cli, o.Number, []Receipt{{SKU: "A", Qty: 4000}}))
	entries := s.audit()
	last := entries[len(entries)-1]
	assert.That(t, last == `purchase_order.received purchase_order:PO-000001 `+
		`{"from":"ordered","to":"partial","lines":[{"sku":"A","qty":4}]}`, "audit entry %s", last)
	o = val(s.CancelOrder(ctx, cli, o.Number))
	assert.That(t, o.Status == Closed, "it is %s", o.Status)
	s.holds("A", "6", "0")
	whole := val(s.create("Acme", true, "A=1"))
	val(s.CancelOrder(ctx, cli, whole.Number))
	for status, want := range map[string]string{Closed: o.Number, Cancelled: whole.Number} {
		page := val(s.Orders(ctx, OrderQuery{Status: status}))
		if len(page.PurchaseOrders) != 1 || page.PurchaseOrders[0].Number != want {
			t.Errorf("%s are %q", status, told(page.PurchaseOrders))
		}
	}
	_, err := s.CancelOrder(ctx, cli, o.Number)
	s.Refused(err, fault.Invalid, "closed")
	file := s.exported(s.orderTable())
	for _, row := range file[1:] {
		s.Must(s.row(s.orderTable(), strings.ReplaceAll(file[0], "|", ","), strings.ReplaceAll(row, "|", ",")))
	}
	again := s.exported(s.orderTable())
	assert.That(t, slices.Equal(again, file), "exported %q, after its import %q", file, again)
	s.Must(s.row(s.orderTable(), "number,sku,supplier,status,ordered,received", "OLD-1,B,Acme,closed,5,0"))
	s.Must(s.row(s.orderTable(), "number,sku,supplier,status,ordered,received", "OLD-1,A,Acme,closed,5,3"))
	got, err := s.PurchaseOrder(ctx, "OLD-1")
	assert.That(t, err == nil && got.Status == Closed, "imported as %s, %v", got.Status, err)
	s.sound()
}

// TestEditLinesOfADraft: a draft's lines change price and product; a SKU's changed cost is applied on request.
func TestEditLinesOfADraft(t *testing.T) {
	s := open(t)
	ctx := context.Background()
	for _, k := range []string{"A,100", "B,200", "C,300"} {
		s.sku("sku,unit_cost_cents", k)
	}
	o := val(s.create("Acme", false, "A=1", "B=2"))
	price := int64(150)
	edited := func(e OrderEdit, want string) {
		t.Helper()
		got := val(s.EditOrder(ctx, cli, o.Number, e))
		text := ""
		for _, l := range got.Lines {
			text += fmt.Sprintf("%s %s at %d;", l.SKU, l.Ordered, l.UnitCostCents)
		}
		assert.That(t, text == want, "%s, want %s", text, want)
	}
	edited(OrderEdit{Lines: []NewLine{{SKU: "A", Qty: 3000, UnitCostCents: &price}}}, "A 3 at 150;B 2 at 200;")
	edited(OrderEdit{Lines: []NewLine{{SKU: "B", Qty: 5000, Instead: "C"}}}, "A 3 at 150;C 5 at 300;")
	_, err := s.EditOrder(ctx, cli, o.Number, OrderEdit{Lines: []NewLine{{SKU: "C", Qty: 5000, Instead: "A"}}})
	s.Refused(err, fault.Invalid, "two lines")
	s.sku("sku,unit_cost_cents", "C,330")
	shown := val(s.PurchaseOrder(ctx, o.Number))
	l := shown.Lines[1]
	assert.That(t, l.UnitCostCents == 300 && l.CostNow() == 330, "%+v", l)
	edited(OrderEdit{Reprice: true}, "A 3 at 100;C 5 at 330;")
	s.sound()
}

func TestEditDraft(t *testing.T) {
	s := open(t)
	s.sku("sku,unit_cost_cents", "A,100")
	s.sku("sku,unit_cost_cents", "B,100")
	o := val(s.create("Acme", false, "A=1", "B=2"))
	got := val(s.EditOrder(context.Background(), cli, o.Number, OrderEdit{Lines: []NewLine{{SKU: "A"}, {SKU: "B", Qty: 5000}}}))
	text := told([]PurchaseOrder{got})
	assert.That(t, text[0] == o.Number+" Acme draft B=5", "%q", text)
	_, err := s.EditOrder(context.Background(), cli, o.Number, OrderEdit{Lines: []NewLine{{SKU: "B"}}})
	s.Refused(err, fault.Invalid, "at least one")
	val(s.PlaceOrder(context.Background(), cli, o.Number, false))
	_, err = s.EditOrder(context.Background(), cli, o.Number, OrderEdit{})
	s.Refused(err, fault.Invalid, "only a draft")
	s.sound()
}

// TestStockFigures checks classes by hand: of 1,000 cents sold, A's 700 begin at 0 %, B's 200 at 70 %, C's 60 at 90 %,
// D's 40 at 96 %; E sold nothing in the 365 days since the shop's first sale.
func TestStockFigures(t *testing.T) {
	s := open(t)
	for _, k := range []string{"A,10,100,X", "B,1,100,Y", "C,0,100,Y", "D,0.005,100,Y", "E,3,200,"} {
		s.sku("sku,current_stock,unit_cost_cents,supplier", k)
	}
	s.upload(`{"rows":[{"date":"2026-11-20","sku":"A","qty":7},{"date":"2026-08-22","sku":"B","qty":2},
		{"date":"2025-11-21","sku":"C","qty":0.6},{"date":"2026-11-19","sku":"D","qty":0.4},{"date":"2025-11-20","sku":"D","qty":50}]}`)
	got := val(s.StockFigures(context.Background()))
	const want = `{"today":"2026-11-20","value_cents":1701,"suppliers":[{"supplier":"X","value_cents":1000},{"supplier":"","value_cents":600},{"supplier":"Y","value_cents":101}],` +
		`"classes":[{"class":"A","skus":2,"sold_cost_cents":900},{"class":"B","skus":1,"sold_cost_cents":60},{"class":"C","skus":2,"sold_cost_cents":40}],` +
		`"unsold":[{"days":90,"skus":3,"value_cents":700},{"days":180,"skus":2,"value_cents":600},{"days":365,"skus":1,"value_cents":600}],"skus":[` +
		`{"sku":"A","name":"A","value_cents":1000,"class":"A","unsold_days":0},{"sku":"E","name":"E","value_cents":600,"class":"C","unsold_days":365},` +
		`{"sku":"B","name":"B","value_cents":100,"class":"A","unsold_days":90},{"sku":"D","name":"D","value_cents":1,"class":"C","unsold_days":1},` +
		`{"sku":"C","name":"C","value_cents":0,"class":"B","unsold_days":364}]}`
	assert.Equal(t, asJSON(t, got), want)
}

// TestDaysWithoutStock: they are the days with a stock of 0 from beginning to end.
func TestDaysWithoutStock(t *testing.T) {
	s := open(t) // on 20 November
	s.sku("sku,current_stock", "A,5")
	days := func(want int64) {
		t.Helper()
		p := val(s.Product(context.Background(), "A", 90))
		assert.That(t, p.DaysWithoutStock == want, "%d days without stock, want %d", p.DaysWithoutStock, want)
	}
	for _, step := range []struct {
		day, stock string
		want       int64
	}{{"2026-11-22", "0", 0}, {"2026-11-25", "", 3}, {"2026-11-25", "4", 2}, {"2026-11-27", "", 2}, {"2026-11-28", "0", 2}, {"2026-11-30", "1", 3},
		{"2027-02-20", "", 3}, {"2027-02-21", "", 2}, {"2027-02-22", "", 1}, {"2027-02-26", "", 1}, {"2027-02-27", "", 0}} {
		s.On(step.day)
		if step.stock != "" {
			s.stock("A", step.stock)
		}
		days(step.want)
	}
	s.sku("sku", "B")
	p, err := s.Product(context.Background(), "B", 90)
	assert.That(t, err == nil && p.DaysWithoutStock == 1, "made today: %d, %v", p.DaysWithoutStock, err)
}

// TestAverageExcludesDaysWithoutStock: if the setting is on. A sold 20 in 30 days, ten of them without stock.
func TestAverageExcludesDaysWithoutStock(t *testing.T) {
	s := open(t)
	s.On("2026-11-01")
	s.sku("sku,current_stock", "A,30")
	s.upload(`{"rows":[{"date":"2026-10-01","sku":"A","qty":1},{"date":"2026-11-01","sku":"A","qty":20}]}`)
	s.On("2026-11-10")
	s.stock("A", "0")
	s.On("2026-11-21")
	s.stock("A", "14") // 11 to 20 November are without stock
	s.On("2026-11-29")
	average := func(want string, below bool) {
		t.Helper()
		rep := val(s.Report(context.Background(), ReportQuery{Status: All}))
		assert.Equal(t, rep.SKUs[0].AvgDailyDemand.String(), want, "average")
		assert.Equal(t, s.record("A").isBelow, below, "below")
		s.sound()
	}
	s.sku("sku,lead_time_days,safety_stock_days", "A,12,3") // the reorder point is 10, or 15
	average("0.6667", false)
	on, off := true, false
	val(s.ChangeSettings(context.Background(), cli, SettingsChange{LeaveOutEmpty: &on}))
	average("1", true)
	s.On("2026-12-01") // 2 November is the window's first day: no sales since
	average("0", true)
	val(s.ChangeSettings(context.Background(), cli, SettingsChange{LeaveOutEmpty: &off}))
	average("0", false)
}

// TestListOutOfStock: out of stock is a status of lists.
func TestListOutOfStock(t *testing.T) {
	s := open(t)
	for _, k := range []string{"A,0,1", "B,1,1", "C,0,0"} {
		s.sku("sku,current_stock,active", k)
	}
	page := val(s.Shelf(context.Background(), ShelfQuery{Status: Out}))
	assert.That(t, len(page.Rows) == 1 && page.Rows[0].SKU == "A", "out are %+v", page.Rows)
}
