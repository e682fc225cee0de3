package rest

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// realSales are a real shop's lines, moved so that the last of them are of today. Domestic and foreign sales are two
// channels. It returns the catalogue as CSV, and the rows of all and of each channel.
func realSales(t *testing.T, today time.Time) (catalogue string, rows map[string][]map[string]any) {
	t.Helper()
	f := assert.Value(os.Open("../../../testdata/online-retail/lines.csv"))(t)
	defer func() { _ = f.Close() }()
	lines := assert.Value(csv.NewReader(f).ReadAll())(t)
	last := ""
	for _, l := range lines[1:] {
		last = max(last, l[1])
	}
	end, _ := time.Parse(time.DateOnly, last)
	shift := today.Truncate(24 * time.Hour).Sub(end)
	catalogue, rows = "sku,unit_cost_cents,current_stock\n", map[string][]map[string]any{}
	known := map[string]bool{}
	for _, l := range lines[1:] {
		qty, err := strconv.Atoi(l[4])
		day, wrong := time.Parse(time.DateOnly, l[1])
		if err != nil || wrong != nil || qty < 0 {
			continue // a return
		}
		if !known[l[2]] {
			known[l[2]] = true
			catalogue += fmt.Sprintf("%s,%d,%d\n", l[2], 100+len(known)%900, len(known)%50)
		}
		channel := "abroad"
		if l[6] == "United Kingdom" {
			channel = "home"
		}
		row := map[string]any{"date": day.Add(shift).Format(time.DateOnly), "sku": l[2], "qty": qty}
		rows[""], rows[channel] = append(rows[""], row), append(rows[channel], row)
	}
	return catalogue, rows
}

// TestTwoChannelsOfRealSales: sales in two channels give the same figures as in one. Each channel is replaced
// separately, an export imports unchanged, and doctor confirms both.
func TestTwoChannelsOfRealSales(t *testing.T) {
	t.Parallel()
	catalogue, rows := realSales(t, apptest.Noon)
	assert.Must(t, len(rows["home"]) >= 10000 && len(rows["abroad"]) >= 500,
		"%d sold at home, %d abroad", len(rows["home"]), len(rows["abroad"]))
	open := func() *apptest.Fixture {
		s := apptest.Start(t)
		code, _, errs := s.Pipe(catalogue, "import", "reorder", "skus", "-")
		assert.Must(t, code == 0, "%v", errs)
		return s
	}
	tell := func(s *apptest.Fixture, channel string, replace bool) (replaced float64) {
		t.Helper()
		body := assert.Value(json.Marshal(map[string]any{"rows": rows[channel], "channel": channel, "replace": replace}))(t)
		m := s.Post("reorder", "/api/sales-history", string(body)).Map(t)
		assert.That(t, m["imported"] == float64(len(rows[channel])) && m["skipped"] == 0.0,
			"channel %q: imported %v, skipped %v", channel, m["imported"], m["skipped"])
		replaced, _ = m["replaced_days"].(float64)
		return replaced
	}
	figures := func(s *apptest.Fixture) string {
		t.Helper()
		return s.Get("reorder", "/api/reorder-report?status=all").Body + s.MustCLI("reorder", "figures", "--json") + s.Get("reorder", "/api/skus?limit=1000").Body
	}
	plain := func(text string) string { // without its creation times
		return strings.NewReplacer(`"created_at":"`+apptest.Noon.Format(time.RFC3339), "", `"updated_at":"`+apptest.Noon.Format(time.RFC3339), "").Replace(text)
	}
	one, two := open(), open()
	tell(one, "", false)
	want := plain(figures(one))
	same := func(when string) {
		t.Helper()
		assert.Equal(t, plain(figures(two)), want, "%s the figures are others", when)
	}
	tell(two, "home", false)
	tell(two, "abroad", true)
	same("as two channels")
	again := tell(two, "abroad", true)
	assert.That(t, again != 0, "the channel told anew replaced nothing")
	same("with one channel told anew")
	tell(two, "home", false)
	assert.That(t, plain(figures(two)) != want, "a channel added twice changes nothing")
	again = tell(two, "home", true)
	assert.That(t, again != 0, "the other channel told anew replaced nothing")
	same("with the other replaced")
	export := two.MustCLI("export", "reorder", "sales")
	says(t, "the export", export, "date,sku,qty,channel\n", ",abroad\n", ",home\n")
	if code, _, errs := two.Pipe(export, "import", "reorder", "sales", "-"); code != 0 || two.MustCLI("export", "reorder", "sales") != export {
		t.Errorf("its own export: exit %d %s", code, errs)
	}
	same("with its own export imported")
	two.MustCLI("doctor")
	if tell(two, "", true) == 0 { // the whole days
		t.Error("replacing without a channel replaced nothing")
	}
	same("with all of it replaced")
	assert.Lacks(t, two.MustCLI("export", "reorder", "sales"), ",abroad\n", "a share of a channel is left")
	one.MustCLI("doctor")
	two.MustCLI("doctor")
}

// TestABuyersMonth holds what docs/reorder.md does not play: stock over REST, data that an import must keep, minimums,
// a SKU made and set inactive.
func TestABuyersMonth(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	pipe := func(table, text string, code int) string {
		t.Helper()
		got, out, errs := s.Pipe(text, "import", "reorder", table, "-")
		assert.That(t, got == code, "import %s: exit %d, want %d: %s%s", table, got, code, out, errs)
		return errs
	}
	pipe("suppliers", "name,lead_time_days,min_order_cents,phone\nKiln,28,50000,+49 1\n", 0)
	pipe("skus", "sku,supplier,unit_cost_cents,current_stock\nCUP/BLUE 1,Kiln,620,4\nTEA,Leaf,100,9\n", 0)
	path := "/api/skus/" + url.PathEscape("CUP/BLUE 1") + "/stock"
	for _, body := range []string{`{"delta":-1.5,"reason":"broken"}`, `{"set_to":60}`} {
		if a := s.Post("reorder", path, body); a.Status != 200 || !strings.Contains(a.Body, `"sku":"CUP/BLUE 1"`) || !strings.Contains(a.Body, `"current_stock":`) {
			t.Errorf("%s: %d %s", body, a.Status, a.Body)
		}
	}
	s.Post("reorder", path, `{"set_to":3}`)
	m := s.Post("reorder", path, `{"delta":-0.5,"reason":"one broke"}`).Map(t)
	assert.That(t, m["current_stock"] == 2.5 && m["previous_stock"] == 3.0, "a movement: %v", m)
	for body, status := range map[string]int{`{}`: 422, `{"set_to":1,"delta":1}`: 422, `{"delta":-99}`: 422, `{"set_to":1.0001}`: 422, `{"stock":1}`: 422} {
		a := s.Post("reorder", path, body)
		assert.That(t, a.Status == status, "%s: %d, want %d: %s", body, a.Status, status, a.Body)
	}
	assert.Equal(t, s.Post("reorder", "/api/skus/NOPE/stock", `{"set_to":1}`).Status, 404, "an unknown SKU")
	assert.Equal(t, s.Do("reorder", "POST", path, s.Key("reorder", "vi", "viewer", "full"), `{"set_to":1}`).Status, 403,
		"a viewer")
	s.MustCLI("reorder", "po", "create", "--supplier", "Kiln", "--line", "CUP/BLUE 1=10", "--order")
	says(t, "its minimum", s.MustCLI("reorder", "po", "show", "PO-000001", "--json"), `"total_cents":6200`, `"below_minimum_cents":43800`, `"name":`, `"supplier_sku":`)
	s.MustCLI("reorder", "po", "receive", "PO-000001", "--line", "CUP/BLUE 1=4")
	says(t, "an import that would receive", pipe("purchase-orders", "number,sku,received\nPO-000001,CUP/BLUE 1,10\n", 1), "receive it")
	pipe("purchase-orders", "number,sku,ordered\nPO-000001,CUP/BLUE 1,3\n", 1)
	stock := func(want float64) {
		t.Helper()
		var list struct {
			SKUs []struct {
				SKU   string
				Stock float64 `json:"current_stock"`
			}
		}
		s.Get("reorder", "/api/skus?q=cup").JSON(t, &list)
		assert.That(t, len(list.SKUs) == 1 && list.SKUs[0].Stock == want, "the stock is %+v, want %v", list.SKUs, want)
	}
	stock(6.5)
	s.MustCLI("reorder", "po", "unreceive", "PO-000001", "--sku", "CUP/BLUE 1", "--qty", "4", "--reason", "the neighbour's")
	stock(2.5)
	says(t, "ordered again", s.MustCLI("reorder", "po", "show", "PO-000001"), "ordered")
	refusedWith(s, 1, nil, "reorder", "po", "unreceive", "PO-000001", "--sku", "CUP/BLUE 1", "--qty", "1", "--reason", "more than came in")
	s.MustCLI("reorder", "skus", "save", "NEW-1", "--name", "New", "--supplier", "Kiln")
	says(t, "its supplier's lead time", s.MustCLI("reorder", "skus", "show", "NEW-1", "--json"), `"lead_time_days":28`)
	s.MustCLI("reorder", "skus", "save", "NEW-1", "--active=false")
	assert.Lacks(t, s.Get("reorder", "/api/skus?active=1").Body, "NEW-1", "an inactive SKU is listed as active")
	for _, method := range []string{"POST", "PATCH"} {
		a := s.Do("reorder", method, "/api/skus", s.Keys["reorder"], `{"sku":"X"}`)
		assert.That(t, a.Status == 405, "%s /api/skus: %d; SKUs are not made over REST", method, a.Status)
	}
	refusedWith(s, 2, nil, "reorder", "adjust", "TEA", "--set", "1", "--set", "2")
	listsTravel(t, s, pipe)
	s.MustCLI("doctor")
}

// listsTravel compares the lists as CSV with the tables. A list imports unchanged, a list by channel has that channel
// alone, figures have one row per SKU.
func listsTravel(t *testing.T, s *apptest.Fixture, pipe func(table, text string, code int) string) {
	t.Helper()
	pipe("sales", "date,sku,qty,channel\n2026-11-18,TEA,2.5,web\n2026-11-18,TEA,1,\n2026-11-17,TEA,3,till\n", 0)
	for args, want := range map[string]string{
		"reorder sales list --csv":               "date,sku,qty,channel\n2026-11-18,TEA,1,\n2026-11-18,TEA,2.5,web\n2026-11-17,TEA,3,till\n",
		"reorder sales list --channel web --csv": "date,sku,qty,channel\n2026-11-18,TEA,2.5,web\n",
		"reorder sales show TEA --csv":           "date,sku,qty,channel\n2026-11-18,TEA,1,\n2026-11-18,TEA,2.5,web\n2026-11-17,TEA,3,till\n",
	} {
		got := s.MustCLI(strings.Fields(args)...)
		assert.That(t, got == want, "%s is\n%swant\n%s", args, got, want)
		if _, out, errs := s.Pipe(got, "import", "reorder", "sales", "-", "--dry-run", "--json"); !strings.Contains(out, `"changed":0`) || !strings.Contains(out, `"new":0`) {
			t.Errorf("%s does not import unchanged: %s%s", args, out, errs)
		}
	}
	says(t, "figures as CSV", s.MustCLI("reorder", "figures", "--csv"), "sku,name,value_cents,class,unsold_days\n", "\nTEA,")
	says(t, "a delta below 0", s.Post("reorder", "/api/skus/TEA/stock", `{"delta":-99}`).Body, `"field":"delta"`)
	code, _, errs := s.CLI("reorder", "po", "receive", "PO-000001", "--line", "TEA=1@5")
	assert.That(t, code == 2 && !strings.Contains(errs, "no quantity"), "a receipt with a price: %d, %s", code, errs)
}

// TestASKUIsRenamed: a SKU with another code and name keeps its stock, sales, draft and movements. A code in use is
// refused.
func TestASKUIsRenamed(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	if code, _, errs := s.Pipe("sku,name,supplier,current_stock\nTEA,Green tea,Leaf,40\nMUG,Mug,Kiln,9\n",
		"import", "reorder", "skus", "-"); code != 0 {
		t.Fatal(errs)
	}
	s.Post("reorder", "/api/sales-history", `{"rows":[{"date":"2026-11-19","sku":"TEA","qty":7}]}`)
	s.MustCLI("reorder", "adjust", "TEA", "--delta", "-3", "--reason", "broken")
	s.MustCLI("reorder", "po", "create", "--supplier", "Leaf", "--line", "TEA=12")
	code, _, errs := s.CLI("reorder", "skus", "rename", "TEA", "--code", "MUG")
	assert.That(t, code == 1 && strings.Contains(errs, "Mug has it"), "a code in use: %d %s", code, errs)
	s.MustCLI("reorder", "skus", "rename", "TEA", "--name", "Sencha", "--code", "TEA-100")
	for _, want := range []string{`"sku":"TEA-100"`, `"name":"Sencha"`, `"current_stock":37`, `"total":7`} {
		assert.Contains(t, s.MustCLI("reorder", "skus", "show", "TEA-100", "--json"), want, "it lacks")
	}
	assert.Contains(t, s.MustCLI("reorder", "po", "show", "PO-000001", "--json"), "TEA-100", "its draft")
	code, _, errs = s.CLI("reorder", "skus", "show", "TEA")
	assert.That(t, code == 1, "the old code: %d %s", code, errs)
	v := s.Person("reorder", "ann", "admin").At(s.URL("reorder", ""))
	page := apptest.Text(v.Get("/skus/TEA-100").Doc)
	assert.That(t, strings.Contains(page, "broken") || strings.Contains(page, "Broken"), "its movements: %.900s", page)
	sent := v.Post("/do/rename_sku", "sku", "TEA-100", "code", "MUG")
	assert.That(t, sent.Status == 409 && strings.Contains(sent.Body, "is in use"),
		"on the page: %d %.600s", sent.Status, sent.Body)
	s.MustCLI("doctor")
}
