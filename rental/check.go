package rental

import (
	"fmt"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// check recomputes every invariant of the service from the rows and names each breach.
func (s *Service) check(c *db.Conn) (breaches []string, err error) {
	found := func(format string, args ...any) { breaches = append(breaches, fmt.Sprintf(format, args...)) }
	for _, look := range []func(*db.Conn, func(string, ...any)) error{checkRows(paymentBreaches), checkSums, checkFees,
		checkPeriods, checkEvents, checkRows(rowBreaches), checkYears, checkClosed} {
		if err := look(c, found); err != nil {
			return breaches, err
		}
	}
	return breaches, nil
}

// paymentBreaches are statements whose every row is a breach: what a charge says of its payments is what their
// allocations say, and what a payment has of credit is what they leave of it.
var paymentBreaches = []string{
	`SELECT CASE
		WHEN cents <> sum THEN printf('charge %d says that %d are paid, and its allocations are %d', id, cents, sum)
		WHEN paid AND NOT whole THEN printf(
			'charge %d is paid, and the allocations of its payments are %d of %d', id, sum, amount)
		WHEN NOT paid AND whole THEN printf('charge %d is unpaid, and the allocations of its payments are all of it', id)
		WHEN paid AND NOT same THEN printf('charge %d and its last payment differ in lease, method or day', id)
		END AS breach FROM (SELECT c.id, c.amount_cents AS amount, c.paid_cents AS cents, c.paid_date IS NOT NULL AS paid,
		coalesce(sum(a.amount_cents), 0) AS sum, count(a.id) > 0 AND sum(a.amount_cents) = c.amount_cents AS whole,
		coalesce(min(m.lease_id = c.lease_id AND m.paid_date <= c.paid_date AND m.voided_at IS NULL)
		AND max(m.method IS c.method AND m.paid_date IS c.paid_date), 0) AS same
		FROM charges c LEFT JOIN allocations a ON a.charge_id = c.id LEFT JOIN payments m ON m.id = a.payment_id
		GROUP BY c.id) WHERE breach IS NOT NULL`,
	`SELECT CASE
		WHEN voided AND (credit <> 0 OR sum <> 0) THEN printf(
			'payment %d was reversed, and has %d of credit and %d allocated', id, credit, sum)
		WHEN NOT voided AND credit <> amount - sum THEN printf(
			'payment %d over %d has %d allocated, and says that %d are credit', id, amount, sum, credit)
		END AS breach FROM (SELECT m.id, m.amount_cents AS amount, m.credit_cents AS credit,
		m.voided_at IS NOT NULL AS voided, coalesce(sum(a.amount_cents), 0) AS sum
		FROM payments m LEFT JOIN allocations a ON a.payment_id = m.id GROUP BY m.id) WHERE breach IS NOT NULL`,
}

// rowBreaches are further such statements.
var rowBreaches = []string{
	// No two leases cover the same day of one unit.
	`SELECT printf('leases %d and %d cover the same day of unit %d', before, id, unit_id) FROM (
		SELECT id, unit_id, start_date, lag(id) OVER w AS before, lag(last_day) OVER w AS last FROM leases
		WINDOW w AS (PARTITION BY unit_id ORDER BY start_date)) WHERE start_date <= last`,
	// A ticket's lease is one of its unit.
	`SELECT printf('ticket %d belongs to a lease of another unit', k.id) FROM tickets k JOIN leases l ON l.id = k.lease_id
		WHERE l.unit_id <> k.unit_id`,
	// A reminder that was mailed is of a charge that there is.
	`SELECT printf('a reminder is marked as mailed for charge %d, which there is not', m.charge_id) FROM late_marks m
		LEFT JOIN charges c ON c.id = m.charge_id WHERE c.id IS NULL`,
	// A bank line has what its state says and nothing else, what it is linked with stands and is of its sum, and the parts
	// of a split are the line.
	`SELECT CASE
		WHEN state = 'booked' AND (links <> 1 OR made <> 1 OR standing <> 1) THEN printf(
			'bank line %d is booked, and has %d links of which %d made a payment and %d stand', line, links, made, standing)
		WHEN state = 'linked' AND (links = 0 OR made <> 0 OR standing <> links) THEN printf(
			'bank line %d is linked, and of its %d links %d stand', line, links, standing)
		WHEN state = 'returned' AND links = 0 THEN printf('bank line %d is returned, and names no payment', line)
		WHEN state IN ('free', 'ignored', 'split') AND links <> 0 THEN printf(
			'bank line %d is %s, and has %d links', line, state, links)
		WHEN (state = 'split') <> (parts > 0) OR parts > 0 AND sum <> cents THEN printf(
			'bank line %d over %d is %s, and has %d parts over %d', line, cents, state, parts, sum)
		END AS breach FROM (SELECT b.id AS line, b.state, b.amount_cents AS cents,
		(SELECT count(*) FROM bank_links WHERE line_id = b.id) AS links,
		(SELECT coalesce(sum(made), 0) FROM bank_links WHERE line_id = b.id) AS made,
		(SELECT count(*) FROM bank_links k LEFT JOIN payments m ON m.id = k.payment_id WHERE k.line_id = b.id
		AND (k.payment_id IS NULL OR m.voided_at IS NULL OR b.state = 'linked' AND ` + returnedByBank + `)) AS standing,
		(SELECT count(*) FROM bank_lines WHERE parent_id = b.id) AS parts,
		(SELECT coalesce(sum(amount_cents), 0) FROM bank_lines WHERE parent_id = b.id) AS sum
		FROM bank_lines b) WHERE breach IS NOT NULL ORDER BY line`,
	`SELECT printf('bank line %d over %d is settled by records over %d', id, cents, sum)
		FROM (SELECT b.id, b.amount_cents AS cents, (SELECT coalesce(sum(m.amount_cents), 0) FROM bank_links k JOIN payments m
		ON m.id = k.payment_id WHERE k.line_id = b.id)
		- (SELECT coalesce(sum(o.amount_cents), 0) FROM bank_links k JOIN payouts o ON o.id = k.payout_id
		WHERE k.line_id = b.id)
		- (SELECT coalesce(sum(e.amount_cents), 0) FROM bank_links k JOIN expenses e ON e.id = k.expense_id
		WHERE k.line_id = b.id) AS sum
		FROM bank_lines b WHERE b.state IN ('booked', 'linked')
		AND NOT EXISTS (SELECT 1 FROM bank_links k JOIN bank_links o ON (o.payment_id = k.payment_id
		OR o.payout_id = k.payout_id OR o.expense_id = k.expense_id) AND o.line_id <> b.id WHERE k.line_id = b.id))
		WHERE sum <> cents`,
	`SELECT printf('payment %d over %d is linked with bank lines over %d', m.id, m.amount_cents, sum(b.amount_cents))
		FROM bank_links k JOIN payments m ON m.id = k.payment_id JOIN bank_lines b ON b.id = k.line_id
		WHERE m.voided_at IS NULL GROUP BY m.id HAVING count(*) > 1 AND m.amount_cents <> sum(b.amount_cents)`,
	// A bank statement that is balanced adds up.
	`SELECT printf('bank statement %d is %s, and its lines are %d', id, state, sum_cents) FROM bank_statements
		WHERE state <> CASE WHEN opening_cents IS NULL OR closing_cents IS NULL THEN 'unchecked'
		WHEN opening_cents + sum_cents = closing_cents THEN 'balanced' ELSE 'unbalanced' END`,
}

// checkRows finds what the statements select.
func checkRows(queries []string) func(*db.Conn, func(string, ...any)) error {
	return func(c *db.Conn, found func(string, ...any)) error {
		for _, query := range queries {
			all, err := db.All(c, db.Text, query)
			if err != nil {
				return err
			}
			for _, breach := range all {
				found("%s", breach)
			}
		}
		return nil
	}
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
	leases, err := leases.All(c, "ORDER BY l.id")
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
		rents, err := charges.All(c, "WHERE c.lease_id = ? AND c.type = 'rent' ORDER BY c.period_start", l.ID)
		if err != nil {
			return err
		}
		for _, x := range rents {
			next = checkPeriod(l, x, next, found)
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
