package rest

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// movingTables are all tables of the rental service, in the order of import.
var movingTables = []string{"properties", "units", "tenants", "leases", "rents", "recurring", "charges", "payments", "deposits", "tickets"}

// TestMonthOfAProperty does a month's payments by commands. Each payment is one event, also one on account and one for
// several charges. Printed sums agree. All tables move to another file, in which everyone owes the same.
func TestMonthOfAProperty(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t, "--webhook-allow-private")
	hook := receive(l, "payment.recorded")
	l.Lease("start_date=2026-08-15", "due_day=1")
	l.Lease("start_date=2026-09-01")
	typeAll(t, l.CLI, []typed{
		{"a late fee", "rental set-late-fee House --grace-days 5 --percent 2.5 --from 2026-10-01", 0, ""},
		{"a recurring charge", "rental add-recurring House/U1 --type utility --label Water --amount-cents 4500 --from 2026-10-01", 0, "2 charges were posted"},
		{"one that ends", "rental add-recurring House/U2 --type other --label Garage --amount-cents 700 --from 2026-09-01 --to 2026-10-31", 0, ""},
		{"a step of rent", "rental set-rent House/U1 --from 2026-12-01 --rent-cents 110000", 0, "1,100.00"},
		{"a deposit is charged", "rental charge House/U1 --type deposit --amount 80000 --due 2026-09-01 --label Deposit", 0, ""},
		{"payment 1, in part", "rental pay House/U1 --charge-id 1 --amount-cents 1000 --paid-date 2026-08-20", 0, "Payment 1"},
		{"payment 2, of several charges", "rental receive House/U1 --amount-cents 250000 --paid-date 2026-10-04 --method transfer", 0, "Payment 2"},
		{"payment 3, credit for the most part", "rental receive House/U2 --amount-cents 400000 --paid-date 2026-11-05", 0, "is credit"},
		{"credit goes back", "rental return-credit House/U2 --amount-cents 40000 --day 2026-11-06", 0, ""},
		{"what is on the ledger", "rental ledger House/U1", 0, "House/U1|Tenant U1|CHARGE|15-31 August 2026, 17 of 31 days|Late fee for rent due 2026-11-01|billed |deposit held"},
		{"a deposit pays", "rental use-deposit 2 --amount-cents 500 --yes", 1, "open"},
		{"what a lease is", "rental leases show House/U1", 0, "1000.00 monthly|rent from 2026-12-01: 1100.00|Water with each period from 2026-10-01: 45.00 (recurring charge 1)"},
		{"as JSON", "rental leases show House/U1 --json", 0, `"recurring":[{"id":1,"lease_id":1,"type":"utility","label":"Water","amount_cents":4500,"from":"2026-10-01","to":null}]`},
		{"who is behind", "rental arrears", 0, "DAYS|House/U1|in all: |up to 30 days|!House/U2"},
		{"the leases of a property by its id", "rental leases list --property #1", 0, "House/U1|House/U2|2 in all"},
		{"by an e-mail", "rental leases list --tenant u2@example.org", 0, "House/U2|1 in all"},
		{"the units", "rental units list --property #1 --status occupied", 0, "House/U1|2 in all"},
		{"the properties", "rental properties list", 0, "2.5 % after 5 days, from 2026-10-01"},
		{"with the late fee's columns", "rental properties list --csv", 0, "late_fee_grace_days,late_fee_cents,late_fee_percent,late_fee_from|,5,,2.5,2026-10-01"},
		{"a property", "rental properties show House", 0, "late fee|House/U2"},
		{"a tenant", "rental tenants show Tenant~U1", 0, "u1@example.org|House/U1"},
		{"the month", "rental rent-roll --month 2026-11", 0, "RECEIVED|in all"},
		{"a statement", "rental statement House/U2 --year 2026", 0, "credit returned|400.00|closing balance"},
		{"of a property", "rental property-statement House --year 2026", 0, "6510.00 received|deposit|U2"},
		{"a receipt", "rental receipt 2", 0, "2500.00|2026-10-04|bank_transfer"},
		{"a ticket", "rental ticket create House/U1 --title Tap", 0, ""},
		{"the tickets", "rental tickets list", 0, "House/U1|Tap|1 in all"},
		{"one of them", "rental tickets show 1", 0, "ticket|Tap|by cli"},
	})
	open := regexp.MustCompile(`"id":(\d+),"type":"rent","period":"2026-11"`).FindStringSubmatch(l.Get("rental", "/api/leases/1/ledger").Body)
	assert.Must(t, open != nil, "no rent of November")
	typeAll(t, l.CLI, []typed{
		{"the deposit pays rent", "rental use-deposit " + open[1] + " --amount-cents 5000 --day 2026-11-10 --yes", 0, ""},
		{"and goes back in part", "rental return-deposit House/U1 --amount-cents 20000 --day 2026-11-12 --method transfer --yes", 0, ""},
		{"a lease ends", "rental end-lease House/U2 --date 2026-11-30 --yes", 0, ""},
	})
	for n := 1; n <= 3; n++ {
		e := eventOf(l, hook)
		if want := fmt.Sprintf(`{"payment_id":%d,`, n); e.Event != "payment.recorded" || !strings.HasPrefix(string(e.Data), want) {
			t.Errorf("event %d: %s %s", n, e.Event, e.Data)
		}
	}
	delivered(l, hook, 3)

	other := &apptest.Rental{Fixture: apptest.Start(t), Zone: []string{"--timezone", "UTC"}}
	for _, table := range movingTables {
		other.Load(table, export(l, table))
		other.Load(table, export(l, table)) // a second import changes nothing
	}
	for _, table := range movingTables {
		got, want := export(other, table), export(l, table)
		assert.That(t, got == want, "%s after the move:\n%s\nbefore:\n%s", table, got, want)
	}
	totals := regexp.MustCompile(`"totals":.*`)
	for _, path := range []string{"/api/leases/1/ledger", "/api/leases/2/ledger"} {
		got, want := totals.FindString(other.Get("rental", path).Body), totals.FindString(l.Get("rental", path).Body)
		assert.That(t, got == want && want != "", "%s after the move %s\nbefore %s", path, got, want)
	}
	l.Sound()
	other.Sound()
}

// TestRacingPaymentReversalAndEnd pays a charge, reverses an earlier payment and ends the lease before that charge, at
// once and each twice, while others read. Either the payment or the end is accepted, the reversal is done once, and the
// sums match.
func TestRacingPaymentReversalAndEnd(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	for round := range 4 {
		id := l.Lease("start_date=2026-06-01")
		path := fmt.Sprintf("/api/leases/%d", id)
		charges := l.Ledger(id).Charges
		last := charges[len(charges)-1].ID
		var received apptest.Payment
		apptest.AnswerOf(l.Rental("receive", fmt.Sprint(id), "--amount-cents", "150000", "--paid-date", "2026-06-02", "--json")).JSON(t, &received)
		won := make([]bool, 8)
		together(len(won), func(i int) {
			var code int
			switch i % 4 {
			case 0:
				won[i] = l.Post("rental", path+"/payments", fmt.Sprintf(`{"charge_id":%d}`, last)).Status == 201
			case 1:
				code, _, _ = l.CLI("rental", "reverse-payment", fmt.Sprint(received.ID), "--reason", "race", "--yes")
				won[i] = code == 0
			case 2:
				won[i] = l.Get("rental", path+"/ledger").Status == 200
			case 3:
				code, _, _ = l.CLI("rental", "end-lease", fmt.Sprint(id), "--date", "2026-10-15", "--yes")
				won[i] = code == 0
			}
		})
		ended := won[3] || won[7]
		if won[0] && won[4] || (won[0] || won[4]) == ended || won[1] == won[5] || !won[2] || !won[6] {
			t.Errorf("round %d: paid %v %v, reversed %v %v, ended %v %v", round, won[0], won[4], won[1], won[5], won[3], won[7])
		}
		want := apptest.Totals{Billed: 600_000, Paid: 100_000, Balance: 500_000}
		if ended {
			want = apptest.Totals{Billed: 448_387, Paid: 0, Balance: 448_387} // four months and 15 of 31 days
		}
		assert.Equal(t, l.Ledger(id).Totals, want, "round %d", round)
	}
	l.Sound()
}
