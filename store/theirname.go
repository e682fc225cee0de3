package store

import (
	"cmp"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
)

// theirNames finds what other programs' names for products mean, for one import.
type theirNames struct{ products []Product } // read when a name is looked for

// meant finds the product that one of a provider's names means.
func (n *theirNames) meant(c *db.Conn, provider string, names ...string) (p Product, tier string, found bool,
	err error) {
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == "" })
	for _, name := range names {
		if p, found, err = lookUpProduct(c, name); err != nil || found {
			return p, "", found, err
		}
	}
	for _, name := range names {
		l, is, err := mappedAs(c, provider, name)
		if err != nil {
			return p, "", false, err
		}
		if is {
			p, err = findProduct(c, l.SKU)
			return p, schema.Cell(l.Tier), err == nil, err
		}
	}
	if n.products == nil {
		if n.products, err = products.All(c, ""); err != nil {
			return p, "", false, err
		}
	}
	for _, name := range names {
		same := slices.DeleteFunc(slices.Clone(n.products), func(p Product) bool { return !strings.EqualFold(p.Name, name) })
		if len(same) == 1 {
			return same[0], "", true, nil
		}
	}
	return p, "", false, nil
}

// mappedAs finds what a provider's name, or its number for the product, is mapped to.
func mappedAs(c *db.Conn, provider, name string) (Link, bool, error) {
	if l, found, err := findLink(c, provider, name); err != nil || found {
		return l, found, err
	}
	n, digits := wholeNumber(name)
	if !digits || n <= 0 {
		return Link{}, false, nil
	}
	link, found, err := db.One(c, db.Text,
		"SELECT link FROM store_links WHERE provider = ? AND their_product = ? ORDER BY mapped_at DESC LIMIT 1", provider, n)
	if err != nil || !found {
		return Link{}, false, err
	}
	return findLink(c, provider, link)
}

// unknownName is a provider's name that means no product, and the operation that maps it.
func unknownName(provider, name string) schema.Unknown {
	return schema.Unknown{Name: name, Rows: 1, Op: "map_provider", Field: "sku",
		Fields: map[string]string{"provider": provider, "payment_link": name}}
}

// resolve gives an order's rows our products for the provider's names, and returns the names that mean none.
func (n *theirNames) resolve(c *db.Conn, rows []orderRow) (unknown []schema.Unknown, err error) {
	for i := range rows {
		r := &rows[i]
		if r.sku == "" || !slices.Contains(mapped, r.provider) {
			continue
		}
		p, tier, found, err := n.meant(c, r.provider, r.sku)
		switch {
		case err != nil:
			return nil, err
		case !found:
			unknown = append(unknown, unknownName(r.provider, r.sku))
			continue
		}
		r.sku = p.SKU
		r.tier = cmp.Or(r.tier, tier)
	}
	return unknown, nil
}
