package reorder

import (
	"fmt"
	"math"
	"net/url"

	"quartermaster/schema"
)

// amount writes cents, never negative, with two decimals.
func amount(cents int64) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }

func skuPage(sku string) string { return "/skus/" + url.PathEscape(sku) }

func supplierPage(name string) string { return "/suppliers/" + url.PathEscape(name) }

func orderPage(number string) string { return "/purchase-orders/" + url.PathEscape(number) }

// paging binds the page of a list. A command returns the whole list.
func paging(f *schema.Form, limit *int64, after *string, most int) {
	if f.Surface() == schema.Command {
		*limit = math.MaxInt64
		return
	}
	f.Limit(limit)
	f.Text(after, "after", "next of the previous page", schema.Most(most))
}

var (
	anyOrder = schema.Listed(
		"SELECT number, number, iif(supplier = '', 'no supplier', supplier) || ', ' || "+
			"iif(status = 'partial', 'partly here', status) FROM purchase_orders WHERE {} ORDER BY number DESC LIMIT ?2",
		"number", "number, supplier, status")
	anySupply = schema.Listed("SELECT name, name, email FROM suppliers WHERE {} ORDER BY name LIMIT ?2", "name",
		"name, email")
	anySKU = schema.Listed("SELECT sku, name, sku FROM skus WHERE {} ORDER BY sku LIMIT ?2", "sku",
		"sku, name, supplier_sku, barcode")
	anyChannel = schema.Listed("SELECT name, name, '' FROM sales_channels WHERE {} ORDER BY name LIMIT ?2", "name", "name")
)
