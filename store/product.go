package store

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// Product is something that can be sold. One of the kind license comes with a license
// a unit; ActivationLimit and LicenseDays hold for those.
type Product struct {
	SKU             string   `json:"sku"`
	Name            string   `json:"name"`
	Kind            string   `json:"kind" enum:"license,other,download"`
	PriceCents      int64    `json:"price_cents"`
	ActivationLimit *int64   `json:"activation_limit" about:"seats a license has; null is unlimited"`
	LicenseDays     *int64   `json:"license_days" about:"days that a license lasts; null is forever"`
	Tiers           []string `json:"tiers"`
	Active          bool     `json:"active" about:"whether codes for it can be minted"`
	OfflineDays     int64    `json:"offline_days" about:"days that a file for a machine without a net runs at most; 0 is no files"`

	id int64
}

const (
	kindLicense  = "license"  // each unit sold comes with a license
	kindOther    = "other"    // none does, and it has no codes
	kindDownload = "download" // none does; a code for it makes an order
)

var productKinds = []string{kindLicense, kindOther, kindDownload}

// productSets are the columns of a product that people set, with their values: one list for
// INSERT, UPDATE and scanProduct.
const productSets db.Columns = "name, kind, price_cents, activation_limit, license_days, tiers, active, offline_days"

func (p Product) sets() []any {
	return []any{p.Name, p.Kind, p.PriceCents, p.ActivationLimit, p.LicenseDays, strings.Join(p.Tiers, "|"), p.Active, p.OfflineDays}
}

const productColumns = "id, sku, " + string(productSets)

func scanProduct(r *db.Row) Product {
	p := Product{
		id: r.Int(), SKU: r.Text(), Name: r.Text(), Kind: r.Text(), PriceCents: r.Int(),
		ActivationLimit: r.IntPtr(), LicenseDays: r.IntPtr(),
	}
	p.Tiers, p.Active, p.OfflineDays = splitTiers(r.Text()), r.Bool(), r.Int()
	return p
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
	return db.One(c, scanProduct, "SELECT "+productColumns+" FROM store_products WHERE sku = ?", sku)
}

// findProduct refuses a sku that names no product.
func findProduct(c *db.Conn, sku string) (Product, error) {
	p, found, err := lookUpProduct(c, sku)
	if err == nil && !found {
		err = fault.Fieldf("sku", "sku: %s names no product; products are loaded with `import store products`", schema.Quote(sku))
	}
	return p, err
}

// maxPrice bounds a price and what an order comes to, so that no sum of amounts can
// leave 64 bits.
const maxPrice = 1_000_000_000_000

// takesTier refuses a tier that the product does not have. A product without tiers
// takes any name of [a-z0-9_-]{1,32}; an empty one is no tier at all.
func (p Product) takesTier(tier string) error {
	switch {
	case tier == "" || slices.Contains(p.Tiers, tier):
		return nil
	case len(p.Tiers) > 0:
		return fault.Fieldf("tier", "tier: %s is no tier of %s; it has %s", schema.Quote(tier), p.SKU, strings.Join(p.Tiers, ", "))
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
		ok := c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || capitals && c >= 'A' && c <= 'Z' || strings.IndexByte(extra, c) >= 0
		if !ok {
			return false
		}
	}
	return true
}

func textOr(s *string, otherwise string) string {
	if s == nil {
		return otherwise
	}
	return *s
}

// saveProduct stores the product under its sku, new or not. What is as it was is not
// written again.
func saveProduct(tx *db.Tx, p Product) (o schema.Outcome, err error) {
	if p.Kind == "" {
		p.Kind = kindLicense
	}
	was, found, err := lookUpProduct(&tx.Conn, p.SKU)
	if err != nil {
		return o, err
	}
	p.id = was.id
	if found && same(was, p) {
		return o, nil
	}
	if o.New = !found; found {
		o.Fields = changedCells(was, p)
		err = tx.UpdateRow("store_products", p.id, productSets, p.sets()...)
	} else {
		_, err = tx.InsertRow("store_products", "sku, "+productSets, append([]any{p.SKU}, p.sets()...)...)
	}
	if err != nil {
		return o, err
	}
	return o, tx.Audit("product.saved", "product:"+p.SKU, p)
}

func same(a, b Product) bool {
	return slices.Equal(productCells(a), productCells(b))
}

// changedCells names the columns in which two records of a product differ.
func changedCells(was, now Product) (names []string) {
	columns := schema.Table{Row: bindProduct}.Columns()
	before, after := productCells(was), productCells(now)
	for i, c := range columns {
		if before[i] != after[i] {
			names = append(names, c.Name)
		}
	}
	return names
}

func productCells(p Product) []string {
	return []string{
		p.SKU, p.Name, p.Kind, strconv.FormatInt(p.PriceCents, 10), intCell(p.ActivationLimit), intCell(p.LicenseDays),
		strings.Join(p.Tiers, "|"), strconv.FormatBool(p.Active), strconv.FormatInt(p.OfflineDays, 10),
	}
}

func intCell(n *int64) string {
	if n == nil {
		return ""
	}
	return strconv.FormatInt(*n, 10)
}

// productTable is `import store products`: rows are known by their sku.
func (s *Service) productTable() schema.Table {
	return schema.Table{
		Name: "products", About: "What can be sold, known by its SKU.",
		Row: bindProduct,
		Find: func(c *db.Conn, cell func(string) string) ([]string, bool, error) {
			p, found, err := lookUpProduct(c, strings.TrimSpace(cell("sku")))
			return productCells(p), found, err
		},
		Export: func(c *db.Conn, emit func(cells ...string) error) error {
			return db.Each(c, func(r *db.Row) error { return emit(productCells(scanProduct(r))...) },
				"SELECT "+productColumns+" FROM store_products ORDER BY sku")
		},
	}
}

func bindProduct(f *schema.Form) schema.Put {
	given := Product{Kind: kindLicense, Active: true, OfflineDays: 30}
	var tiers string
	f.Text(&given.SKU, "sku", "what the product is known by", schema.Required, schema.Most(200), schema.Example("PLUGIN"))
	f.Text(&given.Name, "name", "its name; empty is the sku", schema.Most(200), schema.Example("Audio plugin"))
	f.Enum(&given.Kind, "kind", "license: each unit sold comes with a license; download: none does, and a redeem code makes an order; other: neither licenses nor codes", productKinds)
	f.Int(&given.PriceCents, "price_cents", "the price of a unit", schema.Range(0, maxPrice))
	f.IntPtr(&given.ActivationLimit, "activation_limit", "how many seats a license has; empty is unlimited", schema.Range(0, 1_000_000))
	f.IntPtr(&given.LicenseDays, "license_days", "how many days a license lasts; empty is forever", schema.Range(1, 36_500))
	f.Text(&tiers, "tiers", "names of its tiers, separated by |", schema.Most(2000))
	f.Bool(&given.Active, "active", "whether codes for it can be minted")
	f.Int(&given.OfflineDays, "offline_days", "how many days a file for a machine without a net runs at most; 0 is no files", schema.Range(0, 3650))
	given.Tiers = splitTiers(tiers)
	for i, t := range given.Tiers {
		switch {
		case utf8.RuneCountInString(t) > 64:
			f.Refuse("tiers", "tiers: %s is too long; a tier has at most 64 characters", schema.Quote(t))
		case slices.Contains(given.Tiers[:i], t):
			f.Refuse("tiers", "tiers: %s stands twice; each tier has a name of its own", schema.Quote(t))
		}
	}
	if given.Name == "" {
		given.Name = given.SKU
	}
	return func(tx *db.Tx) (schema.Outcome, error) {
		p, found, err := lookUpProduct(&tx.Conn, given.SKU)
		if err != nil {
			return schema.Outcome{}, err
		}
		if !found {
			return saveProduct(tx, given)
		}
		keep := func(column string, take func()) {
			if f.Given(column) {
				take()
			}
		}
		keep("name", func() { p.Name = given.Name })
		keep("kind", func() { p.Kind = given.Kind })
		keep("price_cents", func() { p.PriceCents = given.PriceCents })
		keep("activation_limit", func() { p.ActivationLimit = given.ActivationLimit })
		keep("license_days", func() { p.LicenseDays = given.LicenseDays })
		keep("tiers", func() { p.Tiers = given.Tiers })
		keep("active", func() { p.Active = given.Active })
		keep("offline_days", func() { p.OfflineDays = given.OfflineDays })
		return saveProduct(tx, p)
	}
}
