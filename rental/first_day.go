package rental

import (
	"fmt"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

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
	l, err := findLease(&tx.Conn, lease)
	if err != nil {
		return done, err
	}
	done = FirstDay{Lease: l, Was: l.StartDate}
	m, found, err := db.One(&tx.Conn, scanPayment, "SELECT "+paymentColumns+` FROM payments m WHERE m.lease_id = ?
		AND m.voided_at IS NULL
		AND m.method <> 'opening' LIMIT 1`, lease)
	switch {
	case err != nil:
		return done, err
	case found:
		return done, fault.Conflictf("lease %d has payments, the first is payment %d of %d cents on %s; reverse them first",
			lease, m.ID, fault.Cents(m.AmountCents), m.PaidDate)
	case l.OpeningDay != nil && day > *l.OpeningDay:
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
	if done.Lease, err = findLease(&tx.Conn, lease); err != nil {
		return done, err
	}
	done.Totals, err = totalsOf(&tx.Conn, lease)
	return done, err
}

// restart withdraws everything posted of the lease, and posts it from its new first day on. Charges paid by credit that
// was taken over are open again first.
func restart(tx *db.Tx, l Lease, done *FirstDay) error {
	posted, err := db.All(&tx.Conn, scanCharge, "SELECT "+chargeColumns+` FROM charges c WHERE c.lease_id = ?
		AND (c.type = 'rent' OR c.recurring_id IS NOT NULL)`, l.ID)
	if err != nil {
		return err
	}
	for _, c := range posted {
		if err := release(tx, c.ID, c.PaidCents); err != nil {
			return err
		}
		c.Paid, c.PaidCents = false, 0
		fees, _, err := db.One(&tx.Conn, db.Int, "SELECT count(*) FROM charges WHERE fee_of = ?", c.ID)
		if err != nil {
			return err
		}
		if err := withdraw(tx, "date", c); err != nil {
			return err
		}
		done.Withdrawn += 1 + int(fees)
	}
	_, err = tx.Exec("UPDATE leases SET start_date = ?1, next_post_day = ?2 WHERE id = ?3", l.StartDate, l.begin(), l.ID)
	if err != nil {
		return err
	}
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
