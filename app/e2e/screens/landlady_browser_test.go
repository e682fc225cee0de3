package screens

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// landlady is a landlady at her pages.
type landlady struct {
	*tab
	s *apptest.Fixture
}

// comes is the landlady on a day, at noon.
func (l *landlady) comes(day string) {
	l.t.Helper()
	at, err := time.Parse(time.DateOnly, day)
	l.must(err)
	l.s.Clock.Set(at.Add(12 * time.Hour))
	l.on("/login")
	l.fill("name", "helen")
	l.fill("password", apptest.Password)
	l.press("Sign in")
}

// on goes to a page of hers.
func (l *landlady) on(path string) { l.visit(l.s.URL("rental", path)) }

// keep writes a file of the bank's that she got.
func (l *landlady) keep(name, text string) string {
	l.t.Helper()
	path := filepath.Join(l.t.TempDir(), name)
	assert.OK(l.t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// sends imports a file of the bank's; fresh is what the page says before anything is kept.
func (l *landlady) sends(path, fresh string) {
	l.t.Helper()
	l.on("/bank/import")
	l.attach("file", path)
	l.press("Show what would happen")
	l.see(fresh)
	l.press("Import")
	l.see("kept already")
}

// TestALandladysYearInABrowser plays a landlady's year in Chromium, on a desk and on a phone: she moves in with running
// leases, imports the bank's files, one twice by accident, and books, splits, takes back, spends and closes the year.
func TestALandladysYearInABrowser(t *testing.T) {
	t.Parallel()
	chromium := browser(t)
	for name, size := range map[string][2]int64{"desk": {1280, 900}, "phone": {360, 740}} {
		t.Run(name, func(t *testing.T) {
			s := apptest.StartAt(t, time.Date(2025, 11, 10, 12, 0, 0, 0, time.UTC), "--timezone", "UTC")
			s.MustCLI("settings", "currency", "EUR")
			for _, table := range [][2]string{{"properties", "name\nHouse\n"}, {"units", "property,name\nHouse,1A\nHouse,2A\n"},
				{"tenants", "name,email\nAda Brandt,ada@example.org\nJohn Smith,jo@example.org\n"},
				{"leases", "property,unit,start_date,tenant,rent_cents\nHouse,1A,2024-03-01,Ada Brandt,90000\nHouse,2A,2025-11-01,John Smith,95000\n"}} {
				code, _, errs := s.Pipe(table[1], "import", "rental", table[0], "-", "--timezone", "UTC")
				assert.Must(t, code == 0, "%v", errs)
			}
			s.Person("rental", "helen", "admin")
			l := &landlady{newTab(t, chromium, size[0], size[1], true), s}
			l.comes("2025-11-10")
			l.movesIn()
			l.banks()
			l.spends()
			l.closes()
			l.calm()
			s.MustCLI("doctor")
		})
	}
}

// movesIn takes a running lease over, and opens the account that tenants pay to.
func (l *landlady) movesIn() {
	l.t.Helper()
	l.on("/opening")
	mark := l.locate("field", "Ada Brandt|.lease_id")
	l.must(chromedp.Do(l.ctx, chromedp.MouseClickXY(mark.X, mark.Y)))
	l.fill("Ada Brandt|.balance", "350")
	l.fill("Ada Brandt|.deposit", "1800")
	l.fill("day", "2025-11-01")
	l.press("Take the marked over")
	l.see("20 charges due before the day are withdrawn, 18,000.00 EUR. Then House / 1A owes 1,250.00 EUR.")
	l.press("Take leases over")
	l.see("House / 1A is taken over on 1 Nov 2025; it owes 1,250.00 EUR.")
	l.on("/bank")
	l.press("New account")
	l.fill("name", "Rent")
	l.fill("iban", "DE89 3704 0044 0532 0130 00")
	l.fill("holder", "Helen Moreau")
	box := l.locate("field", "collects")
	l.must(chromedp.Do(l.ctx, chromedp.MouseClickXY(box.X, box.Y)))
	l.press("Save")
	l.see("The account Rent is saved.")
}

const novemberFile = ":20:X\n:25:DE89370400440532013000\n:60F:C251101EUR0,00\n:61:251104C950,00NTRFNONREF//N1\n:86:166?20Rent?31DE3?32JOHN SMITH\n" +
	":61:251105C1250,00NTRFNONREF//N2\n:86:166?20Rent?31DE2?32Brandt, Ada\n:61:251106D820,00NTRFNONREF//N3\n:86:166?20Policy 77?31DE9?32Alster Insurance\n" +
	":61:251107C100,00NTRFNONREF//N4\n:86:166?20Own?32Helen Moreau\n:62F:C251110EUR1480,00\n-\n"

const decemberFile = ":20:X\n:25:DE89370400440532013000\n:60F:C251111EUR1480,00\n:61:251202C1850,00NTRFNONREF//D1\n:86:166?20Both flats?31DE4?32Smith and Brandt\n" +
	":61:251208D953,00NTRFNONREF//D2\n:86:166?20Returned, fee 3.00?31DE3?32JOHN SMITH\n:61:251210C950,00NTRFNONREF//D3\n:86:166?20Rent?31DE3?32JOHN SMITH\n" +
	":62F:C251210EUR3327,00\n-\n"

// banks imports two months and settles every line of them.
func (l *landlady) banks() {
	l.t.Helper()
	november := l.keep("november.sta", novemberFile)
	l.sends(november, "4 new lines would be kept. Nothing is written yet.")
	l.sends(november, "The file has no new line")
	l.press("Book all 2 certain lines")
	l.see("2 lines are booked, 2,200.00 EUR.")
	l.press("Helen Moreau")
	l.press("Ignore")
	l.fill("reason", "my own money")
	l.press("Ignore")
	l.see("1 line is ignored.")
	l.press("Alster Insurance")
	l.press("Expense")
	l.fill("category", "insurance")
	l.fill("property", "1")
	l.press("Add expense")
	l.see("The expense of 820.00 EUR is entered on 6 Nov 2025, insurance.")

	l.comes("2025-12-12")
	l.sends(l.keep("december.sta", decemberFile), "3 new lines would be kept. Nothing is written yet.")
	l.press("Smith and Brandt")
	l.press("Split")
	l.fill("amounts", "900.00\n950.00")
	l.press("Split")
	l.see("The line has 2 parts.")
	for _, part := range [][2]string{{"900.00", "1"}, {"950.00", "2"}} {
		l.on("/bank")
		l.press(part[0] + "|Smith and Brandt")
		l.press("Book")
		l.fill("lines.0.lease_id", part[1])
		l.press("Book")
		l.see("1 line is booked, " + part[0] + " EUR.")
	}
	l.on("/bank")
	l.press("Returned|JOHN SMITH")
	l.press("Split")
	l.fill("amounts", "-950.00\n-3.00")
	l.press("Split")
	l.on("/bank")
	l.press("950.00|Return")
	l.press("Book return")
	l.see("The payment of 950.00 EUR is reversed.")
	l.on("/leases/2")
	l.see("Reversed")
}

// spends enters what is due by itself, by hand and in a category of hers.
func (l *landlady) spends() {
	l.t.Helper()
	l.on("/expenses")
	l.press("Categories")
	l.fill("names", "garden")
	l.press("Set categories")
	l.see("1 own category is kept.")
	l.press("New expense")
	l.fill("category", "garden")
	l.fill("amount", "20")
	l.press("Add expense")
	l.see("garden")
	l.press("New recurring expense")
	l.fill("category", "cleaning")
	l.fill("amount", "55")
	l.fill("from", "2025-10-31")
	l.press("Add recurring expense")
	l.see("is due monthly")
	l.press("Enter the 2 that are due")
	l.see("2 expenses are entered, 110.00 EUR.")
}

// closes books the rest, closes the year when it is over, and reads what she gives to the tax adviser.
func (l *landlady) closes() {
	l.t.Helper()
	l.on("/bank")
	l.press("3.00|JOHN SMITH")
	l.press("Expense")
	assert.Equal(l.t, l.field("amount"), "3.00", "the expense of the line")
	l.fill("category", "bank_fees")
	l.press("Add expense")
	l.see("The expense of 3.00 EUR is entered on 8 Dec 2025, bank fees.")
	l.on("/bank")
	l.press("Book 1 certain line")
	l.see("1 line is booked, 950.00 EUR.")
	l.see("Every bank line is settled")

	l.comes("2026-01-05")
	l.on("/years")
	l.press("2025")
	l.see("2025: the result is 3,097.00 EUR")
	l.press("Close the year")
	l.see("Income 4,050.00 EUR, spent 953.00 EUR, result 3,097.00 EUR")
	l.press("Close")
	l.see("2025 is closed.")
	l.on("/expenses")
	l.press("New expense")
	l.fill("category", "repairs")
	l.fill("amount", "1")
	l.fill("day", "2025-12-31")
	l.press("Add expense")
	l.see("which is closed; the first open day is 1 Jan 2026")
	l.on("/leases/1")
	l.press("Statement of 2025")
	l.see("350.00")
	l.on("/leases/1/statement?year=2026")
	l.see("Pay 900.00 EUR to Helen Moreau, DE89 3704 0044 0532 0130 00, reference RF")
	journal := l.s.MustCLI("export", "rental", "journal", "--year", "2025")
	for _, want := range []string{"income:opening:House:1A", "expenses:garden", "expenses:insurance:House", "liabilities:deposits:House:1A"} {
		assert.That(l.t, strings.Contains(journal, want), "no %s in\n%s", want, journal)
	}
	assert.Contains(l.t, l.s.MustCLI("export", "rental", "year"), "2025,House,,spent,insurance,82000\n")
}
