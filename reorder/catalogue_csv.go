package reorder

import (
	"strconv"

	"quartermaster/schema"
	"quartermaster/schema/db"
)

// newSKU is what a SKU is when nothing else is said. Its name is its code.
func newSKU(code string) SKU {
	return SKU{Code: code, Name: code, LeadTimeDays: 7, SafetyStockDays: 3, PackSize: 1, Active: true}
}

// skuTable is the catalogue as CSV. It is also the product form's path: stock, times
// and activity are judged, audited and alarmed as anywhere else.
func (s *Service) skuTable() schema.Table {
	return schema.Table{
		Name:  "skus",
		About: "The catalogue: one row a SKU. on_order follows from purchase orders and is not a column.",
		Row: func(f *schema.Form) schema.Put {
			edit := bindSKU(f)
			return func(tx *db.Tx) error { return putSKU(tx, edit) }
		},
		Export: func(c *db.Conn, emit func(cells ...string) error) error {
			return db.Each(c, func(r *db.Row) error {
				k := scan(r).SKU
				active := "0"
				if k.Active {
					active = "1"
				}
				return emit(k.Code, k.Name, k.Supplier, k.SupplierSKU, k.Barcode, k.Unit, strconv.FormatInt(k.UnitCostCents, 10),
					k.CurrentStock.String(), strconv.FormatInt(k.LeadTimeDays, 10), strconv.FormatInt(k.SafetyStockDays, 10),
					strconv.FormatInt(k.PackSize, 10), k.MOQ.String(), active)
			}, "SELECT "+columns+" FROM skus ORDER BY sku")
		},
	}
}

// edit is one row of the file: the SKU that it names and what its columns set.
type edit struct {
	code string
	set  []func(*SKU)
}

// bindSKU reads a row. A column that the file lacks sets nothing; an empty cell sets
// the default.
func bindSKU(f *schema.Form) edit {
	var e edit
	f.Text(&e.code, "sku", "the SKU, case-sensitive", schema.Required, schema.Most(maxCode))
	k := newSKU(e.code)
	column := func(name string, set func(*SKU)) {
		if f.Given(name) {
			e.set = append(e.set, set)
		}
	}
	text := func(p *string, name, about string, set func(*SKU)) {
		f.Text(p, name, about, schema.Most(maxName))
		column(name, set)
	}
	text(&k.Name, "name", "what it is called; the SKU when empty", func(to *SKU) { to.Name = k.Name })
	text(&k.Supplier, "supplier", "who delivers it", func(to *SKU) { to.Supplier = k.Supplier })
	text(&k.SupplierSKU, "supplier_sku", "the supplier's own code", func(to *SKU) { to.SupplierSKU = k.SupplierSKU })
	text(&k.Barcode, "barcode", "its barcode", func(to *SKU) { to.Barcode = k.Barcode })
	text(&k.Unit, "unit", "what one of it is: piece, kg", func(to *SKU) { to.Unit = k.Unit })
	f.Int(&k.UnitCostCents, "unit_cost_cents", "what one unit costs, in cents", schema.Range(0, maxUnitCost))
	column("unit_cost_cents", func(to *SKU) { to.UnitCostCents = k.UnitCostCents })
	f.Milli(&k.CurrentStock, "current_stock", "how much is there", schema.Range(0, int64(maxQty/1000)))
	column("current_stock", func(to *SKU) { to.CurrentStock = k.CurrentStock })
	f.Int(&k.LeadTimeDays, "lead_time_days", "days from order to delivery", schema.Range(0, maxDays))
	column("lead_time_days", func(to *SKU) { to.LeadTimeDays = k.LeadTimeDays })
	f.Int(&k.SafetyStockDays, "safety_stock_days", "days of demand kept for safety", schema.Range(0, maxDays))
	column("safety_stock_days", func(to *SKU) { to.SafetyStockDays = k.SafetyStockDays })
	f.Int(&k.PackSize, "pack_size", "units in a pack", schema.Range(1, maxPack))
	column("pack_size", func(to *SKU) { to.PackSize = k.PackSize })
	f.Milli(&k.MOQ, "moq", "least quantity of an order", schema.Range(0, int64(maxQty/1000)))
	column("moq", func(to *SKU) { to.MOQ = k.MOQ })
	f.Bool(&k.Active, "active", "1, or 0 for a SKU that is not reordered any more")
	column("active", func(to *SKU) { to.Active = k.Active })
	return e
}

// putSKU creates the SKU, or makes of it what the row says. A row that changes nothing
// writes nothing and leaves no trace.
func putSKU(tx *db.Tx, e edit) error {
	was, found, err := lookUp(&tx.Conn, e.code)
	if err != nil {
		return err
	}
	if !found {
		return create(tx, e)
	}
	now := was
	for _, set := range e.set {
		set(&now.SKU)
	}
	if now.SKU == was.SKU {
		return nil
	}
	h, err := standToday(tx)
	if err != nil {
		return err
	}
	if was, err = find(&tx.Conn, e.code); err != nil { // its sums may have moved on
		return err
	}
	now.sold, now.UpdatedAt = was.sold, tx.Now()
	if _, err := tx.Exec(`UPDATE skus SET active = ?, lead_time_days = ?, safety_stock_days = ?, pack_size = ?, moq = ?,
		unit_cost_cents = ?, name = ?, supplier = ?, supplier_sku = ?, barcode = ?, unit = ? WHERE id = ?`,
		now.Active, now.LeadTimeDays, now.SafetyStockDays, now.PackSize, now.MOQ,
		now.UnitCostCents, now.Name, now.Supplier, now.SupplierSKU, now.Barcode, now.Unit, now.id); err != nil {
		return err
	}
	if _, err := save(tx, h, was, &now); err != nil {
		return err
	}
	return tx.Audit("sku.changed", subject(e.code), differences(was.SKU, now.SKU))
}

// create makes the SKU. One that is below from the start has crossed nothing.
func create(tx *db.Tx, e edit) error {
	h, err := standToday(tx)
	if err != nil {
		return err
	}
	rec := record{SKU: newSKU(e.code), firstSold: never}
	for _, set := range e.set {
		set(&rec.SKU)
	}
	rec.CreatedAt, rec.UpdatedAt = tx.Now(), tx.Now()
	rec.judge(h)
	if _, err := tx.Insert(`INSERT INTO skus (active, current_stock, is_below, judged_on, lead_time_days, safety_stock_days, pack_size,
		moq, unit_cost_cents, created_at, updated_at, sku, name, supplier, supplier_sku, barcode, unit)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		rec.Active, rec.CurrentStock, rec.isBelow, rec.judgedOn, rec.LeadTimeDays, rec.SafetyStockDays, rec.PackSize,
		rec.MOQ, rec.UnitCostCents, rec.CreatedAt, rec.UpdatedAt, rec.Code, rec.Name, rec.Supplier, rec.SupplierSKU,
		rec.Barcode, rec.Unit); err != nil {
		return err
	}
	return tx.Audit("sku.created", subject(e.code), rec.SKU)
}

// differences names what an edit changed, each with what it was and what it is.
func differences(was, now SKU) map[string][2]any {
	d := map[string][2]any{}
	add := func(name string, was, now any) {
		if was != now {
			d[name] = [2]any{was, now}
		}
	}
	add("name", was.Name, now.Name)
	add("supplier", was.Supplier, now.Supplier)
	add("supplier_sku", was.SupplierSKU, now.SupplierSKU)
	add("barcode", was.Barcode, now.Barcode)
	add("unit", was.Unit, now.Unit)
	add("unit_cost_cents", was.UnitCostCents, now.UnitCostCents)
	add("current_stock", was.CurrentStock, now.CurrentStock)
	add("lead_time_days", was.LeadTimeDays, now.LeadTimeDays)
	add("safety_stock_days", was.SafetyStockDays, now.SafetyStockDays)
	add("pack_size", was.PackSize, now.PackSize)
	add("moq", was.MOQ, now.MOQ)
	add("active", was.Active, now.Active)
	return d
}
