package app

import (
	"net/http"
	"strings"
	"testing"
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
	status(t, v.Get("/orders/"+o.Ref+"/receipt"), http.StatusOK, "Paid by hand.")
}
