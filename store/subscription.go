package store

import (
	"fmt"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

const (
	day = 24 * 60 * 60

	renewalGrace  = 3 * day // a license lives on so long after the period that was paid for
	checkoutGrace = 7 * day // and so long after the checkout, until an invoice tells the period
)

// subscription is a subscription as it is stored.
type subscription struct {
	id    int64
	ref   string
	order int64 // the checkout's; 0 until it comes
	ended bool
}

// ensureSubscription returns the subscription of the name, noted from now on.
func ensureSubscription(tx *db.Tx, provider, ref string) (subscription, error) {
	s := subscription{ref: ref}
	was, found, err := db.One(&tx.Conn, func(r *db.Row) subscription {
		return subscription{id: r.Int(), ref: ref, order: r.Int(), ended: r.Bool()}
	}, "SELECT id, ifnull(order_id, 0), ended_at IS NOT NULL FROM store_subscriptions WHERE provider = ? AND ref = ?", provider, ref)
	if err != nil || found {
		return was, err
	}
	s.id, err = tx.Insert("INSERT INTO store_subscriptions (provider, ref) VALUES (?, ?)", provider, ref)
	return s, err
}

// endSubscription notes that a subscription was cancelled: its licenses run out by
// themselves.
func endSubscription(tx *db.Tx, e stripeEvent, ref string) (Received, error) {
	s, err := ensureSubscription(tx, stripe, ref)
	if err != nil {
		return Received{}, err
	}
	if _, err := tx.Exec("UPDATE store_subscriptions SET ended_at = ifnull(ended_at, ?) WHERE id = ?", tx.Now(), s.id); err != nil {
		return Received{}, err
	}
	return e.done(tx, outcomeRecorded, "the subscription ended; its licenses run out by themselves")
}

// beginSubscription makes an order the subscription's checkout. Later checkouts of the
// same subscription do not change it.
func beginSubscription(tx *db.Tx, id, order int64) error {
	_, err := tx.Exec("UPDATE store_subscriptions SET order_id = ? WHERE id = ? AND order_id IS NULL", order, id)
	return err
}

// renew sets the end of a subscription's licenses from what was paid: 3 days after the
// latest period of an invoice whose order was not refunded, 7 days after the checkout
// while there is none; and never before what staff extended a license to.
func renew(tx *db.Tx, id int64) error {
	paidAt, found, err := db.One(&tx.Conn, db.Int,
		"SELECT o.paid_at FROM store_subscriptions s CROSS JOIN store_orders o ON o.id = s.order_id WHERE s.id = ?", id)
	if err != nil || !found {
		return err
	}
	period, err := paidPeriod(&tx.Conn, id)
	if err != nil {
		return err
	}
	ends := exact.Instant(paidAt + checkoutGrace)
	if period != 0 {
		ends = period + renewalGrace
	}
	type license struct {
		License
		until exact.Instant
	}
	list, err := db.All(&tx.Conn, func(r *db.Row) license {
		l := license{until: r.Instant()}
		l.License = scanLicense(tx.Now())(r)
		return l
	}, "SELECT ifnull(l.extended_until, 0), "+licenseColumns+" FROM "+licenseTables+" WHERE l.subscription_id = ? ORDER BY l.id", id)
	if err != nil {
		return err
	}
	for _, l := range list {
		if err := setExpiry(tx, l.License, max(ends, l.until)); err != nil {
			return err
		}
	}
	return nil
}

// paidPeriod is the end of the latest period that was paid for and not refunded; 0 is
// none.
func paidPeriod(c *db.Conn, id int64) (exact.Instant, error) {
	end, _, err := db.One(c, db.Int, `SELECT ifnull(max(i.period_end), 0) FROM store_invoices i
		CROSS JOIN store_payments p ON p.id = i.payment_id CROSS JOIN store_orders o ON o.id = p.order_id
		WHERE i.subscription_id = ? AND o.status = 'paid'`, id)
	return exact.Instant(end), err
}

// bookInvoices books what waits for the subscription's checkout: its first invoice is
// the checkout's payment, each later one an order of its own.
func bookInvoices(tx *db.Tx, s subscription, emit bool) error {
	list, err := db.All(&tx.Conn, scanInvoice, selectInvoice+" WHERE i.subscription_id = ? ORDER BY i.at, i.id", s.id)
	if err != nil {
		return err
	}
	for _, i := range list {
		switch {
		case i.order != 0: // booked
		case i.opens:
			payment, _, err := gatherPayment(tx, stripe, []string{i.ref, i.payment}, s.order, true)
			if err != nil {
				return err
			}
			d, err := orderByID(&tx.Conn, s.order)
			if err != nil {
				return err
			}
			if err := deleteBooked(tx, stripe, []string{i.ref, i.payment}); err != nil {
				return err
			}
			if _, err := reconcile(tx, d, payment, emit); err != nil {
				return err
			}
		default:
			if _, err := bookRenewal(tx, s, i, emit); err != nil {
				return err
			}
		}
	}
	return renew(tx, s.id)
}

// bookRenewal makes a later invoice an order of the checkout's products and buyer.
func bookRenewal(tx *db.Tx, s subscription, i invoice, emit bool) (OrderDetail, error) {
	first, err := orderByID(&tx.Conn, s.order)
	if err != nil {
		return first, err
	}
	v := sale{
		email: first.Customer.Email, name: first.Customer.Name, tax: i.tax, currency: i.currency,
		provider: stripe, ref: i.payment, names: []string{i.ref}, paidAt: tx.Now(), subscription: s.id, renewal: true,
	}
	for _, item := range first.Items {
		p, err := findProduct(&tx.Conn, item.SKU)
		if err != nil {
			return first, err
		}
		v.lines = append(v.lines, line{product: p, tier: textOr(item.Tier, ""), qty: item.Qty, unit: item.UnitCents})
	}
	if i.tax > i.total {
		return first, fmt.Errorf("invoice %s comes to less than its tax", i.ref)
	}
	v.discount = priceTo(v.lines, i.total-i.tax)
	return book(tx, v, emit)
}
