package rental

import (
	"fmt"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/record"
)

// changeLease sets new terms of a lease. It refuses to shorten it, which is end-lease's
// work, and to change how its periods are counted once one is posted. A lease that has
// postings is first posted up to today by its old terms, so that a new rent, proration
// or end changes nothing that was due before; one without is still a draft, and all of
// its periods follow the new terms.
func changeLease(tx *db.Tx, was, now Lease) error {
	diff := now.differences(was)
	if len(diff) == 0 {
		return nil
	}
	if err := now.check(&tx.Conn); err != nil {
		return err
	}
	if shortens(was.EndDate, now.EndDate) {
		return fault.Fieldf("end_date",
			"end_date: %s would shorten the lease, which an import cannot do: use `rental end-lease %d --date DAY`", now.EndDate,
			was.ID)
	}
	_, posted, err := lastPosted(&tx.Conn, was.ID)
	if err != nil {
		return err
	}
	next := now.begin()
	if posted {
		switch {
		case now.Frequency != was.Frequency:
			return fault.Fieldf("frequency", "frequency: the lease has posted charges, so it stays %s; end it and create "+
				"another", was.Frequency)
		case now.DueDay != was.DueDay:
			return fault.Fieldf("due_day", "due_day: the lease has posted charges, so it stays %d; end it and create "+
				"another", was.DueDay)
		}
		if err := post(tx, was.ID); err != nil {
			return err
		}
		last, _, err := lastPosted(&tx.Conn, was.ID)
		if err != nil {
			return err
		}
		old := was.terms()
		next = resume(old.posted(last), last.AmountCents, last.rent)
		if now.BaseRentCents != was.BaseRentCents { // a step from the next period on
			if err := stepRent(tx, was, next, now.BaseRentCents); err != nil {
				return err
			}
			now.BaseRentCents = was.BaseRentCents
			if diff = now.differences(was); len(diff) == 0 {
				return catchUp(tx, was.ID)
			}
		}
	}
	t := now.terms()
	now.nextPost = t.remaining(next)
	if err := leases.Update(tx, &was, &now); err != nil {
		return err
	}
	setTenants(tx, was.ID, now.Tenants)
	if err := tx.Audit("lease.changed", db.Subject("lease", was.ID), diff); err != nil {
		return err
	}
	if posted {
		return catchUp(tx, was.ID)
	}
	tx.Do("UPDATE leases SET next_event_day = next_post_day WHERE id = ?", was.ID)
	return nil
}

// begin is the first day of the first period that is posted of the lease.
func (l Lease) begin() exact.Day {
	t := l.terms()
	return t.begin(l.OpeningDay)
}

// stepRent makes rent the lease's rent from the next period on, unless it is that already.
func stepRent(tx *db.Tx, l Lease, next exact.Day, rent int64) error {
	if rentOn(l.BaseRentCents, l.Rents, next) == rent {
		return nil
	}
	_, err := setStep(tx, l, next, &rent)
	return err
}

// shortens reports whether a lease would end earlier; nil is open-ended.
func shortens(was, now *exact.Day) bool {
	return now != nil && (was == nil || *now < *was)
}

// lastPosted returns a lease's latest rent charge, if one is posted.
func lastPosted(c *db.Conn, lease int64) (Charge, bool, error) {
	return charges.One(c, "WHERE c.lease_id = ? AND c.type = 'rent' ORDER BY c.period_start DESC LIMIT 1", lease)
}

func (l Lease) tenantIDs() []int64 {
	return schema.Map(l.Tenants, func(t LeaseTenant) int64 { return t.ID })
}

// differences names a lease's changed terms, each with the old and the new value.
func (l Lease) differences(was Lease) record.Changes {
	before, _ := namesOf(was.Tenants)
	names, _ := namesOf(l.Tenants)
	ids, idsNow := was.tenantIDs(), l.tenantIDs()
	d := leases.Edit(&was, l, func(string) bool { return true })
	if before != names {
		d["tenant"] = [2]any{before, names}
	}
	if !slices.Equal(ids, idsNow) {
		d["tenants"] = [2]any{ids, idsNow}
	}
	return d
}

// Ending is the result of ending a lease early: the withdrawn charges, and the shortened one, if any.
type Ending struct {
	Lease     Lease    `json:"lease"`
	Withdrawn []Charge `json:"withdrawn"`
	Cut       *Charge  `json:"cut"`
	Totals    Totals   `json:"totals"`
}

// endEarly makes last the lease's last day. Rent that was posted for later periods is
// withdrawn, and the period that the day cuts short is charged by its days (in full
// where the lease is without proration); other charges stay. It is refused when a rent
// charge after the day, or the one that would have to change, is paid: reverse that
// payment first. A day before the lease's first is invalid, and so is one after its
// present end: an import moves an end out.
func endEarly(tx *db.Tx, lease int64, last exact.Day) (Ending, error) {
	l, err := leases.ByID(&tx.Conn, lease)
	if err != nil {
		return Ending{}, err
	}
	if credit, err := creditOf(&tx.Conn, lease); err != nil {
		return Ending{}, err
	} else if credit > 0 { // what it pays must not depend on who read when
		if err := post(tx, lease); err != nil {
			return Ending{}, err
		}
		if l, err = leases.ByID(&tx.Conn, lease); err != nil {
			return Ending{}, err
		}
	}
	done, err := endLease(tx, l, last)
	if err != nil {
		return Ending{}, err
	}
	if err := catchUp(tx, lease); err != nil {
		return Ending{}, err
	}
	if done.Lease, err = leases.ByID(&tx.Conn, lease); err != nil {
		return Ending{}, err
	}
	done.Totals, err = totalsOf(&tx.Conn, lease)
	return done, err
}

func endLease(tx *db.Tx, l Lease, last exact.Day) (done Ending, err error) {
	switch {
	case last < l.StartDate:
		return done, fault.Fieldf("date", "date: %s lies before the lease's start_date %s", last, l.StartDate)
	case l.EndDate != nil && last > *l.EndDate:
		return done, fault.Fieldf("date",
			"date: the lease ends on %s already; to let it run until %s, import it with that end_date", l.EndDate, last)
	case l.EndDate != nil && last == *l.EndDate:
		return done, fault.Conflictf("the lease ends on %s already", last)
	}
	after, err := charges.All(&tx.Conn, `WHERE c.lease_id = ?1
		AND (c.type = 'rent' AND c.period_end > ?2
		OR c.recurring_id IS NOT NULL AND c.due_date > ?2) ORDER BY c.due_date, c.id`, l.ID, last)
	if err != nil {
		return done, err
	}
	was := l.EndDate
	l.EndDate = &last
	t := l.terms()
	done.Withdrawn = []Charge{}
	for _, c := range after {
		if c.DueDate > last {
			if err := withdraw(tx, "date", c); err != nil {
				return done, err
			}
			done.Withdrawn = append(done.Withdrawn, c)
			continue
		}
		if c, err = cut(tx, &t, c); err != nil {
			return done, err
		}
		done.Cut = &c
	}
	next := l.nextPost
	if next != nil && *next > last {
		next = nil
	}
	tx.Do("UPDATE leases SET end_date = ?1, last_day = ?1, next_post_day = ?2 WHERE id = ?3", last, next, l.ID)
	type gone struct {
		ID          int64  `json:"id"`
		Label       string `json:"label"`
		AmountCents int64  `json:"amount_cents"`
	}
	changes := struct {
		From      *exact.Day `json:"from"`
		To        exact.Day  `json:"to"`
		Withdrawn []gone     `json:"withdrawn"`
		Cut       *gone      `json:"cut"`
	}{From: was, To: last, Withdrawn: []gone{}}
	for _, c := range done.Withdrawn {
		changes.Withdrawn = append(changes.Withdrawn, gone{c.ID, c.Label, c.AmountCents})
	}
	if c := done.Cut; c != nil {
		changes.Cut = &gone{c.ID, c.Label, c.AmountCents}
	}
	return done, tx.Audit("lease.ended", db.Subject("lease", l.ID), changes)
}

// withdraw deletes an unpaid charge, with its late fee unless that is paid; a partly paid one is refused with the given
// argument.
func withdraw(tx *db.Tx, argument string, c Charge) error {
	if c.Paid || c.PaidCents > 0 {
		return fault.Conflictf(
			"%s: charge %d (%s) lies after it and is paid; reverse that payment first, or give a later day", argument, c.ID,
			c.Label)
	}
	fee, found, err := charges.One(&tx.Conn, "WHERE c.fee_of = ?", c.ID)
	if err != nil {
		return err
	}
	if found && !fee.Paid {
		if err := withdrawFee(tx, fee); err != nil {
			return err
		}
	}
	tx.Do("DELETE FROM charges WHERE id = ?", c.ID)
	return nil
}

// cut shortens a posted period to the lease's new end.
func cut(tx *db.Tx, t *terms, c Charge) (Charge, error) {
	then := *t
	then.Rent, then.Steps = c.rent, nil // the rent with which the period was posted, whatever it is now
	p := then.from(*c.PeriodStart)
	amount := then.charge(p)
	if amount > c.AmountCents { // posted prorated: it stays so
		then.Proration = byDays
		amount = then.charge(p)
	}
	if c.Paid && amount != c.AmountCents || c.PaidCents > amount {
		return c, fault.Conflictf(
			"date: charge %d (%s) is paid and would have to change; reverse that payment first, or end the lease with its "+
				"last day", c.ID, c.Label)
	}
	c.Label, c.AmountCents, c.PeriodEnd = then.label(p), amount, &p.Last
	tx.Do("UPDATE charges SET label = ?, amount_cents = ?, period_end = ? WHERE id = ?", c.Label, amount,
		p.Last, c.ID)
	recount(tx, c.ID)
	if err := refreshFees(tx, c.ID); err != nil {
		return c, err
	}
	return charges.ByID(&tx.Conn, c.ID)
}

// FirstDay is the result of moving a lease's first day.
type FirstDay struct {
	Lease     Lease     `json:"lease"`
	Was       exact.Day `json:"was"`
	Withdrawn int       `json:"withdrawn" about:"how many charges were withdrawn; those of the new days are posted"`
	Totals    Totals    `json:"totals"`
}

// setFirstDay gives a lease another first day while nothing is paid on it: its rent, recurring charges
// and late fees are posted again. A lease with a payment that stands is a conflict; a day after the last
// one, after the opening day, or on which the unit is let is invalid.
func setFirstDay(tx *db.Tx, lease int64, day exact.Day) (done FirstDay, err error) {
	l, err := leases.ByID(&tx.Conn, lease)
	if err != nil {
		return done, err
	}
	done = FirstDay{Lease: l, Was: l.StartDate}
	if err := notPaid(&tx.Conn, lease, ""); err != nil {
		return done, err
	}
	if l.OpeningDay != nil && day > *l.OpeningDay {
		return done, fault.Fieldf("date", "date: the lease was taken over on %s, so it cannot begin later", l.OpeningDay)
	}
	l.StartDate = day
	if err := l.check(&tx.Conn); err != nil {
		return done, err
	}
	if day != done.Was {
		if err := restart(tx, l, &done); err != nil {
			return done, err
		}
	}
	if done.Lease, err = leases.ByID(&tx.Conn, lease); err != nil {
		return done, err
	}
	done.Totals, err = totalsOf(&tx.Conn, lease)
	return done, err
}

// restart withdraws everything posted of the lease, and posts it from its new first day on. Charges paid by credit that
// was taken over are open again first.
func restart(tx *db.Tx, l Lease, done *FirstDay) error {
	posted, err := charges.All(&tx.Conn, "WHERE c.lease_id = ? AND (c.type = 'rent' OR c.recurring_id IS NOT NULL)", l.ID)
	if err != nil {
		return err
	}
	for _, c := range posted {
		if err := release(tx, c.ID, c.PaidCents); err != nil {
			return err
		}
		c.Paid, c.PaidCents = false, 0
		fees, err := db.Number(&tx.Conn, "SELECT count(*) FROM charges WHERE fee_of = ?", c.ID)
		if err != nil {
			return err
		}
		if err := withdraw(tx, "date", c); err != nil {
			return err
		}
		done.Withdrawn += 1 + int(fees)
	}
	tx.Do("UPDATE leases SET start_date = ?1, next_post_day = ?2 WHERE id = ?3", l.StartDate, l.begin(), l.ID)
	if err := tx.Audit("lease.first_day", db.Subject("lease", l.ID), map[string]any{"from": done.Was, "to": l.StartDate,
		"withdrawn": done.Withdrawn}); err != nil {
		return err
	}
	return catchUp(tx, l.ID)
}

func (s *Service) setFirstDay() schema.Op {
	return schema.Op{
		Name: "set_first_day", Writes: true, Destructive: true,
		About: "Change a lease's first day while nothing is paid. Its rent, recurring charges and late fees are " +
			"withdrawn and posted again.",
		Response: FirstDay{Lease: exampleLease(), Was: exampleDay("2026-08-15"), Withdrawn: 4, Totals: exampleOwed},
		Refuses:  []fault.Kind{fault.NotFound, fault.Conflict},
		Bind: schema.Writes2(s.db, func(f *schema.Form, lease *int64, day *exact.Day) {
			bindLeaseID(f, lease)
			f.Day(day, "date", "the lease's first day", schema.Required, schema.Label("First day"), schema.Example("2026-09-01"))
		}, setFirstDay),
		Example: "rental set-first-day 'Harbour House/2A' --date 2026-09-01",
		Did: schema.SaidIn(func(d FirstDay, m schema.Money) string {
			return fmt.Sprintf("The lease of %s begins on %s. It owes %s.", leaseName(d.Lease), d.Lease.StartDate,
				m(d.Totals.BalanceCents))
		}),
		Will: schema.SaidIn(func(d FirstDay, m schema.Money) string {
			return fmt.Sprintf("The lease of %s will begin on %s, not on %s. %s withdrawn and posted again. Then "+
				"it owes %s.", leaseName(d.Lease), d.Lease.StartDate, d.Was,
				exact.Plural(d.Withdrawn, "charge is", "charges are"), m(d.Totals.BalanceCents))
		}),
		Thing: func(a any) string { return "the first day of " + leaseName(a.(FirstDay).Lease) },
		Leads: func(a any) string { return leasePath(a.(FirstDay).Lease.ID) },
	}
}
