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

// soldLine is a line of an order for sharing amounts out.
type soldLine struct {
	sku, name string
	cents     int64
}

func (t *tally) collectProducts(c *db.Conn, first, end exact.Instant) error {
	err := eachWithLines(c, func(o sharedOrder) {
		weights := weightsOf(o.lines)
		discounts, taxes := share(o.discount, weights), share(o.tax, weights)
		counted := map[string]bool{}
		for n, l := range o.lines {
			f := t.row(tallyKey{sku: l.sku, currency: o.currency})
			f.Name = &l.name
			f.SoldCents += l.cents - discounts[n] + taxes[n]
			f.TaxCents += taxes[n]
			if !counted[l.sku] {
				counted[l.sku] = true
				f.Orders++
			}
		}
		all := t.totalOf(o.currency)
		all.Orders++
		all.SoldCents += o.cents
		all.TaxCents += o.tax
	}, soldWithLines, first, end)
	if err != nil {
		return err
	}
	return eachWithLines(c, func(o sharedOrder) {
		for n, part := range share(o.cents, weightsOf(o.lines)) {
			f := t.row(tallyKey{sku: o.lines[n].sku, currency: o.currency})
			f.Name = &o.lines[n].name
			f.RefundedCents += part
		}
		t.totalOf(o.currency).RefundedCents += o.cents
	}, refundedWithLines, first, end)
}

// sharedOrder is an order or a refund of one, whose cents are shared over the order's lines.
type sharedOrder struct {
	id                   int64 // of the order or of the refund
	currency             string
	discount, tax, cents int64
	lines                []soldLine
}

// The orders and the refunds of a time, each with its lines in their order.
const (
	soldWithLines = `SELECT o.id, o.currency, o.discount_cents, o.tax_cents, o.total_cents` + ofLines + `
		FROM store_orders o` + joinLines + `
		WHERE o.paid_at >= ? AND o.paid_at < ? AND o.status <> 'void' ORDER BY o.paid_at, o.id, i.line`
	refundedWithLines = `SELECT r.id, o.currency, 0, 0, r.cents` + ofLines + `
		FROM store_refunds r CROSS JOIN store_orders o ON o.id = r.order_id` + joinLines + `
		WHERE r.at >= ? AND r.at < ? AND r.cents > 0 AND o.status <> 'void' ORDER BY r.at, r.id, i.line`
	ofLines   = ", p.sku, p.name, i.qty * i.unit_cents"
	joinLines = ` CROSS JOIN store_order_lines i ON i.order_id = o.id CROSS JOIN store_products p ON p.id = i.product_id`
)

// eachWithLines reads orders or refunds by one of these queries.
func eachWithLines(c *db.Conn, do func(sharedOrder), query string, first, end exact.Instant) error {
	var o sharedOrder
	err := db.Each(c, func(r *db.Row) error {
		row := sharedOrder{id: r.Int(), currency: r.Text(), discount: r.Int(), tax: r.Int(), cents: r.Int()}
		l := soldLine{sku: r.Text(), name: r.Text(), cents: r.Int()}
		if row.id != o.id || len(o.lines) == 0 {
			if len(o.lines) > 0 {
				do(o)
			}
			o = row
		}
		o.lines = append(o.lines, l)
		return nil
	}, query, first, end)
	if err == nil && len(o.lines) > 0 {
		do(o)
	}
	return err
}

func weightsOf(lines []soldLine) []int64 {
	weights := make([]int64, len(lines))
	for n, l := range lines {
		weights[n] = l.cents
	}
	return weights
}

// share divides an amount in proportion to weights, in whole cents: each part rounded down, the rest a cent each to the
// largest remainders, the first of equal ones first. If all weights are 0, they count as equal.
func share(amount int64, weights []int64) []int64 {
	parts := make([]int64, len(weights))
	var whole int64
	for _, w := range weights {
		whole += w
	}
	if whole == 0 {
		if len(parts) > 0 {
			parts[0] = amount
		}
		return parts
	}
	type rest struct {
		n    int
		size exact.Int128
	}
	rests := make([]rest, len(weights))
	left := amount
	for n, w := range weights {
		product := exact.Mul(amount, w)
		parts[n] = product.DivFloor(whole)
		rests[n] = rest{n, product.Sub(exact.Mul(parts[n], whole))}
		left -= parts[n]
	}
	slices.SortStableFunc(rests, func(a, b rest) int { return b.size.Cmp(a.size) })
	for n := range left {
		parts[rests[n].n]++
	}
	return parts
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
