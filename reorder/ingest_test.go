package reorder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// upload posts rows and returns the answer.
func (s *fixture) upload(body string) Ingested {
	s.T.Helper()
	got := val(s.call(s.ingestSales(), schema.REST, body))
	return got.(Ingested)
}

// sales lists the stored sales: "day sku qty", by day, then SKU id.
func (s *fixture) sales() (all []string) {
	s.T.Helper()
	s.Must(s.DB.View(context.Background(), func(c *db.Conn) error {
		return s.salesTable().Export(c, func(cells ...string) error {
			all = append(all, strings.TrimSpace(strings.Join(cells, " ")))
			return nil
		})
	}))
	return all
}

func (s *fixture) hasSales(want ...string) {
	s.T.Helper()
	got := s.sales()
	assert.That(s.T, slices.Equal(got, want), "stored:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	s.sound()
}

func TestIngestAddsOrReplaces(t *testing.T) {
	s := open(t)
	for _, sku := range []string{"A", "B"} {
		s.sku("sku,current_stock", sku+",1000")
	}
	got := s.upload(`{"rows":[
		{"date":"2026-11-19","sku":"A","qty":2},
		{"date":"2026-11-18","sku":"B","qty":1.5},
		{"date":"2026-11-19","sku":"A","qty":0.125},
		{"date":"2026-11-20","sku":"A","qty":0}]}`)
	assert.That(t, asJSON(t, got) == `{"imported":4,"skipped":0,"errors":[],"crossed_reorder_point":[]}`,
		"answer %s", asJSON(t, got))
	s.hasSales("2026-11-18 B 1.5", "2026-11-19 A 2.125", "2026-11-20 A 0")

	got = s.upload(`{"rows":[{"date":"2026-11-19","sku":"A","qty":1}],"replace":false}`)
	assert.That(t, got.ReplacedDays == nil && got.Imported == 1, "added: %s", asJSON(t, got))
	s.hasSales("2026-11-18 B 1.5", "2026-11-19 A 3.125", "2026-11-20 A 0")

	// Three rows, two SKU-days, one of them stored before: its old value is returned.
	got = s.upload(`{"replace":true,"rows":[
		{"date":"2026-11-19","sku":"A","qty":3},
		{"date":"2026-11-17","sku":"B","qty":7},
		{"date":"2026-11-19","sku":"A","qty":0.125}]}`)
	assert.That(t, asJSON(t, got) == `{"imported":3,"skipped":0,"errors":[],"crossed_reorder_point":[],"replaced_days":1}`,
		"replaced: %s", asJSON(t, got))
	s.hasSales("2026-11-17 B 7", "2026-11-18 B 1.5", "2026-11-19 A 3.125", "2026-11-20 A 0")

	got = s.upload(`{"replace":true,"rows":[{"date":"2026-11-17","sku":"B","qty":0},{"date":"2026-11-20","sku":"A","qty":4}]}`)
	assert.That(t, *got.ReplacedDays == 2, "replaced days %d, want 2", *got.ReplacedDays)
	s.hasSales("2026-11-17 B 0", "2026-11-18 B 1.5", "2026-11-19 A 3.125", "2026-11-20 A 4")
	assert.Equal(t, s.record("B").firstSold, day(t, "2026-11-18"), "B first sold")
	got = s.upload(`{"replace":true,"rows":[{"date":"2026-11-18","sku":"B","qty":0}]}`)
	if b := s.record("B"); b.firstSold != never || b.sold != 0 || got.Imported != 1 {
		t.Errorf("B first sold %d after all was emptied, %s sold", b.firstSold, b.sold)
	}
	assert.Equal(t, s.record("A").CurrentStock, 1_000_000, "sales changed the stock to")
}

// TestIngestRefusesRowsOneByOne: every reason, at its position; the good rows between them are written.
func TestIngestRefusesRowsOneByOne(t *testing.T) {
	s := open(t)
	s.sku("sku,current_stock", "A,1000")
	s.sku("sku,current_stock,active", "OLD,0,0")
	rows := []struct{ row, reason string }{
		{`{"date":"2026-11-01","sku":"A","qty":1}`, ""},
		{`7`, "the row is a number; a row is an object of date, sku and qty"},
		{`null`, "the row is null; a row is an object of date, sku and qty"},
		{`["2026-11-01","A",1]`, "the row is an array; a row is an object of date, sku and qty"},
		{`{}`, "date is missing: it takes a calendar day as YYYY-MM-DD"},
		{`{"date":"2026-11-01","qty":1}`, "sku is missing: it takes a SKU of the catalogue, as a text"},
		{`{"date":"2026-11-01","sku":"A"}`, "qty is missing: it takes a number from 0 to 1000000000 with at most 3 decimals"},
		{`{"date":"2026-11-01","sku":"A","qty":1,"price":3}`, `unknown field "price"; a row is an object of date, sku and qty`},
		{`{"date":"2026-11-01","SKU":"A","qty":1}`, `unknown field "SKU"; a row is an object of date, sku and qty`},
		{`{"date":20261101,"sku":"A","qty":1}`, "date is a number; it takes a calendar day as YYYY-MM-DD"},
		{`{"date":null,"sku":"A","qty":1}`, "date is null; it takes a calendar day as YYYY-MM-DD"},
		{`{"date":"2026-11-01","sku":4,"qty":1}`, "sku is a number; it takes a SKU of the catalogue, as a text"},
		{`{"date":"2026-11-01","sku":"A","qty":"1"}`, "qty is a string; it takes a number from 0 to 1000000000 with at most 3 decimals"},
		{`{"date":"2026-11-01","sku":"A","qty":true}`, "qty is true or false; it takes a number from 0 to 1000000000 with at most 3 decimals"},
		{`{"date":"2026-02-29","sku":"A","qty":1}`, `date: "2026-02-29" is not a valid date; it takes a calendar day as YYYY-MM-DD`},
		{`{"date":"2026-11-1","sku":"A","qty":1}`, `date: "2026-11-1" is not a valid date; it takes a calendar day as YYYY-MM-DD`},
		{`{"date":"2026-11-01T00:00:00Z","sku":"A","qty":1}`, `date: "2026-11-01T00:00:00Z" is not a valid date; it takes a calendar day as YYYY-MM-DD`},
		{`{"date":"","sku":"A","qty":1}`, `date: "" is not a valid date; it takes a calendar day as YYYY-MM-DD`},
		{`{"date":"2026-11-21","sku":"A","qty":1}`, "date: 2026-11-21 is in the future; today is 2026-11-20"},
		{`{"date":"2026-11-20","sku":" A ","qty":1}`, ""},
		{`{"date":"2026-11-20","sku":"a","qty":1}`, `sku: "a" is not in the catalogue; SKUs are case-sensitive`},
		{`{"date":"2026-11-20","sku":"","qty":1}`, `sku: "" is not in the catalogue; SKUs are case-sensitive`},
		{`{"date":"2026-11-20","sku":"OLD","qty":1}`, ""},
		{`{"date":"2026-11-20","sku":"A","qty":-1}`, `qty: "-1" is negative; it takes a number from 0 to 1000000000 with at most 3 decimals`},
		{`{"date":"2026-11-20","sku":"A","qty":-0.0}`, ""},
		{`{"date":"2026-11-20","sku":"A","qty":1.0005}`, `qty: "1.0005" has too many decimals; it takes a number from 0 to 1000000000 with at most 3 decimals`},
		{`{"date":"2026-11-20","sku":"A","qty":1.5000}`, ""},
		{`{"date":"2026-11-20","sku":"A","qty":1e400}`, `qty: "1e400" is too large; it takes a number from 0 to 1000000000 with at most 3 decimals`},
		{`{"date":"2026-11-20","sku":"A","qty":1000000000.001}`, `qty: "1000000000.001" is too large; it takes a number from 0 to 1000000000 with at most 3 decimals`},
		{`{"date":"2026-11-20","sku":"A","qty":1e9}`, ""},
		{`{"date":"2026-11-20","sku":"\u0041","qty":0.001}`, ""},
	}
	var body []string
	want := Ingested{Errors: []RowError{}}
	for i, r := range rows {
		body = append(body, r.row)
		if r.reason == "" {
			want.Imported++
		} else {
			want.Skipped++
			want.Errors = append(want.Errors, RowError{i, r.reason})
		}
	}
	got := s.upload(`{"rows":[` + strings.Join(body, ",") + `]}`)
	assert.That(t, got.Imported == want.Imported && got.Skipped == want.Skipped,
		"%d imported, %d skipped; want %d and %d", got.Imported, got.Skipped, want.Imported, want.Skipped)
	for i := range max(len(got.Errors), len(want.Errors)) {
		assert.Must(t, i < len(got.Errors) && i < len(want.Errors) && got.Errors[i] == want.Errors[i],
			"errors %s, want %s", asJSON(t, got.Errors), asJSON(t, want.Errors))
	}
	s.hasSales("2026-11-01 A 1", "2026-11-20 A 1000000000", "2026-11-20 A 2.501", "2026-11-20 OLD 1")
}

// TestLoadSalesRefusesAsTheRequestDoes: the CSV importer refuses with the same words, by the file's line.
func TestLoadSalesRefusesAsTheRequestDoes(t *testing.T) {
	s := open(t)
	s.sku("sku,current_stock", "A,1000")
	cells := [][3]string{
		{"2026-11-01", "A", "1"}, {"2026-02-29", "A", "1"}, {"2026-11-21", "A", "1"}, {"2026-11-01", "b", "1"},
		{"2026-11-01", "A", "-1"}, {"2026-11-01", "A", "1.0005"}, {"2026-11-01", "A", "1e99"}, {"2026-11-02", "A", "2.50"},
	}
	var lines []schema.Line
	var rows []string
	for i, c := range cells {
		lines = append(lines, schema.Line{Number: 10 + 2*i, Cells: c[:]})
		rows = append(rows, fmt.Sprintf(`{"date":%q,"sku":%q,"qty":%s}`, c[0], c[1], c[2]))
	}
	answer := s.upload(`{"replace":true,"rows":[` + strings.Join(rows, ",") + `]}`)
	loaded := val(s.LoadSales(context.Background(), cli, lines, schema.LoadOptions{}))
	assert.Must(t, loaded.Imported == answer.Imported && len(loaded.Errors) == len(answer.Errors) &&
		len(loaded.Errors) == 6, "CSV %+v, JSON %+v", loaded, answer)
	for i, e := range loaded.Errors {
		row := answer.Errors[i]
		assert.That(t, e.Line == 10+2*row.Row && e.Reason == row.Reason, "CSV %+v, JSON %+v", e, row)
	}
	s.hasSales("2026-11-01 A 1", "2026-11-02 A 2.5") // replaced, not added

	for _, c := range []struct {
		cells [3]string
		want  string
	}{
		{[3]string{"", "A", "1"}, "date is missing: it takes a calendar day as YYYY-MM-DD"},
		{[3]string{"2026-11-01", "", "1"}, "sku is missing: it takes a SKU of the catalogue, as a text"},
		{[3]string{"2026-11-01", "A", ""}, "qty is missing: it takes a number from 0 to 1000000000 with at most 3 decimals"},
		{[3]string{"2026-11-01", "A", "NaN"}, `qty: "NaN" is not a number; it takes a number from 0 to 1000000000 with at most 3 decimals`},
		{[3]string{"2026-11-01", "A", "+1"}, `qty: "+1" is not a number; it takes a number from 0 to 1000000000 with at most 3 decimals`},
	} {
		loaded := val(s.LoadSales(context.Background(), cli, []schema.Line{{Number: 2, Cells: c.cells[:]}}, schema.LoadOptions{}))
		assert.That(t, loaded.Imported == 0 && len(loaded.Errors) == 1 &&
			loaded.Errors[0] == (schema.Refused{Line: 2, Reason: c.want}), "%q: %+v, want %q", c.cells, loaded, c.want)
	}
}

// rehearsed is what a dry run of an import of sales gives: the transaction around it is rolled back.
func (h *fixture) rehearsed(lines []schema.Line) (loaded schema.Loaded, err error) {
	undone := errors.New("undone")
	back := h.db.Together(context.Background(), func(d *db.DB) error {
		loaded, err = New(d).LoadSales(context.Background(), cli, lines, schema.LoadOptions{})
		return cmp.Or(err, undone)
	})
	if errors.Is(back, undone) {
		back = nil
	}
	return loaded, back
}

func TestLoadSalesAddsAndRehearses(t *testing.T) {
	s := open(t)
	s.sku("sku,current_stock", "A,0")
	lines := []schema.Line{{Number: 2, Cells: []string{"2026-11-01", "A", "2"}}}
	before := len(s.audit())
	loaded := val(s.rehearsed(lines))
	assert.That(t, loaded.Imported == 1 && len(s.sales()) == 0 && len(s.audit()) == before,
		"a dry run imported %d and left %v and %d audit entries", loaded.Imported, s.sales(), len(s.audit())-before)
	for range 2 {
		val(s.LoadSales(context.Background(), cli, lines, schema.LoadOptions{Add: true}))
	}
	s.hasSales("2026-11-01 A 4")
	val(s.LoadSales(context.Background(), cli, lines, schema.LoadOptions{}))
	s.hasSales("2026-11-01 A 2")
}

func TestIngestRefusesTheWhole(t *testing.T) {
	s := open(t)
	s.sku("sku", "A")
	row := `{"date":"2026-11-01","sku":"A","qty":1}`
	many := `{"rows":[` + strings.Repeat(row+",", maxRows) + row + `]}`
	for _, c := range []struct {
		body  string
		parts []string
	}{
		{many, []string{"more than 50000 rows", "at most 50000"}},
		{`{"rows":{}}`, []string{"rows", "an array"}},
		{`{"rows":null}`, []string{"rows", "an array"}},
		{`{"replace":true}`, []string{"rows is missing"}},
		{`{"rows":[` + row + `],"replace":"yes"}`, []string{"replace", "true or false"}},
		{`{"rows":[` + row + `],"mode":"add"}`, []string{`unknown field "mode"`}},
	} {
		_, err := s.call(s.ingestSales(), schema.REST, c.body)
		s.Refused(err, fault.Invalid, c.parts...)
	}
	s.hasSales()
	got := s.upload(strings.Replace(many, row+",", "", 1)) // 50,000 are accepted
	assert.That(t, got.Imported == maxRows, "%d of 50,000 rows imported", got.Imported)
	s.hasSales("2026-11-01 A 50000")
}

// TestIngestOfInvalidRowsOnly: 200, nothing written, nothing audited.
func TestIngestOfInvalidRowsOnly(t *testing.T) {
	s := open(t)
	s.sku("sku", "A")
	s.On("2026-11-25") // the window's day is not today: it must not move without an audit entry
	before := len(s.audit())
	for _, body := range []string{`{"rows":[]}`, `{"rows":[{"date":"2026-11-26","sku":"A","qty":1},4]}`, `{"rows":[{"date":"2026-11-25","sku":"X","qty":1}],"replace":true}`} {
		got := s.upload(body)
		assert.That(t, got.Imported == 0 && got.Errors != nil && got.Crossed != nil, "%s: %s", body, asJSON(t, got))
	}
	got := len(s.audit())
	assert.That(t, got == before, "%d audit entries for nothing", got-before)
}

// TestFirstSaleFollows: the day of the first sale follows any upload that moves it.
func TestFirstSaleFollows(t *testing.T) {
	s := open(t)
	s.sku("sku,current_stock", "A,1000")
	s.sku("sku,current_stock", "B,1000")
	for _, c := range []struct{ rows, first string }{
		{`{"date":"2026-11-10","sku":"A","qty":1}`, "2026-11-10"},
		{`{"date":"2026-11-12","sku":"A","qty":1},{"date":"2026-11-11","sku":"B","qty":1},{"date":"2026-11-09","sku":"A","qty":0}`, "2026-11-10"},
		// the next stored day
		{`{"date":"2026-11-10","sku":"A","qty":0}`, "2026-11-12"},
		{`{"date":"2026-11-12","sku":"A","qty":0},{"date":"2026-11-08","sku":"A","qty":2}`, "2026-11-08"}, // emptied, and an earlier one
		{`{"date":"2026-11-08","sku":"A","qty":0},{"date":"2026-11-14","sku":"A","qty":2}`, "2026-11-14"}, // emptied, and a later one
		{`{"date":"2026-11-15","sku":"A","qty":2}`, "2026-11-14"},
		// a stored one lies between
		{`{"date":"2026-11-14","sku":"A","qty":0},{"date":"2026-11-19","sku":"A","qty":2}`, "2026-11-15"},
		{`{"date":"2026-11-15","sku":"A","qty":0},{"date":"2026-11-19","sku":"A","qty":0}`, exact.MaxDay.String()}, // none left
	} {
		s.upload(`{"replace":true,"rows":[` + c.rows + `]}`)
		got := min(s.record("A").firstSold, exact.MaxDay)
		assert.That(t, got.String() == c.first, "after %s: first sold %s, want %s", c.rows, got, c.first)
		s.sound()
	}
}

func TestIngestBoundsADay(t *testing.T) {
	s := open(t)
	s.sku("sku,current_stock", "A,1")
	row := `{"date":"2026-11-01","sku":"A","qty":1000000000}`
	thousand := func(last string) string { // 999 x 10^9 and the last
		return `{"rows":[` + strings.Repeat(row+",", 999) + last + `]}`
	}
	got := s.upload(thousand(row) + "")
	assert.Must(t, got.Imported == 1000, "10^12 units on a day: %d imported, %v", got.Imported, got.Errors)
	got = s.upload(`{"rows":[{"date":"2026-11-01","sku":"A","qty":0},{"date":"2026-11-01","sku":"A","qty":0.001},{"date":"2026-11-02","sku":"A","qty":1}]}`)
	want := "qty: 0.001 would raise the SKU's total of 2026-11-01 past 1000000000000, the maximum"
	assert.That(t, got.Imported == 2 && len(got.Errors) == 1 && got.Errors[0] == (RowError{1, want}),
		"a thousandth more: %s", asJSON(t, got))
	s.On("2026-11-21") // also if nothing else was to do
	got = s.upload(`{"rows":[{"date":"2026-11-01","sku":"A","qty":0.001}]}`)
	assert.That(t, got.Imported == 0 && len(got.Errors) == 1 && got.Errors[0] == (RowError{0, want}),
		"nothing but a thousandth more: %s", asJSON(t, got))
	got = s.upload(strings.Replace(thousand(row+","+row), `{"rows"`, `{"replace":true,"rows"`, 1))
	assert.That(t, got.Imported == 1000 && len(got.Errors) == 1 && got.Errors[0].Row == 1000,
		"replacing by 1001 x 10^9: %s", asJSON(t, got))
	// An amount above a row's limit is exported in several rows, which an import adds up again.
	want1000 := append(slices.Repeat([]string{"2026-11-01 A 1000000000"}, 1000), "2026-11-02 A 1")
	s.hasSales(want1000...)
	s.imported(s.salesTable(), s.exported(s.salesTable()))
	s.hasSales(want1000...)
}
