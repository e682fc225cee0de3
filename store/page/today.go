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
	sold     []store.Figure // today, a row a currency
	refunds  []store.Figure // the same of what was refunded
	month    []monthOf      // the last 30 days, a currency each
	charts   []page.Chart   // of the two most used
	latest   []store.Order
	waits    store.NeedsAttention
	unbooked []store.Unbooked
}

// monthOf is what the last 30 days came to in a currency.
type monthOf struct {
	store.Figure
	earlier store.Figure // the 30 days before
}

// mainFirst sorts by currency: first the one with the most orders in all.
func mainFirst(list []store.Figure, all []store.Figure) {
	orders := map[string]int64{}
	for _, f := range all {
		orders[f.Currency] += f.Orders
	}
	slices.SortStableFunc(list, func(a, b store.Figure) int {
		return cmp.Compare(orders[b.Currency], orders[a.Currency])
	})
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
			mainFirst(month.Totals, month.Totals)
			mainFirst(month.Rows, month.Totals)
			for _, f := range month.Rows { // a day with refunds alone has sold nothing
				if f.Day != nil && *f.Day == v.day && f.SoldCents > 0 {
					v.sold = append(v.sold, f)
				}
				if f.Day != nil && *f.Day == v.day && f.RefundedCents > 0 {
					v.refunds = append(v.refunds, f)
				}
			}
			from, to := v.day-59, v.day-30
			earlier, err := s.Figures(ctx, store.FiguresOf{From: &from, To: &to, By: "day"})
			if err != nil {
				return v, err
			}
			for i, f := range month.Totals {
				m, c := monthOf{Figure: f}, netOf(f.Currency, v.day, month.Rows, earlier.Rows)
				m.earlier = in(earlier.Totals, f.Currency)
				c.Title = exact.CurrencyOf(f.Currency).Format(f.NetCents) + " net in 30 days, " + upOrDown(m.earlier, f.NetCents)
				if v.month = append(v.month, m); i < 2 {
					v.charts = append(v.charts, c)
				}
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

// between joins amounts: the nth is preceded by a comma, the last of n by "and".
func between(n, of int) string {
	switch n {
	case 0:
		return ""
	case of - 1:
		return " and "
	}
	return ", "
}

// upOrDown is a change of net in words: "up 49 %"; by how much from nothing.
func upOrDown(was store.Figure, now int64) string {
	way, by := "up\u00a0", now-was.NetCents
	if by < 0 {
		way, by = "down\u00a0", -by
	}
	if was.NetCents <= 0 {
		return way + exact.CurrencyOf(was.Currency).Amount(by)
	}
	return way + page.Num((by*100+was.NetCents/2)/was.NetCents) + "\u00a0%"
}

// disputeAct leads to the disputed order, or to all disputes where it is not on record.
func disputeAct(d store.DisputeOf) page.Action {
	if d.OrderRef != nil {
		return page.Link("Open the order", page.Path("orders", *d.OrderRef))
	}
	return page.Link("All disputes", "/disputes")
}

// netOf is each day's net in a currency in the 30 days up to today, with the same day of the preceding 30 days.
func netOf(currency string, today exact.Day, rows, before []store.Figure) page.Chart {
	c := page.Chart{
		Label: "Day", Past: true, Whole: true, Until: today, Back: 30,
		Names: [2]string{"Net", "The 30 days before"}, Show: exact.CurrencyOf(currency).Amount,
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
