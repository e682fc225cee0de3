package store

import (
	"cmp"
	"context"
	"math"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// ShortOrder is what identifies an order and decides about it.
type ShortOrder struct {
	OrderRef      string        `json:"order_ref"`
	Status        string        `json:"status"`
	Customer      ShortBuyer    `json:"customer"`
	Items         []ShortItem   `json:"items"`
	Currency      string        `json:"currency"`
	TotalCents    int64         `json:"total_cents"`
	RefundedCents int64         `json:"refunded_cents,omitempty"`
	PaidAt        exact.Instant `json:"paid_at"`
}

// ShortBuyer is who bought.
type ShortBuyer struct {
	Email string `json:"email"`
}

// ShortItem is what was bought.
type ShortItem struct {
	SKU string `json:"sku"`
	Qty int64  `json:"qty"`
}

func (o Order) short() ShortOrder {
	s := ShortOrder{o.OrderRef, o.Status, ShortBuyer{o.Customer.Email}, make([]ShortItem, len(o.Items)), o.Currency,
		o.TotalCents, o.RefundedCents, o.PaidAt}
	for i, item := range o.Items {
		s.Items[i] = ShortItem{item.SKU, item.Qty}
	}
	return s
}

// OrderSum is what orders come to in one currency.
type OrderSum struct {
	Currency      string `json:"currency"`
	Orders        int64  `json:"orders"`
	TotalCents    int64  `json:"total_cents"`
	RefundedCents int64  `json:"refunded_cents"`
}

// FoundOrders is a page of orders for agents, with what all that match come to.
type FoundOrders struct {
	Orders []schema.Row[Order, ShortOrder] `json:"orders"`
	Shown  int                             `json:"shown"`
	Total  int64                           `json:"total"`
	Sums   []OrderSum                      `json:"sums,omitempty" about:"of all that match, an entry a currency, on the first page"`
	Next   *string                         `json:"next" about:"pass it as after; null at the end"`
	Near   []string                        `json:"near,omitempty" about:"customers and products similar to q, if nothing matches"`
}

// The orders in which agents get orders.
const (
	sortNewest = "newest"
	sortOldest = "oldest"
	sortMost   = "most"
)

// FindOrders returns a page of the orders that match, and what all of them come to. A customer
// who is not there is refused as not found.
func (s *Service) FindOrders(ctx context.Context, f OrderFilter, customer int64, l schema.Listing, sort string) (
	FoundOrders, error) {
	if f.From != nil && f.To != nil && *f.To < *f.From {
		return FoundOrders{}, fault.Fieldf("to", "to: %s lies before from, %s", f.To, f.From)
	}
	return db.Read(ctx, s.db, func(c *db.Conn) (found FoundOrders, err error) {
		if customer != 0 {
			k, err := customerByID(c, customer)
			if err != nil {
				return found, err
			}
			f.Email = k.Email
		}
		page, sums, err := f.found(c, l, sort)
		if err != nil {
			return found, err
		}
		for _, sum := range sums {
			found.Total += sum.Orders
		}
		if l.First() {
			found.Sums = sums
		}
		rows := schema.Fit(page, l.Short, Order.short, l.Asked, schema.AnswerBytes)
		found.Orders, found.Shown = rows, len(rows)
		if to := l.After + int64(len(rows)); to < found.Total {
			found.Next = schema.NextText(&to)
		}
		if f.Q != "" && found.Total == 0 {
			found.Near, err = likeGoods(c, f.Q)
		}
		return found, err
	})
}

// found reads a page of the orders that match and sums them all up.
func (f OrderFilter) found(c *db.Conn, l schema.Listing, sort string) (page []Order, sums []OrderSum, err error) {
	if f.Q == "" {
		from, where, args, some, err := f.where(c)
		if err != nil || !some {
			return nil, nil, err
		}
		sums, err = db.All(c, func(r *db.Row) OrderSum { return OrderSum{r.Text(), r.Int(), r.Int(), r.Int()} },
			"SELECT o.currency, count(*), sum(o.total_cents), sum(o.refunded_cents) FROM store_orders o"+from+" WHERE "+where+
				" GROUP BY o.currency", args...)
		if err != nil {
			return nil, nil, err
		}
		order := orderSorts[sort]
		page, err = allOrders(c, "SELECT "+orderColumns+" FROM (SELECT o.* FROM store_orders o"+from+" WHERE "+where+
			" ORDER BY "+order+" LIMIT ? OFFSET ?)"+
			orderJoins+" ORDER BY "+order+", i.line", append(args, l.Limit, l.After)...)
		return page, sums, err
	}
	all, err := f.search(c, math.MaxInt64)
	if err != nil {
		return nil, nil, err
	}
	switch sort {
	case sortOldest:
		slices.Reverse(all)
	case sortMost:
		slices.SortStableFunc(all, func(a, b Order) int { return cmp.Compare(b.TotalCents, a.TotalCents) })
	}
	from := min(l.After, int64(len(all)))
	return all[from:min(from+l.Limit, int64(len(all)))], sumOrders(all), nil
}

// orderSorts are the orders in which agents get orders, as SQL.
var orderSorts = map[string]string{sortNewest: "o.id DESC", sortOldest: "o.id",
	sortMost: "o.total_cents DESC, o.id DESC"}

func sumOrders(all []Order) (sums []OrderSum) {
	for _, o := range all {
		i := slices.IndexFunc(sums, func(s OrderSum) bool { return s.Currency == o.Currency })
		if i < 0 {
			i, sums = len(sums), append(sums, OrderSum{Currency: o.Currency})
		}
		sums[i].Orders++
		sums[i].TotalCents += o.TotalCents
		sums[i].RefundedCents += o.RefundedCents
	}
	slices.SortFunc(sums, func(a, b OrderSum) int { return cmp.Compare(a.Currency, b.Currency) })
	return sums
}

// likeGoods are at most five customers and products that are really like what was looked for.
func likeGoods(c *db.Conn, q string) ([]string, error) {
	goods, err := db.All(c, db.Text, "SELECT sku || ' (' || name || ')' FROM store_products ORDER BY id")
	if err != nil {
		return nil, err
	}
	near := schema.Near(q, goods, 5)
	people, err := likeCustomers(c, q)
	near = append(near, people...)
	return near[:min(5, len(near))], err
}

// bindFound binds the list of orders as agents ask for it.
func (s *Service) bindFound(f *schema.Form) schema.Handler {
	var o OrderFilter
	var customer int64
	var l schema.Listing
	sort := sortNewest
	f.Text(&o.Q, "q", "words of reference, address, name or SKU", schema.Most(200))
	bindCustomer(f, &customer)
	f.Enum(&o.Status, "status", "", orderStatuses)
	f.Text(&o.Provider, "provider", "the payment provider: stripe, manual ...", schema.Most(32))
	f.DayPtr(&o.From, "from", "first day of payment")
	f.DayPtr(&o.To, "to", "last day")
	f.Enum(&sort, "sort", "", []string{sortNewest, sortOldest, sortMost})
	f.Listing(&l)
	return func(ctx context.Context, _ db.Caller) (any, error) { return s.FindOrders(ctx, o, customer, l, sort) }
}
