package command

import (
	"fmt"
	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"strings"
	"testing"
)

func TestRentalCharge(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	l.Lease("start_date=2026-11-01")
	l.MustCLI("user", "add", "mo", "--role", "member")
	charge := func(kind, amount, due, label string, more ...string) []string {
		return append([]string{"charge", "1", "--type", kind, "--amount", amount, "--due", due, "--label", label}, more...)
	}
	got := l.Rental(charge("late_fee", "2500", "2026-11-15", "Late fee", "--as", "mo")...)
	if want := "lease 1 is charged Late fee, due 2026-11-15, 25.00 (charge 2)\nlease 1 owes 1025.00\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	got = l.Rental(charge("utility", "1", "2027-01-31", " Water ", "--json")...)
	want := `{"lease_id":1,"charge":{"id":3,"type":"utility","period":"2027-01","label":"Water","due_date":"2027-01-31","amount_cents":1,"paid":false,"paid_date":null,` +
		`"method":null,"period_start":null,"period_end":null,"paid_cents":0,"balance_cents":1},"totals":{"billed_cents":102501,"paid_cents":0,"balance_cents":102501,"credit_cents":0,"deposit_held_cents":0}}` + "\n"
	assert.That(t, got == want, "%s, want %s", got, want)
	for _, kind := range []string{"deposit", "repair", "other"} {
		l.Rental(charge(kind, "0", "2026-10-01", "Nothing")...)
	}
	if trail := strings.Join(l.Trail(), "\n"); !strings.Contains(trail, "mo cli charge.created charge:2\ncli cli charge.created charge:3") || !strings.Contains(trail, "system cli lease.posted lease:1") {
		t.Errorf("the audit trail:\n%s", trail)
	}
	l.MustCLI("user", "add", "vera", "--role", "viewer")
	l.MustCLI("user", "add", "dora", "--role", "admin", "--service", "store")
	before := apptest.SnapshotOf(t, l.Fixture)
	for _, c := range []struct {
		code int
		says []string
		args []string
	}{
		{1, []string{"charge 2", "Late fee", "another label"}, charge("late_fee", "2500", "2026-11-15", "Late fee")},
		{1, []string{"lease 2"}, []string{"charge", "2", "--type", "other", "--amount", "1", "--due", "2026-11-15", "--label", "x"}},
		{1, []string{"amount_cents: -1 is out of range"}, charge("other", "-1", "2026-11-15", "x")},
		{1, []string{"amount_cents: 1000000000001 is out of range"}, charge("other", "1000000000001", "2026-11-15", "x")},
		{2, []string{"label is empty"}, charge("other", "1", "2026-11-15", " ")},
		{1, []string{"label", "200"}, charge("other", "1", "2026-11-15", strings.Repeat("x", 201))},
		{1, []string{"vera", "viewer"}, charge("other", "1", "2026-11-15", "x", "--as", "vera")},
		{1, []string{"dora", "no role in the rental service"}, charge("other", "1", "2026-11-15", "x", "--as", "dora")},
		{1, []string{"nobody"}, charge("other", "1", "2026-11-15", "x", "--as", "nobody")},
		{2, []string{"--type", `"rent"`, "deposit, late_fee, utility, repair, other"}, charge("rent", "1", "2026-11-15", "x")},
		{2, []string{"--type", `"fine"`}, charge("fine", "1", "2026-11-15", "x")},
		{2, []string{"--amount"}, charge("other", "10.50", "2026-11-15", "x")},
		{2, []string{"--amount"}, charge("other", "99999999999999999999", "2026-11-15", "x")},
		{2, []string{"--due", "YYYY-MM-DD"}, charge("other", "1", "2026-11-31", "x")},
		{2, []string{"--due", "YYYY-MM-DD"}, charge("other", "1", "", "x")},
		{2, []string{"--as"}, charge("other", "1", "2026-11-15", "x", "--as=")},
		{2, []string{"LEASE_ID", `"U1"`}, []string{"charge", "U1", "--type", "other", "--amount", "1", "--due", "2026-11-15", "--label", "x"}},
		{2, []string{"LEASE_ID"}, []string{"charge", "0", "--type", "other", "--amount", "1", "--due", "2026-11-15", "--label", "x"}},
		{2, []string{"type", "amount", "due", "label"}, []string{"charge", "1"}},
		{2, nil, []string{"charge"}},
		{2, nil, charge("other", "1", "2026-11-15", "x", "2")},
		{2, nil, charge("other", "1", "2026-11-15", "x", "--method", "cash")},
		{2, []string{"charge-id"}, []string{"pay", "1"}},
	} {
		l.Refuses(c.code, c.says, c.args...)
	}
	before.Check("refused commands")
	l.Sound()
}

func TestRentalReversePayment(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	l.Lease("start_date=2026-10-01")
	l.Pay(1, "2026-10-01", `,"method":"cash"`)
	l.Pay(1, "2026-11-01", "")
	for _, c := range []struct {
		code int
		says []string
		args []string
	}{
		{1, []string{"payment 9"}, []string{"9", "--reason", "x"}},
		{2, []string{"reason is empty"}, []string{"1", "--reason", " "}},
		{2, []string{"reason"}, []string{"1"}},
		{2, []string{"PAYMENT_ID"}, []string{"one", "--reason", "x"}},
		{2, nil, []string{"1", "2", "--reason", "x"}},
		{2, nil, []string{"--reason", "x"}},
	} {
		l.Refuses(c.code, c.says, append([]string{"reverse-payment"}, c.args...)...)
	}
	got := l.Rental("reverse-payment", "1", "--reason", "paid twice")
	if want := "payment 1 is reversed; unpaid again: 1-31 October 2026, due 2026-10-01, 1000.00 (charge 1)\nlease 1 owes 1000.00\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	got = l.Rental("reverse-payment", "2", "--reason", " typo ", "--json")
	want := `{"payment_id":2,"lease_id":1,"reason":"typo","charge":{"id":2,"type":"rent","period":"2026-11","label":"1-30 November 2026","due_date":"2026-11-01",` +
		`"amount_cents":100000,"paid":false,"paid_date":null,"method":null,"period_start":"2026-11-01","period_end":"2026-11-30","paid_cents":0,"balance_cents":100000},` +
		`"totals":{"billed_cents":200000,"paid_cents":0,"balance_cents":200000,"credit_cents":0,"deposit_held_cents":0},"allocations":[{"charge_id":2,"label":"1-30 November 2026","amount_cents":100000}]}` + "\n"
	assert.That(t, got == want, "%s, want %s", got, want)
	l.Refuses(1, []string{"reversed already"}, "reverse-payment", "2", "--reason", "x")
	l.Sound()
}

// TestRentalEndLease: an early end withdraws later charges, prorates the last period and leaves the rest. A paid charge
// after it is an obstacle.
func TestRentalEndLease(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	l.Lease("start_date=2026-06-01")
	l.Rental("charge", "1", "--type", "repair", "--amount", "700", "--due", "2026-11-03", "--label", "Window")
	for _, due := range []string{"2026-06-01", "2026-07-01", "2026-10-01"} {
		l.Pay(1, due, `,"paid_date":"`+due+`","method":"cash"`)
	}
	before := apptest.SnapshotOf(t, l.Fixture)
	for _, c := range []struct {
		code int
		says []string
		args []string
	}{
		{1, []string{"date: 2026-05-31 lies before the lease's start_date 2026-06-01"}, []string{"1", "--date", "2026-05-31"}},
		{1, []string{"1-31 October 2026", "lies after it and is paid", "reverse"}, []string{"1", "--date", "2026-09-14"}},
		{1, []string{"1-31 October 2026", "is paid and would have to change"}, []string{"1", "--date", "2026-10-30"}},
		{1, []string{"lease 2"}, []string{"2", "--date", "2026-09-14"}},
		{2, []string{"--date", "YYYY-MM-DD"}, []string{"1", "--date", "tomorrow"}},
		{2, []string{"date"}, []string{"1"}},
		{2, []string{"LEASE_ID"}, []string{"-", "--date", "2026-09-14"}},
	} {
		l.Refuses(c.code, c.says, append([]string{"end-lease"}, c.args...)...)
	}
	before.Check("refused ends")
	l.Rental("reverse-payment", "3", "--reason", "moved out")
	got := l.Rental("end-lease", "1", "--date", "2026-09-14")
	want := `the last day of lease 1 is 2026-09-14
withdrawn: 1-31 October 2026, due 2026-10-01, 1000.00 (charge 5)
withdrawn: 1-30 November 2026, due 2026-11-01, 1000.00 (charge 6)
cut short: 1-14 September 2026, 14 of 30 days, due 2026-09-01, 466.67 (charge 4)
lease 1 owes 1473.67
`
	assert.That(t, got == want, "%s, want %s", got, want)
	lines := []string{"2026-06-01 100000 1-30 June 2026 paid 2026-06-01 cash", "2026-07-01 100000 1-31 July 2026 paid 2026-07-01 cash", "2026-08-01 100000 1-31 August 2026",
		"2026-09-01 46667 1-14 September 2026, 14 of 30 days", "2026-11-03 700 Window"}
	if got := l.Owes(1, lines...); got.Lease.Status != "ended" || *got.Lease.EndDate != "2026-09-14" {
		t.Errorf("%+v", got.Lease)
	}
	l.Refuses(1, []string{"ends on 2026-09-14 already", "import"}, "end-lease", "1", "--date", "2026-12-31")
	l.Refuses(1, []string{"ends on 2026-09-14 already"}, "end-lease", "1", "--date", "2026-09-14")
	for _, id := range []int{5, 6} { // a withdrawn charge cannot be paid
		l.Refused(l.Post("rental", "/api/leases/1/payments", fmt.Sprintf(`{"charge_id":%d}`, id)), 422, "not a charge of lease 1")
	}
	l.On("2027-02-01")
	l.Owes(1, lines...)

	// Moved out after all: the rest of September is a period of its own.
	refused := l.PutLease("unit=U1", "start_date=2026-06-01", "end_date=2026-10-31")
	assert.Must(t, refused == nil, "%v", refused)
	l.Owes(1, append(lines[:4:4], "2026-09-15 53333 15-30 September 2026, 16 of 30 days", "2026-10-01 100000 1-31 October 2026", lines[4])...)

	// An open-ended lease ends in the future, with a JSON answer.
	l.Lease("start_date=2027-01-01", "end_date=2027-12-31", "proration=none")
	var e struct {
		Withdrawn []apptest.Charge
		Cut       *apptest.Charge
		Totals    apptest.Totals
		Lease     struct{ Status string }
	}
	apptest.AnswerOf(l.Rental("end-lease", "2", "--date", "2027-02-14", "--json")).JSON(t, &e)
	if len(e.Withdrawn) != 0 || e.Cut != nil || e.Lease.Status != "active" || e.Totals.Billed != 200000 {
		t.Errorf("%+v", e) // it posts January and February
	}
	l.Owes(2, "2027-01-01 100000 1-31 January 2027", "2027-02-01 100000 1-14 February 2027, 14 of 28 days, charged in full")
	l.Sound()
}
