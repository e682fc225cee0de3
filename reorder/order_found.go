package reorder

import (
	"context"

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

// FoundOrders is a page of purchase orders for agents.
type FoundOrders struct {
	PurchaseOrders []schema.Row[PurchaseOrder, ShortOrder] `json:"purchase_orders"`
	Total          int64                                   `json:"total" about:"all that match"`
	Shown          int                                     `json:"shown" about:"rows given"`
	Next           *string                                 `json:"next" about:"pass it as after; null at the end"`
	Near           []string                                `json:"near,omitempty" about:"suppliers similar to q, if nothing matches"`
}

func (s *Service) listPurchases() schema.Op {
	rows := []PurchaseOrder{sampleOrder(Ordered, 0)}
	return schema.Op{
		Name: "list_purchases", Says: "Which purchase orders there are",
		About:         "The purchase orders in the order of their numbers.",
		AgentAbout:    "Purchase orders, newest first. Create them on the pages.",
		Response:      OrderList{rows},
		AgentResponse: FoundOrders{PurchaseOrders: schema.Rows(rows, false, PurchaseOrder.short), Total: 1, Shown: 1},
		Example:       "reorder po list --json\nreorder po list --status ordered --supplier Leaf",
		Bind: func(f *schema.Form) schema.Handler {
			var q OrderQuery
			f.Enum(&q.Status, "status", "only this status", orderMoves.States())
			f.Text(&q.Supplier, "supplier", "only this supplier's", schema.Most(maxName),
				schema.Choices(SupplierChoices), schema.Any)
			f.Text(&q.Q, "q", "words of supplier, or the number", schema.Most(maxName), schema.Label("Search"))
			if f.Surface() == schema.Tool {
				return s.bindFoundOrders(f, q)
			}
			return func(ctx context.Context, _ db.Caller) (any, error) {
				page, err := s.Orders(ctx, q)
				return OrderList{page.PurchaseOrders}, err
			}
		},
		Print: schema.Printed(printOrders),
	}
}

// bindFoundOrders binds the agents' arguments beside the filters. An unknown supplier is refused: an empty list would
// tell an agent that nothing is ordered.
func (s *Service) bindFoundOrders(f *schema.Form, q OrderQuery) schema.Handler {
	short, sort := false, "newest"
	f.Enum(&sort, "sort", "", []string{"newest", "oldest"})
	q.Newest = sort == "newest"
	asked := f.Limit(&q.Limit)
	f.Text(&q.After, "after", "next of the previous page", schema.Most(maxCode))
	f.Short(&short)
	return func(ctx context.Context, _ db.Caller) (any, error) {
		names, err := db.Read(ctx, s.db, func(c *db.Conn) (names []string, err error) {
			if q.Supplier, err = anyCase(c, q.Supplier); err != nil {
				return nil, err
			}
			return supplierNames(c)
		})
		if err != nil {
			return nil, err
		}
		page, err := s.Orders(ctx, q)
		all := FoundOrders{Total: page.Total, Next: page.Next, PurchaseOrders: schema.Fit(page.PurchaseOrders, short,
			PurchaseOrder.short, asked, schema.AnswerBytes)}
		if all.Shown = len(all.PurchaseOrders); all.Shown < len(page.PurchaseOrders) {
			all.Next = &page.PurchaseOrders[all.Shown-1].Number
		}
		if all.Total == 0 && q.Q != "" {
			all.Near = schema.Near(q.Q, names, 5)
		}
		return all, err
	}
}
