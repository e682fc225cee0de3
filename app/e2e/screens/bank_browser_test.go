package screens

import (
	"testing"

	"github.com/chromedp/chromedp"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestBankFileIsPreviewedBeforeImport chooses the bank's file on a phone. The first file is of an unknown account: it
// stays with the form while the account is added. It is sent again, then a longer one that has a line like a stored
// one. Buttons are clicked twice.
func TestBankFileIsPreviewedBeforeImport(t *testing.T) {
	t.Parallel()
	chromium := browser(t)
	for name, script := range map[string]bool{"script": true, "no script": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &importer{t: t, dir: t.TempDir()}
			apptest.Keys(t, s.dir)
			s.serve("rental")
			b := newTab(t, chromium, 360, 740, script)
			s.signIn(b)
			const head, line = ":20:X\n:25:DE89370400440532013000\n:60F:C261101EUR0,00\n:61:261103C950,00NTRFNONREF//B1\n:86:166?20Rent?31DE1?32BRANDT ADA\n",
				":61:261103C950,00NTRF"
			first := s.file("first.sta", head+":62F:C261106EUR950,00\n-\n")
			second := s.file("second.sta", head+line+"NONREF//B2\n:86:166?20Rent?31DE1?32BRANDT ADA\n:62F:C261107EUR1900,00\n-\n")
			longer := s.file("longer.csv", "Datum;Betrag;Name;Saldo\n03.11.2026;950,00;Somebody else;1900,00\n")
			lines := func(want int64) {
				t.Helper()
				assert.Equal(t, s.number("SELECT count(*) FROM bank_lines"), want, "lines are kept")
			}

			b.visit(s.base + "/bank/import")
			b.attach("file", first)
			b.press("Show what would happen")
			b.see("DE89370400440532013000, which is not an account here")
			s.must("rental", "bank", "account", "Rent", "--iban", "DE89 3704 0044 0532 0130 00", "--currency", "EUR")
			b.see("first.sta is here")
			b.press("Show what would happen")
			b.see("1 new line would be kept. Nothing is written yet.")
			b.see("Rent, 3 Nov 2026 to 6 Nov 2026: 1 line, 1 new, 0 kept already.")
			lines(0)
			at := b.locate("button", "Import")
			b.must(chromedp.Do(b.ctx, chromedp.MouseClickXY(at.X, at.Y), chromedp.MouseClickXY(at.X, at.Y)))
			b.see("1 bank line is free") // the answer to the second click may replace the first one's message
			lines(1)

			for _, file := range []struct {
				path string
				told string
				want int64
			}{
				{first, "The file has no new line", 1},
				{second, "2 lines, 1 new, 1 kept already", 2},
			} {
				b.visit(s.base + "/bank/import")
				b.attach("file", file.path)
				b.press("Show what would happen")
				b.see(file.told)
				b.press("Import")
				b.see("kept already")
				lines(file.want)
			}

			b.visit(s.base + "/bank/import")
			b.attach("file", longer)
			b.press("Show what would happen")
			b.see("longer.csv is here")
			b.fill("account", "1")
			b.reveal("More")
			b.fill("map", "Datum=day\nBetrag=amount\nName=payer_name\nSaldo=balance")
			b.press("Show what would happen")
			b.see("1 line is skipped, with the day and the amount of a kept line: 1.")
			b.see("Import line 1 too: 3 Nov 2026, 950.00 EUR, Somebody else")
			box := b.locate("field", "take")
			b.must(chromedp.Do(b.ctx, chromedp.MouseClickXY(box.X, box.Y)))
			b.press("Import")
			b.see("1 new line would be kept. Nothing is written yet.")
			lines(2)
			b.press("Import")
			b.see("1 new line, 0 were kept already.")
			lines(3)
		})
	}
}
