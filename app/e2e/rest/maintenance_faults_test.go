package rest

import (
	"fmt"
	"testing"

	"quartermaster/app/apptest"
)

// Known faults of other maintenance systems, from their users' reports, tested end to end.

// TestCorrectedReadingLeavesThePlans: correcting a reading returns the plans to their former state.
func TestCorrectedReadingLeavesThePlans(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	w.MustPost(201, "/api/assets/1/readings", `{"reading":1100}`)
	w.IsDue("before", 1, map[string]any{"usage_remaining": 400, "baseline_reading": 1000, "due_status": "ok"})
	w.Says("the error warns", w.MustPost(201, "/api/assets/1/readings", `{"reading":11010}`), `"warning":"hours went up by 9910 h in 1 day`)
	w.IsDue("mistyped", 1, map[string]any{"usage_remaining": -9510, "baseline_reading": 1000, "due_status": "overdue"})
	w.Refused(409, "/api/assets/1/readings", `{"reading":1101}`, "correction true")
	w.MustPost(201, "/api/assets/1/readings", `{"reading":1101,"correction":true}`)
	w.IsDue("put right", 1, map[string]any{"usage_remaining": 399, "baseline_reading": 1000, "due_status": "ok"})
}

// TestAReplacedMeterKeepsTheUseSinceTheService: replacing a meter keeps the use since the last service.
func TestAReplacedMeterKeepsTheUseSinceTheService(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	w.MustPost(201, "/api/assets/1/readings", `{"reading":1480}`) // 480 of 500 used
	w.MustPost(201, "/api/assets/1/readings", `{"reading":0,"correction":true}`)
	w.IsDue("replaced", 1, map[string]any{"usage_remaining": 20, "baseline_reading": -480, "due_status": "due-soon"})
	w.MustPost(201, "/api/assets/1/readings", `{"reading":19.999}`)
	w.IsDue("nearly", 1, map[string]any{"usage_remaining": 0.001, "due_status": "due-soon"})
	w.MustPost(201, "/api/assets/1/readings", `{"reading":20}`)
	w.IsDue("due", 1, map[string]any{"usage_remaining": 0, "due_status": "overdue"})
	w.Run("pm-done", "1")
	w.IsDue("done", 1, map[string]any{"usage_remaining": 500, "baseline_reading": 20, "due_status": "ok"})
}

// TestANewPlanCountsFromWhatItsMeterShows: a new plan for an old machine is not overdue.
func TestANewPlanCountsFromWhatItsMeterShows(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	w.MustPost(201, "/api/assets/2/readings", `{"meter":"odometer","reading":123456.7}`)
	w.Load("pm-plans", "asset_tag,title,interval_days,interval_usage,meter", "VAN-1,Belt,,60000,odometer", "VAN-1,Wash,30,,")
	w.IsDue("by use", 5, map[string]any{"baseline_reading": 123456.7, "usage_remaining": 60000, "due_status": "ok"})
	w.IsDue("by days", 6, map[string]any{"next_due": "2026-11-20", "days_until": 0, "due_status": "due-soon"})
	before := apptest.SnapshotOf(t, w.Fixture)
	_, _, errs := w.Rows("pm-plans", "asset_tag,title,interval_usage,meter,baseline_reading", "VAN-1,Hose,1000,odometer,123456.701", "VAN-1,Hose,1000,,", "VAN-1,Hose,,,", "BENCH-1,Hose,1000,,")
	w.Says("the rows", errs, "line 2: baseline_reading: 123456.701 is above what the meter odometer shows, 123456.7", "line 3: meter is missing", "line 4: interval_days and interval_usage are both empty", "line 5: meter: asset 3 (Bench) has no meter")
	before.Check("the rows")
}

// TestSecondReadingOfADayIsAccepted: two readings on one day are both accepted.
func TestSecondReadingOfADayIsAccepted(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	for i, reading := range []string{"1001", "1001.5", "1001.5", "1002"} {
		w.MustPost(201, "/api/assets/1/readings", `{"reading":`+reading+`,"read_date":"2026-11-20"}`)
		w.MustTool("record_meter", `{"asset_id":2,"meter":"cooler","reading":`+fmt.Sprint(i)+`,"read_date":"2026-11-20"}`)
	}
	meterIs(w, "after four a day", 1, 1002, "2026-11-20", 3+3)
	meterIs(w, "after four a day", 3, 3, "2026-11-20", 3+3)
}

// TestAStaleReadingIsNotOverdue: an old reading does not make a machine overdue while use remains; its due date is not
// before today.
func TestAStaleReadingIsNotOverdue(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	// 100 a day: the 500 are used up on the 15th
	w.MustPost(201, "/api/assets/1/readings", `{"reading":1400,"read_date":"2026-11-14"}`)
	w.IsDue("projected", 1, map[string]any{"next_due": "2026-11-20", "days_until": 0, "usage_remaining": 100, "due_status": "ok"})
	w.Clock.Set(apptest.Noon.AddDate(0, 0, 30))
	w.IsDue("a month later", 1, map[string]any{"next_due": "2026-12-20", "days_until": 0, "usage_remaining": 100, "due_status": "ok"})
	w.Clock.Set(apptest.Noon.AddDate(0, 0, 120))
	w.IsDue("when no reading is of the last 90 days", 1, map[string]any{"next_due": nil, "days_until": nil, "usage_remaining": 100, "due_status": "ok"})
}

// TestAJobDoneEarlyMovesTheNextDate: completing a job early moves the next date, by any interface; reopening it moves
// the date back.
func TestAJobDoneEarlyMovesTheNextDate(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	w.MustPost(201, "/api/assets/2/readings", `{"meter":"odometer","reading":50400}`)
	was := map[string]any{"last_done_date": "2026-11-01", "baseline_reading": 50000, "usage_remaining": 14600}
	now := map[string]any{"last_done_date": "2026-11-20", "baseline_reading": 50400, "usage_remaining": 15000}
	ways := map[string]func(id int64){
		"rest": func(id int64) { w.Move(id, "done", "Serviced") },
		"mcp": func(id int64) {
			w.MustTool("advance_status", fmt.Sprintf(`{"id":%d,"status":"done","resolution":"Serviced"}`, id))
		},
		"cli": func(id int64) { w.Run("move", "done", fmt.Sprint(id), "--resolution", "Serviced") },
		"csv": func(id int64) { w.Load("work-orders", "id,status,resolution", fmt.Sprintf("%d,done,Serviced", id)) },
	}
	for way, done := range ways {
		id := w.Open(`{"asset_id":2,"description":"Service","pm_id":3}`)
		w.Move(id, "in-progress", "")
		w.IsDue(way+", not yet done", 3, was)
		done(id)
		w.IsDue(way+", done", 3, now)
		w.Move(id, "open", "")
		w.IsDue(way+", reopened", 3, was)
		w.Move(id, "cancelled", "")
		w.IsDue(way+", cancelled", 3, was)
	}
	id := w.Open(`{"asset_id":2,"description":"Service","pm_id":3}`)
	w.Close(id)
	w.Run("pm-done", "3", "--date", "2026-11-19")
	touched := map[string]any{"last_done_date": "2026-11-19", "baseline_reading": 50000}
	w.IsDue("touched", 3, touched)
	w.Move(id, "open", "")
	w.IsDue("reopened after it was touched", 3, touched)
}

// TestUsedPartKeepsItsCost: the cost of a used part is its cost on that day.
func TestUsedPartKeepsItsCost(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	id := w.Open(`{"asset_id":1,"description":"Oil","parts_cost":0.5}`)
	w.Run("use-part", "1", "OIL", "2")
	w.Run("labor-rate", "6000")
	closed := w.Close(id)
	w.Load("parts", "part_number,unit_cost_cents", "OIL,999")
	w.Equal("the closed job", w.MustGet("/api/work-orders/1"), closed)
	w.Says("its cost", closed, `"parts_cost_cents":1430,"total_cost_cents":1430`)
	w.Move(id, "open", "")
	w.Run("use-part", "1", "OIL", "1")
	w.Says("one more at the new price", w.MustGet("/api/work-orders/1"), `"parts_cost_cents":2429,`)
	w.Says("each at its own", w.MustTool("workorder_detail", `{"id":1}`), `"cost_cents":1380`, `"unit_cost_cents":690`, `"cost_cents":999`)
}

// TestLaborIsComputedToTheCent: labor is computed to the cent, rounded half up, not truncated to hours.
func TestLaborIsComputedToTheCent(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	for _, c := range []struct{ rate, minutes, cents string }{
		{"5400", "1", "90"}, {"5400", "59", "5310"}, {"5400", "61", "5490"}, {"4550", "90", "6825"},
		{"1", "29", "0"}, {"1", "30", "1"}, {"1", "31", "1"}, {"1", "90", "2"}, {"100", "50", "83"}, {"100", "10", "17"}, {"0", "600", "0"},
		{"100000000", "10000000", "16666666666667"},
	} {
		w.Run("labor-rate", c.rate)
		body := w.MustPost(201, "/api/work-orders", `{"asset_id":1,"description":"x","labor_minutes":`+c.minutes+`}`)
		w.Says(c.minutes+" minutes at "+c.rate, body, `"labor_cost_cents":`+c.cents+`,`, `"total_cost_cents":`+c.cents+`,`)
	}
}
