package reorder

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/strict"
)

// FuzzRows ingests any rows. Each is imported or refused by position, in order, and the stored rows equal the imported
// ones.
func FuzzRows(f *testing.F) {
	for _, seed := range []string{
		`[]`, `{}`, `[null,true,1,"x",[],{}]`,
		`[{"date":"2026-11-20","sku":"A","qty":1}]`,
		`[{"date":"2026-11-20","sku":"A","qty":1.5},{"date":"2026-11-20","sku":"A","qty":1e2},{"date":"2026-11-19","sku":"\u0041","qty":0.001}]`,
		`[{"date":"2026-02-29","sku":"A","qty":1},{"date":"9999-12-31","sku":"A","qty":1},{"date":"0001-01-01","sku":"A","qty":1}]`,
		`[{"date":"2026-11-20","sku":"B","qty":-0},{"date":"2026-11-20","sku":" B ","qty":1e9},{"date":"2026-11-20","sku":"B","qty":1e-3}]`,
		`[{"date":"2026-11-20","sku":"A","qty":1e99999999999},{"date":"2026-11-20","sku":"A","qty":0e99999999999}]`,
		`[{"date":"2026-11-20","sku":"A","qty":1,"x":2},{"date":"2026-11-20","sku":"A"},{"sku":"A","qty":1},{"date":1,"sku":2,"qty":"3"}]`,
		`[{"date":"2026-11-20","sku":"\"\\\n\u2028\ud83d\ude00","qty":1}]`,
	} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	s := open(f)
	s.sku("sku,current_stock", "A,5")
	s.sku("sku,current_stock", "B,5")
	f.Fuzz(func(t *testing.T, data []byte, replace bool) {
		rows, err := strict.Parse(data, strict.MaxDepth)
		if err != nil || rows.Kind() != strict.Array {
			return
		}
		n := 0
		for range rows.Items {
			n++
		}
		got := assert.Value(s.Ingest(context.Background(), cli, rows, IngestOptions{Replace: replace}))(t)
		assert.Must(t, got.Imported+got.Skipped == n && got.Skipped == len(got.Errors) &&
			(got.ReplacedDays != nil) == replace, "%d rows: %+v", n, got)
		last := -1
		for _, e := range got.Errors {
			assert.Must(t, e.Row > last && e.Row < n && e.Reason != "", "refused %+v after row %d of %d", e, last, n)
			last = e.Row
		}
		b, err := strict.Marshal(got)
		assert.Must(t, err == nil && json.Valid(b), "the answer is no JSON: %q, %v", b, err)
		err = s.DB.View(context.Background(), func(c *db.Conn) error {
			breaches, err := check(c)
			assert.Must(t, len(breaches) <= 0, "%q", breaches)
			return err
		})
		assert.OK(t, err)
	})
}

// FuzzCells compares the CSV importer with the request: both accept or refuse the same numbers and texts, for the same
// reason.
func FuzzCells(f *testing.F) {
	for _, seed := range [][3]string{
		{"2026-11-20", "A", "1"}, {"2026-02-29", "A", "1"}, {"2026-11-20", " A", "1.5000"}, {"2026-11-20", "C", "1e2"},
		{"", "", ""}, {"2026-11-20", "A", "-1"}, {"2026-11-20", "A", "+1"}, {"2026-11-20", "A", "0x1"}, {"2027-01-01", "A", "1e400"},
		{"2026-11-20", " A", "1.000 "}, {" 2026-11-20\t", "A", " 2"}, {"2026-11-20", "A", " "},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	s := open(f)
	s.sku("sku,current_stock", "A,5")
	f.Fuzz(func(t *testing.T, date, sku, qty string) {
		loaded, err := s.rehearsed([]schema.Line{{Number: 7, Cells: []string{date, sku, qty}}})
		assert.OK(t, err)
		assert.Must(t, loaded.Imported+len(loaded.Errors) == 1 && (len(loaded.Errors) != 1 || loaded.Errors[0].Line == 7),
			"%+v", loaded)
		date, qty = strings.TrimSpace(date), strings.TrimSpace(qty) // a cell is trimmed, a JSON value is not
		d, err1 := json.Marshal(date)
		k, err2 := json.Marshal(sku)
		row := `[{"date":` + string(d) + `,"sku":` + string(k) + `,"qty":` + qty + `}]`
		rows, err := strict.Parse([]byte(row), strict.MaxDepth)
		if err != nil || err1 != nil || err2 != nil || date == "" || strings.TrimSpace(sku) == "" {
			return // JSON cannot hold this cell
		}
		var unquoted [2]string
		_ = json.Unmarshal(d, &unquoted[0])
		_ = json.Unmarshal(k, &unquoted[1])
		if unquoted != [2]string{date, sku} {
			return // not valid UTF-8
		}
		got := assert.Value(s.Ingest(context.Background(), cli, rows, IngestOptions{Replace: true}))(t)
		if got.Imported != loaded.Imported || got.Skipped == 1 && len(loaded.Errors) == 1 && kindOf(rows) == strict.Number && got.Errors[0].Reason != loaded.Errors[0].Reason {
			t.Fatalf("%s: JSON %+v, CSV %+v", row, got, loaded)
		}
	})
}

// kindOf is the JSON kind of the row's qty; a cell is always read as a number.
func kindOf(rows strict.Value) (k strict.Kind) {
	for _, row := range rows.Items {
		qty, _ := row.Get("qty")
		k = qty.Kind()
	}
	return k
}
