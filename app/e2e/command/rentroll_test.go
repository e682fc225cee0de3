package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quartermaster/schema/assert"
)

// TestRentRollsOfOtherPrograms imports rent rolls as Buildium, AppFolio and French, Dutch and American sheets have them: titles above, a total below,
// currency signs, American dates, vacant units as a word, debts.
func TestRentRollsOfOtherPrograms(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ sheet, want string }{
		"Buildium": {"Rent Roll,,,,,,,,,\nAs of 11/23/2026,,,,,,,,,\n,,,,,,,,,\n" +
			"Property,Unit,Tenant,Email,Phone,Lease Start,Lease End,Rent,Deposit,Balance Due\n" +
			`Harbour House,1A,"Okafor, Ben",ben@example.org,555-0100,03/01/2025,02/28/2027,"$1,250.00","$1,250.00",$0.00` + "\n" +
			`Harbour House,1B,Ada Lin,ada@example.org,555-0101,07/15/2024,,"$1,100.00","$1,100.00","$350.00"` + "\n" +
			"Harbour House,2A,,,,,,,,\n" + `Total,,,,,,,"$2,350.00","$2,350.00",$350.00` + "\n",
			"2 leases, which owe 350.00 USD"},
		"AppFolio": {"Unit,Tenant,Status,Sqft,Market Rent,Rent,Deposit,Lease From,Lease To,Move-in,Past Due,Property\n" +
			`101,Maria Gomez,Current,800,"1,500.00","1,450.00","1,450.00",01/01/2026,12/31/2026,01/01/2026,0.00,Elm Court` + "\n" +
			`102,John Smith,Current,650,"1,300.00","1,295.00",500.00,06/15/2025,06/14/2027,06/15/2025,"1,295.00",Elm Court` + "\n" +
			`103,VACANT,Vacant-Unrented,700,"1,350.00",,,,,,,Elm Court` + "\n",
			"2 leases, which owe 1,295.00 USD"},
		"French": {"Immeuble\tLot\tLocataire\tCourriel\tLoyer\tDébut\tDépôt\tSolde\n" +
			"Rue Haute 3\tApt 1\tLéa Petit\tlea@example.fr\t1 250,00\t01/09/2023\t2 500,00\t0,00\n" +
			"Rue Haute 3\tApt 2\tMarc Roy\t\t980,50\t15/02/2024\t980,50\t490,25\n" +
			"Rue Haute 3\tApt 3\tVacant\t\t\t\t\t\n" +
			"Total\t\t\t\t2 230,50\t\t3 480,50\t490,25\n",
			"2 leases, which owe 490.25 USD"},
		"Dutch": {"Huurlijst per 28-11-2026\n\nPand;Eenheid;Huurder;Huur;Ingangsdatum;Borg;Achterstand\n" +
			"Kade 9;1A;Jan de Vries;1.100,00;1-3-2022;2.200,00;550,00\nKade 9;1B;Els Bos;895,00;15-11-2024;895,00;0\nKade 9;2A;;950,00;;;\n",
			"2 leases, which owe 550.00 USD"},
		"One tenant": {"Property,Unit,Tenant,Rent,Lease Start,Balance\nElm Court,1,Jo Lee,900.00,2025-06-01,90.00\n" +
			"Elm Court,2,VACANT,,,\nElm Court,3,VACANT,,,\n", "1 lease, which owes 90.00 USD"},
		"With number signs": {"Property Name,Unit #,Resident,Resident Email,Monthly Rent,Move-In,Security Deposit,Amount Owed\n" +
			`Oak Row,101,"Smith, John",john@example.com,"$1,234.00",4/25/2025,"$1,234.00",$50.00` + "\n" +
			`Oak Row,102,Jo Lee,,"$1,100.00",6/1/2025,,$0.00` + "\n" +
			"Oak Row,103,VACANT,,,,,\n",
			"2 leases, which owe 50.00 USD"},
	} {
		s := newShell(t)
		s.done("init")
		file := filepath.Join(t.TempDir(), "roll.csv")
		assert.OK(t, os.WriteFile(file, []byte(c.sheet), 0o600))
		got := s.run("import", "rental", "rent-roll", file, "--dry-run")
		if text := got.out + got.errors; got.code != 0 || !strings.Contains(text, c.want) || !strings.Contains(text, "3 of 3 rows are new") {
			t.Errorf("%s: %d %s", name, got.code, text)
		}
	}
}

// TestRentRollOnOneSheet imports a landlady's own rent roll, with her column names and amounts in units. Everything is
// imported, nobody owes more than the sheet says, and the same sheet again changes nothing.
func TestRentRollOnOneSheet(t *testing.T) {
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
	assert.OK(t, os.WriteFile(file, []byte(sheet), 0o600))
	got := s.run("import", "rental", "rent-roll", file)
	assert.That(t, got.code != 0 && strings.Contains(got.out+got.errors, "first day"),
		"the row without a first day: %d %s%s", got.code, got.out, got.errors)
	if err := os.WriteFile(file, []byte(strings.Replace(sheet, "Mill Lane,2,Cleo,,650.00,,,,\n", "Mill Lane,2,Cleo,,650.00,2027-01-01,,,\n", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	s.done("import", "rental", "rent-roll", file)
	before := s.done("rental", "leases", "list", "--json")
	for _, want := range []string{`"balance_cents":35050`, `"Cleo"`} {
		assert.Contains(t, strings.ReplaceAll(before, ": ", ":"), want, "is not in %s", before)
	}
	tenants := s.done("rental", "tenants", "list")
	assert.That(t, strings.Count(tenants, "Ada Lindqvist") == 2, "two people of one name: %s", tenants)
	// the prepaid amount is a credit
	assert.Equal(t, strings.Count(strings.ReplaceAll(before, ": ", ":"), `"balance_cents":0`), 3,
		"leases owe nothing: %s", before)
	assert.Contains(t, s.done("import", "rental", "rent-roll", file, "--dry-run"), "0 of 5 rows are new", "again")
	// a lease's second tenant, whom no sheet names, stays when the exported sheet comes back
	s.done("rental", "lease", "save", "Mill Lane", "2", "2027-01-01", "--tenant", "Cleo|Ben Okafor")
	assert.OK(t, os.WriteFile(file, []byte(s.done("export", "rental", "rent-roll")), 0o600))
	s.done("import", "rental", "rent-roll", file)
	assert.Contains(t, s.done("rental", "leases", "list"), "Cleo & Ben Okafor", "a tenant is lost")
	s.done("doctor")
}
