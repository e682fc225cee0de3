package page

import (
	"quartermaster/schema/exact"
	"quartermaster/schema/page"
	"quartermaster/store"
)

// The columns that the store's lists can be sorted by.
var (
	orderSorts = page.Sorts[store.Order]{
		"order":       page.ByText(func(o store.Order) string { return o.OrderRef }),
		"buyer":       page.ByText(func(o store.Order) string { return buyerName(o.Customer) }),
		"status":      page.ByText(func(o store.Order) string { return o.Status }),
		"paid_at":     page.By(func(o store.Order) exact.Instant { return o.PaidAt }),
		"total_cents": page.By(func(o store.Order) int64 { return o.TotalCents }),
	}
	customerSorts = page.Sorts[store.Customer]{
		"name": page.ByText(func(k store.Customer) string {
			return buyerName(store.Buyer{Email: k.Email, Name: k.Name})
		}),
		"paid_orders":    page.By(func(k store.Customer) int64 { return k.PaidOrders }),
		"first_order_at": page.ByPtr(func(k store.Customer) *exact.Instant { return k.FirstOrderAt }),
		"last_order_at":  page.ByPtr(func(k store.Customer) *exact.Instant { return k.LastOrderAt }),
	}
	licenseSorts = page.Sorts[store.License]{
		"sku":             page.ByText(func(l store.License) string { return l.SKU }),
		"email":           page.ByText(func(l store.License) string { return l.CustomerEmail }),
		"status":          page.ByText(func(l store.License) string { return l.Status }),
		"expires_at":      page.ByPtr(func(l store.License) *exact.Instant { return l.ExpiresAt }),
		"seats":           page.By(func(l store.License) int64 { return l.ActivationCount }),
		"last_checked_at": page.ByPtr(func(l store.License) *exact.Instant { return l.LastCheckedAt }),
	}
	batchSorts = page.Sorts[store.Batch]{
		"batch":      page.ByText(func(b store.Batch) string { return b.Batch }),
		"unused":     page.By(func(b store.Batch) int64 { return b.Unused }),
		"redeemed":   page.By(func(b store.Batch) int64 { return b.Redeemed }),
		"void":       page.By(func(b store.Batch) int64 { return b.Void }),
		"total":      page.By(func(b store.Batch) int64 { return b.Total }),
		"created_at": page.By(func(b store.Batch) exact.Instant { return b.CreatedAt }),
	}
	productSorts = page.Sorts[store.Product]{
		"name":             page.ByText(func(p store.Product) string { return p.Name }),
		"kind":             page.ByText(func(p store.Product) string { return p.Kind }),
		"price_cents":      page.By(func(p store.Product) int64 { return p.PriceCents }),
		"activation_limit": page.ByPtr(func(p store.Product) *int64 { return p.ActivationLimit }),
		"license_days":     page.ByPtr(func(p store.Product) *int64 { return p.LicenseDays }),
	}
)

// sorted names a column by which the list is sorted, on the list's own page alone.
func sorted(here bool, column string) string {
	if here {
		return column
	}
	return ""
}

// orderColumns are those of a table of orders, without the buyer on that person's own page.
func orderColumns(own, buyer bool) []page.Column {
	list := []page.Column{{Label: "Order", Sort: sorted(own, "order")}}
	if buyer {
		list = append(list, page.Column{Label: "Buyer", Sort: sorted(own, "buyer")})
	}
	return append(list, page.Column{Label: "State", Sort: sorted(own, "status")},
		page.Column{Label: "Paid", Sort: sorted(own, "paid_at"), Right: true},
		page.Column{Label: "Total", Sort: sorted(own, "total_cents"), Right: true})
}

// licenseColumns are those of a table of licenses, without the buyer where all are of one.
func licenseColumns(own, buyer bool) []page.Column {
	var list []page.Column
	if own {
		list = append(list, page.Column{Label: "Mark", Mark: true})
	}
	list = append(list, page.Column{Label: "License", Sort: sorted(own, "sku")})
	if buyer {
		list = append(list, page.Column{Label: "Buyer", Sort: sorted(own, "email")})
	}
	return append(list, page.Column{Label: "State", Sort: sorted(own, "status")},
		page.Column{Label: "Until", Sort: sorted(own, "expires_at"), Right: true},
		page.Column{Label: "Seats", Sort: sorted(own, "seats"), Right: true},
		page.Column{Label: "Last check", Sort: sorted(own, "last_checked_at"), Right: true, Wide: true})
}
