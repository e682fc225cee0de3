package reorder

import "quartermaster/schema"

// ops lists the service's operations.
func (s *Service) ops() []schema.Op {
	return []schema.Op{
		s.listSKUs(),
		s.reorderReport(),
		s.listProducts(),
		s.productDetail(),
		s.adjustStock(),
		s.ingestSales(),
		s.reorderReportTool(),
	}
}

// tables lists what travels as CSV.
func (s *Service) tables() []schema.Table {
	return []schema.Table{s.skuTable(), s.salesTable(), s.orderTable(), s.supplierTable()}
}
