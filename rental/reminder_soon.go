package rental

import (
	"cmp"
	"slices"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// soonCharge is a charge that posting on a day makes, or made that day.
type soonCharge struct {
	Charge
	open int64 // of it, less credit
}

// dueSoon are the reminders of rent due today to so many days from now, each due day once.
func dueSoon(c *db.Conn, s ReminderSettings, named []int64) (all []*telling, err error) {
	if s.BeforeDays == 0 {
		return nil, nil
	}
	today, last := c.Today(), c.Today()+exact.Day(s.BeforeDays) // #nosec G115 -- at most 14
	ids, err := db.All(c, db.Int, "SELECT id FROM leases WHERE next_event_day <= ?", last)
	if err != nil {
		return nil, err
	}
	charged, err := db.All(c, db.Int, "SELECT lease_id FROM charges WHERE due_date = ? AND paid_date IS NULL", today)
	if err != nil {
		return nil, err
	}
	ids = append(ids, charged...)
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		if len(named) > 0 && !slices.Contains(named, id) {
			continue
		}
		found, err := soonOf(c, id, last)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.SortStableFunc(all, func(a, b *telling) int { return cmp.Compare(a.day, b.day) })
	return all, nil
}

// soonOf are a lease's due days until last without a reminder.
func soonOf(c *db.Conn, lease int64, last exact.Day) (all []*telling, err error) {
	charges, err := chargesUntil(c, lease, last)
	if err != nil {
		return nil, err
	}
	for len(charges) > 0 {
		t := &telling{day: charges[0].DueDate}
		t.lease.ID = lease
		for len(charges) > 0 && charges[0].DueDate == t.day {
			t.open += charges[0].open
			charges = charges[1:]
		}
		_, told, err := db.One(c, db.Int, "SELECT 1 FROM due_marks WHERE lease_id = ? AND due_day = ?", lease, t.day)
		if err != nil {
			return nil, err
		}
		if t.open > 0 && !told {
			all = append(all, t)
		}
	}
	return all, nil
}

// chargesUntil are the charges of a lease's periods that begin today to last, posted or not, by day, minus the credit
// left by earlier charges.
func chargesUntil(c *db.Conn, lease int64, last exact.Day) (all []soonCharge, err error) {
	l, err := leases.ByID(c, lease)
	if err != nil {
		return nil, err
	}
	every, err := recurringOf(c, lease)
	if err != nil {
		return nil, err
	}
	credit, err := creditOf(c, lease)
	if err != nil {
		return nil, err
	}
	open, err := charges.All(c, `WHERE c.lease_id = ?
		AND c.paid_date IS NULL
		AND c.due_date BETWEEN ? AND ?`, lease, c.Today(), last)
	if err != nil {
		return nil, err
	}
	coming := l.coming(every, last)
	for _, x := range open { // an existing charge of the same label is not posted again
		same := func(y Charge) bool { return y.Type == x.Type && y.DueDate == x.DueDate && y.Label == x.Label }
		was := len(coming)
		coming = slices.DeleteFunc(coming, same)
		if own := len(coming) < was || x.recurring != nil || x.Type == rent; !own {
			x.Period = 0 // it is no period's, and takes of the credit only
		}
		coming = append(coming, x)
	}
	slices.SortStableFunc(coming, func(a, b Charge) int {
		return cmp.Or(cmp.Compare(a.DueDate, b.DueDate), cmp.Compare(firstID(a), firstID(b)))
	})
	for _, x := range coming {
		used := min(credit, x.BalanceCents)
		credit -= used
		if x.Period != 0 {
			all = append(all, soonCharge{x, x.BalanceCents - used})
		}
	}
	return all, nil
}

// firstID sorts existing charges before future ones.
func firstID(x Charge) int64 {
	if x.ID == 0 {
		return maxCents
	}
	return x.ID
}

// coming are the charges of unposted periods until last.
func (l Lease) coming(every []Recurring, last exact.Day) (all []Charge) {
	if l.nextPost == nil {
		return nil
	}
	t := l.terms()
	for next := *l.nextPost; next <= last && t.covers(next); {
		p, then := t.from(next), t.at(next)
		cents := then.charge(p)
		all = append(all, Charge{Type: rent, DueDate: p.First, AmountCents: cents, BalanceCents: cents,
			Period:      p.First.Month(),
			PeriodStart: &p.First, PeriodEnd: &p.Last})
		for _, r := range every {
			if r.holds(next) {
				all = append(all, Charge{Type: r.Type, Label: r.Label, DueDate: next, AmountCents: r.AmountCents,
					BalanceCents: r.AmountCents, Period: next.Month()})
			}
		}
		next = resume(p, cents, then.Rent)
	}
	return all
}
