package store

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/record"
)

// Product is something that can be sold. One of kind license has a license per unit; ActivationLimit and LicenseDays
// apply to those.
type Product struct {
	SKU             string   `json:"sku"`
	Name            string   `json:"name"`
	Kind            string   `json:"kind" enum:"license,other,download"`
	PriceCents      int64    `json:"price_cents"`
	ActivationLimit *int64   `json:"activation_limit" about:"seats a license has; null is unlimited"`
	LicenseDays     *int64   `json:"license_days" about:"days that a license lasts; null is forever"`
	Tiers           []string `json:"tiers"`
	Active          bool     `json:"active" about:"whether codes for it can be minted"`
	OfflineDays     int64    `json:"offline_days" about:"the most days that a license file runs; 0 is no files"`
	Note            string   `json:"note" about:"for the buyer, in messages: how to install it, where to download it"`

	id int64
}

const (
	kindLicense  = "license"  // each unit sold comes with a license
	kindOther    = "other"    // none does, and it has no codes
	kindDownload = "download" // none does; a code for it makes an order
)

var productKinds = []string{kindLicense, kindOther, kindDownload}

var products = record.New("product", "store_products",
	record.ID(func(p *Product) *int64 { return &p.id }),
	record.Text("sku", func(p *Product) *string { return &p.SKU }, "what the product is known by",
		schema.Required, schema.Most(200), schema.Example("PLUGIN")).Key(),
	record.Text("name", func(p *Product) *string { return &p.Name }, "").
		Field(func(f *schema.Form, p *Product, _ ...schema.Opt) bool {
			f.Text(&p.Name, "name", "its name; empty is the sku", schema.Most(200), schema.Help("Empty: the SKU."),
				schema.Example("Audio plugin"))
			p.Name = cmp.Or(p.Name, p.SKU)
			return f.Given("name")
		}),
	record.Enum("kind", func(p *Product) *string { return &p.Kind }, productKinds,
		"license: each unit sold comes with a license; download: none does, and a redeem code makes an order; other: "+
			"neither licenses nor codes").
		Else(func(p *Product) { p.Kind, p.Active, p.OfflineDays = kindLicense, true, 30 }),
	record.Int("price_cents", func(p *Product) *int64 { return &p.PriceCents }, "the price of a unit",
		schema.Range(0, maxPrice)),
	record.OptInt("activation_limit", func(p *Product) **int64 { return &p.ActivationLimit },
		"how many seats a license has; empty is unlimited", schema.Range(0, 1_000_000)),
	record.OptInt("license_days", func(p *Product) **int64 { return &p.LicenseDays },
		"how many days a license lasts; empty is forever", schema.Range(1, 36_500)),
	record.Of("tiers", func(p *Product) *[]string { return &p.Tiers }, tierNames,
		"names of its tiers, separated by |", schema.Most(2000), schema.Apart("|"),
		schema.Help("Such as basic and pro.")),
	record.Of("active", func(p *Product) *bool { return &p.Active }, record.Truth("true", "false"),
		"whether codes for it can be minted"),
	record.Int("offline_days", func(p *Product) *int64 { return &p.OfflineDays },
		"the most days that a license file runs; 0 is no files", schema.Range(0, mostFileDays)),
	record.Text("note", func(p *Product) *string { return &p.Note },
		"for the buyer, in messages: how to install it, where to download it", schema.Most(2000), schema.Lines),
).ByKey().Saved().Sorted("sku")

// tierNames is a product's tiers as one text.
var tierNames = &record.Kind[[]string]{
	Scan:  func(r *db.Row) []string { return splitTiers(r.Text()) },
	Cell:  func(tiers []string) string { return strings.Join(tiers, "|") },
	Value: func(tiers []string) any { return strings.Join(tiers, "|") },
	Same:  slices.Equal[[]string],
	Bind: func(f *schema.Form, p *[]string, name, about string, opts ...schema.Opt) bool {
		var joined string
		given := f.Text(&joined, name, about, opts...)
		*p = splitTiers(joined)
		for i, t := range *p {
			switch {
			case utf8.RuneCountInString(t) > 64:
				f.Refuse(name, "tiers: %s is too long; a tier has at most 64 characters", schema.Quote(t))
			case slices.Contains((*p)[:i], t):
				f.Refuse(name, "tiers: %s is named twice; name each tier once", schema.Quote(t))
			}
		}
		return given
	},
}

func splitTiers(joined string) []string {
	tiers := []string{}
	for t := range strings.SplitSeq(joined, "|") {
		if t = strings.TrimSpace(t); t != "" {
			tiers = append(tiers, t)
		}
	}
	return tiers
}

func lookUpProduct(c *db.Conn, sku string) (Product, bool, error) {
	return products.One(c, "WHERE sku = ?", sku)
}

// findProduct refuses a sku that names no product.
func findProduct(c *db.Conn, sku string) (Product, error) {
	if sku == "" {
		return Product{}, fault.Fieldf("sku", "sku is missing: name a product")
	}
	p, found, err := lookUpProduct(c, sku)
	if err == nil && !found {
		err = fault.Fieldf("sku", "sku: there is no product %s; add it first", schema.Quote(sku))
	}
	return p, err
}

// maxPrice bounds a price and an order's total, so that no sum of amounts exceeds 64 bits.
const maxPrice = 1_000_000_000_000

// takesTier refuses a tier that the product does not have. A product without tiers
// takes any name of [a-z0-9_-]{1,32}; an empty one is no tier at all.
func (p Product) takesTier(tier string) error {
	switch {
	case tier == "" || slices.Contains(p.Tiers, tier):
		return nil
	case len(p.Tiers) > 0:
		return fault.Fieldf("tier", "tier: %s is no tier of %s; it has %s", schema.Quote(tier), p.SKU,
			strings.Join(p.Tiers, ", "))
	case len(tier) > 32 || !madeOf(tier, "_-", false):
		return fault.Fieldf("tier", "tier: %s is not allowed; it takes 1 to 32 of a-z, 0-9, _ and -", schema.Quote(tier))
	}
	return nil
}

// madeOf reports whether s holds only ASCII letters (small ones only, unless capitals),
// digits and the characters of extra.
func madeOf(s, extra string, capitals bool) bool {
	for i := range len(s) {
		c := s[i]
		ok := c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || capitals && c >= 'A' && c <= 'Z' ||
			strings.IndexByte(extra, c) >= 0
		if !ok {
			return false
		}
	}
	return true
}

// productTable is `import store products`: rows are known by their sku. A file of goods seldom names a kind, and a
// product without one is sold with licenses: the preview says so.
func productTable() schema.Table {
	t := products.Table("products", "What can be sold, known by its SKU.")
	t.Foresee = func(ctx context.Context, d *db.DB, _ db.Caller, store func() error) (schema.Foreseen, error) {
		f, err := foreseeMore(ctx, d, store, "SELECT count(*) FROM store_products WHERE kind = 'license'",
			func(n int64) string {
				return "each unit sold of " + exact.Plural(n, "product", "products") + " of this file would come with a " +
					"license; for goods without one, set kind to other for all rows"
			})
		if f.Text != nil {
			f.Column, f.Label = "kind", "What all products of this file are, those already here too"
		}
		return f, err
	}
	return t
}
