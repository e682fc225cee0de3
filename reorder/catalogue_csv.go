package reorder

import (
	"quartermaster/schema"
	"quartermaster/schema/db"
)

// newSKU is what a SKU is when nothing else is said. Its name is its code; its lead
// time is its supplier's, which put asks for.
func newSKU(code string) SKU {
	return SKU{Code: code, Name: code, LeadTimeDays: usualLeadTime, SafetyStockDays: 3, PackSize: 1, Active: true}
}

// skuTable is the catalogue as CSV. It is also the product form's path: stock, times
// and activity are judged, audited and alarmed as anywhere else.
func (s *Service) skuTable() schema.Table {
	return schema.Table{
		Name:  "skus",
		About: "The catalogue: one row a SKU. on_order follows from purchase orders and is not a column.",
		Row: func(f *schema.Form) schema.Put {
			edit := bindSKU(f)
			return func(tx *db.Tx) (schema.Outcome, error) { return putSKU(tx, edit) }
		},
		Find: func(c *db.Conn, cell func(string) string) ([]string, bool, error) {
			rec, found, err := lookUp(c, cell("sku"))
			return rec.cells(), found, err
		},
		Export: func(c *db.Conn, emit func(cells ...string) error) error {
			return db.Each(c, func(r *db.Row) error {
				return emit(scan(r).cells()...)
			}, "SELECT "+columns+" FROM skus ORDER BY sku")
		},
	}
}

// cells is the SKU as a row of the table.
func (k SKU) cells() []string {
	active := "0"
	if k.Active {
		active = "1"
	}
	return []string{
		k.Code, k.Name, k.Supplier, k.SupplierSKU, k.Barcode, k.Unit, intText(k.UnitCostCents), k.CurrentStock.String(),
		intText(k.LeadTimeDays), intText(k.SafetyStockDays), intText(k.PackSize), k.MOQ.String(), active,
	}
}

// edit is one row of the file: the SKU that it names and what its columns set.
type edit struct {
	code       string
	set        []func(*SKU)
	lead       *int64
	leadIsOpen bool // lead_time_days is given empty: it becomes the supplier's
}

// bindSKU reads a row. A column that the file lacks sets nothing; an empty cell sets
// the default.
func bindSKU(f *schema.Form) edit {
	var e edit
	f.Text(&e.code, "sku", "the SKU, case-sensitive", schema.Required, schema.Most(maxCode), schema.Example(sample.Code))
	k := newSKU(e.code)
	text := func(p *string, name, about string, set func(*SKU)) {
		field(f, &e.set, name, set, func(opts ...schema.Opt) { f.Text(p, name, about, append(opts, schema.Most(maxName))...) })
	}
	text(&k.Name, "name", "what it is called; the SKU when empty", func(to *SKU) { to.Name = k.Name })
	text(&k.Supplier, "supplier", "who delivers it", func(to *SKU) { to.Supplier = k.Supplier })
	text(&k.SupplierSKU, "supplier_sku", "the supplier's own code", func(to *SKU) { to.SupplierSKU = k.SupplierSKU })
	text(&k.Barcode, "barcode", "its barcode", func(to *SKU) { to.Barcode = k.Barcode })
	text(&k.Unit, "unit", "what one of it is: piece, kg", func(to *SKU) { to.Unit = k.Unit })
	field(f, &e.set, "unit_cost_cents", func(to *SKU) { to.UnitCostCents = k.UnitCostCents }, func(opts ...schema.Opt) {
		f.Int(&k.UnitCostCents, "unit_cost_cents", "what one unit costs, in cents", append(opts, schema.Range(0, maxUnitCost))...)
	})
	field(f, &e.set, "current_stock", func(to *SKU) { to.CurrentStock = k.CurrentStock }, func(opts ...schema.Opt) {
		f.Milli(&k.CurrentStock, "current_stock", "how much is there", append(opts, schema.Range(0, int64(maxQty/1000)))...)
	})
	f.IntPtr(&e.lead, "lead_time_days", "days from order to delivery; the supplier's when empty, or 7", schema.Range(0, maxDays))
	e.leadIsOpen = e.lead == nil && f.Given("lead_time_days")
	field(f, &e.set, "safety_stock_days", func(to *SKU) { to.SafetyStockDays = k.SafetyStockDays }, func(opts ...schema.Opt) {
		f.Int(&k.SafetyStockDays, "safety_stock_days", "days of demand kept for safety", append(opts, schema.Range(0, maxDays))...)
	})
	field(f, &e.set, "pack_size", func(to *SKU) { to.PackSize = k.PackSize }, func(opts ...schema.Opt) {
		f.Int(&k.PackSize, "pack_size", "units in a pack", append(opts, schema.Range(1, maxPack))...)
	})
	field(f, &e.set, "moq", func(to *SKU) { to.MOQ = k.MOQ }, func(opts ...schema.Opt) {
		f.Milli(&k.MOQ, "moq", "least quantity of an order", append(opts, schema.Range(0, int64(maxQty/1000)))...)
	})
	field(f, &e.set, "active", func(to *SKU) { to.Active = k.Active }, func(opts ...schema.Opt) {
		f.Bool(&k.Active, "active", "1, or 0 for a SKU that is not reordered any more", opts...)
	})
	return e
}

// Cells is the SKU as a row of its table; SKUColumns are their names.
func (k SKU) Cells() []string { return k.cells() }

// SKUColumns are the columns of the catalogue as CSV.
func (s *Service) SKUColumns() []string {
	var names []string
	for _, a := range s.skuTable().Columns() {
		names = append(names, a.Name)
	}
	return names
}

// apply makes of a SKU, new or stored, what the row says.
func (e edit) apply(c *db.Conn, k *SKU, isNew bool) (err error) {
	for _, set := range e.set {
		set(k)
	}
	switch {
	case e.lead != nil:
		k.LeadTimeDays = *e.lead
	case e.leadIsOpen || isNew:
		k.LeadTimeDays, err = leadTimeOf(c, k.Supplier)
	}
	return err
}

// putSKU creates the SKU, or makes of it what the row says. A row that changes nothing
// writes nothing and leaves no trace.
func putSKU(tx *db.Tx, e edit) (schema.Outcome, error) {
	was, found, err := lookUp(&tx.Conn, e.code)
	if err != nil {
		return schema.Outcome{}, err
	}
	if !found {
		return create(tx, e)
	}
	same, now := schema.Outcome{ID: was.id}, was
	if err := e.apply(&tx.Conn, &now.SKU, false); err != nil {
		return same, err
	}
	if now.SKU == was.SKU {
		return same, nil
	}
	if err := mention(tx, now.Supplier); err != nil {
		return same, err
	}
	h, err := rollToToday(tx)
	if err != nil {
		return same, err
	}
	if was, err = find(&tx.Conn, e.code); err != nil { // its sums may have moved on
		return same, err
	}
	now.sold, now.soldYear, now.UpdatedAt = was.sold, was.soldYear, tx.Now()
	if err := tx.UpdateRow("skus", now.id, skuSets, now.sets()...); err != nil {
		return same, err
	}
	if _, err := save(tx, h, was, &now, cause{kind: movedByEdit}); err != nil {
		return same, err
	}
	changes := differences(was.SKU, now.SKU)
	return schema.Changed(now.id, changes), tx.Audit("sku.changed", subject(e.code), changes)
}

// create makes the SKU. One that is below from the start has crossed nothing.
func create(tx *db.Tx, e edit) (o schema.Outcome, err error) {
	h, err := rollToToday(tx)
	if err != nil {
		return o, err
	}
	rec := record{SKU: newSKU(e.code), firstSold: never, lastSold: neverYet}
	if err := e.apply(&tx.Conn, &rec.SKU, true); err != nil {
		return o, err
	}
	if err := mention(tx, rec.Supplier); err != nil {
		return o, err
	}
	rec.CreatedAt, rec.UpdatedAt = tx.Now(), tx.Now()
	rec.judge(h)
	if rec.id, err = tx.InsertRow("skus", "sku, current_stock, is_below, judged_on, created_at, updated_at, "+skuSets, append(
		[]any{rec.Code, rec.CurrentStock, rec.isBelow, rec.judgedOn, rec.CreatedAt, rec.UpdatedAt}, rec.sets()...)...); err != nil {
		return o, err
	}
	if err := noteMovement(tx, record{}, rec, cause{kind: movedByEdit}); err != nil {
		return o, err
	}
	return schema.Outcome{ID: rec.id, New: true}, tx.Audit("sku.created", subject(e.code), rec.SKU)
}

// differences names what an edit changed, each with what it was and what it is.
func differences(was, now SKU) map[string][2]any {
	d := map[string][2]any{}
	add := func(name string, was, now any) { addDifference(d, name, was, now) }
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
