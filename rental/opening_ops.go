package rental

import (
	"context"
	"fmt"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// MaxOpenings is how many leases are taken over at once.
const MaxOpenings = 10_000

// Openings lists the leases that run or are to come, by id, with their openings.
func (s *Service) Openings(ctx context.Context, after, limit int64) (list []Lease, next *int64, total int64,
	err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		list, err = leases.All(c, "WHERE l.last_day >= ? AND l.id > ? ORDER BY l.id LIMIT ?", c.Today(), after,
			limit+1)
		if err != nil {
			return err
		}
		list, next = schema.Cut(list, limit, func(l Lease) int64 { return l.ID })
		total, err = db.Number(c, "SELECT count(*) FROM leases WHERE last_day >= ?", c.Today())
		return err
	})
	return list, next, total, err
}

func (s *Service) setOpening() schema.Op {
	return schema.Op{
		Name: "set_opening", Writes: true, Destructive: true,
		About: "Take leases over from other books on a day. Rent, recurring charges and late fees due earlier are not " +
			"posted; unpaid ones are withdrawn. " +
			"What was owed and the deposit held become the balance of that day. Repeat it to replace it; without a day it is " +
			"removed.",
		Response: OpeningsDone{
			[]OpeningDone{{LeaseID: 4, Property: "Harbour House", Unit: "2A", OpeningDay: new(exampleDay("2026-11-01")),
				Withdrawn:      32,
				WithdrawnCents: 2_880_000, Posted: 1, PostedCents: 90_000, Totals: Totals{BilledCents: 305_000, PaidCents: 180_000,
					BalanceCents: 125_000, DepositHeldCents: 180_000, OpeningCreditCents: 180_000}}}},
		Refuses: []fault.Kind{fault.NotFound},
		Bind:    schema.Writes(s.db, bindOpenings, setOpenings),
		Example: "rental set-opening 'Harbour House/2A' --day 2026-11-01 --balance-cents 35000",
		Did: func(a any, m schema.Money) string {
			all := a.(OpeningsDone).Leases
			if len(all) != 1 {
				return fmt.Sprintf("%d leases are taken over.", len(all))
			}
			if all[0].OpeningDay == nil {
				return fmt.Sprintf("The opening day of %s / %s is removed; it owes %s.", all[0].Property, all[0].Unit,
					m(all[0].Totals.BalanceCents))
			}
			return fmt.Sprintf("%s / %s is taken over on %s; it owes %s.", all[0].Property, all[0].Unit, all[0].OpeningDay,
				m(all[0].Totals.BalanceCents))
		},
		Will: willOpen,
		Leads: func(a any) string {
			if all := a.(OpeningsDone).Leases; len(all) == 1 {
				return leasePath(all[0].LeaseID)
			}
			return "/opening"
		},
	}
}

// willOpen returns what would be withdrawn, posted again and owed.
func willOpen(a any, m schema.Money) string {
	var withdrawn, posted int
	var sum, again, owed int64
	all := a.(OpeningsDone).Leases
	for _, l := range all {
		withdrawn, posted = withdrawn+l.Withdrawn, posted+l.Posted
		sum, again, owed = sum+l.WithdrawnCents, again+l.PostedCents, owed+l.Totals.BalanceCents
	}
	text := fmt.Sprintf("%s withdrawn, %s.",
		exact.Plural(withdrawn, "charge due before the day is", "charges due before the day are"), m(sum))
	if posted > 0 {
		text += fmt.Sprintf(" %s posted again, %s.", exact.Plural(posted, "period is", "periods are"), m(again))
	}
	if len(all) == 1 {
		return text + fmt.Sprintf(" Then %s / %s owes %s.", all[0].Property, all[0].Unit, m(owed))
	}
	names := schema.Few(all, 10, func(l OpeningDone) string { return l.Property + " / " + l.Unit })
	return text + fmt.Sprintf(" Then the %d leases owe %s: %s.", len(all), m(owed), strings.Join(names, "; "))
}

// bindOpenings binds one lease at the command line, and elsewhere a list of them; in a list, leases without a balance
// and a deposit are taken over with 0.
func bindOpenings(f *schema.Form, all *[]Opening) {
	var day, upTo *exact.Day
	f.DayPtr(&day, "day",
		"nothing due before this day is posted; without it and paid_up_to the opening is removed",
		schema.Example("2026-11-01"))
	f.DayPtr(&upTo, "paid_up_to", "instead of day: the last day of the last paid period")
	amounts := func(f *schema.Form, o *Opening) {
		f.Int(&o.BalanceCents, "balance_cents", "what was owed on the day, in cents; below 0: paid ahead",
			schema.Range(-maxCents, maxCents), schema.Example(35_000))
		f.Int(&o.DepositCents, "deposit_cents", "the deposit that was held, in cents", schema.Range(0, maxCents),
			schema.Example(180_000))
	}
	if f.Surface() == schema.Command {
		var one Opening
		bindLeaseID(f, &one.LeaseID)
		amounts(f, &one)
		*all = []Opening{one}
	} else {
		f.Objects("leases", "the leases that are taken over", MaxOpenings, func(f *schema.Form) {
			var o Opening
			f.ID(&o.LeaseID, "lease_id", "the lease", schema.Required, schema.Example(4), schema.Lookup(lookupLease),
				schema.Choices(leaseChoices))
			amounts(f, &o)
			*all = append(*all, o)
		}, schema.Required, schema.Marked("lease_id"))
	}
	for i := range *all {
		(*all)[i].Day, (*all)[i].PaidUpTo = day, upTo
	}
}

// takeOpeningBack removes what the lease's opening made. It refuses where the new one is less than
// what was paid of the old balance, or used and returned of the old deposit.
func takeOpeningBack(tx *db.Tx, l Lease, o Opening) error {
	if l.OpeningDay != nil {
		if err := mustBeOpen(&tx.Conn, "day", *l.OpeningDay); err != nil {
			return err
		}
	}
	charges, err := charges.All(&tx.Conn, "WHERE c.lease_id = ? AND c.opening = 1", l.ID)
	if err != nil {
		return err
	}
	out, err := db.Number(&tx.Conn, "SELECT "+depositOut, l.ID)
	if err != nil {
		return err
	}
	for _, c := range charges {
		switch {
		case c.Type == openingType && c.PaidCents > max(o.BalanceCents, 0):
			return fault.Fieldf("balance_cents", "balance_cents: %d are paid of charge %d (%s), so enter at least that, or "+
				"reverse that payment first",
				fault.Cents(c.PaidCents), c.ID, c.Label)
		case c.Type == "deposit" && out > 0 && o.DepositCents < out:
			return fault.Fieldf("deposit_cents", "deposit_cents: %d of the deposit were used or returned, so enter at least "+
				"that", fault.Cents(out))
		}
		if err := release(tx, c.ID, c.PaidCents); err != nil {
			return err
		}
		tx.Do("DELETE FROM charges WHERE id = ?", c.ID)
	}
	payments, err := db.All(&tx.Conn, db.Int, "SELECT id FROM payments WHERE lease_id = ? AND method = 'opening'", l.ID)
	if err != nil {
		return err
	}
	for _, id := range payments {
		if err := removeOpeningPayment(tx, id); err != nil {
			return err
		}
	}
	return nil
}

// removeOpeningPayment deletes a payment that was taken over; what it paid is open again.
func removeOpeningPayment(tx *db.Tx, id int64) error {
	_, returned, err := db.One(&tx.Conn, db.Int,
		"SELECT 1 FROM allocations WHERE payment_id = ? AND payout_id IS NOT NULL", id)
	if err != nil {
		return err
	}
	if returned {
		return fault.Fieldf("balance_cents", "balance_cents: the opening credit was returned since, so it cannot be changed")
	}
	paid, err := db.All(&tx.Conn, db.Int, "SELECT charge_id FROM allocations WHERE payment_id = ?", id)
	if err != nil {
		return err
	}
	tx.Do("DELETE FROM allocations WHERE payment_id = ?", id)
	tx.Do("DELETE FROM payments WHERE id = ?", id)
	for _, charge := range paid {
		recount(tx, charge)
	}
	return refreshFees(tx, paid...)
}
