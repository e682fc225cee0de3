package store

import (
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/strict"
)

// invoice is a paid invoice of a subscription.
type invoice struct {
	ref, subscription string
	payment           string // its order's provider_ref, existing or future
	names             []string
	opens             bool // the checkout's own
	planChange        bool // of a change of plan: the license keeps its product
	period            *exact.Instant
	paidAt            micros // by the provider's clock; 0: unknown
	email, name       string // of the buyer, if given
	total, tax        int64
	currency, event   string
	order             int64  // 0: it waits
	reason            string // why it cannot be read; "" if it can
}

// readInvoice reads an invoice with the fields of the API of 2025 or earlier ones.
func readInvoice(v strict.Value) invoice {
	i := invoice{
		ref: textAt(v, "id"), subscription: firstOf(idAt(v, "subscription"), idAt(at(v, "parent", "subscription_details"),
			"subscription")),
		opens:      textAt(v, "billing_reason") == "subscription_create",
		planChange: textAt(v, "billing_reason") == "subscription_update",
		currency:   strings.ToUpper(textAt(v, "currency")), email: textAt(v, "customer_email"),
		name: textAt(v, "customer_name"),
	}
	for _, l := range at(v, "lines", "data").Items {
		of := at(l, "parent", "subscription_item_details")
		i.subscription = firstOf(i.subscription, idAt(of, "subscription"), idAt(l, "subscription"))
	}
	intent, charge := idAt(v, "payment_intent"), idAt(v, "charge")
	i.names = append(i.names, i.ref, intent, charge)
	for _, p := range at(v, "payments", "data").Items {
		paid := at(p, "payment")
		i.names = append(i.names, idAt(paid, "payment_intent"), idAt(paid, "charge"))
		intent = firstOf(intent, idAt(paid, "payment_intent"))
		charge = firstOf(charge, idAt(paid, "charge"))
	}
	i.payment = firstOf(intent, i.ref)
	for _, l := range at(v, "lines", "data").Items {
		end, err := centsAt(l, "period", "end")
		if err == nil && end > 0 && (i.period == nil || exact.Instant(end) > *i.period) {
			at := exact.Instant(end)
			i.period = &at
		}
	}
	i.readAmounts(v)
	if i.ref == "" {
		i.reason = "it has no id"
	}
	return i
}

// readInvoicePayment reads a payment's names from invoice_payment.paid. Since the API of 2025-03-31 only this event
// links an invoice to its payment intent: refunds and disputes name the intent, subscriptions' invoices the invoice.
// nil: it does not name both.
func readInvoicePayment(v strict.Value) []string {
	invoice, paid := idAt(v, "invoice"), at(v, "payment")
	intent, charge := idAt(paid, "payment_intent"), idAt(paid, "charge")
	if invoice == "" || intent == "" && charge == "" {
		return nil
	}
	return []string{invoice, intent, charge}
}

// bookInvoicePayment joins an invoice and a payment, and applies to the order what is known of either.
func bookInvoicePayment(tx *db.Tx, e incoming, names []string) (Received, error) {
	payment, _, err := gatherPayment(tx, e.provider, names, 0, true)
	if err != nil {
		return Received{}, err
	}
	d, isBooked, err := findPayment(&tx.Conn, e.provider, names...)
	if err != nil {
		return Received{}, err
	}
	if !isBooked {
		return e.done(tx, outcomeKept, "no order has this invoice yet; its payment is kept until one does")
	}
	if d, err = reconcile(tx, d, payment, true); err != nil {
		return Received{}, err
	}
	return e.done(tx, outcomeRecorded, "the invoice's payment is that of order "+d.OrderRef)
}

func (i *invoice) readAmounts(v strict.Value) {
	total := "total"
	for _, name := range []string{"amount_paid", "total_amount"} {
		if at(v, name).Kind() != strict.Null {
			total = name
			break
		}
	}
	var err error
	if i.total, err = centsAt(v, total); err != nil {
		i.reason = err.Error()
		return
	}
	if i.tax, err = taxOf(v); err != nil {
		i.reason = err.Error()
		return
	}
	if i.total == 0 {
		i.tax = 0
	}
	if i.tax > i.total {
		i.reason = total + " is less than its tax"
	}
	if _, err := checkCurrency(i.currency); err != nil {
		i.reason = err.Error()
	}
}

// taxOf adds up an invoice's tax: tax, tax_amount, or the amounts of total_taxes or
// total_tax_amounts.
func taxOf(v strict.Value) (int64, error) {
	for _, name := range []string{"tax", "tax_amount"} {
		if at(v, name).Kind() != strict.Null {
			return centsAt(v, name)
		}
	}
	var sum int64
	for _, name := range []string{"total_taxes", "total_tax_amounts"} {
		for _, t := range at(v, name).Items {
			cents, err := centsAt(t, "amount")
			if err != nil {
				return 0, err
			}
			sum += cents
		}
		if sum > 0 {
			break
		}
	}
	return sum, nil
}

const selectInvoice = `SELECT i.ref, i.payment_ref, i.opens, i.period_end, i.total_cents, i.tax_cents, i.currency,
	i.event_id, i.plan_change, ifnull(p.order_id, 0)
	FROM store_invoices i CROSS JOIN store_payments p ON p.id = i.payment_id`

func scanInvoice(r *db.Row) invoice {
	return invoice{
		ref: r.Text(), payment: r.Text(), opens: r.Bool(), period: r.InstantPtr(),
		total: r.Int(), tax: r.Int(), currency: r.Text(), event: r.Text(), planChange: r.Bool(), order: r.Int(),
	}
}

// noteInvoice stores a paid invoice of a subscription, and reports whether it is new.
func noteInvoice(tx *db.Tx, e incoming, i invoice) (isNew bool, err error) {
	s, err := ensureSubscription(tx, e.provider, i.subscription)
	if err != nil {
		return false, err
	}
	payment, _, err := gatherPayment(tx, e.provider, i.names, 0, true)
	if err != nil {
		return false, err
	}
	added, err := tx.Exec(`INSERT INTO store_invoices (provider, ref, subscription_id, payment_id, payment_ref, opens,
		plan_change, period_end,
		total_cents, tax_cents, currency, event_id, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (provider,
		ref) DO NOTHING`,
		e.provider, i.ref, s.id, payment, i.payment, i.opens, i.planChange, i.period, i.total, i.tax, i.currency, e.id,
		tx.Now())
	if err != nil {
		return false, err
	}
	notePaid(tx, payment, i.paidAt)
	if i.opens && s.order != 0 { // the order's own payment, under another name
		return added > 0, bookInvoices(tx, s, true)
	}
	return added > 0, nil
}

// bookInvoice stores and books a paid invoice of a subscription; without the subscription's checkout it is reported to
// the owner and waits for it.
func bookInvoice(tx *db.Tx, e incoming, i invoice) (Received, error) {
	if i.reason != "" {
		return recordUnbooked(tx, e, i.unbooked(firstOf(i.payment, e.id), causeUnreadable, "the invoice cannot be read: "+
			i.reason))
	}
	isNew, err := noteInvoice(tx, e, i)
	if err != nil {
		return Received{}, err
	}
	s, err := ensureSubscription(tx, e.provider, i.subscription)
	if err != nil {
		return Received{}, err
	}
	notePayment(tx, s.id, e.at)
	was, _, err := findPayment(&tx.Conn, e.provider, i.names...)
	if err != nil {
		return Received{}, err
	}
	if s.order == 0 {
		return recordUnbooked(tx, e, i.unbooked(i.payment, causeNoCheckout, "no checkout brought its subscription "+
			i.subscription+
			"; it is booked by itself when the checkout's event arrives: resend that from the provider's dashboard, or link "+
			"the licenses "+
			"of the subscription: `store subscription link "+e.provider+" "+i.subscription+" LICENSE`"))
	}
	if err := bookInvoices(tx, s, true); err != nil {
		return Received{}, err
	}
	d, _, err := findPayment(&tx.Conn, e.provider, i.names...)
	if err != nil {
		return Received{}, err
	}
	payment, _, err := gatherPayment(tx, e.provider, i.names, d.id, true)
	if err != nil {
		return Received{}, err
	}
	if d, err = reconcile(tx, d, payment, true); err != nil {
		return Received{}, err
	}
	switch {
	case !isNew && was.id != 0:
		return e.done(tx, outcomeRepeated, "the invoice is recorded as order "+d.OrderRef)
	case was.id != 0 || i.opens:
		return e.done(tx, outcomeRecorded, "the invoice is the payment of order "+d.OrderRef+" and tells its period")
	}
	return e.done(tx, outcomeRecorded, "the subscription was renewed by order "+d.OrderRef)
}

// unbooked is the invoice as a payment that cannot be booked.
func (i invoice) unbooked(ref, cause, reason string) Unbooked {
	u := Unbooked{
		Ref: ref, Cause: cause, Reason: reason, BuyerEmail: db.NullText(i.email), BuyerName: db.NullText(i.name),
		Currency: db.NullText(i.currency), Subscription: db.NullText(i.subscription),
	}
	if i.reason == "" {
		u.AmountCents = &i.total
	}
	return u
}
