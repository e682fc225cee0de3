package page

import (
	"cmp"
	"context"
	"fmt"

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

// reportChips are the quick filters over the report.
func reportChips(v reorder.ToOrder) []page.Chip {
	flagged, all := v.Counts.Below+v.Counts.Near, v.Counts.Below+v.Counts.Near+v.Counts.Healthy
	return []page.Chip{
		{Text: "Below or near", Count: &flagged},
		{Value: reorder.Below, Text: "Below", Count: &v.Counts.Below},
		{Value: reorder.Near, Text: "Near", Count: &v.Counts.Near},
		{Value: reorder.All, Text: "All", Count: &all},
	}
}

// covers says how many of those listed are not to be ordered.
func covers(v reorder.ToOrder) string {
	if v.Open == 0 || v.Open >= v.Total {
		return ""
	}
	return fmt.Sprintf("%d of these %d need nothing more. ", v.Total-v.Open, v.Total)
}

// left is what a phone says of the stock, before the supplier: "25 left, out 28 Nov · ".
func left(ctx context.Context, r reorder.Row) string {
	text := page.QtyText(r.CurrentStock) + " left"
	if r.StockoutDate != nil {
		text += ", out " + page.DayText(ctx, *r.StockoutDate)
	}
	return text
}

// further is the number of matching rows if some are on other pages, else 0: the boxes of this one mark them all.
func further(v reorder.ToOrder) int64 {
	if int64(len(v.Rows)) == v.Total {
		return 0
	}
	return v.Total
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
