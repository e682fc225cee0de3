package maintenance

import (
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// maxID bounds the ids that a file may give to new orders, far below the largest id.
const maxID = 1_000_000_000_000

// workOrderTable is the work orders as CSV.
func workOrderTable() schema.Table {
	t := workOrders.Table("work-orders",
		"Work orders, one row each. A row without an id, or with an unused one, is a new order. An open one is opened "+
			"like any other; "+
			"a closed one is stored as history, without an event. A changed status is a move like any other.")
	t.Find = nil
	t.Row = func(f *schema.Form) schema.Put {
		wo := newWorkOrder()
		workOrders.BindTo(f, &wo)
		return func(tx *db.Tx) (schema.Outcome, error) { return putWorkOrder(tx, f, wo) }
	}
	return t
}

// Cells is the order as a row of the table's export.
func (wo WorkOrder) Cells() []string { return workOrders.Cells(wo) }

// OrderColumns are the columns of Cells.
func OrderColumns() []string { return workOrders.Header() }

// pastInstant parses an instant up to now: RFC 3339, or a day, which is its beginning in the shop's zone. An empty one
// is nil.
func pastInstant(tx *db.Tx, name, s string) (*exact.Instant, error) {
	if s == "" {
		return nil, nil
	}
	at, ok := exact.ParseInstant(s)
	if !ok {
		d, isDay := exact.ParseDay(s)
		if !isDay {
			return nil, fault.Invalidf("%s: %s is not a time; write 2026-11-20T21:05:00Z (RFC 3339) or a day, 2026-11-20", name,
				schema.Quote(s))
		}
		at = exact.InstantOf(d.Time(tx.Zone()))
	}
	if at > tx.Now() {
		return nil, fault.Invalidf("%s: %v is in the future; now is %v", name, at, tx.Now())
	}
	return &at, nil
}

// putWorkOrder makes the row's order, or applies the row to the one that it names.
func putWorkOrder(tx *db.Tx, row *schema.Form, wo WorkOrder) (none schema.Outcome, err error) {
	created, err := pastInstant(tx, "created_at", wo.typed.created)
	if err != nil {
		return none, err
	}
	completed, err := pastInstant(tx, "completed_at", wo.typed.completed)
	if err != nil {
		return none, err
	}
	if wo.ID != 0 {
		held, found, err := lookWorkOrder(&tx.Conn, wo.ID)
		if err != nil {
			return none, err
		}
		if found {
			return changeByRow(tx, row, held, wo, created, completed)
		}
	}
	return fileByRow(tx, wo, created, completed)
}

// fileByRow makes an order by a row, in any state.
func fileByRow(tx *db.Tx, wo WorkOrder, created, completed *exact.Instant) (none schema.Outcome, err error) {
	if wo.ID > maxID {
		return none, fault.Invalidf("id: %d is out of range; a new order takes an id up to %d, or none", wo.ID, int64(maxID))
	}
	if err := wo.check(); err != nil {
		return none, err
	}
	if wo.tag == "" {
		return none, fault.Invalidf("asset_tag is empty: name the asset of the new work order")
	}
	a, err := assetByTag(&tx.Conn, wo.tag)
	if err != nil {
		return none, err
	}
	// An order with an id and its creation time comes from an export: it was opened before the asset was retired.
	if there := wo.ID != 0 && created != nil; !closed(wo.Status) && !there {
		if err := a.takesWork("asset_tag"); err != nil {
			return none, err
		}
	}
	if err := (Move{Status: wo.Status, Resolution: schema.Cell(wo.Resolution)}).unresolved(); err != nil {
		return none, err
	}
	if created == nil {
		created = new(tx.Now())
	}
	if wo.CompletedAt, err = completion(wo.Status, created, completed, tx.Now()); err != nil {
		return none, err
	}
	wo.AssetID, wo.CreatedAt, wo.Source = a.ID, *created, db.NullText("import")
	if closed(wo.Status) {
		wo, err = filed(tx, wo)
	} else {
		wo, err = opened(tx, wo)
	}
	return schema.Outcome{ID: wo.ID, New: true}, err
}

// completion is when an order was completed: for a done one as given, or now; none
// for any other.
func completion(status string, created, completed *exact.Instant, now exact.Instant) (*exact.Instant, error) {
	switch {
	case status != "done" && completed != nil:
		return nil, fault.Invalidf("completed_at: leave it empty; a work order that is %s has none", status)
	case status != "done":
		return nil, nil
	case completed == nil:
		return &now, nil
	case *completed < *created:
		return nil, fault.Invalidf("completed_at: %v is before created_at, %v", *completed, *created)
	}
	return completed, nil
}

// changeByRow applies a row to an order: its fields first, then its move.
func changeByRow(tx *db.Tx, row *schema.Form, held, now WorkOrder, created, completed *exact.Instant) (o schema.Outcome,
	err error) {
	if err := keepsAsset(&tx.Conn, held, now.tag); err != nil {
		return o, err
	}
	wants := held.Status
	if row.Given("status") {
		wants = now.Status
	}
	moved := wants != held.Status
	m := Move{ID: held.ID, Status: wants, Resolution: schema.Cell(now.Resolution)}
	if moved {
		if err := workOrderMoves.Check("work order", held.Status, wants); err != nil {
			return o, err
		}
		if err := m.unresolved(); err != nil {
			return o, err
		}
	}
	if created == nil {
		created = &held.CreatedAt
	}
	if completed == nil && !moved {
		completed = held.CompletedAt
	}
	if completed, err = completion(wants, created, completed, tx.Now()); err != nil {
		return o, err
	}
	now.CreatedAt, now.CompletedAt = *created, completed
	if moved {
		now.CompletedAt = held.CompletedAt
	}
	if o, err = fieldsByRow(tx, row, held, now); err != nil || !moved {
		return o, err
	}
	at := schema.Or(completed, tx.Now())
	o.Fields = append(o.Fields, "status")
	_, err = move(tx, held, m, at)
	return o, err
}

// keepsAsset refuses to give an order to another asset.
func keepsAsset(c *db.Conn, held WorkOrder, tag string) error {
	if tag == "" {
		return nil
	}
	a, err := assetByTag(c, tag)
	if err == nil && a.ID != held.AssetID {
		err = fault.Invalidf("asset_tag: work order %d belongs to %s, and an order keeps its asset", held.ID, held.Asset)
	}
	return err
}

// fieldsByRow applies the row's fields to the order; now has its times already.
func fieldsByRow(tx *db.Tx, row *schema.Form, held, now WorkOrder) (none schema.Outcome, err error) {
	if !row.Given("description") {
		now.Description = held.Description
	}
	if err := now.check(); err != nil {
		return none, err
	}
	now.Resolution = db.NullText(schema.Cell(now.Resolution))
	if held.Status == "done" && now.Resolution == nil && row.Given("resolution") {
		return none, fault.Fieldf("resolution", "resolution is empty: a done work order needs one")
	}
	return storeOrder(tx, held, now, func(column string) bool {
		return column == "created_at" || column == "completed_at" || row.Given(column)
	})
}
