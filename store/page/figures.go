package page

import (
	"cmp"
	"context"
	"slices"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/page"
	"quartermaster/store"
)

type figuresView struct {
	store.Figures
	currencies []currencyFigures
	today      exact.Day
	change     []string // since the time before, a currency each without a chart: "USD was 88.00, up 45 %"

	before               store.Figures // the time before
	beforeFrom, beforeTo exact.Day
}

// currencyFigures are those of one currency. rows are newest first.
type currencyFigures struct {
	total    store.Figure
	rows     []figuresRow
	largest  int64 // net of a product
	chart    page.Chart
	products []store.Figure // by month, the most sold
	more     bool           // there are others
}

// figuresRow is a row, or several months from since on in which nothing happened.
type figuresRow struct {
	store.Figure
	since *exact.Month
}

func (r figuresRow) empty() bool { return r.Orders == 0 && r.SoldCents == 0 && r.RefundedCents == 0 }

// mostProducts are listed beside the months.
const mostProducts = 5

// taxed reports whether a tax was in any of it.
func (c currencyFigures) taxed() bool {
	return slices.ContainsFunc(c.rows, func(r figuresRow) bool { return r.TaxCents != 0 })
}

func bestFirst(a, b store.Figure) int { return cmp.Compare(b.NetCents, a.NetCents) }

// columns are those of its table; that of tax only where there is any.
func (c currencyFigures) columns(by string) []page.Column {
	right := func(label string) page.Column { return page.Column{Label: label, Right: true} }
	list := []page.Column{{Label: page.Word(by)}, right("Orders"), right("Sold"), right("Tax"), right("Refunded"),
		right("Net, " + c.total.Currency)}
	if !c.taxed() {
		list = slices.Delete(list, 3, 4)
	}
	return list
}

// by leads to the same range by day, month or product; by day to its last 30 days if it is longer than a chart shows.
func (v figuresView) by(by string) string {
	path, from := "/figures?by="+by, v.From
	if by == "day" && (from == nil || v.To == nil || *v.To-*from >= mostBars) {
		last := schema.Or(v.To, v.today)
		last -= 29
		from = &last
	}
	if from != nil {
		path += "&from=" + from.String()
	}
	if v.To != nil {
		path += "&to=" + v.To.String()
	}
	return path
}

// rangeName is the range in words.
func (v figuresView) rangeName(ctx context.Context) string {
	for _, p := range v.presets() {
		if p.here {
			return p.text
		}
	}
	name := "All days"
	if v.From != nil {
		name = "From " + page.DayText(ctx, *v.From)
	}
	if v.To != nil {
		name += " to " + page.DayText(ctx, *v.To)
	}
	return name
}

// preset is a range that people ask for.
type preset struct {
	text, path string
	here       bool
}

// presets are the ranges, by what is asked for now.
func (v figuresView) presets() []preset {
	month := v.today.Month()
	year := (month - exact.Month(v.today.Time(time.UTC).Month()-1))
	link := func(text string, from, to exact.Day) preset {
		return preset{text, "/figures?by=" + v.By + "&from=" + from.String() + "&to=" + to.String(),
			v.From != nil && v.To != nil && *v.From == from && *v.To == to}
	}
	return []preset{
		link("12 months", (month - 11).First(), v.today),
		link("This month", month.First(), v.today), link("Last month", (month - 1).First(), (month - 1).Last()),
		link("This year", year.First(), v.today), link("Last year", (year - 12).First(), (year - 1).Last()),
		link("30 days", v.today-29, v.today), link("90 days", v.today-89, v.today),
	}
}

// fill adds the days or months of the range on which nothing was sold, for each currency.
func fill(f store.Figures) []store.Figure {
	if f.From == nil || f.To == nil || f.By == "product" || *f.To-*f.From > 1100 {
		return f.Rows
	}
	had := map[string]store.Figure{}
	for _, r := range f.Rows {
		had[r.Label()+r.Currency] = r
	}
	var rows []store.Figure
	add := func(r store.Figure) {
		for _, t := range f.Totals {
			r.Currency = t.Currency
			if known, found := had[r.Label()+t.Currency]; found {
				rows = append(rows, known)
				continue
			}
			rows = append(rows, r)
		}
	}
	if f.By == "month" {
		for m := f.From.Month(); m <= f.To.Month(); m++ {
			add(store.Figure{Month: &m})
		}
		return rows
	}
	for d := *f.From; d <= *f.To; d++ {
		add(store.Figure{Day: &d})
	}
	return rows
}

func figures(s *store.Service) page.Page {
	return page.New(page.Spec[figuresView]{
		Path: "/figures", Title: "Figures", Menu: "Figures", Key: "f",
		Load: func(f *schema.Form) page.Loader[figuresView] {
			var x store.FiguresOf
			var p page.Paging
			p.Bind(f)
			x.Bind(f)
			asked := f.Given("by") || x.From != nil || x.To != nil
			return func(ctx context.Context, _ db.Caller) (v figuresView, err error) {
				v.today = s.Today(ctx)
				x := x
				if !asked { // the last 12 months by month
					first := (v.today.Month() - 11).First()
					x.From, x.To, x.By = &first, &v.today, "month"
				}
				if v.Figures, err = s.Figures(ctx, x); err != nil {
					return v, err
				}
				v.Rows = fill(v.Figures)
				mainFirst(v.Totals, v.Totals)
				if err := v.compare(ctx, s, x); err != nil {
					return v, err
				}
				products := store.Figures{}
				if v.By == "month" {
					x.By = "product"
					products, err = s.Figures(ctx, x)
					slices.SortStableFunc(products.Rows, bestFirst)
				}
				gone := v.change
				v.change = nil
				for _, t := range v.Totals {
					v.currencies = append(v.currencies, v.since(v.of(t, products.Rows)))
				}
				v.change = append(v.change, gone...)
				return v, err
			}
		},
		View: Figures,
		CSV: func(v figuresView) page.Sheet {
			return page.SheetOf("figures", []string{v.By, "currency", "orders", "sold_cents", "tax_cents",
				"refunded_cents", "net_cents"}, v.Rows, func(r store.Figure) []string {
				return []string{r.Label(), r.Currency, page.Num(r.Orders), page.Num(r.SoldCents),
					page.Num(r.TaxCents), page.Num(r.RefundedCents), page.Num(r.NetCents)}
			})
		},
	})
}

// compare reads the time before.
func (v *figuresView) compare(ctx context.Context, s *store.Service, x store.FiguresOf) (err error) {
	if x.From == nil || x.To == nil {
		return nil
	}
	from, to := timeBefore(*x.From, *x.To)
	v.beforeFrom, v.beforeTo = from, to
	if v.before, err = s.Figures(ctx, store.FiguresOf{From: &from, To: &to, By: x.By}); err != nil {
		return err
	}
	for _, t := range v.before.Totals {
		if !slices.ContainsFunc(v.Totals, func(now store.Figure) bool { return now.Currency == t.Currency }) {
			v.change = append(v.change, t.Currency+changed(t, 0))
		}
	}
	return nil
}

// since adds the change since the time before to the head of a currency's chart, or to the page's if it has none.
func (v *figuresView) since(c currencyFigures) currencyFigures {
	if len(v.before.Totals) == 0 {
		return c
	}
	was := in(v.before.Totals, c.total.Currency)
	if text := changed(was, c.total.NetCents); len(c.chart.Bars) > 0 {
		c.chart.Title = exact.CurrencyOf(was.Currency).Format(c.total.NetCents) + " net," + text
	} else {
		v.change = append(v.change, was.Currency+text)
	}
	return c
}

// in is the total in a currency; nothing if there is none.
func in(totals []store.Figure, currency string) store.Figure {
	for _, t := range totals {
		if t.Currency == currency {
			return t
		}
	}
	return store.Figure{Currency: currency}
}

// changed says how much more or less a currency is now than before: " up 49 % from 1,525.30".
func changed(was store.Figure, now int64) string {
	return " " + upOrDown(was, now) + " from " + exact.CurrencyOf(was.Currency).Amount(was.NetCents)
}

// of is one currency's part of the figures.
func (v figuresView) of(total store.Figure, products []store.Figure) currencyFigures {
	c := currencyFigures{total: total}
	for _, r := range products {
		if r.Currency != total.Currency {
			continue
		}
		if c.more = len(c.products) == mostProducts; c.more {
			break
		}
		c.products = append(c.products, r)
	}
	list := slices.DeleteFunc(slices.Clone(v.Rows), func(r store.Figure) bool { return r.Currency != total.Currency })
	if v.By == "product" {
		slices.SortStableFunc(list, bestFirst)
		for _, r := range list {
			c.rows = append(c.rows, figuresRow{Figure: r})
			c.largest = max(c.largest, r.NetCents)
		}
		return c
	}
	if len(list) > 1 && len(list) <= mostBars {
		c.chart = v.beside(netChart("Net by "+v.By+" in "+total.Currency, list, total.Currency), total.Currency)
		if v.By == "month" && v.To != nil && *v.To == v.today && v.today != v.today.Month().Last() {
			c.chart.Until = v.today
		}
		c.chart.Whole = len(v.Totals) > 1 // the charts side by side have one scale of months
	}
	c.rows = folded(list)
	return c
}

// folded is the rows newest first; months in a row in which nothing happened are one.
func folded(rows []store.Figure) (all []figuresRow) {
	for _, f := range slices.Backward(rows) {
		r := figuresRow{Figure: f}
		if n := len(all); n > 0 && r.Month != nil && r.empty() && all[n-1].empty() {
			all[n-1].since = r.Month
			continue
		}
		all = append(all, r)
	}
	return all
}

// timeBefore is what the days from and to are compared with. Whole months: as many months before. A month up to a
// day: the same days of the month before. Several months up to a day: the same days of the year before. Any other
// days: as many days before.
func timeBefore(from, to exact.Day) (exact.Day, exact.Day) {
	if from != from.Month().First() {
		return from - (to - from + 1), from - 1
	}
	months := to.Month() - from.Month() + 1
	whole := to == to.Month().Last()
	if !whole && months > 1 {
		months = 12
	}
	day := int(to-to.Month().First()) + 1
	if whole {
		day = 31 // the last, whichever it is
	}
	return (from.Month() - months).First(), (to.Month() - months).Day(day)
}

// beside adds the net of the time before to a chart, if anything was.
func (v figuresView) beside(c page.Chart, currency string) page.Chart {
	before := make([]int64, 0, len(c.Bars))
	for _, f := range fill(v.before) {
		if f.Currency == currency {
			before = append(before, f.NetCents)
		}
	}
	if len(before) == 0 {
		return c
	}
	for i, bar := range c.Bars {
		if bar.Value = 0; i < len(before) {
			bar.Value = before[i]
		}
		c.Line = append(c.Line, bar)
	}
	c.Past, c.Names[1] = true, "The days before"
	switch { // there is no time before without a first day
	case v.By == "day":
		c.Back = *v.From - v.beforeFrom
	case v.From.Month()-v.beforeFrom.Month() == 12:
		c.Names[1] = "The year before"
	default:
		c.Names[1] = "The months before"
	}
	return c
}

// mostBars is how many bars a chart can tell apart on a phone.
const mostBars = 92
