package maintenance

import (
	"fmt"
	"strings"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

func TestWorkOrderLists(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	s.rows("assets", "asset_tag,name", "B-1|Bench")
	s.Must(db.Exec(ctx, s.DB, ana, func(tx *db.Tx) error {
		for i := range int64(210) {
			n := WorkOrder{AssetID: 1 + i%2, Description: "a job", Priority: priorities[i%4], AssignedTo: new([]string{"", "Ana", "Ben"}[i%3])}
			if _, err := openWorkOrder(tx, n); err != nil {
				return err
			}
			for n, to := range []string{"in-progress", "done"} {
				if i%int64(5*(n+1)) != 0 {
					break
				}
				if _, err := moveWorkOrder(tx, Move{ID: i + 1, Status: to, Resolution: "x"}); err != nil {
					return err
				}
			}
		}
		return nil
	}))
	all := assert.Value(s.WorkOrders(ctx, Filter{Cursor: schema.First(newest)}))(s.T)
	if len(all.WorkOrders) != 200 || all.WorkOrders[0].ID != 210 || all.WorkOrders[199].ID != 11 {
		t.Errorf("%d orders, %d to %d", len(all.WorkOrders), all.WorkOrders[0].ID, all.WorkOrders[len(all.WorkOrders)-1].ID)
	}
	everything := assert.Value(s.WorkOrders(ctx, Filter{Cursor: schema.First(1000)}))(s.T)
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
					f := Filter{Status: status, Priority: priority, AssetID: asset, AssignedTo: who, Cursor: schema.First(7)}
					got := assert.Value(s.WorkOrders(ctx, f))(s.T)
					ids := []int64{}
					for _, wo := range got.WorkOrders {
						ids = append(ids, wo.ID)
					}
					assert.That(t, int(got.Total) == len(want) && fmt.Sprint(ids) == fmt.Sprint(want[:min(7, len(want))]),
						"%+v: %v of %d, want %v", f, ids, got.Total, want)
				}
			}
		}
	}
	empty := assert.Value(s.get("GET /api/work-orders", "", "status", "cancelled"))(s.T)
	assert.That(t, empty == `{"work_orders":[],"next":null,"total":0}`, "an empty list is %s", empty)
	spelled := assert.Value(s.call("list_workorders", `{"status":"IN_PROGRESS","priority":"Critical","limit":1}`))(s.T)
	assert.That(t, strings.Contains(spelled, `"priority":"urgent"`) && strings.Contains(spelled, `"status":"in-progress"`),
		"other spellings: %s", spelled)
	_, err := s.call("create_workorder", `{"asset_id":1,"description":"x","assigned_to":"Cleo"}`)
	s.Refused(err, fault.Invalid, "Ana", "new_person")
	for args, part := range map[string]string{`{"limit":201}`: "1 to 200", `{"limit":0}`: "1 to 200", `{"status":"gone"}`: "cancelled", `{"priority":["low"]}`: "nested"} {
		_, err := s.call("list_workorders", args)
		s.Refused(err, fault.Invalid, part)
	}
	_, err = s.get("GET /api/work-orders", "", "limit", "0")
	s.Refused(err, fault.Invalid, "limit")
}

func TestLaborRate(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	rate := func(cents int64) {
		_, err := do(s, cli, setLaborRate, cents)
		s.Must(err)
	}
	cost := func(id int64) int64 {
		wo := assert.Value(s.WorkOrder(ctx, id))(s.T)
		return wo.LaborCostCents
	}
	rate(1001)
	for range 3 {
		s.opens(WorkOrder{LaborMinutes: 7})
	}
	s.moves(2, "in-progress", "done")
	s.moves(3, "cancelled")
	assert.Equal(t, fmt.Sprint(cost(1), cost(2), cost(3)), "117 117 117", "at 10.01 an hour")
	rate(6000)
	assert.Equal(t, fmt.Sprint(cost(1), cost(2), cost(3)), "700 117 117",
		"today's rate while it is open, fixed when it is closed")
	s.moves(2, "open")
	assert.Equal(t, cost(2), 700, "reopened")
	entries := len(s.audit())
	rate(6000)
	assert.That(t, len(s.audit()) == entries, "the same rate again was audited")
	s.untouched(fault.Invalid, "0 to 100000000", func() error { _, err := do(s, cli, setLaborRate, -1); return err })
	s.untouched(fault.Invalid, "0 to 100000000", func() error { _, err := do(s, cli, setLaborRate, 100_000_001); return err })
}
