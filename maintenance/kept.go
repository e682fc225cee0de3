package maintenance

import (
	"context"
	"slices"
	"sort"
	"sync/atomic"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// keptDue is the due list of a day as it was computed last, in its order. It is renewed
// by the plans that were changed since (table pm_touched), and anew when the day ends:
// at 10,000 plans computing all takes some 60 ms, looking after one change 0.1.
type keptDue struct {
	day  exact.Day
	seq  int64 // the last touch that it knows of
	rows []*PMDueRow
}

// dueCache holds what was computed last. It is never changed, only replaced.
type dueCache struct{ last atomic.Pointer[keptDue] }

// dueRows is the due list in its order, of a status or, with "", whole. The rows are not
// the caller's to change.
func (s *Service) dueRows(ctx context.Context, status string) (rows []*PMDueRow, today exact.Day, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		kept, err := s.due.at(c, !db.Trying(ctx))
		rows, today = kept.part(status), kept.day
		return err
	})
	return rows, today, err
}

// at is the list as the view sees it. A trial's changes are never kept.
func (k *dueCache) at(c *db.Conn, keep bool) (*keptDue, error) {
	today := c.Today()
	seq, _, err := db.One(c, db.Int, "SELECT coalesce(max(seq), 0) FROM pm_touched")
	if err != nil {
		return &keptDue{}, err
	}
	last := k.last.Load()
	if !keep || last == nil || last.day != today || last.seq > seq {
		return k.renew(c, today, seq, keep)
	}
	if last.seq == seq {
		return last, nil
	}
	changed, err := db.All(c, db.Int, "SELECT plan_id FROM pm_touched WHERE seq > ?", last.seq)
	if err != nil {
		return last, err
	}
	if int64(len(changed)) != seq-last.seq || len(changed) > 500 { // some are forgotten already, or most plans moved
		return k.renew(c, today, seq, keep)
	}
	now := &keptDue{day: today, seq: seq}
	if now.rows, err = patched(c, last.rows, changed); err != nil {
		return last, err
	}
	k.last.CompareAndSwap(last, now)
	return now, nil
}

// renew computes the whole list.
func (k *dueCache) renew(c *db.Conn, today exact.Day, seq int64, keep bool) (*keptDue, error) {
	list, err := listDue(c, "")
	now := &keptDue{day: today, seq: seq, rows: make([]*PMDueRow, len(list.PMDue))}
	for i := range list.PMDue {
		now.rows[i] = &list.PMDue[i]
	}
	if last := k.last.Load(); err == nil && keep && (last == nil || last.day < today || last.seq <= seq) {
		k.last.CompareAndSwap(last, now)
	}
	return now, err
}

// patched is the list with the changed plans as they are now.
func patched(c *db.Conn, rows []*PMDueRow, changed []int64) ([]*PMDueRow, error) {
	slices.Sort(changed)
	changed = slices.Compact(changed)
	gone := func(r *PMDueRow) bool { _, is := slices.BinarySearch(changed, r.PMID); return is }
	now := make([]*PMDueRow, 0, len(rows)+len(changed))
	for _, r := range rows {
		if !gone(r) {
			now = append(now, r)
		}
	}
	for _, id := range changed {
		row, listed, err := listedRow(c, id)
		if err != nil {
			return nil, err
		}
		if listed {
			at, _ := slices.BinarySearchFunc(now, row, func(a, b *PMDueRow) int { return compareDue(*a, *b) })
			now = slices.Insert(now, at, row)
		}
	}
	return now, nil
}

// listedRow is the row of a plan, if it is in the due list.
func listedRow(c *db.Conn, id int64) (*PMDueRow, bool, error) {
	p, found, err := db.One(c, scanDuePlan, "SELECT "+dueColumns+dueTables+" WHERE p.id = ? AND a.status <> 'retired' AND p.paused = 0", id)
	if err != nil || !found {
		return nil, false, err
	}
	u, err := p.counter.use(c, c.Today())
	row := p.row(c.Today(), u)
	return &row, true, err
}

// part is the rows of a status: they stand together.
func (k *keptDue) part(status string) []*PMDueRow {
	if status == "" {
		return k.rows
	}
	rank := dueRank(status)
	from := sort.Search(len(k.rows), func(i int) bool { return dueRank(k.rows[i].DueStatus) >= rank })
	to := sort.Search(len(k.rows), func(i int) bool { return dueRank(k.rows[i].DueStatus) > rank })
	return k.rows[from:to]
}
