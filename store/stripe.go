package store

import (
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
)

func stripeTill() till {
	return till{
		name: stripe, title: "Stripe", hint: "whsec_...", verify: verifyStripe, read: readStripe, handler: stripeHandler,
		events: []string{
			"checkout.session.completed", "checkout.session.async_payment_succeeded", "charge.refunded",
			"charge.dispute.created", "charge.dispute.updated", "charge.dispute.closed", "invoice.paid", "invoice_payment.paid",
			"invoice.payment_failed", "customer.subscription.updated", "customer.subscription.deleted",
		},
	}
}

func readStripe(e *incoming, v strict.Value) error {
	e.id, e.kind, e.object = textAt(v, "id"), textAt(v, "type"), at(v, "data", "object")
	if e.id == "" || e.kind == "" || e.object.Kind() != strict.Object {
		return fault.Malformedf("the body is not a Stripe event: id, type and data.object are missing")
	}
	if created := secondsAt(v, "created"); created != nil {
		e.at = microsOf(*created)
	}
	return nil
}

// stripeHandler returns what handles the event; nil, and why, for one that the store does not use.
func stripeHandler(e incoming) (handle handler, why string) {
	switch e.kind {
	case "checkout.session.completed", "checkout.session.async_payment_succeeded":
		x := readSession(e.object)
		if !x.calls() {
			return nil, "the session is not paid"
		}
		return func(tx *db.Tx) (Received, error) { return bookSession(tx, e, x) }, ""
	case "charge.refunded":
		r, err := readRefund(e.object)
		if err != nil {
			return e.unreadable(firstOf(r.ref, e.id), true, err.Error()), ""
		}
		return func(tx *db.Tx) (Received, error) { return bookRefund(tx, e, r) }, ""
	case "invoice.paid", "invoice.payment_failed":
		return stripeInvoice(e)
	case "invoice_payment.paid":
		names := readInvoicePayment(e.object)
		if names == nil {
			return nil, "the payment of an invoice does not name both"
		}
		return func(tx *db.Tx) (Received, error) { return bookInvoicePayment(tx, e, names) }, ""
	case "customer.subscription.updated", "customer.subscription.deleted":
		ref := textAt(e.object, "id")
		if ref == "" {
			return nil, "the subscription has no id"
		}
		return func(tx *db.Tx) (Received, error) { return tell(tx, e, ref, stripeState(e)) }, ""
	case "charge.dispute.created", "charge.dispute.updated", "charge.dispute.closed":
		p := readDispute(e)
		if p.inquiry {
			return nil, "an inquiry is not a dispute"
		}
		return func(tx *db.Tx) (Received, error) { return bookDispute(tx, e, p) }, ""
	}
	return nil, unused
}

const unused = "the store does not use this type of event"

func stripeInvoice(e incoming) (handle handler, why string) {
	i := readInvoice(e.object)
	if i.subscription == "" {
		return nil, "the invoice is of no subscription"
	}
	if e.kind == "invoice.paid" {
		return func(tx *db.Tx) (Received, error) { return bookInvoice(tx, e, i) }, ""
	}
	due, err := centsAt(e.object, "amount_due")
	f := failure{subscription: i.subscription, currency: i.currency, next: secondsAt(e.object, "next_payment_attempt")}
	if err == nil && due > 0 {
		f.cents = &due
	}
	return func(tx *db.Tx) (Received, error) { return noteFailure(tx, e, f) }, ""
}

// stripeState reads what Stripe says of a subscription. The period's end stands in it or, since the API
// of 2025-03-31, in its items.
func stripeState(e incoming) standing {
	v := e.object
	t := standing{state: subscriptionActive, at: e.at, ends: secondsAt(v, "cancel_at"),
		renews: secondsAt(v, "current_period_end")}
	for _, item := range at(v, "items", "data").Items {
		if end := secondsAt(item, "current_period_end"); end != nil && (t.renews == nil || *end > *t.renews) {
			t.renews = end
		}
	}
	switch status := textAt(v, "status"); {
	case e.kind == "customer.subscription.deleted" || status == "canceled" || status == "incomplete_expired":
		t.state = subscriptionEnded
	case status == "past_due" || status == "unpaid":
		t.state = subscriptionPastDue
	case at(v, "cancel_at_period_end").Bool() || t.ends != nil:
		t.state = subscriptionCancelled
	}
	if t.ends == nil && at(v, "cancel_at_period_end").Bool() {
		t.ends = t.renews
	}
	return t
}

func readRefund(v strict.Value) (refund, error) {
	r := refund{
		names:    []string{idAt(v, "payment_intent"), textAt(v, "id"), idAt(v, "invoice")},
		currency: strings.ToUpper(textAt(v, "currency")), full: at(v, "refunded").Bool(),
	}
	r.ref = firstOf(r.names...)
	var err error
	if r.refunded, err = centsAt(v, "amount_refunded"); err != nil || r.ref == "" || r.refunded == 0 {
		return r, fault.Invalidf("payment_intent or amount_refunded cannot be read; %s", lookThere("charge"))
	}
	return r, nil
}

// lookThere ends the reason of a refund that cannot be read.
func lookThere(what string) string {
	return "look at the " + what + " in the provider's dashboard, refund its order by hand with `store order refund`, " +
		"and dismiss this with `store provider dismiss`"
}
