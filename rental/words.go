package rental

import (
	"fmt"
	"io"
	"strconv"

	"quartermaster/schema"
)

// plain is an amount without its currency, as commands print it.
func plain(cents int64) string {
	if cents < 0 {
		return "-" + plain(-cents)
	}
	return fmt.Sprintf("%d.%02d", cents/100, cents%100)
}

// chargeLine is a charge for people: description, due date, amount, and the id for paying it.
func chargeLine(c Charge) string {
	return fmt.Sprintf("%s, due %s, %s (charge %d)", c.Label, c.DueDate, plain(c.AmountCents), c.ID)
}

func owes(lease int64, t Totals) string {
	return fmt.Sprintf("lease %d owes %s\n", lease, plain(t.BalanceCents))
}

func printCharged(w io.Writer, made Charged) {
	fmt.Fprintf(w, "lease %d is charged %s\n%s", made.LeaseID, chargeLine(made.Charge), owes(made.LeaseID, made.Totals))
}

func printReversal(w io.Writer, r Reversal) {
	switch {
	case r.Charge != nil:
		fmt.Fprintf(w, "payment %d is reversed; unpaid again: %s\n", r.PaymentID, chargeLine(*r.Charge))
	case len(r.Allocations) == 0:
		fmt.Fprintf(w, "payment %d is reversed; it was credit\n", r.PaymentID)
	default:
		fmt.Fprintf(w, "payment %d is reversed; unpaid again:\n", r.PaymentID)
		for _, x := range r.Allocations {
			fmt.Fprintf(w, "  %s, %s (charge %d)\n", x.Label, plain(x.AmountCents), x.ChargeID)
		}
	}
	fmt.Fprint(w, owes(r.LeaseID, r.Totals))
}

func printEnding(w io.Writer, done Ending) {
	fmt.Fprintf(w, "the last day of lease %d is %s\n", done.Lease.ID, done.Lease.EndDate)
	for _, c := range done.Withdrawn {
		fmt.Fprintf(w, "withdrawn: %s\n", chargeLine(c))
	}
	if done.Cut != nil {
		fmt.Fprintf(w, "cut short: %s\n", chargeLine(*done.Cut))
	}
	fmt.Fprint(w, owes(done.Lease.ID, done.Totals))
}

// willEnd says in numbers what ending a lease would do.
func willEnd(done Ending, m schema.Money) string {
	s := fmt.Sprintf("The last day of %s is %s.", leaseName(done.Lease), done.Lease.EndDate)
	var sum int64
	for _, c := range done.Withdrawn {
		sum += c.AmountCents
	}
	switch n := len(done.Withdrawn); n {
	case 0:
		s += " No charge is withdrawn."
	case 1:
		s += fmt.Sprintf(" 1 charge is withdrawn, %s.", m(sum))
	default:
		s += fmt.Sprintf(" %d charges are withdrawn, %s together.", n, m(sum))
	}
	if c := done.Cut; c != nil {
		s += fmt.Sprintf(" The last period is charged %s: %s.", m(c.AmountCents), c.Label)
	}
	return s + fmt.Sprintf(" Then %s of %s is open.", m(done.Totals.BalanceCents), m(done.Totals.BilledCents)) +
		heldText(done.Totals, m)
}

func leaseName(l Lease) string { return l.Property + " / " + l.Unit + " (" + l.Tenant + ")" }

func didPay(p Payment, m schema.Money) string {
	s := m(p.AmountCents) + " is recorded"
	if p.Charge != nil {
		s += " for " + p.Charge.Label
		if p.Charge.BalanceCents > 0 {
			s += ", of which " + m(p.Charge.BalanceCents) + " is open"
		}
	} else if n := len(p.Allocations); n > 1 {
		s += fmt.Sprintf(", for %d charges", n)
	}
	if p.CreditCents > 0 {
		s += "; " + m(p.CreditCents) + " is credit"
	}
	return s + fmt.Sprintf(". Payment %d, %s owes %s.", p.PaymentID, p.Whose, m(p.Totals.BalanceCents))
}

func undoPayment(a any) *schema.Undo {
	return &schema.Undo{Op: "reverse_payment", Label: "Reverse it", Fields: map[string]string{
		"payment_id": strconv.FormatInt(a.(Payment).PaymentID, 10), "reason": "recorded by mistake"}}
}

func leasePath(lease int64) string   { return "/leases/" + strconv.FormatInt(lease, 10) }
func tenantPath(tenant int64) string { return "/tenants/" + strconv.FormatInt(tenant, 10) }
func ticketPath(ticket int64) string { return "/maintenance/" + strconv.FormatInt(ticket, 10) }
