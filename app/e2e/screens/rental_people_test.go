package screens

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"quartermaster/app/apptest"
)

// TestLettersTellNobodyElse: a tenant owes on a lease of her own, and begins another with somebody else. The letter about
// what she owes is addressed to her alone. Her lease with payments offers neither to be cancelled nor another first day;
// those questions name the payment in units. A bank account is made beside the file that waits for it. The sentence of two tenants is in the plural, and a wrong rent is told once.
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
	if !strings.Contains(letter, "Late fee for rent due 1 ") {
		t.Errorf("the letter has no late fee with its day in words: %s", letter)
	}
	if strings.Contains(letter, "Lea Roth") || !strings.Contains(letter, "Ada Brandt") {
		t.Errorf("the letter is addressed to %.300s", letter)
	}
	paid, free := read("/leases/1"), read("/leases/2")
	for _, act := range []string{"Change the first day", "Cancel lease"} {
		if strings.Contains(paid, act) || !strings.Contains(free, act) {
			t.Errorf("%q is on the lease with payments, or not on the one without", act)
		}
	}
	if !strings.Contains(free, "Lea Roth & Ada Brandt owe nothing") {
		t.Errorf("%.300s", free)
	}
	for _, path := range []string{"/do/set_first_day?lease_id=1&date=2026-01-01", "/do/cancel_lease?lease_id=1"} {
		if asked := read(path); !strings.Contains(asked, "of 100.00 on") || strings.Contains(asked, "cents") {
			t.Errorf("%s: %s", path, asked)
		}
	}
	waits, err := url.Parse(v.Upload("/do/import_bank", map[string]string{"new": "account"}, "file", "a.csv", "x").Header.Get("Location"))
	if err != nil || waits.Path != "/do/save_bank_account" {
		t.Fatalf("no account can be made beside the bank's file: %v %v", waits, err)
	}
	back := v.Post(waits.Path, "name", "Rent account", "then", waits.Query().Get("then")).Header.Get("Location")
	if !strings.Contains(back, "account=1&") {
		t.Errorf("the form goes on at %s, without the new account", back)
	}
	got := v.Post("/do/save_lease", "property", "House", "unit", "B", "start_date", "2030-01-01", "tenant", "Lea Roth", "rent", "1.234")
	if said := apptest.Text(got.Doc); !strings.Contains(said, "Write 1234 or 1.23") || strings.Contains(said, "Enter the rent") {
		t.Errorf("%d %s", got.Status, said)
	}
}
