package maintenance

import (
	"slices"
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
	Fields
	id                     int64
	tag                    string
	status, resolution     string
	createdAt, completedAt string
	steps                  []Step
}

// workOrderTable is the work orders as CSV.
func (s *Service) workOrderTable() schema.Table {
	return schema.Table{
		Name: "work-orders",
		About: "Work orders, one row each. A row without an id, or with one that is free, is a new order: one that is not done or cancelled is opened like any other, " +
			"one that is arrives as history, without an event. A changed status is a move like any other.",
		Row: func(f *schema.Form) schema.Put {
			o := orderRow{status: "open", Fields: Fields{Priority: "medium", Type: "corrective"}}
			f.ID(&o.id, "id", "identifies the order; empty for a new one")
			f.Text(&o.tag, "asset_tag", "the asset; an order keeps its own", schema.Most(maxName))
			bindDescription(f, &o.Description)
			bindPriority(f, &o.Priority, "how pressing it is")
			bindType(f, &o.Type)
			bindStatus(f, &o.status, "where it stands")
			bindAssignee(f, &o.AssignedTo)
			bindEffort(f, &o.Fields, sent{})
			f.Text(&o.resolution, "resolution", "what was done; needed for done", schema.Most(maxText), schema.Lines)
			f.Text(&o.createdAt, "created_at", "RFC 3339 or a day; now when empty", schema.Most(40))
			f.Text(&o.completedAt, "completed_at", "RFC 3339 or a day, for done orders only; now when empty", schema.Most(40))
			bindDue(f, &o.DueDate)
			bindSteps(f, &o.steps)
			return schema.Untold(func(tx *db.Tx) error { return putWorkOrder(tx, f, o) })
		},
		Export: func(c *db.Conn, emit func(cells ...string) error) error {
			return db.Each(c, func(r *db.Row) error {
				return emit(scanWorkOrder(r).Cells()...)
			}, "SELECT "+workOrderColumns+" FROM work_orders w CROSS JOIN assets a ON a.id = w.asset_id ORDER BY w.id")
		},
	}
}

// Cells is the order as a row of the table's export.
func (wo WorkOrder) Cells() []string {
	return []string{strconv.FormatInt(wo.ID, 10), wo.tag, wo.Description, wo.Priority, wo.Type, wo.Status, cell(wo.AssignedTo),
		strconv.FormatInt(wo.LaborMinutes, 10), wo.PartsCost.String(), strconv.FormatInt(wo.DowntimeMinutes, 10), cell(wo.Resolution),
		wo.CreatedAt.String(), cellOf(wo.CompletedAt), cellOf(wo.DueDate), stepsCell(wo.Checklist)}
}

// OrderColumns are the columns of Cells.
func OrderColumns() []string { return columnsOf((&Service{}).workOrderTable()) }

// bindSteps binds a check list as a cell holds it.
func bindSteps(f *schema.Form, p *[]Step) {
	var cell string
	if f.Text(&cell, "checklist", "one step a line, [x] before a done one", schema.Most(maxSteps*(maxStepText+len(doneSign)+1)), schema.Lines) {
		steps, err := stepsOf(cell)
		if err != nil {
			f.Refuse("checklist", "%s", err)
		}
		*p = steps
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
	made := orderRecord{Fields: o.Fields, id: o.id, assetID: a.ID, status: o.status, resolution: o.resolution, steps: o.steps,
		source: "import", created: *created, completed: completed}
	if closed(o.status) {
		_, err = filed(tx, made)
	} else {
		_, err = opened(tx, made)
	}
	return err
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
	e := newEdit(row.Given)
	created, completed := now.CreatedAt, now.CompletedAt
	now = o.over(e, now)
	setPtr(e, "resolution", &now.Resolution, db.NullText(o.resolution))
	if row.Given("checklist") && !slices.Equal(o.steps, held.Checklist) {
		e.changes["checklist"] = [2]any{stepsCell(held.Checklist), stepsCell(o.steps)}
		now.Checklist = o.steps
	}
	if held.Status == "done" && now.Resolution == nil {
		return fault.Fieldf("resolution", "resolution is empty: a work order that is done keeps one")
	}
	if created != held.CreatedAt {
		e.changes["created_at"] = [2]any{held.CreatedAt, created}
	}
	if completed != nil && *completed != *held.CompletedAt {
		e.changes["completed_at"] = [2]any{held.CompletedAt, completed}
	}
	if err := e.mayChange(held); err != nil {
		return err
	}
	if e.nothing() {
		return nil
	}
	return storeEdit(tx, e, held, now)
}
