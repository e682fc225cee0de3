package reorder

import (
	"fmt"
	"math"
	"net/url"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// amount writes cents, never negative, with two decimals.
func amount(cents int64) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }

// counted is a number with its noun.
func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func dayOrNothing(d *exact.Day) string {
	if d == nil {
		return ""
	}
	return d.String()
}

func skuPage(sku string) string { return "/skus/" + url.PathEscape(sku) }

func supplierPage(name string) string { return "/suppliers/" + url.PathEscape(name) }

func orderPage(number string) string { return "/purchase-orders/" + url.PathEscape(number) }

// paging binds the page of a list. A command gives the whole.
func paging(f *schema.Form, limit *int64, after *string, most int) {
	if f.Surface() == schema.Command {
		*limit = math.MaxInt64
		return
	}
	f.Limit(limit)
	f.Text(after, "after", "the next of the page before", schema.Most(most))
}

// mostChoices is how many records a list to choose from has at most.
const mostChoices = 200

// choicesOf reads a list to choose from: a value and a text a row; nil when there are
// too many.
func choicesOf(query string) func(c *db.Conn) ([]schema.Choice, error) {
	return func(c *db.Conn) ([]schema.Choice, error) {
		all, err := db.All(c, func(r *db.Row) schema.Choice { return schema.Choice{Value: r.Text(), Text: r.Text()} }, query, mostChoices+1)
		if len(all) > mostChoices {
			all = nil
		}
		return all, err
	}
}

var (
	anyOrder   = choicesOf("SELECT number, status || ' ' || supplier FROM purchase_orders ORDER BY number LIMIT ?")
	anySupply  = choicesOf("SELECT name, email FROM suppliers ORDER BY name LIMIT ?")
	anySKU     = choicesOf("SELECT sku, name FROM skus ORDER BY sku LIMIT ?")
	anyChannel = choicesOf("SELECT name, name FROM sales_channels ORDER BY name LIMIT ?")
)
