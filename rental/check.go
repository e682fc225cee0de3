package rental

import (
	"fmt"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// check recomputes every invariant of the service from the rows and names each breach.
func (s *Service) check(c *db.Conn) (breaches []string, err error) {
	found := func(format string, args ...any) { breaches = append(breaches, fmt.Sprintf(format, args...)) }
	for _, look := range []func(*db.Conn, func(string, ...any)) error{checkPayments, checkSums, checkFees, checkPeriods,
		checkEvents, checkOverlaps, checkTickets, checkMarks, checkLines, checkStatements, checkYears, checkClosed} {
		if err := look(c, found); err != nil {
			return breaches, err
		}
	}
	return breaches, nil
}

// checkPayments: what a charge says of its payments is what their allocations say, and
// what a payment has of credit is what they leave of it.
func checkPayments(c *db.Conn, found func(string, ...any)) error {
	err := db.Each(c, func(r *db.Row) error {
		charge, amount, cents, paid, sum, n, same := r.Int(), r.Int(), r.Int(), r.Bool(), r.Int(), r.Int(), r.Bool()
		switch full := n > 0 && sum == amount; {
		case cents != sum:
			found("charge %d says that %d are paid, and its allocations are %d", charge, cents, sum)
		case paid && !full:
			found("charge %d is paid, and the allocations of its payments are %d of %d", charge, sum, amount)
		case !paid && full:
			found("charge %d is unpaid, and the allocations of its payments are all of it", charge)
		case paid && !same:
			found("charge %d and its last payment differ in lease, method or day", charge)
		}
		return nil
	}, `SELECT c.id, c.amount_cents, c.paid_cents, c.paid_date IS NOT NULL, coalesce(sum(a.amount_cents), 0), count(a.id),
		coalesce(min(m.lease_id = c.lease_id AND m.paid_date <= c.paid_date AND m.voided_at IS NULL)
		AND max(m.method IS c.method AND m.paid_date IS c.paid_date), 0)
		FROM charges c LEFT JOIN allocations a ON a.charge_id = c.id LEFT JOIN payments m ON m.id = a.payment_id
		GROUP BY c.id`)
	if err != nil {
		return err
	}
	return db.Each(c, func(r *db.Row) error {
		payment, amount, credit, voided, sum := r.Int(), r.Int(), r.Int(), r.Bool(), r.Int()
		switch {
		case voided && (credit != 0 || sum != 0):
			found("payment %d was reversed, and has %d of credit and %d allocated", payment, credit, sum)
		case !voided && credit != amount-sum:
			found("payment %d over %d has %d allocated, and says that %d are credit", payment, amount, sum, credit)
		}
		return nil
	}, `SELECT m.id, m.amount_cents, m.credit_cents, m.voided_at IS NOT NULL, coalesce(sum(a.amount_cents), 0)
		FROM payments m LEFT JOIN allocations a ON a.payment_id = m.id GROUP BY m.id`)
}

// checkSums: billed is paid and balance, and what is paid and credit is what came in,
// deposits used, less the credit that went out; per lease and in sum. The parts come from
// different rows.
func checkSums(c *db.Conn, found func(string, ...any)) error {
	type sums struct {
		lease, billed, paid, balance, credit, received, used, opening, returned, deposits,
		depositsReturned int64
	}
	return db.Each(c, func(r *db.Row) error {
		t := sums{r.Int(), r.Int(), r.Int(), r.Int(), r.Int(), r.Int(), r.Int(), r.Int(), r.Int(), r.Int(), r.Int()}
		if t.billed != t.paid+t.balance {
			found("lease %d: billed %d is not paid %d + balance %d", t.lease, t.billed, t.paid, t.balance)
		}
		if t.paid+t.credit != t.received+t.used+t.opening-t.returned {
			found("lease %d: paid %d + credit %d is not received %d + deposits used %d + opening credit %d - credit returned %d",
				t.lease, t.paid, t.credit, t.received, t.used, t.opening, t.returned)
		}
		if held := t.deposits - t.used - t.depositsReturned; held < 0 {
			found("lease %d: %d are held of its deposits, less than nothing", t.lease, held)
		}
		return nil
	}, `SELECT l.id, (SELECT coalesce(sum(amount_cents), 0) FROM charges WHERE lease_id = l.id),
		(SELECT coalesce(sum(a.amount_cents), 0) FROM charges c JOIN allocations a ON a.charge_id = c.id
		WHERE c.lease_id = l.id),
		(SELECT coalesce(sum(amount_cents - paid_cents), 0) FROM charges WHERE lease_id = l.id AND paid_date IS NULL),
		(SELECT coalesce(sum(credit_cents), 0) FROM payments WHERE lease_id = l.id),
		(SELECT coalesce(sum(amount_cents), 0) FROM payments WHERE lease_id = l.id AND voided_at IS NULL
		AND method NOT IN ('deposit', 'opening')),
		(SELECT coalesce(sum(amount_cents), 0) FROM payments WHERE lease_id = l.id AND voided_at IS NULL
		AND method = 'deposit'),
		(SELECT coalesce(sum(amount_cents), 0) FROM payments WHERE lease_id = l.id AND voided_at IS NULL
		AND method = 'opening'),
		(SELECT coalesce(sum(amount_cents), 0) FROM payouts WHERE lease_id = l.id AND kind = 'credit'),
		(SELECT coalesce(sum(paid_cents), 0) FROM charges WHERE lease_id = l.id AND type = 'deposit'),
		(SELECT coalesce(sum(amount_cents), 0) FROM payouts WHERE lease_id = l.id AND kind = 'deposit') FROM leases l`)
}

// checkFees: every late fee that is not paid is what the days of its rent's payments make
// it, and a rent charge tells when its fee is to be posted exactly when one is.
func checkFees(c *db.Conn, found func(string, ...any)) error {
	type posted struct {
		rentFee
		fee, cents, due *int64
		paid            bool
	}
	all, err := db.All(c, func(r *db.Row) posted {
		return posted{scanRentFee(r), r.IntPtr(), r.IntPtr(), r.IntPtr(), r.Bool()}
	}, `SELECT r.id, r.lease_id, r.amount_cents, r.due_date, r.fee_day, f.id, f.amount_cents, f.due_date,
		f.paid_date IS NOT NULL FROM charges r
		JOIN leases l ON l.id = r.lease_id JOIN units u ON u.id = l.unit_id LEFT JOIN charges f ON f.fee_of = r.id
		WHERE r.type = 'rent' AND (f.id IS NOT NULL OR u.property_id IN (SELECT property_id FROM late_fees))`)
	if err != nil {
		return err
	}
	for _, x := range all {
		cents, on, err := owedFee(c, x.rentFee)
		if err != nil {
			return err
		}
		switch {
		case x.fee != nil && !x.paid && (*x.cents != cents || *x.due != int64(on)):
			found("late fee %d is %d, and by the days of the payments %d is due on %s", *x.fee, *x.cents, cents, on)
		case x.fee == nil && (cents > 0) != (x.feeDay != nil), x.fee != nil && x.feeDay != nil, x.feeDay != nil &&
			*x.feeDay != on:
			found("rent charge %d: its late fee of %d is to be posted on %s, and fee_day is %s", x.id, cents, on,
				orNone(x.feeDay))
		}
	}
	return nil
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
		if l.OpeningDay != nil {
			if err := checkOpening(c, l, found); err != nil {
				return err
			}
		}
		t := l.terms()
		next := t.begin(l.OpeningDay)
		err := db.Each(c, func(r *db.Row) error {
			next = checkPeriod(l, scanCharge(r), next, found)
			return nil
		}, "SELECT "+chargeColumns+" FROM charges c WHERE c.lease_id = ? AND c.type = 'rent' ORDER BY c.period_start", l.ID)
		if err != nil {
			return err
		}
		want := t.remaining(next)
		if (want == nil) != (l.nextPost == nil) || want != nil && *want != *l.nextPost {
			found("lease %d: next_post_day is %s, and its postings go on at %s", l.ID, orNone(l.nextPost), orNone(want))
		}
	}
	return nil
}

// checkOpening: of rent, recurring charges and late fees none is due before the day on which the lease
// was taken over, and its entries are what was taken over.
func checkOpening(c *db.Conn, l Lease, found func(string, ...any)) error {
	type sums struct{ early, owed, held, came int64 }
	s, _, err := db.One(c, func(r *db.Row) sums { return sums{r.Int(), r.Int(), r.Int(), r.Int()} },
		`SELECT (SELECT count(*) FROM charges WHERE lease_id = ?1 AND due_date < ?2 AND (type = 'rent'
			OR recurring_id IS NOT NULL OR fee_of IS NOT NULL)),
		(SELECT coalesce(sum(amount_cents), 0) FROM charges WHERE lease_id = ?1 AND opening = 1 AND type = 'opening'
		AND due_date = ?2 - 1),
		(SELECT coalesce(sum(amount_cents), 0) FROM charges WHERE lease_id = ?1 AND opening = 1 AND type = 'deposit'
		AND due_date = ?2 - 1),
		(SELECT coalesce(sum(amount_cents), 0) FROM payments WHERE lease_id = ?1 AND method = 'opening'
		AND paid_date = ?2 - 1)`, l.ID, *l.OpeningDay)
	if s.early > 0 {
		found("lease %d was taken over on %s, and %d of its charges are due before", l.ID, l.OpeningDay, s.early)
	}
	if s.owed != max(l.OpeningBalanceCents, 0) || s.held != l.OpeningDepositCents || s.came != s.held+
		max(-l.OpeningBalanceCents, 0) {
		found("lease %d was taken over with %d and a deposit of %d, and its entries are %d owed, %d held and %d paid", l.ID,
			l.OpeningBalanceCents, l.OpeningDepositCents, s.owed, s.held, s.came)
	}
	return err
}

// checkEvents: next_event_day is the first day on which something is to be posted.
func checkEvents(c *db.Conn, found func(string, ...any)) error {
	return db.Each(c, func(r *db.Row) error {
		lease, says, next := r.Int(), r.DayPtr(), r.DayPtr()
		next = earlier(next, r.DayPtr())
		if due := r.DayPtr(); r.Bool() {
			next = earlier(next, due)
		}
		if !ptrEqual(says, next) {
			found("lease %d: next_event_day is %s, and the next thing to post is on %s", lease, orNone(says), orNone(next))
		}
		return nil
	}, `SELECT l.id, l.next_event_day, l.next_post_day, (SELECT min(fee_day) FROM charges WHERE lease_id = l.id),
		(SELECT min(due_date) FROM charges WHERE lease_id = l.id AND paid_date IS NULL AND amount_cents > paid_cents),
		EXISTS (SELECT 1 FROM payments WHERE lease_id = l.id AND credit_cents > 0) FROM leases l`)
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
		found("lease %d: charge %d is %d, which is neither the rent %d nor its share of %d of %d days", l.ID, c.ID,
			c.AmountCents, c.rent, p.days(), p.fullDays())
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

// checkMarks: a reminder that was mailed is of a charge that there is.
func checkMarks(c *db.Conn, found func(string, ...any)) error {
	return db.Each(c, func(r *db.Row) error {
		found("a reminder is marked as mailed for charge %d, which there is not", r.Int())
		return nil
	}, "SELECT m.charge_id FROM late_marks m LEFT JOIN charges c ON c.id = m.charge_id WHERE c.id IS NULL")
}

// checkTickets: a ticket's lease is one of its unit.
func checkTickets(c *db.Conn, found func(string, ...any)) error {
	return db.Each(c, func(r *db.Row) error {
		found("ticket %d belongs to a lease of another unit", r.Int())
		return nil
	}, "SELECT k.id FROM tickets k JOIN leases l ON l.id = k.lease_id WHERE l.unit_id <> k.unit_id")
}
