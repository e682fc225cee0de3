package page

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"quartermaster/reorder"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/page"
)

// orderSorts are the columns that purchase orders can be sorted by.
var orderSorts = page.Sorts[reorder.PurchaseOrder]{
	"number":        page.ByText(func(o reorder.PurchaseOrder) string { return o.Number }),
	"status":        page.ByText(func(o reorder.PurchaseOrder) string { return o.Status }),
	"supplier":      page.ByText(func(o reorder.PurchaseOrder) string { return o.Supplier }),
	"expected_date": page.ByPtr(func(o reorder.PurchaseOrder) *exact.Day { return o.ExpectedDate }),
	"lines":         page.By(func(o reorder.PurchaseOrder) int { return len(o.Lines) }),
	"total_cents":   page.By(func(o reorder.PurchaseOrder) int64 { return o.TotalCents }),
}

func orders(s *reorder.Service) page.Page {
	return page.New(page.Spec[reorder.OrderPage]{
		Path: "/purchase-orders", Title: "Purchase orders", Menu: "Purchase orders", Key: "p",
		Load: func(f *schema.Form) page.Loader[reorder.OrderPage] {
			q := reorder.OrderQuery{Newest: true}
			f.Enum(&q.Status, "status", "Only this status", []string{reorder.Draft, reorder.Ordered, reorder.Partial,
				reorder.Received, reorder.Cancelled, reorder.Closed})
			bindSupplier(f, &q.Supplier)
			var p page.Paging
			p.Bind(f, orderSorts.Names()...)
			q.Q, q.Cursor = p.Q, cursor(p)
			return func(ctx context.Context, _ db.Caller) (reorder.OrderPage, error) {
				all, err := s.Orders(ctx, q)
				err = page.ArrangedBy(p, &all.PurchaseOrders, all.Total, &all.Next, orderSorts, err)
				return all, err
			}
		},
		View: Orders,
		CSV: func(v reorder.OrderPage) page.Sheet {
			sheet := page.Sheet{Name: "purchase-orders", Columns: []string{"number", "sku", "supplier", "status",
				"expected_date", "ordered", "received", "unit_cost_cents"}}
			for _, o := range v.PurchaseOrders {
				for _, l := range o.Lines {
					sheet.Rows = append(sheet.Rows, o.Cells(l))
				}
			}
			return sheet
		},
	})
}

// orderView is one purchase order with what is known of its supplier.
type orderView struct {
	reorder.PurchaseOrder
	supplier reorder.Supplier
	all      bool // the boxes begin with all that is to come
}

// PageTitle is the order's number.
func (v orderView) PageTitle() string { return v.Number }

// open reports whether goods are still to come.
func (v orderView) open() bool { return v.Status == reorder.Ordered || v.Status == reorder.Partial }

// form is the act that the boxes of the lines belong to: editing a draft, or receiving.
func (v orderView) form() string {
	switch {
	case v.Status == reorder.Draft:
		return "edit_purchase"
	case v.open():
		return "receive_purchase"
	}
	return ""
}

// value is the initial value of a line's box.
func (v orderView) value(l reorder.OrderLine) string {
	switch {
	case v.Status == reorder.Draft:
		return l.Ordered.String()
	case v.all:
		return (l.Ordered - l.Received).String()
	}
	return ""
}

// contact is what is known of how to reach the supplier, a line each.
func (v orderView) contact() string {
	known := []string{v.supplier.Address, v.supplier.Email, v.supplier.Phone}
	return strings.Join(slices.DeleteFunc(known, func(s string) bool { return s == "" }), "\n")
}

func field(i int, name string) string { return "lines." + strconv.Itoa(i) + "." + name }

func loadOrder(s *reorder.Service) func(f *schema.Form) page.Loader[orderView] {
	return func(f *schema.Form) page.Loader[orderView] {
		var number string
		f.Text(&number, "number", "The purchase order", schema.InPath("id"), schema.Most(64))
		var all bool
		f.Bool(&all, "all", "Begin with all that is to come")
		return func(ctx context.Context, _ db.Caller) (orderView, error) {
			o, err := s.PurchaseOrder(ctx, number)
			if err != nil {
				return orderView{}, err
			}
			supplier, err := s.KnownSupplier(ctx, o.Supplier)
			return orderView{o, supplier, all}, err
		}
	}
}

func order(s *reorder.Service) page.Page {
	return page.New(page.Spec[orderView]{
		Path: "/purchase-orders/:id", Title: "Purchase order", Load: loadOrder(s),
		View: Order,
	})
}

// paper is the order to print and send.
func paper(s *reorder.Service) page.Page {
	return page.New(page.Spec[orderView]{
		Path: "/purchase-orders/:id/print", Title: "Purchase order", Plain: true, Load: loadOrder(s),
		View: Paper,
	})
}

// orderActions are the actions on the order now; the first is the main one.
func orderActions(v orderView, mailing bool) (all []page.Action) {
	if v.Status == reorder.Draft && v.Supplier != "" {
		all = append(all, page.Do("Order it", "order_purchase", "number", v.Number).Main().Key("o"))
		if mailing {
			all = append(all, page.Do("Order and mail", "order_purchase", "number", v.Number, "mail", "true"))
		}
	}
	if mailing && (v.open() || v.Status == reorder.Received) {
		all = append(all, page.Do("Mail it", "mail_purchase", "number", v.Number))
	}
	all = append(all, page.Link("Print", page.Path("purchase-orders", v.Number, "print")).Key("p"))
	if v.Status == reorder.Draft || v.open() {
		all = append(all, page.Open("Cancel it", "cancel_purchase", "number", v.Number).Danger().Quiet())
	}
	return all
}

// repriced reports whether a draft's line has another cost by now.
func (v orderView) repriced() bool {
	return v.Status == reorder.Draft &&
		slices.ContainsFunc(v.Lines, func(l reorder.OrderLine) bool { return l.CostNow() != l.UnitCostCents })
}

// lineColumns are the columns of an order's lines; in a draft what is ordered stands in the boxes.
func lineColumns(ctx context.Context, v orderView, drafting bool) []page.Column {
	all := []page.Column{{Label: "SKU"}, {Label: "Ordered", Unit: true}, {Label: "Received", Right: true},
		{Label: "Unit cost, " + page.CurrencyCode(ctx), Right: true},
		{Label: "Total, " + page.CurrencyCode(ctx), Right: true},
		{Label: lineHead(v), Right: true, Hear: v.form() == ""}}
	if drafting {
		all = slices.Delete(all, 1, 3)
	}
	return all
}

// lineHead is over the boxes of the lines.
func lineHead(v orderView) string {
	switch v.form() {
	case "edit_purchase":
		return "Order"
	case "receive_purchase":
		return "Came in"
	}
	return "Acts"
}

// changed are the fields of the form that changes a draft; a draft without a supplier gets one above.
func changed(v orderView) []string {
	if v.Supplier == "" {
		return []string{"expected_date"}
	}
	return []string{"supplier", "expected_date"}
}

// expected are the values of the form that changes a draft.
func expected(v orderView) map[string]string {
	values := map[string]string{"supplier": v.Supplier}
	if v.ExpectedDate != nil {
		values["expected_date"] = v.ExpectedDate.String()
	}
	return values
}
