package screens

import (
	"net/http"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestCSVAsPeopleReadIt: times have the shop's offset, lists without an export have amounts, and the file of a list
// imports again as the same rows.
func TestCSVAsPeopleReadIt(t *testing.T) {
	t.Parallel()
	s := sellPluginsAndBooks(t)
	admin := s.Person("store", "ada", "admin")
	status(t, admin.Post("/do/set_timezone", "timezone", "Asia/Kolkata", "confirm", "yes"), http.StatusSeeOther)
	o := buy(t, s, "--email", "ann@example.com", "--sku", "PLUGIN", "--paid-at", "2026-10-05")
	got := admin.Get("/orders?format=csv")
	assert.That(t, strings.Contains(got.Body, "ann@example.com,,PLUGIN,,1,4900,0,0,USD,2026-10-05T00:00:00+05:30,") &&
		got.Body == admin.Get("/export/orders").Body, "the orders are %s", got.Body)
	_, again, errs := s.Pipe(got.Body, "import", "store", "orders", "-", "--dry-run", "--json")
	assert.That(t, strings.Contains(again, `"same":1`), "the list imports as %s%s", again, errs)
	s.MustCLI("store", "order", "refund", o.Ref, "--amount-cents", "1050")
	got = admin.Get("/figures?format=csv&by=product")
	want := "product,currency,orders,sold,tax,refunded,net\nPLUGIN,USD,1,49.00,0.00,10.50,38.50\n"
	assert.That(t, got.Body == want, "the figures are %s, want %s", got.Body, want)
	rent := s.Person("rental", "rita", "viewer").Get("/arrears?format=csv")
	if header, _, _ := strings.Cut(rent.Body, "\n"); !strings.Contains(header, "balance_USD") || strings.Contains(header, "_cents") {
		t.Errorf("arrears begin with %s", header)
	}
}

// TestFiguresAndReceiptsOfAShop opens the figures without filters: the last 12 months, none omitted. A range by day
// includes days without sales. Product and receipt show their own sums.
func TestFiguresAndReceiptsOfAShop(t *testing.T) {
	t.Parallel()
	s := sellPluginsAndBooks(t)
	o := buy(t, s, "--email", "ann@example.com", "--sku", "PLUGIN")
	v := s.Person("store", "vera", "viewer")
	got := v.Get("/figures?format=csv")
	if n := strings.Count(got.Body, "\n"); got.Status != http.StatusOK || n != 13 || !strings.HasPrefix(got.Body, "month,") {
		t.Errorf("the figures without asking have %d lines: %s", n, got.Body)
	}
	status(t, v.Get("/figures"), http.StatusOK, "This month", "Last year", "90 days")
	day := s.Clock.Now().UTC()
	got = v.Get("/figures?by=day&from=" + day.AddDate(0, 0, -9).Format("2006-01-02") + "&to=" + day.Format("2006-01-02") + "&format=csv")
	n := strings.Count(got.Body, "\n")
	assert.That(t, n == 11, "ten days have %d lines: %s", n, got.Body)
	for asked, before := range map[string]string{
		"": "Against 1 Dec 2024 to 20 Nov 2025", "from=2026-11-01&to=2026-11-20": "Against 1 Oct to 20 Oct",
		"from=2026-10-01&to=2026-10-31": "Against 1 Sep to 30 Sep", "from=2026-01-01&to=2026-11-20": "Against 1 Jan 2025 to 20 Nov 2025",
		"from=2025-01-01&to=2025-12-31": "Against 1 Jan 2024 to 31 Dec 2024", "from=2026-03-01&to=2026-03-30": "Against 1 Feb to 28 Feb",
		"from=2026-10-22&to=2026-11-20": "Against 22 Sep to 21 Oct",
	} {
		if text := strings.Join(strings.Fields(apptest.Text(v.Get("/figures?"+asked).First("main"))), " "); !strings.Contains(text, before+", when nothing was sold.") {
			t.Errorf("%q is not compared with %q: %.300s", asked, before, text)
		}
	}
	buy(t, s, "--email", "ann@example.com", "--sku", "PLUGIN", "--paid-at", "2026-10-05")
	status(t, v.Get("/figures?from=2026-11-01&to=2026-11-20"), http.StatusOK, "49.00")
	if rows := rowsShown(v.Get("/figures")); len(rows) != 4 || rows[1] != "2026-10 USD" || rows[2] != "2026-09 USD" {
		t.Errorf("the rows of two months, of the ten in which nothing was sold, and their sum: %q", rows)
	}
	status(t, v.Get("/orders/"+o.Ref+"/receipt"), http.StatusOK, "Paid by hand.")
}
