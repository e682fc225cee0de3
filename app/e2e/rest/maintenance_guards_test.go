package rest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestMaintenanceRefusalsOverREST holds each check: its status, words that name the field and what is allowed, and no
// new row, audit entry or event.
func TestMaintenanceRefusalsOverREST(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	w.Load("work-orders", "asset_tag,description", "LATHE-1,Oil")
	long := strings.Repeat("ä", 10_001)
	order := func(rest string) string { return `{"asset_id":1,"description":"x"` + rest + `}` }
	for _, c := range []struct {
		status     int
		path, body string
		words      string // of each, separated by |
	}{
		{422, "/api/work-orders", `{}`, "asset_id"},
		{422, "/api/work-orders", `{"asset_id":1}`, "description"},
		{422, "/api/work-orders", `{"asset_id":1,"description":"  "}`, "description|empty"},
		{422, "/api/work-orders", `{"asset_id":1,"description":null}`, "description"},
		{422, "/api/work-orders", `{"asset_id":1,"description":"` + long + `"}`, "description|10000"},
		{422, "/api/work-orders", `{"asset_id":1,"description":"a\u0007b"}`, "description"},
		{422, "/api/work-orders", `{"asset_id":"1","description":"x"}`, "asset_id"},
		{422, "/api/work-orders", `{"asset_id":0,"description":"x"}`, "asset_id"},
		{422, "/api/work-orders", `{"asset_id":1.5,"description":"x"}`, "asset_id"},
		{404, "/api/work-orders", `{"asset_id":99,"description":"x"}`, "no asset 99"},
		{422, "/api/work-orders", `{"asset_id":4,"description":"x"}`, "asset_id|Old saw|retired|operational, needs-attention and down"},
		{422, "/api/work-orders", order(`,"priority":"asap"`), `priority|"asap"|low, medium, high, urgent`},
		{422, "/api/work-orders", order(`,"priority":""`), `priority|low, medium, high, urgent`},
		{422, "/api/work-orders", order(`,"priority":3`), "priority"},
		{422, "/api/work-orders", order(`,"wo_type":"inspection"`), `wo_type|"inspection"|corrective, preventive`},
		{422, "/api/work-orders", order(`,"assigned_to":"` + long[:402] + `"`), "assigned_to|200"},
		{422, "/api/work-orders", order(`,"labor_minutes":-1`), "labor_minutes|from 0"},
		{422, "/api/work-orders", order(`,"labor_minutes":1.5`), "labor_minutes"},
		{422, "/api/work-orders", order(`,"labor_minutes":10000001`), "labor_minutes|10000000"},
		{422, "/api/work-orders", order(`,"parts_cost":-0.01`), "parts_cost|0"},
		{422, "/api/work-orders", order(`,"parts_cost":1.005`), "parts_cost|1.005|at most 2"},
		{422, "/api/work-orders", order(`,"parts_cost":"12.50"`), "parts_cost"},
		{422, "/api/work-orders", order(`,"parts_cost":100000000.01`), "parts_cost|100000000"},
		{422, "/api/work-orders", order(`,"downtime_minutes":-1`), "downtime_minutes|from 0"},
		{422, "/api/work-orders", order(`,"pm_id":2`), "pm_id|not a plan of asset 1|1 (Oil)"},
		{422, "/api/work-orders", `{"asset_id":3,"description":"x","pm_id":1}`, "pm_id|not a plan of asset 3|none"},
		{422, "/api/work-orders", order(`,"status":"done"`), "status"},
		{422, "/api/work-orders", order(`,"total_cost_cents":1`), "total_cost_cents"},
		{400, "/api/work-orders", `{"asset_id":1,"asset_id":2,"description":"x"}`, "asset_id"},
		{400, "/api/work-orders", `[]`, "object"},
		{422, "/api/work-orders/1/status", `{}`, "status"},
		{422, "/api/work-orders/1/status", `{"status":"closed"}`, `"closed"|open, in-progress, done, cancelled`},
		{422, "/api/work-orders/1/status", `{"status":"in-progress","note":"x"}`, "note"},
		{422, "/api/work-orders/1/status", `{"status":"in-progress","resolution":"` + long + `"}`, "resolution|10000"},
		{404, "/api/work-orders/2/status", `{"status":"in-progress"}`, "no work order 2"},
		{404, "/api/work-orders/x/status", `{"status":"in-progress"}`, ""},
		{404, "/api/work-orders/0/status", `{"status":"in-progress"}`, ""},
		{404, "/api/work-orders/-1/status", `{"status":"in-progress"}`, ""},
		{404, "/api/work-orders/99999999999999999999/status", `{"status":"in-progress"}`, ""},
		{422, "/api/assets/1/readings", `{}`, "reading"},
		{422, "/api/assets/1/readings", `{"reading":"1200"}`, "reading"},
		{422, "/api/assets/1/readings", `{"reading":null}`, "reading"},
		{422, "/api/assets/1/readings", `{"reading":-1}`, "reading|from 0"},
		{422, "/api/assets/1/readings", `{"reading":-1,"correction":true}`, "reading|from 0"},
		{422, "/api/assets/1/readings", `{"reading":1200.0001}`, "reading|1200.0001|at most 3"},
		{422, "/api/assets/1/readings", `{"reading":1000000000001}`, "reading|1000000000000"},
		{422, "/api/assets/1/readings", `{"reading":1e400}`, "reading"},
		{400, "/api/assets/1/readings", `{"reading":NaN}`, ""},
		{422, "/api/assets/1/readings", `{"reading":1200,"read_date":"2026-11-21"}`, "read_date|2026-11-21 is in the future|today, 2026-11-20"},
		{422, "/api/assets/1/readings", `{"reading":1200,"read_date":"2026-02-29"}`, "read_date|2026-02-29"},
		{422, "/api/assets/1/readings", `{"reading":1200,"read_date":"20.11.2026"}`, "read_date|YYYY-MM-DD"},
		{422, "/api/assets/1/readings", `{"reading":1200,"read_date":20261120}`, "read_date"},
		{422, "/api/assets/1/readings", `{"reading":1200,"correction":"yes"}`, "correction"},
		{422, "/api/assets/1/readings", `{"reading":1200,"meter":"odometer"}`, `meter|"odometer"|Lathe|hours (1)`},
		{422, "/api/assets/2/readings", `{"reading":60000}`, "meter|Van 1|cooler (3), odometer (2)"},
		{422, "/api/assets/2/readings", `{"reading":60000,"meter":1}`, "meter|cooler (3), odometer (2)"},
		{422, "/api/assets/3/readings", `{"reading":1}`, "meter|Bench|no meter"},
		{404, "/api/assets/99/readings", `{"reading":1}`, "no asset 99"},
		{404, "/api/assets/lathe/readings", `{"reading":1}`, ""},
		{409, "/api/assets/1/readings", `{"reading":999.999}`, "999.999|1000|hours|correction true"},
		{409, "/api/assets/1/readings", `{"reading":0,"correction":false}`, "1000 or more"},
	} {
		w.Refused(c.status, c.path, c.body, strings.Split(c.words, "|")...)
	}
}

func TestMaintenanceQueriesAreRefused(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	for path, words := range map[string]string{
		"/api/work-orders?status=closed":   `"closed"|open, in-progress, done, cancelled`,
		"/api/work-orders?status=":         "open, in-progress, done, cancelled",
		"/api/work-orders?limit=0":         "limit",
		"/api/work-orders?priority=hi":     "priority",
		"/api/assets?status=broken":        "operational, needs-attention, down, retired",
		"/api/assets?limit=0":              "limit|1",
		"/api/assets?after=x":              "after",
		"/api/parts?limit=-1":              "limit",
		"/api/parts?low_stock=1":           "low_stock",
		"/api/pm-due?status=due":           "overdue, due-soon, ok",
		"/api/pm-due?overdue_only=true":    "overdue_only",
		"/api/work-orders/1?status=done":   "status",
		"/api/pm-due?status=ok&status=ok":  "status",
		"/api/assets?limit=99999999999999": "",
	} {
		a := w.Get("maintenance", path)
		detail, _ := a.Map(t)["detail"].(string)
		if words == "" { // above the maximum the maximum applies
			assert.That(t, a.Status == 200, "%s: %d %s", path, a.Status, a.Body)
			continue
		}
		assert.That(t, a.Status == 422 && a.Map(t)["error"] == "validation", "%s: %d %s", path, a.Status, a.Body)
		w.Says(path, detail, strings.Split(words, "|")...)
	}
	for _, path := range []string{"/api/work-orders/1", "/api/work-orders/0", "/api/work-orders/-1", "/api/work-orders/x", "/api/work-orders/1.0", "/api/work-orders/99999999999999999999",
		"/api/workorders", "/api/assets/1", "/api/pm-due/1", "/api/photos/1"} {
		a := w.Get("maintenance", path)
		assert.That(t, a.Status == 404 && a.Map(t)["error"] == "not_found", "%s: %d %s", path, a.Status, a.Body)
	}
	for path, allow := range map[string]string{"/api/work-orders": "GET, POST", "/api/work-orders/1": "GET", "/api/work-orders/1/status": "POST", "/api/assets": "GET",
		"/api/assets/1/readings": "POST", "/api/pm-due": "GET", "/api/parts": "GET"} {
		a := w.Do("maintenance", "DELETE", path, w.Keys["maintenance"], "")
		for _, method := range strings.Split(allow, ", ") {
			if a.Status != 405 || !strings.Contains(a.Header.Get("Allow"), method) || strings.Contains(a.Header.Get("Allow"), "DELETE") {
				t.Errorf("DELETE %s: %d, Allow %q", path, a.Status, a.Header.Get("Allow"))
			}
		}
	}
}

// TestRolesApplyOverEveryInterface: a viewer and a read-only key write nothing, a member does, over REST and as an
// agent, and the answer says why. TestOperationPermissions covers the rest.
func TestRolesApplyOverEveryInterface(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	id := w.Open(`{"asset_id":1,"description":"Oil"}`)
	viewer, reader, member := w.Key("maintenance", "vera", "viewer", "full"), w.Key("maintenance", "mia", "member", "read"), w.Key("maintenance", "mo", "member", "full")
	writes := []struct{ path, body, tool, arguments string }{
		{"/api/work-orders", `{"asset_id":1,"description":"x"}`, "create_workorder", `{"asset_id":1,"description":"x"}`},
		{fmt.Sprintf("/api/work-orders/%d/status", id), `{"status":"in-progress"}`, "advance_status", fmt.Sprintf(`{"id":%d,"status":"cancelled"}`, id)},
		{"/api/assets/1/readings", `{"reading":1100}`, "record_meter", `{"asset_id":1,"reading":1100}`},
	}
	for _, c := range writes {
		for key, words := range map[string][]string{viewer: {"vera", "role viewer", "member or admin"}, reader: {"read-only", "full"}} {
			before := apptest.SnapshotOf(t, w.Fixture)
			a := w.Do("maintenance", "POST", c.path, key, c.body)
			detail, _ := a.Map(t)["detail"].(string)
			assert.That(t, a.Status == 403 && a.Map(t)["error"] == "forbidden", "%s: %d %s", c.path, a.Status, a.Body)
			w.Says(c.path, detail, words...)
			_, refusal := w.ToolAs("maintenance", key, c.tool, c.arguments)
			w.Says(c.tool, refusal, append(words, c.tool)...)
			before.Check(c.path)
		}
		a := w.Do("maintenance", "POST", c.path, member, c.body)
		assert.That(t, a.Status < 300, "a member, %s: %d %s", c.path, a.Status, a.Body)
		_, refusal := w.ToolAs("maintenance", member, c.tool, c.arguments)
		assert.That(t, refusal == "", "a member, %s: %s", c.tool, refusal)
	}
	for _, key := range []string{viewer, reader} {
		for _, path := range []string{"/api/work-orders", "/api/work-orders/1", "/api/assets", "/api/parts", "/api/pm-due"} {
			assert.Equal(t, w.Do("maintenance", "GET", path, key, "").Status, 200, "%s", path)
		}
		for tool, arguments := range map[string]string{"list_workorders": `{}`, "workorder_detail": `{"id":1}`, "pm_due": `{}`} {
			_, refusal := w.ToolAs("maintenance", key, tool, arguments)
			assert.That(t, refusal == "", "%s: %s", tool, refusal)
		}
	}
}

// TestReadingsAreKeptToTheThousandth posts numbers that floating point gets wrong.
func TestReadingsAreKeptToTheThousandth(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	post := func(n string) apptest.Answer {
		return w.Post("maintenance", "/api/assets/1/readings", `{"reading":`+n+`}`)
	}
	for _, c := range [][2]string{
		{"1000.001", "1000.001"}, {"1000.1", "1000.1"}, {"1000.10", "1000.1"}, {"1.0002e3", "1000.2"}, {"1000.3", "1000.3"},
		{"9007199254.993", "9007199254.993"}, {"999999999999.999", "999999999999.999"}, {"1000000000000", "1000000000000"},
	} {
		a := post(c[0])
		if a.Status != 201 || !strings.Contains(a.Body, `"reading":`+c[1]+`,`) {
			t.Errorf("%s: %d %s", c[0], a.Status, a.Body)
		}
	}
	a := post(fmt.Sprint(math.Nextafter(1e12, 0)))
	assert.That(t, a.Status == 422 || a.Status == 409, "one less: %d %s", a.Status, a.Body)
}
