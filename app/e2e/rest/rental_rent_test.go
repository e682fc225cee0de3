package rest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// Complaints of tenants and landlords about other programs, tested end to end.

// TestRentOfThe31stComesBack: a due day that a short month moved returns in the next month.
func TestRentOfThe31stComesBack(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	id := l.Lease("start_date=2026-01-31")
	l.Owes(id, "2026-01-31 100000 31 January-27 February 2026", "2026-02-28 100000 28 February-30 March 2026",
		"2026-03-31 100000 31 March-29 April 2026", "2026-04-30 100000 30 April-30 May 2026", "2026-05-31 100000 31 May-29 June 2026",
		"2026-06-30 100000 30 June-30 July 2026", "2026-07-31 100000 31 July-30 August 2026", "2026-08-31 100000 31 August-29 September 2026",
		"2026-09-30 100000 30 September-30 October 2026", "2026-10-31 100000 31 October-29 November 2026")
	leap := apptest.NewRental(t)
	id = leap.Lease("start_date=2024-01-31", "end_date=2024-04-29")
	leap.Owes(id, "2024-01-31 100000 31 January-28 February 2024", "2024-02-29 100000 29 February-30 March 2024", "2024-03-31 100000 31 March-29 April 2024")
	id = leap.Lease("start_date=2024-02-29", "frequency=yearly")
	leap.Owes(id, "2024-02-29 100000 29 February 2024-27 February 2025", "2025-02-28 100000 28 February 2025-27 February 2026",
		"2026-02-28 100000 28 February 2026-27 February 2027")
	id = leap.Lease("start_date=2025-11-30", "frequency=quarterly", "end_date=2026-08-29")
	leap.Owes(id, "2025-11-30 100000 30 November 2025-27 February 2026", "2026-02-28 100000 28 February-29 May 2026", "2026-05-30 100000 30 May-29 August 2026")
	l.Sound()
	leap.Sound()
}

// TestFiveWeeklyChargesInAMonthWithFive: a month with five Mondays has five weekly charges.
func TestFiveWeeklyChargesInAMonthWithFive(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	weekly := l.Lease("start_date=2026-09-28", "frequency=weekly", "rent_cents=25000", "end_date=2026-11-15")
	fortnightly := l.Lease("start_date=2026-10-02", "frequency=fortnightly", "rent_cents=46000", "due_day=15", "end_date=2026-10-31")
	l.Owes(weekly, "2026-09-28 25000 28 September-4 October 2026", "2026-10-05 25000 5-11 October 2026", "2026-10-12 25000 12-18 October 2026",
		"2026-10-19 25000 19-25 October 2026", "2026-10-26 25000 26 October-1 November 2026", "2026-11-02 25000 2-8 November 2026", "2026-11-09 25000 9-15 November 2026")
	l.Owes(fortnightly, "2026-10-02 46000 2-15 October 2026", "2026-10-16 46000 16-29 October 2026", "2026-10-30 6571 30-31 October 2026, 2 of 14 days")
	monday := l.Lease("start_date=2026-08-03", "frequency=weekly", "rent_cents=25000")
	august := 0
	for _, c := range l.Ledger(monday).Charges {
		if c.Period == "2026-08" {
			august++
		}
	}
	assert.That(t, august == 5, "August 2026 has five Mondays, and %d charges", august)
	roll, _ := l.Tool("rental", "rent_roll", `{"month":"2026-08"}`)
	billed := roll["totals"].(map[string]any)["billed_cents"]
	assert.That(t, billed == 125000.0, "August's rent roll: %v", billed)
	l.Sound()
}

// TestTheDebtOutlivesTheLease: the debt of an ended lease stays owed and reported.
func TestTheDebtOutlivesTheLease(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	id := l.Lease("start_date=2026-08-01", "end_date=2026-09-14")
	want := []string{"2026-08-01 100000 1-31 August 2026", "2026-09-01 46667 1-14 September 2026, 14 of 30 days"}
	got := l.Owes(id, want...)
	assert.That(t, got.Lease.Status == "ended" && got.Totals.Balance == 146667, "%+v", got)
	l.On("2027-12-01")
	l.Owes(id, want...)
	if a := l.Arrears(); a.Total != 146667 || a.Buckets.Over90 != 146667 || len(a.Arrears) != 2 || a.Arrears[0].DaysOverdue != 487 {
		t.Errorf("a year later: %+v", a)
	}
	assert.Contains(t, l.Get("rental", "/api/leases?status=ended").Body, `"balance_cents":146667`, "the list")
	p := l.Pay(id, "2026-08-01", "")
	assert.That(t, p.Totals.Balance == 46667 && *p.Charge.PaidDate == "2027-12-01", "it can still be paid: %+v", p)
	l.Sound()
}

// TestPaymentsOfThePast: a payment may have any day, also before the charge was due and before the lease began.
func TestPaymentsOfThePast(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	id := l.Lease("start_date=2026-09-01")
	l.Pay(id, "2026-09-01", `,"method":"cash","paid_date":"2026-09-03"`)
	l.Pay(id, "2026-10-01", `,"method":"check","paid_date":"2025-12-31"`)
	l.Pay(id, "2026-11-01", `,"method":"online","paid_date":"2027-01-01"`)
	l.Owes(id, "2026-09-01 100000 1-30 September 2026 paid 2026-09-03 cash", "2026-10-01 100000 1-31 October 2026 paid 2025-12-31 check",
		"2026-11-01 100000 1-30 November 2026 paid 2027-01-01 online")
	for month, want := range map[string]string{"2026-09": "100000 100000", "2026-10": "100000 0", "2025-12": "0 100000", "2027-01": "0 100000"} {
		roll, refusal := l.Tool("rental", "rent_roll", `{"month":"`+month+`"}`)
		assert.Must(t, refusal == "", "%v", refusal)
		sums := roll["totals"].(map[string]any)
		assert.Equal(t, fmt.Sprint(sums["billed_cents"], " ", sums["received_cents"]), want, "%s: billed and received", month)
	}
	l.Sound()
}

// TestTheFirstShortMonthIsChargedByItsDaysAndSaysSo: to the cent, with the days in its label. Without proration it is
// charged in full and says so.
func TestTheFirstShortMonthIsChargedByItsDaysAndSaysSo(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	for _, c := range []struct {
		terms string
		want  []string
	}{
		{"start_date=2026-10-15 due_day=1 end_date=2026-11-10", // 100000 x 17 / 31 = 54838.7; x 10 / 30 = 33333.3
			[]string{"2026-10-15 54839 15-31 October 2026, 17 of 31 days", "2026-11-01 33333 1-10 November 2026, 10 of 30 days"}},
		{"start_date=2026-10-15 due_day=1 end_date=2026-11-10 proration=none",
			[]string{"2026-10-15 100000 15-31 October 2026, 17 of 31 days, charged in full", "2026-11-01 100000 1-10 November 2026, 10 of 30 days, charged in full"}},
		{"start_date=2026-10-31 due_day=1 end_date=2026-10-31", // one day
			[]string{"2026-10-31 3226 31 October 2026, 1 of 31 days"}},
		{"start_date=2026-11-01 due_day=16 end_date=2026-11-30 rent_cents=1", // half a cent is rounded up: 1 x 15 / 31 = 0.48, 1 x 15 / 30 = 0.5
			[]string{"2026-11-01 0 1-15 November 2026, 15 of 31 days", "2026-11-16 1 16-30 November 2026, 15 of 30 days"}},
		{"start_date=2026-08-20 due_day=5 frequency=quarterly", // the quarter around it is 5 August to 4 November: 92 days
			[]string{"2026-08-20 83696 20 August-4 November 2026, 77 of 92 days", "2026-11-05 100000 5 November 2026-4 February 2027"}},
		{"start_date=2024-01-20 due_day=10 frequency=yearly end_date=2025-01-09", // 356 of the 366 days of a leap year
			[]string{"2024-01-20 97268 20 January 2024-9 January 2025, 356 of 366 days"}},
		{"start_date=2026-11-02 frequency=weekly end_date=2026-11-05 rent_cents=25000", // 4 of 7 days: 14285.7
			[]string{"2026-11-02 14286 2-5 November 2026, 4 of 7 days"}},
		{"start_date=2026-10-31 due_day=15 end_date=2026-11-14 rent_cents=310000", // the month around it begins on 15 October
			[]string{"2026-10-31 150000 31 October-14 November 2026, 15 of 31 days"}},
	} {
		id := l.Lease(strings.Fields(c.terms)...)
		l.Owes(id, c.want...)
	}
	l.Sound()
}

// TestEveryAmountIsAWholeNumberOfCents: no fraction and no exponent, however large the amounts are.
func TestEveryAmountIsAWholeNumberOfCents(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	big := l.Lease("start_date=2026-09-10", "due_day=1", "rent_cents=1000000000000")
	l.Owes(big, "2026-09-10 700000000000 10-30 September 2026, 21 of 30 days", "2026-10-01 1000000000000 1-31 October 2026", "2026-11-01 1000000000000 1-30 November 2026")
	third := l.Lease("start_date=2026-09-11", "due_day=1", "rent_cents=999999999999")
	l.Owes(third, "2026-09-11 666666666666 11-30 September 2026, 20 of 30 days", "2026-10-01 999999999999 1-31 October 2026", "2026-11-01 999999999999 1-30 November 2026")
	p := l.Pay(big, "2026-10-01", "")
	assert.That(t, p.Totals == (apptest.Totals{Billed: 2700000000000, Paid: 1000000000000, Balance: 1700000000000}),
		"%+v", p.Totals)
	cents := regexp.MustCompile(`"(\w*_cents|days_\w+)":(\d+)[,}]`)
	amount := regexp.MustCompile(`"(\w*_cents|days_\w+)":[^{]`) // "buckets" holds some
	for _, path := range []string{"/api/leases", "/api/units", "/api/arrears", "/api/leases/1/ledger", "/api/leases/2/ledger"} {
		body := l.Get("rental", path).Body
		got, all := len(cents.FindAllString(body, -1)), len(amount.FindAllString(body, -1))
		assert.That(t, got != 0 && got == all, "%s: %d of %d amounts are whole numbers: %s", path, got, all, body)
	}
	for _, cell := range []string{"1000.00", "1e3", "1,000", "99999999999999999999", "1000000000001", "-1", ""} {
		refused := l.Try("leases", "property,unit,start_date,tenant,rent_cents\nHouse,U1,2026-09-10,Tenant U1,\""+cell+"\"\n")
		assert.That(t, len(refused) == 1 && strings.Contains(refused[0], "rent_cents"), "rent %q: %q", cell, refused)
	}
	l.Sound()
}

// TestALedgerReadTwicePostsOnce: also by many at once, and by every other kind of read.
func TestALedgerReadTwicePostsOnce(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	id := l.Lease("start_date=2026-09-01")
	var answers [8]apptest.Answer
	var readers sync.WaitGroup
	for i := range answers {
		readers.Go(func() { answers[i] = l.Get("rental", "/api/leases/1/ledger") })
	}
	readers.Wait()
	first := l.Get("rental", "/api/leases/1/ledger")
	for _, a := range answers {
		assert.That(t, a.Status == 200 && a.Body == first.Body,
			"one of many read %d %s, later it is %s", a.Status, a.Body, first.Body)
	}
	before := apptest.SnapshotOf(t, l.Fixture)
	for range 3 {
		assert.Equal(t, l.Get("rental", "/api/leases/1/ledger").Body, first.Body, "read again")
		l.Get("rental", "/api/leases")
		l.Arrears()
		for _, tool := range []string{"list_properties", "list_leases", "arrears_report", "rent_roll"} {
			_, refusal := l.Tool("rental", tool, `{}`)
			assert.That(t, refusal == "", "%s: %s", tool, refusal)
		}
		_, refusal := l.Tool("rental", "lease_detail", `{"lease_id":1}`)
		assert.That(t, refusal == "", "%v", refusal)
	}
	before.Check("reading what is posted")
	assert.Equal(t, l.Ledger(id).Totals.Billed, 300000, "billed")
	if got := l.Trail(); len(slices.DeleteFunc(got, func(e string) bool { return !strings.Contains(e, "posted") })) != 1 {
		t.Errorf("posted more than once: %q", l.Trail())
	}
}

// TestANewRentChangesNothingThatWasPosted: nor charges due before it that are not yet posted.
func TestANewRentChangesNothingThatWasPosted(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	id := l.Lease("start_date=2026-09-01")
	want := []string{"2026-09-01 100000 1-30 September 2026", "2026-10-01 100000 1-31 October 2026", "2026-11-01 100000 1-30 November 2026"}
	l.Owes(id, want...)
	refused := l.PutLease("unit=U1", "start_date=2026-09-01", "rent_cents=120000")
	assert.Must(t, refused == nil, "%v", refused)
	l.Owes(id, want...)
	l.On("2026-12-01")
	want = append(want, "2026-12-01 120000 1-31 December 2026")
	l.Owes(id, want...)
	l.On("2027-02-01") // January and February are due, and nothing was read
	refused = l.PutLease("unit=U1", "start_date=2026-09-01", "rent_cents=130000")
	assert.Must(t, refused == nil, "%v", refused)
	l.On("2027-03-01")
	l.Owes(id, append(want, "2027-01-01 120000 1-31 January 2027", "2027-02-01 120000 1-28 February 2027", "2027-03-01 130000 1-31 March 2027")...)
	l.Sound()
}
