package maintenance

import (
	"strconv"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// maxID bounds the ids that a file may give to new orders, far below where ids end.
const maxID = 1_000_000_000_000

// orderRow is one row of the work orders' file. Its times are as they were written.
type orderRow struct {
	id                     int64
	tag                    string
	NewOrder               // AssetID and PMID are not columns
	status, resolution     string
	createdAt, completedAt string
}

// workOrderTable is the work orders as CSV.
func (s *Service) workOrderTable() schema.Table {
	return schema.Table{
		Name: "work-orders",
		About: "Work orders, one row each. A row without an id, or with one that is free, is a new order: one that is not done or cancelled is opened like any other, " +
			"one that is arrives as history, without an event. A changed status is a move like any other.",
		Row: func(f *schema.Form) schema.Put {
			o := orderRow{status: "open", NewOrder: NewOrder{Priority: "medium", Type: "corrective"}}
			f.ID(&o.id, "id", "identifies the order; empty for a new one")
			f.Text(&o.tag, "asset_tag", "the asset; an order keeps its own", schema.Most(maxName))
			f.Text(&o.Description, "description", "what is to be done", schema.Most(maxText))
			f.Enum(&o.Priority, "priority", "how pressing it is", priorities, schema.Folded, schema.Alias("critical", "urgent"))
			f.Enum(&o.Type, "wo_type", "its kind", orderTypes, schema.Folded)
			f.Enum(&o.status, "status", "where it stands", workOrderMoves.States(), schema.Folded, schema.Alias("in_progress", "in-progress"))
			f.Text(&o.AssignedTo, "assigned_to", "who does it", schema.Most(maxName))
			f.Int(&o.LaborMinutes, "labor_minutes", "minutes worked", schema.Range(0, maxMinutes))
			f.Amount(&o.TypedCents, "parts_cost", "cost of parts in currency units, besides the parts used from stock", schema.Range(0, maxTyped))
			f.Int(&o.DowntimeMinutes, "downtime_minutes", "minutes that the asset stood still", schema.Range(0, maxMinutes))
			f.Text(&o.resolution, "resolution", "what was done; needed for done", schema.Most(maxText))
			f.Text(&o.createdAt, "created_at", "RFC 3339 or a day; now when empty", schema.Most(40))
			f.Text(&o.completedAt, "completed_at", "RFC 3339 or a day, for done orders only; now when empty", schema.Most(40))
			return func(tx *db.Tx) error { return putWorkOrder(tx, f, o) }
		},
		Export: func(c *db.Conn, emit func(cells ...string) error) error {
			return db.Each(c, func(r *db.Row) error {
				wo, tag := scanWorkOrder(r), r.Text()
				return emit(strconv.FormatInt(wo.ID, 10), tag, wo.Description, wo.Priority, wo.Type, wo.Status, cell(wo.AssignedTo),
					strconv.FormatInt(wo.LaborMinutes, 10), wo.PartsCost.String(), strconv.FormatInt(wo.DowntimeMinutes, 10), cell(wo.Resolution),
					wo.CreatedAt.String(), cellOf(wo.CompletedAt))
			}, "SELECT "+workOrderColumns+", a.asset_tag FROM work_orders w CROSS JOIN assets a ON a.id = w.asset_id ORDER BY w.id")
		},
	}
}

// pastInstant reads a moment up to now: RFC 3339, or a day, which is its beginning in
// the shop's zone. An empty one is nil.
func pastInstant(tx *db.Tx, name, s string) (*exact.Instant, error) {
	if s == "" {
		return nil, nil
	}
	at, ok := exact.ParseInstant(s)
	if !ok {
		d, isDay := exact.ParseDay(s)
		if !isDay {
			return nil, fault.Invalidf("%s: %s is not a moment; it takes RFC 3339 (2026-11-20T21:05:00Z) or a day (2026-11-20)", name, schema.Quote(s))
		}
		at = exact.InstantOf(d.Time(tx.Zone()))
	}
	if at > tx.Now() {
		return nil, fault.Invalidf("%s: %v is in the future; it takes a moment up to now, %v", name, at, tx.Now())
	}
	return &at, nil
}

// putWorkOrder makes the order that the row says, or makes of the one that it names
// what it says.
func putWorkOrder(tx *db.Tx, row *schema.Form, o orderRow) error {
	created, err := pastInstant(tx, "created_at", o.createdAt)
	if err != nil {
		return err
	}
	completed, err := pastInstant(tx, "completed_at", o.completedAt)
	if err != nil {
		return err
	}
	if o.id != 0 {
		held, found, err := lookWorkOrder(&tx.Conn, o.id)
		if err != nil {
			return err
		}
		if found {
			return editWorkOrder(tx, row, held, o, created, completed)
		}
	}
	return newWorkOrder(tx, o, created, completed)
}

// newWorkOrder makes an order by a row, in whatever state it arrives.
func newWorkOrder(tx *db.Tx, o orderRow, created, completed *exact.Instant) error {
	if o.id > maxID {
		return fault.Invalidf("id: %d is out of range; a new order takes an id up to %d, or none", o.id, int64(maxID))
	}
	if err := o.check(); err != nil {
		return err
	}
	if o.tag == "" {
		return fault.Invalidf("asset_tag is empty: a new work order needs its asset")
	}
	a, err := assetByTag(&tx.Conn, o.tag)
	if err != nil {
		return err
	}
	// An order with its id and the moment when it was made comes from an export: it was
	// opened before the asset was retired.
	if there := o.id != 0 && created != nil; !closed(o.status) && !there {
		if err := a.takesWork("asset_tag"); err != nil {
			return err
		}
	}
	if err := (Move{Status: o.status, Resolution: o.resolution}).unresolved(); err != nil {
		return err
	}
	if created == nil {
		created = new(tx.Now())
	}
	if completed, err = completion(o.status, created, completed, tx.Now()); err != nil {
		return err
	}
	id, err := tx.Insert(`INSERT INTO work_orders (id, asset_id, description, priority, wo_type, status, assigned_to, labor_minutes, labor_rate_cents,
		typed_cents, downtime_minutes, resolution, created_by, created_at, completed_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, CASE WHEN ? THEN (SELECT labor_rate_cents FROM maintenance_settings) END, ?, ?, ?, ?, ?, ?, ?)`,
		orNoID(o.id), a.ID, o.Description, o.Priority, o.Type, o.status, orNil(o.AssignedTo), o.LaborMinutes, closed(o.status),
		o.TypedCents, o.DowntimeMinutes, orNil(o.resolution), tx.Who().User, created, completed, tx.Now())
	if err != nil {
		return err
	}
	if !closed(o.status) {
		_, err := opened(tx, id)
		return err
	}
	wo, err := findWorkOrder(&tx.Conn, id)
	if err != nil {
		return err
	}
	return auditNewOrder(tx, wo)
}

// completion is when an order was completed: for a done one as given, or now; none
// for any other.
func completion(status string, created, completed *exact.Instant, now exact.Instant) (*exact.Instant, error) {
	switch {
	case status != "done" && completed != nil:
		return nil, fault.Invalidf("completed_at: a work order that is %s has none; only done ones have", status)
	case status != "done":
		return nil, nil
	case completed == nil:
		return &now, nil
	case *completed < *created:
		return nil, fault.Invalidf("completed_at: %v is before created_at, %v", *completed, *created)
	}
	return completed, nil
}

// editWorkOrder makes of an order what a row says: its fields first, then its move.
func editWorkOrder(tx *db.Tx, row *schema.Form, held WorkOrder, o orderRow, created, completed *exact.Instant) error {
	if err := keepsAsset(&tx.Conn, held, o.tag); err != nil {
		return err
	}
	wants := held.Status
	if row.Given("status") {
		wants = o.status
	}
	if wants != held.Status {
		if err := workOrderMoves.Check("work order", held.Status, wants); err != nil {
			return err
		}
		if err := (Move{Status: wants, Resolution: o.resolution}).unresolved(); err != nil {
			return err
		}
	}
	if created == nil {
		created = &held.CreatedAt
	}
	if completed == nil && wants == held.Status {
		completed = held.CompletedAt
	}
	completed, err := completion(wants, created, completed, tx.Now())
	if err != nil {
		return err
	}
	now := held
	if wants == held.Status {
		now.CompletedAt = completed
	}
	now.CreatedAt = *created
	if err := editFields(tx, row, held, now, o); err != nil || wants == held.Status {
		return err
	}
	at := tx.Now()
	if completed != nil {
		at = *completed
	}
	_, err = move(tx, held, Move{ID: held.ID, Status: wants, Resolution: o.resolution}, at)
	return err
}

// keepsAsset refuses to give an order to another asset.
func keepsAsset(c *db.Conn, held WorkOrder, tag string) error {
	if tag == "" {
		return nil
	}
	a, err := assetByTag(c, tag)
	if err == nil && a.ID != held.AssetID {
		err = fault.Invalidf("asset_tag: work order %d belongs to another asset (%s), and an order keeps its asset", held.ID, held.Asset)
	}
	return err
}

// editFields lays the row's fields over the order; now holds its times already.
func editFields(tx *db.Tx, row *schema.Form, held, now WorkOrder, o orderRow) error {
	if !row.Given("description") {
		o.Description = held.Description
	}
	if err := o.check(); err != nil {
		return err
	}
	e := newEdit(row)
	set(e, "description", &now.Description, o.Description)
	set(e, "priority", &now.Priority, o.Priority)
	set(e, "wo_type", &now.Type, o.Type)
	setPtr(e, "assigned_to", &now.AssignedTo, orNil(o.AssignedTo))
	set(e, "labor_minutes", &now.LaborMinutes, o.LaborMinutes)
	set(e, "parts_cost", &now.PartsCost, exact.Decimal{Unscaled: o.TypedCents, Places: 2})
	set(e, "downtime_minutes", &now.DowntimeMinutes, o.DowntimeMinutes)
	setPtr(e, "resolution", &now.Resolution, orNil(o.resolution))
	if held.Status == "done" && now.Resolution == nil {
		return fault.Invalidf("resolution is empty: a work order that is done keeps one")
	}
	if now.CreatedAt != held.CreatedAt {
		e.changes["created_at"] = [2]any{held.CreatedAt, now.CreatedAt}
	}
	if now.CompletedAt != nil && *now.CompletedAt != *held.CompletedAt {
		e.changes["completed_at"] = [2]any{held.CompletedAt, now.CompletedAt}
	}
	if e.nothing() {
		return nil
	}
	if now.Description != held.Description {
		e.changes["description"] = [2]any{short(held.Description), short(now.Description)}
	}
	if _, changed := e.changes["resolution"]; changed {
		e.changes["resolution"] = [2]any{short(cell(held.Resolution)), short(cell(now.Resolution))}
	}
	if _, err := tx.Exec(`UPDATE work_orders SET description = ?, priority = ?, wo_type = ?, assigned_to = ?, labor_minutes = ?, typed_cents = ?,
		downtime_minutes = ?, resolution = ?, created_at = ?, completed_at = ?, updated_at = ? WHERE id = ?`,
		now.Description, now.Priority, now.Type, now.AssignedTo, now.LaborMinutes, now.PartsCost.Unscaled,
		now.DowntimeMinutes, now.Resolution, now.CreatedAt, now.CompletedAt, tx.Now(), held.ID); err != nil {
		return err
	}
	return tx.Audit("workorder.changed", subject("work_order", held.ID), e.changes)
}
