package store

import (
	"encoding/csv"
	"strings"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/assert"
)

// loadFile imports a table as one whole and returns its refusals by line.
func (s *fixture) loadFile(table string, o schema.LoadOptions, text string) map[int]string {
	s.T.Helper()
	tab, _ := s.Declare().Table(table)
	records, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	assert.OK(s.T, err)
	o.Columns = records[0]
	var lines []schema.Line
	for i, cells := range records[1:] {
		l := schema.Line{Number: i + 2}
		for _, c := range tab.Columns() {
			cell := ""
			for j, name := range records[0] {
				if name == c.Name {
					cell = cells[j]
				}
			}
			l.Cells = append(l.Cells, cell)
		}
		lines = append(lines, l)
	}
	loaded, err := tab.Load(background, s.DB, cli, lines, o)
	assert.OK(s.T, err)
	refused := map[int]string{}
	for _, e := range loaded.Errors {
		refused[e.Line] = e.Reason
	}
	equal(s.T, "imported", loaded.Imported, len(lines)-len(refused))
	return refused
}

const orderHeader = "provider,provider_ref,email,name,sku,tier,qty,unit_cents,discount_cents,tax_cents,currency,paid_at,refunds\n"

// TestRowsOfOnePaymentAreOneOrder: rows of one payment are one order's lines wherever they are in the file. Discount
// and tax are added up. An order's value that a later row leaves blank is taken from above.
func TestRowsOfOnePaymentAreOneOrder(t *testing.T) {
	s := newFixture(t)
	file := orderHeader +
		"shop,A-1,Ann@Example.com,Ann,PLUGIN,pro,2,4500,300,100,EUR,2026-11-01T10:00:00Z,2026-11-03=1000|2026-11-02=500\n" +
		"shop,B-1,bo@example.com,Bo,BOOK,,1,1900,,,EUR,2026-11-02,2026-11-05=1900\n" +
		"shop,A-1,,,BOOK,,3,,33,7,,,2026-11-04=1\n" +
		"shop,A-1,ann@example.com,,YEAR,,1,3900,,,eur,2026-11-01T10:00:00Z,\n" +
		"shop,A-1,,,BOOK,,1,700,,,,,\n"
	refused := s.loadFile("orders", schema.LoadOptions{}, file)
	equal(t, "refused", len(refused), 0)
	page := val(s.Orders(background, OrderFilter{}))
	equal(t, "orders", len(page.Orders), 2)
	a := page.Orders[1]
	equal(t, "lines", linesOf(a.Items), "PLUGIN:pro=2 BOOK=3 YEAR=1 BOOK=1")
	// 2 x 4500 + 3 x 1900 + 3900 + 700 = 19300; 333 off, 107 on it.
	equal(t, "amounts", asJSON([]int64{a.SubtotalCents, a.DiscountCents, a.TaxCents, a.TotalCents, a.RefundedCents}), "[19300,333,107,19074,1501]")
	refunds := val(s.Refunds(background, a.OrderRef))
	equal(t, "refunds", asJSON(refunds), `[{"at":"2026-11-02T00:00:00Z","cents":500},{"at":"2026-11-03T00:00:00Z","cents":1000},{"at":"2026-11-04T00:00:00Z","cents":1}]`)
	b := page.Orders[0]
	equal(t, "in full", b.Status+" "+b.RefundedAt.String(), "refunded 2026-11-05T00:00:00Z")
	equal(t, "licenses", s.count("SELECT count(*) FROM store_licenses"), int64(3))
	equal(t, "no event", s.eventNames(), "")

	// The same file again, its export, and its export in another shop agree.
	audit := s.count("SELECT count(*) FROM audit")
	equal(t, "again", len(s.loadFile("orders", schema.LoadOptions{}, file)), 0)
	exported := strings.Join(s.dump("orders"), "\n") + "\n"
	equal(t, "its export", len(s.loadFile("orders", schema.LoadOptions{}, exported)), 0)
	equal(t, "nothing was written", s.count("SELECT count(*) FROM audit"), audit)
	equal(t, "exported", exported, orderHeader+
		"shop,A-1,ann@example.com,Ann,PLUGIN,pro,2,4500,333,107,EUR,2026-11-01T10:00:00Z,2026-11-02=500|2026-11-03=1000|2026-11-04=1\n"+
		"shop,A-1,ann@example.com,Ann,BOOK,,3,1900,0,0,EUR,2026-11-01T10:00:00Z,\n"+
		"shop,A-1,ann@example.com,Ann,YEAR,,1,3900,0,0,EUR,2026-11-01T10:00:00Z,\n"+
		"shop,A-1,ann@example.com,Ann,BOOK,,1,700,0,0,EUR,2026-11-01T10:00:00Z,\n"+
		"shop,B-1,bo@example.com,Bo,BOOK,,1,1900,0,0,EUR,2026-11-02T00:00:00Z,2026-11-05=1900\n")
	fresh := newFixture(t)
	equal(t, "in another shop", len(fresh.loadFile("orders", schema.LoadOptions{}, exported)), 0)
	equal(t, "exported there", strings.Join(fresh.dump("orders"), "\n")+"\n", exported)
	here := val(s.Stats(background))
	there := val(fresh.Stats(background))
	equal(t, "stats", asJSON(there), asJSON(here))
}

// TestOrdersOfSeveralRowsThatAreRefused: a refused row, or rows that contradict each other, refuse the whole order,
// each row by name. Other orders of the file are imported.
func TestOrdersOfSeveralRowsThatAreRefused(t *testing.T) {
	s := newFixture(t)
	equal(t, "first", len(s.loadFile("orders", schema.LoadOptions{}, orderHeader+"shop,OLD,ann@example.com,,PLUGIN,pro,1,,,,USD,2026-11-01,\nshop,OLD,,,BOOK,,2,,,,,,2026-11-02=100\n")), 0)
	refused := s.loadFile("orders", schema.LoadOptions{}, orderHeader+
		"shop,1,ann@example.com,,BOOK,,1,,,,USD,2026-11-01,\n"+ // 2
		"shop,1,,,NOPE,,1,,,,,,\n"+ // 3
		"shop,2,ann@example.com,,BOOK,,1,,,,USD,2026-11-01,\n"+ // 4
		"shop,2,bo@example.com,,YEAR,,1,,,,,,\n"+ // 5
		"shop,3,ann@example.com,,BOOK,,1,,,,USD,2026-11-01,\n"+ // 6
		"shop,3,,,YEAR,,1,,,,EUR,,\n"+ // 7
		"shop,4,ann@example.com,,BOOK,,1,,,,USD,2026-11-01,\n"+ // 8
		"shop,4,,,YEAR,,1,,,,,2026-11-02,\n"+ // 9
		"shop,5,ann@example.com,,BOOK,,1,,,,USD,2026-11-01,\n"+ // 10
		"shop,5,,,YEAR,,0,,,,,,\n"+ // 11
		"shop,6,ann@example.com,,BOOK,,1,,,,USD,2026-11-01,2026-11-01=1901\n"+ // 12
		"shop,7,ann@example.com,,BOOK,,1,,,,USD,2026-11-01,2026-10-31=1\n"+ // 13
		"shop,8,ann@example.com,,BOOK,,1,,,,USD,2026-11-01,yesterday\n"+ // 14
		"shop,OLD,,,PLUGIN,pro,1,,,,,,\n"+ // 15: another set of lines
		"shop,9,ann@example.com,,BOOK,,1,,,,USD,2026-11-01,\n"+ // 16
		"shop,9,,,YEAR,,1,,,,,,\n") // 17
	for line, says := range map[int]string{
		2: "NOPE", 3: "NOPE", 4: "bo@example.com", 5: "bo@example.com", 6: "EUR", 7: "EUR", 8: "paid_at", 9: "2026-11-02", 10: "line 11", 11: "qty",
		12: "refunds", 13: "refunds", 14: "DAY=CENTS", 15: "PLUGIN",
	} {
		assert.That(t, strings.Contains(refused[line], says), "line %d: %q does not say %q", line, refused[line], says)
	}
	equal(t, "refused", len(refused), 14)
	equal(t, "orders", s.count("SELECT count(*) FROM store_orders"), int64(2))
	took := s.loadFile("orders", schema.LoadOptions{}, orderHeader+"shop,OLD,,,PLUGIN,pro,1,,,,,,2026-11-02=100|2026-11-09=50\nshop,OLD,,,BOOK,,2,,,,,,\n")
	equal(t, "another refund of a stored order", len(took), 0)
	took = s.loadFile("orders", schema.LoadOptions{}, orderHeader+"shop,OLD,,,PLUGIN,pro,1,,,,,,2026-11-09=50\nshop,OLD,,,BOOK,,2,,,,,,\n")
	assert.Contains(t, took[2], "cannot undo a refund", "a refund that is not there any more: %v", took)
}

// TestLinesAsTheyAreWritten: SKU[:TIER][=QTY][@CENTS] is read from the right, so that a SKU may contain these
// characters.
func TestLinesAsTheyAreWritten(t *testing.T) {
	s := newFixture(t)
	s.load("products", nil, "sku,kind,price_cents,tiers", "A:B,other,100,", "C=2,other,200,", "D@3,other,300,", "E:F=1@2,license,400,pro")
	for written, want := range map[string]string{
		"BOOK": "BOOK=1 1900", "BOOK=3": "BOOK=3 1900", "BOOK@5": "BOOK=1 5", "BOOK=2@0": "BOOK=2 0", " PLUGIN : pro = 2 @ 7 ": "PLUGIN:pro=2 7",
		"PLUGIN:basic": "PLUGIN:basic=1 4900", "A:B": "A:B=1 100", "A:B=4": "A:B=4 100", "C=2=3": "C=2=3 200", "D@3@9": "D@3=1 9", "C=2": "C=2=1 200", "D@3": "D@3=1 300",
		"C=2@5": "C=2=1 5", "D@3=1@5": "D@3=1 5", "C=2=1": "C=2=1 200",
		"E:F=1@2:pro=2@50": "E:F=1@2:pro=2 50",
	} {
		r, err := do(s, cli, recordOrder, NewOrder{Email: "a@b.c", Lines: []NewLine{s.written(written)}})
		if err != nil {
			t.Errorf("%s: %v", written, err)
			continue
		}
		i := r.Items[0]
		equal(t, written, strings.Join([]string{linesOf(r.Items), asJSON(i.UnitCents)}, " "), want)
	}
	for written, says := range map[string]string{"": "has no SKU", "=2": "has no SKU", "BOOK=0": "quantity", "BOOK@99999999999999": "price", "NOPE:pro": "NOPE", "PLUGIN:gold": "gold"} {
		l, err := readLine(written)
		if err == nil {
			_, err = do(s, cli, recordOrder, NewOrder{Email: "a@b.c", Lines: []NewLine{l}})
		}
		refused(t, err, "validation", says)
	}
	r := val(do(s, cli, recordOrder, NewOrder{Email: "a@b.c", Lines: []NewLine{s.written("BOOK"), s.written("PLUGIN:pro"), s.written("BOOK=2")}}))
	equal(t, "a SKU twice is two items", linesOf(r.Items), "BOOK=1 PLUGIN:pro=1 BOOK=2")
}

func (s *fixture) written(text string) NewLine {
	s.T.Helper()
	l, err := readLine(text)
	assert.OK(s.T, err)
	return l
}
