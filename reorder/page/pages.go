// Package page has the reorder service's pages: what to order, the SKUs, counts, sales, purchase orders, suppliers and
// figures. Loaders call the service's exported functions; the templates are markup only.
package page

import (
	"net/url"

	"github.com/a-h/templ"

	"quartermaster/reorder"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/page"
)

// Pages are the pages of the service.
func Pages(s *reorder.Service) []page.Page {
	return []page.Page{
		toOrder(s), // /
		skus(s),
		product(s),
		label(s),
		labels(s),
		count(s),
		sales(s),
		orders(s),
		order(s),
		paper(s),
		suppliers(s), supplier(s),
		figures(s),
	}
}

// bindSupplier binds the filter by supplier.
func bindSupplier(f *schema.Form, name *string) {
	f.Text(name, "supplier", "Only this supplier's", schema.Most(200), schema.Label("Supplier"),
		schema.Choices(supplierChoices))
}

func supplierChoices(c *db.Conn, f schema.Find) ([]schema.Choice, error) {
	return reorder.SupplierChoices(c, f)
}

// pathQuery is a path with one parameter.
func pathQuery(path, name, value string) string {
	return path + "?" + url.Values{name: {value}}.Encode()
}

// supplierName is a supplier's name, or the words for none.
func supplierName(name string) string {
	if name == "" {
		return "No supplier"
	}
	return name
}

// decPtr is a figure, or a dash.
func decPtr(d *exact.Decimal) templ.Component {
	if d == nil {
		return page.None()
	}
	return page.Dec(*d)
}

// look is how a SKU's status is drawn.
func look(status string, active bool) (string, string) {
	switch {
	case !active:
		return page.Idle, "Inactive"
	case status == reorder.Below:
		return page.Bad, "Below"
	case status == reorder.Near:
		return page.Warn, "Near"
	}
	return page.Good, "Healthy"
}

// orderLook is how a purchase order's status is drawn.
func orderLook(status string) (string, string) {
	switch status {
	case reorder.Draft:
		return page.Todo, "Draft"
	case reorder.Ordered:
		return page.Going, "Ordered"
	case reorder.Partial:
		return page.Going, "Partly here"
	case reorder.Received:
		return page.Good, "Received"
	case reorder.Closed:
		return page.Good, "Closed"
	}
	return page.Idle, "Cancelled"
}
