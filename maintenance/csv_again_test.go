package maintenance

import (
	"fmt"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// TestOpenOrderOfARetiredAssetImports: an order opened before its asset was retired imports as open from an export;
// a new one is refused.
func TestOpenOrderOfARetiredAssetImports(t *testing.T) {
	s := open(t)
	s.rows("assets", "asset_tag,status", "R-1|retired")
	for _, c := range [][2]string{{"asset_tag,description", "R-1|x"}, {"id,asset_tag,description", "50|R-1|x"}, {"asset_tag,description,created_at", "R-1|x|2026-11-01"}} {
		s.rejected("asset_tag: asset 1 (R-1) is retired", func() error { return s.row("work-orders", c[0], c[1]) })
	}
	exported := []string{
		"50|R-1|opened before|medium|corrective|open||0|0|0||2026-11-01T00:00:00Z|||",
		"51|R-1|begun before|high|corrective|in-progress|Ana|5|0|0||2026-11-02T00:00:00Z|||",
	}
	s.rows("work-orders", s.header("work-orders"), exported...)
	s.exports("work-orders", exported...)
}

// TestSingleCorrectionImports: a meter whose only reading is a correction imports with that one reading.
func TestSingleCorrectionImports(t *testing.T) {
	s := open(t)
	s.rows("assets", "asset_tag", "A-1")
	s.rows("meters", s.header("meters"), "A-1|hours|h|5|2026-11-01", "A-1|cycles||7|2026-11-01")
	for range 2 {
		done, err := s.LoadReadings(ctx, cli, []schema.Line{
			{Number: 2, Cells: []string{"A-1", "hours", "5", "2026-11-01", "1"}}, {Number: 3, Cells: []string{"A-1", "cycles", "7", "2026-11-01", "0"}},
		}, schema.LoadOptions{})
		s.Must(err)
		assert.That(t, len(done.Errors) <= 0 && done.Imported == 2, "%+v", done)
		s.exports("readings", "A-1|hours|5|2026-11-01|1", "A-1|cycles|7|2026-11-01|0")
	}
	assert.That(t, s.names() == "", "what was there emitted %s", s.names())
}

// TestImportReportsEachRow: a row of each table is new, then the same, then changed in the columns that differ.
func TestImportReportsEachRow(t *testing.T) {
	s := open(t)
	put := func(table string, cells map[string]string) (o schema.Outcome) {
		t.Helper()
		tab, _ := s.Declare().Table(table)
		p, err := tab.Decode(cells, schema.LoadOptions{})
		s.Must(err)
		s.Must(db.Exec(ctx, s.DB, cli, func(tx *db.Tx) error {
			o, err = p.Try(tx)
			return err
		}))
		return o
	}
	for _, c := range []struct {
		table       string
		row, change map[string]string
		fields      string
	}{
		{"assets", map[string]string{"asset_tag": "L-1", "name": "Lathe"}, map[string]string{"asset_tag": "L-1", "notes": "old", "status": "down"}, "[notes status]"},
		{"meters", map[string]string{"asset_tag": "L-1", "name": "hours", "reading": "5", "read_date": "2026-11-01"},
			map[string]string{"asset_tag": "L-1", "name": "hours", "unit": "h", "reading": "6"}, "[unit reading]"},
		{"parts", map[string]string{"part_number": "B", "quantity": "1"}, map[string]string{"part_number": "B", "quantity": "2"}, "[quantity]"},
		{"pm-plans", map[string]string{"asset_tag": "L-1", "title": "Oil", "interval_days": "9"},
			map[string]string{"asset_tag": "L-1", "title": "Oil", "interval_days": "10", "paused": "1"}, "[interval_days paused]"},
		{"work-orders", map[string]string{"id": "7", "asset_tag": "L-1", "description": "Oil", "created_at": "2026-11-01"},
			map[string]string{"id": "7", "due_date": "2026-12-01", "checklist": "Drain", "status": "in-progress"}, "[checklist due_date status]"},
	} {
		o := put(c.table, c.row)
		assert.That(t, o.New, "%s: a new row gave %+v", c.table, o)
		o = put(c.table, c.row)
		assert.That(t, !o.New && len(o.Fields) <= 0, "%s: the same row gave %+v", c.table, o)
		o = put(c.table, c.change)
		assert.That(t, !o.New && fmt.Sprint(o.Fields) == c.fields, "%s: a changed row gave %+v", c.table, o)
	}
}
