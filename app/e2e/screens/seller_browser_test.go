package screens

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestASellersMonthInABrowser plays a seller's month in Chromium, on a desktop and on a phone, by links and buttons
// alone: keys are imported, a buyer gets a file, waiting payments are assigned, a renewal fails, a payment is disputed.
func TestASellersMonthInABrowser(t *testing.T) {
	t.Parallel()
	chromium := browser(t)
	for name, size := range map[string][2]int64{"desk": {1280, 900}, "phone": {360, 740}} {
		t.Run(name, func(t *testing.T) {
			s := apptest.Start(t)
			s.MustCLI("store", "product", "save", "ECHO", "--name", "Tape Echo", "--price-cents", "1000", "--activation-limit", "3")
			s.Person("store", "olga", "admin")
			owner := newTab(t, chromium, size[0], size[1], true)
			owner.visit(s.URL("store", "/login"))
			owner.fill("name", "olga")
			owner.fill("password", apptest.Password)
			owner.press("Sign in")

			keysMoveIn(t, s, owner)
			aBuyerTakesAFile(t, s, newTab(t, chromium, size[0], size[1], true))
			paymentsAreMended(t, s, owner)
			troubleIsSeen(t, s, owner)
			s.MustCLI("doctor")
		})
	}
}

// more goes to a page of the menu behind the user's name.
func (b *tab) more(page string) {
	b.t.Helper()
	b.reveal("olga")
	at, err := eval[place](b, `(() => { const e = [...document.querySelectorAll("details.me a")].find(a => a.textContent.trim() === $1); e.scrollIntoView({block: "nearest"});
		const r = e.getBoundingClientRect(); document.documentElement.dataset.was = "1"; return {X: r.x + r.width / 2, Y: r.y + r.height / 2} })()`, page)
	b.must(err)
	b.must(chromedp.Do(b.ctx, chromedp.MouseClickXY(at.X, at.Y)))
	b.await("the menu does not lead to "+page, `!document.documentElement.dataset.was && document.readyState === "complete"`)
}

// fetch presses a button that downloads; the page stays.
func (b *tab) fetch(label string) {
	b.t.Helper()
	p := b.locate("button", label)
	b.must(chromedp.Do(b.ctx, chromedp.MouseClickXY(p.X, p.Y)))
}

func keysMoveIn(t *testing.T, s *apptest.Fixture, owner *tab) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sales.csv")
	assert.OK(t, os.WriteFile(path, []byte(gumroadFile), 0o600))
	owner.more("Import")
	owner.press("Licenses")
	owner.attach("file", path)
	owner.press("Show what would happen")
	owner.see("Which product is it?")
	owner.see("Echo Pro (EU)")
	owner.fill("sku", "ECHO")
	owner.press("Use this product")
	owner.see("2 rows of sales.csv would be written")
	owner.press("Write them")
	owner.see("2 rows of sales.csv were imported into licenses.")
	owner.press("Licenses")
	owner.see("2 licenses")

	owner.more("Settings")
	owner.press("License keys")
	owner.see("No license files yet")
	owner.press("Make a signing key")
	owner.see("signs license files from now on")
	owner.reveal("Python")
	owner.see("Ed25519PublicKey")
}

func aBuyerTakesAFile(t *testing.T, s *apptest.Fixture, buyer *tab) {
	t.Helper()
	buyer.visit(s.URL("store", "/my"))
	buyer.fill("license_key", "aaaa1111 bbbb2222 cccc3333 dddd4444")
	buyer.press("Open")
	buyer.see("AAAA1111-BBBB2222-CCCC3333-DDDD4444")
	buyer.reveal("An offline machine")
	buyer.fill("fingerprint", "studio-7f")
	buyer.fill("label", "Studio")
	buyer.fetch("Download the file")
	apptest.Await(t, "the file", func() bool { return strings.Contains(s.MustCLI("store", "license", "files", "1"), "studio-7f") })
	buyer.visit(s.URL("store", "/my"))
	buyer.see("1 of 3")
	buyer.fetch("Offline file")
	apptest.Await(t, "another file", func() bool { return strings.Count(s.MustCLI("store", "license", "files", "1"), "studio-7f") == 2 })
}

func paymentsAreMended(t *testing.T, s *apptest.Fixture, owner *tab) {
	t.Helper()
	owner.more("Settings")
	owner.press("Payment providers")
	owner.see("No provider sends payments here yet")
	owner.press("Set the secret, Lemon Squeezy")
	owner.fill("secret", lemonSecret)
	owner.press("Save")
	owner.see("1 provider sends payments here")
	order := func(id, currency string, variant, total int) {
		t.Helper()
		lemonSays(t, s, lemonSecret, "order_created", "orders", id, fmt.Sprintf(`"status":"paid","user_name":"Sue Seller","user_email":"sue@example.org","currency":%q,"tax":190,
			"total":%d,"created_at":"2026-11-20T10:00:00Z","updated_at":"2026-11-20T10:00:00Z","first_order_item":{"variant_id":%d,"product_name":"Echo","quantity":1}`,
			currency, total, variant))
	}
	order("900", "EUR", 555, 1190)
	order("901", "EUR", 556, 1191)
	owner.press("Today")
	owner.see("2 payments wait")
	owner.press("See how to fix each")
	owner.see("2 payments could not be booked")
	owner.see("Sue Seller")
	owner.press("900|Which product?")
	owner.fill("sku", "ECHO")
	owner.press("Save")
	owner.see("1 payment could not be booked")
	owner.reveal("901|More")
	owner.press("901|Record order")
	for field, holds := range map[string]string{
		"email": "sue@example.org", "name": "Sue Seller", "provider": "lemonsqueezy", "provider_ref": "901", "currency": "EUR", "total": "11.91", "qty": "1", "paid_at": "2026-11-20",
	} {
		assert.Equal(t, owner.field(field), holds, "Record is filled with %s", field)
	}
	owner.see("Paid in all, EUR")
	owner.fill("sku", "ECHO")
	owner.press("Record order")
	owner.see("11.91 EUR")
	owner.press("Unbooked")
	owner.see("Every payment is booked")
}

// troubleIsSeen makes a renewal fail and a payment disputed. The first page shows each, with a link to its record.
func troubleIsSeen(t *testing.T, s *apptest.Fixture, owner *tab) {
	t.Helper()
	lemonSays(t, s, lemonSecret, "subscription_created", "subscriptions", "3", `"order_id":900,"status":"active","renews_at":"2026-12-20T10:00:00Z","updated_at":"2026-11-20T10:00:01Z"`)
	lemonSays(t, s, lemonSecret, "subscription_payment_failed", "subscription-invoices", "7", `"subscription_id":3,"billing_reason":"renewal","currency":"EUR","tax":190,"total":1190,
		"user_email":"sue@example.org","user_name":"Sue Seller","created_at":"2026-11-20T11:00:00Z","updated_at":"2026-11-20T11:00:00Z"`)
	owner.press("Today")
	owner.see("1 renewal failed")
	owner.press("See subscriptions")
	owner.see("Past due")
	owner.press("Tape Echo")
	owner.see("Sue Seller")
	owner.press("Subscriptions")
	buyer := newTab(t, browser(t), 360, 740, true)
	buyer.visit(s.URL("store", "/my"))
	buyer.fill("order_ref", orderOf(s, "900"))
	buyer.fill("email", "sue@example.org")
	buyer.press("Open by the order")
	buyer.see("The last payment of your subscription failed. Check how you pay at Lemon Squeezy.")

	const secret = "whsec_of_the_month"
	s.MustCLI("store", "provider", "set", "stripe", "--secret", secret)
	disputed := stripeObject("evt_2", "charge.dispute.created", `"id":"dp_1","charge":"ch_1","payment_intent":"pi_1","amount":4900,"currency":"usd","status":"needs_response",
		"reason":"fraudulent","created":1795168800,"evidence_details":{"due_by":1796378400}`)
	for _, body := range []string{
		stripeObject("evt_1", "checkout.session.completed", `"id":"cs_1","payment_intent":"pi_1","payment_status":"paid","amount_subtotal":4900,"amount_total":4900,"currency":"usd",
			"customer_details":{"email":"dan@example.org","name":"Dan Doubt"},"metadata":{"sku":"ECHO"},"total_details":{"amount_discount":0,"amount_tax":0},"mode":"payment"`),
		disputed,
	} {
		a := stripeTold(s, secret, body)
		assert.Must(t, a.Status == http.StatusOK, "%d %s", a.Status, a.Body)
	}
	owner.press("Today")
	owner.see("Dispute over 49.00 USD of ORD-")
	owner.see("answer by 4 Dec")
	owner.press("Open the order")
	owner.see("dp_1")
	owner.see("4 Dec")
	owner.press("Suspended|ECHO")
	owner.see("It is suspended while the dispute dp_1 is open.")
	owner.press("Disputes")
	owner.see("1 open dispute")
	owner.see("Dan Doubt")
	won := strings.NewReplacer("evt_2", "evt_3", "dispute.created", "dispute.closed", "needs_response", "won").Replace(disputed)
	unknown := strings.NewReplacer("evt_2", "evt_4", "dp_1", "dp_2", "pi_1", "pi_9", "ch_1", "ch_9").Replace(disputed)
	for _, body := range []string{won, unknown} {
		a := stripeTold(s, secret, body)
		assert.Must(t, a.Status == http.StatusOK, "%d %s", a.Status, a.Body)
	}
	owner.press("Today")
	owner.see("Dispute over 49.00 USD of a payment that is not on record, answer by 4 Dec")
	owner.press("All disputes")
	owner.see("1 open dispute")
	owner.see("dp_2")
}

// orderOf is the number of the newest order of the buyer.
func orderOf(s *apptest.Fixture, email string) string {
	list := s.MustCLI("store", "orders", "list", "--q", email)
	return list[strings.Index(list, "ORD-"):][:14]
}

func stripeObject(id, kind, fields string) string {
	return fmt.Sprintf(`{"id":%q,"object":"event","type":%q,"created":%d,"livemode":true,"data":{"object":{%s}}}`, id, kind, apptest.Noon.Unix(), fields)
}

// stripeTold sends an event of Stripe with a valid signature.
func stripeTold(s *apptest.Fixture, secret, body string) apptest.Answer {
	s.T.Helper()
	mac, at := hmac.New(sha256.New, []byte(secret)), s.Clock.Now().Unix()
	fmt.Fprintf(mac, "%d.%s", at, body)
	return s.Do("store", "POST", "/providers/stripe/webhook", "", body, fmt.Sprintf("Stripe-Signature: t=%d,v1=%s", at, hex.EncodeToString(mac.Sum(nil))))
}

const lemonSecret = "sunny-day-42"

// lemonSays sends an event as Lemon Squeezy does.
func lemonSays(t *testing.T, s *apptest.Fixture, secret, event, kind, id, attributes string) {
	t.Helper()
	body := fmt.Sprintf(`{"meta":{"event_name":%q},"data":{"type":%q,"id":%q,"attributes":{%s}}}`, event, kind, id, attributes)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	a := s.Do("store", "POST", "/providers/lemonsqueezy/webhook", "", body,
		"X-Signature: "+hex.EncodeToString(mac.Sum(nil)))
	assert.Must(t, a.Status == http.StatusOK, "%s: %d %s", event, a.Status, a.Body)
}
