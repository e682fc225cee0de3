package rental

import (
	"fmt"
	"strconv"

	"quartermaster/schema"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

func (s *Service) endLease() schema.Op {
	return schema.Op{
		Name: "end_lease", Writes: true, Destructive: true,
		About: "Set a lease's last day, past or future. Unpaid rent for later periods is withdrawn, and the period that " +
			"the day cuts short is " +
			"charged by its days; other charges stay. Refused while rent that would change is paid: reverse that payment " +
			"first. " +
			"To extend a lease, import it with a later end_date.",
		Response: Ending{Lease: exampleLease(), Withdrawn: []Charge{exampleCharge()}, Cut: new(exampleCharge()),
			Totals: exampleOwed},
		Refuses: []fault.Kind{fault.NotFound, fault.Conflict},
		Bind: schema.Writes2(s.db, func(f *schema.Form, lease *int64, last *exact.Day) {
			bindLeaseID(f, lease)
			f.Day(last, "date", "the lease's last day", schema.Required, schema.Label("Last day"), schema.Example("2026-12-14"))
		}, endEarly),
		Example: "rental end-lease 4 --date 2026-12-14",
		Print:   schema.Printed(printEnding), Will: schema.SaidIn(willEnd),
		Did: schema.SaidIn(func(e Ending, m schema.Money) string {
			return fmt.Sprintf("The lease's last day is %s. It owes %s.", e.Lease.EndDate, m(e.Totals.BalanceCents)) +
				heldText(e.Totals, m)
		}),
		Thing: func(a any) string { return "the lease of " + leaseName(a.(Ending).Lease) },
		Leads: func(a any) string { return leasePath(a.(Ending).Lease.ID) },
	}
}

// heldText says that a deposit is held, and what comes next; "" where none is.
func heldText(t Totals, m schema.Money) string {
	if t.DepositHeldCents == 0 {
		return ""
	}
	return fmt.Sprintf(" %s of deposit is held: use it for open charges, or return it.", m(t.DepositHeldCents))
}

func (s *Service) cancelLease() schema.Op {
	return schema.Op{
		Name: "cancel_lease", Writes: true, Destructive: true,
		About: "Cancel a lease that never began and has no payments. It leaves all lists, its days are free, and its " +
			"tickets keep the unit.",
		Response: Cancelled{Lease: exampleLease(), Charges: 3}, Refuses: []fault.Kind{fault.NotFound, fault.Conflict},
		Bind:    schema.Writes(s.db, bindLeaseID, cancelLease),
		Example: "rental cancel-lease 4",
		Did: func(a any, _ schema.Money) string {
			return "The lease of " + leaseName(a.(Cancelled).Lease) + " is cancelled."
		},
		Will: schema.SaidIn(func(c Cancelled, m schema.Money) string {
			return fmt.Sprintf("The lease of %s will be removed, with %s of which %s is open.", leaseName(c.Lease),
				exact.Plural(c.Charges, "charge", "charges"), m(c.Lease.BalanceCents))
		}),
		Leads: func(any) string { return "/leases" },
	}
}

func (s *Service) setRent() schema.Op {
	return schema.Op{
		Name: "set_rent", Writes: true, Idempotent: true,
		About: "Change a lease's rent from a day on, for unposted periods that start then or later. A change " +
			"of the same day is replaced, or removed if no rent is given.",
		Response: exampleLease(), Refuses: []fault.Kind{fault.NotFound},
		Bind: schema.Writes3(s.db, func(f *schema.Form, lease *int64, from *exact.Day, rent **int64) {
			bindLeaseID(f, lease)
			f.Day(from, "from", "for periods that start on this day or later", schema.Required, schema.Example("2027-01-01"))
			f.IntPtr(rent, "rent_cents",
				"the rent of a whole period, in cents; null removes the step", schema.Range(0, maxCents), schema.Clear(new(bool)),
				schema.Example(99_000))
		}, setRent),
		Example: "rental set-rent 'Harbour House/2A' --from 2027-01-01 --rent-cents 99000",
		Did: schema.SaidIn(func(l Lease, m schema.Money) string {
			s := "The rent of " + leaseName(l) + " is " + m(l.RentCents) + " today"
			for _, step := range l.Rents {
				s += fmt.Sprintf(", %s from %s", m(step.RentCents), step.From)
			}
			return s + "."
		}),
		Leads: func(a any) string { return leasePath(a.(Lease).ID) },
		Undo:  func(a any) *schema.Undo { return a.(Lease).rentBack },
	}
}

func exampleRecurring() RecurringDone {
	return RecurringDone{Recurring: Recurring{ID: 3, LeaseID: 4, Type: "utility", Label: "Water", AmountCents: 4_500,
		From: exampleDay("2026-11-01")},
		Posted: []Charge{exampleFee()}, Withdrawn: []Charge{exampleFee()}, Totals: exampleOwed}
}

func didRecurring(d RecurringDone, m schema.Money) string {
	r := d.Recurring
	s := fmt.Sprintf("%s of %s is charged with each period from %s", r.Label, m(r.AmountCents), r.From)
	if r.To != nil {
		s += " to " + r.To.String()
	}
	if n := len(d.Posted); n > 0 {
		s += "; " + exact.Plural(n, "charge was", "charges were") + " posted at once"
	}
	if n := len(d.Withdrawn); n > 0 {
		s += "; " + exact.Plural(n, "charge was", "charges were") + " withdrawn"
	}
	return s + "."
}

func (s *Service) addRecurring() schema.Op {
	return schema.Op{
		Name: "add_recurring", Writes: true, Creates: true,
		About: "Add a charge to every billing period that starts between two days, in full. Periods posted already " +
			"are charged at once.",
		Response: exampleRecurring(), Refuses: []fault.Kind{fault.NotFound, fault.Conflict},
		Bind: schema.Writes(s.db, func(f *schema.Form, r *Recurring) {
			bindLeaseID(f, &r.LeaseID)
			f.Enum(&r.Type, "type", "what it is for", recurringTypes, schema.Required)
			f.Text(&r.Label, "label", "what it is for, as the ledger shows it", schema.Required, schema.Most(maxName),
				schema.Example("Water"))
			f.Int(&r.AmountCents, "amount_cents", "how much with each period, in cents", schema.Required,
				schema.Range(0, maxCents), schema.Example(4500))
			f.Day(&r.From, "from", "for periods that start on this day or later", schema.Required, schema.Example("2026-11-01"))
			f.DayPtr(&r.To, "to", "periods that start up to this day; without it: no end")
		}, addRecurring),
		Example: "rental add-recurring 'Harbour House/2A' --type utility --label Water --amount-cents 4500 --from 2026-11-01",
		Did:     schema.SaidIn(didRecurring),
		Leads:   func(a any) string { return leasePath(a.(RecurringDone).Recurring.LeaseID) },
	}
}

func (s *Service) endRecurring() schema.Op {
	return schema.Op{
		Name: "end_recurring", Writes: true, Destructive: true, About: "End a recurring charge. Periods that start after " +
			"the day no longer get it; unpaid ones of such periods are withdrawn.",
		Response: exampleRecurring(), Refuses: []fault.Kind{fault.NotFound, fault.Conflict},
		Bind: schema.Writes2(s.db, func(f *schema.Form, id *int64, to *exact.Day) {
			f.ID(id, "id", "the recurring charge", schema.Positional("ID"), schema.Required, schema.Example(3),
				schema.Choices(repeatedCharges))
			f.Day(to, "to", "periods that start up to this day", schema.Required, schema.Example("2026-12-31"))
		}, stopRecurring),
		Example: "rental end-recurring 3 --to 2026-12-31",
		Did:     schema.SaidIn(didRecurring),
		Will: schema.SaidIn(func(d RecurringDone, m schema.Money) string {
			var sum int64
			for _, c := range d.Withdrawn {
				sum += c.AmountCents
			}
			return fmt.Sprintf("%s ends on %s; %s withdrawn, %s.", d.Recurring.Label, d.Recurring.To,
				exact.Plural(len(d.Withdrawn), "charge is", "charges are"), m(sum))
		}),
		Leads: func(a any) string { return leasePath(a.(RecurringDone).Recurring.LeaseID) },
	}
}

func (s *Service) setLateFeeOp() schema.Op {
	fee := LateFee{GraceDays: 5, Percent: new(exact.Milli(5_000)), From: exampleDay("2026-12-01")}
	return schema.Op{
		Name: "set_late_fee", Writes: true, Idempotent: true,
		About: "Set a property's late fee: for rent due on or after a day and still open after the days of grace, " +
			"an amount or a percent of what is open then.",
		Response: PropertyLateFee{PropertyID: 1, Property: "Harbour House", LateFee: &fee},
		Refuses:  []fault.Kind{fault.NotFound},
		Bind: schema.Writes2(s.db, func(f *schema.Form, property *int64, fee *LateFee) {
			var percent int64
			bindProperty(f, property, "PROPERTY")
			f.Int(&fee.GraceDays, "grace_days",
				"days of grace after the due date", schema.Required, schema.Range(0, 365), schema.Example(5))
			f.IntPtr(&fee.Cents, "cents", "the fee in cents; 0 means no late fee from then on", schema.Range(0, maxCents))
			if f.Amount(&percent, "percent", "the fee in percent of what is open then, with two decimals", schema.Range(0, 100),
				schema.Example(5)) {
				fee.Percent = new(exact.Milli(percent * 10))
			}
			if !f.Describing() {
				fee.From = s.db.Today()
			}
			f.Day(&fee.From, "from",
				"for rent due on this day or later (default: today)", schema.Example("2026-12-01"), schema.Today)
		}, setFee),
		Example: "rental set-late-fee 'Harbour House' --grace-days 5 --percent 5",
		Did: schema.SaidIn(func(p PropertyLateFee, m schema.Money) string {
			said := fmt.Sprintf("No late fee in %s for rent due from %s on.", p.Property, p.from)
			if f := p.LateFee; f != nil {
				costs := fmt.Sprintf("%s %% of what is open", f.Percent)
				if f.Cents != nil {
					costs = m(*f.Cents)
				}
				said = fmt.Sprintf("Late rent in %s costs %s after %s of grace, for rent due from %s on.", p.Property, costs,
					exact.Plural(f.GraceDays, "day", "days"), f.From)
			}
			switch n := p.charged; {
			case n > 0:
				said += " " + exact.Plural(n, "late fee is", "late fees are") + " charged at once."
			case n < 0:
				said += " " + exact.Plural(-n, "late fee is", "late fees are") + " withdrawn."
			}
			return said
		}),
		Leads: func(a any) string { return "/properties/" + strconv.FormatInt(a.(PropertyLateFee).PropertyID, 10) },
	}
}
