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
	payment           string // what its order's provider_ref is or would be
	names             []string
	opens             bool // the checkout's own
	period            *exact.Instant
	total, tax        int64
	currency, event   string
	order             int64  // 0: it waits
	reason            string // why it cannot be read; "" is nothing
}

// readInvoice reads an invoice in the fields of the API of 2025 and in those before.
func readInvoice(v strict.Value) invoice {
	i := invoice{
		ref: textAt(v, "id"), subscription: firstOf(idAt(v, "subscription"), idAt(at(v, "parent", "subscription_details"), "subscription")),
		opens: textAt(v, "billing_reason") == "subscription_create", currency: strings.ToUpper(textAt(v, "currency")),
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

// readInvoicePayment reads the names of a payment out of invoice_payment.paid, which since the API
// of 2025-03-31 alone tells which invoice a payment intent paid: refunds and disputes name the
// intent, and subscriptions' invoices the invoice. nil: it does not name both.
func readInvoicePayment(v strict.Value) []string {
	invoice, paid := idAt(v, "invoice"), at(v, "payment")
	intent, charge := idAt(paid, "payment_intent"), idAt(paid, "charge")
	if invoice == "" || intent == "" && charge == "" {
		return nil
	}
	return []string{invoice, intent, charge}
}

// bookInvoicePayment notes that an invoice and a payment are one, and applies to its order what was
// told of either.
func bookInvoicePayment(tx *db.Tx, e stripeEvent, names []string) (Received, error) {
	payment, _, err := gatherPayment(tx, stripe, names, 0, true)
	if err != nil {
		return Received{}, err
	}
	d, isBooked, err := findPayment(&tx.Conn, stripe, names...)
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
	total := "amount_paid"
	if at(v, total).Kind() == strict.Null {
		total = "total"
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

// taxOf adds up an invoice's tax: tax, or the amounts of total_taxes or
// total_tax_amounts.
func taxOf(v strict.Value) (int64, error) {
	if at(v, "tax").Kind() != strict.Null {
		return centsAt(v, "tax")
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

const selectInvoice = `SELECT i.ref, i.payment_ref, i.opens, i.period_end, i.total_cents, i.tax_cents, i.currency, i.event_id, ifnull(p.order_id, 0)
	FROM store_invoices i CROSS JOIN store_payments p ON p.id = i.payment_id`

func scanInvoice(r *db.Row) invoice {
	return invoice{
		ref: r.Text(), payment: r.Text(), opens: r.Bool(), period: r.InstantPtr(),
		total: r.Int(), tax: r.Int(), currency: r.Text(), event: r.Text(), order: r.Int(),
	}
}

// bookInvoice notes a paid invoice of a subscription and books it; one of a subscription
// that no checkout brought is noted for the owner and waits for the checkout.
func bookInvoice(tx *db.Tx, e stripeEvent, i invoice) (Received, error) {
	if i.reason != "" {
		return recordUnbooked(tx, e, Unbooked{Ref: firstOf(i.payment, e.id), Reason: "the invoice cannot be read: " + i.reason})
	}
	s, err := ensureSubscription(tx, stripe, i.subscription)
	if err != nil {
		return Received{}, err
	}
	payment, _, err := gatherPayment(tx, stripe, i.names, 0, true)
	if err != nil {
		return Received{}, err
	}
	added, err := tx.Exec(`INSERT INTO store_invoices (provider, ref, subscription_id, payment_id, payment_ref, opens, period_end,
		total_cents, tax_cents, currency, event_id, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (provider, ref) DO NOTHING`,
		stripe, i.ref, s.id, payment, i.payment, i.opens, i.period, i.total, i.tax, i.currency, e.id, tx.Now())
	if err != nil {
		return Received{}, err
	}
	was, _, err := findPayment(&tx.Conn, stripe, i.names...)
	if err != nil {
		return Received{}, err
	}
	if s.order == 0 {
		return recordUnbooked(tx, e, Unbooked{Ref: i.payment, Reason: "no checkout brought its subscription " + i.subscription +
			"; it is booked by itself when the checkout's event comes: resend that from the provider's dashboard"})
	}
	if err := bookInvoices(tx, s, true); err != nil {
		return Received{}, err
	}
	d, _, err := findPayment(&tx.Conn, stripe, i.names...)
	if err != nil {
		return Received{}, err
	}
	if payment, _, err = gatherPayment(tx, stripe, i.names, d.id, true); err != nil {
		return Received{}, err
	}
	if d, err = reconcile(tx, d, payment, true); err != nil {
		return Received{}, err
	}
	switch {
	case added == 0 && was.id != 0:
		return e.done(tx, outcomeRepeated, "the invoice is on record as order "+d.OrderRef)
	case was.id != 0:
		return e.done(tx, outcomeRecorded, "the invoice is the payment of order "+d.OrderRef+" and tells its period")
	}
	return e.done(tx, outcomeRecorded, "the subscription was renewed by order "+d.OrderRef)
}
