package maintenance

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"quartermaster/schema/db"
)

// oldRows are a file's rows as the earlier version wrote them: orders in every state, one done for a plan, one with a
// part; meters with their past; a photo. 20777 is 20 November 2026.
const oldRows = `
UPDATE maintenance_settings SET labor_rate_cents = 6000;
INSERT INTO assets VALUES (1, 'L-1', 'Lathe', NULL, 'hall', NULL, NULL, NULL, 'operational', NULL), (2, 'V-1', 'Van', NULL, NULL, NULL, NULL, NULL, 'retired', 'sold');
INSERT INTO meters VALUES (1, 1, 'hours', 'h', 1000000, 20777, 0, NULL, 20777, 1000000, 2);
INSERT INTO readings VALUES (1, 0, 20767, 1, 950000, 0), (1, 0, 20777, 2, 1000000, 0);
INSERT INTO parts VALUES (1, 'OIL', 'Oil', 'l', 4000, 5000, 845, NULL, NULL);
INSERT INTO pm_plans VALUES (1, 1, 'Oil', 30, 200000, 1, 20700, 20777, 900000, NULL, NULL, 3), (2, 1, 'Belts', 30, NULL, NULL, 20740, NULL, NULL, NULL, NULL, NULL);
INSERT INTO work_orders (id, asset_id, description, priority, wo_type, status, assigned_to, labor_minutes, labor_rate_cents, typed_cents, used_cents, downtime_minutes,
  resolution, pm_id, created_by, created_at, started_at, completed_at, updated_at, pm_before_done, pm_before_baseline, pm_before_by) VALUES
 (1, 1, 'Bearing', 'high', 'corrective', 'open', 'Ana', 0, NULL, 0, 0, 0, NULL, NULL, 'ana', 1795000000, NULL, NULL, 1795000000, NULL, NULL, NULL),
 (2, 1, 'Belt', 'medium', 'corrective', 'in-progress', NULL, 30, NULL, 1250, 845, 60, NULL, NULL, 'cli', 1795000000, 1795003600, NULL, 1795003600, NULL, NULL, NULL),
 (3, 1, 'Oil change', 'medium', 'preventive', 'done', NULL, 90, 5400, 0, 0, 0, 'Changed', 1, 'ana', 1795100000, 1795103600, 1795107200, 1795107200, 20700, 800000, NULL),
 (4, 2, 'Old', 'low', 'corrective', 'cancelled', NULL, 0, 5400, 0, 0, 0, NULL, NULL, 'ana', 1794000000, NULL, NULL, 1794000000, NULL, NULL, NULL);
INSERT INTO part_uses VALUES (1, 2, 1, 1000, 845, 845, 1795003700);
`

// TestOlderFilesMigrate: the orders of an older file cost the same to the cent, its plans are due on the same day,
// and every new function works on them.
func TestOlderFilesMigrate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "old.db")
	c, err := sqlite.OpenConn(path, sqlite.OpenCreate|sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	script := "PRAGMA application_id = 0x514D5452; PRAGMA journal_mode = WAL; CREATE TABLE schema_migrations (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT;"
	for _, name := range []string{"0001_core", "0002_reorder", "0003_maintenance", "0004_rental", "0005_store"} {
		b, err := os.ReadFile(filepath.Join("..", "schema", "db", "sql", name+".sql"))
		if err != nil {
			t.Fatal(err)
		}
		script += string(b) + fmt.Sprintf("INSERT INTO schema_migrations VALUES ('%s', 1);", name)
	}
	for _, part := range []string{script, oldRows} {
		if err := sqlitex.ExecuteScript(c, part, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	on := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	d, err := db.Open(path, db.Options{Zone: time.UTC, Now: func() time.Time { return on }, Migrate: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	s := New(d)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for id, want := range map[int64][3]any{1: {int64(0), "open", ""}, 2: {int64(3000 + 1250 + 845), "in-progress", ""}, 3: {int64(8100), "done", ""}, 4: {int64(0), "cancelled", ""}} {
		w, err := s.WorkOrder(ctx, id)
		must(err)
		if w.TotalCostCents != want[0] || w.Status != want[1] || w.DueDate != nil || w.Overdue || len(w.Checklist) != 0 || w.Source != nil {
			t.Errorf("order %d came over as %s", id, asJSON(t, w))
		}
	}
	due, err := s.PMDue(ctx, "")
	must(err)
	if got := asJSON(t, due); got != `{"today":"2026-11-20","pm_due":[`+
		`{"pm_id":2,"asset_id":1,"asset":"Lathe","title":"Belts","interval_days":30,"interval_usage":null,"meter":null,"unit":null,"last_done_date":null,"baseline_reading":null,"next_due":"2026-10-14","days_until":-37,"due_status":"overdue"},`+
		`{"pm_id":1,"asset_id":1,"asset":"Lathe","title":"Oil","interval_days":30,"interval_usage":200,"meter":"hours","unit":"h","last_done_date":"2026-11-20","baseline_reading":900,"next_due":"2026-12-10","days_until":20,"due_status":"ok","usage_remaining":100,"due_source":"both"}]}` {
		t.Errorf("what is due came over as %s", got)
	}
	_, err = s.MoveWorkOrder(ctx, cli, Move{ID: 3, Status: "open"}) // returns the plan's last service to its former date
	must(err)
	_, err = s.MoveWorkOrder(ctx, cli, Move{ID: 2, Status: "done", Resolution: "New belt"})
	must(err)
	f, err := s.Figures(ctx, FiguresFor{})
	must(err)
	if f.Jobs != 1 || f.TotalCostCents != 5095 {
		t.Errorf("the figures are %s", asJSON(t, f))
	}
	must(d.View(ctx, func(c *db.Conn) error {
		breaches, err := s.Declare().Check(c)
		if len(breaches) > 0 {
			t.Errorf("doctor: %q", breaches)
		}
		return err
	}))
}
