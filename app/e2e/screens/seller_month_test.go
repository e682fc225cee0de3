package screens

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestASellersMonth plays a seller's month as forms: keys are imported, a buyer brings an old key and gets a file for
// an offline machine, a payment is assigned, and a subscription fails and recovers.
func TestASellersMonth(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	s.MustCLI("store", "product", "save", "ECHO", "--name", "Tape Echo", "--price-cents", "1000", "--activation-limit", "3")
	s.MustCLI("store", "provider", "map", "gumroad", "Echo Pro (EU)", "ECHO")
	s.MustCLI("store", "signing-key", "make")
	owner := s.Person("store", "olga", "admin")

	preview := owner.Upload("/import/licenses", nil, "file", "sales.csv", gumroadFile).Header.Get("Location")
	u := assert.Value(url.Parse(preview))(t)
	status(t, owner.Get(preview), http.StatusOK, "2 rows")
	location(t, owner.Post("/import/licenses", "file", u.Query().Get("file"), "read", "yes"), "/import/licenses?job=1")

	buyer := s.Visitor("store")
	location(t, buyer.Post("/my", "license_key", "aaaa1111 bbbb2222 cccc3333 dddd4444"), "/my")
	status(t, buyer.Get("/my"), http.StatusOK, "Tape Echo", "AAAA1111-BBBB2222-CCCC3333-DDDD4444")
	file := buyer.Post("/my/do/get_license_file", "fingerprint", "studio", "label", "Studio", "then", "/my")
	if file.Status != http.StatusOK || strings.Count(file.Body, ".") != 2 || !strings.Contains(file.Header.Get("Content-Disposition"), "ECHO-4444.lic") {
		t.Errorf("the offline file: %d %v %s", file.Status, file.Header, file.Body)
	}

	const secret = "sunny-day-42"
	status(t, owner.Post("/do/set_provider", "provider", "lemonsqueezy", "secret", secret, "then", "/providers"), http.StatusSeeOther)
	tells := func(event, kind, id, attributes string) {
		t.Helper()
		lemonSays(t, s, secret, event, kind, id, attributes)
	}
	tells("order_created", "orders", "900", `"status":"paid","user_name":"Sue Seller","user_email":"sue@example.org","currency":"EUR","tax":190,"total":1190,
		"created_at":"2026-11-20T10:00:00Z","updated_at":"2026-11-20T10:00:00Z","first_order_item":{"variant_id":555,"product_name":"Echo","quantity":1}`)
	status(t, owner.Get("/unbooked"), http.StatusOK, "Sue Seller", "11.90", "Try again")
	status(t, owner.Post("/do/retry_payment", "provider", "lemonsqueezy", "provider_ref", "900", "then", "/unbooked"), http.StatusSeeOther)
	status(t, owner.Get("/unbooked"), http.StatusOK, "Sue Seller")
	location(t, owner.Post("/do/map_provider", "provider", "lemonsqueezy", "payment_link", "555", "sku", "ECHO", "then", "/unbooked"), "/unbooked")
	status(t, owner.Get("/unbooked"), http.StatusOK, "Every payment is booked")

	tells("subscription_created", "subscriptions", "3", `"order_id":900,"status":"active","renews_at":"2026-12-20T10:00:00Z","updated_at":"2026-11-20T10:00:01Z"`)
	pays := `"subscription_id":3,"billing_reason":"renewal","currency":"EUR","tax":190,"total":1190,"user_email":"sue@example.org","user_name":"Sue Seller",`
	tells("subscription_payment_failed", "subscription-invoices", "7", pays+`"created_at":"2026-11-20T11:00:00Z","updated_at":"2026-11-20T11:00:00Z"`)
	status(t, owner.Get("/"), http.StatusOK, "1 renewal failed")
	status(t, owner.Get("/subscriptions?state=past_due"), http.StatusOK, "Sue Seller", "11.90")
	tells("subscription_payment_recovered", "subscription-invoices", "7", pays+`"created_at":"2026-11-20T11:00:00Z","updated_at":"2026-11-20T11:30:00Z"`)
	status(t, owner.Get("/subscriptions?state=past_due"), http.StatusOK, "No subscription here")
	status(t, owner.Get("/subscriptions?state=active"), http.StatusOK, "Sue Seller")
	s.MustCLI("doctor")
}

// TestTwoMachinesRaceForTheLastSeat activates over the License API at once: one gets the seat.
func TestTwoMachinesRaceForTheLastSeat(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	s.MustCLI("store", "product", "save", "ECHO", "--activation-limit", "1")
	s.MustCLI("store", "license-api", "on")
	for round := range 5 {
		o := buy(t, s, "--email", "ann@example.com", "--sku", "ECHO")
		var all sync.WaitGroup
		answers := make([]apptest.Answer, 2)
		for i := range answers {
			all.Go(func() {
				answers[i] = s.Do("store", "POST", "/v1/licenses/activate", "", fmt.Sprintf(`{"license_key":%q,"instance_name":"m%d"}`, o.Licenses[0].Key, i))
			})
		}
		all.Wait()
		a, b := answers[0], answers[1]
		if a.Status+b.Status != 600 || !strings.Contains(a.Body+b.Body, "This license key has reached the activation limit.") {
			t.Errorf("round %d: %d %s, %d %s", round, a.Status, a.Body, b.Status, b.Body)
		}
	}
	s.MustCLI("doctor")
}
