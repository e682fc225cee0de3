package webhook

import (
	"cmp"
	"slices"
	"sync"
)

// Count is how many deliveries of a service came to a state since the program began.
type Count struct {
	Service, State string
	N              int64
}

// tally counts outcomes.
type tally struct {
	mu sync.Mutex
	n  map[Count]int64 // by a Count whose N is 0
}

func (t *tally) add(service, state string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n == nil {
		t.n = map[Count]int64{}
	}
	t.n[Count{Service: service, State: state}]++
}

// Counts gives the outcomes by service and state, in a fixed order.
func (s *Sender) Counts() []Count {
	s.tally.mu.Lock()
	defer s.tally.mu.Unlock()
	list := make([]Count, 0, len(s.tally.n))
	for c, n := range s.tally.n {
		c.N = n
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b Count) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.State, b.State))
	})
	return list
}
