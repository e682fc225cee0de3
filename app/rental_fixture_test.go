package app_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"quartermaster/app/apptest"
)

// rentalFixture is an appliance whose rental service is tested from outside only: over REST, by agents and at the
// command line.
type rentalFixture struct {
	*apptest.Fixture
	zone  []string // additional flags of commands
	units int
}

// newRental starts one at noon UTC on 2026-11-20, with one property and no units.
func newRental(t testing.TB, args ...string) *rentalFixture {
	t.Helper()
	return newRentalAt(t, apptest.Noon, "UTC", args...)
}

// newRentalAt starts one at another time in another zone.
func newRentalAt(t testing.TB, at time.Time, zone string, args ...string) *rentalFixture {
	t.Helper()
	l := &rentalFixture{Fixture: apptest.StartAt(t, at, append(args, "--timezone", zone)...), zone: []string{"--timezone", zone}}
	l.load("properties", "name,address\nHouse,1 Quay\n")
	return l
}

// on sets the clock to noon UTC of a day.
func (l *rentalFixture) on(day string) {
	l.T.Helper()
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		l.T.Fatal(err)
	}
	l.Clock.Set(at.Add(12 * time.Hour))
}

// load imports a table whose rows must all be good.
func (l *rentalFixture) load(table, text string) {
	l.T.Helper()
	if refused := l.try(table, text); len(refused) > 0 {
		l.T.Fatalf("import %s: %v", table, refused)
	}
}

// try imports a table and returns the refused rows as "line: reason".
func (l *rentalFixture) try(table, text string) (refused []string) {
	l.T.Helper()
	code, out, errs := l.Pipe(text, append([]string{"import", "rental", table, "-", "--json"}, l.zone...)...)
	var done struct {
		Errors []struct {
			Line   int
			Reason string
		}
	}
	if err := json.Unmarshal([]byte(out), &done); err != nil {
		l.T.Fatalf("import %s: exit %d: %s%s", table, code, out, errs)
	}
	for _, e := range done.Errors {
		refused = append(refused, fmt.Sprintf("%d: %s", e.Line, e.Reason))
	}
	if (code == 0) != (len(refused) == 0) {
		l.T.Fatalf("import %s: exit %d with %q", table, code, refused)
	}
	return refused
}

// export returns a table as CSV.
func (l *rentalFixture) export(table string) string {
	l.T.Helper()
	return l.MustCLI("export", "rental", table)
}

// rental runs a command of the service that must succeed.
func (l *rentalFixture) rental(args ...string) string {
	l.T.Helper()
	return l.MustCLI(append(append([]string{"rental"}, args...), l.zone...)...)
}

// refuses runs a command of the service that must end with the code, print nothing and say each of the words.
func (l *rentalFixture) refuses(code int, words []string, args ...string) {
	l.T.Helper()
	got, out, errs := l.CLI(append(append([]string{"rental"}, args...), l.zone...)...)
	if got != code || out != "" {
		l.T.Errorf("rental %q: exit %d with %q, want %d: %s", args, got, out, code, errs)
	}
	for _, w := range words {
		if !strings.Contains(errs, w) {
			l.T.Errorf("rental %q: it does not say %q: %s", args, w, errs)
		}
	}
}

// lease lets a new unit at 1000.00 to a new tenant on terms given as "column=value", including start_date, and returns
// the lease's id.
func (l *rentalFixture) lease(terms ...string) int {
	l.T.Helper()
	l.units++
	unit := fmt.Sprintf("U%d", l.units)
	l.load("units", "property,name\nHouse,"+unit+"\n")
	l.load("tenants", fmt.Sprintf("name,email\nTenant %s,%s@example.org\n", unit, strings.ToLower(unit)))
	refused := l.putLease(append([]string{"unit=" + unit, "tenant=Tenant " + unit, "rent_cents=100000"}, terms...)...)
	if len(refused) > 0 {
		l.T.Fatalf("lease %q: %q", terms, refused)
	}
	return l.units
}

// putLease imports one row of leases. Of two equal columns the last applies.
func (l *rentalFixture) putLease(terms ...string) (refused []string) {
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
	return l.try("leases", strings.Join(names, ",")+"\n"+strings.Join(cells, ",")+"\n")
}

// totals and the types below are the answers as an integrator would declare them.
type (
	totals struct {
		Billed  int64 `json:"billed_cents"`
		Paid    int64 `json:"paid_cents"`
		Balance int64 `json:"balance_cents"`
	}
	charge struct {
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
		Charges []charge
		Totals  totals
	}
	arrears struct {
		Today   string
		Arrears []charge
		Total   int64 `json:"total_cents"`
		Buckets struct {
			To30   int64 `json:"days_1_30"`
			To60   int64 `json:"days_31_60"`
			To90   int64 `json:"days_61_90"`
			Over90 int64 `json:"days_over_90"`
		}
	}
	payment struct {
		ID     int64 `json:"payment_id"`
		Charge charge
		Totals totals
	}
)

// String is "due amount label", or "paid day method" if paid.
func (c charge) String() string {
	s := fmt.Sprintf("%s %d %s", c.DueDate, c.AmountCents, c.Label)
	if c.Paid {
		s += fmt.Sprintf(" paid %s %s", *c.PaidDate, *c.Method)
	}
	return s
}

// ledger gets a lease's ledger and checks its sums and its order.
func (l *rentalFixture) ledger(lease int) (got ledger) {
	l.T.Helper()
	a := l.Get("rental", fmt.Sprintf("/api/leases/%d/ledger", lease))
	if a.Status != 200 {
		l.T.Fatalf("the ledger of %d: %d %s", lease, a.Status, a.Body)
	}
	a.JSON(l.T, &got)
	var sums totals
	for i, c := range got.Charges {
		sums.Billed += c.AmountCents
		if c.Paid {
			sums.Paid += c.AmountCents
		} else {
			sums.Balance += c.AmountCents
		}
		if i > 0 && (c.DueDate < got.Charges[i-1].DueDate || c.DueDate == got.Charges[i-1].DueDate && c.ID < got.Charges[i-1].ID) {
			l.T.Errorf("the ledger of %d is not by due date and id: %v", lease, got.Charges)
		}
	}
	if got.Totals != sums || got.Lease.BalanceCents != sums.Balance {
		l.T.Errorf("the ledger of %d: totals %+v and balance %d, its charges give %+v", lease, got.Totals, got.Lease.BalanceCents, sums)
	}
	return got
}

// owes compares the lines of a lease's ledger.
func (l *rentalFixture) owes(lease int, want ...string) ledger {
	l.T.Helper()
	got := l.ledger(lease)
	var lines []string
	for _, c := range got.Charges {
		lines = append(lines, c.String())
	}
	if !slices.Equal(lines, want) {
		l.T.Errorf("lease %d has\n%s\nwant\n%s", lease, strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	return got
}

// pay records the payment of the lease's charge due on the day and returns it.
func (l *rentalFixture) pay(lease int, due, rest string) (p payment) {
	l.T.Helper()
	for _, c := range l.ledger(lease).Charges {
		if c.DueDate != due {
			continue
		}
		a := l.Post("rental", fmt.Sprintf("/api/leases/%d/payments", lease), fmt.Sprintf(`{"charge_id":%d%s}`, c.ID, rest))
		if a.Status != 201 {
			l.T.Fatalf("paying %s: %d %s", c, a.Status, a.Body)
		}
		a.JSON(l.T, &p)
		return p
	}
	l.T.Fatalf("lease %d has no charge due on %s", lease, due)
	return p
}

// arrears gets the arrears report.
func (l *rentalFixture) arrears() (got arrears) {
	l.T.Helper()
	a := l.Get("rental", "/api/arrears")
	if a.Status != 200 {
		l.T.Fatalf("arrears: %d %s", a.Status, a.Body)
	}
	a.JSON(l.T, &got)
	return got
}

// refused checks a refusal over REST: its status, code and the words of its detail.
func (l *rentalFixture) refused(a apptest.Answer, status int, says ...string) {
	l.T.Helper()
	code := map[int]string{401: "unauthorized", 403: "forbidden", 404: "not_found", 409: "conflict", 422: "validation", 503: "unavailable"}[status]
	m := a.Map(l.T)
	if a.Status != status || m["error"] != code || m["detail"] == "" {
		l.T.Errorf("%d %s, want %d %s", a.Status, a.Body, status, code)
	}
	for _, s := range says {
		if !strings.Contains(fmt.Sprint(m["detail"]), s) {
			l.T.Errorf("%s does not name %q", a.Body, s)
		}
	}
}

// answerOf reads what a command printed as an answer.
func answerOf(printed string) apptest.Answer { return apptest.Answer{Body: printed} }

// sound requires doctor to find nothing.
func (l *rentalFixture) sound() {
	l.T.Helper()
	if code, out, errs := l.CLI(append([]string{"doctor"}, l.zone...)...); code != 0 {
		l.T.Errorf("doctor: exit %d\n%s%s", code, out, errs)
	}
}

// trail lists the service's audit entries, oldest first, as "actor via action subject".
func (l *rentalFixture) trail() (all []string) {
	l.T.Helper()
	var list struct {
		Entries []struct{ Actor, Via, Action, Subject string }
	}
	apptest.Answer{Body: l.MustCLI("audit", "--service", "rental", "--limit", "1000", "--json")}.JSON(l.T, &list)
	for _, e := range list.Entries {
		all = append(all, strings.Join([]string{e.Actor, e.Via, e.Action, e.Subject}, " "))
	}
	slices.Reverse(all)
	return all
}
