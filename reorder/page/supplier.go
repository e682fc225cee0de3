package page

import (
	"context"
	"fmt"
	"slices"

	"quartermaster/reorder"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/page"
)

// supplierView is a supplier with its SKUs and the last orders. A name that only SKUs have has no record.
type supplierView struct {
	reorder.Supplier
	kept   bool
	shelf  reorder.Shelf
	orders reorder.OrderPage
	leads  []reorder.Lead
	due    reorder.ToOrder
}

// PageTitle is the supplier's name.
func (v supplierView) PageTitle() string { return v.Name }

// lastOrders is how many purchase orders a supplier's page shows.
const lastOrders = 10

func supplier(s *reorder.Service) page.Page {
	return page.New(page.Spec[supplierView]{
		Path: "/suppliers/:name", Title: "Supplier",
		Load: func(f *schema.Form) page.Loader[supplierView] {
			var name string
			f.Text(&name, "name", "The supplier", schema.InPath("name"), schema.Most(200))
			return func(ctx context.Context, _ db.Caller) (v supplierView, err error) {
				if v.Supplier, err = s.KnownSupplier(ctx, name); err != nil {
					return v, err
				}
				if v.kept = v.Name != ""; !v.kept {
					v.Name = name
					names, err := s.SupplierNames(ctx)
					if err != nil || !slices.Contains(names, name) {
						return v, orElse(err, fault.NotFoundf("there is no supplier %s", schema.Quote(name)))
					}
				}
				if v.shelf, err = s.Shelf(ctx, reorder.ShelfQuery{Supplier: name, Active: "1", Sort: "cover",
					Cursor: schema.Cursor[string]{Limit: page.PageSize}}); err != nil {
					return v, err
				}
				if v.due, err = s.ToOrder(ctx, reorder.ToOrderQuery{Status: reorder.Flagged, Supplier: v.Name,
					Cursor: schema.Cursor[string]{Limit: 1}}); err != nil {
					return v, err
				}
				if v.leads, err = s.Leads(ctx, v.Name); err != nil {
					return v, err
				}
				v.orders, err = s.Orders(ctx, reorder.OrderQuery{Supplier: name, Newest: true,
					Cursor: schema.Cursor[string]{Limit: lastOrders}})
				return v, err
			}
		},
		View: SupplierPage,
	})
}

func orElse(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// leadChart compares the last orders' delivery times with the promised ones.
func (v supplierView) leadChart() page.Chart {
	c := page.Chart{Label: "Order", Names: [2]string{"Took, days", "Promised, days"}}
	late := 0
	for _, l := range v.leads {
		if l.Real > l.Promised {
			late++
		}
		c.Bars = append(c.Bars, page.Point{Label: l.Number, Value: l.Real})
		c.Line = append(c.Line, page.Point{Label: l.Number, Value: l.Promised})
	}
	c.Title = fmt.Sprintf("Days from order to delivery: %d of the last %d came late; the line is what was promised", late,
		len(v.leads))
	return c
}

func supplierPath(name string) string { return page.Path("suppliers", name) }
