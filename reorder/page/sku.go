package page

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"quartermaster/reorder"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/page"
)

// chartDays is how many days of sales a SKU's page shows.
const chartDays = 60

// productView is a SKU's page.
type productView struct {
	reorder.ProductPage
	days []reorder.Sold // the stock of the next days, if it sells as it did
}

// PageTitle is the SKU's name.
func (v productView) PageTitle() string { return v.Name }

func product(s *reorder.Service) page.Page {
	return page.New(page.Spec[productView]{
		Path: "/skus/:sku", Title: "SKU", Load: loadProduct(s),
		View: Product,
	})
}

// label is a shelf label to print.
func label(s *reorder.Service) page.Page {
	return page.New(page.Spec[productView]{
		Path: "/skus/:sku/label", Title: "Shelf label", Plain: true, Load: loadProduct(s),
		View: Label,
	})
}

func loadProduct(s *reorder.Service) func(f *schema.Form) page.Loader[productView] {
	return func(f *schema.Form) page.Loader[productView] {
		var sku string
		f.Text(&sku, "sku", "The SKU", schema.InPath("sku"), schema.Most(64))
		return func(ctx context.Context, _ db.Caller) (productView, error) {
			p, err := s.ProductPage(ctx, sku, chartDays)
			return productView{p, projected(p)}, err
		}
	}
}

// The chart shows so many days ahead, and more if a delivery comes or the stock runs out by then.
const (
	aheadDays     = 14
	mostAheadDays = 45
	labelDays     = 13 // as wide as a delivery's label
)

// projected is the future stock at the average demand, with expected deliveries. A day with a delivery comes twice,
// before and after.
func projected(p reorder.ProductPage) (days []reorder.Sold) {
	perDay := p.AvgDailyDemand.Unscaled // of 4 decimals; a quantity has 3
	if perDay <= 0 && p.OnOrder == 0 {
		return nil
	}
	until := exact.Day(aheadDays)
	for _, day := range append(arrivals(p), p.StockoutDate) {
		if day != nil && *day-p.Today <= mostAheadDays {
			until = max(until, *day-p.Today+labelDays)
		}
	}
	left := int64(p.CurrentStock) * 10
	for i := exact.Day(1); i <= until; i++ {
		left = max(0, left-perDay)
		days = append(days, reorder.Sold{Date: p.Today + i, Qty: exact.Milli(left / 10)})
		for _, o := range p.Outstanding {
			if o.ExpectedDate != nil && *o.ExpectedDate == p.Today+i {
				left += int64(o.Qty) * 10
				days = append(days, reorder.Sold{Date: p.Today + i, Qty: exact.Milli(left / 10)})
			}
		}
	}
	return days
}

func arrivals(p reorder.ProductPage) (days []*exact.Day) {
	for _, o := range p.Outstanding {
		days = append(days, o.ExpectedDate)
	}
	return days
}

// chart is the stock as its movements left it, the sales by day, and what is to come.
func (v productView) chart(ctx context.Context) page.Chart {
	c := page.Chart{
		Title: fmt.Sprintf("Stock and sales, %d days and the next\u00a0%d", chartDays, max(len(v.days)-1, 0)),
		Steps: true,
		Bars:  points(v.Days), Line: v.stock(ctx), Ahead: points(v.days), Label: "Day",
		Names: [2]string{"Sold", "Stock"},
		Plain: milli,
		Limit: &page.Point{Label: "reorder point " + page.DecText(v.ReorderPoint), Value: v.point()},
		Now:   &page.Point{Label: "today: " + page.QtyText(v.CurrentStock), Day: v.Today},
	}
	for _, o := range v.Outstanding {
		if o.ExpectedDate != nil && *o.ExpectedDate > v.Today && *o.ExpectedDate-v.Today <= mostAheadDays {
			c.Marks = append(c.Marks, page.Point{Day: *o.ExpectedDate,
				Label: page.QtyText(o.Qty) + " come " + page.DayText(ctx, *o.ExpectedDate)})
		}
	}
	return c
}

// stock is the recorded stock on the days of the chart.
func (v productView) stock(ctx context.Context) (all []page.Point) {
	zone, first := page.From(ctx).Zone, v.Today-chartDays+1
	before := v.CurrentStock
	for _, m := range v.Movements { // newest first
		day := m.At.Day(zone)
		if day < first {
			break
		}
		all = append(all, page.Point{Day: day, Value: int64(m.CurrentStock)})
		before = m.CurrentStock - m.Qty
	}
	if begun := v.CreatedAt.Day(zone); len(all) == 0 || all[len(all)-1].Day > max(first, begun) {
		all = append(all, page.Point{Day: min(max(first, begun), v.Today), Value: int64(before)})
	}
	slices.Reverse(all)
	if all[len(all)-1].Day < v.Today {
		all = append(all, page.Point{Day: v.Today, Value: int64(v.CurrentStock)})
	}
	return all
}

func points(days []reorder.Sold) (all []page.Point) {
	for _, d := range days {
		all = append(all, page.Point{Day: d.Date, Value: int64(d.Qty)})
	}
	return all
}

func milli(v int64) string { return exact.Milli(v).String() }

// point is the reorder point in thousandths, for the chart's level.
func (v productView) point() int64 { return pointOf(v.Row) }

func pointOf(r reorder.Row) int64 { return r.ReorderPoint.Unscaled * 10 }

// spare says by how few days the next delivery comes before the stock runs out, "" if there are more than two.
func (v productView) spare() string {
	for _, o := range v.Outstanding {
		if o.ExpectedDate == nil || o.Status == reorder.Draft || v.StockoutDate == nil {
			continue
		}
		if days := *v.StockoutDate - *o.ExpectedDate; days >= 0 && days <= 2 {
			return page.Plural(int64(days), "day", "days") + " to spare"
		}
		break
	}
	return ""
}

// answer says what to do about the SKU.
func (v productView) answer(ctx context.Context) string {
	switch {
	case !v.Active:
		return "inactive"
	case v.Open > 0 && v.Drafted > 0:
		return "order " + page.QtyText(exact.Milli(v.Open*1000)) + " more, " + page.QtyText(v.Drafted) + " in " + v.draft()
	case v.Open > 0:
		return "order " + page.QtyText(exact.Milli(v.Open*1000))
	case v.SuggestedQty > 0:
		return "order " + page.QtyText(exact.Milli(v.SuggestedQty*1000)) + ", in " + v.draft()
	}
	return cmp.Or(v.arrives(ctx), "nothing to order")
}

// arrives is what comes next, "" if nothing is to come or something is to be ordered.
func (v productView) arrives(ctx context.Context) string {
	for _, o := range v.Outstanding {
		if o.ExpectedDate != nil && o.Status != reorder.Draft && v.Active && v.SuggestedQty == 0 {
			return page.QtyText(o.Qty) + " come on " + page.DayText(ctx, *o.ExpectedDate)
		}
	}
	return ""
}

// draft is the first draft with it, "" if none has it.
func (v productView) draft() string {
	for _, o := range v.Outstanding {
		if o.Status == reorder.Draft {
			return o.Number
		}
	}
	return ""
}

// comes says that enough is on its way although the stock is below the reorder point.
func (v productView) comes() bool {
	return v.Active && v.Status == reorder.Below && v.SuggestedQty == 0 && v.OnOrder > 0
}

// severalCome says that the page lists its orders: the only one is said above, with the action that leads to it.
func (v productView) severalCome() bool {
	return len(v.Outstanding) > 1 || len(v.Outstanding) > 0 && v.Open > 0 && v.Active
}

// lasts is how many days an order has to last.
func (v productView) lasts() int64 { return v.LeadTimeDays + v.SafetyStockDays + v.Cover }

// aDay is the sum that gives the average, so that nothing is computed from a rounded figure.
func (v productView) aDay() string {
	return page.QtyText(v.SoldInWindow) + " ÷ " + page.Num(v.DemandDays)
}

// whole is a figure with all its decimals, for who computes along.
func whole(d exact.Decimal) templ.Component { return page.Figure(d.String(), d.String()) }

// rounded says how the need becomes what is to be ordered.
func (v productView) rounded() string {
	switch {
	case v.Open == 0:
		return ""
	case v.MOQ == 0 && v.PackSize == 1:
		return "rounded up: "
	case v.MOQ == 0:
		return "in packs of " + page.Num(v.PackSize) + ": "
	}
	return "at least " + page.QtyText(v.MOQ) + ", in packs of " + page.Num(v.PackSize) + ": "
}

// acts are the likely next actions, first to order it or to see what comes.
func (v productView) acts() []page.Action {
	all := []page.Action{page.Open("Edit", "save_sku", "sku", v.SKU).Key("e"),
		page.Open("Correct stock", "adjust_stock", "sku", v.SKU),
		page.Link("Sales", pathQuery("/sales", "sku", v.SKU)),
		page.Link("Shelf label", page.Path("skus", v.SKU, "label")),
		page.Open("Rename", "rename_sku", "sku", v.SKU, "name", v.Name, "code", v.SKU)}
	switch {
	case v.Open > 0 && v.Active:
		return append([]page.Action{page.Do("Draft order", "suggest_purchases", "skus", v.SKU).Main()}, all...)
	case len(v.Outstanding) > 0:
		number := cmp.Or(v.draft(), v.Outstanding[0].Number)
		return append([]page.Action{page.Link("See "+number, page.Path("purchase-orders", number)).Main()}, all...)
	}
	return all
}

// value is what the stock cost, in cents.
func (v productView) value() int64 {
	return exact.RoundHalfUp(int64(v.CurrentStock)*v.UnitCostCents, 1000)
}

// change is a movement, or several in a row of one cause: each day's sales. Qty is their sum.
type change struct {
	reorder.Movement // the newest of them
	since            exact.Instant
	times            int
}

// goesOn reports whether an earlier movement had the same reason, given by the same user or program.
func (c change) goesOn(m reorder.Movement) bool {
	return m.Reason != "" && c.Reason == m.Reason && c.Kind == m.Kind && m.Kind != "count" && c.Actor == m.Actor
}

// many says how many movements it stands for: "17 days" with one on each, else "17 times".
func (c change) many(ctx context.Context) string {
	zone := page.From(ctx).Zone
	if c.At.Day(zone)-c.since.Day(zone) == exact.Day(c.times-1) {
		return page.Num(c.times) + " days"
	}
	return page.Num(c.times) + " times"
}

// mostChanges is how many changes the page lists; the chart shows each movement.
const mostChanges = 12

// changes are the newest changes of the stock. Counts and deliveries stand alone.
func (v productView) changes() (all []change) {
	for _, m := range v.Movements {
		if n := len(all); n > 0 && all[n-1].goesOn(m) {
			last := &all[n-1]
			last.Qty, last.since, last.times = last.Qty+m.Qty, m.At, last.times+1
			continue
		}
		if len(all) == mostChanges {
			break
		}
		all = append(all, change{m, m.At, 1})
	}
	return all
}

// movedWords are the causes of movements in words.
var movedWords = map[string]string{"count": "Counted", "adjustment": "Added or removed", "receipt": "Received",
	"return": "Taken back", "edit": "Edited"}

// moved says what moved a stock: the reason that was given, or the kind.
func moved(m reorder.Movement) string {
	if m.Reason != "" {
		return page.Word(m.Reason)
	}
	return movedWords[m.Kind]
}

// signed is a change of stock: +128.
func signed(qty exact.Milli) templ.Component { return page.Figure(qty.String(), signedText(qty)) }

func signedText(qty exact.Milli) string {
	switch {
	case qty > 0:
		return "+" + page.QtyText(qty)
	case qty < 0:
		return "−" + page.QtyText(-qty)
	}
	return "0"
}

// packs says how it is ordered: "packs of 8, at least 16"; "" if in any quantity.
func (v productView) packs() string {
	var all []string
	if v.PackSize > 1 {
		all = append(all, "packs of "+page.Num(v.PackSize))
	}
	if v.MOQ > 0 {
		all = append(all, "at least "+page.QtyText(v.MOQ))
	}
	return strings.Join(all, ", ")
}

// coming is the expected quantity, with the day of the first delivery.
func (v productView) coming(ctx context.Context) string {
	if v.OnOrder == 0 {
		return "nothing"
	}
	text := page.QtyText(v.OnOrder)
	for _, o := range v.Outstanding {
		if o.ExpectedDate != nil && o.Status != reorder.Draft {
			return text + " on " + page.DayText(ctx, *o.ExpectedDate)
		}
	}
	return text
}
