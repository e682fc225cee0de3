package reorder

import (
	"context"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// Products is a page of active SKUs with their figures, in the byte order of the SKUs.
type Products struct {
	Products []schema.Row[Row, ShortRow] `json:"products"`
	Total    int                         `json:"total" about:"all that match"`
	Shown    int                         `json:"shown" about:"rows given"`
	Next     *string                     `json:"next" about:"pass it as after; null at the end"`
	Near     []string                    `json:"near,omitempty" about:"those similar to q, if nothing matches"`
}

// ProductQuery restricts the list. Status "" is any; BelowReorder keeps only SKUs at or under their reorder point;
// Supplier is a name in any case; Q is searched in SKU and name, in any case, anywhere.
type ProductQuery struct {
	Status, Supplier, Q, After string
	Sort                       string // one of productSorts; "" is the first
	BelowReorder, Short, Asked bool
	Limit                      int64
}

// behind returns the entries after q.After, which may no longer exist in the order of the SKUs.
func behind(entries []*entry, q ProductQuery) ([]*entry, error) {
	if q.After == "" {
		return entries, nil
	}
	at := place(entries, q.After)
	if at < 0 && (q.Sort == "" || q.Sort == productSorts[0]) {
		at = slices.IndexFunc(entries, func(e *entry) bool { return e.code > q.After }) - 1
		if at == -2 {
			return nil, nil
		}
	} else if at < 0 {
		return nil, fault.Fieldf("after",
			"after: %s is no longer in the list; ask for it from its beginning", schema.Quote(q.After))
	}
	return entries[at+1:], nil
}

// productSorts are the orders of the list.
var productSorts = []string{"sku", "cover", "stock"}

// Products lists active SKUs with their figures.
func (s *Service) Products(ctx context.Context, q ProductQuery) (all Products, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		k, err := rank(c)
		if err != nil {
			return err
		}
		if q.Supplier, err = anyCase(c, q.Supplier); err != nil {
			return err
		}
		var found map[int64]bool
		if q.Q != "" {
			if found, err = mentioning(c, q.Q, false); err != nil {
				return err
			}
		}
		entries := k.where(func(e *entry) bool {
			return (q.Q == "" || found[e.id]) && e.status != inactive && (q.Status == "" || q.Status == statuses[e.status]) &&
				(!q.BelowReorder || statuses[e.status] == Below) && (q.Supplier == "" || q.Supplier == e.supplier)
		})
		if err := k.sort(c, entries, q.Sort, false); err != nil {
			return err
		}
		if all.Total = len(entries); all.Total == 0 && q.Q != "" {
			if all.Near, err = nearSKUs(c, q.Q, 5); err != nil {
				return err
			}
		}
		if entries, err = behind(entries, q); err != nil {
			return err
		}
		rows, err := k.rows(c, entries[:min(len(entries), int(q.Limit))])
		if err != nil {
			return err
		}
		all.Products = schema.Fit(rows, q.Short, Row.short, q.Asked, schema.AnswerBytes)
		if all.Shown = len(all.Products); all.Shown < len(entries) {
			all.Next = &rows[all.Shown-1].SKU
		}
		return nil
	})
	return all, err
}

func (s *Service) listProducts() schema.Op {
	return schema.Op{
		Name: "list_products", Says: "Which products there are",
		About: "Active products with their forecast figures, in the order of the SKUs. below_reorder true lists only " +
			"stock at or below the reorder point; " +
			"near is up to a quarter above it. days_of_stock = stock / avg_daily_demand, null without demand.",
		Response: Products{Products: schema.Rows([]Row{rowOf(sample, sampleDay)}, false, Row.short), Total: 1, Shown: 1},
		Bind: schema.Reads(func(f *schema.Form, q *ProductQuery) {
			*q = ProductQuery{Sort: productSorts[0]}
			f.Enum(&q.Status, "status", "only this status", statuses)
			f.Bool(&q.BelowReorder, "below_reorder",
				"true: only stock at or below the reorder point, not the near ones", schema.Example(true))
			f.Text(&q.Supplier, "supplier", "only this supplier's", schema.Most(maxName), schema.Example(sample.Supplier),
				schema.Choices(SupplierChoices), schema.Any)
			f.Text(&q.Q, "q", "words of SKU and name", schema.Most(maxName), schema.Example("tea"))
			f.Enum(&q.Sort, "sort", "by SKU, fewest days of cover first, or least stock first", productSorts)
			q.Asked = f.Limit(&q.Limit)
			f.Text(&q.After, "after", "next of the previous page", schema.Most(maxCode))
			f.Short(&q.Short)
		}, s.Products),
	}
}
