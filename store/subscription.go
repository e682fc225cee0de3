package store

import (
	"fmt"

	"quartermaster/schema"
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
	id            int64
	provider, ref string
	order         int64 // the checkout's; 0 until it comes
	linked        bool  // a person tied it to licenses that its order did not issue for it
}

// ensureSubscription returns the subscription of the name, noted from now on.
func ensureSubscription(tx *db.Tx, provider, ref string) (subscription, error) {
	was, found, err := db.One(&tx.Conn, func(r *db.Row) subscription {
		return subscription{id: r.Int(), provider: provider, ref: ref, order: r.Int(), linked: r.Bool()}
	}, `SELECT s.id, ifnull(s.order_id, 0), o.id IS NOT NULL AND o.subscription_id IS NOT s.id
		FROM store_subscriptions s LEFT JOIN store_orders o ON o.id = s.order_id WHERE s.provider = ? AND s.ref = ?`,
		provider, ref)
	if err != nil || found {
		return was, err
	}
	s := subscription{provider: provider, ref: ref}
	s.id, err = tx.Insert("INSERT INTO store_subscriptions (provider, ref) VALUES (?, ?)", provider, ref)
	return s, err
}

// beginSubscription makes an order the subscription's checkout. Later checkouts of the
// same subscription do not change it.
func beginSubscription(tx *db.Tx, id, order int64) {
	tx.Do("UPDATE store_subscriptions SET order_id = ? WHERE id = ? AND order_id IS NULL", order, id)
}

// paidUntil is until when the subscription s is paid, as SQL: 3 days after the latest period of a payment that was not
// refunded, and 7 days after a payment without a period; NULL if there is none. The period of a payment without one is
// the earliest reported that ends over a day after it.
const paidUntil = `ifnull((SELECT max(ifnull(ifnull(i.period_end, (SELECT min(t.ends_at) FROM store_told_periods t
			WHERE t.subscription_id = s.id AND t.ends_at > ifnull(p.paid_at, o.paid_at) + 86400)) + 259200, o.paid_at + 604800))
		FROM store_orders o LEFT JOIN store_payments p ON p.order_id = o.id LEFT JOIN store_invoices i ON i.payment_id = p.id
		WHERE o.subscription_id = s.id AND o.status = 'paid'),
	(SELECT o.paid_at + 604800 FROM store_orders o WHERE o.id = s.order_id AND o.subscription_id = s.id))`

// renew sets the end of a subscription's licenses by the payments, and never before an extension by staff. A license
// without an end stays so.
func renew(tx *db.Tx, id int64) error {
	paid, _, err := db.One(&tx.Conn, (*db.Row).InstantPtr, "SELECT "+paidUntil+
		" FROM store_subscriptions s WHERE s.id = ?", id)
	if err != nil || paid == nil {
		return err
	}
	type license struct {
		License
		until exact.Instant
	}
	list, err := db.All(&tx.Conn, func(r *db.Row) license {
		l := license{until: r.Instant()}
		l.License = scanLicense(tx.Now())(r)
		return l
	}, "SELECT ifnull(l.extended_until, 0), "+licenseColumns+" FROM "+licenseTables+
		" WHERE l.subscription_id = ? ORDER BY l.id", id)
	if err != nil {
		return err
	}
	for _, l := range list {
		if l.ExpiresAt == nil {
			continue
		}
		ends := max(*paid, l.until)
		setEnd(tx, l.License, &ends)
	}
	return nil
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
		case i.opens && (!s.linked || s.provider == lemonSqueezy):
			payment, _, err := gatherPayment(tx, s.provider, []string{i.ref, i.payment}, s.order, true)
			if err != nil {
				return err
			}
			d, err := orderByID(&tx.Conn, s.order)
			if err != nil {
				return err
			}
			if _, err := deleteUnbooked(tx, s.provider, []string{i.ref, i.payment}, false); err != nil {
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

// bookRenewal makes a later invoice an order of the checkout's products and buyer; of a subscription
// that was linked, of its licenses' products.
func bookRenewal(tx *db.Tx, s subscription, i invoice, emit bool) (OrderDetail, error) {
	first, err := orderByID(&tx.Conn, s.order)
	if err != nil {
		return first, err
	}
	v := sale{
		email: first.Customer.Email, name: first.Customer.Name, tax: i.tax, currency: i.currency, planChange: i.planChange,
		provider: s.provider, ref: i.payment, names: []string{i.ref}, paidAt: tx.Now(), subscription: s.id, renewal: true,
	}
	items := first.Items
	if s.linked {
		items, err = db.All(&tx.Conn, scanItem, `SELECT p.sku, p.name, l.tier, count(*), p.price_cents FROM store_licenses l
			CROSS JOIN store_products p ON p.id = l.product_id WHERE l.subscription_id = ? GROUP BY p.id, l.tier
			ORDER BY min(l.id)`, s.id)
		if err != nil {
			return first, err
		}
	}
	for _, item := range items {
		p, err := findProduct(&tx.Conn, item.SKU)
		if err != nil {
			return first, err
		}
		v.lines = append(v.lines, line{product: p, tier: schema.Cell(item.Tier), qty: item.Qty, unit: item.UnitCents})
	}
	if i.tax > i.total {
		return first, fmt.Errorf("invoice %s comes to less than its tax", i.ref)
	}
	v.discount = priceTo(v.lines, i.total-i.tax)
	return book(tx, v, emit)
}
