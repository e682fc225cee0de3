package maintenance

import (
	"fmt"
	"strings"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/fault"
)

// brief shows the essentials of a due row.
func brief(r PMDueRow) string {
	s := fmt.Sprintf("%s next %s done %s", r.DueStatus, dayText(r.NextDue), dayText(r.LastDoneDate))
	if r.BaselineReading != nil {
		s += fmt.Sprintf(" baseline %v remaining %v by %s", *r.BaselineReading, *r.UsageRemaining, r.DueSource)
	}
	return s
}

func (s *fixture) dueIs(id int64, want string) {
	s.T.Helper()
	assert.Equal(s.T, brief(s.due(id)), want, "plan %d", id)
}

// The tests below are faults that users of maintenance systems report.

func TestJobRestartsItsPlanAndReopeningTakesItBack(t *testing.T) {
	s := open(t)
	s.lathe("1000", "2026-11-01")
	s.rows("pm-plans", "asset_tag,title,interval_days,interval_usage,last_done_date,baseline_reading", "L-1|Oil|30|250|2026-11-01|900")
	const before = "ok next 2026-12-01 done 2026-11-01 baseline 900 remaining 150 by both"
	s.dueIs(1, before)
	wo := s.opens(WorkOrder{PMID: new(int64(1)), Type: "preventive"})
	s.moves(wo.ID, "in-progress")
	s.dueIs(1, before)
	s.moves(wo.ID, "done")
	s.dueIs(1, "ok next 2026-12-20 done 2026-11-20 baseline 1000 remaining 250 by both")
	s.moves(wo.ID, "open")
	s.dueIs(1, before)
	s.moves(wo.ID, "in-progress", "done")

	// Two jobs: reopening the later one keeps the effect of the earlier one.
	s.On("2026-11-21")
	s.reads("1100", "")
	second := s.opens(WorkOrder{PMID: new(int64(1))})
	s.moves(second.ID, "in-progress", "done")
	const afterSecond = "ok next 2026-12-21 done 2026-11-21 baseline 1100 remaining 250 by both"
	s.dueIs(1, afterSecond)
	s.moves(wo.ID, "open") // the plan changed since: it keeps the second job's
	s.dueIs(1, afterSecond)
	s.moves(wo.ID, "in-progress", "cancelled")
	s.dueIs(1, afterSecond)
	s.moves(second.ID, "open")
	s.dueIs(1, "ok next 2026-12-20 done 2026-11-20 baseline 1000 remaining 150 by both")
}

func TestReopeningLeavesAChangedPlan(t *testing.T) {
	touch := map[string]func(s *fixture){
		"pm-done": func(s *fixture) {
			_, err := do3(s, cli, markDone, 1, dayPtr(s.T, "2026-11-19"), nil)
			s.Must(err)
		},
		"a correction": func(s *fixture) {
			_, err := s.read("5", "", true)
			s.Must(err)
		},
		"a correction above the baseline": func(s *fixture) {
			_, err := s.read("2000", "", true)
			s.Must(err)
		},
		"an import": func(s *fixture) {
			s.rows("pm-plans", "asset_tag,title,last_done_date", "L-1|Oil|2026-11-18")
		},
	}
	for name, touched := range touch {
		s := open(t)
		s.lathe("1000", "2026-11-01")
		s.rows("pm-plans", "asset_tag,title,interval_days,interval_usage,last_done_date,baseline_reading", "L-1|Oil|30|250|2026-11-01|900")
		s.opens(WorkOrder{PMID: new(int64(1))})
		s.moves(1, "in-progress", "done")
		touched(s)
		want := brief(s.due(1))
		s.moves(1, "open")
		got := brief(s.due(1))
		assert.That(t, got == want, "%s: reopening made %s of %s", name, got, want)
	}
	// A change to something else does not count.
	s := open(t)
	s.lathe("1000", "2026-11-01")
	s.rows("pm-plans", "asset_tag,title,interval_days,interval_usage,last_done_date,baseline_reading", "L-1|Oil|30|250|2026-11-01|900")
	s.opens(WorkOrder{PMID: new(int64(1))})
	s.moves(1, "in-progress", "done")
	s.reads("1010", "")
	_, err := s.read("1010", "", true)
	s.Must(err)
	s.rows("pm-plans", "asset_tag,title,due_soon_days", "L-1|Oil|3")
	s.moves(1, "open")
	s.dueIs(1, "ok next 2026-12-01 done 2026-11-01 baseline 900 remaining 140 by both")
}

func TestPMDone(t *testing.T) {
	s := open(t)
	s.lathe("1000", "2026-11-01")
	s.rows("pm-plans", "asset_tag,title,interval_days,interval_usage", "L-1|Oil|30|250", "L-1|Belts|60|")
	s.reads("1100", "2026-11-10")
	s.reads("1200", "2026-11-18")
	row, err := do3(s, cli, markDone, 1, nil, nil)
	s.Must(err)
	got, want := brief(row), "ok next 2026-12-09 done 2026-11-20 baseline 1200 remaining 250 by both"
	assert.That(t, got == want, "today: %s, want %s", got, want)
	// On a past day the meter's value is the last reading until then.
	row = assert.Value(do3(s, cli, markDone, 1, dayPtr(t, "2026-11-12"), nil))(s.T)
	got, want = brief(row), "ok next 2026-11-30 done 2026-11-12 baseline 1100 remaining 150 by both"
	assert.That(t, got == want, "eight days ago: %s, want %s", got, want)
	row = assert.Value(do3(s, cli, markDone, 1, dayPtr(t, "2026-10-01"), nil))(s.T)
	got, want = brief(row), "overdue next 2026-10-31 done 2026-10-01 baseline 1200 remaining 250 by days"
	assert.That(t, got == want, "before any reading: %s, want %s", got, want)
	if row, err = do3(s, cli, markDone, 2, nil, nil); err != nil || brief(row) != "ok next 2027-01-19 done 2026-11-20" || row.DueSource != "" || row.UsageRemaining != nil {
		t.Errorf("by days: %s %v", asJSON(t, row), err)
	}
	s.untouched(fault.Invalid, "2026-11-21", func() error { _, err := do3(s, cli, markDone, 1, dayPtr(t, "2026-11-21"), nil); return err })
	s.untouched(fault.NotFound, "PM plan 7", func() error { _, err := do3(s, cli, markDone, 7, nil, nil); return err })
	got = strings.Join(s.audit(), " ")
	assert.That(t, strings.Count(got, "pm.done pm_plan:1") == 3, "audit %s", got)
}

func TestDueList(t *testing.T) {
	s := open(t)
	s.lathe("1000", "2026-11-01")
	s.rows("assets", "asset_tag,name,status", "B-1|Bench|down", "R-1|Old saw|retired")
	s.rows("pm-plans", "asset_tag,title,interval_days,interval_usage,last_done_date,baseline_reading",
		"L-1|Fine|365||2026-11-01|", "L-1|Oil|30|250|2026-11-01|700", "B-1|Bolts|30||2026-10-22|", "R-1|Never|1||2020-01-01|")
	got, err := s.get("GET /api/pm-due", "")
	s.Must(err)
	const oil = `{"pm_id":2,"asset_id":1,"asset":"Lathe","title":"Oil","interval_days":30,"interval_usage":250,"meter":"hours","unit":"h",` +
		`"last_done_date":"2026-11-01","baseline_reading":700,"next_due":"2026-12-01","days_until":11,"due_status":"overdue","usage_remaining":-50,"due_source":"usage"}`
	const bolts = `{"pm_id":3,"asset_id":2,"asset":"Bench","title":"Bolts","interval_days":30,"interval_usage":null,"meter":null,"unit":null,` +
		`"last_done_date":"2026-10-22","baseline_reading":null,"next_due":"2026-11-21","days_until":1,"due_status":"due-soon"}`
	const fine = `{"pm_id":1,"asset_id":1,"asset":"Lathe","title":"Fine","interval_days":365,"interval_usage":null,"meter":null,"unit":null,` +
		`"last_done_date":"2026-11-01","baseline_reading":null,"next_due":"2027-11-01","days_until":346,"due_status":"ok"}`
	want := `{"today":"2026-11-20","pm_due":[` + oil + "," + bolts + "," + fine + `]}`
	assert.That(t, got == want, "got  %s\nwant %s", got, want)
	if agent, err := s.call("pm_due", `{}`); err != nil || agent != strings.TrimSuffix(got, "}")+`,"shown":3,"total":3,"next":null}` {
		t.Errorf("an agent is told %s %v", agent, err)
	}
	for _, c := range [][2]string{{"overdue", oil}, {"due-soon", bolts}, {"due_soon", bolts}, {"OK", fine}} {
		if part, err := s.get("GET /api/pm-due", "", "status", c[0]); err != nil || part != `{"today":"2026-11-20","pm_due":[`+c[1]+`]}` {
			t.Errorf("%s: %s %v", c[0], part, err)
		}
	}
	if part, err := s.call("pm_due", `{"overdue_only":true}`); err != nil || part != `{"today":"2026-11-20","pm_due":[`+oil+`],"shown":1,"total":1,"next":null}` {
		t.Errorf("overdue only: %s %v", part, err)
	}
	_, err = s.get("GET /api/pm-due", "", "status", "late")
	s.Refused(err, fault.Invalid, "overdue, due-soon, ok")
	_, err = do2(s, cli, setAssetStatus, 1, "retired")
	s.Must(err)
	_, err = do2(s, cli, setAssetStatus, 2, "retired")
	s.Must(err)
	none, err := s.get("GET /api/pm-due", "")
	assert.That(t, err == nil && none == `{"today":"2026-11-20","pm_due":[]}`, "all retired: %s %v", none, err)
}

func TestPlanGuards(t *testing.T) {
	s := open(t)
	s.lathe("1000", "2026-11-01")
	s.rows("assets", "asset_tag", "V-1", "N-1")
	s.rows("meters", "asset_tag,name,reading,read_date", "V-1|km|10|2026-11-01", "V-1|h|5|2026-11-01")
	h := s.header("pm-plans")
	for _, c := range []struct {
		row  string
		kind fault.Kind
		part string
	}{
		{"L-1||30", fault.Invalid, "title"},
		{"L-9|Oil|30", fault.NotFound, "L-9"},
		{"L-1|Oil", fault.Invalid, "interval_days"},
		{"L-1|Oil|0", fault.Invalid, "1 to 36500"},
		{"L-1|Oil|1.5", fault.Invalid, "whole number"},
		{"L-1|Oil||0", fault.Invalid, "above 0"},
		{"L-1|Oil||-1", fault.Invalid, "interval_usage"},
		{"L-1|Oil||0.0001", fault.Invalid, "at most 3"},
		{"L-1|Oil||250|miles", fault.Invalid, "hours"},
		{"V-1|Oil||250", fault.Invalid, "h (3), km (2)"},
		{"N-1|Oil||250", fault.Invalid, "has no meter"},
		{"L-1|Oil||250||||1000.001", fault.Invalid, "1000"},
		{"L-1|Oil|30||hours", fault.Invalid, "interval_usage is empty"},
		{"L-1|Oil|30|||||5", fault.Invalid, "interval_usage is empty"},
		{"L-1|Oil|30|||||||5", fault.Invalid, "interval_usage is empty"},
		{"L-1|Oil|30||||2026-11-21", fault.Invalid, "2026-11-21"},
		{"L-1|Oil|30|||2026-02-29", fault.Invalid, "calendar"},
		{"L-1|Oil|30||||||-1", fault.Invalid, "due_soon_days"},
	} {
		s.untouched(c.kind, c.part, func() error { return s.row("pm-plans", h, c.row) })
	}
	s.rows("pm-plans", h, "V-1|Oil||250|km|||10||25", "L-1|Oil||250|1|||-5", "L-1|Later|30|||2027-01-01")
	want := []string{"V-1|Oil||250|km|2026-11-20||10||25||", "L-1|Oil||250|hours|2026-11-20||-5||||", "L-1|Later|30|||2027-01-01||||||"}
	assert.Equal(t, strings.Join(s.export("pm-plans"), "\n"), strings.Join(want, "\n"), "exported")
}

func TestPlanEdits(t *testing.T) {
	s := open(t)
	s.lathe("1000", "2026-11-01")
	s.rows("meters", "asset_tag,name,reading,read_date", "L-1|cycles|77|2026-11-01")
	plan := func() string { t.Helper(); return s.export("pm-plans")[0] }
	is := func(want string) {
		t.Helper()
		assert.Equal(t, plan(), want, "the plan")
	}
	s.rows("pm-plans", "asset_tag,title,interval_days,interval_usage,meter", "L-1|Oil|30|250|hours")
	is("L-1|Oil|30|250|hours|2026-11-20||1000||||")
	s.reads2("hours", "1100")
	// The same file again, by hand: the baseline is the meter's value when the plan was made.
	entries := len(s.audit())
	s.rows("pm-plans", "asset_tag,title,interval_days,interval_usage,meter,baseline_reading,start_date", "L-1|Oil|30|250|hours||")
	is("L-1|Oil|30|250|hours|2026-11-20||1000||||")
	assert.That(t, len(s.audit()) == entries, "a row that changes nothing was audited")
	s.rows("pm-plans", "asset_tag,title,interval_days", "L-1|Oil|60")
	is("L-1|Oil|60|250|hours|2026-11-20||1000||||")
	s.rows("pm-plans", "asset_tag,title,meter", "L-1|Oil|cycles")
	is("L-1|Oil|60|250|cycles|2026-11-20||77||||")
	s.rows("pm-plans", "asset_tag,title,interval_usage", "L-1|Oil|")
	is("L-1|Oil|60|||2026-11-20||||||")
	s.untouched(fault.Invalid, "both empty", func() error { return s.row("pm-plans", "asset_tag,title,interval_days", "L-1|Oil|") })
	s.rows("pm-plans", "asset_tag,title,interval_usage,meter,last_done_date", "L-1|Oil|10|hours|2026-11-02")
	is("L-1|Oil|60|10|hours|2026-11-20|2026-11-02|1100||||")
	s.rows("pm-plans", "asset_tag,title,last_done_date,interval_days", "L-1|Oil||")
	is("L-1|Oil||10|hours|2026-11-20||1100||||")
}

// reads2 posts a reading of asset 1's meter by name.
func (s *fixture) reads2(meter, reading string) {
	s.T.Helper()
	_, err := do(s, ana, recordReading, NewReading{AssetID: 1, Meter: meter, Reading: milli(s.T, reading)})
	s.Must(err)
}

// TestWrongClock: operations that take the date from the clock are refused while it cannot be right; the others work.
func TestWrongClock(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	s.rows("pm-plans", "asset_tag,title,interval_days", "L-1|Oil|30")
	s.opens(WorkOrder{PMID: new(int64(1))})
	s.moves(1, "in-progress")
	for _, d := range []string{"2026-11-18", "2028-01-01"} {
		s.On(d)
		for _, do := range []func() error{
			func() error { _, err := s.read("110", "", false); return err },
			func() error { _, err := do3(s, cli, markDone, 1, nil, nil); return err },
			func() error {
				_, err := do(s, ana, moveWorkOrder, Move{ID: 1, Status: "done", Resolution: "x"})
				return err
			},
			func() error { return s.row("pm-plans", "asset_tag,title,interval_days", "L-1|Belts|30") },
			func() error { return s.row("meters", "asset_tag,name,reading", "L-1|hours|110") },
		} {
			s.untouched(fault.Unavailable, "clock", do)
		}
	}
	s.On("2026-11-18")
	s.untouched(fault.Unavailable, "clock", func() error { _, err := s.read("110", "2026-11-19", false); return err })
	s.reads("105", "2026-11-17") // its date is given, and past by any clock
	s.On("2026-11-20")
	s.reads("110", "")
}
