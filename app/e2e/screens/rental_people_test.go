package screens

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestLettersTellNobodyElse: a tenant owes on a lease of her own, and begins another with somebody else. The letter
// about what she owes is addressed to her alone. Her lease with payments offers neither to be cancelled nor another
// first day; those questions name the payment in units. A bank account is made beside the file that waits for it. The
// sentence of two tenants is in the plural, and a wrong rent is told once.
func TestLettersTellNobodyElse(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	l.Load("units", "property,name\nHouse,A\nHouse,B\n")
	l.Load("tenants", "name,email\nAda Brandt,ada@example.org\nLea Roth,lea@example.org\n")
	l.Load("leases", "property,unit,start_date,tenant,rent_cents\nHouse,A,2026-01-01,Ada Brandt,90000\n"+
		"House,B,2096-01-01,Lea Roth | Ada Brandt,50000\n")
	l.Rental("receive", "House/A", "--amount-cents", "10000")
	v := l.Person("rental", "ann", "admin")
	read := func(path string) string { return apptest.Text(apptest.StatusIs(t, v.Get(path), http.StatusOK).Doc) }
	v.Post("/do/set_late_fee", "property_id", "1", "grace_days", "5", "amount", "25", "from", "2026-01-01")
	letter := read("/tenants/1/reminder")
	assert.Contains(t, letter, "Late fee for rent due 1 ", "the letter has no late fee with its day in words")
	assert.That(t, !strings.Contains(letter, "Lea Roth") && strings.Contains(letter, "Ada Brandt"),
		"the letter is addressed to %.300s", letter)
	paid, free := read("/leases/1"), read("/leases/2")
	for _, act := range []string{"Change the first day", "Cancel lease"} {
		assert.That(t, !strings.Contains(paid, act) && strings.Contains(free, act),
			"%q is on the lease with payments, or not on the one without", act)
	}
	assert.Contains(t, free, "Lea Roth & Ada Brandt owe nothing")
	for _, path := range []string{"/do/set_first_day?lease_id=1&date=2026-01-01", "/do/cancel_lease?lease_id=1"} {
		asked := read(path)
		assert.That(t, strings.Contains(asked, "of 100.00 on") && !strings.Contains(asked, "cents"), "%s: %s", path, asked)
	}
	waits, err := url.Parse(v.Upload("/do/import_bank", map[string]string{"new": "account"}, "file", "a.csv",
		"x").Header.Get("Location"))
	assert.Must(t, err == nil && waits.Path == "/do/save_bank_account",
		"no account can be made beside the bank's file: %v %v", waits, err)
	back := v.Post(waits.Path, "name", "Rent account", "then", waits.Query().Get("then")).Header.Get("Location")
	assert.That(t, strings.Contains(back, "account=1&"), "the form goes on at %s, without the new account", back)
	l.Rental("bank", "account", "Rent account", "--iban", "DE89370400440532013000", "--collects")
	edit := "/do/save_bank_account"
	form := apptest.StatusIs(t, v.Get(edit+"?name=Rent+account"), http.StatusOK)
	apptest.StatusIs(t, post(v, edit, sentBy(t, form, edit, "bic", "COBADEFFXXX")), http.StatusSeeOther)
	kept := l.Rental("bank", "accounts", "--json")
	assert.That(t, strings.Contains(kept, "DE89370400440532013000") && strings.Contains(kept, "COBADEFFXXX") &&
		strings.Contains(kept, "true"), "what an account's form left as it was is lost: %s", kept)
	assert.Contains(t, read(back), "a.csv is here", "the bank's file is lost on the way to a new account")
	for _, act := range [][]string{
		{"add_charge", "type", "deposit", "label", "Deposit", "amount", "200", "due_date", "2026-01-01"},
		{"receive_payment", "amount", "1025"}, {"end_lease", "date", "2026-01-31", "confirm", "yes"}} {
		apptest.StatusIs(t, v.Post("/do/"+act[0], append(act[1:], "lease_id", "1")...), http.StatusSeeOther)
	}
	if ended := read("/leases/1"); strings.Index(ended, "Return deposit") > strings.Index(ended, "Add charge") {
		t.Errorf("an ended lease does not lead on to its deposit: %s", ended)
	}
	// a question whose form begins with today's day is asked once
	v.Post("/do/add_charge", "lease_id", "1", "type", "utility", "label", "Water", "amount", "50",
		"due_date", "2026-01-20")
	charges := apptest.StatusIs(t, v.Get("/leases/1"), http.StatusOK).Body
	_, charge, _ := strings.Cut(charges, "/do/use_deposit?charge_id=")
	charge, _, _ = strings.Cut(charge, `"`)
	path := "/do/use_deposit?charge_id=" + charge
	sent := sentBy(t, apptest.StatusIs(t, v.Get(path), http.StatusOK), "/do/use_deposit")
	apptest.StatusIs(t, post(v, "/do/use_deposit", sent), http.StatusSeeOther)
	told := read("/leases/1/statement?year=2026")
	assert.That(t, strings.Contains(told, "Received in all1,125.00") && strings.Contains(told, "Deposit used in all50.00"),
		"what the deposit paid is not apart from what was received: %s", told)
	v.Post("/do/save_tenant", "name", "Cy Ott", "email", "cy@example.org", "phone", "0151 7")
	l.Load("leases", "property,unit,start_date,end_date,tenant,rent_cents\nHouse,B,2026-01-01,2026-01-31,Cy Ott,50000\n")
	if body := v.Get("/tenants/3").Body; !strings.Contains(body, `href="tel:01517"`) || !strings.Contains(body, "Invite") {
		t.Errorf("a tenant is not called from their page: %s", body)
	}
	assert.Contains(t, read("/do/forget_tenant?tenant_id=3"), "The tenant owes 525.00 USD", "forgetting")
	v.Post("/do/forget_tenant", "tenant_id", "3", "confirm", "yes")
	for _, path := range []string{"/arrears", "/reminders"} {
		behind := status(t, v.Get(path), http.StatusOK)
		said := apptest.Text(behind.Doc)
		assert.That(t, strings.Contains(said, "forgotten-3") && !strings.Contains(said, "to forgotten-3"),
			"%s offers a letter to a forgotten tenant: %s", path, said)
	}
	if body := v.Get("/tenants/3").Body; strings.Contains(body, "mailto:") || strings.Contains(body, "Invite to") {
		t.Errorf("a forgotten tenant can be written to: %s", body)
	}
	got := v.Post("/do/save_lease", "property", "House", "unit", "B", "start_date", "2030-01-01", "tenant", "Lea Roth",
		"rent", "1.234")
	said := apptest.Text(got.Doc)
	assert.That(t, strings.Contains(said, "Write 1234 or 1.23") && !strings.Contains(said, "Enter the rent"), "%d %s",
		got.Status, said)
}

// TestTheNextStepIsShown: the letter that invites a tenant leads back to the tenant, and says where its code is typed.
// A tenant whose lease runs is not offered to be forgotten. A lease whose last day is near leads on to its deposit.
func TestTheNextStepIsShown(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	today := time.Now().UTC()
	day := func(ahead int) string { return today.AddDate(0, 0, ahead).Format(time.DateOnly) }
	l.Load("units", "property,name\nHouse,A\n")
	l.Load("tenants", "name,email\nAda Brandt,ada@example.org\n")
	l.Load("leases", "property,unit,start_date,tenant,rent_cents\nHouse,A,"+day(-20)+",Ada Brandt,90000\n")
	v := l.Person("rental", "ann", "admin")
	body := func(path string) string { return apptest.StatusIs(t, v.Get(path), http.StatusOK).Body }
	letter := apptest.StatusIs(t, v.Post("/do/invite_tenant", "tenant_id", "1"), http.StatusOK)
	if said := apptest.Text(letter.Doc); !strings.Contains(letter.Body, `href="/tenants/1">Back</a>`) ||
		!strings.Contains(said, "Or open it only up to /portal, and type this code") {
		t.Errorf("the letter does not lead back, or not to the portal: %s", said)
	}
	assert.Lacks(t, body("/tenants/1"), "/do/forget_tenant", "a tenant whose lease runs is offered to be forgotten")
	for _, act := range [][]string{
		{"add_charge", "type", "deposit", "label", "Deposit", "amount", "1800", "due_date", day(-20)},
		{"receive_payment", "amount", "5400"}} {
		apptest.StatusIs(t, v.Post("/do/"+act[0], append(act[1:], "lease_id", "1")...), http.StatusSeeOther)
	}
	returns := func() bool {
		lease := body("/leases/1")
		at := strings.Index(lease, "/do/return_deposit")
		return at >= 0 && at < strings.Index(lease, "/do/add_charge")
	}
	assert.That(t, !returns(), "a lease without a last day leads to its deposit first")
	apptest.StatusIs(t, v.Post("/do/end_lease", "lease_id", "1", "date", day(60), "confirm", "yes"), http.StatusSeeOther)
	assert.That(t, returns(), "a lease that ends soon does not lead on to its deposit")
	v.Post("/do/add_charge", "lease_id", "1", "type", "utility", "label", "Water", "amount", "50", "due_date", day(0))
	_, charge, _ := strings.Cut(body("/leases/1"), "/do/use_deposit?charge_id=")
	charge, _, _ = strings.Cut(charge, `"`)
	for path, want := range map[string]string{
		"/do/use_deposit?charge_id=" + charge: "Use the deposit for Water?",
		"/do/return_deposit?lease_id=1":       "Return the deposit of House / A (Ada Brandt)?",
	} {
		got := apptest.StatusIs(t, v.Get(path), http.StatusOK)
		assert.Contains(t, apptest.Text(got.First("main")), want, "%s asks", path)
	}
	v.Post("/do/return_deposit", "lease_id", "1", "amount", "1700", "confirm", "yes")
	assert.Contains(t, apptest.Text(v.Get("/leases/1/statement").Doc), "Deposit returned1,700.00", "the statement")
}
