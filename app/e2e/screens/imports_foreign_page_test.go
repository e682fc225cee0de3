package screens

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestFilesOfOtherProgramsComeThroughThePage uploads files as other programs write them, and writes what the
// preview shows: their plain columns are mapped by themselves, and a second time nothing changes.
func TestFilesOfOtherProgramsComeThroughThePage(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	ann := s.Person("reorder", "ann", "admin")
	for _, c := range []struct {
		file, service, table string
		answers              []string // names and values that the preview is asked with again
		said                 []string // on the preview
		written              string   // what came of it
	}{
		{
			"lightspeed-products.csv", "reorder", "skus", nil,
			[]string{"Ignored columns: id", "14"}, "3 of 3 rows are new",
		},
		{
			"artikelliste.csv", "reorder", "skus", nil, []string{"windows-1252", "header in line 3", "Früchtetee"},
			"2 of 3 rows are new, 0 changed, 0 the same, 1 refused.",
		},
		{
			"inventurliste.csv", "reorder", "skus", nil, []string{"windows-1252", "header in line 4", "MÜ-1", "9,999", "1,250.00"},
			"2 of 3 rows are new, 0 changed, 0 the same, 1 refused.",
		},
		{
			"shopify-sales-report.csv", "reorder", "sales", nil,
			[]string{"Net items sold", `"-1" is negative`, "Negative quantities"}, "2 of 3 rows are new",
		},
		{
			"shopify-products-2025.csv", "reorder", "skus", nil,
			[]string{"a file of Shopify's products", "Felt hat M", "the row has only a picture (line"}, "2 of 2 rows are new",
		},
		{
			"sales-uk-thousands.csv", "reorder", "sales", nil, []string{"date as DD/MM/YYYY", "1200"}, "3 of 3 rows are new",
		},
		{
			"artikel-excel.csv", "reorder", "skus", nil, []string{"decimals behind a comma", `the amount "0,035 €"`},
			"1 of 2 rows are new",
		},
		{
			"quickbooks-contacts.csv", "store", "customers", nil,
			[]string{"2 rows were skipped: the row has no e-mail address", "Amy's Bird Sanctuary"}, "2 of 2 rows are new",
		},
		{"", "store", "products", nil, nil, "2 of 2 rows are new"},
		{
			"woocommerce-orders.csv", "store", "orders", nil,
			[]string{"BOOK130.00 EUR", "2026-06-02: 20.00 EUR"}, "4 of 4 rows are new",
		},
		{
			"fiix-assets.csv", "maintenance", "assets", nil,
			[]string{"Ignored columns: Is Online, Date Installed"}, "2 of 2 rows are new",
		},
		{"maintainx-parts.csv", "maintenance", "parts", nil, []string{"18.50 "}, "2 of 2 rows are new"},
		{"", "maintenance", "meters", nil, nil, "2 of 2 rows are new"},
		{
			"meter-readings.csv", "maintenance", "readings", nil,
			[]string{"read_date as D MMM YYYY", "12345.6"}, "2 of 2 rows are new",
		},
		{
			"upkeep-work-orders.csv", "maintenance", "work-orders", []string{"set.0.name", "resolution", "set.0.value", "Done"},
			[]string{"Ignored columns: WO #, Description"}, "3 of 3 rows are new",
		},
		{"locataires.txt", "rental", "tenants", nil, []string{"utf-16", "Élodie Petit"}, "2 of 2 rows are new"},
		{
			"catalogue-fr.xlsx", "reorder", "skus", nil,
			[]string{"header in line 3", "1,206.20 ", "1240", "Brûlerie"}, "2 of 2 rows are new",
		},
		{
			"till-report.csv", "reorder", "sales", nil,
			[]string{"date as MM/DD/YYYY", "header in line 4", "It would send 1 message to receivers of webhooks: A change took"},
			"2 of 2 rows are new",
		},
		{"huurders.csv", "rental", "tenants", nil, []string{"Els Mulder", "Ignored columns: Opmerking"}, "2 of 2 rows are new"},
		{"ersatzteile.csv", "maintenance", "parts", nil, []string{"windows-1252", "1200", "12.90 "}, "2 of 2 rows are new"},
		{"maschinen.csv", "maintenance", "assets", nil, []string{"Ignored columns: Baujahr"}, "3 of 3 rows are new"},
		{"equipment.txt", "maintenance", "assets", nil, []string{"Emco"}, "2 of 2 rows are new"},
		{
			"rent-roll-total.xlsx", "rental", "rent-roll", nil,
			[]string{"2 leases, which owe 1,150.25 USD", "Ignored columns: Market Rent"}, "3 of 3 rows are new",
		},
	} {
		content := []byte("asset_tag,name,unit\nCMP-01,Hours,h\nFRK-02,Hours,h\n")
		if c.table == "products" {
			content = []byte("sku,name\nPLUGIN,Plugin\nBOOK,A book\n")
		}
		if c.file != "" {
			var err error
			content, err = os.ReadFile(filepath.Join("../../..", "testdata", "imports", c.file))
			assert.OK(t, err)
		}
		v, path := ann.At(s.URL(c.service, "")), "/import/"+c.table
		for again := range 2 {
			at := status(t, v.Upload(path, nil, "file", c.file, string(content)), http.StatusSeeOther).Header.Get("Location")
			shown := v.Get(at)
			if c.answers != nil && again == 0 {
				q := sentBy(t, shown, path, "read", "yes")
				for i := 0; i < len(c.answers); i += 2 {
					q.Set(c.answers[i], c.answers[i+1])
				}
				shown = v.Get(path + "?" + q.Encode())
			}
			status(t, shown, http.StatusOK)
			text := strings.Join(strings.Fields(apptest.Text(shown.Doc)), " ")
			for _, word := range c.said {
				assert.That(t, again != 0 || strings.Contains(text, word), "%s: %q is not said: %.1500s", c.file, word, text)
			}
			if again == 1 {
				assert.That(t, regexp.MustCompile(`\b0 of \d+ rows? (is|are) new, 0 changed`).MatchString(text),
					"%s again: %.600s", c.file, text)
				assert.Lacks(t, text, "Write them", "%s again: writing nothing is offered", c.file)
				continue
			}
			assert.Contains(t, ended(t, v, post(v, path, sentBy(t, shown, path))), c.written, "%s", c.file)
			if c.table == "work-orders" { // whose numbers are the other program's, so that none is known again
				break
			}
		}
	}
	n, err := s.Server.DB().QueryInt("SELECT count(*) FROM work_orders WHERE status = 'in-progress'")
	assert.That(t, n == 1 && err == nil, "%d jobs are in progress, %v", n, err)
}

// TestAMistypedCellIsNamedAsInTheFile imports a file with two bad rows: the preview names line and column as
// the file does, and the page that follows gives these rows as a file that imports once mended.
func TestAMistypedCellIsNamedAsInTheFile(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("reorder", "ann", "admin").At(s.URL("reorder", ""))
	path := "/import/skus"
	at := v.Upload(path, nil, "file", "stock.txt",
		"Stock list\tNovember\n\nCode\tDescription\tOn Hand\tCost\t\t\nAA-1\t\"Nails, 3\"\"\nsteel\"\t1,200\t1,234.50\t\t\n"+
			"AA-2\tGlue\tx12\t0.95\t\t\nAA-3\tTape\t3\t3.5O\t\t\nTotal\t\t1,203\t\t\t\n").Header.Get("Location")
	shown := status(t, v.Get(at), http.StatusOK, "1 of 3 rows are new", "1200")
	text := strings.Join(strings.Fields(apptest.Text(shown.Doc)), " ")
	for _, row := range []string{"SKU (needed)", "6On Hand", "7CostCannot read the amount"} {
		assert.Contains(t, text, row)
	}
	sent := post(v, path, sentBy(t, shown, path))
	done := ended(t, v, sent)
	assert.That(t, strings.Contains(done, "1 row of stock.txt was imported into SKUs. 1 of 3 rows are new") &&
		strings.Contains(done, "line 6, On Hand: ") && strings.Contains(done, "line 7, Cost: "), "%s", done)
	refused := status(t, v.Get(sent.Header.Get("Location")+"&format=refused"), http.StatusOK).Body
	lines := strings.Split(strings.TrimSpace(refused), "\n")
	assert.Must(t, len(lines) == 3 && strings.Contains(lines[1], "AA-2\tGlue\tx12") && strings.Contains(lines[2], "3.5O"),
		"%q", refused)
	mended := strings.NewReplacer("x12", "12", "3.5O", "3.50").Replace(refused)
	at = v.Upload(path, nil, "file", "mended.txt", mended).Header.Get("Location")
	status(t, v.Get(at), http.StatusOK, "2 of 2 rows are new")
	pdf := v.Get(v.Upload(path, nil, "file", "stock.pdf", "%PDF-1.7\n").Header.Get("Location"))
	status(t, pdf, http.StatusUnprocessableEntity, "The file is a PDF, not a table; choose a CSV or XLSX file")
	unknown := v.Upload(path, nil, "file", "odd.csv", "Farbe,Form\nrot,rund\n").Header.Get("Location")
	asked := v.Get(unknown)
	text = apptest.Text(asked.Doc)
	assert.That(t, asked.Status == http.StatusUnprocessableEntity &&
		strings.Contains(text, "Choose below which column means SKU"), "%d %.800s", asked.Status, text)
}

// TestOrdersOfAFileSayWhatTheyIssue previews two orders of a licensed product, and products whose file names no kind.
func TestOrdersOfAFileSayWhatTheyIssue(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("store", "ann", "admin").At(s.URL("store", ""))
	s.MustCLI("store", "product", "save", "PLUGIN", "--price-cents", "4900")
	at := v.Upload("/import/orders", nil, "file", "orders.csv", "provider,provider_ref,email,sku,qty\n"+
		"shopify,#1,ann@example.com,PLUGIN,2\nshopify,#2,bo@example.com,NOPE,1\nshopify,#3,bo@example.com,,1\n").Header.Get("Location")
	text := strings.Join(strings.Fields(apptest.Text(status(t, v.Get(at), http.StatusOK).Doc)), " ")
	want := []string{"This file would issue 2 licenses", `3skuThere is no product "NOPE"; add it firstNew product`,
		"4skuSKU is missing"}
	assert.That(t, !slices.ContainsFunc(want, func(w string) bool { return !strings.Contains(text, w) }), "%.1500s", text)
	for rows, licensed := range map[string]bool{
		"Product;Price;SKU\nTape Echo;49,00;TAPE\nBook;19,00;BOOK\n": true,
		"Product;SKU;kind\nTape;TAPE;other\nBook;BOOK;other\n":       false,
	} {
		at = v.Upload("/import/products", nil, "file", "products.csv", rows).Header.Get("Location")
		text = apptest.Text(status(t, v.Get(at), http.StatusOK).Doc)
		if strings.Contains(text, "Each unit sold of 2 products of this file would come with a license") != licensed {
			t.Errorf("%s: %.900s", rows, text)
		}
	}
}

// TestAMissingRecordIsToldOnce: the rows of a SKU that is not there are one line, which leads to its form and back to
// the file.
func TestAMissingRecordIsToldOnce(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("reorder", "ann", "admin").At(s.URL("reorder", ""))
	rows := "Datum;Artikelnummer;Menge;Kanal\n"
	for day := range 9 {
		rows += fmt.Sprintf("2026-11-0%d;NEW;2;Laden\n", day+1)
	}
	at := v.Upload("/import/sales", nil, "file", "sales.csv", rows).Header.Get("Location")
	shown := status(t, v.Get(at), http.StatusOK)
	assert.EqualSlices(t, rowsShown(shown), []string{"2"}, "the refused rows")
	text := strings.Join(strings.Fields(apptest.Text(shown.Doc)), " ")
	assert.Contains(t, text, `2, 3, 4 and 6 moreArtikelnummer"NEW" is not in the catalogue`)
	form := ""
	shown.Each(func(n *html.Node) {
		if n.Data == "a" && strings.Join(strings.Fields(apptest.Text(n)), " ") == "New SKU, NEW" {
			form = apptest.Attr(n, "href")
		}
	})
	made := status(t, post(v, form, sentBy(t, v.Get(form), "/do/save_sku")), http.StatusSeeOther)
	text = apptest.Text(status(t, v.Get(made.Header.Get("Location")), http.StatusOK).Doc)
	assert.That(t, strings.Contains(text, "SKU NEW is saved") &&
		strings.Contains(text, "9 rows of sales.csv would be written"), "%.900s", text)
}
