package reorder

import (
	"context"
	"io"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/words"
)

// purchaseCalled is a purchase order as agents call one: by its number as it stands, or by the
// digits of it ("po-1", "1") where only one has them.
func (s *Service) purchaseCalled(ctx context.Context, number string) (PurchaseOrder, error) {
	o, err := s.PurchaseOrder(ctx, number)
	if !fault.Is(err, fault.NotFound) {
		return o, err
	}
	if n := words.Number(number, "PO"); n != 0 {
		numbers, err := db.Read(ctx, s.db, func(c *db.Conn) ([]string, error) {
			return db.All(c, db.Text, "SELECT number FROM purchase_orders ORDER BY number")
		})
		if err != nil {
			return o, err
		}
		var found []string
		for _, have := range numbers {
			if words.Number(have, "PO") == n {
				found = append(found, have)
			}
		}
		if len(found) == 1 {
			return s.PurchaseOrder(ctx, found[0])
		}
	}
	return o, fault.NotFoundf("no purchase order %s; list_purchase_orders lists them", schema.Quote(number))
}

// knownSupplier writes the supplier of a query as it is kept, refusing one that there is not,
// for agents: to them an empty list would say that nothing is ordered.
func (s *Service) knownSupplier(ctx context.Context, q *OrderQuery, agent bool) error {
	if !agent {
		return nil
	}
	return s.db.View(ctx, func(c *db.Conn) (err error) {
		q.Supplier, err = anyCase(c, q.Supplier)
		return err
	})
}

func (s *Service) nearSuppliers(ctx context.Context, asked string) ([]string, error) {
	names, err := db.Read(ctx, s.db, supplierNames)
	return schema.Near(asked, names, 5), err
}

// OrderRows is a page of purchase orders. Total, shown and next are there where pages are asked
// for; elsewhere it is all of them.
type OrderRows struct {
	PurchaseOrders []schema.Row[PurchaseOrder, ShortOrder] `json:"purchase_orders"`
	Total          *int64                                  `json:"total,omitempty" about:"all that match"`
	Shown          *int                                    `json:"shown,omitempty" about:"rows given"`
	Next           *string                                 `json:"next,omitempty" about:"give it as after; left out at the end"`
	Near           []string                                `json:"near,omitempty" about:"suppliers that are like q, where nothing matches"`
}

func (s *Service) listPurchases() schema.Op {
	total, shown := int64(1), 1
	return schema.Op{
		Name: "list_purchases", Says: "Which purchase orders there are", About: "The purchase orders in the order of their numbers.",
		AgentAbout: "The purchase orders, newest first. They are read here, and raised on the screens.",
		Response: OrderRows{
			PurchaseOrders: schema.Rows([]PurchaseOrder{sampleOrder(Ordered, 0)}, false, PurchaseOrder.short), Total: &total, Shown: &shown,
		},
		Example: "reorder po list --json\nreorder po list --status ordered --supplier Leaf",
		Bind: func(f *schema.Form) schema.Handler {
			var q OrderQuery
			f.Enum(&q.Status, "status", "only this status", orderMoves.States())
			f.Text(&q.Supplier, "supplier", "only this supplier's, in any case", schema.Most(maxName))
			f.Text(&q.Q, "q", "words of supplier, or the number, in any case", schema.Most(maxName), schema.Label("Search"))
			short, asked, paged := false, true, f.Surface() == schema.Tool
			if paged {
				sort := "newest"
				f.Enum(&sort, "sort", "", []string{"newest", "oldest"})
				q.Newest = sort == "newest"
				asked = f.Limit(&q.Limit)
				f.Text(&q.After, "after", "the next of the answer before", schema.Most(maxCode))
				f.Short(&short)
			}
			return func(ctx context.Context, _ db.Caller) (any, error) {
				var near []string
				if err := s.knownSupplier(ctx, &q, paged); err != nil {
					return nil, err
				}
				page, err := s.Orders(ctx, q)
				if paged && err == nil && page.Total == 0 && q.Q != "" {
					near, err = s.nearSuppliers(ctx, q.Q)
				}
				if err != nil {
					return nil, err
				}
				all := OrderRows{Near: near, PurchaseOrders: schema.Fit(page.PurchaseOrders, short, PurchaseOrder.short, asked, schema.AnswerBytes)}
				if shown := len(all.PurchaseOrders); paged {
					all.Total, all.Shown, all.Next = &page.Total, &shown, page.Next
					if shown < len(page.PurchaseOrders) {
						all.Next = &page.PurchaseOrders[shown-1].Number
					}
				}
				return all, nil
			}
		},
		Print: func(w io.Writer, answer any) {
			var all []PurchaseOrder
			for _, o := range answer.(OrderRows).PurchaseOrders {
				all = append(all, *o.Full)
			}
			printOrders(w, OrderList{all})
		},
	}
}
