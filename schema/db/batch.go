package db

import "time"

// batcher collects the writes that share a commit: all that are queued. On a disk with slow syncs it also waits, for a
// small part of a sync, for the writers answered by the previous commit. A client that writes sequentially sends its
// next write at once, and would otherwise wait for a whole sync that began without it.
type batcher struct {
	queue    <-chan *pending
	closing  <-chan struct{}
	answered int           // writes that the previous commit answered
	synced   time.Duration // its duration
}

const (
	maxBatch   = 64                     // most writes in one commit
	slowSync   = 500 * time.Microsecond // a faster one ends before a writer returns
	mostWait   = 5 * time.Millisecond   // for any sync
	waitOfSync = 4                      // a quarter of it
)

// next appends the writes of the next commit to batch; none if the database closes.
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
