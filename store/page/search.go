package page

import (
	"context"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/page"
	"quartermaster/store"
)

// hitsOfAKind is how many records of a kind a search shows.
const hitsOfAKind = 10

// find finds orders, customers, licenses, products and batches of codes. An order's reference and a whole license key,
// in any spelling, lead straight to their record.
func find(s *store.Service) page.Find {
	return func(ctx context.Context, who db.Caller, q string) (hits []page.Hit, straight string, err error) {
		ref, license, err := s.Exactly(ctx, q)
		switch {
		case err != nil:
			return nil, "", err
		case ref != "":
			return nil, page.Path("orders", ref), nil
		case license != 0:
			return nil, page.Path("licenses", page.Num(license)), nil
		}
		some := schema.First(hitsOfAKind)
		orders, err := s.Orders(ctx, store.OrderFilter{Q: q, Cursor: some})
		if err != nil {
			return nil, "", err
		}
		for _, o := range orders.Orders {
			hits = append(hits, page.Hit{Kind: "Orders", ID: o.OrderRef, Title: items(o), Note: orderNote(ctx, o), Path: page.Path("orders", o.OrderRef)})
		}
		people, err := s.Customers(ctx, store.CustomerFilter{Q: q, Cursor: some})
		if err != nil {
			return nil, "", err
		}
		for _, k := range people.Customers {
			hits = append(hits, page.Hit{Kind: "Customers", ID: page.Num(k.ID),
				Title: buyerName(store.Buyer{Email: k.Email, Name: k.Name}), Note: k.Email,
				Path: page.Path("customers", page.Num(k.ID))})
		}
		list, err := s.Licenses(ctx, who, store.LicenseFilter{Q: q, Cursor: some})
		if err != nil {
			return nil, "", err
		}
		for _, l := range list.Licenses {
			hits = append(hits, page.Hit{Kind: "Licenses", ID: page.Num(l.ID), Title: l.SKU + tierOf(l.Tier),
				Note: l.CustomerEmail + ", " + l.Status, Path: page.Path("licenses", page.Num(l.ID))})
		}
		return goods(ctx, s, q, hits)
	}
}

// orderNote tells an order that was found from others: its reference, buyer, day, amount, and state if it is not paid.
func orderNote(ctx context.Context, o store.Order) string {
	note := o.OrderRef + ", " + buyerName(o.Customer) + ", " + page.InstantText(ctx, o.PaidAt) + ", " +
		exact.CurrencyOf(o.Currency).Format(o.TotalCents)
	if o.Status != "paid" {
		note += ", " + o.Status
	}
	return note
}

// goods adds the products and the batch of codes that a search finds.
func goods(ctx context.Context, s *store.Service, q string, hits []page.Hit) ([]page.Hit, string, error) {
	products, err := s.Products(ctx, store.ProductFilter{Q: q})
	if err != nil {
		return nil, "", err
	}
	for i, p := range products.Products {
		if i < hitsOfAKind {
			hits = append(hits, page.Hit{Kind: "Products", ID: p.SKU, Title: p.Name, Note: p.SKU, Path: productPath(p.SKU)})
		}
	}
	batches, err := s.Batches(ctx, q, "", schema.First(hitsOfAKind))
	for _, b := range batches.Batches {
		hits = append(hits, page.Hit{Kind: "Redeem codes", ID: b.Batch, Title: "Batch " + b.Batch, Note: b.SKU,
			Path: page.Path("redeem-codes", b.Batch)})
	}
	return hits, "", err
}
