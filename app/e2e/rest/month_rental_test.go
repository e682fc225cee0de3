package rest

import (
	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"strings"
	"testing"
)

// TestMonthOfRental holds the lines of month.md's "Rental" over REST, by CSV and at the command line. It is Friday,
// 2026-11-20; lease 1 is monthly at 1000.00 from 1 September.
func TestMonthOfRental(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	l.Lease("start_date=2026-09-01")
	const pay = "/api/leases/1/payments"
	askAll(t, l.Fixture, "rental", []asked{
		// nothing was posted before this
		{"a part", "POST", pay, `{"charge_id":1,"amount_cents":40000,"method":"cash","paid_date":"2026-09-03"}`, 422, "charge_id"},
		{"the ledger", "GET", "/api/leases/1/ledger", "", 200, `"paid_cents":0,"balance_cents":100000|"balance_cents":300000,"credit_cents":0,"deposit_held_cents":0`},
	}[1:])
	askAll(t, l.Fixture, "rental", []asked{
		{"a part", "POST", pay, `{"charge_id":1,"amount_cents":40000,"method":"cash","paid_date":"2026-09-03"}`, 201, `"amount_cents":40000|"paid":false,"paid_date":null|"paid_cents":40000,"balance_cents":60000|"paid_cents":40000,"balance_cents":260000`},
		{"more than is open", "POST", pay, `{"charge_id":1,"amount_cents":60001}`, 422, "amount_cents|60000"},
		{"nothing", "POST", pay, `{"charge_id":1,"amount_cents":0}`, 422, "amount_cents"},
		{"the rest", "POST", pay, `{"charge_id":1,"method":"card","paid_date":"2026-09-09"}`, 201, `"amount_cents":60000|"paid":true,"paid_date":"2026-09-09","method":"card"`},
		{"again", "POST", pay, `{"charge_id":1}`, 409, "paid already"},
		{"arrears count what is open", "GET", "/api/arrears", "", 200, `"total_cents":200000|"days_31_60":100000|"balance_cents":100000`},
	})
	typeAll(t, l.CLI, []typed{
		{"on account", "rental receive House/U1 --amount-cents 150000 --method transfer --json", 0, `"payment_id":3|"charge":null|"allocations":[{"charge_id":2,"label":"1-31 October 2026","amount_cents":100000},{"charge_id":3,"label":"1-30 November 2026","amount_cents":50000}],"credit_cents":0`},
		{"more than is due", "rental receive House/U1 --amount-cents 80000 --json", 0, `"charge":{"id":3|"credit_cents":30000`},
		{"credit waits", "rental ledger House/U1 --json", 0, `"balance_cents":0,"credit_cents":30000`},
		{"it meets a charge at once", "rental charge #1 --type repair --amount 12000 --due 2026-11-20 --label Lock --json", 0, `"paid":true|"credit_cents":18000`},
		{"credit goes back", "rental return-credit House/U1 --amount-cents 8000 --json", 0, `"credit_cents":10000`},
		{"never more than there is", "rental return-credit House/U1 --amount-cents 10001", 1, "10000"},
		{"a payment whose credit went back", "rental reverse-payment 4 --reason bounced", 1, "returned"},
		{"one is undone with all that it paid", "rental reverse-payment 3 --reason bounced --json", 0, `"charge":null|"balance_cents":140000,"credit_cents":0`},
		{"a step of rent", "rental set-rent House/U1 --from 2026-12-01 --rent-cents 110000 --json", 0, `"rent_cents":100000|"base_rent_cents":100000,"rents":[{"from":"2026-12-01","rent_cents":110000}]`},
		{"the same day replaces", "rental set-rent House/U1 --from 2026-12-01 --rent-cents 120000 --json", 0, `"rents":[{"from":"2026-12-01","rent_cents":120000}]`},
		{"null takes it away", "rental set-rent House/U1 --from 2026-12-01 --json", 0, `"rents":[]`},
		{"a recurring charge", "rental add-recurring House/U1 --type utility --label Water --amount-cents 3000 --from 2026-10-01 --json", 0, `"posted":[{|"due_date":"2026-10-01"|"due_date":"2026-11-01"`},
		{"not of that type", "rental add-recurring House/U1 --type rent --label x --amount-cents 1 --from 2026-10-01", 2, "utility, repair, other"},
		{"a late fee", "rental set-late-fee House --grace-days 5 --percent 2.5 --from 2026-11-01 --json", 0, `"grace_days":5,"cents":null,"percent":2.5,"from":"2026-11-01"`},
		{"of what was open then", "rental ledger House/U1 --json", 0, `"type":"late_fee"|"due_date":"2026-11-07"`},
		{"a deposit", "rental charge #1 --type deposit --amount 50000 --due 2026-11-20 --label Deposit --json", 0, `"type":"deposit"`},
		{"is not void once paid in part", "rental void-charge 1 --reason x", 1, "rent"},
	})
	askAll(t, l.Fixture, "rental", []asked{
		{"leases by property", "GET", "/api/leases?property=hou", "", 200, `"id":1|"tenants":[{"id":1,"name":"Tenant U1","email":"u1@example.org"}]`},
		{"by tenant", "GET", "/api/leases?tenant=u1", "", 200, `"id":1`},
		{"by the tenant's id", "GET", "/api/leases?tenant=1", "", 200, `"id":1`},
		{"by nobody", "GET", "/api/leases?tenant=nobody", "", 200, `"leases":[]`},
		{"by end", "GET", "/api/leases?ends_before=2026-12-01", "", 200, `"leases":[]`},
		{"no day", "GET", "/api/leases?ends_before=soon", "", 422, "ends_before"},
		{"units by property", "GET", "/api/units?property=house", "", 200, `"name":"U1"`},
		{"tickets of a unit that is not", "GET", "/api/maintenance?unit_id=99", "", 200, `"tickets":[]`},
	})
	l.Lease("start_date=2026-11-15", "end_date=2026-11-30")
	typeAll(t, l.CLI, []typed{
		{"a lease that never was", "rental cancel-lease House/U2 --yes", 0, "cancelled"},
		{"its ledger is gone", "rental ledger #2", 1, "2"},
		{"one with payments stays", "rental cancel-lease House/U1 --yes", 1, "payment"},
		{"a year of a lease", "rental statement House/U1 --year 2026 --json", 0, `"opening_balance_cents":0|"charged_cents":|"received_cents":180000|"credit_returned_cents":8000|"closing_balance_cents":`},
		{"and of a house", "rental property-statement House --year 2026 --json", 0, `"received_cents":180000,"by_type":[{"type":"rent"|"credit_cents":`},
		{"a receipt", "rental receipt 1 --json", 0, `"allocations":[{"charge_id":1`},
		{"of a payment that bounced", "rental receipt 3", 1, "reversed"},
		{"a tenant who lives here", "rental tenant forget Tenant~U1 --yes", 1, "lease"},
		{"one who does not", "rental tenant forget u2@example.org --yes", 0, ""},
		{"is forgotten", "rental tenants list --json", 0, `"name":"forgotten-2","email":"forgotten-2@invalid"|!Tenant U2`},
		{"a lease is taken over", "rental set-opening House/U1 --day 2026-12-01", 1, "payment"},
		{"a ticket", "rental ticket create House/U1 --title Tap --json", 0, `"id":1`},
		{"a note", "rental ticket note 1 --text Thursday", 0, ""},
		{"for somebody", "rental ticket assign 1 --assigned-to Joe --json", 0, `"assigned_to":"Joe"`},
		{"shown", "rental tickets show 1 --json", 0, "Thursday"},
	})
	l.Load("tenants", "name,email,id\nAnn,a1@example.org,\nAnn,a2@example.org,\nBo,,\n")
	if refused := l.Try("tenants", "name,email\nAnn,\n"); len(refused) != 1 || !strings.Contains(refused[0], "Ann <a1@example.org>") {
		t.Errorf("one of two of a name: %q", refused)
	}
	if refused := l.Try("tenants", "name,email\nAnn,\nAnn,a3@example.org\n"); len(refused) != 2 || !strings.Contains(refused[0], "a2@example.org") ||
		!strings.Contains(refused[1], "a1@example.org") || !strings.Contains(refused[1], "a2@example.org") {
		t.Errorf("both that it may be are named: %q", refused)
	}
	refused := l.PutLease("unit=U2", "start_date=2026-12-01", "tenant=Ann <a2@example.org>|Bo", "rent_cents=5")
	assert.That(t, len(refused) <= 0, "two tenants: %q", refused)
	askAll(t, l.Fixture, "rental", []asked{{"both", "GET", "/api/leases?tenant=bo", "", 200, `"tenant":"Ann & Bo","tenant_email":"a2@example.org"`}})
	typeAll(t, l.CLI, []typed{{"several of a name", "rental tenants show Ann", 2, "a1@example.org|a2@example.org"}, {"doctor", "doctor", 0, ""}})
}
