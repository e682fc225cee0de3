package page

import (
	"context"
	"strings"

	"github.com/a-h/templ"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/page"
	"quartermaster/store"
)

type ordersView struct {
	store.OrderPage
	total   int64
	refunds map[string]string // DAY=CENTS by order, for the file
}

func orders(s *store.Service) page.Page {
	return page.New(page.Spec[ordersView]{
		Path: "/orders", Title: "Orders", Menu: "Orders", Key: "o",
		Load: func(f *schema.Form) page.Loader[ordersView] {
			var o store.OrderFilter
			var p page.Paging
			p.Bind(f, orderSorts.Names()...)
			f.Enum(&o.Status, "status", "Only this status", []string{"paid", "refunded", "void"})
			f.Text(&o.Provider, "provider", "Only payments by this provider", schema.Most(200), schema.Label("Provider"))
			f.Text(&o.Email, "email", "Only orders of this buyer", schema.Most(254), schema.Label("Buyer"))
			f.DayPtr(&o.From, "from", "Paid on this day or later", schema.Label("From"))
			f.DayPtr(&o.To, "to", "Paid on this day or before", schema.Label("To"))
			o.Q, o.Cursor = p.Q, p.Cursor()
			return func(ctx context.Context, _ db.Caller) (v ordersView, err error) {
				if v.OrderPage, err = s.Orders(ctx, o); err != nil {
					return v, err
				}
				v.total, err = inAll(ctx, s.CountOrders, o, o.Cursor, len(v.Orders), v.Next)
				if err = page.Arranged(p, &v.Orders, v.total, &v.Next, orderSorts, err); err != nil || !p.All {
					return v, err
				}
				v.refunds, err = s.RefundCells(ctx, v.Orders)
				return v, err
			}
		},
		View: Orders,
		CSV: func(v ordersView) page.Sheet {
			sheet := page.Sheet{Name: "orders", Columns: []string{"provider", "provider_ref", "email", "name", "sku", "tier",
				"qty", "unit_cents", "discount_cents", "tax_cents", "currency", "paid_at", "refunds"}}
			for _, o := range v.Orders {
				if o.Status == "void" { // read in again, it would be paid
					continue
				}
				sheet.Rows = append(sheet.Rows, o.Cells(v.refunds[o.OrderRef])...)
			}
			return sheet
		},
	})
}

// items is what an order is of, in a line.
func items(o store.Order) string {
	list := make([]string, len(o.Items))
	for n, i := range o.Items {
		list[n] = i.Name
		if i.Qty > 1 {
			list[n] = page.Num(i.Qty) + " x " + list[n]
		}
	}
	return strings.Join(list, ", ")
}

type orderView struct {
	store.OrderDetail
	refunds []store.Refund
	reason  string // why it is void
}

// PageTitle is the order's reference.
func (v orderView) PageTitle() string { return v.OrderRef }

// ShowsSecret reports whether keys of licenses stand on the page.
func (v orderView) ShowsSecret() bool { return len(v.Licenses) > 0 }

func loadOrder(s *store.Service) func(f *schema.Form) page.Loader[orderView] {
	return func(f *schema.Form) page.Loader[orderView] {
		var ref string
		f.Text(&ref, "order_ref", "The order", schema.InPath("ref"), schema.Most(200))
		return func(ctx context.Context, who db.Caller) (v orderView, err error) {
			if v.OrderDetail, err = s.Order(ctx, who, ref); err != nil {
				return v, err
			}
			if v.Status == "void" {
				if v.reason, err = s.VoidReason(ctx, v.OrderRef); err != nil {
					return v, err
				}
			}
			v.refunds, err = s.Refunds(ctx, ref)
			return v, err
		}
	}
}

func order(s *store.Service) page.Page {
	return page.New(page.Spec[orderView]{
		Path: "/orders/:ref", Title: "Order", Load: loadOrder(s),
		View: Order,
	})
}

func receipt(s *store.Service) page.Page {
	return page.New(page.Spec[orderView]{
		Path: "/orders/:ref/receipt", Title: "Receipt", Plain: true, Load: loadOrder(s),
		View: func(v orderView) templ.Component { return Receipt(v.Order, v.refunds) },
	})
}

// paidBy ends the receipt's sentence of the payment.
func paidBy(o store.Order) string {
	if o.Provider == "manual" {
		return ". Paid by hand."
	}
	return " by " + page.Word(o.Provider) + "."
}

// through is who brought a payment: a provider by its own name.
func through(provider string) string {
	switch provider {
	case "manual":
		return "by hand"
	case "code":
		return "with a code"
	}
	return provider
}

// paidThrough names the provider, and the payment's reference there.
func paidThrough(o store.Order) string {
	switch {
	case o.Provider != "manual":
		return "by " + o.Provider + " " + o.ProviderRef
	case o.ProviderRef == "" || o.ProviderRef == o.OrderRef:
		return through(o.Provider)
	}
	return "by hand, " + o.ProviderRef
}

// orderActs are the actions on the order.
func orderActs(v orderView) []page.Action {
	acts := []page.Action{page.Link("Receipt", page.Path("orders", v.OrderRef, "receipt")).Key("p")}
	if v.Status != "void" {
		acts = append(acts, page.Open("Send to receivers again", "resend_order", "order_ref", v.OrderRef))
	}
	if v.Status == "paid" {
		if v.Provider == "manual" {
			acts = append(acts, page.Open("Void order", "void_order", "order_ref", v.OrderRef).Danger())
		}
		acts = append(acts, page.Open("Refund", "refund_order", "order_ref", v.OrderRef).Main())
	}
	return acts
}
