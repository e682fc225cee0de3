package db

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"quartermaster/schema/assert"
)

func TestWritesShareACommit(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name     string
		answered int
		synced   time.Duration
		come     []time.Duration // the writers' arrival times
		want     int             // how many share the commit
		at       time.Duration   // when it begins
	}{
		{"a lone writer does not wait", 1, 20 * ms, []time.Duration{ms, 2 * ms}, 1, ms},
		{"nor does the first of all", 0, 0, []time.Duration{ms, 2 * ms}, 1, ms},
		{"those who were answered are waited for", 3, 20 * ms, []time.Duration{ms, 2 * ms, 3 * ms}, 3, 3 * ms},
		{"beside those who wait already", 2, 20 * ms, []time.Duration{0, 0, 2 * ms, 3 * ms, 4 * ms}, 4, 3 * ms},
		{"for a quarter of a sync", 3, 16 * ms, []time.Duration{ms, 2 * ms, 6 * ms}, 2, 5 * ms},
		{"and never for more than 5 ms", 3, time.Second, []time.Duration{ms, 2 * ms, 7 * ms}, 2, 6 * ms},
		{"a quick disk is not waited for", 3, 499 * time.Microsecond, []time.Duration{ms, 2 * ms}, 1, ms},
		{"a slow one is", 3, 500 * time.Microsecond, []time.Duration{ms, ms + 100*time.Microsecond}, 2, ms + 125*time.Microsecond},
		{"as many as share a commit are enough", maxBatch, 20 * ms, make([]time.Duration, maxBatch+9), maxBatch, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				queue, closing := make(chan *pending), make(chan struct{})
				over := make(chan struct{})
				var writers sync.WaitGroup
				for _, after := range c.come {
					writers.Go(func() {
						time.Sleep(after) // in the bubble's own time
						select {
						case queue <- &pending{}:
						case <-over:
						}
					})
				}
				synctest.Wait() // the writers of time 0 have arrived
				began := time.Now()
				b := batcher{queue: queue, closing: closing, answered: c.answered, synced: c.synced}
				assert.Equal(t, len(b.next(nil)), c.want, "writes share the commit")
				assert.Equal(t, time.Since(began), c.at, "it begins after")
				close(over)
				writers.Wait()
			})
		})
	}
}

func TestNoBatchAfterClose(t *testing.T) {
	closing := make(chan struct{})
	close(closing)
	b := batcher{queue: make(chan *pending), closing: closing, answered: 3, synced: time.Second}
	assert.Equal(t, len(b.next(nil)), 0, "writes")
}
