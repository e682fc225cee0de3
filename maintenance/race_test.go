package maintenance

import (
	"sync"
	"testing"

	"quartermaster/schema/assert"
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

func TestRacingParts(t *testing.T) {
	s := open(t)
	s.lathe("100", "2026-11-01")
	s.rows("parts", "part_number,quantity,unit_cost_cents", "P-1|3|100")
	s.opens(WorkOrder{})
	won, refused := together(t, 20, func(int) error {
		_, err := do3(s, cli, usePart, 1, "P-1", 1000)
		return err
	})
	assert.That(t, won == 3 && refused[fault.Invalid] == 17, "%d of 3 parts used, refused %v", won, refused)
}
