package store

import (
	"fmt"

	"quartermaster/schema/db"
)

// refund is a provider's report of a refund.
type refund struct {
	ref      string   // the payment's main name
	names    []string // all of its names: the payment intent, the charge, the invoice
	refunded int64    // in all, so far
	currency string
	full     bool
}

// inAnother is a refund that is not in the order's currency.
func (r refund) inAnother(d OrderDetail) Unbooked {
	return Unbooked{Ref: r.ref, Refund: true, Cause: causeCurrency, AmountCents: &r.refunded,
		Currency: db.NullText(r.currency), OrderRef: &d.OrderRef,
		Reason: fmt.Sprintf("it refunds %s, but order %s is in %s: refund it by hand with `store order refund`",
			inCurrency(r.refunded, r.currency), d.OrderRef, d.Currency)}
}

// bookRefund brings the order's refund up to the running total; a refund without an
// order waits for it.
func bookRefund(tx *db.Tx, e incoming, r refund) (Received, error) {
	d, isBooked, err := findPayment(&tx.Conn, e.provider, r.names...)
	if err != nil {
		return Received{}, err
	}
	if isBooked && d.Currency != r.currency {
		return recordUnbooked(tx, e, r.inAnother(d))
	}
	payment, _, err := gatherPayment(tx, e.provider, r.names, d.id, true)
	if err != nil {
		return Received{}, err
	}
	more, err := tx.Exec(`UPDATE store_payments SET refunded_cents = ?1, refund_currency = ?2, refund_event = ?3
		WHERE id = ?4 AND refunded_cents < ?1`,
		r.refunded, r.currency, e.id, payment)
	if err != nil {
		return Received{}, err
	}
	if !isBooked {
		removed := 0
		if r.full { // a payment that was given back leaves nothing open
			if removed, err = deleteUnbooked(tx, e.provider, r.names, true); err != nil {
				return Received{}, err
			}
		}
		setWaiting(tx, payment, more > 0 && removed == 0)
		return e.done(tx, outcomeKept, "no order has this payment yet; the refund is kept until one does")
	}
	after, err := reconcile(tx, d, payment, true)
	switch {
	case err != nil:
		return Received{}, err
	case after.RefundedCents == d.RefundedCents:
		return e.done(tx, outcomeRepeated, "order "+d.OrderRef+" is refunded to this amount already")
	}
	return e.done(tx, outcomeRefunded, fmt.Sprintf("order %s: %s of %s are refunded", d.OrderRef,
		inCurrency(after.RefundedCents, d.Currency), inCurrency(d.TotalCents, d.Currency)))
}
