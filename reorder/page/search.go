package page

import (
	"context"
	"strings"

	"quartermaster/reorder"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/page"
)

// hitsOfAKind is how many records of a kind a search shows.
const hitsOfAKind = 20

// find finds SKUs by code, name and barcode, purchase orders by number and supplier,
// and suppliers. A whole SKU, barcode or number goes straight to its record.
func find(s *reorder.Service) page.Find {
	return func(ctx context.Context, _ db.Caller, q string) (hits []page.Hit, exact string, err error) {
		first := schema.Cursor[string]{Limit: hitsOfAKind}
		skus, err := s.Find(ctx, q, hitsOfAKind)
		if err != nil {
			return nil, "", err
		}
		for _, k := range skus {
			path := page.Path("skus", k.Code)
			if k.Code == q || k.Barcode == q {
				exact = path
			}
			hits = append(hits, page.Hit{Kind: "SKUs", ID: k.Code, Title: k.Name, Note: k.Code, Path: path})
		}
		orders, err := s.Orders(ctx, reorder.OrderQuery{Q: q, Newest: true, Cursor: first})
		if err != nil {
			return nil, "", err
		}
		for _, o := range orders.PurchaseOrders {
			path := page.Path("purchase-orders", o.Number)
			if strings.EqualFold(o.Number, q) {
				exact = path
			}
			hits = append(hits, page.Hit{Kind: "Purchase orders", ID: o.Number, Title: o.Number, Note: o.Supplier, Path: path})
		}
		suppliers, err := s.Suppliers(ctx, reorder.SupplierQuery{Q: q, Cursor: first})
		for _, one := range suppliers.Suppliers {
			hits = append(hits, page.Hit{Kind: "Suppliers", ID: one.Name, Title: one.Name, Note: one.Email,
				Path: supplierPath(one.Name)})
		}
		return hits, exact, err
	}
}
