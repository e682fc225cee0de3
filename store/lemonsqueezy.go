package store

import (
	"slices"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
)

var lemonSqueezyStates = []string{
	"subscription_created", "subscription_updated", "subscription_cancelled", "subscription_resumed",
	"subscription_expired",
	"subscription_paused", "subscription_unpaused",
}

func lemonSqueezyTill() till {
	return till{
		name: lemonSqueezy, title: "Lemon Squeezy", hint: "SECRET", verify: verifyLemonSqueezy, read: readLemonSqueezy,
		handler: lemonSqueezyHandler,
		events: slices.Concat([]string{"order_created", "order_refunded"}, lemonSqueezyStates, []string{
			"subscription_payment_success", "subscription_payment_recovered", "subscription_payment_failed",
			"subscription_payment_refunded",
		}),
		notes: []string{
			"Turn license keys off there, or buyers get two.",
			"It tries 4 times in 3 minutes; after a longer outage press Resend there.",
		},
	}
}

// readLemonSqueezy reads an event. It has no id: its body identifies it.
func readLemonSqueezy(e *incoming, v strict.Value) error {
	e.kind, e.object = textAt(v, "meta", "event_name"), at(v, "data")
	if e.kind == "" || e.object.Kind() != strict.Object {
		return fault.Malformedf("the body is not a Lemon Squeezy event: meta.event_name and data are missing")
	}
	told := at(e.object, "attributes")
	if e.at = timeAt(told, "updated_at"); e.at == 0 {
		e.at = timeAt(told, "created_at")
	}
	e.test = at(v, "meta", "test_mode").Bool() || at(told, "test_mode").Bool()
	return nil
}

func lemonSqueezyHandler(e incoming) (handle handler, why string) {
	id, v := wordAt(e.object, "id"), at(e.object, "attributes")
	switch {
	case e.kind == "order_created":
		if textAt(v, "status") != "paid" {
			return nil, "the order is not paid"
		}
		x := lemonSqueezyOrder(id, v)
		return func(tx *db.Tx) (Received, error) { return bookSession(tx, e, x) }, ""
	case e.kind == "order_refunded":
		return e.refundOf(id, v)
	case slices.Contains(lemonSqueezyStates, e.kind):
		if id == "" {
			return nil, "the subscription has no id"
		}
		return func(tx *db.Tx) (Received, error) { return tell(tx, e, id, lemonSqueezyState(e, v)) }, ""
	case strings.HasPrefix(e.kind, "subscription_payment_"):
		return e.lemonSqueezyPayment(id, v)
	}
	return nil, unused
}

func lemonSqueezyOrder(id string, v strict.Value) session {
	item := at(v, "first_order_item")
	x := session{
		id: id, ref: id, status: "paid", mode: "payment", email: textAt(v, "user_email"), name: textAt(v, "user_name"),
		currency: textAt(v, "currency"),
		link:     wordAt(item, "variant_id"), qty: wordAt(item, "quantity"), theirName: textAt(item, "product_name"),
		paidAt: timeAt(v, "created_at"),
	}
	if variant := textAt(item, "variant_name"); variant != "" && variant != "Default" {
		x.theirName += ", " + variant
	}
	x.readAmounts(v, []string{"total"}, []string{"discount_total"}, []string{"tax"})
	return x
}

// refundOf reads a refund: refunded_amount is a running total.
func (e incoming) refundOf(ref string, v strict.Value) (handle handler, why string) {
	r := refund{ref: ref, names: []string{ref}, currency: strings.ToUpper(textAt(v, "currency"))}
	total, err := centsAt(v, "total")
	if err == nil {
		r.refunded, err = centsAt(v, "refunded_amount")
	}
	if err == nil && at(v, "refunded_amount").Kind() == strict.Null && at(v, "refunded").Bool() {
		r.refunded = total
	}
	r.full = r.refunded >= total
	if err != nil || ref == "" || r.refunded == 0 {
		return e.unreadable(firstOf(ref, e.id), true, "its id or refunded_amount cannot be read; "+lookThere("order")), ""
	}
	return func(tx *db.Tx) (Received, error) { return bookRefund(tx, e, r) }, ""
}

// lemonSqueezyState reads a subscription's state. While a payment is due, renews_at is its next attempt, and no
// period's end.
func lemonSqueezyState(e incoming, v strict.Value) standing {
	t := standing{state: subscriptionActive, at: e.at, order: wordAt(v, "order_id"), renews: instantAt(v, "renews_at")}
	switch textAt(v, "status") {
	case "expired":
		t.state, t.ends = subscriptionEnded, instantAt(v, "ends_at")
	case "past_due", "unpaid":
		t.state = subscriptionPastDue
	case "cancelled":
		t.state, t.ends = subscriptionCancelled, instantAt(v, "ends_at")
	default:
		t.period = t.renews
	}
	return t
}

// lemonSqueezyPayment reads an invoice of a subscription. The first one is the payment of the order
// that it began with.
func (e incoming) lemonSqueezyPayment(id string, v strict.Value) (handle handler, why string) {
	ref := "inv-" + id
	i := invoice{
		ref: ref, payment: ref, names: []string{ref}, subscription: wordAt(v, "subscription_id"),
		opens:      textAt(v, "billing_reason") == "initial",
		planChange: textAt(v, "billing_reason") == "updated", currency: strings.ToUpper(textAt(v, "currency")), paidAt: e.at,
		email: textAt(v, "user_email"), name: textAt(v, "user_name"),
	}
	i.readAmounts(v)
	switch {
	case id == "":
		return nil, "the payment has no id"
	case i.subscription == "":
		return nil, "the payment is of no subscription"
	}
	switch e.kind {
	case "subscription_payment_success", "subscription_payment_recovered":
		return func(tx *db.Tx) (Received, error) { return bookInvoice(tx, e, i) }, ""
	case "subscription_payment_failed":
		f := failure{subscription: i.subscription, currency: i.currency}
		if i.total > 0 {
			f.cents = &i.total
		}
		return func(tx *db.Tx) (Received, error) { return noteFailure(tx, e, f) }, ""
	case "subscription_payment_refunded":
		give, why := e.refundOf(ref, v)
		if !i.opens || i.reason != "" {
			return give, why
		}
		i.paidAt = timeAt(v, "created_at")
		return func(tx *db.Tx) (Received, error) { // the refund may come before the payment
			if _, err := noteInvoice(tx, e, i); err != nil {
				return Received{}, err
			}
			return give(tx)
		}, ""
	}
	return nil, unused
}
