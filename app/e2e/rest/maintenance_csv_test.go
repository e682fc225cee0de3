package rest

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// maintenanceTables are in the order in which an empty database imports them.
var maintenanceTables = []string{"assets", "meters", "parts", "pm-plans", "work-orders", "readings"}

// TestWorkshopExportsAndImportsAsCSV: an export imported again changes nothing, and gives an empty database the same
// records.
func TestWorkshopExportsAndImportsAsCSV(t *testing.T) {
	t.Parallel()
	from, to := apptest.Maintenance{Fixture: apptest.StartFilled(t)}, apptest.Maintenance{Fixture: apptest.Start(t)}
	files := map[string]string{}
	before := apptest.SnapshotOf(t, from.Fixture)
	for _, table := range maintenanceTables {
		files[table] = from.MustCLI("export", "maintenance", table)
		rows := strings.Count(files[table], "\n")
		assert.That(t, rows >= 6, "%s: %d rows", table, rows)
		code, out, errs := from.Pipe(files[table], "import", "maintenance", table, "-")
		assert.That(t, code == 0, "%s into itself: exit %d: %s%s", table, code, out, errs)
	}
	before.Check("importing what was exported")
	for _, table := range maintenanceTables {
		code, out, errs := to.Pipe(files[table], "import", "maintenance", table, "-")
		assert.That(t, code == 0, "%s into an empty database: exit %d: %s%s", table, code, out, errs)
	}
	for _, table := range maintenanceTables {
		to.Equal(table, to.MustCLI("export", "maintenance", table), files[table])
	}
	// The file of work orders names no plan, so a plan's open job is not compared.
	openJob := regexp.MustCompile(`,"open_job":\d+`)
	for _, path := range []string{"/api/assets", "/api/parts", "/api/pm-due"} {
		to.Equal(path, openJob.ReplaceAllString(to.MustGet(path), ""), openJob.ReplaceAllString(from.MustGet(path), ""))
	}
	assert.Equal(t, count(to, "workorder.completed")+count(to, "reading.recorded"), 0, "events tell of history")
	to.MustCLI("doctor")
}

// TestMaintenanceRowsAreRefusedByLine: every refused row is named with what is allowed, the good rows are stored, and a
// preview says the same and stores nothing.
func TestMaintenanceRowsAreRefusedByLine(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	w.Load("work-orders", "asset_tag,description,status,resolution", "LATHE-1,Oil,open,", "LATHE-1,Belt,done,Changed")
	for _, c := range []struct {
		table, header string
		rows          []string // bad rows, then one good row
		words         []string // of each bad row, separated by |
	}{
		{"assets", "asset_tag,name,status", []string{",Nameless,", "X-1,,broken", "X-2," + strings.Repeat("x", 201) + ",", "X-3,Good,down"},
			[]string{"asset_tag", "status|broken|operational, needs-attention, down, retired", "name|200"}},
		{"meters", "asset_tag,name,unit,reading,read_date", []string{"NONE,hours,h,,", "LATHE-1,,h,,", "LATHE-1,hours,h,999,", "LATHE-1,cycles,,5,2026-11-21", "LATHE-1,cycles,,-1,", "LATHE-1,cycles,,5,2026-11-20"},
			[]string{"NONE", "name", "999 is below|correction", "2026-11-21 is in the future", "reading"}},
		{"parts", "part_number,quantity,unit_cost_cents", []string{",1,1", "P-1,-1,1", "P-1,1.0001,1", "P-1,1,1.5", "P-1,one,1", "P-1,1.125,7"},
			[]string{"part_number", "quantity", "quantity|at most 3", "unit_cost_cents", "quantity"}},
		{"pm-plans", "asset_tag,title,interval_days,interval_usage,meter,last_done_date", []string{"LATHE-1,New,,,,", "LATHE-1,New,0,,,", "LATHE-1,New,1.5,,,", "VAN-1,New,,100,,", "LATHE-1,New,,100,odometer,",
			"LATHE-1,New,30,,,2026-11-21", "LATHE-1,New,,0,,", "LATHE-1,New,30,,hours,", "LATHE-1,New,30,100,hours,2024-02-29"},
			[]string{"interval_days and interval_usage", "interval_days|1", "interval_days", "cooler (3), odometer (2)", "hours (1)", "2026-11-21 is in the future", "interval_usage|above 0", "interval_usage is empty"}},
		{"work-orders", "id,asset_tag,description,priority,status,resolution,completed_at", []string{",,New,,,,", ",NONE,New,,,,", ",LATHE-1,,,,,", ",OLD-1,New,,,,", ",LATHE-1,New,asap,,,", ",LATHE-1,New,,closed,,",
			",LATHE-1,New,,done,,", ",LATHE-1,New,,open,,2026-11-01", ",LATHE-1,New,,done,x,2026-11-21", "1,VAN-1,,,,,", "1,LATHE-1,Oil,,done,x,", "2,LATHE-1,Belt,,done,,", "x,LATHE-1,New,,,,", ",LATHE-1,Good,critical,,,"},
			[]string{"asset_tag", "NONE", "description", "retired", "priority|asap|low, medium, high, urgent", "status|open, in-progress, done, cancelled", "resolution is missing", "completed_at", "completed_at|future",
				"asset_tag|keeps its asset", "open cannot move to done|in-progress, cancelled", "resolution", "id"}},
		{"readings", "asset_tag,meter,reading,read_date,correction", []string{"NONE,,1100,,", "VAN-1,,60000,,", "BENCH-1,,1,,", "LATHE-1,km,1100,,", "LATHE-1,hours,999,,", "LATHE-1,hours,1100,2026-11-21,", "LATHE-1,hours,,,", "LATHE-1,hours,1100,,maybe", "LATHE-1,hours,1100,,"},
			[]string{"NONE", "cooler (3), odometer (2)", "no meter", "hours (1)", "999 is below|correction", "2026-11-21 is in the future", "reading", "correction|1|0"}},
	} {
		before := apptest.SnapshotOf(t, w.Fixture)
		text := c.header + "\n" + strings.Join(c.rows, "\n") + "\n"
		_, rehearsed, told := w.Pipe(text, "import", "maintenance", c.table, "-", "--dry-run")
		before.Check("a rehearsal of " + c.table)
		code, out, errs := w.Rows(c.table, c.header, c.rows...)
		// facts of a preview alone, tested with the tables
		rehearsed, told = previewed.ReplaceAllString(rehearsed, ""), previewed.ReplaceAllString(told, "")
		w.Equal(c.table+" as rehearsed", rehearsed+told, "would import 1 rows\n"+errs)
		assert.That(t, code == 1 && out == "imported 1 rows\n", "%s: exit %d, %s", c.table, code, out)
		lines := strings.Split(errs, "\n")
		if len(lines) != len(c.words)+2 || !strings.Contains(errs, fmt.Sprintf("%d of %d rows were refused", len(c.words), len(c.rows))) {
			t.Fatalf("%s: %s", c.table, errs)
		}
		for i, words := range c.words {
			w.Says(c.table, lines[i], append(strings.Split(words, "|"), fmt.Sprintf("line %d: ", i+2))...)
		}
	}
	before := apptest.SnapshotOf(t, w.Fixture)
	for _, table := range maintenanceTables {
		code, _, errs := w.Rows(table, "asset_tag,colour", "LATHE-1,red")
		assert.That(t, code == 1, "%s with an unknown column: exit %d", table, code)
		w.Says(table, errs, `unknown column "`, "the columns of "+table+" are ")
	}
	before.Check("files with an unknown column")
}

// previewed matches what only a preview prints.
var previewed = regexp.MustCompile(`(?m)^(\d+ of \d+ rows are new, .*|line \d+ changes .*|it would send .*)\n`)
