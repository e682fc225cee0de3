package reorder

import (
	"quartermaster/schema"
	"quartermaster/schema/db"
)

// skuTable is the catalogue as CSV, also used by the product form: stock, times and activity are checked, audited and
// alarmed as everywhere.
func skuTable() schema.Table {
	t := articles.Table("skus", "The catalogue: one row per SKU. on_order comes from purchase orders and is not a column.")
	t.Row = func(f *schema.Form) schema.Put {
		now, given := articles.Edits(f)
		return func(tx *db.Tx) (schema.Outcome, error) { return putSKU(tx, now, given) }
	}
	return t
}

// Cells is the SKU as a row of its table; SKUColumns are their names.
func (k SKU) Cells() []string { return articles.Cells(article{SKU: k}) }

// SKUColumns are the columns of the catalogue as CSV.
func SKUColumns() []string { return articles.Header() }

// putSKU creates the SKU, or applies the given columns of now to it. A row that changes nothing writes nothing.
func putSKU(tx *db.Tx, now article, given func(column string) bool) (o schema.Outcome, err error) {
	was, found, err := lookUp(&tx.Conn, now.Code)
	if err != nil {
		return o, err
	}
	if o.ID = was.id; now.LeadTimeDays == ofSupplier && (!found || given("lead_time_days")) {
		supplier := was.Supplier
		if !found || given("supplier") {
			supplier = now.Supplier
		}
		if now.LeadTimeDays, err = leadTimeOf(&tx.Conn, supplier); err != nil {
			return o, err
		}
	}
	if !found {
		return createSKU(tx, now)
	}
	is := was
	if len(articles.Edit(&is, now, given)) == 0 {
		return o, nil
	}
	if err := mention(tx, is.Supplier); err != nil {
		return o, err
	}
	h, err := rollToToday(tx)
	if err != nil {
		return o, err
	}
	if was, err = find(&tx.Conn, now.Code); err != nil { // its sums may have changed
		return o, err
	}
	is = was
	changes := articles.Edit(&is, now, given)
	is.UpdatedAt = tx.Now()
	if err := articles.Update(tx, &was, &is); err != nil {
		return o, err
	}
	if _, err := save(tx, h, was, &is, cause{kind: movedByEdit}); err != nil {
		return o, err
	}
	return schema.Changed(is.id, changes), tx.Audit("sku.changed", subject(is.Code), changes)
}

// createSKU makes the SKU. One that is below from the start has crossed nothing.
func createSKU(tx *db.Tx, now article) (o schema.Outcome, err error) {
	h, err := rollToToday(tx)
	if err != nil {
		return o, err
	}
	if err := mention(tx, now.Supplier); err != nil {
		return o, err
	}
	now.CreatedAt, now.UpdatedAt = tx.Now(), tx.Now()
	now.judge(h)
	if now.id, err = articles.Insert(tx, &now); err != nil {
		return o, err
	}
	noteMovement(tx, article{}, now, cause{kind: movedByEdit})
	return schema.Outcome{ID: now.id, New: true}, tx.Audit("sku.created", subject(now.Code), now.SKU)
}
