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
	month    []store.Figure   // the last 30 days
	days     []store.Figure   // of the currency that sold most
	before   []store.Figure   // of the 30 days before those, in that currency
	earlier  map[string]int64 // what those days were net in, by currency
	currency string
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
			}
			v.days = v.chartDays(month.Rows, v.day)
			slices.SortStableFunc(v.month, func(a, b store.Figure) int { // what sold most comes first
				return cmp.Compare(b.Orders, a.Orders)
			})
			from, to := v.day-59, v.day-30
			earlier, err := s.Figures(ctx, store.FiguresOf{From: &from, To: &to, By: "day"})
			if err != nil {
				return v, err
			}
			v.before, v.earlier = v.chartDays(earlier.Rows, to), map[string]int64{}
			for _, f := range earlier.Totals {
				v.earlier[f.Currency] = f.NetCents
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

// chart is each day's sales, with the same day of the preceding 30 days.
func (v todayView) chart() page.Chart {
	c := page.Chart{
		Title: "Net by day in " + v.currency + ", the last 30 days", Label: "Day",
		Past:  true,
		Names: [2]string{"Net, " + v.currency, "30 days before"}, Show: exact.CurrencyOf(v.currency).Amount,
	}
	for i, d := range v.days {
		c.Bars = append(c.Bars, page.Point{Day: *d.Day, Value: d.NetCents})
		c.Line = append(c.Line, page.Point{Day: *d.Day, Value: v.before[i].NetCents})
	}
	return c
}

// chartDays returns the 30 days up to last in the currency that most orders were in, also the
// days on which nothing was sold.
func (v *todayView) chartDays(rows []store.Figure, last exact.Day) []store.Figure {
	var most int64
	for _, f := range v.month {
		if f.Orders > most {
			most, v.currency = f.Orders, f.Currency
		}
	}
	by := map[exact.Day]store.Figure{}
	for _, f := range rows {
		if f.Currency == v.currency && f.Day != nil {
			by[*f.Day] = f
		}
	}
	days := make([]store.Figure, 30)
	for n := range days {
		day := last - 29 + exact.Day(n)
		days[n] = by[day]
		days[n].Day = &day
	}
	return days
}
