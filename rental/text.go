package rental

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/record"
)

// maxCents bounds every amount, in cents.
const maxCents = 1_000_000_000_000

// maxName and maxText bound texts, in characters.
const (
	maxName = 200
	maxText = 10_000
)

func set(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// optional is a column of text that is unset when it is empty.
func optional[T any](name string, at func(*T) **string, about string, opts ...schema.Opt) record.Column[T] {
	return record.OptText(name, at, about).Field(func(f *schema.Form, t *T, more ...schema.Opt) bool {
		var text string
		given := f.Text(&text, name, about, slices.Concat(opts, more)...)
		*at(t) = db.NullText(text)
		return given
	})
}

// shown is an optional text as audit entries have it.
func shown(v any) any { return set(v.(*string)) }

// within refuses an amount that is out of range.
func within(name string, cents, least, most int64) error {
	if cents < least || cents > most {
		return fault.Fieldf(name, "%s: %d is out of range; it takes cents from %d to %d", name, fault.Cents(cents),
			fault.Cents(least), fault.Cents(most))
	}
	return nil
}

func number(r *db.Row) string { return strconv.FormatInt(r.Int(), 10) }

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

// methods are the payment methods; the last is for all others.
var methods = []string{"cash", "bank_transfer", "card", "check", "direct_debit", "online", otherMethod}

const otherMethod = "other"

// methodOf parses a payment method, in any case, with blanks, - or _ between words: transfer, wire and standing order
// are bank_transfer, cheque is check, anything unknown is other.
func methodOf(said string) string {
	switch m := strings.Join(strings.FieldsFunc(strings.ToLower(said), func(r rune) bool {
		return unicode.IsSpace(r) ||
			r == '-' || r == '_'
	}), "_"); {
	case m == "transfer", m == "standing_order", m == "wire":
		return "bank_transfer"
	case m == "cheque":
		return "check"
	case slices.Contains(methods, m):
		return m
	}
	return otherMethod
}

// unknownMethod reports whether a given payment method is unknown, and so other.
func unknownMethod(said string) bool {
	said = strings.TrimSpace(said)
	return said != "" && methodOf(said) == otherMethod && !strings.EqualFold(said, otherMethod)
}

// The documents' examples are of one lease and of one charge.

func exampleDay(s string) exact.Day {
	d, _ := exact.ParseDay(s)
	return d
}

func exampleLease() Lease {
	email := "ada@example.org"
	return Lease{ID: 4, UnitID: 2, Unit: "2A", Property: "Harbour House", Tenant: "Ada Brandt", TenantEmail: &email,
		RentCents: 95_000, BaseRentCents: 90_000, Rents: []RentStep{{From: exampleDay("2026-06-01"), RentCents: 95_000}},
		Tenants: []LeaseTenant{{ID: 3, Name: "Ada Brandt", Email: &email}}, Frequency: monthly, DueDay: 1,
		StartDate:    exampleDay("2026-01-15"),
		DepositCents: 190_000, Proration: byDays, Status: active, BalanceCents: 95_000}
}

func exampleCharge() Charge {
	first, last := exampleDay("2026-11-01"), exampleDay("2026-11-30")
	return Charge{ID: 41, Type: rent, Period: first.Month(), Label: "1-30 November 2026", DueDate: first,
		AmountCents: 95_000, BalanceCents: 95_000,
		PeriodStart: &first, PeriodEnd: &last}
}

func examplePaid() Charge {
	c := exampleCharge()
	paid, method := exampleDay("2026-11-20"), "bank_transfer"
	c.Paid, c.PaidDate, c.Method = true, &paid, &method
	c.PaidCents, c.BalanceCents = c.AmountCents, 0
	return c
}

var (
	exampleOwed   = Totals{BilledCents: 95_000, BalanceCents: 95_000}
	examplePaidUp = Totals{BilledCents: 95_000, PaidCents: 95_000}
)

func exampleAllocations() []Allocation {
	c := exampleCharge()
	return []Allocation{{ChargeID: c.ID, Label: c.Label, AmountCents: c.AmountCents}}
}

func examplePayment() Payment {
	return Payment{PaymentID: 9, LeaseID: 4, Charge: new(examplePaid()), Totals: examplePaidUp, AmountCents: 95_000,
		Allocations: exampleAllocations()}
}
