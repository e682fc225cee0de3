package page

import (
	"context"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/page"
	"quartermaster/store"
)

// productView is a product with what was sold of it and its last licenses.
type productView struct {
	store.Product
	sold     []store.Figure // in the last 30 days, a row a currency
	licenses []store.License
	issued   int64
	months   []store.MonthSum // units sold
}

// PageTitle is the product's name.
func (v productView) PageTitle() string { return v.Name }

// ShowsSecret reports whether keys of licenses stand on the page.
func (v productView) ShowsSecret() bool { return len(v.licenses) > 0 }

// lastLicenses is how many licenses a product's page shows.
const lastLicenses = 10

func product(s *store.Service) page.Page {
	return page.New(page.Spec[productView]{
		Path: "/products/:sku", Title: "Product",
		Load: func(f *schema.Form) page.Loader[productView] {
			var sku string
			f.Text(&sku, "sku", "The product", schema.InPath("sku"), schema.Most(200))
			return func(ctx context.Context, who db.Caller) (v productView, err error) {
				if v.Product, err = s.Product(ctx, sku); err != nil {
					return v, err
				}
				last := s.Today(ctx)
				first := last - 29
				all, err := s.Figures(ctx, store.FiguresOf{From: &first, To: &last, By: "product"})
				if err != nil {
					return v, err
				}
				for _, r := range all.Rows {
					if r.SKU != nil && *r.SKU == v.SKU {
						v.sold = append(v.sold, r)
					}
				}
				mainFirst(v.sold, all.Totals)
				if v.months, err = s.MonthsOfProduct(ctx, v.SKU); err != nil {
					return v, err
				}
				of := store.LicenseFilter{SKU: v.SKU, Cursor: schema.Cursor[int64]{Limit: lastLicenses}}
				if v.issued, err = s.CountLicenses(ctx, of); err != nil {
					return v, err
				}
				list, err := s.Licenses(ctx, who, of)
				v.licenses = list.Licenses
				return v, err
			}
		},
		View: ProductRecord,
	})
}

// acts are the actions on the product.
func (v productView) acts() []page.Action {
	acts := []page.Action{page.Open("Edit", "save_product", "sku", v.SKU).Main().Key("e")}
	if v.Active {
		acts = append(acts, page.Open("Record order", "record_order", "sku", v.SKU).Key("n"))
		if v.Kind != "other" {
			acts = append(acts, page.Open("Mint codes", "mint_codes", "sku", v.SKU))
		}
	}
	return acts
}

func productPath(sku string) string { return page.Path("products", sku) }
