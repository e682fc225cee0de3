package store

import (
	"slices"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
)

var polarStates = []string{
	"subscription.created", "subscription.active", "subscription.updated", "subscription.canceled",
	"subscription.uncanceled",
	"subscription.past_due", "subscription.revoked",
}

func polarTill() till {
	return till{
		name: polar, title: "Polar", hint: "polar_whs_...", verify: verifyStandard, read: readPolar, handler: polarHandler,
		events: append([]string{"order.paid", "order.refunded"}, polarStates...),
		notes:  []string{"Turn license keys off there, or buyers get two."},
	}
}

func readPolar(e *incoming, v strict.Value) error {
	e.kind, e.object = textAt(v, "type"), at(v, "data")
	if e.kind == "" || e.object.Kind() != strict.Object {
		return fault.Malformedf("the body is not a Polar event: type and data are missing")
	}
	if e.at = timeAt(v, "timestamp"); e.at == 0 {
		e.at = max(timeAt(e.object, "modified_at"), timeAt(e.object, "created_at"))
	}
	return nil
}

func polarHandler(e incoming) (handle handler, why string) {
	v := e.object
	id := textAt(v, "id")
	switch {
	case slices.Contains(polarStates, e.kind):
		if id == "" {
			return nil, "the subscription has no id"
		}
		return func(tx *db.Tx) (Received, error) { return tell(tx, e, id, polarState(e)) }, ""
	case e.kind == "order.refunded":
		return e.polarRefund(id)
	case e.kind == "order.paid":
		i := polarInvoice(e, id)
		if i.subscription != "" && !i.opens {
			return func(tx *db.Tx) (Received, error) { return bookInvoice(tx, e, i) }, ""
		}
		x := polarOrder(e, id, i)
		return func(tx *db.Tx) (Received, error) { return bookSession(tx, e, x) }, ""
	}
	return nil, unused
}

// polarInvoice reads an order as the invoice of a subscription, which it may be.
func polarInvoice(e incoming, id string) invoice {
	v := e.object
	reason := textAt(v, "billing_reason")
	i := invoice{
		ref: id, payment: id, names: []string{id}, subscription: idAt(v, "subscription_id"),
		opens:      !strings.HasPrefix(reason, "subscription_cycle") && reason != "subscription_update",
		planChange: reason == "subscription_update", currency: strings.ToUpper(textAt(v, "currency")), paidAt: e.at,
		period: instantAt(v, "subscription", "current_period_end"), email: textAt(v, "customer", "email"),
		name: textAt(v, "customer", "name"),
	}
	i.subscription = firstOf(i.subscription, idAt(v, "subscription"))
	i.readAmounts(v)
	return i
}

func polarOrder(e incoming, id string, i invoice) session {
	v := e.object
	x := session{
		id: id, ref: id, status: "paid", mode: "payment", email: i.email, name: i.name, currency: i.currency, paidAt: e.at,
		link: firstOf(textAt(v, "product_id"), idAt(v, "product")), qty: wordAt(v, "seats"),
		theirName: textAt(v, "product", "name"),
	}
	if i.subscription != "" {
		x.mode, x.subscription, x.opening = "subscription", i.subscription, &i
	}
	x.readAmounts(v, []string{"total_amount"}, []string{"discount_amount"}, []string{"tax_amount"})
	return x
}

// polarRefund reads a refund: both amounts are running totals, the tax beside the rest.
func (e incoming) polarRefund(id string) (handle handler, why string) {
	v := e.object
	r := refund{ref: id, names: []string{id}, currency: strings.ToUpper(textAt(v, "currency")),
		full: textAt(v, "status") == "refunded"}
	given, err := centsAt(v, "refunded_amount")
	tax, errTax := centsAt(v, "refunded_tax_amount")
	if r.refunded = given + tax; err != nil || errTax != nil || id == "" || r.refunded == 0 {
		return e.unreadable(firstOf(id, e.id), true, "its id or refunded_amount cannot be read; "+lookThere("order")), ""
	}
	return func(tx *db.Tx) (Received, error) { return bookRefund(tx, e, r) }, ""
}

func polarState(e incoming) standing {
	v := e.object
	t := standing{state: subscriptionActive, at: e.at, renews: instantAt(v, "current_period_end")}
	ends := instantAt(v, "ends_at")
	if ends == nil {
		ends = t.renews
	}
	switch status := textAt(v, "status"); {
	case e.kind == "subscription.revoked" || status == "canceled" || status == "incomplete_expired":
		t.state, t.ends = subscriptionEnded, ends
		if e.kind != "subscription.revoked" && ends != nil && microsOf(*ends) > e.at && textAt(v, "ended_at") == "" {
			t.state = subscriptionCancelled // from that day on
		}
	case e.kind == "subscription.past_due" || status == "past_due" || status == "unpaid":
		t.state = subscriptionPastDue
	case at(v, "cancel_at_period_end").Bool():
		t.state, t.ends, t.period = subscriptionCancelled, ends, t.renews
	default:
		t.period = t.renews
	}
	return t
}
