package webhook

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestGather has attempts of two commits end one by one.
func TestGather(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	type end struct {
		commit int
		after  time.Duration
	}
	for _, c := range []struct {
		name     string
		patience time.Duration
		ends     []end // the first is gather's argument
		want     int   // number of outcomes in the commit
		at       time.Duration
	}{
		{"one alone waits for nobody", 5 * ms, []end{{1, 0}}, 1, 0},
		{"those of one commit wait for one another", 5 * ms, []end{{1, 0}, {1, ms}, {1, 3 * ms}}, 3, 3 * ms},
		{"not for those of another", 5 * ms, []end{{1, 0}, {2, ms}}, 1, 0},
		{"which are taken along when they end meanwhile", 5 * ms, []end{{1, 0}, {2, ms}, {1, 2 * ms}, {2, 3 * ms}}, 3, 2 * ms},
		{"no longer than it is worth", 5 * ms, []end{{1, 0}, {1, ms}, {1, 6 * ms}}, 2, 5 * ms},
		{"on a quick disk only what ended already", 0, []end{{1, 0}, {1, 0}, {2, 0}, {1, ms}}, 3, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorker(nil, 1, nil)
				for i, e := range c.ends {
					subject := string(rune('a' + i))
					w.underWay[subject] = e.commit
					if i > 0 {
						time.AfterFunc(e.after, func() { w.ended <- ending{outcome: &Attempt{State: delivered}, subject: subject} })
					}
				}
				synctest.Wait() // those of time 0 have ended
				began := time.Now()
				over := w.gather(ending{outcome: &Attempt{State: delivered}, subject: "a"}, c.patience)
				if len(over) != c.want || time.Since(began) != c.at {
					t.Errorf("%d outcomes after %s, want %d after %s", len(over), time.Since(began), c.want, c.at)
				}
				time.Sleep(time.Second) // the bubble ends when all have ended
			})
		})
	}
}
