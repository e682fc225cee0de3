package table

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// orderColumns are our columns of an order's row.
var orderColumns = []string{
	"provider", "provider_ref", "email", "name", "sku", "qty", "unit_cents", "discount_cents", "tax_cents", "currency",
	"paid_at", "refunds",
}

// order is one row of another program's order: its line and, with its first row, the whole order's values.
type order struct {
	provider, ref, email, name, sku, qty string
	unit, discount, tax                  int64
	currency, paidAt                     string
	refunded                             int64
	refundedOn                           string
	later                                bool // a row below the order's first
}

func (o order) cells() []string {
	n := func(v int64) string { return strconv.FormatInt(v, 10) }
	if o.later {
		return []string{o.provider, o.ref, "", "", o.sku, o.qty, n(o.unit), "", "", "", "", ""}
	}
	refunds := ""
	if o.refunded > 0 {
		refunds = o.refundedOn + "=" + n(o.refunded)
	}
	return []string{o.provider, o.ref, o.email, o.name, o.sku, o.qty, n(o.unit), n(o.discount), n(o.tax), o.currency,
		o.paidAt, refunds}
}

func parseWhole(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64) // it was just written
	return n
}

// whole is a quantity as a whole number: 2.0 is 2.
func whole(text string) string {
	if n, err := exact.ParseMilli(text); err == nil && n%1000 == 0 {
		return strconv.FormatInt(int64(n/1000), 10)
	}
	return text
}

// amounts parses several amounts of a row; the first wrong one is reported.
type amounts struct {
	tr       *translation
	get      func(string) string
	currency string
	refusal  *fault.Error
}

func (a *amounts) of(column string) int64 {
	n, refusal := a.tr.cents(column, a.get(column), a.currency)
	if refusal != nil && a.refusal == nil {
		a.refusal = refusal
	}
	return n
}

// day is the shop's date of a time in the file.
func (tr *translation) day(text string) string {
	day, refusal := tr.convert.day("refunds", text, isText)
	if refusal != nil {
		return text
	}
	return day
}

// aside counts the parts of other programs' orders that are not stored.
type aside struct{ shipped, refunds, taxed int }

// of notes an order with shipping or fees, and returns the reason so far.
func (a *aside) of(shipping bool) (notes []string) {
	if shipping {
		a.shipped++
	}
	if a.shipped > 0 {
		notes = append(notes, "shipping and fees are not part of an order here: those of "+exact.Plural(a.shipped, "order",
			"orders")+" were left out")
	}
	if a.taxed > 0 {
		notes = append(notes, "the prices of "+exact.Plural(a.taxed, "order", "orders")+
			" include their tax, which is not stored on its own")
	}
	if a.refunds > 0 {
		notes = append(notes, exact.Plural(a.refunds, "refund was", "refunds were")+" reduced by shipping and fees")
	}
	return notes
}

// refund removes from a refund what exceeds the order without shipping.
func (a *aside) refund(refunded, whole int64) int64 {
	if refunded <= whole {
		return refunded
	}
	a.refunds++
	return whole
}

// shopify is Shopify's export of orders: a row per line item; the first row has the order's values.
var shopify = &program{
	name: "shopify-orders", title: "Shopify's orders", table: "orders", targets: orderColumns,
	needs: []string{"Name", "Email", "Financial Status", "Paid at", "Lineitem quantity", "Lineitem price", "Lineitem sku"},
	columns: []string{
		"Name", "Email", "Financial Status", "Paid at", "Currency", "Subtotal", "Shipping", "Taxes", "Total",
		"Discount Amount",
		"Lineitem quantity", "Lineitem price", "Lineitem sku", "Billing Name", "Cancelled at", "Refunded Amount",
		"Created at",
	},
	start: func(tr *translation) maker {
		current, skip := "", ""
		currency := ""
		var aside aside
		return func(get func(string) string) ([]string, string, *fault.Error) {
			ref := get("Name")
			later := ref == current && get("Financial Status") == ""
			if !later {
				current, currency, skip = ref, get("Currency"), ""
				if s := get("Financial Status"); !slices.Contains([]string{"paid", "partially_refunded", "refunded"}, s) {
					skip = "the order is not paid (" + cmp.Or(s, "no status") + ")"
				}
			}
			if skip != "" {
				return nil, skip, nil
			}
			a := amounts{tr: tr, get: get, currency: currency}
			o := order{
				provider: "shopify", ref: ref, email: get("Email"), name: get("Billing Name"), sku: get("Lineitem sku"),
				qty:  whole(get("Lineitem quantity")),
				unit: a.of("Lineitem price"), currency: currency, paidAt: get("Paid at"), later: later,
			}
			tr.name(o.sku)
			if !later {
				o.discount, o.tax, o.refunded = a.of("Discount Amount"), a.of("Taxes"), a.of("Refunded Amount")
				if get("Total") != "" && get("Subtotal") != "" { // prices that include the tax
					if added := max(0, a.of("Total")-a.of("Subtotal")-a.of("Shipping")); added < o.tax {
						o.tax = added
						aside.taxed++
					}
				}
				if get("Subtotal") != "" {
					o.refunded = aside.refund(o.refunded, a.of("Subtotal")+o.tax)
				}
				tr.notes = aside.of(a.of("Shipping") > 0)
				o.refundedOn = tr.day(cmp.Or(get("Cancelled at"), o.paidAt))
			}
			return o.cells(), "", a.refusal
		}
	},
}

// wooTitles are the columns' titles in files of Advanced Order Export, WooCommerce's other common export.
var wooTitles = map[string]string{
	"order_number": "Order Number", "status": "Order Status", "date": "Order Date", "order_currency": "Order Currency",
	"billing_email": "Email (Billing)", "billing_first_name": "First Name (Billing)",
	"billing_last_name": "Last Name (Billing)", "item_sku": "SKU", "item_quantity": "Quantity (- Refund)",
	"item_cost": "Item Cost", "tax_total": "Order Total Tax Amount", "discount_total": "Cart Discount Amount",
	"refunded_total": "Order Refund Amount", "order_total": "Order Total Amount", "shipping_total": "Order Shipping Amount",
	"shipping_tax_total": "Order Shipping Tax Amount",
}

// woocommerce is the order export of WooCommerce's extensions: a row per line item, each with the order's values.
var woocommerce = &program{
	name: "woocommerce-orders", title: "WooCommerce's orders", table: "orders", targets: orderColumns,
	needs: []string{"status|Order Status", "billing_email|Email (Billing)", "item_sku|SKU",
		"item_quantity|Quantity (- Refund)|Quantity"},
	columns: slices.AppendSeq([]string{
		"Quantity",
		"order_id", "order_number", "order_number_formatted", "date", "order_date", "date_paid", "paid_date", "status",
		"order_currency", "billing_email",
		"billing_first_name", "billing_last_name", "billing_full_name", "item_sku", "item_quantity", "item_subtotal",
		"item_total", "tax_total",
		"discount_total", "refunded_total", "order_total", "shipping_total", "shipping_tax_total", "fee_total",
		"fee_tax_total",
	}, maps.Values(wooTitles)),
	start: func(tr *translation) maker {
		seen := map[string]bool{}
		var aside aside
		return func(cell func(string) string) ([]string, string, *fault.Error) {
			get := func(column string) string { return cmp.Or(cell(column), cell(wooTitles[column])) }
			ref := cmp.Or(get("order_number_formatted"), get("order_number"), get("order_id"))
			status := strings.TrimPrefix(strings.ToLower(get("status")), "wc-")
			if !slices.Contains([]string{"completed", "processing", "refunded"}, status) {
				return nil, "the order is not paid (" + cmp.Or(status, "no status") + ")", nil
			}
			a := amounts{tr: tr, get: get, currency: get("order_currency")}
			o := order{
				provider: "woocommerce", ref: ref, email: get("billing_email"), sku: get("item_sku"),
				qty: whole(cmp.Or(get("item_quantity"), cell("Quantity"))),
				name: cmp.Or(get("billing_full_name"),
					strings.TrimSpace(get("billing_first_name")+" "+get("billing_last_name"))),
				currency: get("order_currency"), paidAt: cmp.Or(get("date_paid"), get("paid_date"), get("date"), get("order_date")),
				later: seen[ref],
			}
			tr.name(o.sku)
			line, rest := "item_subtotal", int64(0)
			if get(line) == "" {
				line = "item_total"
			}
			if o.unit = a.of("item_cost"); get("item_cost") == "" {
				o.unit, rest = perUnit(a.of(line), o.qty)
			}
			if !o.later {
				extra, extraTax := a.of("shipping_total")+a.of("fee_total"), a.of("shipping_tax_total")+a.of("fee_tax_total")
				whole := a.of("order_total") - extra - extraTax
				o.tax, o.refunded, o.refundedOn = max(0, a.of("tax_total")-extraTax), a.of("refunded_total"), tr.day(o.paidAt)
				if line == "item_subtotal" || get("item_cost") != "" {
					o.discount = a.of("discount_total")
				}
				if status == "refunded" && o.refunded == 0 {
					o.refunded = whole
				} else if get("order_total") != "" {
					o.refunded = aside.refund(o.refunded, whole)
				}
				tr.notes = aside.of(extra != 0)
			}
			seen[ref] = true
			cells := o.cells()
			if rest > 0 { // a price that does not divide: the excess is a discount
				cells[7] = strconv.FormatInt(o.discount+rest, 10)
			}
			return cells, "", a.refusal
		}
	},
}

// perUnit shares an amount over units: the price of one, rounded up, and the total excess.
func perUnit(amount int64, qty string) (unit, rest int64) {
	n, err := strconv.ParseInt(qty, 10, 64)
	if err != nil || n <= 0 {
		return amount, 0
	}
	unit = (amount + n - 1) / n
	return unit, unit*n - amount
}

// square is Square's export of items sold: a row per item and sale.
var square = &program{
	name: "square-items", title: "Square's items sold", table: "sales", targets: []string{"date", "sku", "qty"}, net: true,
	needs:   []string{"Date", "Qty", "SKU"},
	columns: []string{"Date", "Time", "Time Zone", "Item", "Qty", "SKU", "Event Type"},
	start: func(*translation) maker {
		return func(get func(string) string) ([]string, string, *fault.Error) {
			qty := get("Qty")
			switch event := get("Event Type"); {
			case strings.EqualFold(event, "Refund") && !strings.HasPrefix(qty, "-"):
				qty = "-" + qty
			case event != "" && !strings.EqualFold(event, "Payment") && !strings.EqualFold(event, "Refund"):
				return nil, "the event is neither a payment nor a refund (" + schema.Quote(event) + ")", nil
			}
			return []string{get("Date"), get("SKU"), qty}, "", nil
		}
	},
}
