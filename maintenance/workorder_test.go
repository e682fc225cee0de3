package maintenance

import (
	"fmt"
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
	s.must(err)
	got, err := s.post("POST /api/work-orders", "", `{"asset_id":1,"description":"  Spindle is loud ","priority":" CRITICAL ","wo_type":"Preventive",
		"assigned_to":"Ana","labor_minutes":90,"parts_cost":12.5,"downtime_minutes":30}`)
	s.must(err)
	const want = `{"id":1,"asset_id":1,"asset":"Lathe","description":"Spindle is loud","priority":"urgent","wo_type":"preventive","status":"open",` +
		`"assigned_to":"Ana","labor_minutes":90,"parts_cost":12.5,"downtime_minutes":30,"resolution":null,"pm_id":null,` +
		`"labor_cost_cents":6750,"parts_cost_cents":1250,"total_cost_cents":8000,"created_by":"ana","created_at":"2026-11-20T12:00:00Z",` +
		`"started_at":null,"completed_at":null,"updated_at":"2026-11-20T12:00:00Z"}`
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
	s.must(err)
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
		{`{"asset_id":1,"description":"x","parts_cost":"12.5"}`, fault.Invalid, "parts_cost"},
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
	// The function itself holds its guards, whoever calls it.
	for _, n := range []NewOrder{
		{AssetID: 1}, {AssetID: 1, Description: "x", Priority: "asap"}, {AssetID: 1, Description: "x", Type: "other"},
		{AssetID: 1, Description: "x", LaborMinutes: -1}, {AssetID: 1, Description: "x", TypedCents: -1}, {AssetID: 1, Description: "a\x00b"},
		{AssetID: 1, Description: "x", TypedCents: maxTyped*100 + 1}, {AssetID: 1, Description: "x", DowntimeMinutes: maxMinutes + 1},
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
			_, err := s.OpenWorkOrder(ctx, c.who, NewOrder{AssetID: 1, Description: "x"})
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

// TestEveryMove tries every move from every state.
func TestEveryMove(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	path := map[string][]string{"open": nil, "in-progress": {"in-progress"}, "done": {"in-progress", "done"}, "cancelled": {"cancelled"}}
	allowed := map[string]string{"open": "in-progress, cancelled", "in-progress": "done, cancelled", "done": "open", "cancelled": "final"}
	for from, way := range path {
		for to := range path {
			wo := s.opens(NewOrder{})
			s.moves(wo.ID, way...)
			may := strings.Contains(" "+strings.ReplaceAll(allowed[from], ",", " ")+" ", " "+to+" ")
			if may {
				if got := s.moves(wo.ID, to); got.Status != to {
					t.Errorf("%s to %s: %s", from, to, got.Status)
				}
				continue
			}
			s.untouched(fault.Invalid, allowed[from], func() error {
				_, err := s.MoveWorkOrder(ctx, ana, Move{ID: wo.ID, Status: to, Resolution: "x"})
				return err
			})
			// Without a resolution it is still the move that is refused.
			s.untouched(fault.Invalid, allowed[from], func() error {
				_, err := s.MoveWorkOrder(ctx, ana, Move{ID: wo.ID, Status: to})
				return err
			})
		}
	}
}

func TestMoveThroughTheDay(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	wo := s.opens(NewOrder{})
	s.on("2026-11-21")
	got, err := s.post("POST /api/work-orders/:id/status", "1", `{"status":" In_Progress ","resolution":"looked at it"}`)
	s.must(err)
	if !strings.Contains(got, `"status":"in-progress"`) || !strings.Contains(got, `"resolution":"looked at it"`) || !strings.Contains(got, `"started_at":"2026-11-21T12:00:00Z"`) {
		t.Errorf("in progress: %s", got)
	}
	s.untouched(fault.Invalid, "resolution", func() error {
		_, err := s.call("advance_status", `{"id":1,"status":"done","resolution":" \n "}`)
		return err
	})
	s.on("2026-11-22")
	got, err = s.call("advance_status", `{"id":1,"status":"done","resolution":" repaired "}`)
	s.must(err)
	if !strings.Contains(got, `"resolution":"repaired"`) || !strings.Contains(got, `"completed_at":"2026-11-22T12:00:00Z"`) {
		t.Errorf("done: %s", got)
	}
	s.on("2026-11-23")
	again := s.moves(wo.ID, "open")
	if again.CompletedAt != nil || again.Resolution == nil || *again.Resolution != "repaired" || again.StartedAt == nil {
		t.Errorf("reopened: %s", asJSON(t, again))
	}
	// The resolution that was kept does not close it again: it must be in the request.
	s.moves(wo.ID, "in-progress")
	s.untouched(fault.Invalid, "resolution", func() error { _, err := s.MoveWorkOrder(ctx, ana, Move{ID: wo.ID, Status: "done"}); return err })
	s.moves(wo.ID, "done")
	if got, want := s.names(), "workorder.created workorder.completed workorder.completed"; got != want {
		t.Errorf("events %s, want %s", got, want)
	}
	want := "workorder.created work_order:1" + strings.Repeat(", workorder.status work_order:1", 5)
	if got := strings.Join(s.audit()[2:], ", "); got != want {
		t.Errorf("audit %s, want %s", got, want)
	}
}

func TestMoveRefusals(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	s.opens(NewOrder{})
	const route = "POST /api/work-orders/:id/status"
	for _, c := range []struct {
		id, body string
		kind     fault.Kind
		part     string
	}{
		{"1", `{}`, fault.Invalid, "status"},
		{"1", `{"status":"finished"}`, fault.Invalid, "open, in-progress, done, cancelled"},
		{"1", `{"status":"cancelled","why":"x"}`, fault.Invalid, "why"},
		{"9", `{"status":"cancelled"}`, fault.NotFound, "work order 9"},
		{"9", `{"status":"done"}`, fault.Invalid, "resolution"},
		{"9", `{"status":"done","resolution":"x"}`, fault.NotFound, "work order 9"},
		{"0", `{"status":"cancelled"}`, fault.NotFound, ""},
		{"x", `{"status":"cancelled"}`, fault.NotFound, ""},
		{"1", `{"status":"cancelled","resolution":"` + strings.Repeat("x", 10_001) + `"}`, fault.Invalid, "at most 10000"},
	} {
		s.untouched(c.kind, c.part, func() error { _, err := s.post(route, c.id, c.body); return err })
	}
}

func TestBulkMove(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	for range 4 {
		s.opens(NewOrder{})
	}
	s.moves(2, "in-progress")
	s.moves(3, "cancelled")
	got, err := s.MoveWorkOrders(ctx, cli, "DONE", []int64{1, 2, 3, 9, 2}, "all repaired")
	s.must(err)
	if len(got.Moved) != 1 || got.Moved[0].ID != 2 || got.Moved[0].Status != "done" {
		t.Errorf("moved %s", asJSON(t, got.Moved))
	}
	var refused []string
	for _, r := range got.Refused {
		refused = append(refused, fmt.Sprint(r.ID))
		if r.Reason == "" {
			t.Errorf("order %d is refused without a reason", r.ID)
		}
	}
	if strings.Join(refused, " ") != "1 3 9 2" {
		t.Errorf("refused %v", refused)
	}
	if got := s.names(); !strings.HasSuffix(got, " workorder.completed") || strings.Count(got, "completed") != 1 {
		t.Errorf("events %s", got)
	}
	s.untouched(fault.Invalid, "open, in-progress, done, cancelled", func() error {
		_, err := s.MoveWorkOrders(ctx, cli, "shut", []int64{1}, "x")
		return err
	})
	none, err := s.MoveWorkOrders(ctx, cli, "done", []int64{4}, "")
	s.must(err)
	if len(none.Moved) != 0 || len(none.Refused) != 1 {
		t.Errorf("done without a resolution: %s", asJSON(t, none))
	}
}

func TestWorkOrderLists(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	s.rows("assets", "asset_tag,name", "B-1|Bench")
	for i := range 210 {
		n := NewOrder{AssetID: 1 + int64(i%2), Priority: priorities[i%4], AssignedTo: []string{"", "Ana", "Ben"}[i%3]}
		wo := s.opens(n)
		if i%5 == 0 {
			s.moves(wo.ID, "in-progress")
		}
		if i%10 == 0 {
			s.moves(wo.ID, "done")
		}
	}
	all, err := s.WorkOrders(ctx, "")
	s.must(err)
	if len(all.WorkOrders) != 200 || all.WorkOrders[0].ID != 210 || all.WorkOrders[199].ID != 11 {
		t.Errorf("%d orders, %d to %d", len(all.WorkOrders), all.WorkOrders[0].ID, all.WorkOrders[len(all.WorkOrders)-1].ID)
	}
	everything, err := s.FindWorkOrders(ctx, Filter{Limit: 1000})
	s.must(err)
	for _, status := range append([]string{""}, workOrderMoves.States()...) {
		for _, priority := range append([]string{""}, priorities...) {
			for asset := range int64(3) {
				for _, who := range []string{"", "Ana", "Cleo"} {
					want := []int64{}
					for _, wo := range everything.WorkOrders {
						if (status == "" || wo.Status == status) && (priority == "" || wo.Priority == priority) && (asset == 0 || wo.AssetID == asset) &&
							(who == "" || wo.AssignedTo != nil && *wo.AssignedTo == who) {
							want = append(want, wo.ID)
						}
					}
					f := Filter{Status: status, Priority: priority, AssetID: asset, AssignedTo: who, Limit: 7}
					got, err := s.FindWorkOrders(ctx, f)
					s.must(err)
					ids := []int64{}
					for _, wo := range got.WorkOrders {
						ids = append(ids, wo.ID)
					}
					if int(got.Total) != len(want) || fmt.Sprint(ids) != fmt.Sprint(want[:min(7, len(want))]) {
						t.Errorf("%+v: %v of %d, want %v", f, ids, got.Total, want)
					}
				}
			}
		}
	}
	empty, err := s.get("GET /api/work-orders", "", "status", "cancelled")
	s.must(err)
	if empty != `{"work_orders":[]}` {
		t.Errorf("an empty list is %s", empty)
	}
	spelled, err := s.call("list_workorders", `{"status":"IN_PROGRESS","priority":"Critical","limit":1}`)
	s.must(err)
	if !strings.Contains(spelled, `"priority":"urgent"`) || !strings.Contains(spelled, `"status":"in-progress"`) {
		t.Errorf("other spellings: %s", spelled)
	}
	for args, part := range map[string]string{`{"limit":201}`: "1 to 200", `{"limit":0}`: "1 to 200", `{"status":"gone"}`: "cancelled", `{"priority":["low"]}`: "nested"} {
		_, err := s.call("list_workorders", args)
		s.refused(err, fault.Invalid, part)
	}
	_, err = s.get("GET /api/work-orders", "", "limit", "5")
	s.refused(err, fault.Invalid, "limit")
}

func TestLaborRate(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	rate := func(cents int64) {
		_, err := s.SetLaborRate(ctx, cli, cents)
		s.must(err)
	}
	cost := func(id int64) int64 {
		wo, err := s.WorkOrder(ctx, id)
		s.must(err)
		return wo.LaborCostCents
	}
	rate(1001)
	for range 3 {
		s.opens(NewOrder{LaborMinutes: 7})
	}
	s.moves(2, "in-progress", "done")
	s.moves(3, "cancelled")
	if got := fmt.Sprint(cost(1), cost(2), cost(3)); got != "117 117 117" {
		t.Errorf("at 10.01 an hour: %s", got)
	}
	rate(6000)
	if got := fmt.Sprint(cost(1), cost(2), cost(3)); got != "700 117 117" {
		t.Errorf("today's rate while it is open, fixed when it is closed: %s", got)
	}
	s.moves(2, "open")
	if got := cost(2); got != 700 {
		t.Errorf("reopened: %d", got)
	}
	entries := len(s.audit())
	rate(6000)
	if len(s.audit()) != entries {
		t.Error("the same rate again was audited")
	}
	s.untouched(fault.Invalid, "0 to 100000000", func() error { _, err := s.SetLaborRate(ctx, cli, -1); return err })
	s.untouched(fault.Invalid, "0 to 100000000", func() error { _, err := s.SetLaborRate(ctx, cli, 100_000_001); return err })
}

func TestPartsAndDetail(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	s.rows("parts", s.header("parts"), "6204|Ball bearing|piece|10|4|425|Bearings Ltd|shelf 3", "OIL|Oil|l|2.5|0|999||")
	wo := s.opens(NewOrder{TypedCents: 400, LaborMinutes: 60})
	use := func(number, qty string) (Used, error) { return s.UsePart(ctx, cli, wo.ID, number, milli(t, qty)) }
	u, err := use("6204", "6")
	s.must(err)
	if u.Part.Quantity != 4000 || !u.Part.LowStock || u.WorkOrder.PartsCostCents != 400+2550 || u.Use.CostCents != 2550 {
		t.Errorf("six bearings: %s", asJSON(t, u))
	}
	if u, err = use("OIL", "0.333"); err != nil || u.Use.CostCents != 333 { // 332.667
		t.Errorf("oil: %s %v", asJSON(t, u), err)
	}
	s.untouched(fault.Invalid, "4", func() error { _, err := use("6204", "4.001"); return err })
	s.untouched(fault.Invalid, "above 0", func() error { _, err := use("6204", "0"); return err })
	s.untouched(fault.Invalid, "above 0", func() error { _, err := use("6204", "-1"); return err })
	s.untouched(fault.NotFound, "9999", func() error { _, err := use("9999", "1"); return err })
	s.untouched(fault.NotFound, "work order 7", func() error { _, err := s.UsePart(ctx, cli, 7, "OIL", 1); return err })
	if _, err := use("6204", "4"); err != nil {
		t.Errorf("all that is left: %v", err)
	}
	// A new price is not that of what was used before.
	s.rows("parts", "part_number,unit_cost_cents,quantity", "6204|1000|5")
	if _, err := use("6204", "1"); err != nil {
		t.Fatal(err)
	}
	photo, err := s.AddPhoto(ctx, cli, wo.ID, `C:\pictures\before.PNG`, "before", []byte("\x89PNG\r\n\x1a\nrest"))
	s.must(err)
	got, err := s.call("workorder_detail", `{"id":1}`)
	s.must(err)
	const want = `"parts":[{"part_id":1,"part_number":"6204","name":"Ball bearing","qty":6,"unit_cost_cents":425,"cost_cents":2550},` +
		`{"part_id":2,"part_number":"OIL","name":"Oil","qty":0.333,"unit_cost_cents":999,"cost_cents":333},` +
		`{"part_id":1,"part_number":"6204","name":"Ball bearing","qty":4,"unit_cost_cents":425,"cost_cents":1700},` +
		`{"part_id":1,"part_number":"6204","name":"Ball bearing","qty":1,"unit_cost_cents":1000,"cost_cents":1000}],` +
		`"photos":[{"id":1,"filename":"before.PNG","caption":"before"}],` +
		`"cost":{"labor_cents":0,"parts_typed_cents":400,"parts_used_cents":5583,"total_cents":5983}}`
	if !strings.HasSuffix(got, want) || !strings.Contains(got, `"total_cost_cents":5983,`) {
		t.Errorf("detail\n%s\nwant the end\n%s", got, want)
	}
	if back, data, err := s.Photo(ctx, photo.ID); err != nil || string(data) != "\x89PNG\r\n\x1a\nrest" || back.Filename != "before.PNG" {
		t.Errorf("photo: %v %q %v", back, data, err)
	}
	_, err = s.call("workorder_detail", `{"id":5}`)
	s.refused(err, fault.NotFound, "work order 5")
	s.moves(wo.ID, "in-progress", "done")
	s.untouched(fault.Invalid, "done", func() error { _, err := use("OIL", "0.1"); return err })
	s.opens(NewOrder{})
	s.moves(2, "cancelled")
	s.untouched(fault.Invalid, "cancelled", func() error { _, err := s.UsePart(ctx, cli, 2, "OIL", 100); return err })
}

func TestPartsBound(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	s.rows("parts", "part_number,quantity,unit_cost_cents", "GOLD|1000000000|10000000000")
	s.opens(NewOrder{})
	s.untouched(fault.Invalid, "in all", func() error { _, err := s.UsePart(ctx, cli, 1, "GOLD", 1_000_000_000_000); return err })
	s.untouched(fault.Invalid, "in all", func() error { _, err := s.UsePart(ctx, cli, 1, "GOLD", 10_000_001); return err })
	if _, err := s.UsePart(ctx, cli, 1, "GOLD", 10_000_000); err != nil {
		t.Error(err)
	}
	s.untouched(fault.Invalid, "in all", func() error { _, err := s.UsePart(ctx, cli, 1, "GOLD", 1); return err })
}

func TestPhotos(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	s.opens(NewOrder{})
	add := func(name string, data []byte) (Photo, error) { return s.AddPhoto(ctx, cli, 1, name, "", data) }
	for name, head := range map[string]string{"a.jpg": "\xff\xd8\xff\xe0", "b.png": "\x89PNG\r\n\x1a\n", "c.webp": "RIFF\x10\x00\x00\x00WEBP"} {
		p, err := add(name, []byte(head+"data"))
		s.must(err)
		if p.Filename != name || p.Caption != nil {
			t.Errorf("%s: %s", name, asJSON(t, p))
		}
	}
	big := make([]byte, MaxPhoto)
	copy(big, "\xff\xd8\xff")
	if _, err := add("big.jpg", big); err != nil {
		t.Errorf("10 MiB: %v", err)
	}
	s.untouched(fault.Invalid, "10485760", func() error { _, err := add("big.jpg", append(big, 0)); return err })
	for _, data := range []string{"", "GIF89a", "\x89PNG", "RIFF\x10\x00\x00\x00WAVE", "RIFF", "<svg>"} {
		s.untouched(fault.Invalid, "JPEG, PNG or WebP", func() error { _, err := add("x.jpg", []byte(data)); return err })
	}
	s.untouched(fault.NotFound, "work order 4", func() error { _, err := s.AddPhoto(ctx, cli, 4, "a.jpg", "", []byte("\xff\xd8\xff")); return err })
	_, _, err := s.Photo(ctx, 99)
	s.refused(err, fault.NotFound, "photo 99")
}

func TestAssetStatus(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	a, err := s.SetAssetStatus(ctx, cli, 1, " Needs_Attention ")
	s.must(err)
	if a.Status != "needs-attention" || len(a.Meters) != 1 {
		t.Errorf("%s", asJSON(t, a))
	}
	entries := len(s.audit())
	_, err = s.SetAssetStatus(ctx, cli, 1, "needs-attention")
	s.must(err)
	if len(s.audit()) != entries {
		t.Error("the same status again was audited")
	}
	s.untouched(fault.Invalid, "operational, needs-attention, down, retired", func() error { _, err := s.SetAssetStatus(ctx, cli, 1, "broken"); return err })
	s.untouched(fault.NotFound, "asset 5", func() error { _, err := s.SetAssetStatus(ctx, cli, 5, "down"); return err })
}

func TestAssetAndPartPages(t *testing.T) {
	s := open(t)
	for i := range 7 {
		s.rows("assets", "asset_tag,status", fmt.Sprintf("A-%d|%s", i, assetStatuses[i%2]))
		s.rows("meters", "asset_tag,name,unit,reading,read_date", fmt.Sprintf("A-%d|hours|h|%d|2026-11-01", i, i))
		s.rows("parts", "part_number", fmt.Sprintf("P-%d", i))
	}
	walk := func(route, list string, query ...string) (got string) {
		t.Helper()
		after := ""
		for range 20 {
			q := append([]string{"limit", "3"}, query...)
			if after != "" {
				q = append(q, "after", after)
			}
			page, err := s.get(route, "", q...)
			s.must(err)
			v := parsed(t, page)
			rows, _ := v.Get(list)
			for _, row := range rows.Items {
				id, _ := row.Get("id")
				got += string(id.Raw()) + " "
			}
			next, ok := v.Get("next")
			if !ok {
				t.Fatalf("%s without next: %s", route, page)
			}
			if after = string(next.Raw()); after == "null" {
				return got
			}
		}
		t.Fatalf("%s never ends", route)
		return ""
	}
	if got := walk("GET /api/assets", "assets"); got != "1 2 3 4 5 6 7 " {
		t.Errorf("assets %s", got)
	}
	if got := walk("GET /api/assets", "assets", "status", "operational"); got != "1 3 5 7 " {
		t.Errorf("operational assets %s", got)
	}
	if got := walk("GET /api/parts", "parts"); got != "1 2 3 4 5 6 7 " {
		t.Errorf("parts %s", got)
	}
	one, err := s.get("GET /api/assets", "", "limit", "1")
	s.must(err)
	const want = `{"assets":[{"id":1,"asset_tag":"A-0","name":"A-0","category":null,"location":null,"manufacturer":null,"model":null,"serial_number":null,` +
		`"status":"operational","notes":null,"meters":[{"id":1,"name":"hours","unit":"h","reading":0,"read_date":"2026-11-01","avg_per_day":null}]}],"next":1}`
	if one != want {
		t.Errorf("got  %s\nwant %s", one, want)
	}
	for _, route := range []string{"GET /api/assets", "GET /api/parts"} {
		_, err := s.get(route, "", "limit", "0")
		s.refused(err, fault.Invalid, "limit")
		if page, err := s.get(route, "", "limit", "5000"); err != nil || !strings.HasSuffix(page, `"next":null}`) {
			t.Errorf("%s: over 1000: %v", route, err)
		}
	}
	_, err = s.get("GET /api/assets", "", "status", "broken")
	s.refused(err, fault.Invalid, "operational, needs-attention, down, retired")
}

func TestLowStock(t *testing.T) {
	for _, c := range []struct {
		quantity, minimum exact.Milli
		want              bool
	}{{0, 0, false}, {5, 0, false}, {5, 5, true}, {5001, 5000, false}, {4999, 5000, true}, {0, 1, true}} {
		if got := lowStock(c.quantity, c.minimum); got != c.want {
			t.Errorf("%v of at least %v: %v", c.quantity, c.minimum, got)
		}
	}
}
