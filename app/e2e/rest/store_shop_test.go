package rest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

func TestOrdersAndRefunds(t *testing.T) {
	t.Parallel()
	s := storefront(t, "--webhook-allow-private")
	receiver := hook(s, "store", "")
	o := sell(s, "--sku", "PLUGIN", "--tier", "pro", "--qty", "2", "--provider", "paypal", "--provider-ref", "8XY")
	d := receiver.Next(t)
	assert.That(t, d.Header.Get("X-Store-Event") == "order.paid" && strings.Contains(d.Body, o.Licenses[0].Key) &&
		strings.Contains(d.Body, `"email":"ann@example.org"`), "order.paid: %s", d.Body)
	again := sell(s, "--sku", "PLUGIN", "--tier", "pro", "--provider", "paypal", "--provider-ref", "8XY")
	assert.That(t, again.Ref == o.Ref && len(again.Licenses) == 2, "the same payment twice: %+v", again)
	state := func() string {
		m := s.Get("store", "/api/orders/"+o.Ref).Map(t)
		first, _ := m["licenses"].([]any)[0].(map[string]any)
		return fmt.Sprint(m["status"], " ", m["refunded_cents"], " ", first["status"])
	}
	assert.Equal(t, state(), "paid 0 active", "paid")
	s.MustCLI("store", "order", "refund", o.Ref, "--amount", "800")
	assert.Equal(t, state(), "paid 800 active", "a partial refund")
	if code, _, errs := s.CLI("store", "order", "refund", o.Ref, "--amount", "9001"); code != 1 || !strings.Contains(errs, "9000") && !strings.Contains(errs, "90.00") {
		t.Errorf("more than was paid: exit %d %s", code, errs)
	}
	s.MustCLI("store", "order", "refund", o.Ref)
	assert.Equal(t, state(), "refunded 9800 revoked", "a full refund")
	for _, full := range []bool{false, true} {
		d := receiver.Next(t)
		assert.That(t, d.Header.Get("X-Store-Event") == "order.refunded" &&
			strings.Contains(d.Body, fmt.Sprintf(`"full":%v`, full)), "order.refunded: %s", d.Body)
	}
	a := s.Get("store", "/api/orders/ORD-0000000000")
	assert.That(t, a.Status == 404, "an unknown order: %d %s", a.Status, a.Body)
	s.MustCLI("doctor")
}

func TestListsFiltersAndMasks(t *testing.T) {
	t.Parallel()
	s := storefront(t)
	for i := range 5 {
		sell(s, "--sku", "PLUGIN", "--tier", "basic", "--currency", []string{"USD", "EUR"}[i%2], "--provider", []string{"paypal", "gumroad"}[i%2])
	}
	last := sell(s, "--sku", "TRIAL", "--email", "bob@example.org")
	s.MustCLI("store", "order", "refund", last.Ref)
	count := func(path, list string) int {
		t.Helper()
		a := s.Get("store", path)
		assert.Must(t, a.Status == 200, "%s: %d %s", path, a.Status, a.Body)
		rows, _ := a.Map(t)[list].([]any)
		return len(rows)
	}
	for path, want := range map[string]int{
		"/api/orders": 6, "/api/orders?status=paid": 5, "/api/orders?status=refunded": 1, "/api/orders?provider=gumroad": 2,
		"/api/orders?status=paid&provider=paypal": 3, "/api/orders?limit=2": 2,
	} {
		got := count(path, "orders")
		assert.That(t, got == want, "%s: %d orders, want %d", path, got, want)
	}
	assert.Equal(t, count("/api/licenses?sku=TRIAL", "licenses"), 1, "licenses of TRIAL")
	for _, bad := range []string{"/api/orders?status=open", "/api/orders?limit=0", "/api/licenses?x=1", "/api/redeem-codes?status=new"} {
		a := s.Get("store", bad)
		assert.That(t, a.Status == 422, "%s: %d %s", bad, a.Status, a.Body)
	}
	seen := map[string]bool{}
	for path := "/api/orders?limit=4"; path != ""; {
		m := s.Get("store", path).Map(t)
		for _, o := range m["orders"].([]any) {
			seen[fmt.Sprint(o.(map[string]any)["order_ref"])] = true
		}
		path = ""
		if m["next"] != nil {
			path = fmt.Sprintf("/api/orders?limit=4&after=%v", m["next"])
		}
	}
	assert.That(t, len(seen) == 6, "%d orders over all pages, want 6", len(seen))
	var customers struct {
		Customers []struct {
			Email string
			Paid  int `json:"paid_orders"`
		}
	}
	s.Get("store", "/api/customers").JSON(t, &customers)
	assert.That(t, fmt.Sprint(customers.Customers) == "[{bob@example.org 0} {ann@example.org 5}]",
		"customers: %v", customers.Customers)
	for key, masked := range map[string]bool{
		s.Keys["store"]: false, s.Key("store", "mia", "member", "full"): false,
		s.Key("store", "vera", "viewer", "full"): true, s.Key("store", "mia", "member", "read"): true,
	} {
		a := s.Do("store", "GET", "/api/licenses", key, "")
		assert.That(t, strings.Contains(a.Body, last.Licenses[0].Key) != masked &&
			strings.Contains(a.Body, last.Licenses[0].Key[25:]), "masked %v: %s", masked, a.Body)
	}
	var stats struct {
		Paid     int `json:"orders_paid"`
		Refunded int `json:"orders_refunded"`
		Licenses map[string]int
		Revenue  []struct {
			Currency string
			Gross    int64 `json:"gross_cents"`
			Net      int64 `json:"net_cents"`
		}
	}
	s.Get("store", "/api/stats").JSON(t, &stats)
	if got := fmt.Sprint(stats); got != "{5 1 map[active:5 expired:0 revoked:1 suspended:0] [{EUR 9800 9800} {USD 14800 14700}]}" {
		t.Errorf("stats: %s", got)
	}
}

// stripeEvent is one of Stripe's documented bodies with some fields of its object set.
func stripeEvent(t *testing.T, file, id string, set map[string]any) string {
	t.Helper()
	raw := assert.Value(os.ReadFile(filepath.Join("../../..", "store", "testdata", "stripe", file+".json")))(t)
	var body map[string]any
	assert.OK(t, json.Unmarshal(raw, &body))
	body["id"] = id
	object, _ := body["data"].(map[string]any)["object"].(map[string]any)
	for k, v := range set {
		object[k] = v
	}
	b := assert.Value(json.Marshal(body))(t)
	return string(b)
}

func TestStripeOverHTTP(t *testing.T) {
	t.Parallel()
	s := storefront(t)
	const secret = "whsec_over_http"
	s.MustCLI("store", "provider", "set", "stripe", "--secret", secret)
	send := func(body, secret string, at time.Time) apptest.Answer {
		t.Helper()
		mac := hmac.New(sha256.New, []byte(secret))
		fmt.Fprintf(mac, "%d.%s", at.Unix(), body)
		return s.Do("store", "POST", "/providers/stripe/webhook", "", body,
			fmt.Sprintf("Stripe-Signature: t=%d,v1=%s", at.Unix(), hex.EncodeToString(mac.Sum(nil))))
	}
	orders := func() []any {
		t.Helper()
		list, _ := s.Get("store", "/api/orders?provider=stripe").Map(t)["orders"].([]any)
		return list
	}
	now := s.Clock.Now()
	paid := map[string]any{"metadata": map[string]any{"sku": "PLUGIN", "tier": "pro", "qty": "2"}, "payment_intent": "pi_1"}
	body := stripeEvent(t, "session", "evt_1", paid)
	for name, a := range map[string]apptest.Answer{
		"wrong secret": send(body, "whsec_other", now),
		"old":          send(body, secret, now.Add(-6*time.Minute)),
		"unsigned":     s.Do("store", "POST", "/providers/stripe/webhook", "", body),
	} {
		assert.That(t, a.Status == 400 && len(orders()) == 0, "%s: %d %s", name, a.Status, a.Body)
	}
	for range 2 { // the second is a replay
		a := send(body, secret, now)
		assert.That(t, a.Status == 200 && len(orders()) == 1, "good: %d %s, %d orders", a.Status, a.Body, len(orders()))
	}
	if a := send(stripeEvent(t, "session", "evt_2", paid), secret, now); a.Status != 200 || len(orders()) != 1 {
		t.Errorf("another event of the same payment: %d, %d orders", a.Status, len(orders()))
	}
	refund := stripeEvent(t, "charge", "evt_3", map[string]any{"payment_intent": "pi_2", "amount_refunded": 10388, "amount": 10388, "refunded": true})
	a := send(refund, secret, now)
	assert.That(t, a.Status == 200, "a refund before its payment: %d %s", a.Status, a.Body)
	paid["payment_intent"] = "pi_2"
	a = send(stripeEvent(t, "session", "evt_4", paid), secret, now)
	assert.That(t, a.Status == 200, "its payment: %d %s", a.Status, a.Body)
	if newest, _ := orders()[0].(map[string]any); newest["status"] != "refunded" || newest["provider_ref"] != "pi_2" {
		t.Errorf("the refund that came first was not applied: %v", newest)
	}
	paid["payment_intent"], paid["metadata"] = "pi_3", map[string]any{}
	a = send(stripeEvent(t, "session", "evt_5", paid), secret, now)
	assert.That(t, a.Status == 200 && len(orders()) == 2, "one that is not understood: %d %s", a.Status, a.Body)
	code, out, _ := s.CLI("doctor")
	assert.That(t, code == 1 && strings.Contains(out, "pi_3"), "doctor does not list it: %s", out)
	unknown := strings.Replace(stripeEvent(t, "session", "evt_6", nil), `"checkout.session.completed"`, `"invoice.paid"`, 1)
	a = send(unknown, secret, now)
	assert.That(t, a.Status == 200 && len(orders()) == 2, "an unknown type: %d %s", a.Status, a.Body)
}
