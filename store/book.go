package store

import (
	"cmp"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/words"
)

// sale is an order about to be booked.
type sale struct {
	lines         []line
	email, name   string // the address folded
	rename        bool   // the name replaces the stored one
	discount, tax int64
	priced        int64 // what the lines cost by their prices
	currency      string
	provider, ref string   // ref "" is the order_ref
	names         []string // the provider's other names for the payment
	paidAt        exact.Instant
	told          micros // payment time by the provider's clock; 0: unknown
	planChange    bool   // it pays for a change of plan
	subscription  int64  // 0 is none
	renewal       bool   // a later payment of the subscription: issues nothing
	unmailed      bool   // the buyer gets no message: it is imported, or the seller says so
	history       bool   // an import of orders without their events: imported keys may replace its licenses
}

func (v sale) total() int64 { return subtotal(v.lines) - v.discount + v.tax }

// checkAmounts refuses amounts that are not a sale's.
func (v sale) checkAmounts() error {
	amounts := []struct {
		name  string
		cents int64
	}{{"discount_cents", v.discount}, {"tax_cents", v.tax}}
	for _, l := range v.lines {
		amounts = append(amounts, struct {
			name  string
			cents int64
		}{"unit_cents", l.unit})
	}
	for _, a := range amounts {
		if a.cents < 0 || a.cents > maxPrice {
			return fault.Fieldf(a.name, "%s: %d is out of range; it takes 0 to %d cents", a.name, fault.Cents(a.cents),
				fault.Cents(maxPrice))
		}
	}
	switch total := v.total(); {
	case total < 0:
		return fault.Fieldf("discount_cents",
			"discount_cents: %d is more than the order's %d", fault.Cents(v.discount), fault.Cents(total+v.discount))
	case total > maxPrice:
		return fault.Fieldf("lines",
			"the order comes to %d cents; at most %d are allowed", fault.Cents(total), fault.Cents(maxPrice))
	}
	return nil
}

// book writes a paid order with its licenses, the customer, the totals and the audit entry, and emits order.paid if
// emit is set. Earlier events of the payment (a refund, a dispute) are applied.
func book(tx *db.Tx, v sale, emit bool) (OrderDetail, error) {
	if err := v.checkAmounts(); err != nil {
		return OrderDetail{}, err
	}
	if v.paidAt == tx.Now() { // its licenses' end is counted from it
		if err := tx.CheckClock(); err != nil {
			return OrderDetail{}, err
		}
	}
	customer, err := ensureCustomer(tx, v.email, v.name, v.rename)
	if err != nil {
		return OrderDetail{}, err
	}
	id, ref, err := insertOrder(tx, customer, &v)
	if err != nil {
		return OrderDetail{}, err
	}
	if !v.renewal {
		for _, l := range v.lines {
			issue(tx, id, ref, v, l)
		}
	}
	countSale(tx, customer.ID, v)
	if err := tx.Audit("order.recorded", "order:"+ref, v.entry()); err != nil {
		return OrderDetail{}, err
	}
	return attach(tx, id, v, emit)
}

// entry is a sale's audit entry: the one line, or all of several.
func (v sale) entry() map[string]any {
	entry := map[string]any{"provider": v.provider, "provider_ref": v.ref, "total_cents": v.total(),
		"currency": v.currency}
	if v.renewal {
		entry["renewal"] = true
	}
	type sold struct {
		SKU  string  `json:"sku"`
		Tier *string `json:"tier"`
		Qty  int64   `json:"qty"`
	}
	if l := v.lines[0]; len(v.lines) == 1 {
		entry["sku"], entry["tier"], entry["qty"] = l.product.SKU, db.NullText(l.tier), l.qty
		return entry
	}
	list := schema.Map(v.lines, func(l line) sold {
		return sold{SKU: l.product.SKU, Tier: db.NullText(l.tier), Qty: l.qty}
	})
	entry["lines"] = list
	return entry
}

// insertOrder stores the order with its lines and search terms, and sets its reference.
func insertOrder(tx *db.Tx, customer Customer, v *sale) (id int64, ref string, err error) {
	if ref, err = freshRef(tx); err != nil {
		return 0, "", err
	}
	v.ref = cmp.Or(v.ref, ref)
	var subscription *int64
	if v.subscription != 0 {
		subscription = &v.subscription
	}
	id, err = tx.InsertRow("store_orders",
		"order_ref, provider, provider_ref, status, paid_at, created_at, subscription_id, renews, plan_change, "+orderSets,
		ref, v.provider, v.ref, statusPaid, v.paidAt, tx.Now(), subscription, v.renewal, v.planChange,
		customer.ID, subtotal(v.lines), v.discount, v.tax, v.total(), v.currency)
	if err != nil {
		return 0, "", err
	}
	known := []string{ref, v.ref, customer.Email, customer.Name}
	for i, l := range v.lines {
		tx.Do(`INSERT INTO store_order_lines (order_id, line, product_id, product_name, tier, qty, unit_cents)
			VALUES (?, ?, ?, ?, ?, ?, ?)`, id, i+1, l.product.id, l.product.Name, db.NullText(l.tier), l.qty,
			l.unit)
		known = append(known, l.product.SKU)
	}
	_, err = tx.Exec("INSERT INTO store_find_orders (rowid, words) VALUES (?, ?)", id,
		words.Fold(strings.Join(known, "\n")))
	return id, ref, err
}

// countSale changes the totals and the customer's sums.
func countSale(tx *db.Tx, customer int64, v sale) {
	add(tx, ordersPaid, 1)
	addMoney(tx, grossCents, v.currency, v.total())
	tx.Do(`UPDATE store_customers SET paid_orders = paid_orders + 1,
		first_order_at = min(ifnull(first_order_at, ?1), ?1), last_order_at = max(ifnull(last_order_at, ?1), ?1)
		WHERE id = ?2`,
		v.paidAt, customer)
}

// attach joins a new order and what is known of its payment, emits its event, and applies what waited for it.
func attach(tx *db.Tx, id int64, v sale, emit bool) (OrderDetail, error) {
	names := append([]string{v.ref}, v.names...)
	payment, known, err := gatherPayment(tx, v.provider, names, id, len(names) > 1)
	if err != nil {
		return OrderDetail{}, err
	}
	if _, err := deleteUnbooked(tx, v.provider, names, false); err != nil {
		return OrderDetail{}, err
	}
	notePaid(tx, payment, v.told)
	var tied subscription
	if v.subscription == 0 {
		if tied, err = tieWaiting(tx, id, v, payment); err != nil {
			return OrderDetail{}, err
		}
	}
	if v.subscription != 0 {
		if !v.renewal {
			beginSubscription(tx, v.subscription, id)
		}
		if err := renew(tx, v.subscription); err != nil {
			return OrderDetail{}, err
		}
	}
	d, err := orderByID(&tx.Conn, id)
	if err != nil {
		return d, err
	}
	if emit {
		if err := tx.Emit("order.paid", d); err != nil {
			return d, err
		}
		if err := mailOrder(tx, d, v.unmailed); err != nil {
			return d, err
		}
	}
	if tied.id != 0 {
		if err := bookInvoices(tx, tied, emit); err != nil {
			return d, err
		}
		if d, err = orderByID(&tx.Conn, id); err != nil {
			return d, err
		}
	}
	if !known {
		return d, nil
	}
	return reconcile(tx, d, payment, emit)
}

// freshRef returns an order_ref that no order has.
func freshRef(tx *db.Tx) (string, error) {
	for {
		ref := newRef()
		_, taken, err := db.One(&tx.Conn, db.Int, "SELECT 1 FROM store_orders WHERE order_ref = ?", ref)
		if err != nil || !taken {
			return ref, err
		}
	}
}
