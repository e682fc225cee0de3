package table

import (
	"cmp"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// listing is one row of another program's list of goods, customers or vehicles, by our columns.
type listing map[string]string

// list makes a program whose rows are separate records. from names the source columns of each of our columns: a file
// without them leaves it unchanged.
func list(name, title, table string, needs []string, from map[string]string, columns []string,
	row func(tr *translation, get func(string) string) (l listing, skip string, refusal *fault.Error),
) *program {
	p := &program{name: name, title: title, table: table, needs: needs, columns: columns, from: map[string][]string{}}
	for target, theirs := range from {
		p.targets = append(p.targets, target)
		if theirs != "" {
			p.from[target] = strings.Split(theirs, "|")
			p.columns = append(p.columns, p.from[target]...)
		}
	}
	slices.Sort(p.targets)
	p.units = []string{"unit_cost", "price"}
	p.start = func(tr *translation) maker {
		return func(get func(string) string) ([]string, string, *fault.Error) {
			l, skip, refusal := row(tr, get)
			cells := make([]string, len(p.targets))
			for i, target := range p.targets {
				value, made := l[target]
				if !made && p.from[target] != nil {
					value = anyOf(get, p.from[target]...)
				}
				cells[i] = value
			}
			return cells, skip, refusal
		}
	}
	return p
}

// anyOf is the first non-empty cell.
func anyOf(get func(string) string, columns ...string) string {
	for _, c := range columns {
		if v := get(c); v != "" {
			return v
		}
	}
	return ""
}

const noSKU = "the row has no SKU"

func flag(yes bool) string {
	if yes {
		return "1"
	}
	return "0"
}

// goods are the two tables of goods.
func goods(name, title string, needs, columns []string, from map[string]string,
	row func(tr *translation, get func(string) string) (listing, string, *fault.Error),
) []*program {
	var both []*program
	for table, leaves := range map[string][]string{
		"skus":     {"price"},
		"products": {"supplier", "supplier_sku", "barcode", "unit_cost", "current_stock"},
	} {
		mine := map[string]string{}
		for target, theirs := range from {
			if !slices.Contains(leaves, target) {
				mine[target] = theirs
			}
		}
		both = append(both, list(name, title, table, needs, mine, columns, row))
	}
	return both
}

var shopifyProducts = goods("shopify-products", "Shopify's products",
	[]string{"Handle|URL handle", "Title", "Variant SKU|SKU", "Variant Price|Price"},
	[]string{"Handle", "URL handle", "Title", "Option1 Value", "Option2 Value", "Option3 Value", "Option1 value",
		"Option2 value", "Option3 value", "Variant Price", "Price", "Image Src", "Image Position", "Product image URL",
		"Image position", "Status"},
	map[string]string{
		"sku": "Variant SKU|SKU", "name": "Title", "supplier": "Vendor", "barcode": "Variant Barcode|Barcode",
		"unit_cost":     "Cost per item",
		"current_stock": "Variant Inventory Qty|Inventory quantity", "price": "Variant Price|Price", "active": "Status",
	},
	func(tr *translation, get func(string) string) (listing, string, *fault.Error) {
		if get("Title") != "" || anyOf(get, "Handle", "URL handle") != anyOf(tr.over, "Handle", "URL handle") {
			tr.keep(get, "Handle", "URL handle", "Title", "Vendor", "Status")
		}
		sku := anyOf(get, "Variant SKU", "SKU")
		if sku == "" && anyOf(get, "Variant Price", "Price") == "" {
			return nil, "the row has only a picture", nil
		}
		if sku == "" {
			return nil, noSKU, nil
		}
		words := []string{tr.above["Title"]}
		for _, n := range []string{"1", "2", "3"} {
			if v := anyOf(get, "Option"+n+" Value", "Option"+n+" value"); v != "" && v != "Default Title" {
				words = append(words, v)
			}
		}
		status := strings.ToLower(tr.above["Status"])
		return listing{
			"name": strings.Join(words, " "), "supplier": tr.above["Vendor"],
			"barcode": strings.TrimPrefix(anyOf(get, "Variant Barcode", "Barcode"), "'"),
			"active":  flag(status == "active" || status == ""),
		}, "", nil
	})

var wooProducts = goods("woocommerce-products", "WooCommerce's products",
	[]string{"ID", "Type", "SKU", "Name", "Published", "Regular price"},
	[]string{"ID", "Type", "SKU", "Name", "Published", "Sale price", "Regular price"},
	map[string]string{
		"sku": "SKU", "name": "Name", "barcode": "GTIN, UPC, EAN, or ISBN|GTIN UPC EAN or ISBN", "current_stock": "Stock",
		"price": "Sale price|Regular price", "active": "Published",
	},
	func(_ *translation, get func(string) string) (listing, string, *fault.Error) {
		switch kind := strings.ToLower(get("Type")); {
		case strings.Contains(kind, "variable"), strings.Contains(kind, "grouped"), strings.Contains(kind, "external"):
			return nil, "the product is " + kind + ": it has no price or stock of its own", nil
		case get("SKU") == "":
			return nil, noSKU, nil
		}
		return listing{"active": flag(get("Published") == "1")}, "", nil
	})

var squareItems = goods("square-items-library", "Square's item library",
	[]string{"Token", "Item Name", "SKU", "Price"},
	[]string{"Token", "Item Name", "Variation Name", "SKU", "Price", "Archived", "Current Quantity*"},
	map[string]string{
		"sku": "SKU", "name": "Item Name", "supplier": "Default Vendor Name", "supplier_sku": "Default Vendor Code",
		"barcode":   "GTIN",
		"unit_cost": "Default Unit Cost", "current_stock": "Current Quantity*", "price": "Price", "active": "Archived",
	},
	func(tr *translation, get func(string) string) (listing, string, *fault.Error) {
		if get("SKU") == "" {
			return nil, noSKU, nil
		}
		name := get("Item Name")
		if v := get("Variation Name"); v != "" && v != "Regular" && v != "Regular Price" {
			name += " " + v
		}
		l := listing{"name": name, "active": flag(!strings.HasPrefix(strings.ToUpper(get("Archived")), "Y"))}
		if strings.EqualFold(get("Price"), "variable") {
			l["price"] = ""
		}
		stock, refusal := tr.sum("Current Quantity*")
		l["current_stock"] = stock
		return l, "", refusal
	})

// people are lists of customers, for the tables of customers and of tenants.
func people(name, title string, needs []string, names, phone string) []*program {
	var both []*program
	for table, more := range map[string]string{"customers": "", "tenants": phone} {
		from := map[string]string{"email": "Email|Email Address|Main Email", "name": names}
		if more != "" {
			from["phone"] = more
		}
		both = append(both, list(name, title, table, needs, from, []string{"First Name", "Last Name"},
			func(_ *translation, get func(string) string) (listing, string, *fault.Error) {
				email, _, _ := strings.Cut(strings.ReplaceAll(anyOf(get, "Email", "Email Address", "Main Email"), ";", ","), ",")
				if email = strings.TrimSpace(email); email == "" && table == "customers" {
					return nil, "the row has no e-mail address", nil
				}
				l := listing{"email": email}
				if text, numbers := strings.CutPrefix(get("Phone numbers"), "Phone:"); numbers && more != "" {
					l["phone"] = text
				}
				if name := anyOf(get, strings.Split(names, "|")...); name == "" || strings.Contains(names, "First Name") {
					l["name"] = strings.TrimSpace(get("First Name") + " " + get("Last Name"))
				}
				return l, "", nil
			}))
	}
	return both
}

var (
	quickbooksCustomers = people("quickbooks-customers", "QuickBooks' customers",
		[]string{"Customer|Customer full name|Customer name|Display Name|Name", "Email|Main Email",
			"Open Balance|Open balance|Balance|Balance Total|Bill address"},
		"Customer full name|Customer|Customer name|Display Name|Name|Company name|Company",
		"Phone|Main Phone|Phone Numbers|Phone numbers|Mobile")
	shopifyCustomers = people("shopify-customers", "Shopify's customers",
		[]string{"First Name", "Last Name", "Email", "Total Spent"}, "First Name", "Phone|Default Address Phone")
	wooCustomers = people("woocommerce-customers", "WooCommerce's customers",
		[]string{"Name", "Username", "Email", "Orders"}, "Name", "Phone")
)

// fleetioStates map Fleetio's states to ours.
var fleetioStates = map[string]string{
	"": "operational", "active": "operational", "in shop": "needs-attention", "out of service": "down",
	"inactive": "retired", "sold": "retired",
	"archived": "retired", "disposed": "retired",
}

var fleetioVehicles = list("fleetio-vehicles", "Fleetio's vehicles", "assets",
	[]string{"Name|Vehicle", "VIN|VIN/SN|VIN/Serial Number", "Make", "Model", "License Plate|Plate"},
	map[string]string{
		"asset_tag": "Name|Vehicle", "name": "Year|Make|Model", "category": "Type|Vehicle Type", "location": "Group",
		"manufacturer": "Make",
		"model":        "Model", "serial_number": "VIN|VIN/SN|VIN/Serial Number", "status": "Status|Vehicle Status",
		"notes": "License Plate|Plate",
	}, nil,
	func(_ *translation, get func(string) string) (listing, string, *fault.Error) {
		name := strings.Join(strings.Fields(strings.Join([]string{get("Year"), get("Make"), get("Model")}, " ")), " ")
		state := anyOf(get, "Status", "Vehicle Status")
		status, known := fleetioStates[strings.ToLower(state)]
		if !known {
			return nil, "", fault.Fieldf("status", "Status: %s is not one of Fleetio's own states; change it in the file to "+
				"Active, In Shop, Out of Service, Inactive or Sold",
				schema.Quote(state))
		}
		l := listing{"name": cmp.Or(name, anyOf(get, "Name", "Vehicle")), "status": status}
		if plate := anyOf(get, "License Plate", "Plate"); plate != "" {
			l["notes"] = "License plate " + plate
		}
		return l, "", nil
	})

// gumroad is Gumroad's export of sales: a row per sale, with a line of totals at the end.
var gumroad = &program{
	name: "gumroad-sales", title: "Gumroad's sales", table: "orders", targets: orderColumns,
	needs: []string{"Purchase ID", "Item Name", "Purchase Date", "Purchase Email|Purchase email", "Sale Price ($)"},
	columns: []string{
		"Purchase ID", "Item Name", "Buyer Name", "Purchase Email", "Purchase email", "Purchase Date",
		"Purchase Time (UTC timezone)", "Subtotal ($)",
		"Taxes ($)", "Shipping ($)", "Sale Price ($)", "Refunded?", "Partial Refund ($)", "Fully Refunded?", "Disputed?",
		"Dispute Won?", "Product ID",
		"SKU ID", "Quantity", "Free trial purchase?", "Pre-order authorization?", "Giftee Email",
	},
	start: func(tr *translation) maker {
		var aside aside
		return func(get func(string) string) ([]string, string, *fault.Error) {
			switch {
			case yes(get("Free trial purchase?")):
				return nil, "the sale is a free trial", nil
			case yes(get("Pre-order authorization?")):
				return nil, "the pre-order is not paid yet", nil
			}
			a := amounts{tr: tr, get: get, currency: "USD"}
			qty := cmp.Or(whole(get("Quantity")), "1")
			unit, rest := perUnit(a.of("Sale Price ($)")-a.of("Taxes ($)")-a.of("Shipping ($)"), qty)
			day, clock := get("Purchase Date"), get("Purchase Time (UTC timezone)")
			if len(clock) > len(day) && strings.HasPrefix(clock, day) {
				day = clock
			} else if clock != "" {
				day += " " + strings.TrimSuffix(clock, " UTC") + " UTC"
			}
			o := order{
				provider: "gumroad", ref: get("Purchase ID"), email: anyOf(get, "Purchase Email", "Purchase email"),
				name: get("Buyer Name"),
				sku:  anyOf(get, "SKU ID", "Product ID", "Item Name"), qty: qty, unit: unit, discount: rest, tax: a.of("Taxes ($)"),
				currency: "USD", paidAt: day, refunded: a.of("Partial Refund ($)"), refundedOn: tr.day(get("Purchase Date")),
			}
			tr.name(o.sku)
			total := a.of("Sale Price ($)") - a.of("Shipping ($)")
			if yes(get("Fully Refunded?")) || yes(get("Disputed?")) && !yes(get("Dispute Won?")) {
				o.refunded = total
			}
			o.refunded = aside.refund(o.refunded, total)
			tr.notes = aside.of(a.of("Shipping ($)") != 0)
			return o.cells(), "", a.refusal
		}
	},
}

// keep remembers cells of a row for the rows below it, which leave them empty.
func (tr *translation) keep(get func(string) string, columns ...string) {
	for _, c := range columns {
		tr.above[c] = get(c)
	}
}

func (tr *translation) over(column string) string { return tr.above[column] }

// sum adds up the columns of a name, or of a prefix that ends in *: a quantity for each place.
func (tr *translation) sum(column string) (string, *fault.Error) {
	var all []string
	for i, name := range tr.header {
		if i < len(tr.record.cells) && starred(column, name) {
			if cell := strings.TrimSpace(unquoted(tr.record.cells[i])); cell != "" {
				all = append(all, cell)
			}
		}
	}
	if len(all) < 2 {
		return strings.Join(all, ""), nil
	}
	var total exact.Milli
	for _, cell := range all {
		plain, refusal := tr.convert.number("current_stock", cell)
		if refusal != nil {
			return "", refusal
		}
		n, err := exact.ParseMilli(plain)
		if err != nil && tr.convert.survey == nil {
			return "", fault.Fieldf("current_stock", "current_stock: %s is not a quantity", schema.Quote(cell))
		}
		total += n
	}
	plain := total.String()
	if tr.convert.comma {
		plain = strings.Replace(plain, ".", ",", 1)
	}
	return plain, nil
}

// starred reports whether a pattern matches a column's name: equal, or a prefix that ends in *.
func starred(column, name string) bool {
	prefix, all := strings.CutSuffix(column, "*")
	return column == name || all && strings.HasPrefix(name, prefix)
}
