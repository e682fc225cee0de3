package app_test

import (
	"strings"
	"testing"
)

// TestMaintenanceTogether plays a workshop's day with several jobs, plans and meters at once, at the command line and
// as an agent.
func TestMaintenanceTogether(t *testing.T) {
	t.Parallel()
	w := newMaintenance(t)
	w.tool("create_workorder", `{"asset":"lathe","description":"Loud","assigned_to":"Ana","new_person":true}`)
	w.tool("create_workorder", `{"asset":"VAN-1","description":"Service","plan":"VAN-1/Service"}`)
	w.toolRefused("create_workorder", `{"asset_id":1,"description":"x","assigned_to":"Anna"}`, "nobody here is called", "Ana", "new_person")
	w.toolRefused("create_workorder", `{"asset":"VAN-1","description":"Again","plan":"Service"}`, "Job 2 is open", "again true")
	w.says("the due list names the job", w.tool("pm_due", `{}`), `"open_job":2`)
	w.refuses(1, []string{"1 of 1 plans were refused"}, "open-due", "VAN-1/Service")
	w.says("opened", w.cli("open-due", "LATHE-1/Oil", "--assigned-to", "Ana", "--due-date", "2026-12-01"), "3: Lathe, Oil")

	updated := w.tool("update_workorder", `{"id":"#1","add_labor_minutes":30,"part":"ball bearing","qty":2,"priority":"high","assigned_to":"ana"}`)
	w.says("one call", updated, `"labor_minutes":30`, `"parts_cost_cents":850`, `"priority":"high"`, `"assigned_to":"Ana"`)
	w.says("given back", w.tool("update_workorder", `{"id":1,"return_part":"6204-2RS","return_qty":1,"add_labor_minutes":"15"}`), `"labor_minutes":45`, `"parts_cost_cents":425`)
	w.toolRefused("update_workorder", `{"id":1,"part":"6204-2RS","qty":99,"description":"other"}`, "99")
	w.toolRefused("update_workorder", `{"id":1,"status":"done"}`, `"status"`, "advance_status takes it")
	w.toolRefused("update_workorder", `{"id":1,"parts_cost":3}`, `"parts_cost"`, "advance_status takes it")

	w.cli("assign", "1", "3", "--assigned-to", "Ben", "--due-date", "2026-11-25", "--priority", "urgent")
	w.says("assigned", w.get("/api/work-orders?assigned_to=ben"), `"total":2`, `"due_date":"2026-11-25"`, `"priority":"urgent"`)
	w.says("finished", w.cli("finish", "1", "3", "--resolution", "Done"), "1: done", "3: done")
	trail := strings.Join(w.trail(6), "\n")
	if n := strings.Count(trail, "workorder.status"); n != 4 {
		t.Errorf("an open job that is finished has two moves:\n%s", trail)
	}
	w.says("recosted", w.cli("labor-rate", "6000")+w.cli("recost"), "1 job costs more: 45.00")
	w.says("the report", w.tool("maintenance_report", `{"by":"person"}`), `"key":"Ben"`, `"total_cost_cents":4925`, `"jobs":2`)
}

// TestCorrectedReadings: a correction replaces a mistyped last reading, a replaced meter keeps the use since the last
// service, and an implausible reading warns the agent with its consequences.
func TestCorrectedReadings(t *testing.T) {
	t.Parallel()
	w := newMaintenance(t)
	w.tool("record_meter", `{"asset":"LATHE-1","reading":1010,"read_date":"2026-11-19"}`)
	logged := w.tool("record_meter", `{"asset":"LATHE-1","reading":10200}`)
	w.says("what follows", logged, `"warning":"hours went up by 9190 h`, "correct-reading", `"became_due":[{"due_status":"overdue","pm_id":1,"title":"Oil"}]`)
	w.cli("correct-reading", "LATHE-1", "1020")
	w.says("the line goes on", w.get("/api/assets"), `"reading":1020`, `"avg_per_day":2`)
	w.isDue("put right", 1, map[string]any{"baseline_reading": 1000, "usage_remaining": 480, "due_status": "ok"})
	w.cli("replace-meter", "LATHE-1", "--last-reading", "1100", "--reading", "5000")
	w.isDue("replaced", 1, map[string]any{"usage_remaining": 400})
	w.cli("assets", "rename", "LATHE-1", "--name", "Old lathe", "--code", "LATHE-9")
	w.refuses(1, []string{"VAN-1", "in use"}, "assets", "rename", "LATHE-9", "--code", "VAN-1")
	w.says("renamed", w.tool("list_assets", `{"q":"lathe-9"}`), `"name":"Old lathe"`)
	w.says("near", w.tool("list_assets", `{"q":"lathes 9"}`), `"near":["LATHE-9 (Old lathe)"`)
}
