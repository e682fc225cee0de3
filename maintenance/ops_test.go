package maintenance

import (
	"regexp"
	"strings"
	"testing"
)

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
		if got := s.header(table); got != want {
			t.Errorf("%s: %s", table, got)
		}
	}
}

// TestExamplesHaveTheShapesOfAnswers compares the documents' examples with real answers: the same members in the same
// order.
func TestExamplesHaveTheShapesOfAnswers(t *testing.T) {
	s := open(t)
	s.small()
	s.reads("20", "") // so that the lathe has use to project
	calls := map[string]func() (string, error){
		"list_workorders":  func() (string, error) { return s.call("list_workorders", `{"status":"done"}`) },
		"workorder_detail": func() (string, error) { return s.call("workorder_detail", `{"id":1}`) },
		"record_meter":     func() (string, error) { return s.call("record_meter", `{"asset_id":1,"reading":21}`) },
		"GET /api/assets":  func() (string, error) { return s.get("GET /api/assets", "") },
		"GET /api/parts":   func() (string, error) { return s.get("GET /api/parts", "") },
		"GET /api/pm-due":  func() (string, error) { return s.get("GET /api/pm-due", "") },
	}
	// the fixture has no check list, and no plan became due
	const steps = `"step":"text":"done":"pm_id":"title":"due_status":`
	for name, call := range calls {
		answer, err := call()
		s.Must(err)
		example := asJSON(t, s.op(name).Response)
		for _, member := range members.FindAllString(answer, -1) {
			if !strings.Contains(example, member) {
				t.Errorf("%s answers %s, which its example lacks", name, member)
			}
		}
		for _, member := range members.FindAllString(example, -1) {
			if !strings.Contains(answer, member) && name != "workorder_detail" && !strings.Contains(steps, member) {
				t.Errorf("%s shows %s in its example, and does not answer it", name, member)
			}
		}
	}
}

var members = regexp.MustCompile(`"[a-z_]+":`)
