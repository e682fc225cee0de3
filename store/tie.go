package store

import (
	"quartermaster/schema/db"
)

// begin makes an order that is stored what a subscription began with: its licenses end with what is paid for.
func begin(tx *db.Tx, s subscription, d OrderDetail) (subscription, error) {
	for _, query := range []string{
		"UPDATE store_orders SET subscription_id = ? WHERE id = ?",
		"UPDATE store_licenses SET subscription_id = ? WHERE order_id = ?",
		"UPDATE store_subscriptions SET order_id = ?2 WHERE id = ?1",
	} {
		tx.Do(query, s.id, d.id)
	}
	ends := d.PaidAt + checkoutGrace
	for _, l := range d.Licenses {
		if l.ExpiresAt == nil {
			setEnd(tx, l, &ends)
		}
	}
	s.order, s.linked = d.id, false
	return s, renew(tx, s.id)
}

// link links licenses to a subscription that did not issue them. That moves no end: later payments may only move it
// forward.
func link(tx *db.Tx, s subscription, order int64, licenses []License) (subscription, error) {
	for _, l := range licenses {
		tx.Do(`UPDATE store_licenses SET subscription_id = ?, extended_until = max(ifnull(extended_until, 0),
			expires_at) WHERE id = ?`,
			s.id, l.ID)
	}
	if s.order == 0 {
		tx.Do("UPDATE store_subscriptions SET order_id = ? WHERE id = ?", order, s.id)
		s.order, s.linked = order, true
	}
	return s, nil
}

// tieToOrder ties a subscription to the order that its provider says it began with, if that is stored; else the order
// is tied when it comes.
func tieToOrder(tx *db.Tx, s subscription, provider, ref string) error {
	tx.Do("UPDATE store_subscriptions SET told_order = ? WHERE id = ? AND told_order IS NULL", ref,
		s.id)
	id, found, err := db.One(&tx.Conn, db.Int, "SELECT id FROM store_orders WHERE provider = ? AND provider_ref = ?",
		provider, ref)
	if err != nil || !found {
		return err
	}
	if s, err = tie(tx, s, id); err != nil || s.order == 0 {
		return err
	}
	return bookInvoices(tx, s, true)
}

// tieWaiting ties an order that was just booked to the subscription that waits for it: one that was
// told to begin with it, or whose first invoice is its payment.
func tieWaiting(tx *db.Tx, order int64, v sale, payment int64) (s subscription, err error) {
	ref, found, err := db.One(&tx.Conn, db.Text, `SELECT ref FROM store_subscriptions WHERE provider = ?1
		AND told_order = ?2 AND order_id IS NULL
		UNION ALL SELECT s.ref FROM store_invoices i CROSS JOIN store_subscriptions s ON s.id = i.subscription_id
		WHERE i.payment_id = ?3 AND i.opens = 1 AND s.order_id IS NULL AND s.provider = ?1 LIMIT 1`, v.provider, v.ref,
		payment)
	if err != nil || !found {
		return s, err
	}
	if s, err = ensureSubscription(tx, v.provider, ref); err != nil {
		return s, err
	}
	return tie(tx, s, order)
}

// tie makes an order the one that a subscription began with. An order that the provider told of
// begins it; of one that was imported or recorded by hand the licenses keep their end.
func tie(tx *db.Tx, s subscription, order int64) (subscription, error) {
	d, err := orderByID(&tx.Conn, order)
	if err != nil || s.order != 0 || d.subscription != 0 {
		return s, err
	}
	toldAt, _, err := db.One(&tx.Conn, (*db.Row).InstantPtr, "SELECT paid_at FROM store_payments WHERE order_id = ?",
		order)
	if err != nil {
		return s, err
	}
	if toldAt != nil {
		notePayment(tx, s.id, microsOf(*toldAt))
		return begin(tx, s, d)
	}
	var free []License
	for _, l := range d.Licenses {
		if l.Subscription == nil {
			free = append(free, l)
		}
	}
	return link(tx, s, order, free)
}
