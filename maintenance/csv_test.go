package maintenance

import (
	"fmt"
	"strings"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

func (s *fixture) exports(table string, want ...string) {
	s.T.Helper()
	assert.Equal(s.T, strings.Join(s.export(table), "\n"), strings.Join(want, "\n"), "%s", table)
}

// small fills every table with a row of each kind.
func (s *fixture) small() {
	s.T.Helper()
	s.On("2026-11-01")
	s.rows("assets", s.header("assets"), "L-1|Lathe|machine tools|hall 1|Colchester|Student|S-77|operational|oil it", "V-1||||||||", "R-1|Old saw||||||retired")
	s.rows("meters", s.header("meters"), "L-1|hours|h|1000.5|2026-10-01", "V-1|km|km|50000|2026-10-02", "V-1|engine|h||")
	s.rows("parts", s.header("parts"), "6204|Bearing|piece|10|4|425|Bearings Ltd|shelf 3", "OIL||l|2.5||999")
	s.rows("pm-plans", s.header("pm-plans"), "L-1|Oil|180|250|hours||2026-10-01|900|30|20.5", "V-1|Tyres||20000|km", "V-1|Inspection|365")
	s.opens(WorkOrder{PMID: new(int64(1)), PartsCost: exact.Decimal{Unscaled: 1250, Places: 2}, LaborMinutes: 90, AssignedTo: new("Ana")})
	s.On("2026-11-10")
	s.moves(1, "in-progress", "done")
	s.opens(WorkOrder{Priority: "urgent", DowntimeMinutes: 5})
	s.moves(2, "in-progress")
	s.opens(WorkOrder{Description: "a comma, a \"quote\"\nand a line"})
	s.opens(WorkOrder{})
	s.moves(4, "cancelled")
	s.reads("1100", "")
	_, err := s.read("10", "", true)
	s.Must(err)
	s.reads("12.25", "")
	s.On("2026-11-20")
}

// file imports a whole file into a table and returns the refusals.
func (s *fixture) file(table, header string, rows ...string) (refused []schema.Refused) {
	s.T.Helper()
	t, _ := s.Declare().Table(table)
	if t.Load == nil {
		for i, r := range rows {
			if err := s.row(table, header, r); err != nil {
				refused = append(refused, schema.Refused{Line: i + 2, Reason: err.Error()})
			}
		}
		return refused
	}
	var lines []schema.Line
	for i, r := range rows {
		lines = append(lines, schema.Line{Number: i + 2, Cells: strings.Split(r, "|")})
	}
	done := assert.Value(t.Load(ctx, s.DB, cli, lines, schema.LoadOptions{}))(s.T)
	assert.That(s.T, done.Imported+len(done.Errors) == len(rows),
		"%s: %d imported, %d refused of %d", table, done.Imported, len(done.Errors), len(rows))
	return done.Errors
}

// TestExportsFillAnEmptyDatabase moves a fixture table by table, in the order of declaration.
func TestExportsFillAnEmptyDatabase(t *testing.T) {
	from := open(t)
	from.small()
	from.movesTo(open(t))
}

// movesTo exports everything into an empty database, which must then be the same.
func (s *fixture) movesTo(to *fixture) {
	s.T.Helper()
	for _, table := range s.Declare().Tables {
		for _, r := range to.file(table.Name, to.header(table.Name), s.export(table.Name)...) {
			s.T.Errorf("%s: line %d: %s", table.Name, r.Line, r.Reason)
		}
	}
	for _, table := range s.Declare().Tables {
		got, want := strings.Join(to.export(table.Name), "\n"), strings.Join(s.export(table.Name), "\n")
		assert.That(s.T, got == want, "%s:\n%s\nwant\n%s", table.Name, got, want)
	}
	assert.Lacks(s.T, to.names(), "reading.recorded", "the past was told as news")
	was := assert.Value(s.PMDue(ctx, ""))(s.T)
	is := assert.Value(to.PMDue(ctx, ""))(s.T)
	for i := range was.PMDue {
		was.PMDue[i].OpenJob = nil // a file does not name the plan of a job
	}
	assert.That(s.T, asJSON(s.T, is) == asJSON(s.T, was), "due\n%s\nwant\n%s", asJSON(s.T, is), asJSON(s.T, was))
}

// TestPastOfAMeter distinguishes imported past readings from new ones.
func TestPastOfAMeter(t *testing.T) {
	fresh := func() *fixture {
		s := open(t)
		s.rows("assets", "asset_tag", "A-1")
		s.rows("meters", "asset_tag,name,reading,read_date", "A-1|hours|1000|2026-11-10")
		return s
	}
	s := fresh()
	if refused := s.file("readings", "", "A-1||800|2026-10-01|", "A-1|hours|9990|2026-10-20|", "A-1|1|900|2026-10-20|1", "A-1||1000|2026-11-10|"); len(refused) != 0 {
		t.Errorf("its past: %v", refused)
	}
	s.exports("readings", "A-1|hours|800|2026-10-01|0", "A-1|hours|9990|2026-10-20|0", "A-1|hours|900|2026-10-20|1", "A-1|hours|1000|2026-11-10|0")
	if m := s.meter("hours"); m.AvgPerDay == nil || m.AvgPerDay.String() != "4.7619" || s.names() != "" { // 100 in 21 days
		t.Errorf("after its past: %s, events %q", asJSON(t, m), s.names())
	}
	for name, c := range map[string]struct {
		rows    []string
		refused int
	}{
		"ends below":          {[]string{"A-1||800|2026-10-01|", "A-1||900|2026-11-10|"}, 2},
		"ends on another day": {[]string{"A-1||800|2026-10-01|", "A-1||1000|2026-11-09|"}, 1},
		"falls on the way":    {[]string{"A-1||800|2026-10-01|", "A-1||700|2026-10-02|", "A-1||1000|2026-11-10|"}, 2},
		"goes on":             {[]string{"A-1||800|2026-10-01|", "A-1||1000|2026-11-10|", "A-1||1010|2026-11-12|"}, 1},
		"without days":        {[]string{"A-1||800||", "A-1||1000|2026-11-10|"}, 1},
	} {
		s := fresh()
		refused := s.file("readings", "", c.rows...)
		assert.That(t, len(refused) == c.refused, "%s: refused %v, want %d", name, refused, c.refused)
	}
	s = fresh()
	s.reads("1001", "")
	refused := s.file("readings", "", "A-1||800|2026-10-01|", "A-1||1001|2026-11-20|")
	assert.That(t, len(refused) == 1, "a meter that was read since: refused %v", refused)
	s = fresh()
	table, _ := s.Declare().Table("readings")
	lines := []schema.Line{{Number: 2, Cells: []string{"A-1", "", "1100", "", ""}}, {Number: 3, Cells: []string{"A-9", "", "x", "", ""}}, {Number: 4, Cells: []string{"A-9", "", "5", "", ""}}}
	done := assert.Value(table.Load(ctx, s.DB, cli, lines, schema.LoadOptions{}))(s.T)
	assert.That(t, done.Imported == 1 && len(done.Errors) == 2, "a file with two faults: %+v", done)
}

func TestAssetRows(t *testing.T) {
	s := open(t)
	s.rows("assets", "asset_tag,name,category,status", "A-1|Saw|wood|DOWN")
	s.exports("assets", "A-1|Saw|wood|||||down|")
	s.rows("assets", "asset_tag,location", "A-1|hall 2") // absent columns stay unchanged
	s.exports("assets", "A-1|Saw|wood|hall 2||||down|")
	s.rows("assets", "asset_tag,name,category,status", "A-1") // empty cells are the default
	s.exports("assets", "A-1|A-1||hall 2||||operational|")
	entries := len(s.audit())
	s.rows("assets", "asset_tag,location,status", "A-1|hall 2|Operational")
	assert.That(t, len(s.audit()) == entries, "a row that changes nothing was audited")
	for _, c := range [][3]string{{"asset_tag,name", "|x", "asset_tag"}, {"asset_tag,status", "A-1|broken", "needs-attention"}, {"asset_tag,name", "A-2|" + strings.Repeat("x", 201), "200"}} {
		s.untouched(fault.Invalid, c[2], func() error { return s.row("assets", c[0], c[1]) })
	}
	assert.Equal(t, strings.Join(s.audit(), " "), "asset.created asset:1 asset.changed asset:1 asset.changed asset:1",
		"audit")
}

func TestMeterRows(t *testing.T) {
	s := open(t)
	s.rows("assets", "asset_tag", "A-1")
	h := s.header("meters")
	s.rows("meters", h, "A-1|hours|h|100|2026-11-01", "A-1|cycles|||")
	s.exports("meters", "A-1|hours|h|100|2026-11-01", "A-1|cycles||0|")
	s.exports("readings", "A-1|hours|100|2026-11-01|0")
	assert.That(t, s.names() == "", "a new meter's first reading emitted %s", s.names())
	s.rows("meters", h, "A-1|hours|h|150|2026-11-10")
	s.exports("readings", "A-1|hours|100|2026-11-01|0", "A-1|hours|150|2026-11-10|0")
	assert.That(t, s.names() == "reading.recorded", "a higher reading emitted %q", s.names())
	s.untouched(fault.Conflict, "correction", func() error { return s.row("meters", h, "A-1|hours|h|149.999|2026-11-11") })
	s.untouched(fault.Invalid, "2026-11-21", func() error { return s.row("meters", h, "A-1|hours|h|200|2026-11-21") })
	s.untouched(fault.NotFound, "A-9", func() error { return s.row("meters", h, "A-9|hours|h|1|") })
	s.untouched(fault.Invalid, "name", func() error { return s.row("meters", h, "A-1||h|1|") })
	before := s.dump()
	s.rows("meters", h, "A-1|hours|h|150|2026-11-10", "A-1|hours|h|150|", "A-1|hours|h|150|2026-11-02", "A-1|hours|h||", "A-1|hours|h||2026-11-03")
	assert.That(t, s.dump() == before, "a row without news left a trace")
	s.rows("meters", h, "A-1|hours|hrs||2026-11-12") // the unit, and the same reading on a later day
	s.exports("meters", "A-1|hours|hrs|150|2026-11-12", "A-1|cycles||0|")
	s.rows("meters", h, "A-1|hours|hrs|160|", "A-1|cycles|||2026-11-19")
	s.exports("meters", "A-1|hours|hrs|160|2026-11-20", "A-1|cycles||0|2026-11-19")
}

func TestReadingRows(t *testing.T) {
	s := open(t)
	s.rows("assets", "asset_tag", "A-1", "A-2")
	s.rows("meters", "asset_tag,name", "A-1|hours", "A-2|h", "A-2|km")
	h := s.header("readings")
	s.rows("readings", h, "A-1||10|2026-11-01|", "A-1|hours|20|2026-11-02|0", "A-1|1|5|2026-11-03|1")
	got, want := s.names(), "reading.recorded reading.recorded reading.recorded"
	assert.That(t, got == want, "events %s", got)
	before := s.dump()
	s.rows("readings", h, "A-1||10|2026-11-01|", "A-1||20|2026-11-02|", "A-1||5|2026-11-03|1", "A-1||5|2026-11-03|")
	assert.That(t, s.dump() == before, "a reading that is stored left a trace")
	s.rows("readings", h, "A-1||20|2026-11-02|1") // stored, but not as a correction
	s.exports("readings", "A-1|hours|10|2026-11-01|0", "A-1|hours|20|2026-11-02|0", "A-1|hours|5|2026-11-03|1", "A-1|hours|20|2026-11-02|1")
}

func TestPartRows(t *testing.T) {
	s := open(t)
	h := s.header("parts")
	s.rows("parts", h, "P-1|Filter|piece|4|4|500|F Ltd|A1")
	s.rows("parts", "part_number,quantity", "P-1|3.5")
	s.exports("parts", "P-1|Filter|piece|3.5|4|500|F Ltd|A1")
	s.rows("parts", h, "P-1")
	s.exports("parts", "P-1|P-1||0|0|0||")
	assert.Equal(t, strings.Join(s.audit(), " "), "part.created part:1 part.changed part:1 part.changed part:1", "audit")
}

func TestWorkOrderRows(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	s.rows("assets", "asset_tag,status", "R-1|retired")
	_, err := do(s, cli, setLaborRate, 6000)
	s.Must(err)
	h := s.header("work-orders")
	s.rows("work-orders", h,
		"|L-1|new",
		"|L-1|started|critical|preventive|In_Progress|Ana|30|12.5|5",
		"|L-1|was done||| done||60|||fixed|2025-01-02|2025-01-03T10:00:00+02:00",
		"40|R-1|given up|low||cancelled",
		"|R-1|old|||done|||||gone|2024-02-29|")
	s.exports("work-orders",
		"1|L-1|new|medium|corrective|open||0|0|0||2026-11-20T12:00:00Z|||",
		"2|L-1|started|urgent|preventive|in-progress|Ana|30|12.5|5||2026-11-20T12:00:00Z|||",
		"3|L-1|was done|medium|corrective|done||60|0|0|fixed|2025-01-02T00:00:00Z|2025-01-03T08:00:00Z||",
		"40|R-1|given up|low|corrective|cancelled||0|0|0||2026-11-20T12:00:00Z|||",
		"41|R-1|old|medium|corrective|done||0|0|0|gone|2024-02-29T00:00:00Z|2026-11-20T12:00:00Z||")
	got, want := s.names(), "workorder.created workorder.created"
	assert.That(t, got == want, "events %s, want %s", got, want)
	_, err = do(s, cli, setLaborRate, 100)
	s.Must(err)
	wo, err := s.WorkOrder(ctx, 3)
	assert.That(t, err == nil && wo.LaborCostCents == 6000, "history costs %d, %v", wo.LaborCostCents, err)
	for _, c := range []struct{ header, row, part string }{
		{"asset_tag,description,status", "R-1|x|in-progress", "retired"},
		{"asset_tag,description,labor_minutes", "L-1|x|1.5", "whole number"},
		{"asset_tag,description,parts_cost", "L-1|x|1.234", "at most 2"},
		{"asset_tag,description,created_at", "L-1|x|2026-11-21", "future"},
		{"asset_tag,description,created_at", "L-1|x|2026-02-30", "2026-02-30"},
		{"asset_tag,description,status,resolution,created_at,completed_at", "L-1|x|done|y|2026-11-02|2026-11-01", "before created_at"},
		{"id,asset_tag,description", "0|L-1|x", "at least 1"},
		{"id,asset_tag,description", "1000000000001|L-1|x", "1000000000000"},
	} {
		s.rejected(c.part, func() error { return s.row("work-orders", c.header, c.row) })
	}
}

func TestWorkOrderEdits(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	s.rows("assets", "asset_tag", "B-1")
	s.rows("pm-plans", "asset_tag,title,interval_days,last_done_date", "L-1|Oil|30|2026-11-01")
	s.opens(WorkOrder{PMID: new(int64(1)), AssignedTo: new("Ana"), PartsCost: exact.Decimal{Unscaled: 100, Places: 2}})
	is := func(want string) {
		t.Helper()
		assert.Equal(t, s.export("work-orders")[0], want, "the order")
	}
	s.rows("work-orders", "id,priority,labor_minutes,parts_cost,assigned_to", "1|HIGH|45|2.25|Ben")
	is("1|L-1|a job|high|corrective|open|Ben|45|2.25|0||2026-11-20T12:00:00Z|||")
	s.rows("work-orders", "id,assigned_to,parts_cost,priority", "1")
	is("1|L-1|a job|medium|corrective|open||45|0|0||2026-11-20T12:00:00Z|||")
	entries := len(s.audit())
	s.rows("work-orders", "id,asset_tag,description,status", "1|L-1|a job|open")
	assert.That(t, len(s.audit()) == entries, "a row that changes nothing was audited")
	// A changed status is a move like any other: checks, event, plan.
	s.untouched(fault.Invalid, "in-progress, cancelled", func() error { return s.row("work-orders", "id,status,resolution", "1|done|x") })
	s.rows("work-orders", "id,status", "1|in-progress")
	// an empty cell means open
	s.untouched(fault.Invalid, "done, cancelled", func() error { return s.row("work-orders", "id,status", "1|") })
	s.untouched(fault.Invalid, "resolution", func() error { return s.row("work-orders", "id,status", "1|done") })
	s.rows("work-orders", "id,status,resolution,labor_minutes,created_at,completed_at", "1|done|oiled|50|2026-11-10|2026-11-12T08:00:00Z")
	is("1|L-1|a job|medium|corrective|done||50|0|0|oiled|2026-11-10T00:00:00Z|2026-11-12T08:00:00Z||")
	s.dueIs(1, "ok next 2026-12-20 done 2026-11-20")
	got, want := s.names(), "workorder.created workorder.completed"
	assert.That(t, got == want, "events %s, want %s", got, want)
	s.rows("work-orders", "id,resolution,completed_at", "1|oiled well|2026-11-13")
	is("1|L-1|a job|medium|corrective|done||50|0|0|oiled well|2026-11-10T00:00:00Z|2026-11-13T00:00:00Z||")
	s.untouched(fault.Invalid, "resolution", func() error { return s.row("work-orders", "id,resolution", "1|") })
	s.untouched(fault.Invalid, "description", func() error { return s.row("work-orders", "id,description", "1|") })
	s.untouched(fault.Invalid, "keeps its asset", func() error { return s.row("work-orders", "id,asset_tag", "1|B-1") })
	s.untouched(fault.Invalid, "before created_at", func() error { return s.row("work-orders", "id,completed_at", "1|2026-11-09") })
	s.untouched(fault.Invalid, "completed_at", func() error { return s.row("work-orders", "id,status,completed_at", "1|open|2026-11-13") })
	s.rows("work-orders", "id,status", "1|open")
	is("1|L-1|a job|medium|corrective|open||50|0|0|oiled well|2026-11-10T00:00:00Z|||")
	s.dueIs(1, "ok next 2026-12-01 done 2026-11-01")
}

func TestDoctorNamesBreaches(t *testing.T) {
	s := open(t)
	s.small()
	for name, c := range map[string]struct{ sql, part string }{
		"reading":    {"UPDATE meters SET reading = reading + 1 WHERE id = 1", "meter 1 (hours)"},
		"date":       {"UPDATE meters SET read_date = read_date + 1 WHERE id = 1", "meter 1 (hours)"},
		"last":       {"UPDATE meters SET last_value = last_value - 1 WHERE id = 1", "meter 1 (hours)"},
		"lost":       {"DELETE FROM readings WHERE meter_id = 1 AND seq = 2", "meter 1 (hours)"},
		"lower":      {"UPDATE readings SET value = 0 WHERE meter_id = 1 AND seq = 2", "reading 2 of meter 1"},
		"epoch":      {"UPDATE readings SET epoch = 7 WHERE meter_id = 1 AND seq = 2", "after 7 corrections"},
		"baseline":   {"UPDATE pm_plans SET baseline = 100000000 WHERE id = 1", "plan 1 (Oil)"},
		"asset":      {"UPDATE pm_plans SET meter_id = 2 WHERE id = 1", "plan 1 (Oil)"},
		"used":       {"UPDATE work_orders SET used_cents = 7 WHERE id = 2", "work order 2 keeps 7"},
		"count":      {"UPDATE work_order_counts SET n = n + 1 WHERE status = 'done'", "kept as done"},
		"count gone": {"DELETE FROM work_order_counts WHERE status = 'open'", "kept as open"},
		"restarted":  {"UPDATE pm_plans SET restarted_by = 2 WHERE id = 1", "work order 2"},
		"no order":   {"UPDATE pm_plans SET restarted_by = 99 WHERE id = 1", "work order 99"},
	} {
		undo := fmt.Errorf("undo")
		var breaches []string
		err := s.damaged(c.sql, func(found []string) error {
			breaches = found
			return undo
		})
		assert.Must(t, err == undo, "%s: %v", name, err)
		assert.Contains(t, strings.Join(breaches, "\n"), c.part, "%s: doctor says %v", name, breaches)
	}
}

// damaged changes rows directly, returns doctor's findings, and rolls back if then returns an error.
func (s *fixture) damaged(sql string, then func(breaches []string) error) error {
	return db.Exec(ctx, s.DB, cli, func(tx *db.Tx) error {
		if n, err := tx.Exec(sql); err != nil || n == 0 {
			return fmt.Errorf("%s: %d rows, %v", sql, n, err)
		}
		breaches, err := check(&tx.Conn)
		if err != nil {
			return err
		}
		return then(breaches)
	})
}

// TestColumns compares the tables' columns with the contract.
func TestColumns(t *testing.T) {
	s := open(t)
	for table, want := range map[string]string{
		"assets":      "asset_tag,name,category,location,manufacturer,model,serial_number,status,notes",
		"meters":      "asset_tag,name,unit,reading,read_date",
		"parts":       "part_number,name,unit,quantity,min_quantity,unit_cost_cents,supplier,location",
		"pm-plans":    "asset_tag,title,interval_days,interval_usage,meter,start_date,last_done_date,baseline_reading,due_soon_days,due_soon_usage,checklist,paused",
		"work-orders": "id,asset_tag,description,priority,wo_type,status,assigned_to,labor_minutes,parts_cost,downtime_minutes,resolution,created_at,completed_at,due_date,checklist",
		"readings":    "asset_tag,meter,reading,read_date,correction",
	} {
		assert.Equal(t, s.header(table), want, "%s", table)
	}
}
