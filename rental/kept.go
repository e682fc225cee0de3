package rental

import (
	"cmp"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
)

// keptStates is, as of a day, which units are let and in which state each lease is: all
// by id, so that a page of them costs what it gives. It is renewed by the units that were
// changed since (table unit_touched).
type keptStates struct {
	vacant, occupied []int64
	leases           map[string][]leaseOf // by status
}

// leaseOf is a lease with its unit.
type leaseOf struct{ id, unit int64 }

// states is what a view sees of them.
func (s *Service) states(c *db.Conn) (*keptStates, error) {
	return s.kept.At(c, db.Renewal[*keptStates]{
		Last:    "SELECT coalesce(max(seq), 0) FROM unit_touched",
		Since:   "SELECT unit_id FROM unit_touched WHERE seq > ?",
		Size:    func(k *keptStates) int { return len(k.vacant) + len(k.occupied) },
		All:     func() (*keptStates, error) { return allStates(c) },
		Changed: func(old *keptStates, units []int64) (*keptStates, error) { return old.patched(c, units) },
	})
}

// allStates looks at every unit and lease.
func allStates(c *db.Conn) (*keptStates, error) {
	today := c.Today()
	now := &keptStates{leases: map[string][]leaseOf{}}
	let := map[int64]bool{}
	err := db.Each(c, func(r *db.Row) error {
		l, start, end := leaseOf{r.Int(), r.Int()}, r.Day(), r.Day()
		status := statusOn(today, start, &end)
		now.leases[status] = append(now.leases[status], l)
		if status == active {
			let[l.unit] = true
		}
		return nil
	}, "SELECT id, unit_id, start_date, last_day FROM leases ORDER BY id")
	if err != nil {
		return nil, err
	}
	err = db.Each(c, func(r *db.Row) error {
		if unit := r.Int(); let[unit] {
			now.occupied = append(now.occupied, unit)
		} else {
			now.vacant = append(now.vacant, unit)
		}
		return nil
	}, "SELECT id FROM units ORDER BY id")
	return now, err
}

// patched is the states with the changed units as they are now.
func (k *keptStates) patched(c *db.Conn, changed []int64) (*keptStates, error) {
	is := func(unit int64) bool { _, is := slices.BinarySearch(changed, unit); return is }
	now := &keptStates{leases: map[string][]leaseOf{}}
	now.vacant, now.occupied = without(k.vacant, is), without(k.occupied, is)
	for status, all := range k.leases {
		now.leases[status] = without(all, func(l leaseOf) bool { return is(l.unit) })
	}
	for _, unit := range changed {
		let := false
		err := db.Each(c, func(r *db.Row) error {
			l, start, end := leaseOf{r.Int(), unit}, r.Day(), r.Day()
			status := statusOn(c.Today(), start, &end)
			now.leases[status] = append(now.leases[status], l)
			let = let || status == active
			return nil
		}, "SELECT id, start_date, last_day FROM leases WHERE unit_id = ?", unit)
		if err != nil {
			return nil, err
		}
		_, there, err := db.One(c, db.Int, "SELECT 1 FROM units WHERE id = ?", unit)
		switch {
		case err != nil:
			return nil, err
		case let:
			now.occupied = append(now.occupied, unit)
		case there:
			now.vacant = append(now.vacant, unit)
		}
	}
	slices.Sort(now.vacant)
	slices.Sort(now.occupied)
	for _, all := range now.leases {
		slices.SortFunc(all, func(a, b leaseOf) int { return cmp.Compare(a.id, b.id) })
	}
	return now, nil
}

// without is a copy that leaves out what drop names.
func without[T any](all []T, drop func(T) bool) []T {
	kept := make([]T, 0, len(all)+8)
	for _, x := range all {
		if !drop(x) {
			kept = append(kept, x)
		}
	}
	return kept
}

// units are those of a status; of "" there is no list.
func (k *keptStates) units(status string) []int64 {
	if status == vacant {
		return k.vacant
	}
	return k.occupied
}

// behind returns the ids of a page, and one more.
func behind[T any](all []T, page schema.Cursor[int64], id func(T) int64) []T {
	from, found := slices.BinarySearchFunc(all, page.After, func(x T, after int64) int { return cmp.Compare(id(x), after) })
	if found {
		from++
	}
	all = all[from:]
	return all[:min(int64(len(all)), page.Fetch())]
}

// eachOf reads one record for each id.
func eachOf[T, R any](ids []T, read func(T) (R, bool, error)) ([]R, error) {
	list := make([]R, 0, len(ids))
	for _, id := range ids {
		x, found, err := read(id)
		if err != nil {
			return nil, err
		}
		if found {
			list = append(list, x)
		}
	}
	return list, nil
}
