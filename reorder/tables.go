package reorder

import "quartermaster/schema/db"

// The trial's names of the service's rows, and the kinds of their columns.
func init() {
	db.Describe(db.Naming{
		Tables: map[string]db.Rows{
			"stock_movements":  {Skip: true},
			"sku_touched":      {Skip: true},
			"sku_texts":        {Skip: true},
			"purchase_orders":  {Noun: "purchase_order", Key: "number"},
			"reorder_settings": {Noun: "settings:reorder"},
			"sales":            {Noun: "sales"},
			"skus":             {Noun: "sku", Key: "sku"},
			"suppliers":        {Noun: "supplier", Key: "name"},
		},
		Columns: map[string]db.Kind{
			"skus.first_sold":               db.DayNumber,
			"channel_sales.qty":             db.Thousandths,
			"purchase_order_lines.ordered":  db.Thousandths,
			"purchase_order_lines.received": db.Thousandths,
			"sales.qty":                     db.Thousandths,
			"skus.current_stock":            db.Thousandths,
			"skus.moq":                      db.Thousandths,
			"skus.on_order":                 db.Thousandths,
			"reorder_settings.standing_day": db.Derived,
			"skus.judged_on":                db.Derived,
			"skus.sold":                     db.Derived,
		},
	})
}
