package page

import (
	"context"
	"slices"
	"strings"

	"quartermaster/rental"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/page"
)

func leases(s *rental.Service) page.Page {
	return page.New(page.Spec[rental.LeaseList]{
		Path: "/leases", Title: "Leases", Menu: "Leases", Key: "l",
		Load: func(f *schema.Form) page.Loader[rental.LeaseList] {
			var p page.Paging
			var l rental.LeaseFilter
			p.Bind(f, leaseSorts.Names()...)
			f.Enum(&l.Status, "status", "Only leases with this status today", []string{"active", "ended", "upcoming"})
			f.Text(&l.Property, "property", "Of this property", schema.Most(200), schema.Label("Property"))
			f.DayPtr(&l.EndsBefore, "ends_before", "Only those that end before this day", schema.Label("Ends before"))
			l.Q, l.Cursor = p.Q, p.Cursor()
			return func(ctx context.Context, who db.Caller) (rental.LeaseList, error) {
				list, err := s.LeaseList(ctx, who, l)
				err = page.ArrangedBy(p, &list.Leases, list.Total, &list.Next, leaseSorts, err)
				return list, err
			}
		},
		View: Leases,
		CSV: func(v rental.LeaseList) page.Sheet {
			return page.SheetBy("leases", v.Leases, "id", "property", "unit", "tenant", "rent_cents", "frequency",
				"start_date", "end_date", "status", "balance_cents")
		},
	})
}

type leaseView struct{ rental.LeaseRecord }

// PageTitle names the lease.
func (v leaseView) PageTitle() string {
	return v.Lease.Property + " / " + v.Lease.Unit + ", " + v.Lease.Tenant
}

// MailSubjects are the lease and its payments.
func (v leaseView) MailSubjects() []string {
	subjects := []string{db.Subject("lease", v.Lease.ID)}
	for _, m := range v.Payments {
		subjects = append(subjects, db.Subject("payment", m.ID))
	}
	return subjects
}

// latest parts a ledger, the last due first: eight, and as many more as one that is open needs; the earlier ones are
// all paid.
func latest(charges []rental.Charge) (shown, earlier []rental.Charge) {
	all := slices.Clone(charges)
	slices.Reverse(all)
	n := min(8, len(all))
	for i, c := range all {
		if !c.Paid {
			n = max(n, i+1)
		}
	}
	return all[:n], all[n:]
}

// mostPeriods is how many periods the strip of a lease shows.
const mostPeriods = 24

// periods are the lease's rent charges, oldest first: paid in time, paid late, open and overdue.
func (v leaseView) periods(ctx context.Context) (string, []page.Part) {
	var parts []page.Part
	var late, overdue int
	for _, c := range v.Charges {
		if c.Type != "rent" {
			continue
		}
		p := page.Part{Day: c.DueDate, Look: page.Good, Shown: "in time", Label: c.Label + ": paid in time"}
		switch {
		case c.Paid && c.PaidDate != nil && *c.PaidDate > c.DueDate:
			p.Look, p.Shown = page.Half, "paid late"
			p.Label = c.Label + ": paid on " + page.DayText(ctx, *c.PaidDate) + ", due " + page.DayText(ctx, c.DueDate)
			late++
		case !c.Paid && c.DueDate < v.Today:
			p.Look, p.Shown, p.Label = page.Bad, "overdue", c.Label+": overdue since "+page.DayText(ctx, c.DueDate)
			overdue++
		case !c.Paid:
			p.Look, p.Shown, p.Label = page.Idle, "open", c.Label+": open, due "+page.DayText(ctx, c.DueDate)
		}
		parts = append(parts, p)
	}
	parts = parts[max(0, len(parts)-mostPeriods):]
	return page.Plural(len(parts), "rent period", "rent periods") + ": " + page.Num(late) + " paid late, " +
		page.Num(overdue) + " overdue", parts
}

// paused reports whether the tenants are not reminded today.
func (v leaseView) paused() bool {
	return v.Lease.PausedUntil != nil && *v.Lease.PausedUntil >= v.Today
}

// depositOpen is the part of the agreed deposit that is not charged yet.
func (v leaseView) depositOpen() int64 {
	open := v.Lease.DepositCents
	for _, c := range v.Charges {
		if c.Type == "deposit" {
			open -= c.AmountCents
		}
	}
	return max(open, 0)
}

// owes begins the sentence of what is owed.
func (v leaseView) owes() string {
	if len(v.Lease.Tenants) > 1 {
		return v.Lease.Tenant + " owe"
	}
	return v.Lease.Tenant + " owes"
}

// overdue says for how long the oldest open charge is overdue, "" if none is.
func (v leaseView) overdue() string {
	days := int64(0)
	for _, c := range v.Charges {
		if !c.Paid {
			days = max(days, int64(v.Today-c.DueDate))
		}
	}
	if days == 0 {
		return ""
	}
	return ", " + page.Plural(days, "day", "days") + " overdue"
}

// unpaidSince reports whether several rents are overdue and nothing was ever paid: the lease may have run in another
// book before.
func (v leaseView) unpaidSince() bool {
	late := 0
	for _, c := range v.Charges {
		if c.Type == "rent" && !c.Paid && c.DueDate < v.Today {
			late++
		}
	}
	return late > 2 && v.Lease.OpeningDay == nil && len(v.Payments) == 0
}

// rentNow are the fields with which a change of the rent begins: today's rent, from the next period on.
func (v leaseView) rentNow(ctx context.Context) []string {
	now := []string{"rent", page.AmountField(ctx, v.Lease.RentCents)}
	if next := v.Lease.NextPeriod(); next != nil {
		now = append(now, "from", next.String())
	}
	return now
}

// longestNotice is how many days before the last day of a lease its deposit is the next thing to settle.
const longestNotice = 92

// acts are what is done with the lease, the usual first.
func (v leaseView) acts(ctx context.Context) []page.Action {
	id, held := page.Num(v.Lease.ID), v.Totals.DepositHeldCents
	open := func(label, op string, fields ...string) page.Action {
		return page.Open(label, op, append([]string{"lease_id", id}, fields...)...)
	}
	var owed []string
	if n := v.Totals.BalanceCents; n > 0 {
		owed = []string{"amount", page.AmountField(ctx, n)}
	}
	acts := []page.Action{open("Record payment", "receive_payment", owed...).Main().Key("n")}
	settle := open("Return deposit", "return_deposit", "amount", page.AmountField(ctx, held))
	ending := v.Lease.EndDate != nil && *v.Lease.EndDate <= v.Today+longestNotice
	if ending && held > 0 {
		acts = append(acts, settle)
	}
	acts = append(acts, open("Add charge", "add_charge"), page.Open("Edit lease", "save_lease", v.key()...))
	if page.Mailing(ctx) && v.Lease.Reachable() {
		acts = append(acts, page.Do("Send reminder", "send_reminders", "lease_id", id),
			open("Mail a statement", "mail_statement", "year", page.Num(v.Lease.Years(v.Today)[0])),
			open("Pause reminders", "pause_reminders"))
	}
	acts = append(acts, open("Set rent", "set_rent", v.rentNow(ctx)...), open("Recurring charge", "add_recurring"))
	if n := v.depositOpen(); n > 0 {
		acts = append(acts, open("Charge the deposit", "add_charge", "type", "deposit", "label", "Deposit",
			"due_date", v.Lease.StartDate.String(), "amount", page.AmountField(ctx, n)))
	}
	if held > 0 && !ending {
		acts = append(acts, settle)
	}
	if n := v.Totals.CreditCents; n > 0 {
		acts = append(acts, open("Return credit", "return_credit", "amount", page.AmountField(ctx, n)))
	}
	acts = append(acts, page.Open("New ticket", "create_ticket", "unit_id", page.Num(v.Lease.UnitID)))
	began := slices.ContainsFunc(v.Payments, func(m rental.PaidBy) bool { return m.Method != "opening" })
	if !began {
		acts = append(acts, open("Change the first day", "set_first_day"))
	}
	if acts = append(acts, open("End lease", "end_lease").Danger()); !began {
		acts = append(acts, open("Cancel lease", "cancel_lease").Danger())
	}
	return acts
}

func (v leaseView) chargeActs(ctx context.Context, c rental.Charge) []page.Action {
	id := page.Num(c.ID)
	acts := []page.Action{page.Open("Record payment", "record_payment", "lease_id", page.Num(v.Lease.ID), "charge_id", id,
		"amount", page.AmountField(ctx, c.BalanceCents)).Named(c.Label)}
	if v.Totals.DepositHeldCents > 0 && c.Type != "deposit" {
		acts = append(acts, page.Open("Use deposit", "use_deposit", "charge_id", id).Quiet().Named(c.Label))
	}
	if c.Type != "rent" && c.Type != "opening" && c.PaidCents == 0 {
		acts = append(acts, page.Open("Void", "void_charge", "charge_id", id).Quiet().Named(c.Label))
	}
	return acts
}

func paymentActs(m rental.PaidBy) (acts []page.Action) {
	if id := page.Num(m.ID); m.Method != "opening" {
		acts = append(acts, page.Open("Reverse", "reverse_payment", "payment_id", id).Danger().Named("payment "+id))
	}
	return acts
}

// late says by how many days a charge was paid late.
func late(c rental.Charge) string {
	if c.PaidDate == nil || *c.PaidDate <= c.DueDate {
		return ""
	}
	return ", " + page.Plural(int64(*c.PaidDate-c.DueDate), "day", "days") + " late"
}

// receipt is the address of the last receipt for a charge, "" if none was given.
func (v leaseView) receipt(c rental.Charge) string {
	for _, m := range v.Payments {
		paid := func(a rental.Allocation) bool { return a.ChargeID == c.ID }
		if brought(m.Method) && slices.ContainsFunc(m.Allocations, paid) {
			return page.Path("payments", page.Num(m.ID))
		}
	}
	return ""
}

// key are the fields that name the lease in the form that changes it.
func (v leaseView) key() []string {
	return []string{"property", v.Lease.Property, "unit", v.Lease.Unit, "start_date", v.Lease.StartDate.String()}
}

func lease(s *rental.Service) page.Page {
	return page.New(page.Spec[leaseView]{
		Path: "/leases/:id", Title: "Lease",
		Load: page.ByID("lease_id", "the lease", func(ctx context.Context, who db.Caller, id int64) (leaseView, error) {
			v, err := s.LeaseRecord(ctx, who, id)
			return leaseView{v}, err
		}),
		View: Lease,
		CSV: func(v leaseView) page.Sheet {
			return page.SheetBy("ledger-"+page.Num(v.Lease.ID), v.Charges, "id", "type", "label", "due_date", "amount_cents",
				"paid_cents", "balance_cents", "paid_date", "method")
		},
	})
}

// paidFor names what a payment paid.
func paidFor(m rental.PaidBy) string {
	labels := schema.Map(m.Allocations, func(a rental.Allocation) string { return period(a.Label) })
	if len(labels) == 0 {
		return "Credit"
	}
	return strings.Join(labels, ", ")
}

// payee says who is paid, where, and with which reference.
func payee(p *rental.PayTo) string {
	text := ", " + p.Number + ", reference " + p.Reference
	if p.Holder != "" {
		text = " to " + p.Holder + text
	}
	return text
}

// paidIn sums up the payments: "9 payments, 9,250.00 USD".
func (v leaseView) paidIn(ctx context.Context) string {
	var cents int64
	for _, m := range v.Payments {
		cents += m.AmountCents
	}
	return page.Plural(len(v.Payments), "payment", "payments") + ", " + page.MoneyText(ctx, cents)
}
