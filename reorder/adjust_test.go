package reorder

import (
	"context"
	"strings"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

func TestAdjustRefuses(t *testing.T) {
	s := open(t)
	s.sku("sku,current_stock", "A,10")
	before := len(s.audit())
	for _, c := range []struct {
		args  string
		kind  fault.Kind
		parts []string
	}{
		{`{"sku":"A","set_to":1,"delta":1}`, fault.Invalid, []string{"set_to", "delta", "one of them"}},
		{`{"sku":"A"}`, fault.Invalid, []string{"set_to", "delta", "one of them"}},
		{`{"sku":"A","delta":-10.001}`, fault.Invalid, []string{"delta: ", "-0.001", "never negative"}},
		{`{"sku":"A","set_to":-1}`, fault.Invalid, []string{"set_to", "-1", "from 0"}},
		{`{"sku":"A","set_to":1.0005}`, fault.Invalid, []string{"set_to", "at most 3"}},
		{`{"sku":"A","set_to":1000000001}`, fault.Invalid, []string{"set_to"}},
		{`{"sku":"A","delta":1000000000}`, fault.Invalid, []string{"delta: ", "1000000010", "at most 1000000000"}},
		{`{"sku":"A","set_to":"5x"}`, fault.Invalid, []string{"set_to", `"5x"`}},
		{`{"sku":"a","set_to":5}`, fault.NotFound, []string{`"a"`, "case-sensitive"}},
		{`{"set_to":5}`, fault.Invalid, []string{"sku is missing"}},
		{`{"sku":"A","set_to":5,"to":3}`, fault.Invalid, []string{`unknown argument "to"`}},
	} {
		_, err := s.call(s.adjustStock(), schema.Tool, c.args)
		s.Refused(err, c.kind, c.parts...)
	}
	// the command line has no form that checks it
	for _, reason := range []string{"bell\x07", "bad\xff", strings.Repeat("x", 201)} {
		_, err := s.Adjust(context.Background(), cli, Adjustment{SKU: "A", Delta: new(exact.Milli(1000)), Reason: reason})
		s.Refused(err, fault.Invalid, "reason")
	}
	huge := exact.Milli(1<<63 - 1)
	_, err := s.Adjust(context.Background(), cli, Adjustment{SKU: "A", Delta: &huge})
	s.Refused(err, fault.Invalid, "delta")
	viewer := db.Caller{Service: "reorder", User: "vera", Role: "viewer", Scope: "full", Via: "rest"}
	_, err = s.Adjust(context.Background(), viewer, Adjustment{SKU: "A", Delta: &huge})
	s.Refused(err, fault.Forbidden, "vera", "viewer")
	if got := s.record("A"); got.CurrentStock != 10_000 || len(s.audit()) != before || len(s.events()) != 0 {
		t.Errorf("a refused adjustment left stock %s, %d audit entries, %d events", got.CurrentStock, len(s.audit())-before, len(s.events()))
	}
}

// TestAdjustFiresOnTheCrossingOnly: a SKU without sales is at its reorder point of 0 when its stock is 0.
func TestAdjustFiresOnTheCrossingOnly(t *testing.T) {
	s := open(t)
	s.sku("sku,current_stock", "A,10")
	for _, c := range []struct {
		to    string
		fires bool
	}{{"0", true}, {"0", false}, {"1", false}, {"0", true}} {
		assert.Equal(t, s.stock("A", c.to), c.fires, "stock set to %s: fired", c.to)
	}
	got := s.events()
	assert.That(t, len(got) == 2 && got[0] == (Alarm{SKU: "A", Status: Below}), "events %+v", got)
}

// TestCountStock: a count is applied completely or not at all, and each wrong line is named.
func TestCountStock(t *testing.T) {
	s := open(t)
	for _, k := range []string{"A,5", "B=2,7", "C,1"} {
		s.sku("sku,current_stock", k)
	}
	before := len(s.audit())
	got := val(s.call(s.countStock(), schema.Tool, `{"counts":"A=4\n\n B=2=7 \nC=0.5","reason":"year's end"}`))
	if done := got.(Counted); done.Counted != 3 || done.Changed != 2 || done.SKUs[2].PreviousStock != 1000 || done.SKUs[2].CurrentStock != 500 {
		t.Errorf("%+v", done)
	}
	want := []string{`stock.adjusted sku:A {"from":5,"to":4,"reason":"year's end"}`, `stock.adjusted sku:B=2 {"from":7,"to":7,"reason":"year's end"}`,
		`stock.adjusted sku:C {"from":1,"to":0.5,"reason":"year's end"}`}
	assert.EqualSlices(t, s.audit()[before:], want, "audited")
	for body, says := range map[string][]string{
		`{"counts":"A=1\nX=1\nY=2"}`:      {`"X"`, `"Y"`},
		`{"counts":"A=1\nA=2"}`:           {"A is counted twice"},
		`{"counts":"A=1\nB\nC=1@5"}`:      {`"B"`, `"C=1@5"`},
		`{"counts":"A=1\nC=10000000000"}`: {"1000000000"},
		`{"counts":" \n "}`:               {"counts"},
	} {
		_, err := s.call(s.countStock(), schema.Tool, body)
		s.Refused(err, fault.Invalid, says...)
		s.holds("A", "4", "0")
	}
}
