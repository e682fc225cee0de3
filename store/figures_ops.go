package store

import (
	"cmp"
	"context"
	"io"
	"slices"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

func (s *Service) storeFigures() schema.Op {
	today := exampleInstant.Day(time.UTC)
	row := Figure{Day: &today, Currency: "USD", Orders: 2, SoldCents: 9800, RefundedCents: 4900, NetCents: 4900}
	all := row
	all.Day = nil
	return schema.Op{
		Name: "store_figures", Says: "What was sold",
		About: "Sales and refunds by day, month, product or provider, a row for each currency. Orders count on the day they " +
			"were paid, refunds on theirs; " +
			"without from and to it covers everything.",
		AgentAbout: "Revenue by day, month, product or provider, a row for each currency: sold (tax included), refunded, " +
			"net = " +
			"sold - refunded. Orders count on the day they were paid, " +
			"refunds on theirs. Without from and to it covers everything. totals are of all rows. detail short omits tax.",
		AgentResponse: RevenueReport{From: &today, To: &today, By: byDay, Totals: []ShortFigure{all.short()},
			Rows: schema.Rows([]Figure{row}, false, Figure.short), Shown: 1, Total: 1},
		Response: Figures{From: &today, To: &today, By: byDay, Rows: []Figure{row}, Totals: []Figure{all}},
		Example:  "store figures --from 2026-11-01 --to 2026-11-30\nstore figures --by product --csv",
		Print: schema.Printed(func(w io.Writer, f Figures) {
			schema.Tabulate(w, "PERIOD OR PRODUCT|CURRENCY|ORDERS|SOLD|TAX|REFUNDED|NET", append(f.Rows, f.Totals...),
				func(f Figure) []any {
					money := exact.CurrencyOf(f.Currency)
					return []any{f.Label(), f.Currency, f.Orders,
						money.Plain(f.SoldCents), money.Plain(f.TaxCents), money.Plain(f.RefundedCents), money.Plain(f.NetCents)}
				})
		}),
		Bind: func(f *schema.Form) schema.Handler {
			var x FiguresOf
			x.Bind(f)
			if f.Surface() == schema.Tool {
				var l schema.Listing
				sort := sortFirst
				f.Enum(&sort, "sort", "first: by day, month or name; most: by what was sold",
					[]string{sortFirst, sortLast, sortMost})
				f.Listing(&l)
				return func(ctx context.Context, _ db.Caller) (any, error) { return s.RevenueReport(ctx, x, l, sort) }
			}
			return func(ctx context.Context, _ db.Caller) (any, error) { return s.Figures(ctx, x) }
		},
	}
}

// Bind binds the arguments of figures.
func (x *FiguresOf) Bind(f *schema.Form) {
	x.By = byDay
	f.DayPtr(&x.From, "from", "the first day", schema.Example("2026-11-01"))
	f.DayPtr(&x.To, "to", "the last day", schema.Example("2026-11-30"))
	f.Enum(&x.By, "by", "what each row sums up", []string{byDay, byMonth, byProduct, byProvider})
}

// Label names the rows.
func (f Figure) Label() string {
	switch {
	case f.Day != nil:
		return f.Day.String()
	case f.Month != nil:
		return f.Month.String()
	case f.SKU != nil:
		return *f.SKU
	case f.Provider != nil:
		return *f.Provider
	}
	return "in all"
}

// RevenueReport is Figures for agents: a page of the rows, the totals on the first.
type RevenueReport struct {
	From   *exact.Day                        `json:"from"`
	To     *exact.Day                        `json:"to"`
	By     string                            `json:"by"`
	Rows   []schema.Row[Figure, ShortFigure] `json:"rows"`
	Totals []ShortFigure                     `json:"totals,omitempty" about:"of all rows, an entry a currency, on the first page"`
	Shown  int                               `json:"shown"`
	Total  int                               `json:"total"`
	Next   *string                           `json:"next" about:"pass it as after; null at the end"`
}

// ShortFigure is a row of figures without what its report is not by.
type ShortFigure struct {
	Day           *exact.Day   `json:"day,omitempty"`
	Month         *exact.Month `json:"month,omitempty"`
	SKU           *string      `json:"sku,omitempty"`
	Provider      *string      `json:"provider,omitempty"`
	Currency      string       `json:"currency"`
	Orders        int64        `json:"orders"`
	SoldCents     int64        `json:"sold_cents"`
	RefundedCents int64        `json:"refunded_cents"`
	NetCents      int64        `json:"net_cents"`
}

func (f Figure) short() ShortFigure {
	return ShortFigure{f.Day, f.Month, f.SKU, f.Provider, f.Currency, f.Orders, f.SoldCents, f.RefundedCents, f.NetCents}
}

// The orders in which agents get the rows of figures, beside sortMost.
const (
	sortFirst = "first"
	sortLast  = "last"
)

// RevenueReport is Figures for agents.
func (s *Service) RevenueReport(ctx context.Context, x FiguresOf, l schema.Listing, sort string) (RevenueReport,
	error) {
	all, err := s.Figures(ctx, x)
	if err != nil {
		return RevenueReport{}, err
	}
	switch sort {
	case sortLast:
		slices.Reverse(all.Rows)
	case sortMost:
		slices.SortStableFunc(all.Rows, func(a, b Figure) int { return cmp.Compare(b.SoldCents, a.SoldCents) })
	}
	r := RevenueReport{From: all.From, To: all.To, By: all.By, Total: len(all.Rows)}
	if l.First() {
		for _, t := range all.Totals {
			r.Totals = append(r.Totals, t.short())
		}
	}
	r.Rows, r.Next = schema.PageOf(all.Rows, l, Figure.short, schema.AnswerBytes)
	r.Shown = len(r.Rows)
	return r, nil
}
