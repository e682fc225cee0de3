package agents

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

func TestMaintenanceToolsAreListed(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	names := func(key string) (names []string) {
		var list struct {
			Result struct {
				Tools []struct {
					Name        string
					InputSchema struct {
						Properties           map[string]any
						AdditionalProperties *bool
					}
					Annotations struct{ ReadOnlyHint bool }
				}
			}
		}
		w.Do("maintenance", "POST", "/mcp", key, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`).JSON(t, &list)
		for _, tool := range list.Result.Tools {
			kind := "writes"
			if tool.Annotations.ReadOnlyHint {
				kind = "reads"
			}
			names = append(names, tool.Name+" "+kind)
			if _, there := tool.InputSchema.Properties["correction"]; there || tool.InputSchema.AdditionalProperties == nil || *tool.InputSchema.AdditionalProperties {
				t.Errorf("%s takes a correction, or anything: %v", tool.Name, tool.InputSchema)
			}
		}
		slices.Sort(names)
		return names
	}
	// testdata/maintenance/tools.json holds which tools there are.
	all := names(w.Keys["maintenance"])
	reads := slices.DeleteFunc(slices.Clone(all), func(tool string) bool { return strings.HasSuffix(tool, " writes") })
	assert.That(t, len(reads) != 0 && len(reads) != len(all), "a full key sees %v", all)
	assert.EqualSlices(t, names(w.Key("maintenance", "vera", "viewer", "full")), all, "a viewer's full key sees")
	assert.EqualSlices(t, names(w.Key("maintenance", "mia", "member", "read")), reads, "a read-only key sees")
	for _, method := range []string{"GET", "DELETE"} {
		if a := w.Do("maintenance", method, "/mcp", "", ""); a.Status != 405 || a.Header.Get("Allow") != "POST" {
			t.Errorf("%s /mcp: %d, Allow %q", method, a.Status, a.Header.Get("Allow"))
		}
	}
}

func TestAgentsFindWorkOrders(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	for _, body := range []string{
		`{"asset_id":1,"description":"a","priority":"urgent","assigned_to":"Ana","parts_cost":1.25}`,
		`{"asset_id":1,"description":"b","priority":"low","assigned_to":"Ben"}`,
		`{"asset_id":2,"description":"c","priority":"critical","assigned_to":"Ben"}`,
		`{"asset_id":2,"description":"d","assigned_to":"ben"}`,
		`{"asset_id":3,"description":"e"}`,
	} {
		w.Open(body)
	}
	w.Move(3, "in-progress", "")
	w.Close(4)
	for arguments, want := range map[string]string{
		`{}`:                                    "[5 4 3 2 1] of 5",
		`{"limit":2}`:                           "[5 4] of 5",
		`{"status":"open"}`:                     "[5 2 1] of 3",
		`{"status":"in_progress"}`:              "[3] of 1",
		`{"status":"cancelled"}`:                "[] of 0",
		`{"priority":"urgent"}`:                 "[3 1] of 2",
		`{"priority":"critical"}`:               "[3 1] of 2",
		`{"priority":"URGENT","status":"open"}`: "[1] of 1",
		`{"asset_id":2}`:                        "[4 3] of 2",
		`{"asset_id":99}`:                       "[] of 0",
		`{"assigned_to":"Ben"}`:                 "[4 3 2] of 3", // ben too: case does not matter
		`{"assigned_to":"BEN","limit":2}`:       "[4 3] of 3",
		`{"assigned_to":"Ben","asset_id":2,"priority":"urgent","status":"in-progress","limit":1}`: "[3] of 1",
		`{"assigned_to":"Ben","limit":1}`: "[4] of 3",
		`{"limit":200}`:                   "[5 4 3 2 1] of 5",
	} {
		var found struct {
			Orders []struct {
				ID    int64
				Total *int64 `json:"total_cost_cents"`
			} `json:"work_orders"`
			Total int64
		}
		w.Into(w.MustTool("list_workorders", arguments), &found)
		ids := []int64{}
		for _, o := range found.Orders {
			ids = append(ids, o.ID)
			assert.That(t, o.Total != nil && (*o.Total == 125) == (o.ID == 1), "%s: order %d without its cost", arguments, o.ID)
		}
		w.Equal(arguments, fmt.Sprintf("%v of %d", ids, found.Total), want)
	}
}

func TestAgentsDoAWholeJob(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	w.Run("labor-rate", "4000")
	made := w.MustTool("create_workorder", `{"asset_id":2,"description":" Service ","priority":"Critical","wo_type":"preventive","assigned_to":"Ana","new_person":true,"labor_minutes":50,"parts_cost":4.5,"downtime_minutes":60,"pm_id":3}`)
	w.Says("made", made, `"id":1`, `"description":"Service"`, `"priority":"urgent"`, `"status":"open"`, `"created_by":"owner"`, `"pm_id":3`, `"labor_cost_cents":3333`, `"total_cost_cents":3783`)
	w.Run("use-part", "1", "OIL", "5.5")
	w.Says("the meter", w.MustTool("record_meter", `{"asset_id":2,"meter":"odometer","reading":64800}`), `"moved":true`, `"previous_reading":50000`, `"warning":null`)
	w.Says("due by use", w.MustTool("pm_due", `{}`), `"due_source":"usage"`, `"usage_remaining":200`, `"due_status":"due-soon"`)
	w.Says("under way", w.MustTool("advance_status", `{"id":1,"status":"in_progress"}`), `"status":"in-progress"`)
	w.Says("done", w.MustTool("advance_status", `{"id":1,"status":"done","resolution":"Oil and filter"}`), `"status":"done"`, `"resolution":"Oil and filter"`, `"completed_at":"2026-11-20T12:00:00Z"`)
	w.IsDue("restarted", 3, map[string]any{"last_done_date": "2026-11-20", "baseline_reading": 64800, "usage_remaining": 15000, "next_due": "2026-11-21", "due_status": "ok"})
	var detail map[string]any
	w.Into(w.MustTool("workorder_detail", `{"id":1}`), &detail)
	for name, want := range map[string]string{
		"cost":   `{"labor_cents":3333,"parts_typed_cents":450,"parts_used_cents":3795,"total_cents":7578}`,
		"parts":  `[{"cost_cents":3795,"name":"Engine oil","part_id":2,"part_number":"OIL","qty":5.5,"unit_cost_cents":690}]`,
		"photos": `[]`,
	} {
		w.Equal(name, apptest.JSONText(detail[name]), want)
		delete(detail, name)
	}
	var order map[string]any
	w.Into(w.MustGet("/api/work-orders/1"), &order)
	w.Equal("the currency", apptest.JSONText(detail["currency"]), `"USD"`)
	delete(detail, "currency")
	w.Equal("the rest is what REST gives", apptest.JSONText(detail), apptest.JSONText(order))
}

func TestAgentsSeeWhatIsOverdue(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	w.Load("pm-plans", "asset_tag,title,interval_days,last_done_date", "BENCH-1,Varnish,30,2026-10-20", "BENCH-1,Level,10,2026-11-11")
	w.MustPost(201, "/api/assets/1/readings", `{"reading":1500}`)
	var rest, agent, all map[string]any
	w.Into(w.MustGet("/api/pm-due?status=overdue"), &rest)
	w.Into(w.MustTool("pm_due", `{"overdue_only":true}`), &agent)
	w.Equal("overdue", apptest.JSONText(w.WholeDue(agent)), apptest.JSONText(rest))
	rows := agent["pm_due"].([]any)
	assert.That(t, len(rows) == 2, "overdue: %v", rows)
	w.Into(w.MustGet("/api/pm-due"), &all)
	for _, arguments := range []string{`{}`, `{"overdue_only":false}`} {
		w.Into(w.MustTool("pm_due", arguments), &agent)
		w.Equal(arguments, apptest.JSONText(w.WholeDue(agent)), apptest.JSONText(all))
	}
}

func TestMaintenanceToolRefusals(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	w.Open(`{"asset_id":1,"description":"Oil"}`)
	for _, c := range []struct{ tool, arguments, words string }{
		{"record_meter", `{"asset_id":1,"reading":900,"correction":true}`, `"correction"|over REST by POST /api/assets/{id}/readings|asset_id, asset, meter, reading, read_date`},
		{"record_meter", `{"asset_id":1,"reading":1100,"correction":false}`, `"correction"`},
		{"record_meter", `{"asset_id":1,"reading":900}`, "900 is below|1000|correction true"},
		{"record_meter", `{"asset_id":1,"reading":{"value":1100}}`, "reading|single"},
		{"record_meter", `{"asset_id":1,"reading":[1100]}`, "reading|single"},
		{"record_meter", `{"asset_id":1,"reading":"1100 h"}`, "reading"},
		{"record_meter", `{"asset_id":1}`, "reading"},
		{"record_meter", `{"reading":1100}`, "asset_id"},
		{"record_meter", `{"asset_id":1,"reading":1100,"read_date":"2026-11-21"}`, "read_date|future|2026-11-20"},
		{"record_meter", `{"asset_id":2,"reading":1100}`, "meter|cooler (3), odometer (2)"},
		{"record_meter", `{"asset_id":9,"reading":1100}`, "no asset 9"},
		{"create_workorder", `{"asset_id":1}`, "description"},
		{"create_workorder", `{"asset_id":1,"description":"x","priority":"asap"}`, `"asap"|low, medium, high, urgent`},
		{"create_workorder", `{"asset_id":1,"description":"x","wo_type":"x"}`, "corrective, preventive"},
		{"create_workorder", `{"asset_id":1,"description":"x","status":"done"}`, `"status"`},
		{"create_workorder", `{"asset_id":1,"description":["x"]}`, "description|single"},
		{"create_workorder", `{"asset_id":4,"description":"x"}`, "retired"},
		{"create_workorder", `{"asset_id":99,"description":"x"}`, "no asset 99"},
		{"create_workorder", `{"asset_id":1,"description":"x","parts_cost":-1}`, "parts_cost"},
		{"create_workorder", `{"asset_id":1,"description":"x","pm_id":2}`, "pm_id|1 (Oil)"},
		{"advance_status", `{"id":1,"status":"closed"}`, `"closed"|open, in-progress, done, cancelled`},
		{"advance_status", `{"id":1,"status":"done","resolution":"x"}`, "open cannot move to done|in-progress, cancelled"},
		{"advance_status", `{"id":1}`, "status"},
		{"advance_status", `{"status":"open"}`, "id"},
		{"advance_status", `{"id":"one","status":"in-progress"}`, "id"},
		{"advance_status", `{"id":9,"status":"in-progress"}`, "no work order 9"},
		{"advance_status", `{"id":1,"status":"in-progress","force":true}`, `"force"|id, status, resolution`},
		{"workorder_detail", `{"id":9}`, "no work order 9"},
		{"workorder_detail", `{}`, "id"},
		{"list_workorders", `{"limit":0}`, "limit|1|200"},
		{"list_workorders", `{"limit":201}`, "limit|200"},
		{"list_workorders", `{"status":"x"}`, "open, in-progress, done, cancelled"},
		{"list_workorders", `{"before":1}`, `"before"|status, priority, asset_id, asset, assigned_to`},
		{"pm_due", `{"overdue_only":"yes"}`, "overdue_only"},
		{"pm_due", `{"page":5}`, `"page"|overdue_only`},
		{"move_status", `{}`, "move_status"},
	} {
		w.ToolRefused(c.tool, c.arguments, strings.Split(c.words, "|")...)
	}
}

// TestToolRefusalsAreResults: a refusal is a result with isError and no structured content, an unknown tool is a
// protocol error. A success has structured content and the same as text, with a list's rows short.
func TestToolRefusalsAreResults(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	call := func(name, arguments string) apptest.Answer {
		return w.Post("maintenance", "/mcp", `{"jsonrpc":"2.0","id":"x-1","method":"tools/call","params":{"name":"`+name+`","arguments":`+arguments+`}}`)
	}
	refused := call("record_meter", `{"asset_id":1,"reading":900}`)
	if refused.Status != 200 || !strings.HasPrefix(refused.Body, `{"jsonrpc":"2.0","id":"x-1","result":{`) || !strings.Contains(refused.Body, `"isError":true`) || strings.Contains(refused.Body, "structuredContent") {
		t.Errorf("refused: %d %s", refused.Status, refused.Body)
	}
	if unknown := call("correct_meter", `{}`); !strings.Contains(unknown.Body, `"code":-32602`) || !strings.Contains(unknown.Body, "correct_meter") {
		t.Errorf("an unknown tool: %d %s", unknown.Status, unknown.Body)
	}
	var good struct {
		Result struct {
			StructuredContent json.RawMessage
			Content           []struct{ Type, Text string }
		}
	}
	call("create_workorder", `{"asset":"LATHE-1","description":"Loud"}`).JSON(t, &good)
	w.Equal("the text of a record", good.Result.Content[0].Text, string(good.Result.StructuredContent))
	call("pm_due", `{}`).JSON(t, &good)
	said := good.Result.Content[0].Text
	call("pm_due", `{"detail":"short"}`).JSON(t, &good)
	w.Equal("the text of a list", said, string(good.Result.StructuredContent))
}
