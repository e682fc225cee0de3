package apptest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"quartermaster/schema/assert"
)

// Rental is an appliance whose rental service is tested from outside only: over REST, by agents and at the
// command line.
type Rental struct {
	*Fixture
	Zone  []string // additional flags of commands
	Units int
}

// NewRental starts one at noon UTC on 2026-11-20, with one property and no units.
func NewRental(t testing.TB, args ...string) *Rental {
	t.Helper()
	return NewRentalAt(t, Noon, "UTC", args...)
}

// NewRentalAt starts one at another time in another zone.
func NewRentalAt(t testing.TB, at time.Time, zone string, args ...string) *Rental {
	t.Helper()
	l := &Rental{Fixture: StartAt(t, at, append(args, "--timezone", zone)...), Zone: []string{"--timezone", zone}}
	l.Load("properties", "name,address\nHouse,1 Quay\n")
	return l
}

// On sets the clock to noon UTC of a day.
func (l *Rental) On(day string) {
	l.T.Helper()
	at, err := time.Parse(time.DateOnly, day)
	assert.OK(l.T, err)
	l.Clock.Set(at.Add(12 * time.Hour))
}

// Load imports a table whose rows must all be good.
func (l *Rental) Load(table, text string) {
	l.T.Helper()
	refused := l.Try(table, text)
	assert.Must(l.T, len(refused) == 0, "import %s: %v", table, refused)
}

// Try imports a table and returns the refused rows as "line: reason".
func (l *Rental) Try(table, text string) (refused []string) {
	l.T.Helper()
	code, out, errs := l.Pipe(text, append([]string{"import", "rental", table, "-", "--json"}, l.Zone...)...)
	var done struct {
		Errors []struct {
			Line   int
			Reason string
		}
	}
	err := json.Unmarshal([]byte(out), &done)
	assert.Must(l.T, err == nil, "import %s: exit %d: %s%s", table, code, out, errs)
	for _, e := range done.Errors {
		refused = append(refused, fmt.Sprintf("%d: %s", e.Line, e.Reason))
	}
	assert.Must(l.T, (code == 0) == (len(refused) == 0), "import %s: exit %d with %q", table, code, refused)
	return refused
}

// Rental runs a command of the service that must succeed.
func (l *Rental) Rental(args ...string) string {
	l.T.Helper()
	return l.MustCLI(append(append([]string{"rental"}, args...), l.Zone...)...)
}

// Refuses runs a command of the service that must end with the code, print nothing and say each of the words.
func (l *Rental) Refuses(code int, words []string, args ...string) {
	l.T.Helper()
	got, out, errs := l.CLI(append(append([]string{"rental"}, args...), l.Zone...)...)
	assert.That(l.T, got == code && out == "", "rental %q: exit %d with %q, want %d: %s", args, got, out, code, errs)
	for _, w := range words {
		assert.That(l.T, strings.Contains(errs, w), "rental %q: it does not say %q: %s", args, w, errs)
	}
}

// Lease lets a new unit at 1000.00 to a new tenant on terms given as "column=value", including start_date, and returns
// the lease's id.
func (l *Rental) Lease(terms ...string) int {
	l.T.Helper()
	l.Units++
	unit := fmt.Sprintf("U%d", l.Units)
	l.Load("units", "property,name\nHouse,"+unit+"\n")
	l.Load("tenants", fmt.Sprintf("name,email\nTenant %s,%s@example.org\n", unit, strings.ToLower(unit)))
	refused := l.PutLease(append([]string{"unit=" + unit, "tenant=Tenant " + unit, "rent_cents=100000"}, terms...)...)
	assert.Must(l.T, len(refused) == 0, "lease %q: %q", terms, refused)
	return l.Units
}

// PutLease imports one row of leases. Of two equal columns the last applies.
func (l *Rental) PutLease(terms ...string) (refused []string) {
	l.T.Helper()
	names, cells := []string{"property"}, []string{"House"}
	for _, term := range terms {
		name, value, _ := strings.Cut(term, "=")
		if i := slices.Index(names, name); i >= 0 {
			cells[i] = value
			continue
		}
		names, cells = append(names, name), append(cells, value)
	}
	return l.Try("leases", strings.Join(names, ",")+"\n"+strings.Join(cells, ",")+"\n")
}

type (
	// Totals are the sums of a lease.
	Totals struct {
		Billed  int64 `json:"billed_cents"`
		Paid    int64 `json:"paid_cents"`
		Balance int64 `json:"balance_cents"`
	}
	// Charge is a charge of a lease.
	Charge struct {
		ID          int64
		Type        string
		Period      string
		Label       string
		DueDate     string `json:"due_date"`
		AmountCents int64  `json:"amount_cents"`
		Paid        bool
		PaidDate    *string `json:"paid_date"`
		Method      *string
		PeriodStart *string `json:"period_start"`
		PeriodEnd   *string `json:"period_end"`
		LeaseID     int64   `json:"lease_id"`
		DaysOverdue int64   `json:"days_overdue"`
	}
	ledger struct {
		Lease struct {
			ID           int64
			Status       string
			EndDate      *string `json:"end_date"`
			BalanceCents int64   `json:"balance_cents"`
		}
		Charges []Charge
		Totals  Totals
	}
	arrears struct {
		Today   string
		Arrears []Charge
		Total   int64 `json:"total_cents"`
		Buckets struct {
			To30   int64 `json:"days_1_30"`
			To60   int64 `json:"days_31_60"`
			To90   int64 `json:"days_61_90"`
			Over90 int64 `json:"days_over_90"`
		}
	}
	// Payment is a payment of a charge.
	Payment struct {
		ID     int64 `json:"payment_id"`
		Charge Charge
		Totals Totals
	}
)

// String is "due amount label", or "paid day method" if paid.
func (c Charge) String() string {
	s := fmt.Sprintf("%s %d %s", c.DueDate, c.AmountCents, c.Label)
	if c.Paid {
		s += fmt.Sprintf(" paid %s %s", *c.PaidDate, *c.Method)
	}
	return s
}

// Ledger gets a lease's ledger and checks its sums and its order.
func (l *Rental) Ledger(lease int) (got ledger) {
	l.T.Helper()
	a := l.Get("rental", fmt.Sprintf("/api/leases/%d/ledger", lease))
	assert.Must(l.T, a.Status == 200, "the ledger of %d: %d %s", lease, a.Status, a.Body)
	a.JSON(l.T, &got)
	var sums Totals
	for i, c := range got.Charges {
		sums.Billed += c.AmountCents
		if c.Paid {
			sums.Paid += c.AmountCents
		} else {
			sums.Balance += c.AmountCents
		}
		assert.That(l.T, i <= 0 || c.DueDate >= got.Charges[i-1].DueDate && (c.DueDate != got.Charges[i-1].DueDate ||
			c.ID >= got.Charges[i-1].ID), "the ledger of %d is not by due date and id: %v", lease, got.Charges)
	}
	assert.That(l.T, got.Totals == sums && got.Lease.BalanceCents == sums.Balance,
		"the ledger of %d: totals %+v and balance %d, its charges give %+v", lease, got.Totals, got.Lease.BalanceCents, sums)
	return got
}

// Owes compares the lines of a lease's ledger.
func (l *Rental) Owes(lease int, want ...string) ledger {
	l.T.Helper()
	got := l.Ledger(lease)
	var lines []string
	for _, c := range got.Charges {
		lines = append(lines, c.String())
	}
	assert.That(l.T, slices.Equal(lines, want), "lease %d has\n%s\nwant\n%s", lease, strings.Join(lines, "\n"),
		strings.Join(want, "\n"))
	return got
}

// Pay records the payment of the lease's charge due on the day and returns it.
func (l *Rental) Pay(lease int, due, rest string) (p Payment) {
	l.T.Helper()
	for _, c := range l.Ledger(lease).Charges {
		if c.DueDate != due {
			continue
		}
		a := l.Post("rental", fmt.Sprintf("/api/leases/%d/payments", lease), fmt.Sprintf(`{"charge_id":%d%s}`, c.ID, rest))
		assert.Must(l.T, a.Status == 201, "paying %s: %d %s", c, a.Status, a.Body)
		a.JSON(l.T, &p)
		return p
	}
	l.T.Fatalf("lease %d has no charge due on %s", lease, due)
	return p
}

// Arrears gets the arrears report.
func (l *Rental) Arrears() (got arrears) {
	l.T.Helper()
	a := l.Get("rental", "/api/arrears")
	assert.Must(l.T, a.Status == 200, "arrears: %d %s", a.Status, a.Body)
	a.JSON(l.T, &got)
	return got
}

// Refused checks a refusal over REST: its status, code and the words of its detail.
func (l *Rental) Refused(a Answer, status int, says ...string) {
	l.T.Helper()
	code := map[int]string{401: "unauthorized", 403: "forbidden", 404: "not_found", 409: "conflict", 422: "validation", 503: "unavailable"}[status]
	m := a.Map(l.T)
	assert.That(l.T, a.Status == status && m["error"] == code && m["detail"] != "", "%d %s, want %d %s", a.Status, a.Body,
		status, code)
	for _, s := range says {
		assert.That(l.T, strings.Contains(fmt.Sprint(m["detail"]), s), "%s does not name %q", a.Body, s)
	}
}

// AnswerOf reads what a command printed as an answer.
func AnswerOf(printed string) Answer { return Answer{Body: printed} }

// Sound requires doctor to find nothing.
func (l *Rental) Sound() {
	l.T.Helper()
	code, out, errs := l.CLI(append([]string{"doctor"}, l.Zone...)...)
	assert.That(l.T, code == 0, "doctor: exit %d\n%s%s", code, out, errs)
}

// Trail lists the service's audit entries, oldest first, as "actor via action subject".
func (l *Rental) Trail() (all []string) {
	l.T.Helper()
	var list struct {
		Entries []struct{ Actor, Via, Action, Subject string }
	}
	Answer{Body: l.MustCLI("audit", "--service", "rental", "--limit", "1000", "--json")}.JSON(l.T, &list)
	for _, e := range list.Entries {
		all = append(all, strings.Join([]string{e.Actor, e.Via, e.Action, e.Subject}, " "))
	}
	slices.Reverse(all)
	return all
}

// Content is a tool's answer with the owner's key, as JSON.
func (l *Rental) Content(tool, arguments string) string {
	l.T.Helper()
	a := l.Post("rental", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+arguments+`}}`)
	var m struct {
		Result struct {
			StructuredContent json.RawMessage
			Content           []struct{ Type, Text string }
			IsError           bool
		}
	}
	a.JSON(l.T, &m)
	assert.Must(l.T, a.Status == 200 && !m.Result.IsError && len(m.Result.Content) == 1, "%s %s: %d %s", tool, arguments,
		a.Status, a.Body)
	return strings.Replace(string(m.Result.StructuredContent), `,"currency":"USD"}`, "}", 1)
}

// Ticket is the body of a ticket as the list has it.
func (l *Rental) Ticket(id int) string {
	l.T.Helper()
	var list struct{ Tickets []json.RawMessage }
	l.Get("rental", "/api/maintenance").JSON(l.T, &list)
	for _, k := range list.Tickets {
		if strings.HasPrefix(string(k), fmt.Sprintf(`{"id":%d,`, id)) {
			return string(k)
		}
	}
	l.T.Fatalf("no ticket %d", id)
	return ""
}

// Let is a small property: unit 1 is let by the month since January, 2 was let until June, 3 is vacant and let from
// December.
func Let(t testing.TB, args ...string) *Rental {
	t.Helper()
	l := NewRental(t, args...)
	l.Lease("start_date=2026-09-01", "deposit_cents=200000")
	l.Lease("start_date=2026-05-15", "end_date=2026-06-30", "due_day=1", "frequency=Monthly")
	l.Lease("start_date=2026-12-01", "end_date=2027-11-30", "frequency=quarterly", "proration=none")
	return l
}

// What REST and agents show of the small property.
const (
	Unit1  = `{"id":1,"property_id":1,"property":"House","name":"U1","status":"occupied","lease_id":1,"tenant":"Tenant U1","market_rent_cents":0,"notes":null}`
	Unit2  = `{"id":2,"property_id":1,"property":"House","name":"U2","status":"vacant","lease_id":null,"tenant":null,"market_rent_cents":0,"notes":null}`
	Unit3  = `{"id":3,"property_id":1,"property":"House","name":"U3","status":"vacant","lease_id":null,"tenant":null,"market_rent_cents":0,"notes":null}`
	Lease1 = `{"id":1,"unit_id":1,"unit":"U1","property":"House","tenant":"Tenant U1","tenant_email":"u1@example.org","rent_cents":100000,` +
		`"frequency":"monthly","due_day":1,"start_date":"2026-09-01","end_date":null,"deposit_cents":200000,"proration":"actual","status":"active","balance_cents":300000,"base_rent_cents":100000,"rents":[],"tenants":[{"id":1,"name":"Tenant U1","email":"u1@example.org"}]}`
	Lease2 = `{"id":2,"unit_id":2,"unit":"U2","property":"House","tenant":"Tenant U2","tenant_email":"u2@example.org","rent_cents":100000,` +
		`"frequency":"monthly","due_day":1,"start_date":"2026-05-15","end_date":"2026-06-30","deposit_cents":0,"proration":"actual","status":"ended","balance_cents":154839,"base_rent_cents":100000,"rents":[],"tenants":[{"id":2,"name":"Tenant U2","email":"u2@example.org"}]}`
	Lease3 = `{"id":3,"unit_id":3,"unit":"U3","property":"House","tenant":"Tenant U3","tenant_email":"u3@example.org","rent_cents":100000,` +
		`"frequency":"quarterly","due_day":1,"start_date":"2026-12-01","end_date":"2027-11-30","deposit_cents":0,"proration":"none","status":"upcoming","balance_cents":0,"base_rent_cents":100000,"rents":[],"tenants":[{"id":3,"name":"Tenant U3","email":"u3@example.org"}]}`
)
