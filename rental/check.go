package rental

import (
	"fmt"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// check recomputes every invariant of the service from the rows and names each breach,
// for doctor.
func (s *Service) check(c *db.Conn) (breaches []string, err error) {
	found := func(format string, args ...any) { breaches = append(breaches, fmt.Sprintf(format, args...)) }
	for _, look := range []func(*db.Conn, func(string, ...any)) error{checkPayments, checkSums, checkPeriods, checkOverlaps, checkTickets} {
		if err := look(c, found); err != nil {
			return breaches, err
		}
	}
	return breaches, nil
}

// checkPayments: every paid charge has exactly one standing payment, which says the
// same; an unpaid one has none.
func checkPayments(c *db.Conn, found func(string, ...any)) error {
	return db.Each(c, func(r *db.Row) error {
		charge, paid, standing, same := r.Int(), r.Bool(), r.Int(), r.Bool()
		switch {
		case paid && standing != 1:
			found("charge %d is paid and has %d standing payments, not 1", charge, standing)
		case !paid && standing != 0:
			found("charge %d is unpaid and has %d standing payments, not 0", charge, standing)
		case paid && !same:
			found("charge %d and its payment differ in lease, amount, method or day", charge)
		}
		return nil
	}, `SELECT c.id, c.paid_date IS NOT NULL, count(m.id), coalesce(max(m.lease_id = c.lease_id AND m.amount_cents = c.amount_cents
		AND m.method IS c.method AND m.paid_date IS c.paid_date), 0)
		FROM charges c LEFT JOIN payments m ON m.charge_id = c.id AND m.voided_at IS NULL GROUP BY c.id`)
}

// checkSums: what was billed is what was received and what is owed, per lease and in
// sum; the three come from different rows and indexes.
func checkSums(c *db.Conn, found func(string, ...any)) error {
	var all Totals
	err := db.Each(c, func(r *db.Row) error {
		lease := r.Int()
		t := Totals{r.Int(), r.Int(), r.Int()}
		if t.BilledCents != t.PaidCents+t.BalanceCents {
			found("lease %d: billed %d is not paid %d + balance %d", lease, t.BilledCents, t.PaidCents, t.BalanceCents)
		}
		all.BilledCents += t.BilledCents
		all.PaidCents += t.PaidCents
		all.BalanceCents += t.BalanceCents
		return nil
	}, `SELECT l.id, (SELECT coalesce(sum(amount_cents), 0) FROM charges WHERE lease_id = l.id),
		(SELECT coalesce(sum(m.amount_cents), 0) FROM charges c JOIN payments m ON m.charge_id = c.id AND m.voided_at IS NULL WHERE c.lease_id = l.id),
		(SELECT coalesce(sum(amount_cents), 0) FROM charges WHERE lease_id = l.id AND paid_date IS NULL) FROM leases l`)
	if err != nil {
		return err
	}
	sums, _, err := db.One(c, func(r *db.Row) Totals { return Totals{r.Int(), r.Int(), r.Int()} },
		`SELECT (SELECT coalesce(sum(amount_cents), 0) FROM charges), (SELECT coalesce(sum(amount_cents), 0) FROM payments WHERE voided_at IS NULL),
		(SELECT coalesce(sum(amount_cents), 0) FROM charges WHERE paid_date IS NULL)`)
	if err == nil && sums != all {
		found("the leases' sums %+v are not those of all rows %+v", all, sums)
	}
	return err
}

// checkPeriods walks every lease's billing periods: none twice, none missing, each of
// the days, the label and the amount that its terms give, and next_post_day after the
// last one.
func checkPeriods(c *db.Conn, found func(string, ...any)) error {
	leases, err := db.All(c, scanLease(c.Today()), "SELECT "+leaseColumns+fromLeases+" ORDER BY l.id")
	if err != nil {
		return err
	}
	for _, l := range leases {
		t := l.terms()
		next := t.Start
		err := db.Each(c, func(r *db.Row) error {
			next = checkPeriod(l, scanCharge(r), next, found)
			return nil
		}, "SELECT "+chargeColumns+" FROM charges c WHERE c.lease_id = ? AND c.type = 'rent' ORDER BY c.period_start", l.ID)
		if err != nil {
			return err
		}
		want := t.comes(next)
		if (want == nil) != (l.nextPost == nil) || want != nil && *want != *l.nextPost {
			found("lease %d: next_post_day is %s, and its postings go on at %s", l.ID, orNone(l.nextPost), orNone(want))
		}
	}
	return nil
}

// checkPeriod looks at one posted period that should begin on next, and gives where
// the one after it should.
func checkPeriod(l Lease, c Charge, next exact.Day, found func(string, ...any)) exact.Day {
	if c.PeriodStart == nil || c.PeriodEnd == nil {
		found("charge %d is rent without a period", c.ID)
		return next
	}
	t := l.terms()
	if *c.PeriodStart != next {
		found("lease %d: the period of charge %d begins on %s, and not on %s", l.ID, c.ID, c.PeriodStart, next)
	}
	if !t.covers(*c.PeriodStart) || !t.covers(*c.PeriodEnd) {
		found("lease %d: the period of charge %d, %s to %s, lies outside the lease", l.ID, c.ID, c.PeriodStart, c.PeriodEnd)
	}
	p := t.posted(c)
	if p.Last > p.FullLast {
		found("lease %d: the period of charge %d ends on %s, after %s", l.ID, c.ID, p.Last, p.FullLast)
	}
	if c.AmountCents != c.rent && c.AmountCents != byTheDay(c.rent, p) {
		found("lease %d: charge %d is %d, which is neither the rent %d nor its share of %d of %d days", l.ID, c.ID, c.AmountCents, c.rent, p.days(), p.fullDays())
	}
	return resume(p, c.AmountCents, c.rent)
}

func orNone(d *exact.Day) string {
	if d == nil {
		return "none"
	}
	return d.String()
}

// checkOverlaps: no two leases cover the same day of one unit.
func checkOverlaps(c *db.Conn, found func(string, ...any)) error {
	var unit, lease int64
	var last exact.Day
	return db.Each(c, func(r *db.Row) error {
		u, l, start, end := r.Int(), r.Int(), r.Day(), r.Day()
		if u == unit && start <= last {
			found("leases %d and %d cover the same day of unit %d", lease, l, u)
		}
		unit, lease, last = u, l, end
		return nil
	}, "SELECT unit_id, id, start_date, last_day FROM leases ORDER BY unit_id, start_date")
}

// checkTickets: a ticket's lease is one of its unit.
func checkTickets(c *db.Conn, found func(string, ...any)) error {
	return db.Each(c, func(r *db.Row) error {
		found("ticket %d belongs to a lease of another unit", r.Int())
		return nil
	}, "SELECT k.id FROM tickets k JOIN leases l ON l.id = k.lease_id WHERE l.unit_id <> k.unit_id")
}
