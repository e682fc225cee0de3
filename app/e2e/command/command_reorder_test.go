package command

import (
	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"regexp"
	"strings"
	"testing"
)

// newStocked has two SKUs: TEA sells 2 a day and is below its reorder point, NAIL has no demand and is healthy.
func newStocked(t *testing.T) *apptest.CLI {
	t.Helper()
	c := apptest.NewCLI(t)
	c.Ok("import", "reorder", "skus", write(c, "skus.csv", `sku,name,supplier,unit_cost_cents,current_stock,lead_time_days,safety_stock_days,pack_size
TEA,Green tea,Leaf,1999,12.5,7,3,10
NAIL,Nails,Iron,450,3,7,3,1
`))
	sales := "date,sku,qty\n"
	for _, day := range []string{"2026-11-11", "2026-11-12", "2026-11-13", "2026-11-14", "2026-11-15", "2026-11-16", "2026-11-17", "2026-11-18", "2026-11-19", "2026-11-20"} {
		sales += day + ",TEA,2\n"
	}
	c.Ok("import", "reorder", "sales", write(c, "sales.csv", sales))
	return c
}

func TestReorderReport(t *testing.T) {
	t.Parallel()
	c := newStocked(t)
	// 20 sold in the 10 days since the first sale: 2 a day, reorder point 2 x (7 + 3)
	// = 20. Needed 2 x (7 + 3 + 30) - 12.5 = 67.5, in packs of 10: 70. 12.5 last 6.25
	// days, until 2026-11-26.
	const row = `{"sku":"TEA","name":"Green tea","current_stock":12.5,"lead_time_days":7,"safety_stock_days":3,"avg_daily_demand":2,"reorder_point":20,` +
		`"days_of_stock":6.25,"suggested_qty":70,"est_cost_cents":139930,"status":"below","supplier":"Leaf","unit":"","sold_in_window":20,"demand_days":10,` +
		`"on_order":0,"need":67.5,"stockout_date":"2026-11-26"}`
	equal(c, "the report", c.Ok("reorder", "report", "--json"), `{"today":"2026-11-20","forecast_window_days":30,"target_cover_days":30,`+
		`"counts":{"below":1,"near":0,"healthy":1},"est_cost_cents":139930,"skus":[`+row+`]}`+"\n")
	code, out, told := c.Call("reorder", "report", "--status", "all")
	if code != 0 || !regexp.MustCompile(`^SKU +NAME +STATUS +STOCK +ON ORDER +REORDER AT +DAYS LEFT +RUNS OUT +BUY +COST +SUPPLIER
TEA +Green tea +below +12.5 +0 +20 +6.25 +2026-11-26 +70 +1399.30 +Leaf
NAIL +Nails +healthy +3 +0 +0 +0 +0.00 +Iron
$`).MatchString(out) {
		t.Errorf("exit %d:\n%s", code, out)
	}
	equal(c, "told beside it", told, "2026-11-20: 1 below, 0 near, 1 healthy; what is shown costs 1399.30\n")
	if out := c.Ok("reorder", "report", "--status", "near", "--json"); !strings.HasSuffix(out, `"skus":[]}`+"\n") {
		t.Errorf("near: %s", out)
	}
	refuses(c, 2, []string{"--status", `"low"`, "below, near, healthy, flagged, all"}, "reorder", "report", "--status", "low")
	refuses(c, 2, []string{"--status"}, "reorder", "report", "--status", "")
	refuses(c, 2, nil, "reorder", "report", "TEA")
}

func TestReorderAdjust(t *testing.T) {
	t.Parallel()
	c := newStocked(t)
	c.Ok("user", "add", "mo", "--role", "member")
	c.Ok("user", "add", "vera", "--role", "viewer")
	equal(c, "a count", c.Ok("reorder", "adjust", "TEA", "--set", "40", "--reason", "stock count"), "TEA: 40, it was 12.5; healthy\n")
	equal(c, "a movement", c.Ok("reorder", "adjust", "TEA", "--delta", "-19.75", "--as", "mo"), "TEA: 20.25, it was 40; near\n")
	out := c.Ok("reorder", "adjust", "TEA", "--delta", "-0.25", "--json")
	assert.That(t, strings.HasPrefix(out, `{"sku":"TEA",`) &&
		strings.HasSuffix(out, `"previous_stock":20.25,"crossed":true}`+"\n"), "as JSON: %s", out)
	trail := c.Ok("audit", "--service", "reorder", "--limit", "3", "--json")
	for _, want := range []string{`"actor":"mo","via":"cli","action":"stock.adjusted","subject":"sku:TEA","changes":{"from":40,"to":20.25}`, `"changes":{"from":12.5,"to":40,"reason":"stock count"}`} {
		assert.Contains(t, trail, want, "the audit trail has no")
	}
	refuses(c, 1, []string{"vera", "viewer"}, "reorder", "adjust", "TEA", "--set", "1", "--as", "vera")
	refuses(c, 1, []string{"COFFEE"}, "reorder", "adjust", "COFFEE", "--set", "1")
	refuses(c, 1, nil, "reorder", "adjust", "TEA", "--delta", "-21")
	for _, args := range []string{
		"adjust", "adjust TEA", "adjust TEA --set 1 --delta 1", "adjust TEA --set x", "adjust TEA --set=", "adjust TEA --set 1.0001", "adjust TEA NAIL --set 1",
		"adjust TEA --set 1 --as=", "count TEA",
	} {
		refuses(c, 2, nil, append([]string{"reorder"}, strings.Fields(args)...)...)
	}
	assert.Equal(t, c.Ok("reorder", "adjust", "TEA", "--delta", "0"), "TEA: 20, it was 20; below\n", "after the refusals")
}

func TestReorderSettings(t *testing.T) {
	t.Parallel()
	c := newStocked(t)
	equal(c, "at first", c.Ok("reorder", "settings"), "forecast window: 30 days\ntarget cover: 30 days\n")
	equal(c, "one changed", c.Ok("reorder", "settings", "--window", "5", "--json"), `{"forecast_window_days":5,"target_cover_days":30}`+"\n")
	equal(c, "the other", c.Ok("reorder", "settings", "--cover", "365"), "forecast window: 5 days\ntarget cover: 365 days\n")
	equal(c, "kept", c.Ok("reorder", "settings", "--json"), `{"forecast_window_days":5,"target_cover_days":365}`+"\n")
	refuses(c, 1, []string{"forecast_window_days", "1 to 365"}, "reorder", "settings", "--window", "0")
	refuses(c, 1, []string{"target_cover_days", "1 to 365"}, "reorder", "settings", "--window", "9", "--cover", "366")
	refuses(c, 2, nil, "reorder", "settings", "--window", "month")
	refuses(c, 2, nil, "reorder", "settings", "5")
	equal(c, "refused changes left", c.Ok("reorder", "settings", "--json"), `{"forecast_window_days":5,"target_cover_days":365}`+"\n")
	c.Ok("doctor")
}

func TestPurchaseOrders(t *testing.T) {
	t.Parallel()
	c := newStocked(t)
	po := func(args ...string) string { t.Helper(); return c.Ok(append([]string{"reorder", "po"}, args...)...) }
	equal(c, "none", po("list", "--json"), `{"purchase_orders":[]}`+"\n")
	equal(c, "created", po("create", "--supplier", "Leaf", "--line", "TEA=20", "--line", "NAIL=1.5@400", "--expected", "2026-12-01"), "PO-000001\n")
	const draft = `{"number":"PO-000001","supplier":"Leaf","status":"draft","expected_date":"2026-12-01",` +
		`"lines":[{"sku":"NAIL","ordered":1.5,"received":0,"unit_cost_cents":400,"name":"Nails","supplier_sku":"","unit":"","total_cents":600},` +
		`{"sku":"TEA","ordered":20,"received":0,"unit_cost_cents":1999,"name":"Green tea","supplier_sku":"","unit":"","total_cents":39980}],"total_cents":40580,"below_minimum_cents":0}`
	equal(c, "shown", po("show", "PO-000001", "--json"), draft+"\n")
	text := po("show", "PO-000001")
	assert.That(t, regexp.MustCompile(`^PO-000001: draft, from Leaf, expected 2026-12-01
SKU +NAME +ORDERED +RECEIVED +UNIT COST +TOTAL
NAIL +Nails +1.5 +0 +4.00 +6.00
TEA +Green tea +20 +0 +19.99 +399.80
total: 405.80
$`).MatchString(text), "as text:\n%s", text)
	equal(c, "ordered", po("order", "PO-000001"), "PO-000001: ordered\n")
	assert.Contains(t, c.Ok("reorder", "report", "--json"), `"on_order":20`, "on order")
	equal(c, "received in part", po("receive", "PO-000001", "--line", "TEA=12.5"), "PO-000001: partial\n")
	refuses(c, 1, []string{"TEA", "7.5"}, "reorder", "po", "receive", "PO-000001", "--line", "TEA=8")
	equal(c, "received", po("receive", "PO-000001", "--json"), strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(draft,
		"draft", "received"), `"ordered":1.5,"received":0`, `"ordered":1.5,"received":1.5`), `"ordered":20,"received":0`, `"ordered":20,"received":20`)+"\n")
	equal(c, "the stock", c.Ok("reorder", "adjust", "TEA", "--delta", "0"), "TEA: 32.5, it was 32.5; healthy\n")
	refuses(c, 1, []string{"received", "final"}, "reorder", "po", "cancel", "PO-000001")

	equal(c, "ordered right away", po("create", "--supplier", "Iron", "--line", "NAIL=5", "--order"), "PO-000002\n")
	equal(c, "cancelled", po("cancel", "PO-000002"), "PO-000002: cancelled\n")
	if text := po("list"); !regexp.MustCompile(`^NUMBER +SUPPLIER +STATUS +EXPECTED +LINES +TOTAL +BELOW MINIMUM
PO-000001 +Leaf +received +2026-12-01 +2 +405.80 +
PO-000002 +Iron +cancelled +20[-0-9]+ +1 +22.50 +
$`).MatchString(text) {
		t.Errorf("listed:\n%s", text)
	}
	assert.Contains(t, c.Ok("__complete", "reorder", "po", "show", ""), "PO-000002\tIron, cancelled\n", "completed")
	c.Ok("doctor")
}

func TestPurchaseOrdersAreSuggestedBySupplier(t *testing.T) {
	t.Parallel()
	c := newStocked(t)
	c.Ok("reorder", "adjust", "NAIL", "--set", "0")
	const want = `{"purchase_orders":[{"number":"PO-000001","supplier":"Leaf","status":"draft","expected_date":null,` +
		`"lines":[{"sku":"TEA","ordered":70,"received":0,"unit_cost_cents":1999,"name":"Green tea","supplier_sku":"","unit":"","total_cents":139930}],"total_cents":139930,"below_minimum_cents":0}]`
	equal(c, "suggested", c.Ok("reorder", "po", "suggest", "--json"), want+`}`+"\n")
	equal(c, "suggested again", c.Ok("reorder", "po", "suggest", "--json"), want+`}`+"\n")
	equal(c, "what is there", c.Ok("reorder", "po", "list", "--json"), want+"}\n")
	c.Ok("reorder", "po", "order", "PO-000001")
	equal(c, "when enough is on order", c.Ok("reorder", "po", "suggest", "--json"), `{"purchase_orders":[]}`+"\n")
}

func TestPurchaseOrderRefusals(t *testing.T) {
	t.Parallel()
	c := newStocked(t)
	c.Ok("user", "add", "vera", "--role", "viewer")
	for _, args := range []string{
		"po create", "po create --supplier Leaf", "po create --line TEA=1", "po create --supplier Leaf --line TEA", "po create --supplier Leaf --line TEA=x",
		"po create --supplier Leaf --line TEA=1@1.5", "po create --supplier Leaf --line =1", "po create --supplier Leaf --line TEA=1.0001",
		"po create --supplier Leaf --line TEA=1 --expected 2026-02-30", "po create PO-9 --supplier Leaf --line TEA=1",
		"po show", "po show A B", "po list draft", "po order", "po receive", "po receive A --line TEA", "po receive A --line TEA=1@5", "po cancel", "po suggest Leaf",
		"po send A",
	} {
		refuses(c, 2, nil, append([]string{"reorder"}, strings.Fields(args)...)...)
	}
	refuses(c, 2, []string{`--line "TEA"`, "SKU=QTY"}, "reorder", "po", "create", "--supplier", "Leaf", "--line", "TEA")
	for _, args := range []string{"show", "order", "receive", "cancel"} {
		refuses(c, 1, []string{`"PO-9"`}, "reorder", "po", args, "PO-9")
	}
	refuses(c, 1, []string{"COFFEE"}, "reorder", "po", "create", "--supplier", "Leaf", "--line", "COFFEE=1")
	refuses(c, 1, nil, "reorder", "po", "create", "--supplier", "Leaf", "--line", "TEA=0")
	refuses(c, 2, []string{"supplier"}, "reorder", "po", "create", "--supplier", " ", "--line", "TEA=1")
	for _, args := range []string{"po create --supplier Leaf --line TEA=1", "po suggest", "po order X", "settings --cover 3"} {
		refuses(c, 1, []string{"vera", "viewer"}, append(append([]string{"reorder"}, strings.Fields(args)...), "--as", "vera")...)
	}
	equal(c, "after the refusals", c.Ok("reorder", "po", "list", "--json"), `{"purchase_orders":[]}`+"\n")
	bare := apptest.BareCLI(t)
	refuses(bare, 1, []string{"no database at"}, "reorder", "report")
	refuses(bare, 1, []string{"no database at"}, "reorder", "po", "suggest")
}
