package reorder

import "quartermaster/schema"

// ops lists the service's operations.
func (s *Service) ops() []schema.Op {
	return []schema.Op{
		s.listSKUs(),          // GET /api/skus, skus list
		s.reorderReport(),     // GET /api/reorder-report, report
		s.listProducts(),      // list_products
		s.productDetail(),     // product_detail, skus show
		s.adjustStock(),       // POST /api/skus/:sku/stock, adjust_stock, adjust
		s.ingestSales(),       // POST /api/sales-history, ingest_sales, sales ingest
		s.reorderReportTool(), // reorder_report
		s.saveSKU(),           // skus save
		s.listSales(),         // sales list
		s.skuSales(),          // sales show
		s.stockFigures(),      // figures
		s.setForecast(),       // settings
		s.listSuppliers(),     // suppliers list
		s.supplierDetail(),    // suppliers show
		s.saveSupplierOp(),    // suppliers save
		s.listPurchases(),     // po list
		s.purchaseDetail(),    // po show
		s.createPurchase(),    // po create
		s.editPurchase(),      // po edit
		s.orderPurchase(),     // po order
		s.receivePurchase(),   // po receive
		s.unreceivePurchase(), // po unreceive
		s.cancelPurchase(),    // po cancel
		s.suggestPurchases(),  // po suggest
	}
}

// tables lists what travels as CSV.
func (s *Service) tables() []schema.Table {
	return []schema.Table{s.skuTable(), s.salesTable(), s.orderTable(), s.supplierTable()}
}
