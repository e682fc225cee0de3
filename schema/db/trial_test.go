package db

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"quartermaster/schema/assert"
)

// The tables of the tests, as their services name them.
func init() {
	Describe(Naming{
		Tables: map[string]Rows{"skus": {Noun: "sku", Key: "sku"}},
		Columns: map[string]Kind{"meters.reading": Thousandths, "skus.current_stock": Thousandths, "skus.moq": Thousandths,
			"skus.judged_on": Derived, "skus.sold": Derived},
	})
}

// TestTrial runs an action of two Updates and a View as a trial: the second sees the first, every changed field is
// reported, and the file is unchanged.
func TestTrial(t *testing.T) {
	d, _ := fresh(t)
	woken := false
	d.OnEmit(func() { woken = true })
	assert.OK(t, Exec(ctx, d, CLI(""), func(tx *Tx) error {
		return errors.Join(
			script(tx, `INSERT INTO assets (id, asset_tag, name, status, notes) VALUES (1, 'P-1', 'Pump', 'operational', 'old'), (2, 'P-2', 'Press', 'down', NULL)`),
			script(tx, `INSERT INTO meters (id, asset_id, name, unit, reading, read_date) VALUES (7, 1, 'hours', 'h', 1500, 20000)`),
			script(tx, `INSERT INTO skus (id, active, current_stock, is_below, judged_on, lead_time_days, safety_stock_days, pack_size, moq, unit_cost_cents,
				created_at, updated_at, sku, name, supplier, supplier_sku, barcode, unit) VALUES (4, 1, 2000, 0, 1, 7, 7, 1000, 0, 5, 1, 1, 'BOLT', '', '', '', '', '')`),
			script(tx, `INSERT INTO endpoints (id, service, url, secret, created_at) VALUES (1, 'maintenance', 'http://x', 'whsec_1', 1)`),
			tx.Audit("fixture", "x", 1))
	}))
	entries := count(t, d, "SELECT count(*) FROM audit")
	changes, err := d.Trial(ctx, func(d *DB) error {
		err := Exec(ctx, d, CLI("maintenance"), func(tx *Tx) error {
			return errors.Join(
				script(tx, "UPDATE meters SET reading = 2250, read_date = 20001, posted = posted WHERE id = 7"),
				script(tx, "UPDATE assets SET notes = NULL, status = 'down' WHERE id = 1"),
				script(tx, "DELETE FROM assets WHERE id = 2"),
				script(tx, "UPDATE skus SET active = 0, current_stock = 2500, updated_at = 9 WHERE id = 4"),
				script(tx, "UPDATE endpoints SET secret = 'whsec_2', enabled = 0"),
				tx.Audit("a", "b", 1), tx.Emit("x.y", 1))
		})
		if err != nil {
			return err
		}
		seen := int64(0)
		if err := d.View(ctx, func(c *Conn) (err error) { seen, _, err = One(c, Int, "SELECT count(*) FROM assets"); return err }); err != nil {
			return err
		}
		assert.That(t, seen == 1, "the view sees %d assets, want what the update left: 1", seen)
		refused := Exec(ctx, d, CLI("maintenance"), func(tx *Tx) error {
			return errors.Join(script(tx, "DELETE FROM meters"), errors.New("refused"))
		})
		assert.That(t, refused != nil, "the inner refusal was lost")
		return Exec(ctx, d, CLI("maintenance"), func(tx *Tx) error {
			return errors.Join(script(tx, "INSERT INTO assets (id, asset_tag, name, status) VALUES (3, 'N-1', 'New', 'operational')"), tx.Audit("a", "b", 1))
		})
	})
	assert.OK(t, err)
	got := map[string]bool{}
	for _, c := range changes {
		line, _ := json.Marshal([]any{c.Record, c.Field, c.Before, c.After})
		got[string(line)] = true
	}
	want := []string{
		`["meter:7","reading","1.5","2.25"]`, `["meter:7","read_date","2024-10-04","2024-10-05"]`,
		`["asset:1","notes","old",null]`, `["asset:1","status","operational","down"]`,
		`["asset:2","asset_tag","P-2",null]`, `["asset:2","name","Press",null]`, `["asset:2","status","down",null]`,
		`["asset:2","requests",false,null]`, `["asset:3","requests",null,false]`, `["asset:3","asset_tag",null,"N-1"]`, `["asset:3","name",null,"New"]`, `["asset:3","status",null,"operational"]`,
		`["sku:BOLT","active",true,false]`, `["sku:BOLT","current_stock","2","2.5"]`,
		`["webhook:1","secret","(not shown)","(not shown)"]`, `["webhook:1","enabled",true,false]`,
	}
	for _, w := range want {
		assert.That(t, got[w] ||
			got[strings.NewReplacer(`"1.5"`, `1.5`, `"2.25"`, `2.25`, `"2"`, `2`, `"2.5"`, `2.5`).Replace(w)], "missing %s", w)
	}
	assert.That(t, len(got) == len(want), "%d changes, want %d: %v", len(got), len(want), got)
	assert.Equal(t, count(t, d, "SELECT count(*) FROM audit"), entries, "audit entries")
	n := count(t, d, "SELECT count(*) FROM assets WHERE id = 2") + count(t, d, "SELECT reading FROM meters")
	assert.That(t, n == 1501, "the trial was not undone: %d", n)
	n = count(t, d, "SELECT count(*) FROM events")
	assert.That(t, n == 0 && !woken, "%d events, woken %v", n, woken)
}

func script(tx *Tx, query string) error { _, err := tx.Exec(query); return err }

// TestTrialRefused: a failing or panicking action leaves nothing either, and the database still works.
func TestTrialRefused(t *testing.T) {
	d, _ := fresh(t)
	boom := errors.New("boom")
	if changes, err := d.Trial(ctx, func(d *DB) error {
		return errors.Join(Exec(ctx, d, CLI(""), func(tx *Tx) error { return addUser(tx, "a") }), boom)
	}); !errors.Is(err, boom) || changes != nil {
		t.Errorf("%v, %v", changes, err)
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = d.Trial(ctx, func(d *DB) error {
			return Exec(ctx, d, CLI(""), func(tx *Tx) error { _ = addUser(tx, "a"); panic("out") })
		})
	}()
	changes, err := d.Trial(ctx, func(*DB) error { return nil })
	assert.That(t, err == nil && len(changes) == 0, "nothing done: %v, %v", changes, err)
	assert.Equal(t, count(t, d, "SELECT count(*) FROM users"), 0, "users")
}

// TestNested: an Update inside an Update would wait for itself forever; it is an error that names the caller.
func TestNested(t *testing.T) {
	d, _ := fresh(t)
	nested := func(outer, inner *DB, who Caller) error {
		return Exec(ctx, outer, who, func(tx *Tx) error {
			return Exec(ctx, inner, who, func(tx *Tx) error { return addUser(tx, "inner") })
		})
	}
	for name, who := range map[string]Caller{
		"a request": CLI("").Asking(&Request{}), "the command line": CLI(""), "the appliance": System(CLI("")), "bookkeeping": Bookkeeping(),
	} {
		refused := func(where string, err error) {
			t.Helper()
			assert.That(t, err != nil && strings.Contains(err.Error(), "TestNested") &&
				strings.Contains(err.Error(), "Update inside an Update"), "nested by %s, %s: %v", name, where, err)
		}
		refused("outside", nested(d, d, who))
		_, err := d.Trial(ctx, func(in *DB) error { return nested(in, in, who) })
		refused("in a trial", err)
		_, err = d.Trial(ctx, func(*DB) error { return nested(d, d, who) })
		refused("in a trial of another database value", err)
		refused("together", d.Together(ctx, func(in *DB) error { return nested(in, d, who) }))
	}
	assert.NoError(t, Exec(ctx, d, CLI(""), func(tx *Tx) error { return addUser(tx, "outer") }))
}
