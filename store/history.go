package store

import (
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// orderTable is `import store orders`: history, known by provider and provider_ref.
// Licenses are issued; order.paid is emitted only if the import says so.
func (s *Service) orderTable() schema.Table {
	return schema.Table{
		Name: "orders", About: "Sales, known by provider and provider_ref. New ones issue their licenses and emit nothing unless told to. " +
			"Of one that is there the buyer and the amounts can be corrected; what its licenses came of cannot.",
		Options: []string{"emit"},
		Row:     bindOrderRow,
		Export: func(c *db.Conn, emit func(cells ...string) error) error {
			return db.Each(c, func(r *db.Row) error { return emit(orderCells(scanOrder(r))...) },
				"SELECT "+orderColumns+" FROM "+orderTables+" ORDER BY o.id")
		},
	}
}

func orderCells(o Order) []string {
	i := o.Items[0]
	n := func(v int64) string { return strconv.FormatInt(v, 10) }
	return []string{
		o.Provider, o.ProviderRef, o.Customer.Email, o.Customer.Name, i.SKU, textOr(i.Tier, ""), n(i.Qty), n(i.UnitCents),
		n(o.DiscountCents), n(o.TaxCents), o.Currency, o.PaidAt.String(),
	}
}

// orderRow is one line of history.
type orderRow struct {
	provider, ref    string
	email, name      string
	sku, tier        string
	qty              int64
	unit             *int64 // nil is the product's price
	discount, tax    int64
	currency, paidAt string
	emit             bool
	given            func(column string) bool
}

func bindOrderRow(f *schema.Form) schema.Put {
	r := orderRow{qty: 1, given: f.Given, emit: f.Options.Emit}
	f.Text(&r.provider, "provider", "who took the payment, [a-z0-9_-]{1,32}", schema.Required, schema.Most(32), schema.Example("stripe"))
	f.Text(&r.ref, "provider_ref", "the provider's name for the payment", schema.Required, schema.Most(200), schema.Example("pi_3PqX2L"))
	f.Text(&r.email, "email", "the buyer's address; needed for a new order", schema.Most(254), schema.Example("ann@example.com"))
	f.Text(&r.name, "name", "the buyer's name", schema.Most(200), schema.Example("Ann Lee"))
	f.Text(&r.sku, "sku", "the product; needed for a new order", schema.Most(200), schema.Example("PLUGIN"))
	f.Text(&r.tier, "tier", "one of the product's tiers", schema.Most(200))
	f.Int(&r.qty, "qty", "how many units", schema.Range(1, maxQty))
	f.IntPtr(&r.unit, "unit_cents", "the price of a unit; empty is the product's", schema.Range(0, maxPrice))
	f.Int(&r.discount, "discount_cents", "what was taken off the whole order", schema.Range(0, maxPrice))
	f.Int(&r.tax, "tax_cents", "what was put on the whole order", schema.Range(0, maxPrice))
	f.Text(&r.currency, "currency", "ISO 4217; empty is the shop's", schema.Most(3), schema.Example("USD"))
	f.Text(&r.paidAt, "paid_at", "when it was paid, as YYYY-MM-DDTHH:MM:SSZ or YYYY-MM-DD; empty is now", schema.Most(40), schema.Example("2026-11-20T21:05:00Z"))
	return r.put
}

func (r orderRow) put(tx *db.Tx) error {
	if err := checkProvider(r.provider); err != nil {
		return err
	}
	d, found, err := findPayment(&tx.Conn, r.provider, r.ref)
	switch {
	case err != nil:
		return err
	case found:
		return r.correct(tx, d)
	}
	v, err := r.sale(tx)
	if err != nil {
		return err
	}
	_, err = book(tx, v, r.emit)
	return err
}

// sale makes the line a new order.
func (r orderRow) sale(tx *db.Tx) (v sale, err error) {
	v = sale{
		tier: r.tier, name: r.name, rename: true, qty: r.qty,
		discount: r.discount, tax: r.tax, provider: r.provider, ref: r.ref,
	}
	if v.email, err = foldEmail(r.email); err != nil {
		return v, err
	}
	if v.product, err = findProduct(&tx.Conn, r.sku); err != nil {
		return v, err
	}
	if err := v.product.takesTier(r.tier); err != nil {
		return v, err
	}
	v.licensed, v.unit = v.product.Kind == kindLicense, v.product.PriceCents
	if r.unit != nil {
		v.unit = *r.unit
	}
	if v.currency, err = r.inCurrency(tx); err != nil {
		return v, err
	}
	v.paidAt, err = r.paid(tx)
	return v, err
}

func (r orderRow) inCurrency(tx *db.Tx) (string, error) {
	if r.currency != "" {
		return checkCurrency(r.currency)
	}
	set, err := settings(&tx.Conn)
	return set.Currency, err
}

// paid reads paid_at: an instant, or a day, which is its first instant in the shop's
// zone. It lies between 1970 and a day from now.
func (r orderRow) paid(tx *db.Tx) (exact.Instant, error) {
	if r.paidAt == "" {
		return tx.Now(), nil
	}
	at, ok := exact.ParseInstant(r.paidAt)
	if day, isDay := exact.ParseDay(r.paidAt); isDay {
		at, ok = exact.InstantOf(day.Time(tx.Zone())), true
	}
	const day = 24 * 60 * 60
	if !ok || at < 0 || at > tx.Now()+day {
		return 0, fault.Invalidf("paid_at: %s is not allowed; it takes a time that is past, as YYYY-MM-DDTHH:MM:SSZ or YYYY-MM-DD", schema.Quote(r.paidAt))
	}
	return at, nil
}

// correct brings an order that is there in line with its row, column by column of
// those that the file has. The buyer and the amounts can be corrected. What the
// licenses came of (sku, tier, qty, paid_at) cannot: a row that differs there is
// refused by name. A row that says what is on record changes nothing.
func (r orderRow) correct(tx *db.Tx, d OrderDetail) error {
	if err := r.keepsGoods(tx, d.Order); err != nil {
		return err
	}
	o := d.Order
	v := sale{qty: o.Items[0].Qty, unit: o.Items[0].UnitCents, discount: o.DiscountCents, tax: o.TaxCents, currency: o.Currency, email: o.Customer.Email, name: o.Customer.Name}
	var err error
	if r.given("email") {
		if v.email, err = foldEmail(r.email); err != nil {
			return err
		}
	}
	if r.given("name") {
		v.name = r.name
	}
	if r.given("currency") {
		if v.currency, err = r.inCurrency(tx); err != nil {
			return err
		}
	}
	if r.given("unit_cents") {
		if v.unit, err = r.unitOr(tx, o); err != nil {
			return err
		}
	}
	if r.given("discount_cents") {
		v.discount = r.discount
	}
	if r.given("tax_cents") {
		v.tax = r.tax
	}
	if err := v.checkAmounts(); err != nil {
		return err
	}
	whole := o.Status == statusPaid && o.RefundedCents > 0 && v.total() == o.RefundedCents // it would be refunded in full, unsaid
	if v.total() < o.RefundedCents || whole || o.Status == statusRefunded && v.total() != o.TotalCents {
		return fault.Conflictf("order %s would come to %d cents, and %d of it are refunded; refund it in full with `store order refund` if that is meant",
			o.OrderRef, v.total(), o.RefundedCents)
	}
	return correctOrder(tx, o, v)
}

func (r orderRow) unitOr(tx *db.Tx, o Order) (int64, error) {
	if r.unit != nil {
		return *r.unit, nil
	}
	p, err := findProduct(&tx.Conn, o.Items[0].SKU)
	return p.PriceCents, err
}

// keepsGoods refuses a row that says something else was sold, or at another time.
func (r orderRow) keepsGoods(tx *db.Tx, o Order) error {
	i := o.Items[0]
	differs := func(column, is, says string) error {
		return fault.Conflictf("%s: order %s (%s %s) is on record with %s, not %s; its licenses came of that, so it cannot be corrected by an import",
			column, o.OrderRef, o.Provider, o.ProviderRef, schema.Quote(is), schema.Quote(says))
	}
	switch {
	case r.given("sku") && r.sku != i.SKU:
		return differs("sku", i.SKU, r.sku)
	case r.given("tier") && r.tier != textOr(i.Tier, ""):
		return differs("tier", textOr(i.Tier, ""), r.tier)
	case r.given("qty") && r.qty != i.Qty:
		return differs("qty", strconv.FormatInt(i.Qty, 10), strconv.FormatInt(r.qty, 10))
	case r.given("paid_at") && strings.TrimSpace(r.paidAt) != "":
		at, err := r.paid(tx)
		if err == nil && at != o.PaidAt {
			err = differs("paid_at", o.PaidAt.String(), r.paidAt)
		}
		return err
	}
	return nil
}

// correctOrder stores another buyer and other amounts, and moves what was counted.
func correctOrder(tx *db.Tx, o Order, v sale) error {
	i := o.Items[0]
	moved := v.email != o.Customer.Email
	renamed := v.name != "" && v.name != o.Customer.Name
	recounted := v.unit != i.UnitCents || v.discount != o.DiscountCents || v.tax != o.TaxCents || v.currency != o.Currency
	if !moved && !renamed && !recounted {
		return nil
	}
	customer, err := ensureCustomer(tx, v.email, v.name, true)
	if err != nil {
		return err
	}
	if _, err := tx.Exec("UPDATE store_orders SET customer_id = ?, unit_cents = ?, discount_cents = ?, tax_cents = ?, total_cents = ?, currency = ? WHERE id = ?",
		customer.ID, v.unit, v.discount, v.tax, v.total(), v.currency, o.id); err != nil {
		return err
	}
	for _, m := range []struct {
		kind, currency string
		n              int64
	}{
		{grossCents, o.Currency, -o.TotalCents}, {grossCents, v.currency, v.total()},
		{refundedCents, o.Currency, -o.RefundedCents}, {refundedCents, v.currency, o.RefundedCents},
	} {
		if err := addMoney(tx, m.kind, m.currency, m.n); err != nil {
			return err
		}
	}
	for _, id := range []int64{o.Customer.ID, customer.ID} {
		if err := recountCustomer(tx, id); err != nil {
			return err
		}
	}
	return tx.Audit("order.corrected", "order:"+o.OrderRef, map[string]any{
		"email": v.email, "total_cents": v.total(), "currency": v.currency,
	})
}
