package reorder

import (
	"strings"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/fault"
)

// full are the rows of an agents' list that gives them in full.
func full(rows []schema.Row[Row, ShortRow]) (all []Row) {
	for _, r := range rows {
		all = append(all, *r.Full)
	}
	return all
}

// Sums are over all that match, however few rows are given; short rows are small, and a
// supplier that is not there is refused with those that are.
func TestAgentsListsAreWhole(t *testing.T) {
	s := ranked(t)
	all, err := s.call(s.reorderReportTool(), schema.Tool, `{}`)
	s.Must(err)
	one, err := s.call(s.reorderReportTool(), schema.Tool, `{"limit":1,"detail":"short"}`)
	s.Must(err)
	whole, part := all.(AgentReport), one.(AgentReport)
	if part.EstCostCents != whole.EstCostCents || part.Total != whole.Total || part.Shown != 1 || part.Next == nil || *part.Next != "below-1" {
		t.Errorf("%s of %s", asJSON(t, part), asJSON(t, whole))
	}
	if short, full := len(asJSON(t, part.SKUs[0])), len(asJSON(t, whole.SKUs[0])); 4*short > full {
		t.Errorf("a short row has %d bytes, a full one %d", short, full)
	}
	_, err = s.call(s.listProducts(), schema.Tool, `{"supplier":"W"}`)
	s.Refused(err, fault.Invalid, `"W"`, "X", "Y")
	_, err = s.call(s.productDetail(), schema.Tool, `{"sku":"near"}`)
	s.Refused(err, fault.NotFound, "near-a, near-b")
	for _, op := range s.ops() {
		if len(op.About) > 400 && op.Tool != "" {
			t.Errorf("%s: its description has %d characters", op.Tool, len(op.About))
		}
	}
}

// An upload of which nothing was stored is an error to an agent; of a part it is told
// which rows to send again.
func TestAgentsUploads(t *testing.T) {
	s := ranked(t)
	_, err := s.call(s.ingestSales(), schema.Tool, `{"rows":[{"date":"2026-11-20","sku":"near","qty":1}]}`)
	s.Refused(err, fault.Invalid, "nothing is stored", "row 0", "near-a, near-b")
	got, err := s.call(s.ingestSales(), schema.Tool, `{"rows":[{"date":"2026-11-20","sku":"near","qty":1},{"date":"2026-11-20","sku":"near-a","qty":1}]}`)
	s.Must(err)
	if done := got.(Ingested); done.Imported != 1 || !strings.Contains(done.SendAgain, "again, mended: 0.") {
		t.Errorf("%s", asJSON(t, done))
	}
	got, err = s.call(s.ingestSales(), schema.REST, `{"rows":[{"date":"2026-11-20","sku":"near","qty":1}]}`)
	s.Must(err)
	if done := got.(Ingested); done.Skipped != 1 || done.SendAgain != "" {
		t.Errorf("REST: %s", asJSON(t, done))
	}
}

func TestReportTool(t *testing.T) {
	s := ranked(t)
	for _, c := range []struct {
		args, want string
		total      int
	}{
		{`{}`, "below-1 below-2 dead-empty near-a near-b", 5},
		{`{"limit":2}`, "below-1 below-2", 5},
		{`{"status":"near"}`, "near-a near-b", 2},
		{`{"status":"healthy","supplier":"Y"}`, "dead", 1},
		{`{"supplier":"Y"}`, "below-2 near-a", 2},
		{`{"supplier":"y"}`, "below-2 near-a", 2}, // in any case
		{`{"limit":2,"after":"below-2"}`, "dead-empty near-a", 5},
		{`{"limit":2,"after":"near-a"}`, "near-b", 5},
	} {
		got, err := s.call(s.reorderReportTool(), schema.Tool, c.args)
		s.Must(err)
		rep := got.(AgentReport)
		if codes(full(rep.SKUs)) != c.want || rep.Total != c.total || rep.Counts != (Counts{3, 2, 3}) {
			t.Errorf("%s: %s, %d in all, %+v; want %s, %d", c.args, codes(full(rep.SKUs)), rep.Total, rep.Counts, c.want, c.total)
		}
		var cost int64
		for _, x := range rep.BySupplier {
			cost += x.EstCostCents
		}
		for _, x := range rep.ByStatus {
			cost -= x.EstCostCents
		}
		if cost != 0 || rep.Shown != len(rep.SKUs) {
			t.Errorf("%s: %d cents in all, by status %+v, by supplier %+v", c.args, rep.EstCostCents, rep.ByStatus, rep.BySupplier)
		}
		if !strings.Contains(asJSON(t, rep), `"total":`) {
			t.Errorf("%s: no total in %s", c.args, asJSON(t, rep))
		}
	}
	for _, args := range []string{`{"status":"flagged"}`, `{"status":"all"}`, `{"limit":201}`, `{"limit":0}`, `{"q":"x"}`, `{"supplier":"Z"}`} {
		_, err := s.call(s.reorderReportTool(), schema.Tool, args)
		s.Refused(err, fault.Invalid)
	}
}
