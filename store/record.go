package store

import (
	"cmp"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// NewOrder is an order to record by hand. Optional: Name, Tier, Qty (0 is 1), Total (nil is the products' prices),
// Currency (the shop's), Provider (manual), ProviderRef (the order_ref). It has one product, or several Lines.
type NewOrder struct {
	Email, Name           string
	SKU, Tier             string
	Qty                   int64
	Lines                 []NewLine
	Total                 *int64 // cents
	Discount, Tax         int64  // cents; a discount is of orders without a total
	Currency              string
	Provider, ProviderRef string
	PaidAt                *exact.Day // nil is now
	Unmailed              bool       // the buyer gets no message
}

// Recorded is an order with its licenses, and whether it was there before.
type Recorded struct {
	OrderDetail
	AlreadyRecorded bool `json:"already_recorded" about:"the payment was recorded already: nothing was done"`

	priced int64 // what the lines cost by their prices, with tax
}

const maxQty = 1000

// recordOrder records a paid order, issues its licenses and emits order.paid. A recorded payment (the same provider and
// provider_ref) returns its order unchanged. A total below the price is stored as a discount. Refused: an unknown sku
// or tier, a qty out of 1 to 1000, a total out of range, an invalid currency, provider or address.
func recordOrder(tx *db.Tx, n NewOrder) (Recorded, error) {
	if err := n.check(); err != nil {
		return Recorded{}, err
	}
	if n.ProviderRef != "" {
		was, found, err := findPayment(&tx.Conn, n.Provider, n.ProviderRef)
		if found && was.Status == statusVoid {
			return Recorded{}, fault.Conflictf("order %s with this reference is void; give another reference", was.OrderRef).At(
				"provider_ref")
		}
		if err != nil || found {
			return Recorded{OrderDetail: was.shownTo(tx.Who()), AlreadyRecorded: true}, err
		}
	}
	v, err := n.sale(tx)
	if err != nil {
		return Recorded{}, err
	}
	d, err := book(tx, v, true)
	return Recorded{OrderDetail: d.shownTo(tx.Who()), priced: v.priced + v.tax}, err
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
	n.Qty = cmp.Or(n.Qty, 1)
	switch {
	case n.Qty < 1 || n.Qty > maxQty:
		return fault.Fieldf("qty", "qty: %d is out of range; it takes 1 to %d", n.Qty, maxQty)
	case len(n.Lines) > 0 && (n.SKU != "" || n.Tier != "" || n.Qty != 1):
		return fault.Fieldf("sku", "sku: give sku, tier and qty, or lines, not both")
	case len(n.Lines) == 0:
		n.Lines = []NewLine{{SKU: n.SKU, Tier: n.Tier, Qty: n.Qty}}
	}
	if n.Total != nil && (*n.Total < 0 || *n.Total > maxPrice) {
		return fault.Fieldf("total_cents", "total: %d is out of range; it takes 0 to %d cents", fault.Cents(*n.Total),
			fault.Cents(maxPrice))
	}
	if n.Total != nil && n.Discount > 0 {
		return fault.Fieldf("discount_cents", "discount_cents: give the amount paid or a discount, not both")
	}
	if n.Currency != "" {
		if n.Currency, err = checkCurrency(n.Currency); err != nil {
			return err
		}
	}
	n.Provider = cmp.Or(n.Provider, manual)
	if err := checkProvider(n.Provider); err != nil {
		return err
	}
	n.ProviderRef = strings.TrimSpace(n.ProviderRef)
	return schema.CheckText("provider_ref", n.ProviderRef, 200)
}

func (n NewOrder) sale(tx *db.Tx) (sale, error) {
	lines, err := resolveAll(&tx.Conn, n.Lines)
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
		lines: lines, email: n.Email, name: n.Name, rename: true,
		currency: n.Currency, provider: n.Provider, ref: n.ProviderRef, paidAt: tx.Now(), unmailed: n.Unmailed,
	}
	if n.PaidAt != nil && *n.PaidAt != tx.Today() {
		if *n.PaidAt > tx.Today() {
			return sale{}, fault.Fieldf("paid_at", "paid_at: %s is in the future; it takes a day up to today", *n.PaidAt)
		}
		v.paidAt = exact.InstantOf(n.PaidAt.Time(tx.Zone()))
	}
	v.discount, v.tax, v.priced = n.Discount, n.Tax, subtotal(v.lines)
	if n.Total != nil {
		if n.Tax > *n.Total {
			return sale{}, fault.Fieldf("tax_cents", "tax_cents: the tax is more than the amount paid")
		}
		v.discount = priceTo(v.lines, *n.Total-n.Tax)
	}
	return v, nil
}
