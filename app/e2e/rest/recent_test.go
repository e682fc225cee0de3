package rest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"quartermaster/app/apptest"
)

// TestCachedAnswersFollowEveryChange repeats requests over REST and as an agent while the database changes in every way
// and days pass. A cached answer must not be given once it would differ.
func TestCachedAnswersFollowEveryChange(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	stocked(s, 1)
	sold := func(want string) {
		t.Helper()
		for range 2 {
			if a := s.Get("reorder", "/api/reorder-report?status=all"); !strings.Contains(a.Body, `"sold_in_window":`+want+`,`) {
				t.Errorf("REST: want %s sold: %s", want, a.Body)
			}
			content, refusal := s.Tool("reorder", "list_products", `{}`)
			if refusal != "" {
				t.Fatal(refusal)
			}
			if got := fmt.Sprint(content["products"].([]any)[0].(map[string]any)["sold_in_window"]); got != want {
				t.Errorf("the tool: %s sold, want %s", got, want)
			}
		}
	}
	sold("0")
	if a := s.Post("reorder", "/api/sales-history", oneSale); a.Status != 200 {
		t.Fatal(a)
	}
	sold("3")
	if code, _, errs := s.Pipe("date,sku,qty\n2026-11-18,A-1,4\n", "import", "reorder", "sales", "-"); code != 0 {
		t.Fatal(errs)
	}
	sold("7")
	for _, day := range []struct {
		later int
		want  string
	}{{0, "7"}, {1, "7"}, {27, "7"}, {28, "3"}, {29, "0"}} {
		s.Clock.Set(apptest.Noon.Add(time.Duration(day.later) * 24 * time.Hour))
		sold(day.want)
	}
}

// TestCachedAnswersArePerUser requests as one user what another was just answered.
func TestCachedAnswersArePerUser(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	stocked(s, 1)
	viewer := s.Key("reorder", "vera", "viewer", "read")
	const path = "/api/reorder-report?status=all"
	whole := s.Get("reorder", path)
	if a := s.Do("reorder", "GET", path, viewer, ""); a.Status != 200 || a.Body != whole.Body {
		t.Errorf("the viewer: %d %s", a.Status, a.Body)
	}
	s.MustCLI("user", "disable", "vera")
	for _, key := range []string{viewer, s.Keys["store"], "", "apk_" + strings.Repeat("0", 40)} {
		if a := s.Do("reorder", "GET", path, key, ""); a.Status != 401 || strings.Contains(a.Body, "A-1") {
			t.Errorf("%.8s: %d %s", key, a.Status, a.Body)
		}
	}
}

// TestCachedAnswersFollowBuyersRequests requests a license again and again while its buyer's program checks it, which
// writes nothing for a minute, and while it expires.
func TestCachedAnswersFollowBuyersRequests(t *testing.T) {
	t.Parallel()
	s := storefront(t)
	key := sell(s, "--sku", "TRIAL").Licenses[0].Key
	license := func(status, checked string) {
		t.Helper()
		for range 2 {
			a := s.Get("store", "/api/licenses")
			if !strings.Contains(a.Body, `"status":"`+status+`"`) || !strings.Contains(a.Body, `"last_checked_at":`+checked) {
				t.Errorf("want the status %s, last checked %s: %s", status, checked, a.Body)
			}
		}
	}
	license("active", "null")
	for _, minute := range []int{1, 2} {
		at := apptest.Noon.Add(time.Duration(minute) * time.Minute)
		s.Clock.Set(at)
		buyer(s, "/license/check", `{"license_key":"`+key+`"}`)
		license("active", `"`+at.Format(time.RFC3339)+`"`)
	}
	s.Clock.Set(apptest.Noon.Add(30*24*time.Hour - time.Second))
	license("active", `"2026-11-20T12:02:00Z"`)
	s.Clock.Set(apptest.Noon.Add(30 * 24 * time.Hour))
	license("expired", `"2026-11-20T12:02:00Z"`)
}
