package rental

import (
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

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
	l, err := findLease(&tx.Conn, lease)
	if err != nil {
		return Ending{}, err
	}
	if credit, err := creditOf(&tx.Conn, lease); err != nil {
		return Ending{}, err
	} else if credit > 0 { // what it pays must not depend on who read when
		if err := post(tx, lease); err != nil {
			return Ending{}, err
		}
		if l, err = findLease(&tx.Conn, lease); err != nil {
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
	if done.Lease, err = findLease(&tx.Conn, lease); err != nil {
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
	after, err := db.All(&tx.Conn, scanCharge, "SELECT "+chargeColumns+` FROM charges c WHERE c.lease_id = ?1
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
	_, err = tx.Exec("UPDATE leases SET end_date = ?1, last_day = ?1, next_post_day = ?2 WHERE id = ?3", last, next, l.ID)
	if err != nil {
		return done, err
	}
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
	fee, found, err := db.One(&tx.Conn, scanCharge, "SELECT "+chargeColumns+" FROM charges c WHERE c.fee_of = ?", c.ID)
	if err != nil {
		return err
	}
	if found && !fee.Paid {
		if err := withdrawFee(tx, fee); err != nil {
			return err
		}
	}
	_, err = tx.Exec("DELETE FROM charges WHERE id = ?", c.ID)
	return err
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
	_, err := tx.Exec("UPDATE charges SET label = ?, amount_cents = ?, period_end = ? WHERE id = ?", c.Label, amount,
		p.Last, c.ID)
	if err != nil {
		return c, err
	}
	if err := recount(tx, c.ID); err != nil {
		return c, err
	}
	if err := refreshFees(tx, c.ID); err != nil {
		return c, err
	}
	now, _, err := chargeOf(&tx.Conn, c.ID)
	return now, err
}
