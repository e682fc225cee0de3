package store

import (
	"context"
	"math"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// OrderFilter restricts the list of orders; an empty field does not.
type OrderFilter struct {
	Status   string // paid or refunded
	Provider string
	Email    string     // the buyer's whole address, in any case
	Q        string     // a part of a reference, an address, a name, a SKU
	From, To *exact.Day // of paid_at in the shop's zone, both included
	schema.Cursor[int64]
}

// OrderPage is one page of orders.
type OrderPage struct {
	Orders []Order `json:"orders"`
	Next   *int64  `json:"next" about:"send this as after for the next page; null at the end"`
}

// Orders lists orders, newest first.
func (s *Service) Orders(ctx context.Context, f OrderFilter) (OrderPage, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (page OrderPage, err error) {
		page.Orders, err = f.list(c, f.Fetch())
		page.Orders, page.Next = schema.Cut(page.Orders, f.Limit, func(o Order) int64 { return o.id })
		return page, err
	})
}

// Latest lists the n orders that were paid last, newest first, without those that are void.
func (s *Service) Latest(ctx context.Context, n int) ([]Order, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) ([]Order, error) {
		return allOrders(c, "SELECT "+orderColumns+` FROM (SELECT o.* FROM store_orders o WHERE o.status <> 'void'
			ORDER BY o.paid_at DESC, o.id DESC LIMIT ?)`+orderJoins+" ORDER BY o.paid_at DESC, o.id DESC, i.line", n)
	})
}

// list returns at most n of the orders below the page's start.
func (f OrderFilter) list(c *db.Conn, n int64) ([]Order, error) {
	if f.Q != "" {
		return f.search(c, n)
	}
	from, where, args, some, err := f.where(c) // each kind of filter has an index
	if err != nil || !some {
		return []Order{}, err
	}
	return allOrders(c, "SELECT "+orderColumns+" FROM (SELECT o.* FROM store_orders o"+from+" WHERE "+where+
		" ORDER BY o.id DESC LIMIT ?)"+orderJoins+" ORDER BY o.id DESC", append(args, n)...)
}

// fewRows is up to how many rows of a range are sorted rather than the whole table walked.
const fewRows = 5000

// where is the filter as a condition on o, with the index that it is to use.
func (f OrderFilter) where(c *db.Conn) (from, where string, args []any, some bool, err error) {
	where, args = "o.id < ?", []any{below(f.Cursor)}
	and := func(condition string, values ...any) {
		where += " AND " + condition
		args = append(args, values...)
	}
	free := ""
	if f.Email != "" {
		customer, found, err := findCustomer(c, fold(f.Email))
		if err != nil || !found {
			return "", where, args, false, err
		}
		and("o.customer_id = ?", customer.ID)
		free = "+" // the other conditions are no reason for another index
	}
	if f.From != nil || f.To != nil {
		first, last := dayRange(f.From, f.To, c)
		few, err := fewBetween(c, first, last)
		switch {
		case err != nil:
			return "", where, args, false, err
		case few && free == "":
			from, where, free = " INDEXED BY store_orders_paid", "+"+where, "+"
			and("o.paid_at >= ? AND o.paid_at < ?", first, last)
		default:
			and("+o.paid_at >= ? AND +o.paid_at < ?", first, last)
		}
	}
	if f.Provider != "" {
		and(free+"o.provider = ?", f.Provider)
	}
	if f.Status != "" {
		and(free+"o.status = ?", f.Status)
	}
	return from, where, args, true, nil
}

// dayRange is the instants from the first day's beginning to the last one's end, in the
// shop's zone; without a day the range is open.
func dayRange(from, to *exact.Day, c *db.Conn) (first, end exact.Instant) {
	end = math.MaxInt64
	if from != nil {
		first = exact.InstantOf(from.Time(c.Zone()))
	}
	if to != nil {
		end = exact.InstantOf((*to + 1).Time(c.Zone()))
	}
	return first, end
}

func fewBetween(c *db.Conn, first, end exact.Instant) (bool, error) {
	n, _, err := db.One(c, db.Int,
		"SELECT count(*) FROM (SELECT 1 FROM store_orders WHERE paid_at >= ? AND paid_at < ? LIMIT ?)", first, end, fewRows+1)
	return n <= fewRows, err
}

// search returns at most n of the orders that hold what is looked for.
func (f OrderFilter) search(c *db.Conn, n int64) ([]Order, error) {
	list := []Order{}
	w := want(f.Q)
	first, end := dayRange(f.From, f.To, c)
	email := fold(f.Email)
	err := w.walkOrders(c, below(f.Cursor), func(id int64) (bool, error) {
		o, found, err := oneOrder(c, selectOrder+" WHERE o.id = ? ORDER BY i.line", id)
		if err != nil || !found {
			return true, err
		}
		if w.inOrder(o) && (f.Status == "" || o.Status == f.Status) && (f.Provider == "" || o.Provider == f.Provider) &&
			(email == "" || o.Customer.Email == email) && o.PaidAt >= first && o.PaidAt < end {
			list = append(list, o)
		}
		return int64(len(list)) < n, nil
	})
	return list, err
}

// CountOrders reports how many orders the filter keeps in all.
func (s *Service) CountOrders(ctx context.Context, f OrderFilter) (int64, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (int64, error) {
		f.Cursor = schema.Cursor[int64]{}
		if f.Q != "" {
			list, err := f.search(c, math.MaxInt64)
			return int64(len(list)), err
		}
		if f == (OrderFilter{}) {
			totals, err := readTotals(c)
			n := func(kind string) int64 { return totals[total{kind, totalsWithoutOne}] }
			return n(ordersPaid) + n(ordersRefunded) + n(ordersVoid), err
		}
		from, where, args, some, err := f.where(c)
		if err != nil || !some {
			return 0, err
		}
		n, _, err := db.One(c, db.Int, "SELECT count(*) FROM store_orders o"+from+" WHERE "+where, args...)
		return n, err
	})
}

func (f *OrderFilter) bind(form *schema.Form) {
	form.Enum(&f.Status, "status", "only orders in this status", orderStatuses)
	form.Text(&f.Provider, "provider",
		"only orders paid through this provider", schema.Most(200), schema.Example("stripe"))
	form.Text(&f.Email, "email",
		"only orders of the buyer with this address", schema.Most(254), schema.Example("ann@example.com"),
		schema.Choices(customerEmails), schema.Any)
	form.Text(&f.Q, "q", "only orders with this in reference, address, name or SKU", schema.Most(200),
		schema.Example("ann@"))
	form.DayPtr(&f.From, "from", "only orders paid on this day or later", schema.Example("2026-11-01"))
	form.DayPtr(&f.To, "to", "only orders paid on this day or before", schema.Example("2026-11-30"))
	bindCursor(form, &f.Cursor)
}
