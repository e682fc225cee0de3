package store

import (
	"slices"
	"strings"

	"quartermaster/schema/db"
)

// A provider calls one payment by several names: the payment intent, its charge, its invoice, the session. What it
// reports (a refund, a dispute, an invoice) belongs to the payment, by any of its names and whether or not the order
// exists yet. So a payment is a row of store_payments with all known names. Payments that turn out to be the same are
// joined. An order and its payment's facts are reconciled whenever either changes: the result does not depend on the
// order of events.

// findPayment returns the order of a payment by any of its names, if there is one.
func findPayment(c *db.Conn, provider string, names ...string) (OrderDetail, bool, error) {
	id, err := orderOf(c, provider, names)
	if err != nil || id == 0 {
		return OrderDetail{}, false, err
	}
	d, err := orderByID(c, id)
	return d, err == nil, err
}

// orderOf is the id of the order that has one of the names; 0 is none.
func orderOf(c *db.Conn, provider string, names []string) (int64, error) {
	for _, query := range []string{
		"SELECT id FROM store_orders WHERE provider = ? AND provider_ref = ?",
		`SELECT ifnull(p.order_id, 0) FROM store_payment_names n CROSS JOIN store_payments p ON p.id = n.payment_id
			WHERE n.provider = ? AND n.name = ?`,
	} {
		for _, name := range names {
			if name == "" {
				continue
			}
			id, found, err := db.One(c, db.Int, query, provider, name)
			if err != nil {
				return 0, err
			}
			if !found || id == 0 {
				continue
			}
			other, err := another(c, names, name, "SELECT provider_ref FROM store_orders WHERE id = ?1 UNION ALL "+
				"SELECT n.name FROM store_payments p CROSS JOIN store_payment_names n ON n.payment_id = p.id WHERE p.order_id = ?1",
				id)
			if err != nil || !other {
				return id, err
			}
		}
	}
	return 0, nil
}

// another reports whether the payment found by a name is nevertheless another one: both have payment intents, and none
// in common. The query returns all names of what was found.
func another(c *db.Conn, names []string, by, query string, id int64) (bool, error) {
	intents := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !isIntent(n) })
	if len(intents) == 0 || isIntent(by) {
		return false, nil
	}
	has, err := db.All(c, db.Text, query, id)
	if err != nil || !slices.ContainsFunc(has, isIntent) {
		return false, err
	}
	return !slices.ContainsFunc(has, func(n string) bool { return slices.Contains(intents, n) }), nil
}

// isIntent tells a payment intent of Stripe's from its other names.
func isIntent(name string) bool { return strings.HasPrefix(name, "pi_") }

// gatherPayment returns the payment with any of the names, and gives it all of them. Payments that turn out to be the
// same are joined. order is the payment's order, 0 to find it by the names. Without a payment a new one is made if
// create is set; else known is false.
func gatherPayment(tx *db.Tx, provider string, names []string, order int64, create bool) (id int64, known bool,
	err error) {
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "" })
	if order == 0 {
		if order, err = orderOf(&tx.Conn, provider, names); err != nil {
			return 0, false, err
		}
	}
	found, err := paymentsNamed(&tx.Conn, provider, names, order)
	if err != nil {
		return 0, false, err
	}
	switch {
	case len(found) > 0:
		id = found[0]
	case !create:
		return 0, false, nil
	default:
		if id, err = tx.Insert("INSERT INTO store_payments (provider, at) VALUES (?, ?)", provider, tx.Now()); err != nil {
			return 0, false, err
		}
	}
	for i := 1; i < len(found); i++ {
		joinPayments(tx, id, found[i])
	}
	if order != 0 {
		tx.Do("UPDATE store_payments SET order_id = ?1 WHERE id = ?2 AND order_id IS NOT ?1", order,
			id)
	}
	for _, name := range names {
		tx.Do("INSERT OR IGNORE INTO store_payment_names (provider, name, payment_id) VALUES (?, ?, ?)",
			provider, name, id)
	}
	return id, true, nil
}

// paymentsNamed lists the payments of the names and of the order, the order's own first.
// One that has another order is left out: two orders are never one payment.
func paymentsNamed(c *db.Conn, provider string, names []string, order int64) ([]int64, error) {
	var found []int64
	note := func(r *db.Row) error {
		if id := r.Int(); !slices.Contains(found, id) {
			found = append(found, id)
		}
		return nil
	}
	if order != 0 {
		if err := db.Each(c, note, "SELECT id FROM store_payments WHERE order_id = ?", order); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		id, named, err := db.One(c, db.Int, `SELECT p.id FROM store_payment_names n CROSS JOIN store_payments p
			ON p.id = n.payment_id
			WHERE n.provider = ?1 AND n.name = ?2 AND (?3 = 0 OR p.order_id IS NULL OR p.order_id = ?3)`, provider, name, order)
		if err != nil {
			return nil, err
		}
		if !named || slices.Contains(found, id) {
			continue
		}
		other, err := another(c, names, name, "SELECT name FROM store_payment_names WHERE payment_id = ?", id)
		if err != nil {
			return nil, err
		}
		if !other {
			found = append(found, id)
		}
	}
	return found, nil
}

// joinPayments moves everything that is known of the payment from to the payment into.
func joinPayments(tx *db.Tx, into, from int64) {
	for _, query := range []string{
		"UPDATE store_payment_names SET payment_id = ?1 WHERE payment_id = ?2",
		"UPDATE store_invoices SET payment_id = ?1 WHERE payment_id = ?2",
		"UPDATE store_disputes SET payment_id = ?1 WHERE payment_id = ?2",
		`UPDATE store_payments SET paid_at = min(ifnull(store_payments.paid_at, p.paid_at), ifnull(p.paid_at,
			store_payments.paid_at))
			FROM store_payments p WHERE store_payments.id = ?1 AND p.id = ?2`,
		`UPDATE store_payments SET waits_from = ifnull(waits_from, (SELECT waits_from FROM store_payments WHERE id = ?2))
			WHERE id = ?1`,
		`UPDATE store_payments SET (refunded_cents, refund_currency, refund_event) =
			(SELECT refunded_cents, refund_currency, refund_event FROM store_payments WHERE id = ?2)
			WHERE id = ?1 AND refunded_cents < (SELECT refunded_cents FROM store_payments WHERE id = ?2)`,
	} {
		tx.Do(query, into, from)
	}
	tx.Do("DELETE FROM store_payments WHERE id = ?", from)
}

// paymentNames lists all names of an order's payment.
func paymentNames(c *db.Conn, d Order) ([]string, error) {
	names, err := db.All(c, db.Text, `SELECT n.name FROM store_payments p CROSS JOIN store_payment_names n
		ON n.payment_id = p.id
		WHERE p.order_id = ?`, d.id)
	if !slices.Contains(names, d.ProviderRef) {
		names = append(names, d.ProviderRef)
	}
	return names, err
}

// reconcile applies to an order what is known of its payment: refunds up to the reported running total, lost disputes
// in addition, licenses suspended while a dispute is open. Repeating it changes nothing.
func reconcile(tx *db.Tx, d OrderDetail, payment int64, emit bool) (OrderDetail, error) {
	told, err := refundTold(tx, d, payment)
	if err != nil {
		return d, err
	}
	disputes, err := disputesOf(tx, d, payment)
	if err != nil {
		return d, err
	}
	var lost, lostBefore int64
	for _, p := range disputes {
		if p.state == disputeLost {
			lost += p.cents
			if p.booked {
				lostBefore += p.cents
			}
		}
	}
	refunded := min(max(d.RefundedCents-lostBefore, told)+lost, d.TotalCents)
	if refunded > d.RefundedCents {
		after, err := refundTo(tx, d, refunded, emit)
		if err != nil {
			return d, err
		}
		d = after.OrderDetail
	}
	held := false
	for _, p := range disputes {
		if p.booked {
			continue
		}
		held = true
		if err := p.book(tx, d); err != nil {
			return d, err
		}
	}
	if d.subscription != 0 { // another name may have told which invoice is the order's
		if err := renew(tx, d.subscription); err != nil {
			return d, err
		}
	} else if !held {
		return d, nil
	}
	return orderByID(&tx.Conn, d.id)
}

// refundTold is the largest running total of refunds reported for the payment. One in another currency is reported to
// the owner and ignored.
func refundTold(tx *db.Tx, d OrderDetail, payment int64) (int64, error) {
	var event string
	r, found, err := db.One(&tx.Conn, func(r *db.Row) refund {
		told := refund{ref: d.ProviderRef, refunded: r.Int(), currency: r.Text()}
		event = r.Text()
		return told
	}, "SELECT refunded_cents, refund_currency, refund_event FROM store_payments WHERE id = ? AND refunded_cents > 0",
		payment)
	if err != nil || !found {
		return 0, err
	}
	if r.currency == d.Currency {
		return r.refunded, nil
	}
	tx.Do("UPDATE store_payments SET refunded_cents = 0 WHERE id = ?", payment)
	t := r.inAnother(d)
	t.Provider, t.Event = d.Provider, event
	return 0, t.insert(tx)
}
