package store

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/words"
)

// ProductPage lists products.
type ProductPage struct {
	Products []Product `json:"products"`
}

// ProductFilter restricts the list of products; an empty field does not.
type ProductFilter struct {
	Q, Kind string
	Active  string // true or false
}

// Products lists products by SKU.
func (s *Service) Products(ctx context.Context, f ProductFilter) (ProductPage, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (ProductPage, error) {
		all, err := products.All(c, "ORDER BY sku")
		page := ProductPage{Products: []Product{}}
		wanted := words.Of(f.Q)
		for _, p := range all {
			if wanted.In(p.SKU, p.Name) && (f.Kind == "" || p.Kind == f.Kind) &&
				(f.Active == "" || f.Active == strconv.FormatBool(p.Active)) {
				page.Products = append(page.Products, p)
			}
		}
		return page, err
	})
}

// Product returns one product. An unknown SKU is refused as not found.
func (s *Service) Product(ctx context.Context, sku string) (Product, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (Product, error) {
		p, found, err := lookUpProduct(c, sku)
		if err == nil && !found {
			err = fault.NotFoundf("there is no product %s", schema.Quote(sku))
		}
		return p, err
	})
}

// ProductChoices are the products to choose from.
func ProductChoices(c *db.Conn, f schema.Find) ([]schema.Choice, error) { return anyProduct(c, f) }

// ProductCells is a product as its export has it.
func ProductCells(p Product) []string { return products.Cells(p) }

var (
	anyProduct = schema.Listed(
		"SELECT sku, name, sku FROM store_products WHERE (active = 1 OR sku = ?1) AND {} ORDER BY sku LIMIT ?2", "sku",
		"sku, name")
	anyMintable = schema.Listed(
		"SELECT sku, name, sku FROM store_products WHERE active = 1 AND kind IN ('license', 'download') AND {} ORDER BY "+
			"sku LIMIT ?2",
		"sku", "sku, name")
)

func exampleProduct() Product {
	seats := int64(3)
	return Product{SKU: "PLUGIN", Name: "Audio plugin", Kind: kindLicense, PriceCents: 4900, ActivationLimit: &seats,
		Tiers: []string{"basic", "pro"}, Active: true, OfflineDays: 30}
}

func (s *Service) printProducts(w io.Writer, p ProductPage) {
	set, _ := s.Settings(context.Background()) // a price is in the shop's currency
	schema.Tabulate(w, "SKU|NAME|KIND|PRICE|SEATS|DAYS|TIERS|ACTIVE", p.Products, func(p Product) []any {
		return []any{p.SKU, p.Name, p.Kind, inCurrency(p.PriceCents, set.Currency), schema.Cell(p.ActivationLimit),
			schema.Cell(p.LicenseDays), strings.Join(p.Tiers, "|"), yesNo(p.Active)}
	})
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

func (s *Service) listProducts() schema.Op {
	return schema.Op{
		Name: "list_products", About: "What the shop sells, by SKU; prices in the smallest unit of the shop's currency.",
		Response: ProductPage{Products: []Product{exampleProduct()}},
		Example:  "store products list --active true",
		Print:    schema.Printed(s.printProducts),
		Bind: schema.Reads(func(f *schema.Form, p *ProductFilter) {
			f.Text(&p.Q, "q", "only products with this in SKU or name", schema.Most(200), schema.Example("plugin"))
			f.Enum(&p.Kind, "kind", "only products of this kind", productKinds)
			f.Enum(&p.Active, "active", "only active products, or only inactive ones", []string{"true", "false"})
		}, s.Products),
	}
}

func (s *Service) productDetail() schema.Op {
	return schema.Op{
		Name: "product_detail", About: "One product.", Response: exampleProduct(), Refuses: []fault.Kind{fault.NotFound},
		Example: "store products show PLUGIN",
		Leads:   schema.Of(func(p Product) string { ; return productLeads(p.SKU) }),
		Print:   schema.Printed(func(w io.Writer, p Product) { s.printProducts(w, ProductPage{Products: []Product{p}}) }),
		Bind: schema.Reads(func(f *schema.Form, sku *string) {
			f.Text(sku, "sku", "the product's SKU", schema.Required, schema.Most(200), schema.Positional("SKU"),
				schema.Example("PLUGIN"))
		}, s.Product),
	}
}

func productLeads(sku string) string { return "/products/" + url.PathEscape(sku) }

func (s *Service) saveProductOp() schema.Op {
	return productTable().Save(s.db, schema.Op{
		Keys: []string{"sku"},
		Rare: []string{"tiers", "offline_days", "active"},
		Name: "save_product", About: "Create or change a product. What you leave out stays as it is.",
		Example: `store product save PLUGIN --name "Tape Echo" --price-cents 4900 --activation-limit 3`,
		Print: schema.Printed(func(w io.Writer, r schema.Saved) {
			fmt.Fprintf(w, "product %s is saved\n", r.Record["sku"])
		}),
		Did:   schema.Said(func(r schema.Saved) string { return fmt.Sprintf("Product %s is saved.", r.Record["sku"]) }),
		Leads: schema.Of(func(r schema.Saved) string { ; return productLeads(r.Record["sku"]) }),
	})
}
