package page

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"quartermaster/reorder"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/page"
)

// toOrder is the first page: the report, whose marked rows become purchase orders.
func toOrder(s *reorder.Service) page.Page {
	return page.New(page.Spec[reorder.ToOrder]{
		Path: "/", Title: "To order", Menu: "To order", Key: "o", Marks: true,
		Load: func(f *schema.Form) page.Loader[reorder.ToOrder] {
			q := reorder.ToOrderQuery{Status: reorder.Flagged}
			f.Enum(&q.Status, "status", "Which SKUs", []string{reorder.Flagged, reorder.Below, reorder.Near, reorder.Healthy,
				reorder.All})
			bindSupplier(f, &q.Supplier)
			var p page.Paging
			p.Bind(f, reorder.ShelfSorts...)
			q.Sort, q.Falling = p.Column()
			q.After, q.Limit = p.After, p.Limit
			return func(ctx context.Context, _ db.Caller) (reorder.ToOrder, error) { return s.ToOrder(ctx, q) }
		},
		View: ToOrder,
		CSV: func(v reorder.ToOrder) page.Sheet {
			return page.SheetOf("to-order", []string{"sku", "name", "supplier", "status", "current_stock",
				"on_order", "reorder_point", "days_of_stock",
				"stockout_date", "suggested_qty", "est_cost_cents"}, v.Rows, func(r reorder.ToOrderRow) []string {
				days, out := "", ""
				if r.DaysOfStock != nil {
					days = r.DaysOfStock.String()
				}
				if r.StockoutDate != nil {
					out = r.StockoutDate.String()
				}
				return []string{r.SKU, r.Name, r.Supplier, r.Status, r.CurrentStock.String(),
					r.OnOrder.String(), r.ReorderPoint.String(),
					days, out, page.Num(r.SuggestedQty), page.Num(r.EstCostCents)}
			})
		},
	})
}

// slowest is what a whole bar of a day's sales is at least, in thousandths: one piece a day is not drawn as much.
const slowest = 3000

// reportColumns are the heads of the report; the supplier has a column if the rows are not grouped by it.
func reportColumns(ctx context.Context) []page.Column {
	all := []page.Column{{Label: "Mark", Mark: true}, {Label: "SKU", Sort: "sku"},
		{Label: "Supplier", Sort: "supplier", Wide: true}, {Label: "State", Sort: "cover"},
		{Label: "Sold, 30 days", Wide: true}, {Label: "Level", Wide: true}, {Label: "Stock", Sort: "stock", Right: true},
		{Label: "Reorder point", Right: true, Wide: true}, {Label: "On order", Right: true}, {Label: "Runs out", Right: true},
		{Label: "Order", Sort: "order", Right: true},
		{Label: "Cost, " + page.CurrencyCode(ctx), Sort: "cost", Right: true}}
	if !page.Sorted(ctx) {
		return slices.Delete(all, 2, 3)
	}
	return all
}

// reportChips are the quick filters over the report.
func reportChips(v reorder.ToOrder) []page.Chip {
	flagged, all := v.Counts.Below+v.Counts.Near, v.Counts.Below+v.Counts.Near+v.Counts.Healthy
	return []page.Chip{
		{Text: "Below or near", Count: &flagged},
		{Value: reorder.Below, Text: "Below", Count: &v.Counts.Below},
		{Value: reorder.Near, Text: "Near", Count: &v.Counts.Near},
		{Value: reorder.Healthy, Text: "Healthy", Count: &v.Counts.Healthy},
		{Value: reorder.All, Text: "All", Count: &all},
	}
}

// covers says how many of those listed need no further order.
func covers(v reorder.ToOrder) string {
	more := min(v.Total, v.Counts.Below+v.Counts.Near) - v.Open
	if v.Open == 0 || more <= 0 {
		return ""
	}
	return page.Plural(more, "more is", "more are") + " ordered or drafted already. "
}

// left is what a phone says of the stock, beside the state: "25 left, out 28 Nov"; of what is covered, "25 left".
func left(ctx context.Context, r reorder.ToOrderRow) string {
	text := page.QtyText(r.CurrentStock) + " " + cmp.Or(looseUnit(r.Row), "left")
	if out := r.StockoutDate; r.Open > 0 && out != nil {
		text += ", out " + page.DayText(ctx, *out)
		if year, _, _ := out.Date(); *out-page.From(ctx).Today < 300 { // it can be no other year
			text = strings.TrimSuffix(text, "\u00a0"+page.Num(year))
		}
	}
	return strings.ReplaceAll(text, " ", "\u00a0")
}

// looseUnit is the unit of what is sold loose, which has no plural: "kg"; else "".
func looseUnit(r reorder.Row) string {
	if word := page.Unit(r.Unit, 2000); word == r.Unit {
		return word
	}
	return ""
}

// begins reports whether row i is the first of its supplier's, in a list that is not sorted by a column.
func begins(ctx context.Context, v reorder.ToOrder, i int) bool {
	return !page.Sorted(ctx) && (i == 0 || v.Rows[i-1].Supplier != v.Rows[i].Supplier)
}

// further is the number of matching rows if some are on other pages, else 0: the boxes of this one mark them all.
func further(v reorder.ToOrder) int64 {
	if int64(len(v.Rows)) == v.Total {
		return 0
	}
	return v.Total
}

// standing is how a row's state is drawn; of what is below and covered, by what.
func standing(r reorder.ToOrderRow) (shape, word string) {
	switch {
	case covered(r):
		return page.Going, "Below, ordered"
	case r.Open == 0 && r.Status == reorder.Below:
		return page.Going, "Below, drafted"
	}
	return look(r.Status, true)
}

// covered says that a row is below its reorder point, but enough is on its way.
func covered(r reorder.ToOrderRow) bool {
	return r.Status == reorder.Below && r.SuggestedQty == 0 && r.OnOrder > 0
}

// placed is what of a row is on order, and the first order with it.
func placed(r reorder.ToOrderRow) reorder.Outstanding {
	return outstandingIn(r, func(status string) bool { return status != reorder.Draft })
}

// drafted is what of a row is in drafts, and the first draft with it.
func drafted(r reorder.ToOrderRow) reorder.Outstanding {
	return outstandingIn(r, func(status string) bool { return status == reorder.Draft })
}

func outstandingIn(r reorder.ToOrderRow, wanted func(status string) bool) (all reorder.Outstanding) {
	for _, o := range r.In {
		if wanted(o.Status) {
			all.Number, all.Qty = cmp.Or(all.Number, o.Number), all.Qty+o.Qty
		}
	}
	return all
}
