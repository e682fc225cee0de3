package db

import "time"

// gatherer collects the writes that share a commit. Those that wait already do so
// anyhow. On a disk whose sync takes long it also waits, for a small part of a sync, for
// the writers that were answered by the commit before: a client that writes one thing after
// another comes back at once, and would otherwise wait for the whole of a sync that began
// without him.
type gatherer struct {
	queue    <-chan *pending
	closing  <-chan struct{}
	answered int           // how many writes the commit before answered
	synced   time.Duration // how long it took
}

const (
	maxBatch   = 64                     // bounds how many writes share one commit
	slowSync   = 500 * time.Microsecond // a quicker one is over before any of them is back
	mostWait   = 5 * time.Millisecond   // whatever the sync took
	waitOfSync = 4                      // a quarter of it
)

// gather appends the writes of the next commit to batch; none when the database closes.
func (g *gatherer) gather(batch []*pending) []*pending {
	batch = g.waiting(batch)
	expected := min(len(batch)+g.answered, maxBatch)
	if len(batch) == 0 {
		select {
		case t := <-g.queue:
			batch = g.waiting(append(batch, t))
		case <-g.closing:
			return batch
		}
	}
	if g.synced < slowSync || len(batch) >= expected {
		return batch
	}
	enough := time.NewTimer(min(g.synced/waitOfSync, mostWait))
	defer enough.Stop()
	for len(batch) < expected {
		select {
		case t := <-g.queue:
			batch = append(batch, t)
		case <-enough.C:
			return batch
		}
	}
	return batch
}

// waiting appends those that wait already.
func (g *gatherer) waiting(batch []*pending) []*pending {
	for len(batch) < maxBatch {
		select {
		case t := <-g.queue:
			batch = append(batch, t)
		default:
			return batch
		}
	}
	return batch
}
