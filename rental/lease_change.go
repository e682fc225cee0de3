package rental

import (
	"slices"

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
	if err := setTenants(tx, was.ID, now.Tenants); err != nil {
		return err
	}
	if err := tx.Audit("lease.changed", db.Subject("lease", was.ID), diff); err != nil {
		return err
	}
	if posted {
		return catchUp(tx, was.ID)
	}
	_, err = tx.Exec("UPDATE leases SET next_event_day = next_post_day WHERE id = ?", was.ID)
	return err
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
	return db.One(c, scanCharge, "SELECT "+chargeColumns+
		" FROM charges c WHERE c.lease_id = ? AND c.type = 'rent' ORDER BY c.period_start DESC LIMIT 1", lease)
}

func (l Lease) tenantIDs() []int64 {
	ids := make([]int64, len(l.Tenants))
	for i, t := range l.Tenants {
		ids[i] = t.ID
	}
	return ids
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
