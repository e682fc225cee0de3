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
	wasRecorded = "recorded" // an order was booked
	wasRefunded = "refunded" // an order was refunded, in full or in part
	wasKept     = "kept"     // a refund waits for its payment
	wasRepeated = "repeated" // it was done before
	wasUnclear  = "unclear"  // a payment that nobody knows what for
	wasIgnored  = "ignored"  // nothing that the store uses
)

// stripeEvent is what the store reads of an event.
type stripeEvent struct {
	id, kind string
	object   strict.Value
}

// ReceiveStripe takes an event that Stripe sends: body as it came, signature its
// Stripe-Signature header. checkout.session.completed and
// checkout.session.async_payment_succeeded that are paid become orders,
// charge.refunded refunds; anything else is ignored. A refused signature writes
// nothing.
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
	var handle func(*db.Tx) (Received, error)
	switch e.kind {
	case "checkout.session.completed", "checkout.session.async_payment_succeeded":
		x := readSession(e.object)
		if !x.calls() {
			return e.answer(wasIgnored, "the session is not paid"), nil
		}
		handle = func(tx *db.Tx) (Received, error) { return bookSession(tx, e, x) }
	case "charge.refunded":
		r, err := readRefund(e.object)
		handle = func(tx *db.Tx) (Received, error) { return bookRefund(tx, e, r) }
		if err != nil {
			handle = func(tx *db.Tx) (Received, error) {
				return unclear(tx, e, trouble{ref: textOr(orNil(r.ref), e.id), refund: true, reason: err.Error()})
			}
		}
	default:
		return e.answer(wasIgnored, "the store does not use this type of event"), nil
	}
	got, err := db.Update(ctx, s.db, provider(stripe), func(tx *db.Tx) (Received, error) {
		_, done, err := db.One(&tx.Conn, db.Int, "SELECT 1 FROM store_provider_events WHERE provider = ? AND event_id = ?", stripe, e.id)
		if err != nil || done {
			return e.answer(wasRepeated, "this event was handled before"), err
		}
		return handle(tx)
	})
	if err == nil && got.notice != "" {
		s.notice(got.notice)
	}
	return got, err
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

// session is what the store reads of a Checkout session.
type session struct {
	ref             string // the payment intent, or the session where there is none
	status, mode    string
	email, name     string
	currency        string
	sku, tier, qty  string // of the metadata
	link            string
	total           int64
	discount, tax   int64
	amounts         error
	totalWasMissing bool
}

func readSession(v strict.Value) session {
	x := session{
		ref: idAt(v, "payment_intent"), status: textAt(v, "payment_status"), mode: textAt(v, "mode"),
		email: textAt(v, "customer_details", "email"), name: textAt(v, "customer_details", "name"), currency: textAt(v, "currency"),
		sku: textAt(v, "metadata", "sku"), tier: textAt(v, "metadata", "tier"), qty: qtyAt(v, "metadata", "qty"), link: idAt(v, "payment_link"),
	}
	if x.ref == "" {
		x.ref = textAt(v, "id")
	}
	if x.email == "" {
		x.email = textAt(v, "customer_email")
	}
	if schema.CheckText("name", x.name, 200) != nil {
		x.name = "" // a payment is not lost over a name
	}
	x.totalWasMissing = at(v, "amount_total").Kind() == strict.Null
	for _, amount := range []struct {
		into *int64
		path []string
	}{{&x.total, []string{"amount_total"}}, {&x.discount, []string{"total_details", "amount_discount"}}, {&x.tax, []string{"total_details", "amount_tax"}}} {
		cents, err := centsAt(v, amount.path...)
		if err != nil {
			x.amounts = err
		}
		*amount.into = cents
	}
	return x
}

// calls tells whether the session asks for something: it is paid, or a payment that
// came to nothing, which a person must judge.
func (x session) calls() bool {
	return x.status == "paid" || x.status == "no_payment_required" && x.mode == "payment"
}

// sale makes the session an order. Its refusals say why it cannot be one, and what
// the owner can do.
func (x session) sale(c *db.Conn) (sale, error) {
	v := sale{licensed: true, rename: true, name: x.name, provider: stripe, ref: x.ref, tax: x.tax, paidAt: c.Now(), tier: x.tier}
	var err error
	switch {
	case x.status != "paid":
		return v, fault.Invalidf("nothing had to be paid; if it is to be honoured, record it by hand with --total 0")
	case x.ref == "":
		return v, fault.Invalidf("it has neither a payment_intent nor an id")
	case x.amounts != nil:
		return v, x.amounts
	case x.totalWasMissing:
		return v, fault.Invalidf("amount_total is missing")
	}
	if v.email, err = foldEmail(x.email); err != nil {
		return v, err
	}
	if v.currency, err = checkCurrency(x.currency); err != nil {
		return v, err
	}
	if v.qty, err = readQty(x.qty); err != nil {
		return v, err
	}
	if err := x.product(c, &v); err != nil {
		return v, err
	}
	v.licensed = v.product.Kind == kindLicense
	var ok bool
	if v.unit, v.discount, ok = x.split(v.qty); !ok {
		return v, fault.Invalidf("amount_total is less than its tax")
	}
	return v, v.checkAmounts()
}

// split gives the price of each of qty units and the discount that make the session's
// total. The provider's total is what counts: where a tax is part of the price, or the
// units do not divide it, the price of a unit is rounded up and the rest is a discount,
// so that the order adds up to the cent. ok is false for a total under its tax.
func (x session) split(qty int64) (unit, discount int64, ok bool) {
	before := x.total - x.tax + x.discount
	if before < 0 {
		return 0, 0, false
	}
	unit = (before + qty - 1) / qty
	return unit, x.discount + unit*qty - before, true
}

// product finds what was bought: by the metadata, or by the payment link.
func (x session) product(c *db.Conn, v *sale) (err error) {
	sku := x.sku
	if sku == "" {
		link, mapped, err := findLink(c, stripe, x.link)
		switch {
		case err != nil:
			return err
		case x.link == "":
			return fault.Invalidf("its metadata has no sku, and it came by no payment link; give the session metadata sku (and tier, qty)")
		case !mapped:
			return fault.Invalidf("its metadata has no sku, and its payment link is not mapped: `store provider map stripe %s SKU`", x.link)
		}
		sku, v.tier = link.SKU, textOr(link.Tier, v.tier)
	}
	if v.product, err = findProduct(c, sku); err != nil {
		return err
	}
	return v.product.takesTier(v.tier)
}

func readQty(written string) (int64, error) {
	if written == "" {
		return 1, nil
	}
	n, err := strconv.ParseInt(written, 10, 64)
	if err != nil || n < 1 || n > maxQty {
		return 0, fault.Invalidf("qty: %s is not allowed; it takes 1 to %d", schema.Quote(written), maxQty)
	}
	return n, nil
}

// bookSession makes a paid session an order, once. One that cannot be understood is
// noted for the owner, and its event stays undone, so that it can be sent again.
func bookSession(tx *db.Tx, e stripeEvent, x session) (Received, error) {
	d, booked, err := findPayment(&tx.Conn, stripe, x.ref)
	if err != nil {
		return Received{}, err
	}
	if booked {
		return e.done(tx, wasRepeated, "the payment is on record as order "+d.OrderRef)
	}
	v, err := x.sale(&tx.Conn)
	if reason, refused := fault.As(err); refused && reason.Kind == fault.Invalid {
		return unclear(tx, e, trouble{ref: x.ref, reason: reason.Detail})
	}
	if err != nil {
		return Received{}, err
	}
	if d, err = book(tx, v, true); err != nil {
		return Received{}, err
	}
	got, err := e.done(tx, wasRecorded, "recorded as order "+d.OrderRef)
	if err != nil {
		return got, err
	}
	t, waits, err := db.One(&tx.Conn, scanTrouble, unclearQuery+" WHERE provider = ? AND provider_ref = ?", stripe, x.ref)
	if waits { // a refund that came before it
		got.notice = t.whatToDo()
		got.Detail += "; " + got.notice
	}
	return got, err
}

// refund is what the store reads of a charge that was refunded.
type refund struct {
	ref      string // the payment intent, or the charge where there is none
	refunded int64  // in all, so far
	currency string
	full     bool
}

func readRefund(v strict.Value) (refund, error) {
	r := refund{ref: idAt(v, "payment_intent"), currency: strings.ToUpper(textAt(v, "currency")), full: at(v, "refunded").Bool()}
	if r.ref == "" {
		r.ref = textAt(v, "id")
	}
	var err error
	if r.refunded, err = centsAt(v, "amount_refunded"); err != nil || r.ref == "" || r.refunded == 0 {
		return r, fault.Invalidf("payment_intent or amount_refunded cannot be read; look at the charge in the provider's dashboard, " +
			"refund its order by hand with `store order refund`, and take this off the list with `store provider dismiss`")
	}
	return r, nil
}

// inAnother is the trouble with a refund that is not in the order's currency.
func (r refund) inAnother(d OrderDetail) trouble {
	return trouble{ref: r.ref, refund: true, reason: fmt.Sprintf("it refunds %d cents in %s, and order %s is in %s: refund it by hand with `store order refund`",
		r.refunded, r.currency, d.OrderRef, d.Currency)}
}

// bookRefund brings the order's refund up to the running total; a refund without an
// order waits for it.
func bookRefund(tx *db.Tx, e stripeEvent, r refund) (Received, error) {
	d, booked, err := findPayment(&tx.Conn, stripe, r.ref)
	switch {
	case err != nil:
		return Received{}, err
	case !booked:
		return keepRefund(tx, e, r)
	case d.Currency != r.currency:
		return unclear(tx, e, r.inAnother(d))
	case min(r.refunded, d.TotalCents) <= d.RefundedCents:
		return e.done(tx, wasRepeated, "order "+d.OrderRef+" is refunded as far already")
	}
	after, err := refundTo(tx, d, min(r.refunded, d.TotalCents), true)
	if err != nil {
		return Received{}, err
	}
	return e.done(tx, wasRefunded, fmt.Sprintf("order %s: %d of %d cents are refunded", d.OrderRef, after.RefundedCents, d.TotalCents))
}

func keepRefund(tx *db.Tx, e stripeEvent, r refund) (Received, error) {
	_, err := tx.Exec(`INSERT INTO store_early_refunds (provider, provider_ref, refunded_cents, currency, event_id, at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (provider, provider_ref) DO UPDATE SET refunded_cents = max(refunded_cents, excluded.refunded_cents), event_id = excluded.event_id`,
		stripe, r.ref, r.refunded, r.currency, e.id, tx.Now())
	if err != nil {
		return Received{}, err
	}
	if r.full { // nobody is owed anything for a payment that was given back
		if err := cleared(tx, stripe, r.ref); err != nil {
			return Received{}, err
		}
	}
	return e.done(tx, wasKept, "no order has this payment yet; the refund is kept until one does")
}

func (s *Service) receiveStripe() schema.Op {
	return schema.Op{
		Route: "POST /providers/stripe/webhook",
		About: "Stripe's events: paid Checkout sessions become orders, refunded charges refund them. " +
			"The credential is Stripe's signature over the body; a signature that is not good, and a body that is no event, are refused with 400, and everything else is answered 200.",
		Public: true, Writes: true, Idempotent: true,
		Own: []schema.Refusal{
			{Kind: fault.Malformed, Detail: "Stripe-Signature is missing, does not fit the body and the secret, or is older than 5 minutes."},
		},
		Response: Received{Received: true, Outcome: wasRecorded, Detail: "recorded as order " + exampleRef},
		Bind: func(f *schema.Form) schema.Handler {
			var body []byte
			var signature string
			f.Raw(&body, "the event as Stripe sends it")
			f.Header(&signature, "Stripe-Signature", "Stripe's signature: t=<time>,v1=<hex>")
			return func(ctx context.Context, _ db.Caller) (any, error) { return s.ReceiveStripe(ctx, body, signature) }
		},
	}
}
