package reorder

import "quartermaster/schema"

// version is the interface's version, which ping, health and the document report.
const version = "3.1.6"

// Declare returns all that the service declares.
func (s *Service) Declare() schema.Service {
	return schema.Service{
		Name: "reorder", Addr: "127.0.0.1:8084", Agents: true,
		Elsewhere: "Purchase orders are created, received and cancelled on the screens and with `quartermaster reorder " +
			"po`, never here; SKUs and suppliers are changed there too.",
		DemoPath: "/api/reorder-report",
		Title:    "Reorder service",
		About: "Reorder points, days of stock cover and suggested order quantities, computed from sales history. " +
			"Quantities have at most 3 decimals, money is whole cents, and the same inputs give the same figures.",
		Ping: version, Health: version, Document: version,
		Ops:    s.ops(),
		Tables: s.tables(),
		Records: []schema.Record{
			{Noun: "sku", Page: "/skus/"}, {Noun: "purchase_order", Page: "/purchase-orders/"},
			{Noun: "supplier", Page: "/suppliers/"},
		},
		Events: []schema.Event{crossing},
		Check:  check,
		Demo:   s.demo,
	}
}

// ops is the table of contents: route, tool, command, function.
func (s *Service) ops() []schema.Op {
	return []schema.Op{
		schema.At("GET /api/skus", "", "reorder skus list", s.listSKUs()),
		schema.At("GET /api/reorder-report", "reorder_report", "reorder report", s.reorderReport()),
		schema.At("", "list_products", "", s.listProducts()),
		schema.At("", "product_detail", "reorder skus show SKU", s.productDetail()),
		schema.At("POST /api/skus/:sku/stock", "adjust_stock", "reorder adjust SKU", s.adjustStock()),
		schema.At("", "count_stock", "reorder count", s.countStock()),
		schema.At("POST /api/sales-history", "ingest_sales", "reorder sales ingest", s.ingestSales()),
		schema.At("", "", "reorder skus save SKU", s.saveSKU()),
		schema.At("", "", "reorder skus rename SKU", s.renameSKU()),
		schema.At("", "", "reorder sales list", s.listSales()),
		schema.At("", "", "reorder sales show SKU", s.skuSales()),
		schema.At("", "sales_report", "reorder sales report", s.salesReport()),
		schema.At("", "", "reorder figures", s.stockFigures()),
		schema.At("", "", "reorder settings", s.setForecast()),
		schema.At("", "", "reorder suppliers list", s.listSuppliers()),
		schema.At("", "", "reorder suppliers show NAME", s.supplierDetail()),
		schema.At("", "", "reorder suppliers save NAME", s.saveSupplierOp()),
		schema.At("", "list_purchase_orders", "reorder po list", s.listPurchases()),
		schema.At("", "purchase_detail", "reorder po show NUMBER", s.purchaseDetail()),
		schema.At("", "", "reorder po create", s.createPurchase()),
		schema.At("", "", "reorder po edit NUMBER", s.editPurchase()),
		schema.At("", "", "reorder po order NUMBER", s.orderPurchase()),
		schema.At("", "", "reorder po mail NUMBER", s.mailPurchase()),
		schema.At("", "", "reorder po receive NUMBER", s.receivePurchase()),
		schema.At("", "", "reorder po unreceive NUMBER", s.unreceivePurchase()),
		schema.At("", "", "reorder po cancel NUMBER", s.cancelPurchase()),
		schema.At("", "", "reorder po suggest", s.suggestPurchases()),
	}
}

// tables lists what travels as CSV.
func (s *Service) tables() []schema.Table {
	return []schema.Table{skuTable(), s.salesTable(), s.orderTable(), supplierTable()}
}
