package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAHouseOnOneSheet imports a rent roll as a landlady has it, with names of her own and amounts in
// units: everything is there, nobody owes more than the sheet says, and the same sheet again changes
// nothing.
func TestAHouseOnOneSheet(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.done("init")
	if got := s.done("import", "rental", "rent-roll", "--template"); got != "property,unit,tenant,email,phone,rent,frequency,start_date,end_date,deposit,balance,paid_up_to\n" {
		t.Errorf("the template: %s", got)
	}
	file := filepath.Join(t.TempDir(), "house.csv")
	sheet := "Building,Apartment,Renter,E-mail,Monthly rent,Lease start,Security deposit,Balance,Colour\n" +
		"Harbour House,1A,Ada Lindqvist,ada@example.com,900.00,2021-05-01,1800.00,350.50,red\n" +
		"Harbour House,1B,Ben Okafor,ben@example.com,925.00,2023-01-01,925.00,0,blue\n" +
		"Harbour House,2A,,,,,,,\n" +
		"Mill Lane,1,Ada Lindqvist,other@example.com,700.00,2022-03-01,,-100.00,\n" +
		"Mill Lane,2,Cleo,,650.00,,,,\n"
	if err := os.WriteFile(file, []byte(sheet), 0o600); err != nil {
		t.Fatal(err)
	}
	got := s.run("import", "rental", "rent-roll", file)
	if got.code == 0 || !strings.Contains(got.out+got.errors, "first day") {
		t.Errorf("the row without a first day: %d %s%s", got.code, got.out, got.errors)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(sheet, "Mill Lane,2,Cleo,,650.00,,,,\n", "Mill Lane,2,Cleo,,650.00,2027-01-01,,,\n", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.done("import", "rental", "rent-roll", file)
	before := s.done("rental", "leases", "list", "--json")
	for _, want := range []string{`"balance_cents":35050`, `"Cleo"`} {
		if !strings.Contains(strings.ReplaceAll(before, ": ", ":"), want) {
			t.Errorf("%s is not in %s", want, before)
		}
	}
	if tenants := s.done("rental", "tenants", "list"); strings.Count(tenants, "Ada Lindqvist") != 2 {
		t.Errorf("two people of one name: %s", tenants)
	}
	if n := strings.Count(strings.ReplaceAll(before, ": ", ":"), `"balance_cents":0`); n != 3 { // the prepaid one is a credit
		t.Errorf("%d leases owe nothing: %s", n, before)
	}
	if again := s.done("import", "rental", "rent-roll", file, "--dry-run"); !strings.Contains(again, "0 of 5 rows are new") {
		t.Errorf("again: %s", again)
	}
	s.done("doctor")
}
