package db

import "time"

// batcher collects the writes that share a commit: all that are queued. On a disk whose
// sync takes long it also waits, for a small part of a sync, for the writers that were
// answered by the commit before: a client that writes one thing after another sends the
// next at once, and would otherwise wait for the whole of a sync that began without it.
type batcher struct {
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

// next appends the writes of the next commit to batch; none when the database closes.
func (b *batcher) next(batch []*pending) []*pending {
	batch = b.queued(batch)
	expected := min(len(batch)+b.answered, maxBatch)
	if len(batch) == 0 {
		select {
		case t := <-b.queue:
			batch = b.queued(append(batch, t))
		case <-b.closing:
			return batch
		}
	}
	if b.synced < slowSync || len(batch) >= expected {
		return batch
	}
	enough := time.NewTimer(min(b.synced/waitOfSync, mostWait))
	defer enough.Stop()
	for len(batch) < expected {
		select {
		case t := <-b.queue:
			batch = append(batch, t)
		case <-enough.C:
			return batch
		}
	}
	return batch
}

// queued appends the writes that are queued.
func (b *batcher) queued(batch []*pending) []*pending {
	for len(batch) < maxBatch {
		select {
		case t := <-b.queue:
			batch = append(batch, t)
		default:
			return batch
		}
	}
	return batch
}
