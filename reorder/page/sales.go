package page

import (
	"context"
	"net/url"

	"github.com/a-h/templ"

	"quartermaster/reorder"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/page"
)

type salesView struct {
	reorder.Sales
	days     []reorder.DaySum // of the last days, where nothing narrows the list
	channels []reorder.ChannelSum
	sum      string // what the narrowed list has sold
}

// byDay is what was sold on each of the last days, of all SKUs.
func (v salesView) byDay() page.Chart {
	if len(v.days) == 0 {
		return page.Chart{}
	}
	c := page.Chart{Title: "Sold a day", Label: "Day", Names: [2]string{"Sold", ""}, Plain: milli,
		Show: func(n int64) string { return page.QtyText(exact.Milli(n)) }}
	for _, d := range v.days {
		c.Bars = append(c.Bars, page.Point{Day: d.Day, Value: int64(d.Qty)})
	}
	return c
}

// byChannel shares what was sold on these days between the channels; nil without two.
func (v salesView) byChannel() templ.Component {
	looks := []string{page.Good, page.Deep, page.Pale, page.Idle}
	var parts []page.Part
	for i, ch := range v.channels {
		name, path := ch.Channel, "/sales?channel="+url.QueryEscape(ch.Channel)
		if name == "" {
			name, path = "No channel", ""
		}
		parts = append(parts, page.Part{Label: name, Path: path, Look: looks[i%len(looks)], Value: int64(ch.Qty),
			Shown: page.QtyText(ch.Qty)})
	}
	if len(parts) < 2 {
		return nil
	}
	return page.Stacked("Sold by channel", parts...)
}

// addUp reads what the last days sold, or what a narrowed list has.
func (v *salesView) addUp(ctx context.Context, s *reorder.Service, q reorder.SalesQuery) (err error) {
	if q.SKU == "" && q.Channel == "" && q.From == nil && q.To == nil {
		if q.After == "" {
			v.days, v.channels, err = s.LastSales(ctx)
		}
		var all exact.Milli
		for _, d := range v.days {
			all += d.Qty
		}
		if n := len(v.days); n > 0 {
			days := page.Plural(int64(v.days[n-1].Day-v.days[0].Day+1), "day", "days")
			v.sum = page.QtyText(all) + " sold in the last " + days + ", all SKUs added up"
		}
		return err
	}
	all, is, err := s.SumOf(ctx, q, v.Total)
	if err == nil && is && v.Total > 0 {
		v.sum = page.QtyText(all) + " sold"
		if q.Channel != "" {
			v.sum += " by " + q.Channel
		}
		v.sum += ", all rows added up"
	}
	return err
}

// saleSorts are the columns that sales can be sorted by.
var saleSorts = page.Sorts[reorder.DaySale]{
	"sku":  page.ByText(func(d reorder.DaySale) string { return d.SKU }),
	"date": page.By(func(d reorder.DaySale) exact.Day { return d.Date }),
	"qty":  page.By(func(d reorder.DaySale) exact.Milli { return d.Qty }),
}

func sales(s *reorder.Service) page.Page {
	return page.New(page.Spec[salesView]{
		Path: "/sales", Title: "Sales", Menu: "Sales", Key: "a",
		Load: func(f *schema.Form) page.Loader[salesView] {
			var q reorder.SalesQuery
			f.Text(&q.SKU, "sku", "Only this SKU", schema.Most(64), schema.Label("SKU"))
			f.Text(&q.Channel, "channel", "Only days on which this channel sold", schema.Most(64),
				schema.Choices(reorder.ChannelChoices))
			f.DayPtr(&q.From, "from", "The first day")
			f.DayPtr(&q.To, "to", "The last day")
			var p page.Paging
			p.Bind(f, saleSorts.Names()...)
			at := cursor(p)
			q.After, q.Limit = at.After, at.Limit
			return func(ctx context.Context, _ db.Caller) (v salesView, err error) {
				if q.From != nil && q.To != nil && *q.To < *q.From {
					return v, fault.Fieldf("to", "to: %s is before from, %s", *q.To, *q.From)
				}
				if v.Sales, err = s.Sales(ctx, q); err != nil {
					return v, err
				}
				if err := v.addUp(ctx, s, q); err != nil {
					return v, err
				}
				err = page.ArrangedBy(p, &v.Sales.Sales, v.Total, &v.Next, saleSorts, err)
				return v, err
			}
		},
		View: Sales,
		CSV: func(v salesView) page.Sheet {
			columns := []string{"date", "sku", "qty", "channel"}
			return page.SheetOf("sales", columns, v.Shares(), func(part reorder.ShareSold) []string {
				return []string{part.Date.String(), part.SKU, part.Qty.String(), part.Channel}
			})
		},
	})
}

// figureSorts are the columns that SKUs can be sorted by in the figures.
var figureSorts = page.Sorts[*reorder.StockFigure]{
	"name":   page.ByText(func(k *reorder.StockFigure) string { return k.Name }),
	"class":  page.ByText(func(k *reorder.StockFigure) string { return k.Class }),
	"unsold": page.By(func(k *reorder.StockFigure) int64 { return k.UnsoldDays }),
	"value":  page.By(func(k *reorder.StockFigure) int64 { return k.ValueCents }),
}

func figures(s *reorder.Service) page.Page {
	return page.New(page.Spec[figuresView]{
		Path: "/figures", Title: "Figures", Menu: "Figures", Key: "f",
		Load: func(f *schema.Form) page.Loader[figuresView] {
			var class string
			f.Enum(&class, "class", "Only this class", []string{"A", "B", "C"})
			unsold := int64(0)
			f.Int(&unsold, "unsold", "Only what did not sell for so many days", schema.Range(0, 36500),
				schema.Label("Unsold for days"))
			var p page.Paging
			p.Bind(f, figureSorts.Names()...)
			return func(ctx context.Context, _ db.Caller) (figuresView, error) {
				figs, err := s.StockFigures(ctx)
				v := figuresView{StockFigures: figs, value: map[string]int64{}}
				var all []*reorder.StockFigure
				for _, k := range figs.SKUs {
					v.value[k.Class] += k.ValueCents
					if (class == "" || k.Class == class) && k.UnsoldDays >= unsold {
						all = append(all, k)
					}
				}
				if v.total = int64(len(all)); p.Sorted() {
					var then *int64
					err = page.Arranged(p, &all, v.total, &then, figureSorts, err)
					v.SKUs, v.next = all, schema.Cell(then)
					return v, err
				}
				v.SKUs, v.next = reorder.After(all, p.After, p.Limit, func(k *reorder.StockFigure) string { return k.SKU })
				return v, err
			}
		},
		View: Figures,
		CSV: func(v figuresView) page.Sheet {
			columns := []string{"sku", "name", "value_cents", "class", "unsold_days"}
			return page.SheetOf("stock-figures", columns, v.SKUs, func(k *reorder.StockFigure) []string {
				return []string{k.SKU, k.Name, page.Num(k.ValueCents), k.Class, page.Num(k.UnsoldDays)}
			})
		},
	})
}

type figuresView struct {
	reorder.StockFigures
	value map[string]int64 // of each class
	total int64
	next  string
}

// byClass shares the value of the stock between the classes.
func (v figuresView) byClass(ctx context.Context) templ.Component {
	looks := map[string]string{"A": page.Deep, "B": page.Good, "C": page.Pale}
	var parts []page.Part
	for _, class := range []string{"A", "B", "C"} {
		parts = append(parts, page.Part{Label: "Class " + class, Path: "/figures?class=" + class, Look: looks[class],
			Value: v.value[class], Shown: page.MoneyText(ctx, v.value[class])})
	}
	return page.Stacked("Value of the stock by class", parts...)
}

// supplierSorts are the columns that suppliers can be sorted by.
var supplierSorts = page.Sorts[reorder.Supplier]{
	"name":            page.ByText(func(x reorder.Supplier) string { return x.Name }),
	"skus":            page.By(func(x reorder.Supplier) int64 { return x.SKUs }),
	"lead_time_days":  page.ByPtr(func(x reorder.Supplier) *int64 { return x.LeadTimeDays }),
	"min_order_cents": page.By(func(x reorder.Supplier) int64 { return x.MinOrderCents }),
}

// cursor is Paging.Cursor of a list that goes on after a key.
func cursor(p page.Paging) schema.Cursor[string] {
	if p.Sorted() {
		return schema.Cursor[string]{Limit: page.MostSorted + 1}
	}
	return schema.Cursor[string]{After: p.After, Limit: p.Limit}
}

func suppliers(s *reorder.Service) page.Page {
	return page.New(page.Spec[reorder.Suppliers]{
		Path: "/suppliers", Title: "Suppliers", Menu: "Suppliers", Key: "u",
		Load: func(f *schema.Form) page.Loader[reorder.Suppliers] {
			var p page.Paging
			p.Bind(f, supplierSorts.Names()...)
			q := reorder.SupplierQuery{Q: p.Q, Cursor: cursor(p)}
			return func(ctx context.Context, _ db.Caller) (reorder.Suppliers, error) {
				all, err := s.Suppliers(ctx, q)
				err = page.ArrangedBy(p, &all.Suppliers, all.Total, &all.Next, supplierSorts, err)
				return all, err
			}
		},
		View: Suppliers,
		CSV: func(v reorder.Suppliers) page.Sheet {
			return page.SheetOf("suppliers", reorder.SupplierColumns(), v.Suppliers, reorder.Supplier.Cells)
		},
	})
}
