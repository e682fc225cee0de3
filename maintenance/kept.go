package maintenance

import (
	"context"
	"slices"
	"sort"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// dueList is the due list of a day in its order. What was computed last is kept, and renewed
// by the plans that were changed since (table pm_touched): at 10,000 plans computing all
// takes some 60 ms, looking after one change 0.1.
type dueList []*PMDueRow

// dueRows is the due list in its order, of a status or, with "", whole. The rows are not
// the caller's to change.
func (s *Service) dueRows(ctx context.Context, status string) (rows []*PMDueRow, today exact.Day, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		list, err := s.due.At(c, db.Renewal[dueList]{
			Last:    "SELECT coalesce(max(seq), 0) FROM pm_touched",
			Since:   "SELECT plan_id FROM pm_touched WHERE seq > ?",
			Size:    func(l dueList) int { return len(l) },
			All:     func() (dueList, error) { return wholeDue(c) },
			Changed: func(old dueList, plans []int64) (dueList, error) { return patched(c, old, plans) },
		})
		rows, today = list.part(status), c.Today()
		return err
	})
	return rows, today, err
}

// wholeDue computes the whole list.
func wholeDue(c *db.Conn) (dueList, error) {
	list, err := listDue(c, "")
	rows := make(dueList, len(list.PMDue))
	for i := range list.PMDue {
		rows[i] = &list.PMDue[i]
	}
	return rows, err
}

// patched is the list with the changed plans as they are now.
func patched(c *db.Conn, rows dueList, changed []int64) (dueList, error) {
	gone := func(r *PMDueRow) bool { _, is := slices.BinarySearch(changed, r.PMID); return is }
	now := make(dueList, 0, len(rows)+len(changed))
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
func (l dueList) part(status string) []*PMDueRow {
	if status == "" {
		return l
	}
	rank := dueRank(status)
	from := sort.Search(len(l), func(i int) bool { return dueRank(l[i].DueStatus) >= rank })
	to := sort.Search(len(l), func(i int) bool { return dueRank(l[i].DueStatus) > rank })
	return l[from:to]
}
