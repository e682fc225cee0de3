package store

import (
	"context"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// NewOrder is an order to be recorded by hand. What may be left out: Name, Tier, Qty
// (0 is 1), Total (nil is the product's price for each), Currency (the shop's),
// Provider (manual), ProviderRef (the order_ref).
type NewOrder struct {
	Email, Name           string
	SKU, Tier             string
	Qty                   int64
	Total                 *int64 // cents
	Currency              string
	Provider, ProviderRef string
}

// Recorded is an order with its licenses, and whether it was there before.
type Recorded struct {
	OrderDetail
	AlreadyRecorded bool `json:"already_recorded" about:"the provider's payment was on record: nothing was done"`
}

const maxQty = 1000

// RecordOrder records a paid order, issues its licenses and emits order.paid. A
// payment that is on record (the same provider and provider_ref) is that order,
// unchanged. A total under the price is kept as a discount. Refused: an unknown sku,
// a tier that the product does not have, a qty out of 1 to 1000, a total out of
// range, a currency, provider or address that is none.
func (s *Service) RecordOrder(ctx context.Context, who db.Caller, n NewOrder) (Recorded, error) {
	if err := n.check(); err != nil {
		return Recorded{}, err
	}
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (Recorded, error) {
		if n.ProviderRef != "" {
			was, found, err := findPayment(&tx.Conn, n.Provider, n.ProviderRef)
			if err != nil || found {
				return Recorded{OrderDetail: was.shownTo(who), AlreadyRecorded: true}, err
			}
		}
		v, err := n.sale(tx)
		if err != nil {
			return Recorded{}, err
		}
		d, err := book(tx, v, true)
		return Recorded{OrderDetail: d.shownTo(who)}, err
	})
}

// check trims and defaults what stands by itself.
func (n *NewOrder) check() (err error) {
	if n.Email, err = foldEmail(n.Email); err != nil {
		return err
	}
	if n.Name, err = checkName(n.Name); err != nil {
		return err
	}
	n.SKU, n.Tier = strings.TrimSpace(n.SKU), strings.TrimSpace(n.Tier)
	if n.Qty == 0 {
		n.Qty = 1
	}
	if n.Qty < 1 || n.Qty > maxQty {
		return fault.Invalidf("qty: %d is out of range; it takes 1 to %d", n.Qty, maxQty)
	}
	if n.Total != nil && (*n.Total < 0 || *n.Total > maxPrice) {
		return fault.Invalidf("total: %d is out of range; it takes 0 to %d cents", *n.Total, int64(maxPrice))
	}
	if n.Currency != "" {
		if n.Currency, err = checkCurrency(n.Currency); err != nil {
			return err
		}
	}
	if n.Provider == "" {
		n.Provider = "manual"
	}
	if err := checkProvider(n.Provider); err != nil {
		return err
	}
	n.ProviderRef = strings.TrimSpace(n.ProviderRef)
	return schema.CheckText("provider_ref", n.ProviderRef, 200)
}

func (n NewOrder) sale(tx *db.Tx) (sale, error) {
	p, err := findProduct(&tx.Conn, n.SKU)
	if err != nil {
		return sale{}, err
	}
	if n.Currency == "" {
		set, err := settings(&tx.Conn)
		if err != nil {
			return sale{}, err
		}
		n.Currency = set.Currency
	}
	v := sale{
		product: p, tier: n.Tier, email: n.Email, name: n.Name, rename: true, qty: n.Qty,
		currency: n.Currency, provider: n.Provider, ref: n.ProviderRef, paidAt: tx.Now(), licensed: p.Kind == kindLicense,
	}
	v.unit, v.discount = priced(p.PriceCents, n.Qty, n.Total)
	return v, p.takesTier(n.Tier)
}

// priced gives the price of a unit and the discount that make a total of qty units:
// the product's own price where that reaches the total, else the least that does.
func priced(price, qty int64, total *int64) (unit, discount int64) {
	if total == nil {
		return price, 0
	}
	if unit = price; unit*qty < *total {
		unit = (*total + qty - 1) / qty
	}
	return unit, unit*qty - *total
}

// sale is an order about to be booked.
type sale struct {
	product       Product
	tier          string // "" is none
	licensed      bool   // issues a license a unit
	email, name   string // the address folded
	rename        bool   // the name replaces the one on record
	qty, unit     int64
	discount, tax int64
	currency      string
	provider, ref string // ref "" is the order_ref
	paidAt        exact.Instant
}

func (v sale) total() int64 { return v.qty*v.unit - v.discount + v.tax }

// checkAmounts refuses amounts that are no sale.
func (v sale) checkAmounts() error {
	for _, a := range []struct {
		name  string
		cents int64
	}{{"unit_cents", v.unit}, {"discount_cents", v.discount}, {"tax_cents", v.tax}} {
		if a.cents < 0 || a.cents > maxPrice {
			return fault.Invalidf("%s: %d is out of range; it takes 0 to %d cents", a.name, a.cents, int64(maxPrice))
		}
	}
	switch total := v.total(); {
	case total < 0:
		return fault.Invalidf("discount_cents: %d is more than the order comes to, which is %d", v.discount, total+v.discount)
	case total > maxPrice:
		return fault.Invalidf("the order comes to %d cents; at most %d are taken", total, int64(maxPrice))
	}
	return nil
}

// book writes a paid order with its licenses, the customer, the totals and the audit
// entry, and emits order.paid if emit says so. A refund that came before is applied.
func book(tx *db.Tx, v sale, emit bool) (OrderDetail, error) {
	if err := v.checkAmounts(); err != nil {
		return OrderDetail{}, err
	}
	if v.paidAt == tx.Now() { // when its licenses expire is counted from it
		if err := tx.CheckClock(); err != nil {
			return OrderDetail{}, err
		}
	}
	customer, err := ensureCustomer(tx, v.email, v.name, v.rename)
	if err != nil {
		return OrderDetail{}, err
	}
	ref, err := freshRef(tx)
	if err != nil {
		return OrderDetail{}, err
	}
	if v.ref == "" {
		v.ref = ref
	}
	id, err := tx.Insert(`INSERT INTO store_orders (order_ref, provider, provider_ref, status, customer_id, product_id, product_name, tier,
		qty, unit_cents, discount_cents, tax_cents, total_cents, currency, paid_at, created_at)
		VALUES (?, ?, ?, 'paid', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		ref, v.provider, v.ref, customer.ID, v.product.id, v.product.Name, orNil(v.tier),
		v.qty, v.unit, v.discount, v.tax, v.total(), v.currency, v.paidAt, tx.Now())
	if err != nil {
		return OrderDetail{}, err
	}
	if v.licensed {
		if err := issue(tx, id, ref, v); err != nil {
			return OrderDetail{}, err
		}
	}
	if err := countSale(tx, customer.ID, v); err != nil {
		return OrderDetail{}, err
	}
	if err := tx.Audit("order.recorded", "order:"+ref, map[string]any{
		"provider": v.provider, "provider_ref": v.ref, "sku": v.product.SKU, "tier": orNil(v.tier), "qty": v.qty,
		"total_cents": v.total(), "currency": v.currency,
	}); err != nil {
		return OrderDetail{}, err
	}
	d, err := findOrder(&tx.Conn, ref)
	if err != nil {
		return d, err
	}
	if emit {
		if err := tx.Emit("order.paid", d); err != nil {
			return d, err
		}
	}
	return settle(tx, d, emit)
}

// countSale moves the totals and what is kept of the customer.
func countSale(tx *db.Tx, customer int64, v sale) error {
	if err := add(tx, ordersPaid, 1); err != nil {
		return err
	}
	if err := addMoney(tx, grossCents, v.currency, v.total()); err != nil {
		return err
	}
	_, err := tx.Exec(`UPDATE store_customers SET paid_orders = paid_orders + 1,
		first_order_at = min(ifnull(first_order_at, ?1), ?1), last_order_at = max(ifnull(last_order_at, ?1), ?1) WHERE id = ?2`,
		v.paidAt, customer)
	return err
}

// settle clears what waited for the order: the note that its payment could not be
// booked, and a refund that came first.
func settle(tx *db.Tx, d OrderDetail, emit bool) (OrderDetail, error) {
	if err := paid(tx, d.Provider, d.ProviderRef); err != nil {
		return d, err
	}
	var event string
	early, found, err := db.One(&tx.Conn, func(r *db.Row) refund {
		early := refund{ref: d.ProviderRef, refunded: r.Int(), currency: r.Text()}
		event = r.Text()
		return early
	}, "SELECT refunded_cents, currency, event_id FROM store_early_refunds WHERE provider = ? AND provider_ref = ?", d.Provider, d.ProviderRef)
	if err != nil || !found {
		return d, err
	}
	if _, err := tx.Exec("DELETE FROM store_early_refunds WHERE provider = ? AND provider_ref = ?", d.Provider, d.ProviderRef); err != nil {
		return d, err
	}
	if early.currency != d.Currency {
		t := early.inAnother(d)
		t.provider, t.event = d.Provider, event
		return d, t.note(tx)
	}
	refunded, err := refundTo(tx, d, min(early.refunded, d.TotalCents), emit)
	return refunded.OrderDetail, err
}

// freshRef gives an order_ref that no order has.
func freshRef(tx *db.Tx) (string, error) {
	for {
		ref := newRef()
		_, taken, err := db.One(&tx.Conn, db.Int, "SELECT 1 FROM store_orders WHERE order_ref = ?", ref)
		if err != nil || !taken {
			return ref, err
		}
	}
}
