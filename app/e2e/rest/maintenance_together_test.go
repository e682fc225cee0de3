package rest

import (
	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"strings"
	"testing"
)

// TestMaintenanceTogether plays a workshop's day with several jobs, plans and meters at once, at the command line and
// as an agent.
func TestMaintenanceTogether(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	w.MustTool("create_workorder", `{"asset":"lathe","description":"Loud","assigned_to":"Ana","new_person":true}`)
	w.MustTool("create_workorder", `{"asset":"VAN-1","description":"Service","plan":"VAN-1/Service"}`)
	w.ToolRefused("create_workorder", `{"asset_id":1,"description":"x","assigned_to":"Anna"}`, "nobody here is called", "Ana", "new_person")
	w.ToolRefused("create_workorder", `{"asset":"VAN-1","description":"Again","plan":"Service"}`, "Job 2 is open", "again true")
	w.Says("the due list names the job", w.MustTool("pm_due", `{}`), `"open_job":2`)
	w.Refuses(1, []string{"1 of 1 plans were refused"}, "open-due", "VAN-1/Service")
	w.Says("opened", w.Run("open-due", "LATHE-1/Oil", "--assigned-to", "Ana", "--due-date", "2026-12-01"), "3: Lathe, Oil")

	updated := w.MustTool("update_workorder", `{"id":"#1","add_labor_minutes":30,"part":"ball bearing","qty":2,"priority":"high","assigned_to":"ana"}`)
	w.Says("one call", updated, `"labor_minutes":30`, `"parts_cost_cents":850`, `"priority":"high"`, `"assigned_to":"Ana"`)
	w.Says("given back", w.MustTool("update_workorder", `{"id":1,"return_part":"6204-2RS","return_qty":1,"add_labor_minutes":"15"}`), `"labor_minutes":45`, `"parts_cost_cents":425`)
	w.ToolRefused("update_workorder", `{"id":1,"part":"6204-2RS","qty":99,"description":"other"}`, "99")
	w.ToolRefused("update_workorder", `{"id":1,"status":"done"}`, `"status"`, "advance_status takes it")
	w.ToolRefused("update_workorder", `{"id":1,"parts_cost":3}`, `"parts_cost"`, "advance_status takes it")

	w.Run("assign", "1", "3", "--assigned-to", "Ben", "--due-date", "2026-11-25", "--priority", "urgent")
	w.Says("assigned", w.MustGet("/api/work-orders?assigned_to=ben"), `"total":2`, `"due_date":"2026-11-25"`, `"priority":"urgent"`)
	w.Says("finished", w.Run("finish", "1", "3", "--resolution", "Done"), "1: done", "3: done")
	trail := strings.Join(w.Trail(6), "\n")
	assert.Equal(t, strings.Count(trail, "workorder.status"), 4, "an open job that is finished has two moves:\n%s", trail)
	w.Says("recosted", w.Run("labor-rate", "6000")+w.Run("recost"), "1 job costs more: 45.00")
	w.Says("the report", w.MustTool("maintenance_report", `{"by":"person"}`), `"key":"Ben"`, `"total_cost_cents":4925`, `"jobs":2`)
}

// TestCorrectedReadings: a correction replaces a mistyped last reading, a replaced meter keeps the use since the last
// service, and an implausible reading warns the agent with its consequences.
func TestCorrectedReadings(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	w.MustTool("record_meter", `{"asset":"LATHE-1","reading":1010,"read_date":"2026-11-19"}`)
	logged := w.MustTool("record_meter", `{"asset":"LATHE-1","reading":10200}`)
	w.Says("what follows", logged, `"warning":"hours went up by 9190 h`, "correct-reading", `"became_due":[{"due_status":"overdue","pm_id":1,"title":"Oil"}]`)
	w.Run("correct-reading", "LATHE-1", "1020")
	w.Says("the line goes on", w.MustGet("/api/assets"), `"reading":1020`, `"avg_per_day":2`)
	w.IsDue("put right", 1, map[string]any{"baseline_reading": 1000, "usage_remaining": 480, "due_status": "ok"})
	w.Run("replace-meter", "LATHE-1", "--last-reading", "1100", "--reading", "5000")
	w.IsDue("replaced", 1, map[string]any{"usage_remaining": 400})
	w.Run("assets", "rename", "LATHE-1", "--name", "Old lathe", "--code", "LATHE-9")
	w.Refuses(1, []string{"VAN-1", "in use"}, "assets", "rename", "LATHE-9", "--code", "VAN-1")
	w.Says("renamed", w.MustTool("list_assets", `{"q":"lathe-9"}`), `"name":"Old lathe"`)
	w.Says("near", w.MustTool("list_assets", `{"q":"lathes 9"}`), `"near":["LATHE-9 (Old lathe)"`)
}
