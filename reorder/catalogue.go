package reorder

import (
	"context"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
)

// Limits of a SKU's texts, in characters.
const (
	maxCode  = 64
	maxName  = 200
	maxNotes = 10_000
)

// Catalogue is a page of the catalogue, in the byte order of the codes.
type Catalogue struct {
	SKUs []SKU   `json:"skus"`
	Next *string `json:"next" about:"pass it as after; null at the end"`
}

// CatalogueQuery restricts the catalogue. Q is searched in code and name, in any case, anywhere; Active is "1", "0" or
// "" for both.
type CatalogueQuery struct {
	Q, Supplier, Active, After string
	Limit                      int64

	grams string // the result of narrow
}

// SKUs returns a page of the catalogue.
func (s *Service) SKUs(ctx context.Context, q CatalogueQuery) (Catalogue, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (Catalogue, error) { return catalogue(c, q) })
}

func catalogue(c *db.Conn, q CatalogueQuery) (Catalogue, error) {
	page := Catalogue{SKUs: []SKU{}}
	if err := q.narrow(c); err != nil {
		return page, err
	}
	query, args := q.statement()
	rows, err := c.Prepare(query)
	if err != nil {
		return page, err
	}
	defer rows.Reset()
	if err := rows.Args(args...); err != nil {
		return page, err
	}
	wanted := folded(q.Q)
	for {
		r, err := rows.Step()
		if err != nil || r == nil {
			return page, err
		}
		if code, name := r.Text(), r.Text(); wanted != "" && !hasFolded(code, wanted) && !hasFolded(name, wanted) {
			continue
		}
		rec := articles.Row(r)
		if int64(len(page.SKUs)) == q.Limit {
			page.Next = &page.SKUs[q.Limit-1].Code
			return page, nil
		}
		page.SKUs = append(page.SKUs, rec.SKU)
	}
}

// statement reads the SKUs after q.After in order, from an index for every filter. The index finds candidates for Q;
// the reader compares them.
func (q CatalogueQuery) statement() (query string, args []any) {
	query, args = "SELECT sku, name, "+articles.Columns()+" FROM skus WHERE sku > ?", []any{q.After}
	if q.Supplier != "" {
		query, args = query+" AND supplier = ?", append(args, q.Supplier)
	}
	switch q.Active {
	case "0":
		query += " AND active = 0" // literal, so that the partial index is used
	case "1":
		query += " AND active = 1"
	}
	if q.grams != "" {
		query, args = query+" AND id IN (SELECT rowid FROM sku_texts WHERE sku_texts MATCH ?)", append(args, q.grams)
	}
	return query + " ORDER BY sku", args
}

// hasFolded reports whether the text contains the folded one, in any case.
func hasFolded(text, wanted string) bool { return strings.Contains(folded(text), wanted) }

// folded is a text in the one case in which texts are compared.
func folded(s string) string { return strings.ToLower(strings.ToUpper(s)) }

func (s *Service) listSKUs() schema.Op {
	next := sample.Code
	return schema.Op{
		Name:    "list_skus",
		Example: "reorder skus list --q tea --active 1", Print: printSKUs,
		About:    "The catalogue in the order of the SKUs, page by page.",
		Response: Catalogue{SKUs: []SKU{sample.SKU}, Next: &next},
		Bind: schema.Reads(func(f *schema.Form, q *CatalogueQuery) {
			f.Text(&q.Q, "q", "text to look for in SKU and name", schema.Most(maxName), schema.Example("tea"))
			f.Text(&q.Supplier, "supplier", "only this supplier's", schema.Most(maxName), schema.Example(sample.Supplier),
				schema.Choices(SupplierChoices), schema.Any)
			f.Enum(&q.Active, "active", "1 for active SKUs, 0 for inactive ones (default: both)", []string{"0", "1"})
			paging(f, &q.Limit, &q.After, maxCode)
		}, s.SKUs),
	}
}
