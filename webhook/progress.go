package webhook

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"quartermaster/schema/db"
)

// progress is the progress of a request that makes several deliveries. The request's work notes each in its
// transaction, so that a run after a kill, or a second one, makes only missing ones.
type progress struct {
	mu   sync.Mutex
	work *db.Work // nil: it cannot be repeated
	d    *db.DB
	made map[int64]int64 // the new delivery, by the one that it repeats or by the example's place
}

// goesOn reads the progress of an earlier run of the caller's request. end ends it.
func goesOn(ctx context.Context, d *db.DB, who db.Caller) (*progress, error) {
	work, err := d.BeginFor(ctx, who)
	if err != nil {
		return nil, err
	}
	p := &progress{work: work, d: d, made: map[int64]int64{}}
	if work == nil {
		return p, nil
	}
	for _, note := range work.Notes {
		var of, id int64
		if _, err := fmt.Sscan(note, &of, &id); err != nil {
			work.Close()
			return nil, err
		}
		p.made[of] = id
	}
	return p, nil
}

// step is the transaction that makes the delivery of of; fn returns its id, 0 for none.
func (p *progress) step(ctx context.Context, who db.Caller, of int64, fn func(*db.Tx) (id int64, err error)) error {
	if p.work == nil { // many at once share commits
		return db.Exec(ctx, p.d, who, func(tx *db.Tx) error {
			_, err := fn(tx)
			return err
		})
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	made := int64(0)
	err := p.work.Step(ctx, p.d, who, func(tx *db.Tx) (err error) {
		if made, err = fn(tx); err != nil || made == 0 {
			return err
		}
		return p.work.Note(tx, fmt.Sprint(of, made))
	})
	if err == nil && made != 0 {
		p.made[of] = made
	}
	return err
}

// done reports whether an earlier run made the delivery of of.
func (p *progress) done(of int64) bool {
	if p.made[of] != 0 {
		return true
	}
	for _, id := range p.made {
		if id == of {
			return true
		}
	}
	return false
}

// earlier returns the deliveries of earlier runs, by origin, oldest first.
func (p *progress) earlier(ctx context.Context) ([]Resent, error) {
	all := make([]Resent, 0, len(p.made))
	err := p.d.View(ctx, func(c *db.Conn) error {
		for of, id := range p.made {
			v, found, err := db.One(c, scanDelivery, "SELECT "+deliveryColumns+" WHERE d.id = ?", id)
			if err != nil {
				return err
			}
			if found {
				all = append(all, Resent{Of: of, Delivery: v})
			}
		}
		return nil
	})
	slices.SortFunc(all, func(a, b Resent) int { return int(a.ID - b.ID) })
	return all, err
}

// end stores the answer and releases the work; after a failure it stores nothing, and the same request continues.
func (p *progress) end(ctx context.Context, who db.Caller, answer any, failure error) error {
	defer p.work.Close()
	if p.work == nil || failure != nil {
		return failure
	}
	return p.work.Step(context.WithoutCancel(ctx), p.d, who, func(tx *db.Tx) error { return p.work.End(tx, answer) })
}
