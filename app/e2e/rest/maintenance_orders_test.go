package rest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

func TestWorkOrdersAreOpenedOverREST(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	w.Run("labor-rate", "5400")
	mo := w.Key("maintenance", "mo", "member", "full")
	w.Equal("with what is needed", w.MustPost(201, "/api/work-orders", `{"asset_id":1,"description":"  Spindle is loud\n"}`),
		`{"id":1,"asset_id":1,"asset":"Lathe","description":"Spindle is loud","priority":"medium","wo_type":"corrective","status":"open","assigned_to":null,`+
			`"labor_minutes":0,"parts_cost":0,"downtime_minutes":0,"resolution":null,"pm_id":null,"labor_cost_cents":0,"parts_cost_cents":0,"total_cost_cents":0,`+
			`"created_by":"owner","created_at":"2026-11-20T12:00:00Z","started_at":null,"completed_at":null,"updated_at":"2026-11-20T12:00:00Z",`+
			`"due_date":null,"overdue":false,"checklist":[],"source":"api"}`)
	const all = `{"id":2,"asset_id":2,"asset":"Van 1","description":"Brakes","priority":"urgent","wo_type":"preventive","status":"open","assigned_to":"Ana",` +
		`"labor_minutes":95,"parts_cost":12.5,"downtime_minutes":30,"resolution":null,"pm_id":2,"labor_cost_cents":8550,"parts_cost_cents":1250,"total_cost_cents":9800,` +
		`"created_by":"mo","created_at":"2026-11-20T12:00:00Z","started_at":null,"completed_at":null,"updated_at":"2026-11-20T12:00:00Z",` +
		`"due_date":null,"overdue":false,"checklist":[],"source":"api"}`
	a := w.Do("maintenance", "POST", "/api/work-orders", mo, `{"asset_id":2,"description":"Brakes","priority":" Critical ","wo_type":"PREVENTIVE","assigned_to":" Ana ",`+
		`"labor_minutes":95,"parts_cost":12.50,"downtime_minutes":30,"pm_id":2}`)
	assert.That(t, a.Status == 201 && a.Body == all, "with everything: %d\n got %s\nwant %s", a.Status, a.Body, all)
	w.Equal("read again", w.MustGet("/api/work-orders/2"), all)
	w.Equal("in the list", w.MustGet("/api/work-orders?status=open"), `{"work_orders":[`+all+`,`+w.MustGet("/api/work-orders/1")+`],"next":null,"total":2}`)
	w.Equal("none of them", w.MustGet("/api/work-orders?status=in_progress"), `{"work_orders":[],"next":null,"total":0}`)
	for priority, want := range map[string]string{"low": "low", "MEDIUM": "medium", "High": "high", "urgent": "urgent", "critical": "urgent"} {
		w.Says(priority, w.MustPost(201, "/api/work-orders", `{"asset_id":3,"description":"x","priority":"`+priority+`"}`), `"priority":"`+want+`"`)
	}
	for _, cost := range []string{"0", "0.01", "99999999.99", "100000000", "1e2"} {
		w.MustPost(201, "/api/work-orders", `{"asset_id":3,"description":"x","parts_cost":`+cost+`}`)
	}
}

func TestTheNewest200WorkOrders(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	rows := make([]string, 403)
	for i := range rows {
		rows[i] = fmt.Sprintf("LATHE-1,Job %d,%s", i+1, []string{"open", "cancelled"}[i%2])
	}
	w.Load("work-orders", "asset_tag,description,status", rows...)
	ids := func(path string) (ids []int64) {
		var list struct {
			Orders []struct{ ID int64 } `json:"work_orders"`
		}
		w.Into(w.MustGet(path), &list)
		for _, o := range list.Orders {
			ids = append(ids, o.ID)
		}
		return ids
	}
	for path, want := range map[string][3]int64{ // the count, the first, the last
		"/api/work-orders":                    {200, 403, 204},
		"/api/work-orders?status=open":        {200, 403, 5},
		"/api/work-orders?status=cancelled":   {200, 402, 4},
		"/api/work-orders?status=in-progress": {},
	} {
		got := ids(path)
		for i := 1; i < len(got); i++ {
			assert.Must(t, got[i] < got[i-1], "%s: not the newest first: %v", path, got)
		}
		assert.That(t, int64(len(got)) == want[0] && (len(got) == 0 || got[0] == want[1] && got[len(got)-1] == want[2]),
			"%s: %d orders, %v", path, len(got), got)
	}
	w.Says("the agents' total", w.MustTool("list_workorders", `{"status":"open","limit":1}`), `"total":202`)
}

// TestMovesKeepTheirTimes moves an order through every state over REST.
func TestMovesKeepTheirTimes(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	id := w.Open(`{"asset_id":1,"description":"Oil"}`)
	later := func(hours int) { w.Clock.Set(apptest.Noon.Add(time.Duration(hours) * time.Hour)) }
	for i, step := range []struct{ status, resolution, want string }{
		{"in_progress", " looked at it ", `"status":"in-progress","assigned_to":null,"labor_minutes":0,"parts_cost":0,"downtime_minutes":0,"resolution":"looked at it"|` +
			`"created_at":"2026-11-20T12:00:00Z","started_at":"2026-11-20T13:00:00Z","completed_at":null,"updated_at":"2026-11-20T13:00:00Z"`},
		{"DONE", "oil changed", `"status":"done"|"resolution":"oil changed"|"started_at":"2026-11-20T13:00:00Z","completed_at":"2026-11-20T14:00:00Z","updated_at":"2026-11-20T14:00:00Z"`},
		{"open", "", `"status":"open"|"resolution":"oil changed"|"started_at":"2026-11-20T13:00:00Z","completed_at":null,"updated_at":"2026-11-20T15:00:00Z"`},
		{"in-progress", "", `"status":"in-progress"|"resolution":"oil changed"|"started_at":"2026-11-20T13:00:00Z"`},
		{"done", "and the filter", `"resolution":"and the filter"|"completed_at":"2026-11-20T17:00:00Z"`},
		{"open", "it leaks", `"resolution":"it leaks"|"completed_at":null`},
		{"cancelled", "", `"status":"cancelled"|"resolution":"it leaks"|"completed_at":null`},
	} {
		later(i + 1)
		got := w.Move(id, step.status, step.resolution)
		w.Says(step.status, got, strings.Split(step.want, "|")...)
		w.Equal("read again", w.MustGet(fmt.Sprintf("/api/work-orders/%d", id)), got)
	}
	w.Refused(422, fmt.Sprintf("/api/work-orders/%d/status", id), `{"status":"open"}`, "cancelled is final", "no move is allowed")
}

// inState opens a work order and moves it to a state.
func inState(w apptest.Maintenance, status string) int64 {
	w.T.Helper()
	id := w.Open(`{"asset_id":1,"description":"Oil"}`)
	switch status {
	case "in-progress", "cancelled":
		w.Move(id, status, "")
	case "done":
		w.Close(id)
	}
	return id
}

// TestEveryMoveOverEveryInterface tries all sixteen moves over REST, as an agent, by the bulk command and by CSV. One
// state machine answers them all, in the same words.
func TestEveryMoveOverEveryInterface(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	allowed := map[string]string{"open": "in-progress, cancelled", "in-progress": "done, cancelled", "done": "open", "cancelled": ""}
	ways := map[string]func(id int64, to string) (refusal string){
		"rest": func(id int64, to string) string {
			a := w.Post("maintenance", fmt.Sprintf("/api/work-orders/%d/status", id), `{"status":"`+to+`","resolution":"Done"}`)
			assert.That(t, a.Status == 200 || a.Status == 422, "%d to %s: %d %s", id, to, a.Status, a.Body)
			detail, _ := a.Map(t)["detail"].(string)
			return detail
		},
		"mcp": func(id int64, to string) string {
			_, refusal := w.Tool("maintenance", "advance_status", fmt.Sprintf(`{"id":%d,"status":%q,"resolution":"Done"}`, id, to))
			return refusal
		},
		"cli": func(id int64, to string) string {
			_, _, errs := w.CLI("maintenance", "move", to, fmt.Sprint(id), "--resolution", "Done")
			refusal, _, _ := strings.Cut(strings.TrimPrefix(errs, fmt.Sprintf("work order %d: ", id)), "\n")
			return refusal
		},
		"csv": func(id int64, to string) string {
			_, _, errs := w.Rows("work-orders", "id,status,resolution", fmt.Sprintf("%d,%s,Done", id, to))
			refusal, _, _ := strings.Cut(strings.TrimPrefix(errs, "line 2: "), "\n")
			return refusal
		},
	}
	for from, next := range allowed {
		for to := range allowed {
			for way, try := range ways {
				if way == "csv" && from == to {
					continue // the row equals the stored one
				}
				id := inState(w, from)
				before := apptest.SnapshotOf(t, w.Fixture)
				refusal := try(id, to)
				name := fmt.Sprintf("%s to %s by %s", from, to, way)
				var now struct{ Status string }
				w.Into(w.MustGet(fmt.Sprintf("/api/work-orders/%d", id)), &now)
				if strings.Contains(next, to) {
					assert.That(t, refusal == "" && now.Status == to, "%s: %s, %q", name, now.Status, refusal)
					continue
				}
				want := "status: a work order that is " + from + " cannot move to " + to + "; allowed from " + from + ": " + next
				if from == "cancelled" {
					want = "status: a work order that is cancelled cannot move to " + to + ": cancelled is final, no move is allowed from it"
				}
				w.Equal(name, refusal, want)
				before.Check(name)
			}
		}
	}
}

// TestDoneNeedsAResolutionOverEveryInterface: in the same request, and more than spaces.
func TestDoneNeedsAResolutionOverEveryInterface(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	id := w.Open(`{"asset_id":1,"description":"Oil"}`)
	w.Move(id, "in-progress", "a first word, which does not count for done")
	path := fmt.Sprintf("/api/work-orders/%d/status", id)
	for _, body := range []string{`{"status":"done"}`, `{"status":"done","resolution":""}`, `{"status":"done","resolution":" \n\t"}`} {
		w.Refused(422, path, body, "resolution is missing", "done only with a resolution")
	}
	w.ToolRefused("advance_status", fmt.Sprintf(`{"id":%d,"status":"done"}`, id), "resolution is missing", "done only with a resolution")
	w.ToolRefused("advance_status", fmt.Sprintf(`{"id":%d,"status":"done","resolution":" "}`, id), "resolution is missing")
	w.Refuses(1, []string{fmt.Sprintf("work order %d: resolution is missing", id)}, "move", "done", fmt.Sprint(id))
	before := apptest.SnapshotOf(t, w.Fixture)
	_, _, errs := w.Rows("work-orders", "id,status", fmt.Sprintf("%d,done", id))
	w.Says("the row", errs, "line 2: resolution is missing")
	before.Check("the row")
	// a field is checked before the record
	w.Refused(422, "/api/work-orders/99/status", `{"status":"done"}`, "resolution is missing")
	w.Refused(404, "/api/work-orders/99/status", `{"status":"done","resolution":"x"}`, "no work order 99")
}
