package maintenance

import (
	"fmt"
	"strings"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/fault"
)

func TestEveryMove(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	path := map[string][]string{"open": nil, "in-progress": {"in-progress"}, "done": {"in-progress", "done"}, "cancelled": {"cancelled"}}
	allowed := map[string]string{"open": "in-progress, cancelled", "in-progress": "done, cancelled", "done": "open", "cancelled": "final"}
	for from, way := range path {
		for to := range path {
			wo := s.opens(WorkOrder{})
			s.moves(wo.ID, way...)
			may := strings.Contains(" "+strings.ReplaceAll(allowed[from], ",", " ")+" ", " "+to+" ")
			if may {
				assert.Equal(t, s.moves(wo.ID, to).Status, to, "%s to", from)
				continue
			}
			s.untouched(fault.Invalid, allowed[from], func() error {
				_, err := do(s, ana, moveWorkOrder, Move{ID: wo.ID, Status: to, Resolution: "x"})
				return err
			})
			// Without a resolution the refusal is still that of the move.
			s.untouched(fault.Invalid, allowed[from], func() error {
				_, err := do(s, ana, moveWorkOrder, Move{ID: wo.ID, Status: to})
				return err
			})
		}
	}
}

func TestMoveThroughTheDay(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	wo := s.opens(WorkOrder{})
	s.On("2026-11-21")
	got, err := s.post("POST /api/work-orders/:id/status", "1", `{"status":" In_Progress ","resolution":"looked at it"}`)
	s.Must(err)
	if !strings.Contains(got, `"status":"in-progress"`) || !strings.Contains(got, `"resolution":"looked at it"`) || !strings.Contains(got, `"started_at":"2026-11-21T12:00:00Z"`) {
		t.Errorf("in progress: %s", got)
	}
	s.untouched(fault.Invalid, "resolution", func() error {
		_, err := s.call("advance_status", `{"id":1,"status":"done","resolution":" \n "}`)
		return err
	})
	s.On("2026-11-22")
	got = assert.Value(s.call("advance_status", `{"id":1,"status":"done","resolution":" repaired "}`))(s.T)
	assert.That(t, strings.Contains(got, `"resolution":"repaired"`) &&
		strings.Contains(got, `"completed_at":"2026-11-22T12:00:00Z"`), "done: %s", got)
	s.On("2026-11-23")
	again := s.moves(wo.ID, "open")
	if again.CompletedAt != nil || again.Resolution == nil || *again.Resolution != "repaired" || again.StartedAt == nil {
		t.Errorf("reopened: %s", asJSON(t, again))
	}
	// The stored resolution does not close it again: the request must contain one.
	s.moves(wo.ID, "in-progress")
	s.untouched(fault.Invalid, "resolution", func() error { _, err := do(s, ana, moveWorkOrder, Move{ID: wo.ID, Status: "done"}); return err })
	s.moves(wo.ID, "done")
	if got, want := s.names(), "workorder.created workorder.completed workorder.completed"; got != want {
		t.Errorf("events %s, want %s", got, want)
	}
	want := "workorder.created work_order:1" + strings.Repeat(", workorder.status work_order:1", 5)
	assert.Equal(t, strings.Join(s.audit()[2:], ", "), want, "audit")
}

func TestBulkMove(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	for range 4 {
		s.opens(WorkOrder{})
	}
	s.moves(2, "in-progress")
	s.moves(3, "cancelled")
	answer, err := s.command(s.moveWorkOrders(), cli, "status=DONE", "id=1", "id=2", "id=3", "id=9", "id=2",
		"resolution=all repaired")
	s.Must(err)
	got := answer.(Moved)
	assert.That(t, len(got.Moved) == 1 && got.Moved[0].ID == 2 && got.Moved[0].Status == "done",
		"moved %s", asJSON(t, got.Moved))
	var refused []string
	for _, r := range got.Refused {
		refused = append(refused, fmt.Sprint(r.ID))
		assert.That(t, r.Reason != "", "order %d is refused without a reason", r.ID)
	}
	assert.That(t, strings.Join(refused, " ") == "1 3 9 2", "refused %v", refused)
	if got := s.names(); !strings.HasSuffix(got, " workorder.completed") || strings.Count(got, "completed") != 1 {
		t.Errorf("events %s", got)
	}
	s.untouched(fault.Invalid, "open, in-progress, done, cancelled", func() error {
		_, err := s.command(s.moveWorkOrders(), cli, "status=shut", "id=1", "resolution=x")
		return err
	})
	answer, err = s.command(s.moveWorkOrders(), cli, "status=done", "id=4")
	s.Must(err)
	none := answer.(Moved)
	assert.That(t, len(none.Moved) == 0 && len(none.Refused) == 1, "done without a resolution: %s", asJSON(t, none))
}
