package page

import (
	"context"

	"github.com/a-h/templ"

	"quartermaster/reorder"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/page"
)

// shelfView is the list of SKUs, and the sheet to count by.
type shelfView struct {
	reorder.Shelf
	columns []string
}

// countLines is how many SKUs one form counts.
const countLines = 200

// bindShelf binds the filters of a list of SKUs, of which a page shows so many.
func bindShelf(f *schema.Form, q *reorder.ShelfQuery, limit int64) {
	f.Enum(&q.Status, "status", "Only this status; out is without stock", []string{reorder.Below, reorder.Near, reorder.Healthy, reorder.Out})
	bindSupplier(f, &q.Supplier)
	f.Enum(&q.Active, "active", "1 for active SKUs, 0 for inactive ones", []string{"1", "0"}, schema.Label("Active"))
	var p page.Paging
	p.Bind(f, reorder.ShelfSorts...)
	q.Q, q.After, q.Limit = p.Q, p.After, limit
	q.Sort, q.Falling = p.Column()
}

func loadShelf(s *reorder.Service, active string, limit int64) func(f *schema.Form) page.Loader[shelfView] {
	return func(f *schema.Form) page.Loader[shelfView] {
		q := reorder.ShelfQuery{Active: active}
		bindShelf(f, &q, limit)
		return func(ctx context.Context, _ db.Caller) (shelfView, error) {
			shelf, err := s.Shelf(ctx, q)
			return shelfView{shelf, s.SKUColumns()}, err
		}
	}
}

func (v shelfView) sheet(name string) page.Sheet {
	sheet := page.Sheet{Name: name, Columns: v.columns}
	for _, r := range v.Rows {
		sheet.Rows = append(sheet.Rows, r.Catalogue.Cells())
	}
	return sheet
}

func skus(s *reorder.Service) page.Page {
	return page.New(page.Spec[shelfView]{
		Path: "/skus", Title: "SKUs", Menu: "SKUs", Key: "s", Load: loadShelf(s, "", page.PageSize),
		View: func(v shelfView) templ.Component { return SKUs(v) },
		CSV:  func(v shelfView) page.Sheet { return v.sheet("skus") },
	})
}

func count(s *reorder.Service) page.Page {
	return page.New(page.Spec[shelfView]{
		Path: "/count", Title: "Count", Menu: "Count", Key: "c", Load: loadShelf(s, "1", countLines),
		View: func(v shelfView) templ.Component { return Count(v) },
		CSV:  func(v shelfView) page.Sheet { return v.sheet("count") },
	})
}

// countField names the field of a line of the count.
func countField(i int, name string) string { return "counts." + page.Num(i) + "." + name }

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
		View: func(v productView) templ.Component { return Product(v) },
	})
}

// label is a shelf label to print.
func label(s *reorder.Service) page.Page {
	return page.New(page.Spec[productView]{
		Path: "/skus/:sku/label", Title: "Shelf label", Plain: true, Load: loadProduct(s),
		View: func(v productView) templ.Component { return Label(v) },
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

// projected is the stock of the days to come at the average demand, until it runs out
// or for as long as the sales go back.
func projected(p reorder.ProductPage) (days []reorder.Sold) {
	if p.DaysOfStock == nil || p.CurrentStock <= 0 {
		return nil
	}
	perDay := p.AvgDailyDemand.Unscaled // of 4 decimals; a quantity has 3
	for i := int64(1); i <= chartDays; i++ {
		left := max(0, int64(p.CurrentStock)-perDay*i/10)
		days = append(days, reorder.Sold{Date: p.Today + exact.Day(i), Qty: exact.Milli(left)}) // #nosec G115 -- a few days
		if left == 0 {
			break
		}
	}
	return days
}

// sold are the bars of the days, ahead the line of the days to come.
func (v productView) sold(ctx context.Context) []page.Point { return points(ctx, v.Days) }

func (v productView) ahead(ctx context.Context) []page.Point { return points(ctx, v.days) }

func points(ctx context.Context, days []reorder.Sold) (all []page.Point) {
	for _, d := range days {
		all = append(all, page.Point{Label: page.DayText(ctx, d.Date), Value: int64(d.Qty)})
	}
	return all
}

func milli(v int64) string { return exact.Milli(v).String() }

// point is the reorder point in thousandths, for the chart's level.
func (v productView) point() int64 { return v.ReorderPoint.Unscaled * 10 }

// runsOut is the point of the chart of what lasts how long.
func runsOut(ctx context.Context, v productView) string {
	if v.StockoutDate == nil {
		return page.QtyText(v.CurrentStock) + " in stock"
	}
	return page.QtyText(v.CurrentStock) + " in stock last until " + page.DayText(ctx, *v.StockoutDate) + ", if it sells as it did"
}
