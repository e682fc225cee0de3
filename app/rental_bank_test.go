package app_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/rental"
)

// TestALandlordsBank plays a month at the bank: the account by command, the bank's file on the page, what is certain by
// one button, a table of another bank by command, and a line that is freed again.
func TestALandlordsBank(t *testing.T) {
	t.Parallel()
	l := newRental(t)
	l.load("units", "property,name\nHouse,A\nHouse,B\n")
	l.load("tenants", "name,email\nAda Brandt,ada@example.org\nJörg Müller,jm@example.org\n")
	l.load("leases", "property,unit,start_date,tenant,rent_cents\nHouse,A,2026-11-01,Ada Brandt,95000\nHouse,B,2026-11-01,Jörg Müller,80000\n")
	l.rental("bank", "account", "Rent", "--iban", "DE89 3704 0044 0532 0130 00", "--collects")
	file := ":20:X\n:25:DE89370400440532013000\n:60F:C261101USD0,00\n:61:261103C950,00NTRFNONREF\n:86:166?20Rent?31DE1?32BRANDT ADA\n" +
		":61:261104C800,00NTRFNONREF\n:86:166?20" + rental.SpacedReference(2) + "?32XY\n:61:261105C12,00NTRFNONREF\n:86:166?20?32Nobody\n:62F:C261106USD1762,00\n-\n"

	v := l.Person("rental", "ann", "admin")
	statusIs(t, v.Upload("/do/import_bank", nil, "file", "november.sta", file), http.StatusSeeOther)
	page := apptest.Text(statusIs(t, v.Get("/bank"), http.StatusOK).Doc)
	for _, want := range []string{"3 bank lines are free", "2 are certain", "BRANDT ADA", "House / A, Ada Brandt", "the payer has the tenant's name", "it has the reference RF", "Book all 2 certain lines", "Adds up"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q on\n%s", want, page)
		}
	}
	statusIs(t, v.Post("/do/book_lines", "certain", "true"), http.StatusSeeOther)
	if page := apptest.Text(statusIs(t, v.Get("/bank/1"), http.StatusOK).Doc); !strings.Contains(page, "Booked") || !strings.Contains(page, "Payment 1") {
		t.Errorf("%s", page)
	}
	if got := l.rental("ledger", "House/A", "--json"); !strings.Contains(got, `"balance_cents":0`) {
		t.Errorf("%s", got)
	}

	l.rental("bank", "account", "Savings", "--currency", "USD")
	table := filepath.Join(t.TempDir(), "lines.csv")
	text := "Account;Savings;\nDatum;Betrag;Name;Saldo\n07.11.2026;-12,50;Bank;187,50\n06.11.2026;200,00;Ada Brandt;200,00\n"
	if err := os.WriteFile(table, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var done rental.BankImport
	said := l.rental("bank", "import", table, "--account", "Savings", "--map", "Datum=day", "--map", "Betrag=amount", "--map", "Name=payer_name", "--map", "Saldo=balance",
		"--header-line", "2", "--json")
	if err := json.Unmarshal([]byte(said), &done); err != nil || len(done.Statements) != 1 || done.Statements[0].New != 2 || done.Statements[0].State != "balanced" ||
		*done.Statements[0].OpeningCents != 0 || *done.Statements[0].ClosingCents != 18_750 {
		t.Errorf("%s %v", said, err)
	}
	l.rental("bank", "split", "3", "500", "700")
	refused := apptest.Text(statusIs(t, v.Post("/do/split_line", "line_id", "7", "amounts", "4.50\n?"), http.StatusUnprocessableEntity).Doc)
	if !strings.Contains(refused, "is not an amount. Write it in USD") {
		t.Errorf("%s", refused)
	}
	statusIs(t, v.Post("/do/split_line", "line_id", "7", "amounts", "4.50\n2,50"), http.StatusSeeOther)
	l.rental("bank", "ignore", "6", "8", "9", "--reason", "my own")
	asked := statusIs(t, v.Post("/do/free_line", "line_id", "1", "reason", "another's"), http.StatusOK)
	if page := apptest.Text(asked.Doc); !strings.Contains(page, "1 line is free again") {
		t.Errorf("%s", page)
	}
	l.rental("bank", "free", "1", "--reason", "another's", "--yes")
	if got := l.rental("ledger", "House/A", "--json"); !strings.Contains(got, `"balance_cents":95000`) {
		t.Errorf("%s", got)
	}
	l.sound()
}
