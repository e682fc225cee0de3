package store

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// told is a test's Stripe event: a kind and its object.
type told struct {
	id, kind string
	object   map[string]any
}

// tell sends an event with a valid signature.
func (s *fixture) tell(e told) Received {
	s.T.Helper()
	body := []byte(asJSON(map[string]any{"id": e.id, "object": "event", "type": e.kind, "created": 1, "data": map[string]any{"object": e.object}}))
	r, err := s.Receive(background, stripe, body, Signed{Signature: stripeSigned(body, stripeSecret, s.now())})
	assert.OK(s.T, err)
	return r
}

type object = map[string]any

func checkout(total int64) told {
	return told{"evt_checkout", "checkout.session.completed", object{
		"id": "cs_1", "mode": "subscription", "payment_status": "paid", "subscription": "sub_1", "invoice": "in_1", "currency": "usd",
		"amount_total": total, "customer_details": object{"email": "sue@example.com", "name": "Sue"}, "metadata": object{"sku": "PLUGIN", "tier": "pro", "qty": "2"},
	}}
}

// paidInvoice is the n-th invoice; even ones have the fields of the API of 2025.
func paidInvoice(n int, total int64, end exact.Instant) told {
	reason := "subscription_cycle"
	if n == 1 {
		reason = "subscription_create"
	}
	o := object{
		"id": fmt.Sprintf("in_%d", n), "billing_reason": reason, "currency": "usd", "amount_paid": total, "total": total, "period_end": int64(end - 99),
		"lines": object{"data": []any{object{"period": object{"end": int64(end - 10)}}, object{"period": object{"end": int64(end)}}}},
	}
	intent, charge := fmt.Sprintf("pi_%d", n), fmt.Sprintf("ch_%d", n)
	if n%2 == 1 {
		o["subscription"], o["payment_intent"], o["charge"] = "sub_1", intent, charge
	} else {
		o["parent"] = object{"subscription_details": object{"subscription": "sub_1"}}
		o["payments"] = object{"data": []any{object{"payment": object{"type": "payment_intent", "payment_intent": intent}}}}
	}
	return told{fmt.Sprintf("evt_invoice_%d", n), "invoice.paid", o}
}

// lateInvoice is the n-th invoice in the API since 2025-03-31: without a payment intent or charge. paymentOf names the
// intent that paid it.
func lateInvoice(n int, total int64, end exact.Instant) told {
	e := paidInvoice(n, total, end)
	for _, gone := range []string{"subscription", "payment_intent", "charge", "payments"} {
		delete(e.object, gone)
	}
	e.object["parent"] = object{"type": "subscription_details", "subscription_details": object{"subscription": "sub_1"}}
	return e
}

func paymentOf(n int) told {
	return told{fmt.Sprintf("evt_invoice_payment_%d", n), "invoice_payment.paid", object{
		"id": fmt.Sprintf("inpay_%d", n), "object": "invoice_payment", "invoice": fmt.Sprintf("in_%d", n), "status": "paid",
		"payment": object{"type": "payment_intent", "payment_intent": fmt.Sprintf("pi_%d", n)},
	}}
}

func givenBack(n int, cents int64) told {
	return told{fmt.Sprintf("evt_refund_%d_%d", n, cents), "charge.refunded", object{
		"id": fmt.Sprintf("ch_%d", n), "payment_intent": fmt.Sprintf("pi_%d", n), "currency": "usd", "amount_refunded": cents,
	}}
}

func disputed(n int, cents int64, status string) told {
	kind := "created"
	if status == disputeWon || status == disputeLost {
		kind = "closed"
	}
	return told{fmt.Sprintf("evt_dispute_%d_%s", n, status), "charge.dispute." + kind, object{
		"id": fmt.Sprintf("dp_%d", n), "charge": fmt.Sprintf("ch_%d", n), "payment_intent": fmt.Sprintf("pi_%d", n), "amount": cents, "currency": "usd", "status": status,
	}}
}

// outcome is everything that does not depend on the order of events.
func (s *fixture) outcome() string {
	s.T.Helper()
	var lines []string
	orders, err := s.Orders(background, OrderFilter{})
	assert.OK(s.T, err)
	for _, o := range orders.Orders {
		lines = append(lines, fmt.Sprintf("order of %s: %s %d of %d, renews %d", deref(o.Subscription), o.Status, o.RefundedCents, o.TotalCents, len(o.Renews)))
	}
	licenses, err := s.Licenses(background, admin, LicenseFilter{})
	assert.OK(s.T, err)
	for _, l := range licenses.Licenses {
		lines = append(lines, fmt.Sprintf("license: %s until %s", l.Status, l.ExpiresAt))
	}
	unbooked, err := s.Unbooked(background)
	assert.OK(s.T, err)
	lines = append(lines, fmt.Sprintf("unbooked: %d", len(unbooked.Payments)))
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func deref(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}

// TestEventsInAnyOrder: in any order of Stripe's events, and repeated any number of times, they give the same orders,
// refunds and licenses, and every invariant holds.
func TestEventsInAnyOrder(t *testing.T) {
	month := exact.Instant(30 * day)
	start := exact.InstantOf(opening)
	first := []told{checkout(9800), paidInvoice(1, 9800, start+month)}
	renewals := append(slices.Clone(first), paidInvoice(2, 9800, start+2*month), paidInvoice(3, 9800, start+3*month))
	late := []told{checkout(9800)}
	for n := 1; n <= 3; n++ {
		late = append(late, lateInvoice(n, 9800, start+exact.Instant(n)*month), paymentOf(n))
	}
	for name, c := range map[string]struct {
		events []told
		ends   exact.Instant // of the licenses
		status string
	}{
		"a checkout and its invoice":              {first, start + month + 3*day, "active"},
		"a trial":                                 {[]told{checkout(0), paidInvoice(1, 0, start+14*day)}, start + 17*day, "active"},
		"renewals":                                {renewals, start + 3*month + 3*day, "active"},
		"the end of it":                           {append(slices.Clone(renewals), told{"evt_end", "customer.subscription.deleted", object{"id": "sub_1"}}), start + 3*month + 3*day, "active"},
		"the last renewal is given back":          {append(slices.Clone(renewals), givenBack(3, 9800)), start + 2*month + 3*day, "active"},
		"a renewal that was followed":             {append(slices.Clone(renewals), givenBack(2, 9800)), start + 3*month + 3*day, "active"},
		"a part of a renewal":                     {append(slices.Clone(renewals), givenBack(3, 500), givenBack(3, 900)), start + 3*month + 3*day, "active"},
		"the first payment is given back":         {append(slices.Clone(first), givenBack(1, 9800)), start + 7*day, "revoked"},
		"a dispute that is open":                  {append(slices.Clone(renewals), disputed(2, 9800, "needs_response")), start + 3*month + 3*day, "suspended"},
		"a dispute that is won":                   {append(slices.Clone(renewals), disputed(2, 9800, "needs_response"), disputed(2, 9800, "won")), start + 3*month + 3*day, "active"},
		"a dispute that is lost":                  {append(slices.Clone(renewals), disputed(3, 9800, "needs_response"), disputed(3, 9800, "lost")), start + 2*month + 3*day, "active"},
		"a part that is lost":                     {append(slices.Clone(renewals), disputed(3, 900, "needs_response"), disputed(3, 900, "lost"), givenBack(3, 100)), start + 3*month + 3*day, "active"},
		"an inquiry":                              {append(slices.Clone(first), disputed(1, 9800, "warning_needs_response")), start + month + 3*day, "active"},
		"the first payment is lost":               {append(slices.Clone(first), disputed(1, 9800, "needs_response"), disputed(1, 9800, "lost")), start + 7*day, "revoked"},
		"a renewal is given back, told by intent": {append(slices.Clone(late), givenBack(3, 9800)), start + 2*month + 3*day, "active"},
		"the first is given back, by intent":      {append(slices.Clone(late[:3]), givenBack(1, 9800)), start + 7*day, "revoked"},
		"a dispute that is open, by intent":       {append(slices.Clone(late), disputed(2, 9800, "needs_response")), start + 3*month + 3*day, "suspended"},
		"a dispute that is lost, by intent":       {append(slices.Clone(late), disputed(3, 9800, "lost")), start + 2*month + 3*day, "active"},
		"a dispute beside a refund in part":       {append(slices.Clone(first), disputed(1, 9000, "lost"), givenBack(1, 800)), start + 7*day, "revoked"},
	} {
		t.Run(name, func(t *testing.T) {
			want := ""
			pick := rand.New(rand.NewPCG(1, uint64(len(name))))
			for n := range 12 {
				order := slices.Clone(c.events)
				if n > 0 {
					for range pick.IntN(3) { // some twice
						again := order[pick.IntN(len(order))]
						again.id, again.object = fmt.Sprintf("%s_again%d", again.id, n), maps.Clone(again.object)
						order = append(order, again)
					}
					pick.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
				}
				s := newStripeFixture(t)
				var ids []string
				for _, e := range order {
					s.tell(e)
					s.tell(e)
					ids = append(ids, e.id)
					if n >= 6 && c.ends != start+7*day { // late; seven days count from the checkout's arrival
						s.pass(time.Duration(pick.Int64N(int64(5 * time.Hour))))
					}
				}
				equal(t, "licenses", s.count("SELECT count(*) FROM store_licenses"), int64(2))
				equal(t, "orders that issued", s.count("SELECT count(DISTINCT order_id) FROM store_licenses"), int64(1))
				got := s.outcome()
				if n == 0 {
					want = got
					line := fmt.Sprintf("license: %s until %s", c.status, c.ends)
					assert.Must(t, strings.Count(want, line) == 2, "want two of %q in\n%s", line, want)
				}
				assert.Must(t, got == want, "%s give\n%s\nand in their own order they gave\n%s", ids, got, want)
				if t.Failed() {
					return
				}
			}
		})
	}
}

func TestARenewalIssuesNothing(t *testing.T) {
	s := newStripeFixture(t)
	start := s.now()
	s.tell(checkout(9800))
	issued := val(s.Licenses(background, admin, LicenseFilter{}))
	l := issued.Licenses[0]
	equal(t, "until an invoice tells", *l.ExpiresAt, start+7*day)
	equal(t, "subscription", deref(l.Subscription), "sub_1")
	s.tell(paidInvoice(1, 9800, start+30*day))
	s.pass(30 * day * 1e9)
	r := s.tell(paidInvoice(2, 12000, start+60*day))
	equal(t, "outcome", r.Outcome, "recorded")
	equal(t, "licenses", s.count("SELECT count(*) FROM store_licenses"), int64(2))
	orders := val(s.Orders(background, OrderFilter{}))
	o := orders.Orders[0]
	equal(t, "renews", asJSON(o.Renews), "[1,2]")
	equal(t, "names", o.ProviderRef+" "+deref(o.Subscription), "pi_2 sub_1")
	equal(t, "amounts", fmt.Sprint(o.SubtotalCents, o.DiscountCents, o.TotalCents), "12000 0 12000")
	e := s.events()
	last := e[len(e)-1]
	assert.That(t, last.Event == "order.paid" && strings.Contains(asJSON(last.Data), l.Key),
		"the renewal's event is %s, without the key in full", last.Event)
	equal(t, "unknown", s.tell(told{"evt_x", "invoice.paid", object{"id": "in_9", "subscription": "sub_9", "currency": "usd", "amount_paid": 100}}).Outcome, "unclear")
	val(do2(s, cli, dismissPayment, "stripe", "in_9"))
	val(do2(s, cli, extendLicense, 1, Extension{Days: 365}))
	s.tell(paidInvoice(3, 9800, start+90*day))
	extended := val(s.Licenses(background, admin, LicenseFilter{}))
	equal(t, "extended stays", *extended.Licenses[1].ExpiresAt, start+60*day+3*day+365*day)
	equal(t, "the other moves", *extended.Licenses[0].ExpiresAt, start+93*day)
}

// TestABuyerOpensTheReceiptsOfRenewals: with the first order or its key, but no other order of the same customer.
func TestABuyerOpensTheReceiptsOfRenewals(t *testing.T) {
	s := newStripeFixture(t)
	start := s.now()
	s.tell(checkout(9800))
	s.tell(paidInvoice(1, 9800, start+30*day))
	s.tell(paidInvoice(2, 12000, start+60*day))
	other := val(do(s, cli, recordOrder, NewOrder{Email: "sue@example.com", Lines: []NewLine{{SKU: "PLUGIN"}}}))
	list := val(s.Orders(background, OrderFilter{})).Orders
	renewed, first := list[1].OrderRef, list[2].OrderRef
	for _, opened := range []int64{val(s.OpenBuyer(background, "", first, "sue@example.com", "")), 1} {
		sue := db.Caller{Service: "store", User: "buyer", Role: "member", Scope: "full", Via: "buyer", Subject: opened}
		m := val(s.Mine(background, sue))
		equal(t, "orders and keys", fmt.Sprint(len(m.Orders), len(m.Licenses)+len(m.Others)), "2 2")
		equal(t, "the newest first", m.Orders[0].OrderRef+" "+m.Orders[1].OrderRef, renewed+" "+first)
		equal(t, "the renewal's receipt", val(s.MyOrder(background, sue, renewed)).TotalCents, int64(12000))
		_, err := s.MyOrder(background, sue, other.OrderRef)
		refused(t, err, "not_found")
	}
}

// TestDisputesAndStaff: a suspension by staff outlasts a dispute that is won, and staff may resume a license while one
// is open.
func TestDisputesAndStaff(t *testing.T) {
	s := newStripeFixture(t)
	s.tell(checkout(9800))
	s.tell(paidInvoice(1, 9800, s.now()+30*day))
	s.tell(disputed(1, 9800, "needs_response"))
	val(do2(s, cli, moveLicense, 1, stateSuspended))
	l := val(do2(s, cli, moveLicense, 2, stateActive))
	equal(t, "resumed", l.Status, "active")
	s.tell(disputed(1, 9800, "won"))
	list := val(s.Licenses(background, admin, LicenseFilter{}))
	equal(t, "staff's stays", list.Licenses[1].Status, "suspended")
	equal(t, "the other", list.Licenses[0].Status, "active")
}

// TestARefundThatWaitsADayIsUnbooked: a refund or dispute without an order is reported to the owner after a day and can
// be dismissed. A later one is reported again.
func TestARefundThatWaitsADayIsUnbooked(t *testing.T) {
	s := newStripeFixture(t)
	s.tell(checkout(9800))
	s.tell(lateInvoice(1, 9800, s.now()+30*day))
	for _, e := range []told{givenBack(1, 9800), disputed(7, 9800, "needs_response")} {
		equal(t, e.kind, s.tell(e).Outcome, "kept")
	}
	equal(t, "on the day itself", len(s.doctor()), 0)
	s.pass(24*time.Hour + time.Second)
	list := val(s.Unbooked(background))
	equal(t, "after a day", len(list.Payments), 2)
	equal(t, "the refund", list.Payments[0].Ref+" "+list.Payments[0].Event, "pi_1 evt_refund_1_9800")
	equal(t, "the dispute", list.Payments[1].Ref+" "+list.Payments[1].Event, "pi_7 evt_dispute_7_needs_response")
	if why := list.Payments[0].Remedy; !strings.Contains(why, "98.00 USD has waited") || !strings.Contains(why, "invoice_payment.paid") {
		t.Errorf("the owner is told %q", why)
	}
	n := val(s.CountUnbooked(background))
	equal(t, "the metric", n, int64(2))
	equal(t, "the header", val(s.CountWaiting(background)), n+int64(val(s.NeedsAttention(background)).DisputesTotal)+
		val(s.NeedsAttention(background)).FailedTotal)
	equal(t, "doctor", len(s.doctor()), 2)

	equal(t, "which intent paid it", s.tell(paymentOf(1)).Outcome, "recorded")
	orders := val(s.Orders(background, OrderFilter{}))
	equal(t, "the order", orders.Orders[0].Status, "refunded")
	val(do2(s, cli, dismissPayment, "stripe", "pi_7"))
	equal(t, "what is left", len(s.doctor()), 0)
	equal(t, "sent again", s.tell(told{"evt_again", "charge.dispute.created", disputed(7, 9800, "needs_response").object}).Outcome, "kept")
	s.pass(25 * time.Hour)
	equal(t, "dismissed stays", len(s.doctor()), 0)
	s.tell(disputed(7, 9800, "lost"))
	s.pass(25 * time.Hour)
	equal(t, "what came of it", len(s.doctor()), 1)
	_, err := do2(s, cli, dismissPayment, "stripe", "pi_99")
	refused(t, err, "not_found", "pi_99")
}
