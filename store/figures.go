package store

import (
	"cmp"
	"context"
	"slices"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Figure is what was sold and refunded in one currency: in total, on a day, in a month, of a product or of a provider.
type Figure struct {
	Day           *exact.Day   `json:"day" about:"by day"`
	Month         *exact.Month `json:"month" about:"by month"`
	SKU           *string      `json:"sku" about:"by product"`
	Name          *string      `json:"name" about:"by product: its name"`
	Currency      string       `json:"currency"`
	Orders        int64        `json:"orders" about:"orders that were paid"`
	SoldCents     int64        `json:"sold_cents" about:"what they came to, tax included"`
	TaxCents      int64        `json:"tax_cents" about:"the tax in it"`
	RefundedCents int64        `json:"refunded_cents" about:"what was given back, on the day of each refund"`
	NetCents      int64        `json:"net_cents" about:"sold less refunded"`
	Provider      *string      `json:"provider,omitempty" about:"by provider"`
}

// Figures are a shop's sales by day, month or product; amounts of different currencies
// are never added up.
type Figures struct {
	From   *exact.Day `json:"from"`
	To     *exact.Day `json:"to"`
	By     string     `json:"by" enum:"day,month,product,provider"`
	Rows   []Figure   `json:"rows"`
	Totals []Figure   `json:"totals" about:"one entry a currency"`
}

const (
	byDay     = "day"
	byMonth   = "month"
	byProduct = "product"

	byProvider = "provider" // the payment provider: some sell in their own name and owe the tax
)

// FiguresOf asks for figures: orders and refunds of the days from From to To, both
// included; a nil day leaves the range open.
type FiguresOf struct {
	From, To *exact.Day
	By       string // day, month, product or provider
}

// Figures adds up sales and refunds. Orders count on the day they were paid, refunds on their own day. By product, an
// order's discount, tax and refunds are shared over its lines in proportion to their amounts, so that the sums agree to
// the cent.
func (s *Service) Figures(ctx context.Context, f FiguresOf) (Figures, error) {
	if f.From != nil && f.To != nil && *f.From > *f.To {
		return Figures{}, fault.Fieldf("to", "to: %s is before from, %s", f.To, f.From)
	}
	return db.Read(ctx, s.db, func(c *db.Conn) (Figures, error) {
		sums := tally{rows: map[tallyKey]*Figure{}, totals: map[string]*Figure{}, by: f.By}
		collect := sums.collectDays
		if f.By == byProduct {
			collect = sums.collectProducts
		}
		first, end := dayRange(f.From, f.To, c)
		if err := collect(c, first, end); err != nil {
			return Figures{}, err
		}
		return Figures{From: f.From, To: f.To, By: f.By, Rows: sums.sorted(), Totals: sums.total()}, nil
	})
}

// Lately returns the figures by day of the last days up to today.
func (s *Service) Lately(ctx context.Context, days int) (Figures, error) {
	to := s.Today(ctx)
	from := to - exact.Day(days-1)
	return s.Figures(ctx, FiguresOf{From: &from, To: &to, By: byDay})
}

// tallyKey is a row of the figures.
type tallyKey struct {
	day      exact.Day
	month    exact.Month
	sku      string
	provider string
	currency string
}

// tally adds up figures.
type tally struct {
	by     string
	rows   map[tallyKey]*Figure
	totals map[string]*Figure

	day        exact.Day // of the previous instant, from first to end
	first, end exact.Instant
}

func (t *tally) row(k tallyKey) *Figure {
	f := t.rows[k]
	if f == nil {
		f = &Figure{Currency: k.currency}
		switch t.by {
		case byDay:
			f.Day = &k.day
		case byMonth:
			f.Month = &k.month
		case byProvider:
			f.Provider = &k.provider
		default:
			f.SKU = &k.sku
		}
		t.rows[k] = f
	}
	return f
}

func (t *tally) totalOf(currency string) *Figure {
	f := t.totals[currency]
	if f == nil {
		f = &Figure{Currency: currency}
		t.totals[currency] = f
	}
	return f
}

// key is the row of an instant.
func (t *tally) key(at exact.Instant, currency, provider string, c *db.Conn) tallyKey {
	if t.by == byProvider {
		return tallyKey{provider: provider, currency: currency}
	}
	if at < t.first || at >= t.end { // they come in order of time: most are of the same day as the previous one
		t.day = at.Day(c.Zone())
		t.first, t.end = exact.InstantOf(t.day.Time(c.Zone())), exact.InstantOf((t.day + 1).Time(c.Zone()))
	}
	if t.by == byMonth {
		return tallyKey{month: t.day.Month(), currency: currency}
	}
	return tallyKey{day: t.day, currency: currency}
}

// soldByHour are the sums of each hour of UTC, soldOnce each order by itself, both in order of time.
const (
	soldByHour = `SELECT hour, currency, orders, sold_cents, tax_cents, provider FROM store_hours
		WHERE hour >= ? AND hour < ? AND orders > 0`
	soldOnce = `SELECT paid_at, currency, 1, total_cents, tax_cents, provider FROM store_orders
		WHERE paid_at >= ? AND paid_at < ? AND status <> 'void'`
)

func (t *tally) collectDays(c *db.Conn, first, end exact.Instant) error {
	sold := soldByHour
	if !wholeHours(c, first, end) {
		sold = soldOnce
	}
	err := db.Each(c, func(r *db.Row) error {
		at, currency, orders, sold, tax, provider := r.Instant(), r.Text(), r.Int(), r.Int(), r.Int(), r.Text()
		for _, f := range []*Figure{t.row(t.key(at, currency, provider, c)), t.totalOf(currency)} {
			f.Orders += orders
			f.SoldCents += sold
			f.TaxCents += tax
		}
		return nil
	}, sold, first, end)
	if err != nil {
		return err
	}
	return db.Each(c, func(r *db.Row) error {
		at, cents, currency, _, provider := r.Instant(), r.Int(), r.Text(), r.Int(), r.Text()
		for _, f := range []*Figure{t.row(t.key(at, currency, provider, c)), t.totalOf(currency)} {
			f.RefundedCents += cents
		}
		return nil
	}, refundsBetween, first, end)
}

// wholeHours reports whether every day from first to end, or up to now, begins with an hour of UTC. It does not where
// clocks are half an hour apart from UTC's, as in India.
func wholeHours(c *db.Conn, first, end exact.Instant) bool {
	for at := first; at < end && at <= c.Now()+86400; {
		here := at.Time().In(c.Zone())
		if _, offset := here.Zone(); offset%3600 != 0 {
			return false
		}
		_, changes := here.ZoneBounds()
		if changes.IsZero() {
			break
		}
		at = exact.InstantOf(changes)
	}
	return true
}

const refundsBetween = `SELECT r.at, r.cents, o.currency, o.id, o.provider FROM store_refunds r CROSS
	JOIN store_orders o ON o.id = r.order_id
	WHERE r.at >= ? AND r.at < ? AND r.cents > 0 AND o.status <> 'void'`

// sharesBetween adds up what orders and refunds came to by product: the kept sums of whole days of UTC, and each share
// of the parts of a day before and after them.
const (
	sharesBetween = `SELECT p.sku, p.name, s.currency, sum(s.orders), sum(s.firsts), sum(s.sold_cents), sum(s.tax_cents),
			sum(s.refunded_cents)
		FROM (SELECT product_id, currency, ` + shares + ` FROM store_product_days WHERE day >= ?2 AND day < ?3
			UNION ALL SELECT product_id, currency, ` + shares + ` FROM store_sales WHERE at >= ?1 AND at < ?2
			UNION ALL SELECT product_id, currency, ` + shares + ` FROM store_sales WHERE at >= ?3 AND at < ?4) s
		CROSS JOIN store_products p ON p.id = s.product_id
		GROUP BY s.product_id, s.currency HAVING sum(s.orders) + sum(s.refunds) > 0`
	shares = "orders, firsts, sold_cents, tax_cents, refunds, refunded_cents"
)

func (t *tally) collectProducts(c *db.Conn, first, end exact.Instant) error {
	const day = 24 * 60 * 60
	whole := min(first+(day-first%day)%day, end)
	rest := max(end-end%day, whole)
	return db.Each(c, func(r *db.Row) error {
		sku, name, currency := r.Text(), r.Text(), r.Text()
		f, all := t.row(tallyKey{sku: sku, currency: currency}), t.totalOf(currency)
		f.Name, f.Orders = &name, r.Int()
		all.Orders += r.Int()
		f.SoldCents, f.TaxCents, f.RefundedCents = r.Int(), r.Int(), r.Int()
		all.SoldCents += f.SoldCents
		all.TaxCents += f.TaxCents
		all.RefundedCents += f.RefundedCents
		return nil
	}, sharesBetween, first, whole, rest, end)
}

func (t *tally) sorted() []Figure {
	keys := make([]tallyKey, 0, len(t.rows))
	for k := range t.rows {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b tallyKey) int {
		return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(a.month, b.month), cmp.Compare(a.sku, b.sku),
			cmp.Compare(a.provider, b.provider), cmp.Compare(a.currency, b.currency))
	})
	rows := make([]Figure, 0, len(keys))
	for _, k := range keys {
		f := *t.rows[k]
		f.NetCents = f.SoldCents - f.RefundedCents
		rows = append(rows, f)
	}
	return rows
}

func (t *tally) total() []Figure {
	list := make([]Figure, 0, len(t.totals))
	for _, f := range t.totals {
		f.NetCents = f.SoldCents - f.RefundedCents
		list = append(list, *f)
	}
	slices.SortFunc(list, func(a, b Figure) int { return cmp.Compare(a.Currency, b.Currency) })
	return list
}

// Today is the calendar day in the shop's zone.
func (s *Service) Today(ctx context.Context) exact.Day {
	today, _ := db.Read(ctx, s.db, func(c *db.Conn) (exact.Day, error) { return c.Today(), nil })
	return today
}
