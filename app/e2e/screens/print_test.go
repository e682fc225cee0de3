package screens

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"quartermaster/schema/assert"
)

// sheetOf prints the tab's page on A4 and returns its text and its pages.
func sheetOf(t *testing.T, b *tab) (text string, pages int) {
	t.Helper()
	pdf := assert.Value(chromedp.Run(b.ctx, chromedp.PrintToPDF(chromedp.PDFPreferCSSPageSize())))(t)
	path := filepath.Join(t.TempDir(), "page.pdf")
	assert.OK(t, os.WriteFile(path, pdf, 0o600))
	out := assert.Value(exec.Command("pdftotext", "-layout", path, "-").Output())(t)
	return string(out), bytes.Count(out, []byte("\f"))
}

// amounts are the amounts at the end of lines, in cents.
func amounts(lines []string) (cents []int64) {
	for _, l := range lines {
		m := regexp.MustCompile(`(-?[0-9][0-9,]*)\.([0-9]{2})(?: [A-Z]{3})?\s*$`).FindStringSubmatch(l)
		if m == nil {
			continue
		}
		n, _ := strconv.ParseInt(strings.ReplaceAll(m[1], ",", "")+m[2], 10, 64) // the sign precedes it
		cents = append(cents, n)
	}
	return cents
}

// addsUp fails unless the last amount between two lines is the sum of those before it.
func addsUp(t *testing.T, text, from, to string) {
	t.Helper()
	_, rest, found := strings.Cut(text, from)
	at := strings.Index(rest, to)
	assert.Must(t, found && at >= 0, "there is no table from %q to %q:\n%s", from, to, text)
	line, _, _ := strings.Cut(rest[at:], "\n")
	all := amounts(strings.Split(rest[:at]+line, "\n"))
	assert.Must(t, len(all) >= 2, "%d amounts from %q to %q:\n%s", len(all), from, to, text)
	var sum int64
	for _, c := range all[:len(all)-1] {
		sum += c
	}
	total := all[len(all)-1]
	assert.That(t, sum == total, "the lines make %d cents, the total says %d:\n%s", sum, total, text)
}

// TestPrints prints each printable page. It has its text, its sums and its number of pages, and nothing of the screen's
// frame.
func TestPrints(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("pdftotext"); err != nil {
		assert.Must(t, os.Getenv("CI") == "", "pdftotext is not there")
		t.Skip("pdftotext is not there")
	}
	chromium := browser(t)
	h := newFlowFixture(t)
	b := newTab(t, chromium, 1280, 800, true)
	g := &guest{pager: b, t: t, demo: h, name: "print"}
	g.signIn("store", "alice")
	for _, p := range []struct {
		name, service, path string
		act                 func() // after the page is open
		pages               int
		says                []string
		from, to            string // a table with a sum
	}{
		{"job sheet", "maintenance", "/work-orders/33/sheet", nil, 1, []string{"Cooler trips its fuse", "VAN-3",
			"What was done", "Date and signature", "/work-orders/33"}, "", ""},
		{"asset labels", "maintenance", "/assets/1/label", nil, 1, []string{"Lathe", "LATHE-1"}, "", ""},
		{"purchase order", "reorder", "/purchase-orders/PO-000001/print", nil, 1,
			[]string{"Harbour Roasters", "trade@harbour-roasters.example", "Deliver to", "Purchase order PO-000001",
				"COF-COLOMBIA-250", "1,126.40 USD"}, "Total, USD", "Total  "},
		{"counting sheet", "reorder", "/count", nil, 1, []string{"Tea infuser, steel", "Counted", "____________"}, "", ""},
		{"shelf label", "reorder", "/skus/COF-COLOMBIA-250/label", nil, 1, []string{"Colombia Huila, beans, 250 g",
			"COF-COLOMBIA-250"}, "", ""},
		{"statement", "rental", "/leases/2/statement?year=2026", nil, 2, []string{"Statement of 2026", "Ben Okafor",
			"Harbour House / 1B", "Charged in all", "Balance at the end"}, "Amount, USD", "Charged in all"},
		{"arrears", "rental", "/arrears", nil, 1, []string{"Ben Okafor", "12 Harbour Street", "Tax number", "1 Oct 2026"}, "",
			""},
		{"receipt of rent", "rental", "/payments/25", nil, 1, []string{"Receipt 25", "Received from Ben Okafor", "925.00"},
			"", ""},
		{"reminder letter", "rental", "/leases/2/reminder", nil, 1, []string{"1,850.00 USD is overdue", "Ben Okafor",
			"20 November 2026"}, "Open, USD", "In all"},
		{"invitation letter", "rental", "/tenants/2", func() { g.press("Invite to the portal") }, 1,
			[]string{"Ben Okafor, your home on one page", "/portal/welcome/", "type this code"}, "", ""},
		{"receipt of an order", "store", "/", func() { g.press("paypal|Invoice Desk"); g.press("Receipt") }, 1,
			[]string{"Receipt ORD-", "Invoice Desk, one year", "Total"}, "Total, USD", "Total  "},
		{"code cards", "store", "/do/mint_codes?sku=PLUGIN&tier=basic&count=12&batch=print", func() { g.press("Mint codes") },
			1, []string{"Tape Echo plugin, basic", "Redeem it at"}, "", ""},
	} {
		t.Run(p.name, func(t *testing.T) {
			g.into(t)
			g.open(p.service, p.path)
			if p.act != nil {
				p.act()
			}
			text, pages := sheetOf(t, b)
			assert.That(t, strings.Count(text, "Received in all") <= 1, "the sum stands on more than one page:\n%s", text)
			assert.That(t, pages == p.pages, "it has %d pages, not %d:\n%s", pages, p.pages, text)
			flat := strings.Join(strings.Fields(text), " ")
			for _, want := range p.says {
				assert.That(t, strings.Contains(flat, want), "it does not say %q:\n%s", want, text)
			}
			for _, never := range []string{"Sign out", "Skip to", "As of ", "Print the", "CSV"} {
				assert.Lacks(t, text, never, "of the screen is printed")
			}
			if p.from != "" {
				addsUp(t, text, p.from, p.to)
			}
		})
	}
}
