package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
)

// Received is the answer to a provider's event. Everything that was signed well is
// answered 200, so that the provider does not send it again.
type Received struct {
	Received bool   `json:"received"`
	Outcome  string `json:"outcome" enum:"recorded,refunded,kept,repeated,unclear,ignored"`
	Detail   string `json:"detail"`

	notice string // for the owner's log; "" is nothing
}

// What became of an event.
const (
	outcomeRecorded = "recorded" // an order was booked
	outcomeRefunded = "refunded" // an order was refunded, in full or in part
	outcomeKept     = "kept"     // a refund waits for its payment
	outcomeRepeated = "repeated" // it was done before
	outcomeUnclear  = "unclear"  // a payment that cannot be booked
	outcomeIgnored  = "ignored"  // nothing that the store uses
)

// stripeEvent is what the store reads of an event.
type stripeEvent struct {
	id, kind string
	object   strict.Value
}

// ReceiveStripe takes an event that Stripe sends: body as it came, signature its
// Stripe-Signature header. paid Checkout sessions and later
// invoices of subscriptions become orders, refunds and lost disputes refund them;
// anything else is ignored. A refused signature writes nothing.
func (s *Service) ReceiveStripe(ctx context.Context, body []byte, signature string) (Received, error) {
	err := s.db.View(ctx, func(c *db.Conn) error {
		secret, err := providerSecret(c, stripe)
		if err != nil {
			return err
		}
		return verifyStripe(signature, body, secret, c.Now())
	})
	if err != nil {
		return Received{}, err
	}
	e, err := readStripeEvent(body)
	if err != nil {
		return Received{}, err
	}
	handle, why := e.handler()
	if handle == nil {
		return e.answer(outcomeIgnored, why), nil
	}
	got, err := db.Update(ctx, s.db, provider(stripe), func(tx *db.Tx) (Received, error) {
		_, done, err := db.One(&tx.Conn, db.Int, "SELECT 1 FROM store_provider_events WHERE provider = ? AND event_id = ?", stripe, e.id)
		if err != nil || done {
			return e.answer(outcomeRepeated, "this event was handled before"), err
		}
		return handle(tx)
	})
	if err == nil && got.notice != "" {
		s.notice(got.notice)
	}
	return got, err
}

// handler returns what handles the event; nil, and why, for one that the store does not use.
func (e stripeEvent) handler() (handle func(*db.Tx) (Received, error), why string) {
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
			return func(tx *db.Tx) (Received, error) {
				return recordUnbooked(tx, e, Unbooked{Ref: firstOf(r.ref, e.id), Refund: true, Reason: err.Error()})
			}, ""
		}
		return func(tx *db.Tx) (Received, error) { return bookRefund(tx, e, r) }, ""
	case "invoice.paid":
		i := readInvoice(e.object)
		if i.subscription == "" {
			return nil, "the invoice is of no subscription"
		}
		return func(tx *db.Tx) (Received, error) { return bookInvoice(tx, e, i) }, ""
	case "invoice_payment.paid":
		names := readInvoicePayment(e.object)
		if names == nil {
			return nil, "the payment of an invoice does not name both"
		}
		return func(tx *db.Tx) (Received, error) { return bookInvoicePayment(tx, e, names) }, ""
	case "customer.subscription.deleted":
		ref := textAt(e.object, "id")
		if ref == "" {
			return nil, "the subscription has no id"
		}
		return func(tx *db.Tx) (Received, error) { return endSubscription(tx, e, ref) }, ""
	case "charge.dispute.created", "charge.dispute.closed":
		p := readDispute(e.object, e.kind == "charge.dispute.closed")
		if p.inquiry {
			return nil, "an inquiry is no dispute"
		}
		return func(tx *db.Tx) (Received, error) { return bookDispute(tx, e, p) }, ""
	}
	return nil, "the store does not use this type of event"
}

func readStripeEvent(body []byte) (e stripeEvent, err error) {
	v, err := strict.Parse(body, strict.MaxDepth)
	if err != nil {
		return e, fault.Malformedf("the body cannot be read as JSON: %v", err)
	}
	e.id, e.kind, e.object = textAt(v, "id"), textAt(v, "type"), at(v, "data", "object")
	if e.id == "" || e.kind == "" || e.object.Kind() != strict.Object {
		return e, fault.Malformedf("the body is no event of Stripe's: id, type and data.object are needed")
	}
	return e, nil
}

// at follows names into nested objects; what is not there is null.
func at(v strict.Value, names ...string) strict.Value {
	for _, name := range names {
		v, _ = v.Get(name)
	}
	return v
}

func textAt(v strict.Value, names ...string) string { return strings.TrimSpace(at(v, names...).Text()) }

// qtyAt reads a quantity as it is written, be it a text or a number; "" is none.
func qtyAt(v strict.Value, names ...string) string {
	if n := at(v, names...); n.Kind() != strict.String && n.Kind() != strict.Null {
		return string(n.Raw())
	}
	return textAt(v, names...)
}

// centsAt reads a whole number; what is absent or null is 0.
func centsAt(v strict.Value, names ...string) (int64, error) {
	n := at(v, names...)
	if n.Kind() == strict.Null {
		return 0, nil
	}
	cents, err := strconv.ParseInt(string(n.Raw()), 10, 64)
	if err != nil || cents < 0 || cents > maxPrice {
		return 0, fault.Invalidf("%s is no amount that is taken", strings.Join(names, "."))
	}
	return cents, nil
}

// idAt reads a reference: an id, or an object that has one.
func idAt(v strict.Value, name string) string {
	if r := at(v, name); r.Kind() == strict.Object {
		return textAt(r, "id")
	}
	return textAt(v, name)
}

func (e stripeEvent) answer(outcome, detail string) Received {
	return Received{Received: true, Outcome: outcome, Detail: detail}
}

// done notes the event, so that it is never handled again, with what became of it.
func (e stripeEvent) done(tx *db.Tx, outcome, detail string) (Received, error) {
	if _, err := tx.Exec("INSERT INTO store_provider_events (provider, event_id, at) VALUES (?, ?, ?)", stripe, e.id, tx.Now()); err != nil {
		return Received{}, err
	}
	err := tx.Audit("provider.event", "event:"+e.id, map[string]string{"provider": stripe, "type": e.kind, "outcome": outcome})
	return e.answer(outcome, detail), err
}

// refund is what the store reads of a charge that was refunded.
type refund struct {
	ref      string   // the payment intent, or the charge where there is none
	names    []string // the payment intent, the charge, the invoice
	refunded int64    // in all, so far
	currency string
	full     bool
}

func readRefund(v strict.Value) (refund, error) {
	r := refund{
		names:    []string{idAt(v, "payment_intent"), textAt(v, "id"), idAt(v, "invoice")},
		currency: strings.ToUpper(textAt(v, "currency")), full: at(v, "refunded").Bool(),
	}
	r.ref = firstOf(r.names...)
	var err error
	if r.refunded, err = centsAt(v, "amount_refunded"); err != nil || r.ref == "" || r.refunded == 0 {
		return r, fault.Invalidf("payment_intent or amount_refunded cannot be read; look at the charge in the provider's dashboard, " +
			"refund its order by hand with `store order refund`, and take this off the list with `store provider dismiss`")
	}
	return r, nil
}

// inAnother is a refund that is not in the order's currency.
func (r refund) inAnother(d OrderDetail) Unbooked {
	return Unbooked{Ref: r.ref, Refund: true, Reason: fmt.Sprintf("it refunds %d cents in %s, and order %s is in %s: refund it by hand with `store order refund`",
		r.refunded, r.currency, d.OrderRef, d.Currency)}
}

// bookRefund brings the order's refund up to the running total; a refund without an
// order waits for it.
func bookRefund(tx *db.Tx, e stripeEvent, r refund) (Received, error) {
	d, isBooked, err := findPayment(&tx.Conn, stripe, r.names...)
	if err != nil {
		return Received{}, err
	}
	if isBooked && d.Currency != r.currency {
		return recordUnbooked(tx, e, r.inAnother(d))
	}
	payment, _, err := gatherPayment(tx, stripe, r.names, d.id, true)
	if err != nil {
		return Received{}, err
	}
	more, err := tx.Exec(`UPDATE store_payments SET refunded_cents = ?1, refund_currency = ?2, refund_event = ?3 WHERE id = ?4 AND refunded_cents < ?1`,
		r.refunded, r.currency, e.id, payment)
	if err != nil {
		return Received{}, err
	}
	if !isBooked {
		removed := 0
		if r.full { // a payment that was given back leaves nothing open
			if removed, err = deleteUnbooked(tx, stripe, r.names); err != nil {
				return Received{}, err
			}
		}
		if err := setWaiting(tx, payment, more > 0 && removed == 0); err != nil {
			return Received{}, err
		}
		return e.done(tx, outcomeKept, "no order has this payment yet; the refund is kept until one does")
	}
	after, err := reconcile(tx, d, payment, true)
	switch {
	case err != nil:
		return Received{}, err
	case after.RefundedCents == d.RefundedCents:
		return e.done(tx, outcomeRepeated, "order "+d.OrderRef+" is refunded as far already")
	}
	return e.done(tx, outcomeRefunded, fmt.Sprintf("order %s: %d of %d cents are refunded", d.OrderRef, after.RefundedCents, d.TotalCents))
}

func (s *Service) receiveStripe() schema.Op {
	return schema.Op{
		Name: "receive_stripe",
		About: "Stripe's events: paid Checkout sessions and invoices of subscriptions become orders, refunded charges and lost disputes refund them. " +
			"The credential is Stripe's signature over the body; a signature that is not good, and a body that is no event, are refused with 400, and everything else is answered 200.",
		Public: true, Writes: true, Idempotent: true,
		Own: []schema.Refusal{
			{Kind: fault.Malformed, Detail: "Stripe-Signature is missing, does not fit the body and the secret, or is older than 5 minutes."},
		},
		Response: Received{Received: true, Outcome: outcomeRecorded, Detail: "recorded as order " + exampleRef},
		Bind: func(f *schema.Form) schema.Handler {
			var body []byte
			var signature string
			f.Raw(&body, "the event as Stripe sends it")
			f.Header(&signature, "Stripe-Signature", "Stripe's signature: t=<time>,v1=<hex>")
			return func(ctx context.Context, _ db.Caller) (any, error) { return s.ReceiveStripe(ctx, body, signature) }
		},
	}
}
