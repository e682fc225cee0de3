package rest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"quartermaster/app/apptest"
	"quartermaster/rental"
	"quartermaster/schema/assert"
)

// TestALandlordsBank plays a month at the bank: the account by command, the bank's file on the page, the certain
// matches by one button, another bank's table by command, and a line that is freed again.
func TestALandlordsBank(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	l.Load("units", "property,name\nHouse,A\nHouse,B\n")
	l.Load("tenants", "name,email\nAda Brandt,ada@example.org\nJörg Müller,jm@example.org\n")
	l.Load("leases", "property,unit,start_date,tenant,rent_cents\nHouse,A,2026-11-01,Ada Brandt,95000\nHouse,B,2026-11-01,Jörg Müller,80000\n")
	l.Rental("bank", "account", "Rent", "--iban", "DE89 3704 0044 0532 0130 00", "--collects")
	file := ":20:X\n:25:DE89370400440532013000\n:60F:C261101USD0,00\n:61:261103C950,00NTRFNONREF\n:86:166?20Rent?31DE1?32BRANDT ADA\n" +
		":61:261104C800,00NTRFNONREF\n:86:166?20" + rental.SpacedReference(2) + "?32XY\n:61:261105C12,00NTRFNONREF\n:86:166?20?32Nobody\n:62F:C261106USD1762,00\n-\n"

	v := l.Person("rental", "ann", "admin")
	apptest.StatusIs(t, v.Upload("/do/import_bank", nil, "file", "november.sta", file), http.StatusSeeOther)
	page := apptest.Text(apptest.StatusIs(t, v.Get("/bank"), http.StatusOK).Doc)
	for _, want := range []string{"3 bank lines are free", "2 are certain", "BRANDT ADA", "House / A, Ada Brandt", "the payer has the tenant's name", "it has the reference RF", "Book all 2 certain lines", "Adds up"} {
		assert.That(t, strings.Contains(page, want), "no %q on\n%s", want, page)
	}
	if page := apptest.Text(apptest.StatusIs(t, v.Post("/do/book_lines", "marked_op", "book_lines"), http.StatusUnprocessableEntity).Doc); !strings.Contains(page, "Mark at least one line") {
		t.Errorf("%s", page)
	}
	apptest.StatusIs(t, v.Post("/do/book_lines", "match", "from=2026-11-04&state=free"), http.StatusSeeOther)
	if page := apptest.Text(v.Get("/bank").Doc); !strings.Contains(page, "2 bank lines are free") || !strings.Contains(page, "BRANDT ADA") {
		t.Errorf("the lines of two days were booked: %s", page)
	}
	apptest.StatusIs(t, v.Post("/do/book_lines", "line_id", "1", "then", "/bank"), http.StatusSeeOther)
	if page := apptest.Text(apptest.StatusIs(t, v.Get("/bank/1"), http.StatusOK).Doc); !strings.Contains(page, "Booked") || !strings.Contains(page, "Payment 2") {
		t.Errorf("%s", page)
	}
	assert.Contains(t, l.Rental("ledger", "House/A", "--json"), `"balance_cents":0`)

	l.Rental("bank", "account", "Savings", "--currency", "USD")
	table := filepath.Join(t.TempDir(), "lines.csv")
	text := "Account;Savings;\nDatum;Betrag;Name;Saldo\n07.11.2026;-12,50;Bank;187,50\n06.11.2026;200,00;Ada Brandt;200,00\n"
	assert.OK(t, os.WriteFile(table, []byte(text), 0o600))
	var done rental.BankImport
	said := l.Rental("bank", "import", table, "--account", "Savings", "--map", "Datum=day", "--map", "Betrag=amount", "--map", "Name=payer_name", "--map", "Saldo=balance",
		"--header-line", "2", "--json")
	if err := json.Unmarshal([]byte(said), &done); err != nil || len(done.Statements) != 1 || done.Statements[0].New != 2 || done.Statements[0].State != "balanced" ||
		*done.Statements[0].OpeningCents != 0 || *done.Statements[0].ClosingCents != 18_750 {
		t.Errorf("%s %v", said, err)
	}
	l.Rental("bank", "split", "3", "500", "700")
	refused := apptest.Text(apptest.StatusIs(t, v.Post("/do/split_line", "line_id", "7", "amounts", "4.50\n?"), http.StatusUnprocessableEntity).Doc)
	assert.Contains(t, refused, "is not an amount. Write it in USD")
	apptest.StatusIs(t, v.Post("/do/split_line", "line_id", "7", "amounts", "4.50\n2,50"), http.StatusSeeOther)
	l.Rental("bank", "ignore", "6", "8", "9", "--reason", "my own")
	asked := apptest.StatusIs(t, v.Post("/do/free_line", "line_id", "1", "reason", "another's"), http.StatusOK)
	assert.Contains(t, apptest.Text(asked.Doc), "1 line is free again")
	l.Rental("bank", "free", "1", "--reason", "another's", "--yes")
	assert.Contains(t, l.Rental("ledger", "House/A", "--json"), `"balance_cents":95000`)
	apptest.StatusIs(t, v.Upload("/do/import_bank", nil, "file", "late.sta", strings.NewReplacer("C261101USD0,00", "C261120USD1770,00", ":62F:C261106USD1762,00",
		":62F:C261120USD1771,00").Replace(file[:strings.Index(file, ":61:")]+":61:261120C1,00NTRFNONREF\n"+file[strings.Index(file, ":62F:"):])), http.StatusSeeOther)
	says(t, "/bank", apptest.Text(v.Get("/bank").Doc), "A statement before it is missing: 8.00 USD")
	l.Sound()
	own := func(day, meanings string) apptest.Sheet { // a table whose columns no bank uses
		fields := map[string]string{"account": "2", "map": meanings}
		return v.Upload("/do/import_bank", fields, "file", "own.csv", "Wann;Wieviel;Wer\n"+day+".11.2026;-1,00;Bank\n")
	}
	apptest.StatusIs(t, own("01", ""), http.StatusUnprocessableEntity)
	apptest.StatusIs(t, own("01", "Wann=day\nWieviel=amount\nWer=payer_name"), http.StatusSeeOther)
	apptest.StatusIs(t, own("02", ""), http.StatusSeeOther)
	assert.Contains(t, l.Rental("bank", "lines", "--json"), `"2026-11-02"`, "the meanings of the columns were")
}

// choose sends files from the page of bank imports and returns the preview.
func choose(t *testing.T, v *apptest.Visitor, files map[string]string, fields ...string) apptest.Sheet {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	_ = w.WriteField("preview", "yes")
	for i := 0; i < len(fields); i += 2 {
		_ = w.WriteField(fields[i], fields[i+1])
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		part := assert.Value(w.CreateFormFile("file", name))(t)
		_, _ = io.WriteString(part, files[name])
	}
	_ = w.Close()
	return v.Send("/do/import_bank", &b, w.FormDataContentType())
}

// hiddenFields are the hidden fields of the page's form.
func hiddenFields(s apptest.Sheet) (fields []string) {
	s.Each(func(n *html.Node) {
		if n.Data == "input" && apptest.Attr(n, "type") == "hidden" {
			fields = append(fields, apptest.Attr(n, "name"), apptest.Attr(n, "value"))
		}
	})
	return fields
}

// TestSeveralBankFilesAreShownTogether chooses several files. The preview shows each file's content and matches,
// pressing twice stores it once, nobody else has the files, and each file that does not fit is named.
func TestSeveralBankFilesAreShownTogether(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	l.Load("units", "property,name\nHouse,A\n")
	l.Load("tenants", "name,email\nAda Brandt,ada@example.org\n")
	l.Load("leases", "property,unit,start_date,tenant,rent_cents\nHouse,A,2026-11-01,Ada Brandt,95000\n")
	l.Rental("bank", "account", "Rent", "--iban", "DE89 3704 0044 0532 0130 00", "--collects")
	v := l.Person("rental", "ann", "admin")
	statement := func(opening, closing, lines string) string {
		return ":20:X\n:25:DE89370400440532013000\n:60F:C261101USD" + opening + "\n" + lines + ":62F:C261130USD" + closing + "\n-\n"
	}
	kept := func() int {
		var list struct{ Total int }
		assert.OK(t, json.Unmarshal([]byte(l.Rental("bank", "lines", "--json")), &list))
		return list.Total
	}
	has := func(s apptest.Sheet, texts ...string) {
		t.Helper()
		page := apptest.Text(s.Doc)
		for _, want := range texts {
			assert.That(t, strings.Contains(page, want), "no %q on\n%s", want, page)
		}
	}
	form := apptest.StatusIs(t, v.Get("/bank/import"), http.StatusOK)
	assert.That(t, strings.Contains(form.Body, `type="file"`) && strings.Contains(form.Body, " multiple") &&
		!strings.Contains(form.Body, "image/*"), "the form takes no files of a bank: %s", form.Body)
	files := map[string]string{}
	for i := range 5 {
		from, to := fmt.Sprintf("%d,00", i*12), fmt.Sprintf("%d,00", i*12+12)
		files[fmt.Sprintf("%d.sta", i)] = statement(from, to, fmt.Sprintf(":61:26110%dC12,00NTRFNONREF\n:86:166?20?32Nobody\n", i+1))
	}
	files["rent.sta"] = statement("60,00", "1010,00", ":61:261103C950,00NTRFNONREF\n:86:166?20Rent?31DE1?32BRANDT ADA\n")
	preview := apptest.StatusIs(t, choose(t, v, files), http.StatusOK)
	has(preview, "6 new lines would be kept. Nothing is written yet.", "Rent, 3 Nov 2026 to 30 Nov 2026: 1 line, 1 new",
		"Of the new lines 1 is certain, 0 are proposed and 5 are unknown.",
		"3 Nov 2026, 950.00 USD, BRANDT ADA: certain, House / A, Ada Brandt (the payer has the tenant's name and the amount is due).",
		"5 Nov 2026, 12.00 USD, Nobody: unknown.")
	assert.Equal(t, kept(), 0, "lines are kept before anybody confirmed")
	for range 2 {
		to := apptest.StatusIs(t, v.Post("/do/import_bank", hiddenFields(preview)...),
			http.StatusSeeOther).Header.Get("Location")
		assert.That(t, to == "/bank", "it leads to %s", to)
	}
	assert.Equal(t, kept(), 6, "lines")
	other := l.Person("rental", "bob", "member").Post("/do/import_bank", hiddenFields(preview)...)
	assert.That(t, other.Status == http.StatusNotFound, "another's files: %d", other.Status)
	wrong := apptest.StatusIs(t, choose(t, v, map[string]string{"a.sta": files["1.sta"], "c.sta": statement("0,00", "1,00", ":61:261106C12,00NTRFNONREF\n"), "d.pdf": "%PDF-1.4 none"}),
		http.StatusUnprocessableEntity)
	has(wrong, "C.sta: the statement of Rent does not add up", "-11.00 is missing", "d.pdf: ", "a.sta, c.sta, d.pdf are here", "say accept wrong sums")
	has(apptest.StatusIs(t, choose(t, v, map[string]string{"empty.sta": ""}), http.StatusUnprocessableEntity), "file")
	assert.Equal(t, kept(), 6, "lines")
	l.Sound()
}

// TestTablesOfBanksAreRead sends tables as banks write them, by command and by the page, and some that say too little.
func TestTablesOfBanksAreRead(t *testing.T) {
	t.Parallel()
	l := apptest.NewRental(t)
	v := l.Person("rental", "ann", "admin")
	dir := t.TempDir()
	for i, c := range []struct{ name, text, columns, state, want string }{
		{"a head, the newest first, the sign behind, in Windows-1252",
			"Konto;DE89370400440532013000;;\nZeitraum;01.11.2026 - 30.11.2026;;\n\nTag;Wer;Text;Betrag;Saldo\n" +
				"05.11.2026;J\xfcrgen M\xfcller;Miete;950,00;2.195,00\n04.11.2026;Bank;Geb\xfchr;5,00-;1.245,00\n03.11.2026;Ada;Rent;1.250,00;1.250,00\n",
			"Tag=day Wer=payer_name Text=text Betrag=amount Saldo=balance", "balanced",
			"2026-11-05 95000 Jürgen Müller Miete, 2026-11-04 -500 Bank Gebühr, 2026-11-03 125000 Ada Rent"},
		{"two columns of amounts, with a byte order mark",
			"\xef\xbb\xbf\"Date\",\"What\",\"Paid_out\",\"Paid_in\",\"Balance\"\n\"03 Nov 2026\",\"Ada\",\"\",\"$1,250.00\",\"1,250.00\"\n\"04 Nov 2026\",\"Fee\",\"5.00\",\"\",\"1,245.00\"\n",
			"Date=day What=text Paid_out=out Paid_in=in Balance=balance", "balanced", "2026-11-04 -500  Fee, 2026-11-03 125000  Ada"},
		{"one day, the newest first", "Date,Name,Amount,Balance\n2026-11-05,A,950.00,2195.00\n2026-11-05,B,-5.00,1245.00\n2026-11-05,C,1250.00,1250.00\n",
			"Date=day Name=payer_name Amount=amount Balance=balance", "balanced", "2026-11-05 125000 C , 2026-11-05 -500 B , 2026-11-05 95000 A "},
		{"tabs, brackets, the month first", "Date\tName\tDebit\tCredit\n11/13/2026\tA\t\t950.00\n11/14/2026\tB\t(5.00)\t\n", "Date=day Name=text Debit=out Credit=in", "unchecked",
			"2026-11-14 -500  B, 2026-11-13 95000  A"},
		{"days in one number", "Datum;Bij;Af\n20261105;950,00;\n20261106;;5,00\n", "Datum=day Bij=in Af=out", "unchecked", "2026-11-06 -500  , 2026-11-05 95000  "},
		{"a plus, a currency, a long minus and a total", "Tag;Name;Betrag\n05.11.2026;A;+1.950,00 USD\n06.11.2026;B;\u22125,00 $\n07.11.2026;C;- 7,10\n;;\nTotal;;1.937,90\n",
			"Tag=day Name=Text Betrag=amount", "unchecked", "2026-11-07 -710  C, 2026-11-06 -500  B, 2026-11-05 195000  A"},
		{"apostrophes between thousands", "Datum;Betrag\n05.11.2026;1'950.00\n06.11.2026;-5.00\n", "Datum=day Betrag=amount", "unchecked", "2026-11-06 -500  , 2026-11-05 195000  "},
	} {
		account, file := fmt.Sprint("Account ", i), filepath.Join(dir, "lines.csv")
		l.Rental("bank", "account", account)
		assert.OK(t, os.WriteFile(file, []byte(c.text), 0o600))
		args := []string{"bank", "import", file, "--account", account, "--json"}
		for pair := range strings.FieldsSeq(c.columns) {
			args = append(args, "--map", pair)
		}
		preview := apptest.StatusIs(t, choose(t, v, map[string]string{"lines.csv": c.text}, "account", fmt.Sprint(i+1), "map", strings.ReplaceAll(c.columns, " ", "\n")), http.StatusOK)
		assert.Contains(t, apptest.Text(preview.Doc), fmt.Sprint(strings.Count(c.want, ",")+1, " new lines would be kept"),
			"%s, on the page", c.name)
		var done rental.BankImport
		err := json.Unmarshal([]byte(l.Rental(args...)), &done)
		assert.That(t, err == nil && done.Statements[0].State == c.state, "%s: %+v %v", c.name, done, err)
		var kept rental.BankLines
		assert.OK(t, json.Unmarshal([]byte(l.Rental("bank", "lines", "--account", account, "--json")), &kept))
		var got []string
		for _, b := range kept.Lines {
			got = append(got, fmt.Sprintf("%s %d %s %s", b.Day, b.AmountCents, b.PayerName, b.Text))
		}
		assert.That(t, strings.Join(got, ", ") == c.want, "%s:\n%q\nwant\n%q", c.name, strings.Join(got, ", "), c.want)
	}
	german := "Buchungstag;Auftraggeber/Empfänger;Verwendungszweck;Betrag;IBAN\n05.11.2026;Anna;Miete;1.950,00;DE89370400440532013000\n"
	known := apptest.StatusIs(t, choose(t, v, map[string]string{"lines.csv": german}, "account", "1"), http.StatusOK)
	assert.Contains(t, apptest.Text(known.Doc), "5 Nov 2026, 1,950.00 USD, Anna", "a German bank's columns")
	for _, file := range []string{"Date,Type,Description,Value,Balance\n20/11/2026,BAC,OKAFOR 1B,925.00,3125.00\n",
		"Details,Posting Date,Description,Amount\nCREDIT,11/20/2026,OKAFOR 1B,925.00\n"} {
		known := apptest.StatusIs(t, choose(t, v, map[string]string{"lines.csv": file}, "account", "1"), http.StatusOK)
		assert.Contains(t, apptest.Text(known.Doc), "20 Nov 2026, 925.00 USD, OKAFOR 1B",
			"a British or American bank's columns")
	}
	table := "Date;Amount;Name\n05-11-2026;1.950,5;A\n25-11-2026;-7;B\n"
	for _, c := range []struct {
		text, columns, says string
	}{
		{strings.Replace(table, "Date", "When", 1), "", `Say what the file's columns mean; it needs a day, and an amount or money in and out`},
		{table, "?", "Say what each column of the file means"},
		{"Datum;Naam tegenpartij;Af Bij;Bedrag\n20261105;A;Af;5,00\n", "", `The column "Af Bij" says whether money came in or went out`},
		{table, "Date=day\nBetrag=amount", `The file has no column "Betrag"; its columns are Date, Amount, Name`},
		{table, "Date=day\nAmount=betrag", `Unknown column "betrag"; the columns of a bank's file are day, amount, in, out, payer name`},
		{table, "Date=day", "Say what the file's columns mean; it needs a day"},
		{"Date;Amount\n25-11-2026;--5\n", "Date=day\nAmount=amount", `cannot read the amount "--5"`},
		{"Date;Amount;Saldo\n2026-11-05;5;5\n2026-11-06;6;12\n", "Date=day\nAmount=amount\nSaldo=balance", "so 1.00 is missing"},
		{"Date;Amount\n2026-11-05;5\nSum;5\n2026-11-06;6\n", "Date=day\nAmount=amount", `Line 3: cannot read the date "Sum"`},
	} {
		refused := apptest.StatusIs(t, choose(t, v, map[string]string{"lines.csv": c.text}, "account", "1", "map",
			c.columns), http.StatusUnprocessableEntity)
		said := apptest.Text(refused.Doc)
		if c.columns == "?" && !strings.Contains(refused.Body, `<option value="Name=payer_name" selected>Payer</option>`) {
			t.Errorf("columns are not chosen among the file's: %s", refused.Body)
		}
		assert.That(t, strings.Contains(said, c.says), "%q by %q: no %q in\n%s", c.text, c.columns, c.says, said)
	}
	l.Sound()
}
