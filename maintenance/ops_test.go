package maintenance

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
)

// TestSurface compares the routes and the tools, with their arguments, with the contract.
func TestSurface(t *testing.T) {
	s := open(t)
	var routes, tools []string
	for _, op := range s.Declare().Ops {
		list := func(surface schema.Surface) string {
			var names []string
			for _, a := range op.Args(surface) {
				names = append(names, a.Name)
			}
			return strings.Join(names, " ")
		}
		kind := "reads"
		if op.Writes {
			kind = "writes"
		}
		if op.Route != "" {
			routes = append(routes, op.Route+" "+kind+": "+list(schema.REST))
		}
		if op.Tool != "" {
			tools = append(tools, op.Tool+" "+kind+": "+list(schema.Tool))
		}
		if op.About == "" || op.Response == nil {
			t.Errorf("%s%s says too little", op.Route, op.Tool)
		}
	}
	slices.Sort(tools)
	wantRoutes := []string{
		"GET /api/work-orders reads: status priority asset_id assigned_to overdue q limit after",
		"POST /api/work-orders writes: asset_id description priority wo_type assigned_to labor_minutes parts_cost downtime_minutes due_date pm_id checklist",
		"GET /api/work-orders/:id reads: id",
		"PATCH /api/work-orders/:id writes: id description priority wo_type assigned_to labor_minutes parts_cost downtime_minutes due_date requester_email",
		"POST /api/work-orders/:id/status writes: id status resolution skip_steps assigned_to labor_minutes parts_cost downtime_minutes",
		"GET /api/assets reads: status limit after",
		"POST /api/assets/:id/readings writes: asset_id meter reading read_date correction",
		"GET /api/pm-due reads: status",
		"GET /api/parts reads: limit after",
	}
	wantTools := []string{
		"advance_status writes: id status resolution skip_steps assigned_to labor_minutes parts_cost downtime_minutes new_person request_key",
		"create_workorder writes: asset_id asset description priority wo_type assigned_to labor_minutes parts_cost downtime_minutes due_date pm_id plan checklist again new_person request_key",
		"list_assets reads: status q sort limit after detail",
		"list_parts reads: low_stock q sort limit after detail",
		"list_workorders reads: status priority asset_id asset assigned_to overdue q from to sort limit after detail",
		"maintenance_report reads: by from to asset_id asset sort limit after detail",
		"pm_due reads: overdue_only from to sort limit after detail",
		"record_meter writes: asset_id asset meter reading read_date request_key",
		"update_workorder writes: id description priority assigned_to labor_minutes downtime_minutes due_date new_person add_labor_minutes qty return_qty part return_part tick request_key",
		"workorder_detail reads: id",
	}
	if !slices.Equal(routes, wantRoutes) {
		t.Errorf("routes\n%s", strings.Join(routes, "\n"))
	}
	if !slices.Equal(tools, wantTools) {
		t.Errorf("tools\n%s", strings.Join(tools, "\n"))
	}
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

func TestReadingArguments(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	const route = "POST /api/assets/:id/readings"
	for _, c := range []struct{ body, part string }{
		{`{}`, "reading"}, {`{"reading":"110"}`, "number"}, {`{"reading":110.0001}`, "at most 3"}, {`{"reading":-1}`, "from 0"},
		{`{"reading":1e400}`, "reading"}, {`{"reading":110,"read_date":"2026-02-29"}`, "calendar"}, {`{"reading":110,"read_date":"20.11.2026"}`, "YYYY-MM-DD"},
		{`{"reading":110,"correction":"yes"}`, "true or false"}, {`{"reading":110,"correction":1}`, "true or false"},
		{`{"reading":110,"value":1}`, "value"}, {`{"reading":null}`, "null"}, {`{"reading":110,"meter":{"id":1}}`, "name or an id"},
	} {
		s.rejected(c.part, func() error { _, err := s.post(route, "1", c.body); return err })
	}
	for _, id := range []string{"0", "-1", "x", "1.5", "99"} {
		s.untouched(fault.NotFound, "", func() error { _, err := s.post(route, id, `{"reading":110}`); return err })
	}
	for _, c := range []struct{ args, part string }{
		{`{"asset_id":1,"reading":110,"correction":true}`, `unknown argument "correction"`},
		{`{"reading":110}`, "asset_id"}, {`{"asset_id":1}`, "reading"}, {`{"asset_id":[1],"reading":110}`, "nested"},
		{`{"asset_id":1,"reading":99}`, "100"}, {`{"asset_id":7,"reading":99}`, "asset 7"},
	} {
		s.rejected(c.part, func() error { _, err := s.call("record_meter", c.args); return err })
	}
	for _, body := range []string{`{"reading":110,"meter":"hours"}`, `{"reading":110.0,"meter":1,"read_date":"2026-11-19"}`, `{"reading":1.1e2,"meter":"1","correction":false}`, `{"reading":9,"correction":true}`} {
		if _, err := s.post(route, "1", body); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
	got, err := s.post(route, "1", `{"reading":12.5}`)
	s.Must(err)
	const want = `{"warning":null,"asset_id":1,"meter":{"id":1,"name":"hours","unit":"h","reading":12.5,"read_date":"2026-11-20","avg_per_day":null},` +
		`"previous_reading":9,"accepted":true,"moved":true,"correction":false}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// FuzzReading posts anything as a reading: it is accepted or refused, and doctor finds nothing.
func FuzzReading(f *testing.F) {
	for _, seed := range []string{`{"reading":110}`, `{"reading":0,"correction":true}`, `{"reading":1e12,"meter":"1"}`, `{"reading":100,"read_date":"0001-01-01"}`, `{"reading":1e12,"read_date":"1970-01-01","correction":true}`} {
		f.Add(seed)
	}
	s := open(f)
	s.lathe("100", "2026-11-01")
	s.rows("pm-plans", "asset_tag,title,interval_usage,interval_days", "L-1|Oil|250|30")
	op := s.op("POST /api/assets/:id/readings")
	f.Fuzz(func(t *testing.T, body string) {
		s.T = t
		defer func() { s.T = f }()
		v, err := strict.Parse([]byte(body), strict.MaxDepth)
		if err != nil || v.Kind() != strict.Object {
			return
		}
		if _, err := s.answer(op, schema.Input{Path: func(string) string { return "1" }, Body: v, HasBody: true}); err != nil {
			if _, is := fault.As(err); !is {
				t.Errorf("%s: %v", body, err)
			}
		}
		if _, err := s.get("GET /api/pm-due", ""); err != nil {
			t.Errorf("after %s: %v", body, err)
		}
		if breaches := s.doctor(); len(breaches) > 0 {
			t.Errorf("after %s: %v", body, breaches)
		}
	})
}
