package rental

import (
	"slices"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// postings is the audit entry of one lease's posting.
type postings struct {
	Charges     int       `json:"charges"`
	From        exact.Day `json:"from"`
	To          exact.Day `json:"to"`
	AmountCents int64     `json:"amount_cents"`
}

// post brings leases up to today: every billing period with its recurring charges and
// every late fee that is due by today and not posted yet, and credit that meets what is
// due; all of it or, on a fault, none, with one audit entry a lease by the actor
// "system". It is the only place where time makes charges. That a period is posted once
// is held by next_post_day, read in the transaction that moves it, and in the end by the
// unique key over lease, type and period_start.
func post(tx *db.Tx, leases ...int64) error {
	today := tx.Today()
	for _, lease := range leases {
		next, found, err := db.One(&tx.Conn, db.Int, "SELECT 1 FROM leases WHERE id = ? AND next_event_day <= ?", lease,
			today)
		if err != nil {
			return err
		}
		if !found || next == 0 {
			continue // nothing is due, or another request posted it meanwhile
		}
		if err := catchUp(tx, lease); err != nil {
			return err
		}
	}
	return nil
}

// postedLease returns a lease, as it was before everything that is due of it was posted.
func postedLease(tx *db.Tx, id int64) (Lease, error) {
	l, err := leases.ByID(&tx.Conn, id)
	if err != nil {
		return l, err
	}
	return l, post(tx, id)
}

// acted runs an act on a lease of which everything due is posted, posts what is due after it, and gives the totals.
func acted(tx *db.Tx, lease int64, act func() error) (Totals, error) {
	err := post(tx, lease)
	if err == nil {
		err = act()
	}
	if err == nil {
		err = catchUp(tx, lease)
	}
	if err != nil {
		return Totals{}, err
	}
	return totalsOf(&tx.Conn, lease)
}

// poster posts one lease's events in the order of their days.
type poster struct {
	tx        *db.Tx
	lease     int64
	terms     terms
	recurring []Recurring
	fees      bool // the property has late fees
	done      postings
}

// catchUp is post for a lease whose charges or payments have just changed: afterwards nothing is due by today, and
// next_event_day is the next day with something to post.
func catchUp(tx *db.Tx, lease int64) error { return catchUpTo(tx, lease, tx.Today()) }

// catchUpTo is catchUp for an earlier day.
func catchUpTo(tx *db.Tx, lease int64, today exact.Day) error {
	p, next, err := newPoster(tx, lease)
	if err != nil {
		return err
	}
	for {
		event, err := p.nextEvent(next)
		if err != nil {
			return err
		}
		if event == nil || *event > today {
			return p.finish(event)
		}
		if err := tx.CheckClock(); err != nil { // with an implausible clock nothing is posted
			return err
		}
		if next, err = p.day(*event, next, today); err != nil {
			return err
		}
	}
}

func newPoster(tx *db.Tx, lease int64) (p *poster, next *exact.Day, err error) {
	p = &poster{tx: tx, lease: lease}
	_, found, err := db.One(&tx.Conn, func(r *db.Row) bool {
		p.terms = terms{Start: r.Day(), End: r.DayPtr(), Frequency: r.Text(), DueDay: r.Int(), Rent: r.Int(),
			Proration: r.Text()}
		next = r.DayPtr()
		p.terms.Steps = parseSteps(r.Text())
		p.fees = r.Bool()
		return true
	}, "SELECT l.start_date, l.end_date, l.frequency, l.due_day, l.rent_cents, l.proration, l.next_post_day, "+stepsColumn+
		`,
		EXISTS (SELECT 1 FROM units u CROSS JOIN late_fees f ON f.property_id = u.property_id WHERE u.id = l.unit_id)
		FROM leases l WHERE l.id = ?`, lease)
	if err != nil {
		return nil, nil, err
	}
	if !found {
		return nil, nil, fault.NotFoundf("there is no lease %d", lease)
	}
	p.recurring, err = recurringOf(&tx.Conn, lease)
	return p, next, err
}

// nextEvent is the day of the next posting: a period, a late fee, or credit for a charge.
func (p *poster) nextEvent(next *exact.Day) (*exact.Day, error) {
	event := next
	if p.fees {
		day, _, err := db.One(&p.tx.Conn, (*db.Row).DayPtr,
			"SELECT min(fee_day) FROM charges WHERE lease_id = ? AND fee_day IS NOT NULL", p.lease)
		if err != nil {
			return nil, err
		}
		event = earlier(event, day)
	}
	credit, err := creditOf(&p.tx.Conn, p.lease)
	if err != nil || credit == 0 {
		return event, err
	}
	due, _, err := db.One(&p.tx.Conn, (*db.Row).DayPtr, `SELECT min(due_date) FROM charges c
		WHERE c.lease_id = ? AND c.paid_date IS NULL AND c.amount_cents > c.paid_cents`, p.lease)
	return earlier(event, due), err
}

func earlier(a, b *exact.Day) *exact.Day {
	if a == nil || b != nil && *b < *a {
		return b
	}
	return a
}

// day posts what is due on a day, and returns where the periods continue. A lease with nothing but rent gets all of its
// periods at once.
func (p *poster) day(on exact.Day, next *exact.Day, today exact.Day) (*exact.Day, error) {
	last := on
	if !p.fees && len(p.recurring) == 0 {
		credit, err := creditOf(&p.tx.Conn, p.lease)
		if err != nil {
			return nil, err
		}
		if credit == 0 {
			last = today
		}
	}
	if next != nil && *next <= last {
		after, err := p.rents(*next, last)
		if err != nil {
			return nil, err
		}
		next = after
	}
	if p.fees {
		if err := postFees(p.tx, p.lease, on); err != nil {
			return nil, err
		}
	}
	return next, useCredit(p.tx, p.lease, last)
}

// rents posts the periods from the one that begins on next until last.
func (p *poster) rents(next, last exact.Day) (*exact.Day, error) {
	for next <= last && p.terms.covers(next) {
		x := p.terms.from(next)
		then := p.terms.at(x.First)
		amount := then.charge(x)
		writeRent(p.tx, p.lease, &then, x, amount)
		if p.done.Charges == 0 {
			p.done.From = x.First
		}
		p.done.Charges++
		p.done.To = x.Last
		p.done.AmountCents += amount
		if p.fees || len(p.recurring) > 0 {
			if err := p.beside(x.First); err != nil {
				return nil, err
			}
		}
		next = resume(x, amount, then.Rent)
	}
	after := p.terms.remaining(next)
	_, err := p.tx.Exec("UPDATE leases SET next_post_day = ? WHERE id = ?", after, p.lease)
	return after, err
}

// beside posts what belongs to the rent just posted for the period from a day: its recurring charges, and the day of
// its late fee.
func (p *poster) beside(first exact.Day) error {
	rent, err := db.Number(&p.tx.Conn,
		"SELECT id FROM charges WHERE lease_id = ? AND type = 'rent' AND period_start = ?", p.lease, first)
	if err != nil {
		return err
	}
	if p.fees {
		if err := refreshFees(p.tx, rent); err != nil {
			return err
		}
	}
	for _, r := range p.recurring {
		if !r.holds(first) {
			continue
		}
		if err := postRecurring(p.tx, p.lease, r, first); err != nil {
			return err
		}
		p.done.Charges++
		p.done.AmountCents += r.AmountCents
	}
	return nil
}

// finish notes the day of the next posting, and audits what was posted.
func (p *poster) finish(event *exact.Day) error {
	p.tx.Do("UPDATE leases SET next_event_day = ?1 WHERE id = ?2 AND next_event_day IS NOT ?1", event, p.lease)
	if p.done.Charges == 0 {
		return nil
	}
	return p.tx.AuditSystem("lease.posted", db.Subject("lease", p.lease), p.done)
}

func writeRent(tx *db.Tx, lease int64, t *terms, p period, amount int64) {
	tx.Do(`INSERT INTO charges (lease_id, type, due_date, amount_cents, period_start, period_end, rent_cents,
		posted_at, label) VALUES (?1, 'rent', ?2, ?3, ?2, ?4, ?5, ?6, ?7)`, lease, p.First, amount, p.Last, t.Rent, tx.Now(),
		t.label(p))
}

// remaining is next if the lease still runs then, else nil: nothing more will be posted.
func (t *terms) remaining(next exact.Day) *exact.Day {
	if !t.covers(next) {
		return nil
	}
	return &next
}

// at are the terms of the period that starts on first: with that day's rent only.
func (t *terms) at(first exact.Day) terms {
	then := *t
	then.Rent, then.Steps = rentOn(t.Rent, t.Steps, first), nil
	return then
}

// toPost lists the leases with something to post by today, by id.
func toPost(c *db.Conn) ([]int64, error) {
	ids, err := db.All(c, db.Int, "SELECT id FROM leases WHERE next_event_day <= ?", c.Today())
	slices.Sort(ids)
	return ids, err
}

// posted returns the period that a rent charge was posted for.
func (t *terms) posted(c Charge) period {
	p := period{First: *c.PeriodStart, Last: *c.PeriodEnd}
	p.FullFirst, p.FullLast = t.around(p.First)
	return p
}
