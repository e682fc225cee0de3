package screens

import (
	"net/http"
	"strings"
	"testing"

	"quartermaster/app/apptest"
)

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
	if n := strings.Count(got.Body, "\n"); n != 11 {
		t.Errorf("ten days have %d lines: %s", n, got.Body)
	}
	for asked, before := range map[string]string{
		"": "From 1 Dec 2024 to 20 Nov 2025", "from=2026-11-01&to=2026-11-20": "From 1 Oct to 20 Oct",
		"from=2026-10-01&to=2026-10-31": "From 1 Sep to 30 Sep", "from=2026-01-01&to=2026-11-20": "From 1 Jan 2025 to 20 Nov 2025",
		"from=2025-01-01&to=2025-12-31": "From 1 Jan 2024 to 31 Dec 2024", "from=2026-03-01&to=2026-03-30": "From 1 Feb to 28 Feb",
		"from=2026-10-22&to=2026-11-20": "From 22 Sep to 21 Oct",
	} {
		if text := strings.Join(strings.Fields(apptest.Text(v.Get("/figures?"+asked).First("main"))), " "); !strings.Contains(text, before+" it was nothing.") {
			t.Errorf("%q is not compared with %q: %.300s", asked, before, text)
		}
	}
	buy(t, s, "--email", "ann@example.com", "--sku", "PLUGIN", "--paid-at", "2026-10-05")
	status(t, v.Get("/figures?from=2026-11-01&to=2026-11-20"), http.StatusOK, "49.00")
	if rows := rowsShown(v.Get("/figures")); len(rows) != 3 || rows[0] != "2026-11 USD" || rows[1] != "2026-10 USD" {
		t.Errorf("the rows of months, of which two had sales: %q", rows)
	}
	status(t, v.Get("/orders/"+o.Ref+"/receipt"), http.StatusOK, "Paid by hand.")
}
