package record

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/db/dbtest"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// ware is a row of the spare parts' table.
type ware struct {
	ID    int64
	Code  string
	Name  string
	Unit  *string
	Stock exact.Milli
	Least exact.Milli
	Cents int64
	Low   bool
}

func wares() *Noun[ware] {
	return New("ware", "parts",
		ID(func(w *ware) *int64 { return &w.ID }),
		Text("code", func(w *ware) *string { return &w.Code }, "identifies it", schema.Required).Stored("part_number").Key().Told(),
		Text("name", func(w *ware) *string { return &w.Name }, "what it is").Else(func(w *ware) { w.Name = w.Code }).Told().
			Shown(func(v any) any { return strings.ToUpper(v.(string)) }),
		OptText("unit", func(w *ware) **string { return &w.Unit }, "what one of it is"),
		Milli("quantity", func(w *ware) *exact.Milli { return &w.Stock }, "how much is there"),
		Milli("min_quantity", func(w *ware) *exact.Milli { return &w.Least }, ""),
		Int("unit_cost_cents", func(w *ware) *int64 { return &w.Cents }, "").Once(),
	).Derive(func(w *ware) { w.Low = w.Stock < 1000 })
}

// put imports a row of cells and returns its outcome.
func put(t *testing.T, h *dbtest.Fixture, n *Noun[ware], cells map[string]string) (o schema.Outcome, err error) {
	t.Helper()
	p := assert.Value(n.Table("wares", "").Decode(cells, schema.LoadOptions{}))(t)
	err = db.Exec(context.Background(), h.DB, db.CLI("maintenance"), func(tx *db.Tx) error {
		o, err = p(tx)
		return err
	})
	return o, err
}

func trail(t *testing.T, h *dbtest.Fixture) (entries []string) {
	t.Helper()
	assert.OK(t, h.DB.View(context.Background(), func(c *db.Conn) (err error) {
		entries, err = db.All(c, func(r *db.Row) string { return r.Text() + " " + r.Text() + " " + r.Text() },
			"SELECT action, subject, changes FROM audit ORDER BY id")
		return err
	}))
	return entries
}

// TestPutOutcomes: the outcome, the audit entry and the file agree.
func TestPutOutcomes(t *testing.T) {
	h, n := dbtest.Open(t, time.UTC, dbtest.Noon), wares()
	steps := []struct {
		cells map[string]string
		want  schema.Outcome
	}{
		{map[string]string{"code": "B1", "quantity": "2.5"}, schema.Outcome{ID: 1, New: true}},
		{map[string]string{"code": "B1", "quantity": "2.5"}, schema.Outcome{ID: 1}},
		{map[string]string{"code": "B1", "unit": "l", "name": "Oil"}, schema.Outcome{ID: 1, Fields: []string{"name", "unit"}}},
		{map[string]string{"code": "B1", "unit": ""}, schema.Outcome{ID: 1, Fields: []string{"unit"}}},
	}
	for i, s := range steps {
		got, err := put(t, h, n, s.cells)
		assert.That(t, err == nil && fmt.Sprint(got) == fmt.Sprint(s.want),
			"%d: %v: %+v %v, not %+v", i, s.cells, got, err, s.want)
	}
	want := []string{`ware.created ware:1 {"code":"B1","name":"B1"}`, `ware.changed ware:1 {"name":["B1","OIL"],"unit":[null,"l"]}`,
		`ware.changed ware:1 {"unit":["l",null]}`}
	assert.EqualSlices(t, trail(t, h), want, "the trail")
	var rows []string
	err := h.DB.View(context.Background(), func(c *db.Conn) error {
		return n.Table("wares", "").Export(c, func(cells ...string) error { rows = append(rows, strings.Join(cells, ",")); return nil })
	})
	assert.That(t, err == nil && slices.Equal(rows, []string{"B1,Oil,,2.5"}), "the file is %q %v", rows, err)
}

// TestSavedAuditsTheWholeRecord: a noun whose entries contain the whole record, by its key; an empty cell is the
// default of any field.
func TestSavedAuditsTheWholeRecord(t *testing.T) {
	h, n := dbtest.Open(t, time.UTC, dbtest.Noon), wares().ByKey().Saved().Empties()
	for _, cells := range []map[string]string{{"code": "B1", "name": "Oil", "quantity": "2"}, {"code": "B1", "name": ""}} {
		_, err := put(t, h, n, cells)
		assert.OK(t, err)
	}
	want := []string{`ware.saved ware:B1 {"code":"B1","name":"OIL"}`, `ware.saved ware:B1 {"code":"B1","name":"B1"}`}
	assert.EqualSlices(t, trail(t, h), want, "the trail")
}

// TestColumnsGiveHeaderFormAndReader: one list, in order.
func TestColumnsGiveHeaderFormAndReader(t *testing.T) {
	n := wares()
	var fields []string
	for _, a := range n.Table("wares", "").Columns() {
		fields = append(fields, a.Name)
	}
	want := []string{"code", "name", "unit", "quantity"}
	assert.That(t, slices.Equal(n.Header(), want) && slices.Equal(fields, want), "header %q, form %q", n.Header(), fields)
	assert.That(t, n.Columns() == "id, part_number, name, unit, quantity, min_quantity, unit_cost_cents",
		"%v", n.Columns())
	if n.Joined("p", "JOIN assets a ON a.id = p.id"); !strings.HasPrefix(n.selects, "SELECT p.id, p.part_number, p.name") ||
		!strings.HasSuffix(n.selects, " FROM parts p JOIN assets a ON a.id = p.id ") {
		t.Error(n.selects)
	}
}

// TestCheckRefusesBeforeARowIsWritten: also for an edit, with the unchanged record.
func TestCheckRefusesBeforeARowIsWritten(t *testing.T) {
	h := dbtest.Open(t, time.UTC, dbtest.Noon)
	n := wares().Check(func(_ *db.Tx, held, now *ware) error {
		if held != nil && now.Stock < held.Stock {
			return fault.Conflictf("stock: it only grows")
		}
		return nil
	})
	_, err := put(t, h, n, map[string]string{"code": "A", "quantity": "3"})
	assert.OK(t, err)
	_, err = put(t, h, n, map[string]string{"code": "A", "quantity": "2"})
	assert.That(t, fault.Is(err, fault.Conflict), "a shrinking stock: %v", err)
	assert.That(t, len(trail(t, h)) == 1, "a refused edit left an audit entry")
}

// TestFillReturnsTheStoredForm: with its stored values.
func TestFillReturnsTheStoredForm(t *testing.T) {
	h, n := dbtest.Open(t, time.UTC, dbtest.Noon), wares()
	if _, err := put(t, h, n, map[string]string{"code": "A", "quantity": "3", "unit": "l"}); err != nil {
		t.Fatal(err)
	}
	err := h.DB.View(context.Background(), func(c *db.Conn) error {
		texts, found, err := n.Fill(c, map[string]string{"code": "A"})
		b, _ := json.Marshal(texts)
		assert.That(t, found && texts["quantity"] == "3" && texts["unit"] == "l" && len(texts) == 5,
			"%s %v", b, slices.Sorted(maps.Keys(texts)))
		if _, found, _ := n.Fill(c, map[string]string{"code": "B"}); found {
			t.Error("a record that is not there was found")
		}
		all, _ := n.All(c, "WHERE quantity > ?", exact.Milli(0))
		assert.That(t, len(all) == 1 && !all[0].Low && all[0].Code == "A", "%+v", all)
		return err
	})
	assert.OK(t, err)
}
