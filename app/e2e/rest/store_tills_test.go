package rest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// lemonTells sends an event as Lemon Squeezy does.
func lemonTells(s *apptest.Fixture, secret, body string) apptest.Answer {
	s.T.Helper()
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return s.Do("store", "POST", "/providers/lemonsqueezy/webhook", "", body, "X-Signature: "+hex.EncodeToString(mac.Sum(nil)))
}

const lemonOrder = `{"meta":{"event_name":"order_created"},"data":{"type":"orders","id":"900","attributes":{"status":"paid","user_name":"Sue Seller",
	"user_email":"sue@example.org","currency":"EUR","discount_total":0,"tax":190,"total":1190,"created_at":"2026-11-20T10:00:00.000000Z",
	"updated_at":"2026-11-20T10:00:00.000000Z","first_order_item":{"variant_id":555,"product_name":"Echo","variant_name":"EU","quantity":1}}}}`

// TestPaymentProviderOnPages: an unmatched payment of a provider is assigned on pages, and the first page shows the
// state of its subscription.
func TestPaymentProviderOnPages(t *testing.T) {
	t.Parallel()
	s := storefront(t)
	const secret = "sunny-day-42"
	a := lemonTells(s, secret, lemonOrder)
	assert.That(t, a.Status == 400, "without a secret: %d %s", a.Status, a.Body)
	s.MustCLI("store", "provider", "set", "lemonsqueezy", "--secret", secret)
	a = lemonTells(s, "other", lemonOrder)
	assert.That(t, a.Status == 400, "with another secret: %d %s", a.Status, a.Body)
	if a := lemonTells(s, secret, lemonOrder); a.Status != 200 || !strings.Contains(a.Body, "unclear") {
		t.Errorf("an order of an unmapped product: %d %s", a.Status, a.Body)
	}
	owner := s.Person("store", "ola", "admin")
	says(t, "the first page", owner.Get("/").Body, "1 payment waits", "Sue Seller")
	says(t, "/unbooked", owner.Get("/unbooked").Body, "Sue Seller, sue@example.org", "Echo, EU (555)", "11.90", "Which product?", "Record", "Try again")
	assert.Lacks(t, owner.Get("/unbooked").Body+owner.Get("/").Body, "store provider map", "pages say to run a command")
	says(t, "/providers", owner.Get("/providers").Body, "/providers/lemonsqueezy/webhook", "order_refunded", "license keys off there", "Echo, EU")
	says(t, "map", s.MustCLI("store", "provider", "map", "lemonsqueezy", "555", "PLUGIN", "--tier", "pro"), "booked: 1 payment")
	says(t, "/unbooked", owner.Get("/unbooked").Body, "Every payment is booked")
	told := `{"meta":{"event_name":"subscription_updated"},"data":{"type":"subscriptions","id":"3","attributes":{"order_id":900,"status":"past_due",
		"renews_at":"2026-12-20T10:00:00.000000Z","updated_at":"2026-11-21T10:00:00.000000Z"}}}`
	a = lemonTells(s, secret, told)
	assert.That(t, a.Status == 200, "past due: %d %s", a.Status, a.Body)
	says(t, "the first page", owner.Get("/").Body, "1 renewal failed")
	says(t, "/subscriptions", owner.Get("/subscriptions").Body, "Sue Seller", "Past due")
	says(t, "store subscriptions", s.MustCLI("store", "subscriptions", "--state", "past_due"), "sue@example.org")
	says(t, "figures", s.MustCLI("store", "figures", "--by", "provider"), "lemonsqueezy")
	refusedWith(s, 1, []string{"subscription 3"}, "store", "customer", "forget", "sue@example.org", "--yes")
	ended := strings.NewReplacer("past_due", "expired", "2026-11-21", "2026-12-21").Replace(told)
	a = lemonTells(s, secret, ended)
	assert.That(t, a.Status == 200, "ended: %d %s", a.Status, a.Body)
	again := strings.NewReplacer(`"900"`, `"901"`, ":555", ":556").Replace(lemonOrder)
	a = lemonTells(s, secret, again)
	assert.That(t, a.Status == 200, "another: %d %s", a.Status, a.Body)
	s.MustCLI("store", "customer", "forget", "sue@example.org", "--yes")
	if left := s.MustCLI("store", "unbooked", "--json"); strings.Contains(left, "sue@") || strings.Contains(left, "Sue") {
		t.Errorf("a forgotten buyer stands in what could not be booked: %s", left)
	}
	refusedWith(s, 1, []string{"was not kept"}, "store", "provider", "retry", "lemonsqueezy", "901")
	s.MustCLI("store", "provider", "dismiss", "lemonsqueezy", "901", "--yes")
	s.MustCLI("doctor")
}
