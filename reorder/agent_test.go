package reorder

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// products are the rows of a list of products in full.
func products(rows []schema.Row[Row, ShortRow]) (all []Row) {
	for _, r := range rows {
		all = append(all, *r.Full)
	}
	return all
}

// full are the full rows of an agents' list.
func full(rows []schema.Row[AgentRow, ShortNeed]) (all []Row) {
	for _, r := range rows {
		all = append(all, r.Full.Row)
	}
	return all
}

// TestAgentsListsHaveAllRowsAndSums: sums cover all matches, however few rows are shown. Short rows are small, and an
// unknown supplier is refused with the known ones.
func TestAgentsListsHaveAllRowsAndSums(t *testing.T) {
	s := ranked(t)
	all := val(s.call(s.reorderReport(), schema.Tool, `{}`))
	one := val(s.call(s.reorderReport(), schema.Tool, `{"limit":1,"detail":"short"}`))
	whole, part := all.(AgentReport), one.(AgentReport)
	if *part.EstCostCents != *whole.EstCostCents || part.Total != whole.Total || part.Shown != 1 || part.Next == nil || *part.Next != "below-1" {
		t.Errorf("%s of %s", asJSON(t, part), asJSON(t, whole))
	}
	// it names the SKU and its supplier
	short, full := len(asJSON(t, part.SKUs[0])), len(asJSON(t, whole.SKUs[0]))
	assert.That(t, 3*short <= full, "a short row has %d bytes, a full one %d", short, full)
	_, err := s.call(s.listProducts(), schema.Tool, `{"supplier":"W"}`)
	s.Refused(err, fault.Invalid, `"W"`, "X", "Y")
	_, err = s.call(s.productDetail(), schema.Tool, `{"sku":"near"}`)
	s.Refused(err, fault.NotFound, "near-a, near-b")
	for _, op := range s.ops() {
		assert.That(t, len(op.About) <= 400 || op.Tool == "", "%s: its description has %d characters", op.Tool, len(op.About))
	}
}

// TestAgentsUploads: an upload of which nothing was stored is an error to an agent; a partial one names the rows to
// send again.
func TestAgentsUploads(t *testing.T) {
	s := ranked(t)
	_, err := s.call(s.ingestSales(), schema.Tool, `{"rows":[{"date":"2026-11-20","sku":"near","qty":1}]}`)
	s.Refused(err, fault.Invalid, "nothing is stored", "row 0", "near-a, near-b")
	got := val(s.call(s.ingestSales(), schema.Tool, `{"rows":[{"date":"2026-11-20","sku":"near","qty":1},{"date":"2026-11-20","sku":"near-a","qty":1}]}`))
	done := got.(Ingested)
	assert.That(t, done.Imported == 1 && strings.Contains(done.SendAgain, "again: 0."), "%s", asJSON(t, done))
	got = val(s.call(s.ingestSales(), schema.REST, `{"rows":[{"date":"2026-11-20","sku":"near","qty":1}]}`))
	done = got.(Ingested)
	assert.That(t, done.Skipped == 1 && done.SendAgain == "", "REST: %s", asJSON(t, done))
}

func TestReportTool(t *testing.T) {
	s := ranked(t)
	for _, c := range []struct {
		args, want string
		total      int
		counts     *Counts // of the matches, on the first page
	}{
		{`{}`, "below-1 below-2 dead-empty near-a near-b", 5, &Counts{3, 2, 3}},
		{`{"limit":2}`, "below-1 below-2", 5, &Counts{3, 2, 3}},
		{`{"status":"near"}`, "near-a near-b", 2, &Counts{0, 2, 0}},
		{`{"status":"healthy","supplier":"Y"}`, "dead", 1, &Counts{0, 0, 1}},
		{`{"supplier":"Y"}`, "below-2 near-a", 2, &Counts{1, 1, 1}},
		{`{"supplier":"y"}`, "below-2 near-a", 2, &Counts{1, 1, 1}}, // in any case
		{`{"limit":2,"after":"below-2"}`, "dead-empty near-a", 5, nil},
		{`{"limit":2,"after":"near-a"}`, "near-b", 5, nil},
		{`{"limit":2,"sort":"stock"}`, "dead-empty below-1", 5, &Counts{3, 2, 3}},
	} {
		got := val(s.call(s.reorderReport(), schema.Tool, c.args))
		rep := got.(AgentReport)
		if codes(full(rep.SKUs)) != c.want || rep.Total != c.total || !reflect.DeepEqual(rep.Counts, c.counts) {
			t.Errorf("%s: %s, %d in all, %+v; want %s, %d, %+v", c.args, codes(full(rep.SKUs)), rep.Total, rep.Counts, c.want, c.total, c.counts)
		}
		if c.counts == nil { // sums are on the first page only
			assert.That(t, rep.EstCostCents == nil && rep.ByStatus == nil && len(rep.BySupplier) != 0,
				"%s: %s", c.args, asJSON(t, rep))
			continue
		}
		var cost int64
		for _, x := range rep.BySupplier {
			cost += x.EstCostCents
		}
		for _, x := range rep.ByStatus {
			cost -= x.EstCostCents
		}
		assert.That(t, cost == 0 && rep.Shown == len(rep.SKUs),
			"%s: %d cents in all, by status %+v, by supplier %+v", c.args, rep.EstCostCents, rep.ByStatus, rep.BySupplier)
		assert.Contains(t, asJSON(t, rep), `"total":`, "%s: no total in", c.args)
	}
	for _, args := range []string{`{"status":"flagged"}`, `{"status":"all"}`, `{"limit":201}`, `{"limit":0}`, `{"q":"x"}`, `{"supplier":"Z"}`} {
		_, err := s.call(s.reorderReport(), schema.Tool, args)
		s.Refused(err, fault.Invalid)
	}
}

// TestReportToolShowsIncomingStock: a row of the report shows open drafts and the next expected delivery; a supplier,
// how much is missing to its minimum order.
func TestReportToolShowsIncomingStock(t *testing.T) {
	s := ranked(t)
	ctx := context.Background()
	s.Must(s.row(supplierTable(), "name,min_order_cents", "Y,1000000"))
	s.suggest("near-a")
	first, later := day(t, "2026-12-01"), day(t, "2026-12-09")
	for _, d := range []exact.Day{later, first} {
		qty := exact.Milli(1000)
		val(s.CreateOrder(ctx, cli, NewOrder{Supplier: "Y", ExpectedDate: &d, Order: true, Lines: []NewLine{{SKU: "near-a", Qty: qty}}}))
	}
	got := val(s.call(s.reorderReport(), schema.Tool, `{"supplier":"y"}`))
	rep := got.(AgentReport)
	row := rep.SKUs[1].Full
	assert.That(t, row.SKU == "near-a" && row.InDrafts == 56_000 && row.Expected != nil && *row.Expected == first,
		"%s", asJSON(t, row))
	if of := rep.BySupplier[0]; of.MinOrderCents != 1_000_000 || of.BelowMinimumCents != 1_000_000-*rep.EstCostCents {
		t.Errorf("%s", asJSON(t, of))
	}
	got = val(s.call(s.listPurchases(), schema.Tool, `{"status":"ordered","limit":1,"detail":"short"}`))
	if text := asJSON(t, got); text != `{"purchase_orders":[{"number":"PO-000003","supplier":"Y","status":"ordered","expected_date":"2026-12-01","total_cents":150}],"total":2,"shown":1,"next":"PO-000003"}` {
		t.Errorf("%s", text)
	}
}

// TestAgentsUploadReportsReplacedSales: an upload reports what its days held before, and first of all if everything was
// stored already.
func TestAgentsUploadReportsReplacedSales(t *testing.T) {
	s := ranked(t)
	s.upload(`{"rows":[{"date":"2026-11-18","sku":"near-a","qty":4},{"date":"2026-11-19","sku":"near-b","qty":5}]}`)
	send := func(rows, want string) {
		t.Helper()
		got := val(s.call(s.ingestSales(), schema.Tool, rows))
		text := asJSON(t, got)
		assert.That(t, strings.HasPrefix(text, want), "%s answers %s", rows, text)
	}
	send(`{"rows":[{"date":"2026-11-18","sku":"near-a","qty":3},{"date":"2026-11-18","sku":"near-a","qty":1},{"date":"2026-11-19","sku":"near-b","qty":5}]}`, `{"warning":"Every row equals`)
	got := val(s.call(s.ingestSales(), schema.Tool, `{"rows":[{"date":"2026-11-18","sku":"near-a","qty":4},{"date":"2026-11-19","sku":"near-b","qty":5}],"replace":true}`))
	if done := got.(Ingested); done.Warning != "" || len(done.AlreadyHeld) != 2 || done.AlreadyHeld[0].Qty != 8000 {
		t.Errorf("%s", asJSON(t, done))
	}
	send(`{"rows":[{"date":"2026-11-18","sku":"near-a","qty":4}],"replace":true}`, `{"warning":"Every row equals what was stored: this looks like a repeated upload. Nothing changed."`)
	send(`{"rows":[{"date":"2026-11-18","sku":"near-a","qty":9},{"date":"2026-11-19","sku":"near-b","qty":9}]}`, `{"imported":2`)
	s.sound()
}

// TestSalesReport: sales are added up by SKU, supplier, month and channel; unsold SKUs are separate.
func TestSalesReport(t *testing.T) {
	s := open(t)
	for _, k := range []string{"A,X,4,100", "B,X,2,50", "C,Y,1,10", "D,Y,7,10"} {
		s.sku("sku,supplier,current_stock,unit_cost_cents", k)
	}
	s.upload(`{"rows":[{"date":"2026-10-31","sku":"A","qty":2},{"date":"2026-11-02","sku":"A","qty":1},{"date":"2026-11-20","sku":"B","qty":6}]}`)
	s.upload(`{"channel":"web","rows":[{"date":"2026-11-20","sku":"C","qty":5}]}`)
	for args, want := range map[string]string{
		`{}`:                         "B 6 300, C 5 50, A 3 300, D 0 0",
		`{"sort":"value"}`:           "A 3 300, B 6 300, C 5 50, D 0 0",
		`{"sort":"least","limit":2}`: "D 0 0, A 3 300",
		`{"by":"supplier"}`:          "X 9 600, Y 5 50",
		`{"by":"month"}`:             "2026-10 2 200, 2026-11 12 450",
		`{"by":"channel"}`:           " 9 600, web 5 50",
		`{"by":"supplier","from":"2026-11-03","to":"2026-11-19"}`: "X 0 0, Y 0 0",
		`{"limit":2,"after":"C"}`:                                 "A 3 300, D 0 0",
	} {
		got := val(s.call(s.salesReport(), schema.Tool, args))
		rep := got.(SalesReport)
		var rows []string
		for _, r := range rep.Rows {
			rows = append(rows, fmt.Sprintf("%s %s %d", r.Full.Key, r.Full.Sold, r.Full.CostCents))
		}
		assert.Equal(t, strings.Join(rows, ", "), want, "%s", args)
		if first := !strings.Contains(args, "after"); first != (rep.NeverSold != nil) || first && (rep.NeverSold.SKUs != 1 || rep.NeverSold.Most[0] != "D" || rep.NeverSold.StockValueCents != 70) {
			t.Errorf("%s: never sold %+v", args, rep.NeverSold)
		}
	}
	_, err := s.call(s.salesReport(), schema.Tool, `{"from":"2026-11-20","to":"2026-11-19"}`)
	s.Refused(err, fault.Invalid, "before")
}
