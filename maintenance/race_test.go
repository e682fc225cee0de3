package maintenance

import (
	"sync"
	"testing"

	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// together calls do n times at once and counts the outcomes by kind; an error that is no refusal fails the test.
func together(t *testing.T, n int, do func(i int) error) (won int, refused map[fault.Kind]int) {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	refused = map[fault.Kind]int{}
	start := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-start
			err := do(i)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			} else if e, is := fault.As(err); is {
				refused[e.Kind]++
			} else {
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	close(start)
	all.Wait()
	return won, refused
}

func TestRacingMoves(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	s.rows("pm-plans", "asset_tag,title,interval_days,last_done_date", "L-1|Oil|30|2026-11-01")
	for range 5 {
		wo := s.opens(WorkOrder{PMID: new(int64(1))})
		s.moves(wo.ID, "in-progress")
		// Half of them complete it and half cancel it: one succeeds.
		won, refused := together(t, 20, func(i int) error {
			m := Move{ID: wo.ID, Status: "done", Resolution: "x"}
			if i%2 == 0 {
				m = Move{ID: wo.ID, Status: "cancelled"}
			}
			_, err := s.MoveWorkOrder(ctx, ana, m)
			return err
		})
		after, err := s.WorkOrder(ctx, wo.ID)
		s.Must(err)
		// A completed one cannot be cancelled, nor a cancelled one completed.
		if won != 1 || refused[fault.Invalid] != 19 || !closed(after.Status) {
			t.Errorf("%d won, refused %v, it is %s", won, refused, after.Status)
		}
	}
}

func TestRacingReadings(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	won, refused := together(t, 40, func(i int) error {
		_, err := s.RecordReading(ctx, ana, NewReading{AssetID: 1, Reading: exact.Milli(100_000 + i%20*1000)})
		return err
	})
	if won+refused[fault.Conflict] != 40 || won == 0 {
		t.Errorf("%d taken, refused %v", won, refused)
	}
	if got := s.meter("hours").Reading; got != 119_000 {
		t.Errorf("the meter shows %v", got)
	}
	if kept := len(s.export("readings")); kept != won+1 {
		t.Errorf("%d readings kept of %d taken", kept, won+1)
	}
	moved := 0
	for _, e := range s.events() {
		if e.Data["reading"].(float64) <= e.Data["previous_reading"].(float64) {
			t.Errorf("an event of a meter that did not go up: %v", e)
		}
		moved++
	}
	if moved == 0 || moved > 19 {
		t.Errorf("%d events", moved)
	}
}

// TestRacingCorrections races corrections with readings. Doctor, at the end of every test, checks that each was wholly
// before or after the other.
func TestRacingCorrections(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	s.rows("pm-plans", "asset_tag,title,interval_usage,baseline_reading", "L-1|Oil|250|50")
	won, refused := together(t, 30, func(i int) error {
		_, err := s.RecordReading(ctx, ana, NewReading{AssetID: 1, Reading: exact.Milli(1000 * (100 + i)), Correction: i%3 == 0})
		return err
	})
	if won+refused[fault.Conflict] != 30 {
		t.Errorf("%d taken, refused %v", won, refused)
	}
}

func TestRacingParts(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	s.rows("parts", "part_number,quantity,unit_cost_cents", "P-1|3|100")
	s.opens(WorkOrder{})
	won, refused := together(t, 20, func(int) error {
		_, err := s.UsePart(ctx, cli, 1, "P-1", 1000)
		return err
	})
	if won != 3 || refused[fault.Invalid] != 17 {
		t.Errorf("%d of 3 parts used, refused %v", won, refused)
	}
}
