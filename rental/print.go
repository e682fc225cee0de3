package rental

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"quartermaster/schema"
)

// Output of the reading commands for people: a table with sums. --csv and --json are for files and programs.

// term is from when to when a lease runs.
func (l Lease) term() string {
	if l.EndDate == nil {
		return "from " + l.StartDate.String()
	}
	return l.StartDate.String() + " to " + l.EndDate.String()
}

func printLeases(w io.Writer, answer any) {
	all := answer.(Leases).Leases
	printLeaseRows(w, all)
	fmt.Fprintf(w, "%d in all\n", len(all))
}

func printLeaseRows(w io.Writer, all []Lease) {
	schema.Tabulate(w, "ID|UNIT|TENANT|STATUS|RENT|EVERY|TERM|OWES", all, func(l Lease) []any {
		return []any{l.ID, l.Property + "/" + l.Unit, l.Tenant, l.Status, plain(l.RentCents), l.Frequency, l.term(),
			plain(l.BalanceCents)}
	})
}

func printLease(w io.Writer, l Lease) {
	due := ""
	if l.Frequency != "weekly" && l.Frequency != "fortnightly" {
		due = strconv.FormatInt(l.DueDay, 10)
	}
	schema.Facts(w, "lease", strconv.FormatInt(l.ID, 10), "unit", l.Property+"/"+l.Unit, "tenant", l.Tenant, "e-mail",
		set(l.TenantEmail),
		"status", l.Status, "term", l.term(), "rent", plain(l.RentCents)+" "+l.Frequency, "due day", due, "owes",
		plain(l.BalanceCents))
	for _, step := range l.Rents {
		fmt.Fprintf(w, "  rent from %s: %s\n", step.From, plain(step.RentCents))
	}
}

func printShownLease(w io.Writer, l ShownLease) {
	printLease(w, l.Lease)
	for _, r := range l.Recurring {
		to := ""
		if r.To != nil {
			to = " to " + r.To.String()
		}
		fmt.Fprintf(w, "  %s with each period from %s%s: %s (recurring charge %d)\n", r.Label, r.From, to,
			plain(r.AmountCents), r.ID)
	}
}

func printLedger(w io.Writer, l Ledger) {
	printLease(w, l.Lease)
	fmt.Fprintln(w)
	printCharges(w, l.Charges)
	printTotals(w, l.Totals)
}

func printCharges(w io.Writer, all []Charge) {
	schema.Tabulate(w, "CHARGE|DUE|TYPE|LABEL|AMOUNT|PAID|OPEN|PAID ON", all, func(c Charge) []any {
		return []any{c.ID, c.DueDate, c.Type, c.Label, plain(c.AmountCents), plain(c.PaidCents), plain(c.BalanceCents),
			schema.Cell(c.PaidDate)}
	})
}

func printTotals(w io.Writer, t Totals) {
	fmt.Fprintf(w, "billed %s, paid %s, owes %s", plain(t.BilledCents), plain(t.PaidCents), plain(t.BalanceCents))
	if t.CreditCents != 0 {
		fmt.Fprintf(w, "; credit %s", plain(t.CreditCents))
	}
	if t.DepositHeldCents != 0 {
		fmt.Fprintf(w, "; deposit held %s", plain(t.DepositHeldCents))
	}
	fmt.Fprintln(w)
}

func printArrears(w io.Writer, a Arrears) {
	schema.Tabulate(w, "CHARGE|LEASE|UNIT|TENANT|LABEL|DUE|DAYS|OPEN", a.Arrears, func(r Arrear) []any {
		return []any{r.ID, r.LeaseID, r.Property + "/" + r.Unit, r.Tenant, r.Label, r.DueDate, r.DaysOverdue,
			plain(r.BalanceCents)}
	})
	fmt.Fprintf(w, "%s in all: %s up to 30 days, %s up to 60, %s up to 90, %s older\n", plain(a.TotalCents),
		plain(a.Buckets.Days1To30), plain(a.Buckets.Days31To60), plain(a.Buckets.Days61To90), plain(a.Buckets.DaysOver90))
}

func printRoll(w io.Writer, roll RentRoll) {
	line := func(c Collection) []any {
		return []any{plain(c.BilledCents), plain(c.CollectedCents), plain(c.OutstandingCents), plain(c.ReceivedCents)}
	}
	all := append(roll.Units[:len(roll.Units):len(roll.Units)], UnitRoll{Unit: "in all", Collection: roll.Totals})
	schema.Tabulate(w, "UNIT|BILLED|COLLECTED|OUTSTANDING|RECEIVED", all, func(u UnitRoll) []any {
		return append([]any{strings.TrimPrefix(u.Property+"/"+u.Unit, "/")}, line(u.Collection)...)
	})
}

func printUnits(w io.Writer, answer any) {
	all := answer.(Units).Units
	printUnitRows(w, all)
	fmt.Fprintf(w, "%d in all\n", len(all))
}

func printUnitRows(w io.Writer, all []Unit) {
	schema.Tabulate(w, "ID|UNIT|STATUS|LEASE|TENANT|MARKET RENT", all, func(u Unit) []any {
		lease := schema.Cell(u.LeaseID)
		return []any{u.ID, u.Property + "/" + u.Name, u.Status, lease, set(u.Tenant), plain(u.MarketRentCents)}
	})
}

func printUnit(w io.Writer, u Unit) {
	lease := schema.Cell(u.LeaseID)
	schema.Facts(w, "unit", fmt.Sprintf("%d, %s/%s", u.ID, u.Property, u.Name), "status", u.Status, "lease", lease,
		"tenant", set(u.Tenant),
		"market rent", plain(u.MarketRentCents), "notes", set(u.Notes))
}

func printProperties(w io.Writer, list Properties) {
	schema.Tabulate(w, "ID|PROPERTY|ADDRESS|UNITS|OCCUPIED|VACANT|LATE FEE", list.Properties, func(p Property) []any {
		return []any{p.ID, p.Name, set(p.Address), p.UnitCount, p.OccupiedCount, p.VacantCount, p.LateFee.words()}
	})
	fmt.Fprintf(w, "%d in all\n", list.Total)
}

// words say what late rent costs; nothing where it costs nothing.
func (f *LateFee) words() string {
	switch {
	case f == nil:
		return ""
	case f.Percent != nil:
		return fmt.Sprintf("%v %% after %d days, from %s", *f.Percent, f.GraceDays, f.From)
	case f.Cents != nil && *f.Cents > 0:
		return fmt.Sprintf("%s after %d days, from %s", plain(*f.Cents), f.GraceDays, f.From)
	}
	return ""
}

func printProperty(w io.Writer, p PropertyDetail) {
	schema.Facts(w, "property", fmt.Sprintf("%d, %s", p.ID, p.Name), "address", set(p.Address), "units",
		fmt.Sprintf("%d, %d of them vacant", p.UnitCount, p.VacantCount),
		"late fee", p.LateFee.words())
	fmt.Fprintln(w)
	printUnitRows(w, p.Units)
}

func printTenants(w io.Writer, list Tenants) {
	schema.Tabulate(w, "ID|TENANT|E-MAIL|PHONE|LEASES|OWES", list.Tenants, func(t TenantRecord) []any {
		return []any{t.ID, t.Name, set(t.Email), set(t.Phone), t.Leases, plain(t.BalanceCents)}
	})
	fmt.Fprintf(w, "%d in all\n", list.Total)
}

func printTenant(w io.Writer, t TenantDetail) {
	schema.Facts(w, "tenant", fmt.Sprintf("%d, %s", t.ID, t.Name), "e-mail", set(t.Email), "phone", set(t.Phone), "owes",
		plain(t.BalanceCents))
	fmt.Fprintln(w)
	printLeaseRows(w, t.LeaseList)
}

func printTickets(w io.Writer, answer any) {
	all := answer.(Tickets).Tickets
	schema.Tabulate(w, "ID|UNIT|TITLE|PRIORITY|STATUS|ASSIGNED|OPENED", all, func(t Ticket) []any {
		return []any{t.ID, t.Property + "/" + t.Unit, t.Title, t.Priority, t.Status, set(t.AssignedTo), t.CreatedAt}
	})
	fmt.Fprintf(w, "%d in all\n", len(all))
}

func printTicket(w io.Writer, t TicketDetail) {
	resolved := ""
	if t.ResolvedAt != nil {
		resolved = t.ResolvedAt.String()
	}
	schema.Facts(w, "ticket", fmt.Sprintf("%d, %s", t.ID, t.Title), "unit", t.Property+"/"+t.Unit, "status", t.Status,
		"priority", t.Priority,
		"assigned to", set(t.AssignedTo), "opened", t.CreatedAt.String()+" by "+t.CreatedBy, "resolved", resolved)
	if t.Description != nil {
		fmt.Fprintf(w, "\n%s\n", *t.Description)
	}
	for _, n := range t.Notes {
		fmt.Fprintf(w, "  %s, %s: %s\n", n.At, n.Author, n.Text)
	}
}

func printStatement(w io.Writer, st Statement) {
	fmt.Fprintf(w, "%s/%s, %s, %s to %s\n\n", st.Lease.Property, st.Lease.Unit, st.Lease.Tenant, st.From, st.To)
	printCharges(w, st.Charges)
	fmt.Fprintln(w)
	schema.Tabulate(w, "PAYMENT|DAY|METHOD|AMOUNT", st.Payments, func(p StoredPayment) []any {
		return []any{p.ID, p.PaidDate, p.Method, plain(p.AmountCents)}
	})
	fmt.Fprintln(w)
	money := func(cents int64) string {
		if cents == 0 {
			return ""
		}
		return plain(cents)
	}
	schema.Facts(w, "opening balance", plain(st.OpeningBalanceCents), "charged", plain(st.ChargedCents), "received",
		plain(st.ReceivedCents),
		"deposit used", money(st.DepositUsedCents), "credit returned", money(st.CreditReturnedCents), "closing balance",
		plain(st.ClosingBalanceCents),
		"credit now", money(st.CreditCents), "deposit held now", money(st.DepositHeldCents))
}

func printPropertyStatement(w io.Writer, st PropertyStatement) {
	fmt.Fprintf(w, "%s, %d: %s received\n\n", st.Property, st.Year, plain(st.ReceivedCents))
	schema.Tabulate(w, "TYPE|RECEIVED", st.ByType,
		func(x TypeReceived) []any { return []any{x.Type, plain(x.ReceivedCents)} })
	fmt.Fprintf(w, "credit, not used yet: %s\n\n", plain(st.CreditCents))
	schema.Tabulate(w, "UNIT|RECEIVED", st.Units,
		func(x UnitReceived) []any { return []any{x.Unit, plain(x.ReceivedCents)} })
}

func printReceipt(w io.Writer, r Receipt) {
	schema.Facts(w, "payment", strconv.FormatInt(r.Payment.ID, 10), "lease", fmt.Sprintf("%d, %s/%s, %s", r.Lease.ID,
		r.Lease.Property, r.Lease.Unit, r.Lease.Tenant),
		"received", plain(r.Payment.AmountCents), "on", r.Payment.PaidDate.String(), "by", r.Payment.Method)
	for _, x := range r.Allocations {
		fmt.Fprintf(w, "  %s: %s (charge %d)\n", x.Label, plain(x.AmountCents), x.ChargeID)
	}
	if r.Payment.CreditCents > 0 {
		fmt.Fprintf(w, "  credit, not used yet: %s\n", plain(r.Payment.CreditCents))
	}
}
