package store

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

const (
	lemonSecret = "sunny-day-42"
	polarSecret = "polar_whs_demo"
)

// lemonSigned and polarSigned sign as the providers document it.
func lemonSigned(body, secret string) Signed {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return Signed{Signature: hex.EncodeToString(mac.Sum(nil))}
}

func polarSigned(id, body, secret string, at exact.Instant) Signed {
	mac := hmac.New(sha256.New, []byte(secret))
	fmt.Fprintf(mac, "%s.%d.%s", id, at, body)
	return Signed{ID: id, Time: fmt.Sprint(int64(at)), Signature: "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))}
}

// newTillFixture is a fixture with the secrets of all providers, and their names for PLUGIN, pro.
func newTillFixture(t testing.TB) *fixture {
	s := newFixture(t)
	for provider, secret := range map[string]string{stripe: stripeSecret, lemonSqueezy: lemonSecret, polar: polarSecret} {
		val(do2(s, cli, setProviderSecret, provider, secret))
	}
	for provider, theirs := range map[string]string{lemonSqueezy: "12345", polar: "prod_1"} {
		val(do(s, cli, mapProvider, Link{Provider: provider, Link: theirs, SKU: "PLUGIN", Tier: db.NullText("pro")}))
	}
	return s
}

// sent is a test's event of Lemon Squeezy or Polar.
type sent struct{ provider, id, body string }

func (s *fixture) send(e sent) Received {
	s.T.Helper()
	g := lemonSigned(e.body, lemonSecret)
	if e.provider == polar {
		g = polarSigned(e.id, e.body, polarSecret, s.now())
	}
	r, err := s.Receive(background, e.provider, []byte(e.body), g)
	assert.OK(s.T, err)
	return r
}

func stampOf(at exact.Instant) string { return at.Time().UTC().Format("2006-01-02T15:04:05.000000Z") }

// lemon is an event of Lemon Squeezy, with the documented attributes.
func lemon(kind, of, id string, at exact.Instant, attributes object) sent {
	attributes["updated_at"] = stampOf(at)
	if attributes["created_at"] == nil {
		attributes["created_at"] = stampOf(at)
	}
	return sent{lemonSqueezy, kind + id, asJSON(object{
		"meta": object{"event_name": kind, "test_mode": false}, "data": object{"type": of, "id": id, "attributes": attributes},
	})}
}

func lemonOrder(at exact.Instant) sent {
	return lemon("order_created", "orders", "9", at, object{
		"status": "paid", "user_name": "Sue", "user_email": "Sue@example.com", "currency": "EUR", "subtotal": 9800, "discount_total": 980, "tax": 1568, "total": 10388,
		"refunded_amount": 0, "first_order_item": object{"order_id": 9, "product_id": 678, "variant_id": 12345, "product_name": "Echo Pro", "variant_name": "EU", "quantity": 2},
	})
}

func lemonSubscription(kind, status string, at exact.Instant, renews, ends *exact.Instant) sent {
	o := object{"order_id": 9, "status": status, "renews_at": nil, "ends_at": nil, "user_email": "sue@example.com"}
	if renews != nil {
		o["renews_at"] = stampOf(*renews)
	}
	if ends != nil {
		o["ends_at"] = stampOf(*ends)
	}
	return lemon(kind, "subscriptions", "3", at, o)
}

func lemonInvoice(kind, id, reason string, at exact.Instant, given int64) sent {
	return lemon(kind, "subscription-invoices", id, at, object{
		"subscription_id": 3, "billing_reason": reason, "status": "paid", "currency": "EUR", "total": 10388, "tax": 1568, "discount_total": 980,
		"refunded_amount": given, "user_email": "sue@example.com", "user_name": "Sue",
	})
}

func polarPaid(id, reason string, at, end exact.Instant) sent {
	return polarEvent("order.paid", "o_"+id, at, polarData(id, reason, end, 0))
}

func polarData(id, reason string, end exact.Instant, given int64) object {
	status := "paid"
	if given > 0 {
		status = "refunded"
	}
	o := object{
		"id": id, "status": status, "subtotal_amount": 9800, "discount_amount": 980, "net_amount": 8820, "tax_amount": 1568, "total_amount": 10388,
		"refunded_amount": given * 8820 / 10388, "refunded_tax_amount": given * 1568 / 10388, "currency": "usd", "billing_reason": reason, "seats": nil, "product_id": "prod_1",
		"product": object{"name": "Echo Pro"}, "customer": object{"email": "sue@example.com", "name": "Sue"}, "subscription_id": nil, "subscription": nil,
	}
	if reason != "purchase" {
		o["subscription_id"], o["subscription"] = "sub_p", object{"id": "sub_p", "status": "active", "current_period_end": end.String()}
	}
	return o
}

func polarEvent(kind, id string, at exact.Instant, data object) sent {
	return sent{polar, "msg_" + kind + id, asJSON(object{"type": kind, "timestamp": stampOf(at), "data": data})}
}

func polarSubscription(kind, status string, at, end exact.Instant, cancels bool) sent {
	return polarEvent(kind, status+at.String(), at, object{"id": "sub_p", "status": status, "current_period_end": end.String(), "cancel_at_period_end": cancels, "ends_at": nil})
}

func (s *fixture) subscriptionStates() string {
	s.T.Helper()
	list, err := s.Subscriptions(background, SubscriptionFilter{})
	assert.OK(s.T, err)
	var lines []string
	for _, x := range list.Subscriptions {
		lines = append(lines, fmt.Sprintf("subscription %s %s: %s, %d licenses, renews %v, ends %v", x.Provider, x.Ref, x.State, len(x.Licenses), x.RenewsAt, x.EndsAt))
	}
	return strings.Join(lines, "\n")
}

// TestProviderEventsInAnyOrder: in any order of a provider's events, and repeated any number of times, they give the
// same orders, refunds, licenses and states.
func TestProviderEventsInAnyOrder(t *testing.T) {
	start := exact.InstantOf(opening)
	month := exact.Instant(30 * day)
	at := func(n exact.Instant) *exact.Instant { x := start + n; return &x }
	lemonBegin := []sent{
		lemonOrder(start), lemonSubscription("subscription_created", "active", start+2, at(month), nil), lemonInvoice("subscription_payment_success", "1", "initial", start+3, 0),
	}
	lemonRenewed := append(slices.Clone(lemonBegin), lemonInvoice("subscription_payment_success", "2", "renewal", start+month, 0),
		lemonSubscription("subscription_updated", "active", start+month+1, at(2*month), nil))
	polarBegin := []sent{polarPaid("o1", "subscription_create", start, start+month), polarSubscription("subscription.created", "active", start+1, start+month, false)}
	polarRenewed := append(slices.Clone(polarBegin), polarPaid("o2", "subscription_cycle", start+month, start+2*month))
	for name, c := range map[string]struct {
		events []sent
		says   []string
	}{
		"an order": {[]sent{lemonOrder(start)}, []string{"order of -: paid 0 of 10388", "license: active until <nil>"}},
		"an order that is given back in parts": {[]sent{lemonOrder(start), lemon("order_refunded", "orders", "9", start+5, object{"currency": "EUR", "total": 10388, "refunded_amount": 388}),
			lemon("order_refunded", "orders", "9", start+6, object{"currency": "EUR", "total": 10388, "refunded_amount": 500})}, []string{"order of -: paid 500 of 10388"}},
		"an order given back whole": {[]sent{lemonOrder(start), lemon("order_refunded", "orders", "9", start+6, object{"currency": "EUR", "total": 10388, "refunded_amount": 10388})},
			[]string{"order of -: refunded 10388 of 10388", "license: revoked"}},
		"a subscription":            {lemonBegin, []string{"order of 3: paid 0 of 10388", "license: active until " + (start + month + 3*day).String(), "3: active, 2 licenses"}},
		"without its first invoice": {lemonBegin[:2], []string{"license: active until " + (start + month + 3*day).String()}},
		"a renewal":                 {lemonRenewed, []string{"renews 2", "license: active until " + (start + 2*month + 3*day).String()}},
		"the first invoice is given back": {append(slices.Clone(lemonBegin), lemonInvoice("subscription_payment_refunded", "1", "initial", start+50, 10388)),
			[]string{"order of 3: refunded 10388 of 10388, renews 0"}},
		"a renewal is given back": {append(slices.Clone(lemonRenewed), lemonInvoice("subscription_payment_refunded", "2", "renewal", start+month+50, 10388)),
			[]string{"refunded 10388 of 10388, renews 2", "license: active until " + (start + month + 3*day).String()}},
		"a payment fails": {append(slices.Clone(lemonBegin), lemonInvoice("subscription_payment_failed", "2", "renewal", start+month, 0),
			lemonSubscription("subscription_updated", "past_due", start+month+1, at(month+day), nil)), []string{"3: past_due", "license: active until " + (start + month + 3*day).String()}},
		"and recovers": {append(slices.Clone(lemonRenewed), lemonInvoice("subscription_payment_failed", "2", "renewal", start+month-9, 0),
			lemonInvoice("subscription_payment_recovered", "2", "renewal", start+month+9, 0)), []string{"3: active", "license: active until " + (start + 2*month + 3*day).String()}},
		"it is cancelled": {append(slices.Clone(lemonBegin), lemonSubscription("subscription_cancelled", "cancelled", start+50, at(month), at(month))),
			[]string{"3: cancelled, 2 licenses, renews <nil>, ends " + (start + month).String()}},
		"and resumed, and ends": {append(slices.Clone(lemonBegin), lemonSubscription("subscription_cancelled", "cancelled", start+50, at(month), at(month)),
			lemonSubscription("subscription_resumed", "active", start+60, at(month), nil), lemonSubscription("subscription_expired", "expired", start+month, nil, at(month))), []string{"3: ended"}},
		"a change of plan":  {append(slices.Clone(lemonBegin), lemonInvoice("subscription_payment_success", "5", "updated", start+9*day, 0)), []string{"paid 0 of 10388, renews 2"}},
		"polar sells once":  {[]sent{polarPaid("o7", "purchase", start, 0)}, []string{"order of -: paid 0 of 10388"}},
		"polar's refund":    {[]sent{polarPaid("o1", "purchase", start, 0), polarEvent("order.refunded", "r", start+9, polarData("o1", "purchase", 0, 10388))}, []string{"order of -: refunded 10388"}},
		"polar renews":      {polarRenewed, []string{"order of sub_p: paid 0 of 10388, renews 1", "license: active until " + (start + 2*month + 3*day).String()}},
		"polar is past due": {append(slices.Clone(polarBegin), polarSubscription("subscription.past_due", "past_due", start+month, start+2*month, false)), []string{"sub_p: past_due"}},
		"polar is past due, then paid": {append(slices.Clone(polarBegin), polarSubscription("subscription.past_due", "past_due", start+month, start+2*month, false),
			polarPaid("o2", "subscription_cycle", start+month, start+2*month)), []string{"sub_p: active"}},
		"polar is cancelled": {append(slices.Clone(polarRenewed), polarSubscription("subscription.canceled", "active", start+month+9, start+2*month, true)),
			[]string{"sub_p: cancelled, 1 licenses, renews <nil>, ends " + (start + 2*month).String()}},
		"polar's cancelling is taken back": {append(slices.Clone(polarBegin), polarSubscription("subscription.canceled", "active", start+9, start+month, true),
			polarSubscription("subscription.uncanceled", "active", start+10, start+month, false)), []string{"sub_p: active"}},
		"polar revokes": {append(slices.Clone(polarBegin), polarSubscription("subscription.revoked", "canceled", start+9, start+month, false)), []string{"sub_p: ended"}},
	} {
		t.Run(name, func(t *testing.T) {
			want := ""
			pick := rand.New(rand.NewPCG(2, uint64(len(name))))
			for n := range 8 {
				order := slices.Clone(c.events)
				if n > 0 {
					pick.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
				}
				s := newTillFixture(t)
				var ids []string
				for _, e := range order {
					s.send(e)
					s.send(e)
					ids = append(ids, e.id)
				}
				got := s.outcome() + "\n" + s.subscriptionStates()
				if n == 0 {
					want = got
					for _, line := range c.says {
						assert.Must(t, strings.Contains(want, line), "want %q in\n%s", line, want)
					}
				}
				assert.Must(t, got == want, "%s give\n%s\nand in their own order they gave\n%s", ids, got, want)
			}
		})
	}
}

// TestSubscriptionsAreSortedForAgents: those past due come first, or those that renew next, page by page.
func TestSubscriptionsAreSortedForAgents(t *testing.T) {
	s := newTillFixture(t)
	start, month := exact.InstantOf(opening), exact.Instant(30*day)
	renews := start + 2*month
	for _, e := range []sent{
		lemonOrder(start), lemonSubscription("subscription_created", "active", start+2, &renews, nil),
		lemonSubscription("subscription_updated", "past_due", start+3, &renews, nil),
		polarPaid("o1", "subscription_create", start, start+month),
		polarSubscription("subscription.created", "active", start+1, start+month, false),
	} {
		s.send(e)
	}
	for sort, want := range map[string]string{sortTrouble: "3 sub_p", sortNext: "sub_p 3"} {
		var refs []string
		for after := int64(0); ; {
			f := SubscriptionFilter{Sort: sort}
			f.Limit, f.After = 1, after
			page := val(s.Subscriptions(background, f))
			for _, x := range page.Subscriptions {
				refs = append(refs, x.Ref)
			}
			if page.Next == nil {
				break
			}
			after = *page.Next
		}
		equal(t, sort, strings.Join(refs, " "), want)
	}
}

// TestSignaturesOfProviders: the contract's example signatures are accepted, and no others.
func TestSignaturesOfProviders(t *testing.T) {
	s := newTillFixture(t)
	s.At(time.Date(2026, time.November, 22, 12, 0, 0, 0, time.UTC))
	lemonBody := `{"meta":{"event_name":"order_created"},"data":{"type":"orders","id":"1"}}`
	polarBody := `{"type":"order.paid","data":{"id":"o1"}}`
	lemonSum := "0bd2226e5029ffb8d0450377aecabd94935c77a4d8ac1de4c7ed5fa9007257fc"
	polarSum := "v1,W7a5fIFy7+2pnhF2mOR4rpVAgjUYY+M6KS148lHsWyE="
	for name, c := range map[string]struct {
		provider, body string
		with           Signed
		isGood         bool
	}{
		"lemon":                  {lemonSqueezy, lemonBody, Signed{Signature: lemonSum}, true},
		"lemon, another body":    {lemonSqueezy, lemonBody + " ", Signed{Signature: lemonSum}, false},
		"lemon, none":            {lemonSqueezy, lemonBody, Signed{}, false},
		"lemon, cut":             {lemonSqueezy, lemonBody, Signed{Signature: lemonSum[:62]}, false},
		"lemon, its end differs": {lemonSqueezy, lemonBody, Signed{Signature: lemonSum[:63] + "0"}, false},
		"polar":                  {polar, polarBody, Signed{ID: "msg_1", Time: "1795348800", Signature: polarSum}, true},
		"polar, one of several":  {polar, polarBody, Signed{ID: "msg_1", Time: "1795348800", Signature: "v1a,x v1,AAAA " + polarSum}, true},
		"polar, another id":      {polar, polarBody, Signed{ID: "msg_2", Time: "1795348800", Signature: polarSum}, false},
		"polar, another time":    {polar, polarBody, Signed{ID: "msg_1", Time: "1795348801", Signature: polarSum}, false},
		"polar, old":             {polar, polarBody, polarSigned("msg_1", polarBody, polarSecret, 1795348800-301), false},
		"polar, none":            {polar, polarBody, Signed{ID: "msg_1", Time: "1795348800"}, false},
	} {
		_, err := s.Receive(background, c.provider, []byte(c.body), c.with)
		assert.That(t, c.isGood == (err == nil), "%s: %v", name, err)
		if err != nil {
			refused(t, err, "bad_request")
		}
	}
	list := val(s.Tills(background))
	equal(t, "what was refused stands on its page", list.Providers[1].RefusedAt != nil && list.Providers[2].RefusedAt != nil, true)
	val(do(s, cli, unsetProvider, polar))
	_, err := s.Receive(background, polar, []byte(polarBody), polarSigned("msg_9", polarBody, polarSecret, s.now()))
	refused(t, err, "bad_request", "store provider set polar")
}

// TestAnUnmappedProductWaitsAndIsBooked: a payment of an unmapped product waits with its buyer and amount, and is
// booked once its product is named.
func TestAnUnmappedProductWaitsAndIsBooked(t *testing.T) {
	s := newTillFixture(t)
	e := lemonOrder(s.now())
	e.body = strings.Replace(e.body, "12345", "777", 1)
	equal(t, "outcome", s.send(e).Outcome, "unclear")
	list := val(s.Unbooked(background))
	u := list.Payments[0]
	equal(t, "told", fmt.Sprint(u.Cause, *u.BuyerEmail, *u.BuyerName, *u.AmountCents, *u.Currency, *u.TheirProduct, *u.TheirName, *u.Qty),
		fmt.Sprint("unknown_product", "Sue@example.com", "Sue", 10388, "EUR", "777", "Echo Pro, EU", 2))
	r := val(do2(s, cli, retryPayment, lemonSqueezy, "9"))
	equal(t, "still waits", r.Booked, false)
	m := val(do(s, cli, mapProvider, Link{Provider: lemonSqueezy, Link: "777", SKU: "PLUGIN"}))
	equal(t, "booked", m.Booked, 1)
	o := val(s.Orders(background, OrderFilter{}))
	equal(t, "order", fmt.Sprint(o.Orders[0].Provider, o.Orders[0].ProviderRef, o.Orders[0].TotalCents, o.Orders[0].Items[0].UnitCents), fmt.Sprint("lemonsqueezy", "9", 10388, 4900))
	list = val(s.Unbooked(background))
	equal(t, "left", len(list.Payments), 0)
	equal(t, "nothing is kept of it", s.count("SELECT count(*) FROM store_unbooked"), int64(0))
	_, err := do2(s, cli, retryPayment, lemonSqueezy, "9")
	refused(t, err, "not_found")
	test := lemonOrder(s.now())
	test.body = strings.Replace(test.body, `"test_mode":false`, `"test_mode":true`, 1)
	equal(t, "test mode", s.send(test).Outcome, "ignored")
}

// TestASubscriptionIsLinked: a renewal without a checkout is booked for the licenses that a person names. Linking moves
// no end date, and a payment never moves one back.
func TestASubscriptionIsLinked(t *testing.T) {
	s := newTillFixture(t)
	mine := s.sell("YEAR", "sue@example.com", 1).Licenses[0]
	other := s.sell("YEAR", "bob@example.com", 1).Licenses[0]
	equal(t, "waits", s.send(polarPaid("o2", "subscription_cycle", s.now(), s.now()+400*day)).Outcome, "unclear")
	_, err := do3(s, cli, linkSubscription, polar, "sub_p", []int64{other.ID})
	refused(t, err, "conflict", "bob@example.com")
	got := val(do3(s, cli, linkSubscription, polar, "sub_p", []int64{mine.ID}))
	equal(t, "booked", got.Booked, 1)
	l := val(s.License(background, admin, mine.ID))
	equal(t, "moved on", *l.ExpiresAt, s.now()+403*day)
	s.send(polarPaid("o3", "subscription_cycle", s.now(), s.now()+30*day))
	l = val(s.License(background, admin, mine.ID))
	equal(t, "never back", *l.ExpiresAt, s.now()+403*day)
	equal(t, "state", *l.State, "active")
	_, err = do3(s, cli, linkSubscription, polar, "sub_q", []int64{mine.ID})
	refused(t, err, "conflict", "sub_p")
	_, err = do(s, cli, forgetCustomer, 1)
	refused(t, err, "conflict", "sub_p")
}

// TestStripeFailuresAndDisputes: a failed payment, a cancelled subscription, a dispute with its due date.
func TestStripeFailuresAndDisputes(t *testing.T) {
	s := newStripeFixture(t)
	now := s.now()
	s.tell(checkout(9800))
	s.tell(paidInvoice(1, 9800, now+30*day))
	tellAt := func(at exact.Instant, kind string, o object) {
		t.Helper()
		body := []byte(asJSON(object{"id": fmt.Sprint("evt_", kind, at), "type": kind, "created": int64(at), "data": object{"object": o}}))
		val(s.Receive(background, stripe, body, Signed{Signature: stripeSigned(body, stripeSecret, s.now())}))
	}
	tellAt(now+9, "invoice.payment_failed", object{"id": "in_2", "subscription": "sub_1", "currency": "usd", "amount_due": 9800, "next_payment_attempt": int64(now + 3*day)})
	n := val(s.NeedsAttention(background))
	equal(t, "past due", n.FailedTotal, int64(1))
	tellAt(now+9, "invoice.paid", paidInvoice(2, 9800, now+60*day).object)
	equal(t, "a tie goes to the payment", strings.Contains(s.subscriptionStates(), "sub_1: active"), true)
	tellAt(now+20, "customer.subscription.updated", object{"id": "sub_1", "status": "active", "cancel_at_period_end": true,
		"items": object{"data": []any{object{"current_period_end": int64(now + 60*day)}}}})
	equal(t, "cancelled", strings.Contains(s.subscriptionStates(), "cancelled, 2 licenses, renews <nil>, ends "+(now+60*day).String()), true)
	d := disputed(2, 9800, "needs_response").object
	d["evidence_details"], d["reason"] = object{"due_by": int64(now + 9*day)}, "fraudulent"
	tellAt(now+30, "charge.dispute.created", d)
	d["evidence_details"] = object{"due_by": 0}
	tellAt(now+25, "charge.dispute.updated", d)
	list := val(s.Disputes(background, disputeOpen))
	equal(t, "dispute", fmt.Sprint(list.Disputes[0].Ref, *list.Disputes[0].AnswerBy, list.Disputes[0].Reason), fmt.Sprint("dp_2", now+9*day, "fraudulent"))
	l := val(s.License(background, admin, 1))
	equal(t, "held by", deref(l.HeldBy)+" "+*l.State, "dp_2 cancelled")
	o := val(s.Orders(background, OrderFilter{}))
	equal(t, "order", fmt.Sprintf("%d %s %s", len(o.Orders[0].Disputes), o.Orders[0].Disputes[0].State, *o.Orders[0].State), "1 open cancelled")
}
