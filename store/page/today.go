package page

import (
	"cmp"
	"context"
	"slices"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/page"
	"quartermaster/store"
)

// todayView is the first page of the day.
type todayView struct {
	store.Stats
	day      exact.Day
	sold     []store.Figure   // today, a row a currency
	refunds  []store.Figure   // the same of what was refunded
	month    []store.Figure   // the last 30 days; what sold most comes first
	earlier  map[string]int64 // what the 30 days before were net in, by currency
	charts   []page.Chart     // one of each of those currencies, at most mostCharts
	latest   []store.Order
	waits    store.NeedsAttention
	unbooked []store.Unbooked
}

func today(s *store.Service) page.Page {
	return page.New(page.Spec[todayView]{
		Path: "/", Title: "Today", Menu: "Today", Key: "t",
		Load: page.Always(func(ctx context.Context, _ db.Caller) (v todayView, err error) {
			if v.Stats, err = s.Stats(ctx); err != nil {
				return v, err
			}
			v.day = s.Today(ctx)
			month, err := s.Lately(ctx, 30)
			if err != nil {
				return v, err
			}
			v.month = month.Totals
			for _, f := range month.Rows { // a day with refunds alone has sold nothing
				if f.Day != nil && *f.Day == v.day && f.SoldCents > 0 {
					v.sold = append(v.sold, f)
				}
				if f.Day != nil && *f.Day == v.day && f.RefundedCents > 0 {
					v.refunds = append(v.refunds, f)
				}
			}
			slices.SortStableFunc(v.month, func(a, b store.Figure) int { return cmp.Compare(b.Orders, a.Orders) })
			from, to := v.day-59, v.day-30
			earlier, err := s.Figures(ctx, store.FiguresOf{From: &from, To: &to, By: "day"})
			if err != nil {
				return v, err
			}
			v.earlier = map[string]int64{}
			for _, f := range earlier.Totals {
				v.earlier[f.Currency] = f.NetCents
			}
			for _, f := range v.month[:min(len(v.month), mostCharts)] {
				v.charts = append(v.charts, netOf(f.Currency, v.day, month.Rows, earlier.Rows))
			}
			if v.latest, err = s.Latest(ctx, 8); err != nil {
				return v, err
			}
			if v.waits, err = s.NeedsAttention(ctx); err != nil {
				return v, err
			}
			waiting, err := s.Unbooked(ctx)
			v.unbooked = waiting.Payments
			return v, err
		}),
		View: Today,
	})
}

// refunded are today's sales in currencies in which something was refunded as well.
func (v todayView) refunded() []store.Figure {
	return slices.DeleteFunc(slices.Clone(v.sold), func(f store.Figure) bool { return f.RefundedCents == 0 })
}

// comma precedes n further words, if there are any.
func comma(n int) string {
	if n == 0 {
		return ""
	}
	return ", "
}

// disputeActs lead to the disputed order, and to all disputes.
func disputeActs(d store.DisputeOf) (acts []page.Action) {
	if d.OrderRef != nil {
		acts = append(acts, page.Link("Open the order", page.Path("orders", *d.OrderRef)))
	}
	return append(acts, page.Link("All disputes", "/disputes").Quiet())
}

// mostCharts stand side by side.
const mostCharts = 2

// netOf is each day's net in a currency in the 30 days up to today, with the same day of the preceding 30 days.
func netOf(currency string, today exact.Day, rows, before []store.Figure) page.Chart {
	c := page.Chart{
		Title: "Net by day in " + currency + ", the last 30 days", Label: "Day", Past: true, Whole: true,
		Names: [2]string{"Net", "30 days before"}, Show: exact.CurrencyOf(currency).Amount,
	}
	net := map[exact.Day]int64{}
	for _, f := range slices.Concat(rows, before) {
		if f.Currency == currency && f.Day != nil {
			net[*f.Day] = f.NetCents
		}
	}
	for day := today - 29; day <= today; day++ {
		c.Bars = append(c.Bars, page.Point{Day: day, Value: net[day]})
		c.Line = append(c.Line, page.Point{Day: day, Value: net[day-30]})
	}
	return c
}
