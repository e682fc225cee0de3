package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// amended is the corrected order: its buyer, its amounts, a unit price per line.
type amended struct {
	email, name   string
	units         []int64
	subtotal      int64
	discount, tax int64
	currency      string
}

func (a amended) total() int64 { return a.subtotal - a.discount + a.tax }

// correct changes an existing order to its rows, by the file's columns. The buyer and the amounts can be corrected, and
// refunds added. The basis of the licenses (sku, tier, qty, paid_at) cannot: rows that differ there are refused by
// name. Equal rows change nothing.
func (r orderRow) correct(tx *db.Tx, d OrderDetail, rows []orderRow) (told schema.Outcome, err error) {
	o := d.Order
	if o.Status == statusVoid {
		return told, fault.Conflictf("order %s (%s %s) is void; give the payment another provider_ref", o.OrderRef,
			o.Provider, o.ProviderRef)
	}
	match, err := r.keepsGoods(tx, o, rows)
	if err != nil {
		return told, err
	}
	a := amended{email: o.Customer.Email, name: o.Customer.Name, discount: o.DiscountCents, tax: o.TaxCents,
		currency: o.Currency}
	if r.given("email") && r.email != "" || len(rows) == 1 && r.given("email") {
		if a.email, err = foldEmail(r.email); err != nil {
			return told, err
		}
	}
	if r.given("name") {
		a.name = r.name
	}
	if forgotten(o.Customer.Email) { // an old file does not bring the person back
		a.email, a.name = o.Customer.Email, o.Customer.Name
	}
	if r.given("currency") {
		if a.currency, err = r.inCurrency(tx); err != nil {
			return told, err
		}
	}
	for n, i := range o.Items {
		unit := i.UnitCents
		if match != nil && r.given("unit_cents") {
			if unit, err = match[n].unitOr(tx, i); err != nil {
				return told, err
			}
		}
		a.units = append(a.units, unit)
		a.subtotal += unit * i.Qty
	}
	if r.given("discount_cents") {
		a.discount = r.discount
	}
	if r.given("tax_cents") {
		a.tax = r.tax
	}
	if err := a.check(o); err != nil {
		return told, err
	}
	if err := amend(tx, o, a); err != nil {
		return told, err
	}
	told.Fields = a.differences(o)
	if !r.given("refunds") {
		return told, nil
	}
	if d, err = orderByID(&tx.Conn, o.id); err != nil {
		return told, err
	}
	if len(r.refunds) > 0 && r.refunds.total() != d.RefundedCents {
		told.Fields = append(told.Fields, "refunds")
	}
	return told, r.refunds.complete(tx, d, r.emit)
}

// differences names the changed columns of an order.
func (a amended) differences(o Order) (names []string) {
	priced := false
	for n, i := range o.Items {
		priced = priced || a.units[n] != i.UnitCents
	}
	for _, c := range []struct {
		name    string
		differs bool
	}{
		{"currency", a.currency != o.Currency}, {"discount_cents", a.discount != o.DiscountCents},
		{"email", a.email != o.Customer.Email},
		{"name", a.name != o.Customer.Name}, {"tax_cents", a.tax != o.TaxCents}, {"unit_cents", priced},
	} {
		if c.differs {
			names = append(names, c.name)
		}
	}
	return names
}

// check refuses amounts that are not a sale's, or contradict the refunds.
func (a amended) check(o Order) error {
	v := sale{discount: a.discount, tax: a.tax}
	for n, i := range o.Items {
		v.lines = append(v.lines, line{qty: i.Qty, unit: a.units[n]})
	}
	if err := v.checkAmounts(); err != nil {
		return err
	}
	// it would be refunded in full, implicitly
	whole := o.Status == statusPaid && o.RefundedCents > 0 && a.total() == o.RefundedCents
	if a.total() < o.RefundedCents || whole || o.Status == statusRefunded && a.total() != o.TotalCents {
		return fault.Conflictf(
			"order %s would be %d cents, but %d are refunded already; to refund it in full run `store order refund`",
			o.OrderRef, fault.CentsIn(a.total(), o.Currency), fault.CentsIn(o.RefundedCents, o.Currency))
	}
	return nil
}

func (r orderRow) unitOr(tx *db.Tx, i Item) (int64, error) {
	if r.unit != nil {
		return *r.unit, nil
	}
	p, err := findProduct(&tx.Conn, i.SKU)
	return p.PriceCents, err
}

// keepsGoods refuses rows with other goods or another time. It returns the row of each of the order's items, nil if the
// rows do not name the goods.
func (r orderRow) keepsGoods(tx *db.Tx, o Order, rows []orderRow) ([]orderRow, error) {
	differs := func(column, is, says string) error {
		return fault.Conflictf("%s: order %s (%s %s) is recorded with %s, not %s; an import cannot change that, since "+
			"licenses were issued for it",
			column, o.OrderRef, o.Provider, o.ProviderRef, schema.Quote(is), schema.Quote(says))
	}
	if r.given("paid_at") && strings.TrimSpace(r.paidAt) != "" {
		at, err := r.paid(tx)
		if err == nil && at != o.PaidAt {
			err = differs("paid_at", o.PaidAt.String(), r.paidAt)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(rows) == 1 && len(o.Items) == 1 {
		i := o.Items[0]
		switch {
		case r.given("sku") && r.sku != i.SKU:
			return nil, differs("sku", i.SKU, r.sku)
		case r.given("tier") && r.tier != schema.Cell(i.Tier):
			return nil, differs("tier", schema.Cell(i.Tier), r.tier)
		case r.given("qty") && r.qty != i.Qty:
			return nil, differs("qty", strconv.FormatInt(i.Qty, 10), strconv.FormatInt(r.qty, 10))
		}
		return rows, nil
	}
	if !r.given("sku") {
		return nil, nil
	}
	match := pair(o.Items, rows)
	if match == nil {
		return nil, differs("sku", linesOf(o.Items), rowsOf(rows))
	}
	return match, nil
}

// pair returns for each item a row with the same goods, each row once; nil if the goods differ.
func pair(items []Item, rows []orderRow) []orderRow {
	if len(items) != len(rows) {
		return nil
	}
	left := slices.Clone(rows)
	match := make([]orderRow, 0, len(items))
	for _, i := range items {
		at := slices.IndexFunc(left, func(r orderRow) bool {
			return r.sku == i.SKU && (!r.given("tier") || r.tier == schema.Cell(i.Tier)) && (!r.given("qty") || r.qty == i.Qty)
		})
		if at < 0 {
			return nil
		}
		match = append(match, left[at])
		left = slices.Delete(left, at, at+1)
	}
	return match
}

func goods(sku, tier string, qty int64) string {
	if tier != "" {
		sku += ":" + tier
	}
	return fmt.Sprintf("%s=%d", sku, qty)
}

func linesOf(items []Item) string {
	return strings.Join(schema.Map(items, func(i Item) string { return goods(i.SKU, schema.Cell(i.Tier), i.Qty) }), " ")
}

func rowsOf(rows []orderRow) string {
	return strings.Join(schema.Map(rows, func(r orderRow) string { return goods(r.sku, r.tier, r.qty) }), " ")
}

// amend stores another buyer and other amounts, and updates the counts.
func amend(tx *db.Tx, o Order, a amended) error {
	moved := a.email != o.Customer.Email
	renamed := a.name != "" && a.name != o.Customer.Name
	recounted := a.subtotal != o.SubtotalCents || a.discount != o.DiscountCents || a.tax != o.TaxCents ||
		a.currency != o.Currency
	for n, i := range o.Items {
		recounted = recounted || a.units[n] != i.UnitCents
	}
	if !moved && !renamed && !recounted {
		return nil
	}
	customer, err := ensureCustomer(tx, a.email, a.name, true)
	if err != nil {
		return err
	}
	if err := setAmounts(tx, o, customer.ID, a); err != nil {
		return err
	}
	for _, m := range []struct {
		kind, currency string
		n              int64
	}{
		{grossCents, o.Currency, -o.TotalCents}, {grossCents, a.currency, a.total()},
		{refundedCents, o.Currency, -o.RefundedCents}, {refundedCents, a.currency, o.RefundedCents},
	} {
		addMoney(tx, m.kind, m.currency, m.n)
	}
	for _, id := range []int64{o.Customer.ID, customer.ID} {
		recountCustomer(tx, id)
	}
	return tx.Audit("order.corrected", "order:"+o.OrderRef, map[string]any{
		"email": a.email, "total_cents": a.total(), "currency": a.currency,
	})
}

func setAmounts(tx *db.Tx, o Order, customer int64, a amended) error {
	if err := tx.UpdateRow("store_orders", o.id, orderSets, customer, a.subtotal, a.discount, a.tax, a.total(),
		a.currency); err != nil {
		return err
	}
	lines, err := db.All(&tx.Conn, db.Int, "SELECT line FROM store_order_lines WHERE order_id = ? ORDER BY line", o.id)
	if err != nil {
		return err
	}
	for n, at := range lines {
		tx.Do("UPDATE store_order_lines SET unit_cents = ? WHERE order_id = ? AND line = ?", a.units[n], o.id,
			at)
	}
	return indexOrders(tx, "o.id = ?", o.id)
}
