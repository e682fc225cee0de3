package rest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
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
			assert.Contains(t, s.Get("reorder", "/api/reorder-report?status=all").Body, `"sold_in_window":`+want+`,`,
				"REST: want %s sold", want)
			content, refusal := s.Tool("reorder", "list_products", `{}`)
			assert.Must(t, refusal == "", "%v", refusal)
			got := fmt.Sprint(content["products"].([]any)[0].(map[string]any)["sold_in_window"])
			assert.That(t, got == want, "the tool: %s sold, want %s", got, want)
		}
	}
	sold("0")
	a := s.Post("reorder", "/api/sales-history", oneSale)
	assert.Must(t, a.Status == 200, "%v", a)
	sold("3")
	code, _, errs := s.Pipe("date,sku,qty\n2026-11-18,A-1,4\n", "import", "reorder", "sales", "-")
	assert.Must(t, code == 0, "%v", errs)
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
	a := s.Do("reorder", "GET", path, viewer, "")
	assert.That(t, a.Status == 200 && a.Body == whole.Body, "the viewer: %d %s", a.Status, a.Body)
	s.MustCLI("user", "disable", "vera")
	for _, key := range []string{viewer, s.Keys["store"], "", "apk_" + strings.Repeat("0", 40)} {
		a := s.Do("reorder", "GET", path, key, "")
		assert.That(t, a.Status == 401 && !strings.Contains(a.Body, "A-1"), "%.8s: %d %s", key, a.Status, a.Body)
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
