package maintenance

import (
	"strings"
	"testing"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

func TestOpenWorkOrder(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	_, err := s.SetLaborRate(ctx, cli, 4500)
	s.Must(err)
	got, err := s.post("POST /api/work-orders", "", `{"asset_id":1,"description":"  Spindle is loud ","priority":" CRITICAL ","wo_type":"Preventive",
		"assigned_to":"Ana","labor_minutes":90,"parts_cost":12.5,"downtime_minutes":30}`)
	s.Must(err)
	const want = `{"id":1,"asset_id":1,"asset":"Lathe","description":"Spindle is loud","priority":"urgent","wo_type":"preventive","status":"open",` +
		`"assigned_to":"Ana","labor_minutes":90,"parts_cost":12.5,"downtime_minutes":30,"resolution":null,"pm_id":null,` +
		`"labor_cost_cents":6750,"parts_cost_cents":1250,"total_cost_cents":8000,"created_by":"ana","created_at":"2026-11-20T12:00:00Z",` +
		`"started_at":null,"completed_at":null,"updated_at":"2026-11-20T12:00:00Z","due_date":null,"overdue":false,"checklist":[],"source":"api"}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if one, err := s.get("GET /api/work-orders/:id", "1"); err != nil || one != want {
		t.Errorf("read back: %s %v", one, err)
	}
	if e := s.events(); len(e) != 1 || e[0].Event != "workorder.created" || e[0].Data["total_cost_cents"] != 8000.0 {
		t.Errorf("events %v", e)
	}
	plain, err := s.call("create_workorder", `{"asset_id":1,"description":"x"}`)
	s.Must(err)
	for _, part := range []string{`"priority":"medium"`, `"wo_type":"corrective"`, `"assigned_to":null`, `"parts_cost":0`, `"labor_cost_cents":0`} {
		if !strings.Contains(plain, part) {
			t.Errorf("%s lacks %s", plain, part)
		}
	}
}

func TestOpenGuards(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	s.rows("assets", "asset_tag,name,status", "R-1|Old saw|retired", "B-1|Bench|down")
	s.rows("pm-plans", "asset_tag,title,interval_days", "L-1|Oil|30", "B-1|Bolts|30")
	for _, c := range []struct {
		body string
		kind fault.Kind
		part string
	}{
		{`{"description":"x"}`, fault.Invalid, "asset_id"},
		{`{"asset_id":1}`, fault.Invalid, "description"},
		{`{"asset_id":1,"description":"  "}`, fault.Invalid, "description"},
		{`{"asset_id":1,"description":"x","priority":"asap"}`, fault.Invalid, "low, medium, high, urgent"},
		{`{"asset_id":1,"description":"x","wo_type":"other"}`, fault.Invalid, "corrective, preventive"},
		{`{"asset_id":1,"description":"x","labor_minutes":-1}`, fault.Invalid, "labor_minutes"},
		{`{"asset_id":1,"description":"x","labor_minutes":1.5}`, fault.Invalid, "whole number"},
		{`{"asset_id":1,"description":"x","downtime_minutes":10000001}`, fault.Invalid, "10000000"},
		{`{"asset_id":1,"description":"x","parts_cost":1.234}`, fault.Invalid, "at most 2"},
		{`{"asset_id":1,"description":"x","parts_cost":-0.01}`, fault.Invalid, "parts_cost"},
		{`{"asset_id":1,"description":"x","parts_cost":"12.5 EUR"}`, fault.Invalid, "parts_cost"},
		{`{"asset_id":1,"description":"x","status":"done"}`, fault.Invalid, "status"},
		{`{"asset_id":9,"description":"x"}`, fault.NotFound, "asset 9"},
		{`{"asset_id":9,"description":"x","priority":"asap"}`, fault.Invalid, "priority"},
		{`{"asset_id":2,"description":"x"}`, fault.Invalid, "retired"},
		{`{"asset_id":1,"description":"x","pm_id":2}`, fault.Invalid, "1 (Oil)"},
		{`{"asset_id":1,"description":"x","pm_id":7}`, fault.Invalid, "1 (Oil)"},
		{`{"asset_id":1,"description":"` + strings.Repeat("x", 10_001) + `"}`, fault.Invalid, "at most 10000"},
		{`{"asset_id":1,"description":"x","assigned_to":"` + strings.Repeat("x", 201) + `"}`, fault.Invalid, "at most 200"},
	} {
		s.untouched(c.kind, c.part, func() error { _, err := s.post("POST /api/work-orders", "", c.body); return err })
		s.untouched(c.kind, c.part, func() error { _, err := s.call("create_workorder", c.body); return err })
	}
	// The function itself checks, whoever calls it.
	for _, n := range []WorkOrder{
		{AssetID: 1}, {AssetID: 1, Description: "x", Priority: "asap"}, {AssetID: 1, Description: "x", Type: "other"},
		{AssetID: 1, Description: "x", LaborMinutes: -1}, {AssetID: 1, Description: "x", PartsCost: exact.Decimal{Unscaled: -1, Places: 2}}, {AssetID: 1, Description: "a\x00b"},
		{AssetID: 1, Description: "x", PartsCost: exact.Decimal{Unscaled: maxTyped*100 + 1, Places: 2}}, {AssetID: 1, Description: "x", DowntimeMinutes: maxMinutes + 1},
	} {
		s.untouched(fault.Invalid, "", func() error { _, err := s.OpenWorkOrder(ctx, ana, n); return err })
	}
}

func TestRolesAndScopes(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	viewer := db.Caller{Service: "maintenance", User: "vera", Role: "viewer", Scope: "full", Via: "rest"}
	reader := db.Caller{Service: "maintenance", User: "rita", Role: "admin", Scope: "read", Via: "rest"}
	for _, c := range []struct {
		who  db.Caller
		part string
	}{{viewer, "viewer"}, {reader, "read-only"}} {
		s.untouched(fault.Forbidden, c.part, func() error {
			_, err := s.OpenWorkOrder(ctx, c.who, WorkOrder{AssetID: 1, Description: "x"})
			return err
		})
		s.untouched(fault.Forbidden, c.part, func() error {
			_, err := s.RecordReading(ctx, c.who, NewReading{AssetID: 1, Reading: 200_000})
			return err
		})
		s.untouched(fault.Forbidden, c.part, func() error {
			_, err := s.MoveWorkOrder(ctx, c.who, Move{ID: 1, Status: "cancelled"})
			return err
		})
	}
}
