package store

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

const stripeSecret = "whsec_test_5WbX9hJ2kLmN"

// newStripeFixture is a fixture with a Stripe secret.
func newStripeFixture(t testing.TB) *fixture {
	s := newFixture(t)
	val(do2(s, cli, setProviderSecret, "stripe", stripeSecret))
	return s
}

// stripeBody is a documented body with some of its fields replaced. A path such as "metadata.sku" is below data.object;
// one that begins with a dot is at the top.
func stripeBody(t testing.TB, file string, set map[string]any) []byte {
	t.Helper()
	raw := val(os.ReadFile("testdata/stripe/" + file + ".json"))
	var body map[string]any
	assert.OK(t, json.Unmarshal(raw, &body))
	for path, v := range set {
		at := body
		if rest, top := strings.CutPrefix(path, "."); top {
			path = rest
		} else {
			at = body["data"].(map[string]any)["object"].(map[string]any)
		}
		names := strings.Split(path, ".")
		for _, name := range names[:len(names)-1] {
			at = at[name].(map[string]any)
		}
		at[names[len(names)-1]] = v
	}
	b := val(json.MarshalIndent(body, "", "  "))
	return b
}

// stripeSigned is the Stripe-Signature of the body by the scheme that Stripe
// documents: HMAC-SHA256 over time, a dot and the body.
func stripeSigned(body []byte, secret string, at exact.Instant) string {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%d.%s", at, body)
	return fmt.Sprintf("t=%d,v1=%s,v0=%s", at, hex.EncodeToString(mac.Sum(nil)), strings.Repeat("0", 64))
}

// stripe sends a body with a valid signature.
func (s *fixture) stripe(file string, set map[string]any) Received {
	s.T.Helper()
	body := stripeBody(s.T, file, set)
	r, err := s.Receive(background, stripe, body, Signed{Signature: stripeSigned(body, stripeSecret, s.now())})
	assert.OK(s.T, err)
	return r
}

const paymentIntent = "pi_3SgQm72eZvKYlo2C0aLw9Dxy"

func (s *fixture) payment() OrderDetail {
	s.T.Helper()
	d, err := db.Read(background, s.DB, func(c *db.Conn) (OrderDetail, error) {
		d, found, err := findPayment(c, "stripe", paymentIntent)
		if err == nil && !found {
			err = fmt.Errorf("no order")
		}
		return d, err
	})
	assert.OK(s.T, err)
	return d
}

func TestAPaidSessionBecomesAnOrder(t *testing.T) {
	s := newStripeFixture(t)
	r := s.stripe("session", nil)
	equal(t, "outcome", r.Outcome, "recorded")
	o := s.payment()
	equal(t, "customer", o.Customer.Email+" "+o.Customer.Name, "ann@example.com Ann Lee")
	equal(t, "item", asJSON(o.Items), `[{"sku":"PLUGIN","name":"Audio plugin","tier":"pro","qty":2,"unit_cents":4900,"total_cents":9800}]`)
	equal(t, "currency", o.Currency, "USD")
	equal(t, "amounts", fmt.Sprint(o.SubtotalCents, o.DiscountCents, o.TaxCents, o.TotalCents), "9800 980 1568 10388")
	equal(t, "licenses", len(o.Licenses), 2)
	equal(t, "paid at", o.PaidAt, s.now())
	equal(t, "check", s.check(o.Licenses[1].Key, "").Code, "valid")
	equal(t, "events", s.eventNames(), "order.paid")
	equal(t, "via", s.count("SELECT count(*) FROM audit WHERE via = 'provider' AND actor = 'stripe'"), int64(2))
}

func TestAmountsOfASessionAddUp(t *testing.T) {
	for name, c := range map[string]struct {
		set  map[string]any
		want string // subtotal, discount, tax, total
	}{
		"a tax in the price":  {map[string]any{"amount_subtotal": 9800, "amount_total": 9800, "total_details.amount_discount": 0, "total_details.amount_tax": 1564}, "8236 0 1564 9800"},
		"not to be divided":   {map[string]any{"amount_total": 9999, "total_details.amount_discount": 0, "total_details.amount_tax": 0}, "10000 1 0 9999"},
		"no details":          {map[string]any{"amount_total": 500, "total_details": nil}, "500 0 0 500"},
		"nothing but tax":     {map[string]any{"amount_total": 500, "total_details.amount_discount": 0, "total_details.amount_tax": 500}, "0 0 500 500"},
		"all of it taken off": {map[string]any{"amount_total": 0, "total_details.amount_discount": 9800, "total_details.amount_tax": 0}, "9800 9800 0 0"},
	} {
		s := newStripeFixture(t)
		equal(t, name, s.stripe("session", c.set).Outcome, "recorded")
		o := s.payment()
		equal(t, name, fmt.Sprint(o.SubtotalCents, o.DiscountCents, o.TaxCents, o.TotalCents), c.want)
	}
}

func TestSignaturesThatAreRefused(t *testing.T) {
	s := newStripeFixture(t)
	body := stripeBody(t, "session", nil)
	now := s.now()
	good := stripeSigned(body, stripeSecret, now)
	for name, c := range map[string]struct {
		header string
		body   []byte
	}{
		"none":               {"", body},
		"another secret":     {stripeSigned(body, "whsec_other", now), body},
		"old":                {stripeSigned(body, stripeSecret, now-301), body},
		"from the future":    {stripeSigned(body, stripeSecret, now+301), body},
		"another time":       {strings.Replace(good, fmt.Sprintf("t=%d", now), fmt.Sprintf("t=%d", now+1), 1), body},
		"another body":       {good, append([]byte(" "), body...)},
		"only the old v0":    {strings.Replace(good, "v1=", "v0=", 1), body},
		"no time":            {strings.Replace(good, "t=", "x=", 1), body},
		"two times":          {fmt.Sprintf("t=%d,%s", now, good), body},
		"cut short":          {good[:60], body},
		"garbage":            {"v1", body},
		"not hexadecimal":    {fmt.Sprintf("t=%d,v1=%s", now, strings.Repeat("zz", 32)), body},
		"an empty signature": {fmt.Sprintf("t=%d,v1=", now), body},
	} {
		_, err := s.Receive(background, stripe, c.body, Signed{Signature: c.header})
		if err == nil {
			t.Errorf("%s: was taken", name)
			continue
		}
		refused(t, err, "bad_request", "Stripe-Signature")
	}
	for _, table := range []string{"store_orders", "store_customers", "store_provider_events", "store_unbooked", "events"} {
		equal(t, table, s.count("SELECT count(*) FROM "+table), int64(0))
	}
	for _, at := range []exact.Instant{now - 300, now + 300} {
		val(s.Receive(background, stripe, body, Signed{Signature: stripeSigned(body, stripeSecret, at)}))
	}
	rolled := strings.Replace(stripeSigned(body, "whsec_other", now), ",v0=", ","+good[strings.Index(good, "v1="):strings.Index(good, ",v0")]+",v0=", 1)
	val(s.Receive(background, stripe, body, Signed{Signature: rolled}))
	equal(t, "orders", s.count("SELECT count(*) FROM store_orders"), int64(1))
}

func TestSecretAppliesAtOnce(t *testing.T) {
	s := newFixture(t)
	body := stripeBody(t, "session", nil)
	_, err := s.Receive(background, stripe, body, Signed{Signature: stripeSigned(body, "", s.now())})
	refused(t, err, "bad_request", "store provider set stripe")
	for _, secret := range []string{"whsec_one", "whsec_two"} {
		val(do2(s, cli, setProviderSecret, "stripe", secret))
		val(s.Receive(background, stripe, body, Signed{Signature: stripeSigned(body, secret, s.now())}))
	}
	_, err = s.Receive(background, stripe, body, Signed{Signature: stripeSigned(body, "whsec_one", s.now())})
	refused(t, err, "bad_request")
	equal(t, "secrets in the audit trail", s.count("SELECT count(*) FROM audit WHERE changes LIKE '%whsec%' OR subject LIKE '%whsec%'"), int64(0))
	_, err = s.command(s.setProvider(), cli, "provider=paypal", "secret=x")
	refused(t, err, "validation", "stripe")
	_, err = do2(s, cli, setProviderSecret, "stripe", "  ")
	refused(t, err, "validation", "secret")
}

func TestTheSameEventTwiceIsDoneOnce(t *testing.T) {
	s := newStripeFixture(t)
	equal(t, "first", s.stripe("session", nil).Outcome, "recorded")
	s.pass(time.Minute)
	equal(t, "replayed", s.stripe("session", nil).Outcome, "repeated")
	equal(t, "told by another event", s.stripe("session", map[string]any{".id": "evt_2", ".type": "checkout.session.async_payment_succeeded"}).Outcome, "repeated")
	equal(t, "refund", s.stripe("charge", nil).Outcome, "refunded")
	equal(t, "refund replayed", s.stripe("charge", nil).Outcome, "repeated")
	equal(t, "paid again after the refund", s.stripe("session", map[string]any{".id": "evt_3"}).Outcome, "repeated")
	equal(t, "orders", s.count("SELECT count(*) FROM store_orders"), int64(1))
	equal(t, "licenses", s.count("SELECT count(*) FROM store_licenses"), int64(2))
	equal(t, "events", s.eventNames(), "order.paid order.refunded")
}

func TestTheSameEventRacesWithItself(t *testing.T) {
	s := newStripeFixture(t)
	body := stripeBody(t, "session", nil)
	race(20, func(i int) {
		_, err := s.Receive(background, stripe, body, Signed{Signature: stripeSigned(body, stripeSecret, s.now())})
		assert.NoError(t, err, "event %d", i)
	})
	equal(t, "orders", s.count("SELECT count(*) FROM store_orders"), int64(1))
	equal(t, "events", s.eventNames(), "order.paid")
}

func TestDelayedPayment(t *testing.T) {
	s := newStripeFixture(t)
	equal(t, "not paid yet", s.stripe("session", map[string]any{"payment_status": "unpaid"}).Outcome, "ignored")
	equal(t, "orders", s.count("SELECT count(*) FROM store_orders"), int64(0))
	equal(t, "paid", s.stripe("session", map[string]any{".id": "evt_2", ".type": "checkout.session.async_payment_succeeded"}).Outcome, "recorded")
	equal(t, "unknown type", s.stripe("session", map[string]any{".id": "evt_3", ".type": "customer.created"}).Outcome, "ignored")
	equal(t, "nothing is kept of it", s.count("SELECT count(*) FROM store_provider_events"), int64(1))
}

func TestRefundsAreRunningTotals(t *testing.T) {
	s := newStripeFixture(t)
	s.stripe("session", nil)
	refund := func(id string, cents int) Received {
		return s.stripe("charge", map[string]any{".id": id, "amount_refunded": cents, "refunded": cents == 10388})
	}
	equal(t, "in part", refund("evt_a", 1000).Outcome, "refunded")
	equal(t, "refunded", s.payment().RefundedCents, int64(1000))
	equal(t, "an older one that comes late", refund("evt_b", 600).Outcome, "repeated")
	equal(t, "more", refund("evt_c", 3000).Outcome, "refunded")
	equal(t, "status", s.payment().Status, "paid")
	equal(t, "check", s.check(s.payment().Licenses[0].Key, "").Code, "valid")
	equal(t, "all", refund("evt_d", 10388).Outcome, "refunded")
	equal(t, "status", s.payment().Status, "refunded")
	equal(t, "check", s.check(s.payment().Licenses[0].Key, "").Code, "revoked")
	equal(t, "more than was paid", refund("evt_e", 99999).Outcome, "repeated")
	equal(t, "refunded", s.payment().RefundedCents, int64(10388))
	equal(t, "events", s.eventNames(), "order.paid order.refunded order.refunded order.refunded")
}

func TestARefundBeforeItsPayment(t *testing.T) {
	for _, c := range []struct {
		cents  []int
		status string
		code   string
	}{{[]int{10388}, "refunded", "revoked"}, {[]int{2000, 500}, "paid", "valid"}, {[]int{20000}, "refunded", "revoked"}} {
		s := newStripeFixture(t)
		for i, cents := range c.cents {
			r := s.stripe("charge", map[string]any{".id": fmt.Sprint("evt_r", i), "amount_refunded": cents})
			equal(t, "outcome", r.Outcome, "kept")
		}
		equal(t, "orders", s.count("SELECT count(*) FROM store_orders"), int64(0))
		equal(t, "then the payment", s.stripe("session", nil).Outcome, "recorded")
		o := s.payment()
		equal(t, "status", o.Status, c.status)
		equal(t, "refunded", o.RefundedCents, int64(min(c.cents[0], 10388)))
		equal(t, "check", s.check(o.Licenses[0].Key, "").Code, c.code)
		equal(t, "events", s.eventNames(), "order.paid order.refunded")
		equal(t, "nothing waits", s.count("SELECT count(*) FROM store_payments WHERE order_id IS NULL"), int64(0))
	}
}

func TestAPaymentByItsLink(t *testing.T) {
	s := newStripeFixture(t)
	val(do(s, cli, mapProvider, Link{Provider: "stripe", Link: "plink_1Sg", SKU: "YEAR", Tier: db.NullText("team")}))
	byLink := map[string]any{"metadata": map[string]any{}, "payment_link": "plink_1Sg", "payment_intent": nil, "customer_details": nil, "customer_email": "bo@example.com"}
	equal(t, "outcome", s.stripe("session", byLink).Outcome, "recorded")
	p := val(s.Orders(background, OrderFilter{}))
	o := p.Orders[0]
	equal(t, "the session is the reference", o.ProviderRef, "cs_test_a1Qm7dJtXbW0n3yVh5KpLr9sZc2eFg4uTi6oAq8wEx")
	equal(t, "item", o.Items[0].SKU+" "+*o.Items[0].Tier, "YEAR team")
	equal(t, "email", o.Customer.Email, "bo@example.com")

	for _, c := range []struct{ provider, link, sku, tier, says string }{
		{"paypal", "plink_1", "YEAR", "", "PROVIDER"}, {"stripe", "", "YEAR", "", "PAYMENT_LINK"},
		{"stripe", "https://buy.stripe.com/x", "YEAR", "", "plink_"}, {"stripe", "plink_1", "NOPE", "", "sku"}, {"stripe", "plink_1", "PLUGIN", "gold", "tier"},
	} {
		_, err := s.command(s.mapProvider(), cli, "provider="+c.provider, "payment_link="+c.link, "sku="+c.sku, "tier="+c.tier)
		refused(t, err, "validation", c.says)
	}
}

func TestUnmatchedPaymentIsKept(t *testing.T) {
	for name, c := range map[string]struct {
		set  map[string]any
		says string
	}{
		"no product":       {map[string]any{"metadata": map[string]any{}}, "no sku"},
		"unknown product":  {map[string]any{"metadata.sku": "NOPE"}, "NOPE"},
		"unknown tier":     {map[string]any{"metadata.tier": "gold"}, "basic, pro"},
		"strange quantity": {map[string]any{"metadata.qty": "2.5"}, "2.5"},
		"unmapped link":    {map[string]any{"metadata": nil, "payment_link": "plink_9"}, "store provider map stripe plink_9"},
		"no address":       {map[string]any{"customer_details.email": nil}, "email"},
		"no total":         {map[string]any{"amount_total": nil}, "amount_total"},
		"odd total":        {map[string]any{"amount_total": 12.5}, "amount_total"},
		"no currency":      {map[string]any{"currency": "xyz"}, "currency"},
		"free":             {map[string]any{"payment_status": "no_payment_required", "amount_total": 0}, "nothing had to be paid"},
	} {
		s := newStripeFixture(t)
		var told []string
		s.OnNotice(func(text string) { told = append(told, text) })
		equal(t, name, s.stripe("session", c.set).Outcome, "unclear")
		equal(t, name+": orders", s.count("SELECT count(*) FROM store_orders"), int64(0))
		listed := s.doctor()
		if len(listed) != 1 || !strings.Contains(listed[0], c.says) || !strings.Contains(listed[0], paymentIntent) || !strings.Contains(listed[0], "store order record") {
			t.Errorf("%s: doctor lists %q", name, listed)
		}
		assert.That(t, len(told) == 1 && told[0] == listed[0], "%s: the log was told %q", name, told)
		assert.Lacks(t, told[0], "Ann", "%s: the log was told who the buyer", name)
		// Mapped, and the same event sent again by hand.
		equal(t, name+": again", s.stripe("session", nil).Outcome, "recorded")
		equal(t, name+": doctor", len(s.doctor()), 0)
	}
}

func TestResolvingAnUnmatchedPayment(t *testing.T) {
	lost := map[string]any{"metadata": nil}
	s := newStripeFixture(t)
	s.stripe("session", lost)
	val(do(s, cli, recordOrder, NewOrder{Email: "ann@example.com", SKU: "PLUGIN", Provider: "stripe", ProviderRef: paymentIntent}))
	equal(t, "recorded by hand", len(s.doctor()), 0)
	equal(t, "then sent again", s.stripe("session", nil).Outcome, "repeated")

	s = newStripeFixture(t)
	s.stripe("session", lost)
	equal(t, "refunded at Stripe", s.stripe("charge", nil).Outcome, "kept")
	equal(t, "doctor", len(s.doctor()), 0)

	s = newStripeFixture(t)
	s.stripe("session", lost)
	val(do2(s, cli, dismissPayment, "stripe", paymentIntent))
	equal(t, "dismissed", len(s.doctor()), 0)
	_, err := do2(s, cli, dismissPayment, "stripe", paymentIntent)
	refused(t, err, "not_found", paymentIntent)

	s = newStripeFixture(t)
	s.stripe("session", nil)
	equal(t, "refund in another currency", s.stripe("charge", map[string]any{"currency": "eur"}).Outcome, "unclear")
	equal(t, "nothing is refunded", s.payment().RefundedCents, int64(0))
	if listed := s.doctor(); len(listed) != 1 || !strings.Contains(listed[0], "store order refund") || strings.Contains(listed[0], "store order record") {
		t.Errorf("doctor lists %q", listed)
	}
	val(do3(s, cli, refundOrder, s.payment().OrderRef, nil, ""))
	equal(t, "refunded by hand", len(s.doctor()), 0)
}

func TestInvalidEventBodies(t *testing.T) {
	s := newStripeFixture(t)
	for name, body := range map[string]string{
		"empty":           "",
		"not JSON":        "id=evt_1",
		"an array":        "[]",
		"no id":           `{"type":"charge.refunded","data":{"object":{}}}`,
		"no type":         `{"id":"evt_1","data":{"object":{}}}`,
		"no object":       `{"id":"evt_1","type":"charge.refunded","data":{}}`,
		"names twice":     `{"id":"evt_1","id":"evt_2","type":"x","data":{"object":{}}}`,
		"nested too deep": strings.Repeat("[", 100) + strings.Repeat("]", 100),
	} {
		_, err := s.Receive(background, stripe, []byte(body), Signed{Signature: stripeSigned([]byte(body), stripeSecret, s.now())})
		if err == nil {
			t.Errorf("%s: was taken", name)
			continue
		}
		refused(t, err, "bad_request")
	}
	equal(t, "events kept", s.count("SELECT count(*) FROM store_provider_events"), int64(0))
}
