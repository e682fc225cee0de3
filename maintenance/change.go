package maintenance

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// OrderChange edits a work order: of Fields those that Sent names. A field that may be
// unset and is empty is cleared.
type OrderChange struct {
	ID   int64
	Sent map[string]bool // "description", "priority", "wo_type", "assigned_to", "labor_minutes", "parts_cost", "downtime_minutes", "due_date"
	Fields
}

// EditWorkOrder changes the fields that are sent; what is equal is no change. On an
// order that is done what moves its cost is 422, on a cancelled one everything; an
// unknown order is 404.
func (s *Service) EditWorkOrder(ctx context.Context, who db.Caller, ch OrderChange) (WorkOrder, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (none WorkOrder, err error) {
		held, found, err := lookWorkOrder(&tx.Conn, ch.ID)
		if err != nil {
			return none, err
		}
		if !found { // fields that are wrong come before a record that is missing
			ch.keepUnsent(held)
			if err := ch.check(); err != nil {
				return none, err
			}
			return none, noWorkOrder(ch.ID)
		}
		return changeFields(tx, held, ch)
	})
}

// changeFields carries out an edit of an order that is there.
func changeFields(tx *db.Tx, held WorkOrder, ch OrderChange) (none WorkOrder, err error) {
	ch.keepUnsent(held)
	if err := ch.check(); err != nil {
		return none, err
	}
	e := newEdit(func(column string) bool { return ch.Sent[column] })
	now := ch.over(e, held)
	if err := e.mayChange(held); err != nil {
		return none, err
	}
	if e.nothing() {
		return held, nil
	}
	if err := storeEdit(tx, e, held, now); err != nil {
		return none, err
	}
	return findWorkOrder(&tx.Conn, held.ID)
}

// keepUnsent fills the fields that check would refuse when they are empty.
func (ch *OrderChange) keepUnsent(held WorkOrder) {
	if !ch.Sent["description"] {
		ch.Description = cmpOr(held.Description, "-")
	}
}

func cmpOr(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// over lays the fields over an order.
func (n *Fields) over(e *edit, now WorkOrder) WorkOrder {
	set(e, "description", &now.Description, n.Description)
	set(e, "priority", &now.Priority, n.Priority)
	set(e, "wo_type", &now.Type, n.Type)
	setPtr(e, "assigned_to", &now.AssignedTo, db.NullText(n.AssignedTo))
	set(e, "labor_minutes", &now.LaborMinutes, n.LaborMinutes)
	set(e, "parts_cost", &now.PartsCost, exact.Decimal{Unscaled: n.TypedCents, Places: 2})
	set(e, "downtime_minutes", &now.DowntimeMinutes, n.DowntimeMinutes)
	setPtr(e, "due_date", &now.DueDate, n.DueDate)
	return now
}

// mayChange refuses changes that the order's state forbids: of a done one what moves its
// cost, of a cancelled one everything.
func (e *edit) mayChange(held WorkOrder) error {
	switch {
	case held.Status == "cancelled" && !e.nothing():
		return fault.Invalidf("work order %d is cancelled and stays as it is: %s cannot be changed", held.ID, strings.Join(e.columns(), ", ")).At(e.columns()...)
	case held.Status != "done":
		return nil
	}
	if _, moves := e.changes["checklist"]; moves {
		return fault.Fieldf("checklist", "checklist: work order %d is done and its check list stands; reopen it first", held.ID)
	}
	for _, column := range []string{"labor_minutes", "parts_cost"} {
		if _, moves := e.changes[column]; moves {
			return fault.Fieldf(column, "%s: work order %d is done and its cost stands; reopen it first", column, held.ID)
		}
	}
	return nil
}

// storeEdit writes what was changed of an order, with its audit entry.
func storeEdit(tx *db.Tx, e *edit, held, now WorkOrder) error {
	if now.Description != held.Description {
		e.changes["description"] = [2]any{short(held.Description), short(now.Description)}
	}
	if _, changed := e.changes["resolution"]; changed {
		e.changes["resolution"] = [2]any{short(cell(held.Resolution)), short(cell(now.Resolution))}
	}
	now.UpdatedAt = tx.Now()
	if err := tx.UpdateRow("work_orders", held.ID, orderSets, now.sets()...); err != nil {
		return err
	}
	return tx.Audit("workorder.changed", db.Subject("work_order", held.ID), e.changes)
}

func (s *Service) editWorkOrder() schema.Op {
	return schema.Op{
		Name: "edit_workorder",
		About: "Change a work order: only what is sent, null clears assigned_to and due_date. " +
			"On a done order what moves its cost is refused (reopen it first), on a cancelled one everything is.",
		Writes: true, Idempotent: true, Response: sampleOrder,
		Bind: func(f *schema.Form) schema.Handler {
			ch := OrderChange{Sent: sent{}}
			var nobody, noDay bool
			f.ID(&ch.ID, "id", "the work order", schema.InPath("id"), orderPositional)
			ch.Sent["description"] = bindDescription(f, &ch.Description)
			if ch.Description == "" && (ch.Sent["description"] || f.Surface() == schema.Page && f.Given("description")) {
				f.Refuse("description", "description is empty: a text is needed")
			}
			ch.Sent["priority"] = bindPriority(f, &ch.Priority, "how pressing it is; critical is read as urgent")
			ch.Sent["wo_type"] = bindType(f, &ch.Type)
			ch.Sent["assigned_to"] = bindAssignee(f, &ch.AssignedTo, schema.Clear(&nobody)) || nobody
			bindEffort(f, &ch.Fields, ch.Sent)
			ch.Sent["due_date"] = bindDue(f, &ch.DueDate, schema.Clear(&noDay)) || noDay
			return func(ctx context.Context, who db.Caller) (any, error) { return s.EditWorkOrder(ctx, who, ch) }
		},
		Fill:    fillOrder,
		Refuses: []fault.Kind{fault.NotFound},
		Example: "maintenance work-orders edit 12 --priority urgent --assigned-to Ana --due-date 2026-12-01\nmaintenance work-orders edit 12 --due-date \"\"",
		Did: func(answer any, _ schema.Money) string {
			wo := answer.(WorkOrder)
			return fmt.Sprintf("Work order %d is changed.", wo.ID)
		},
		Leads: leadsToOrder,
	}
}

// fillOrder returns the order that is edited, for the form.
func fillOrder(c *db.Conn, given map[string]string) (map[string]string, bool, error) {
	wo, found, err := lookWorkOrder(c, numberOf(strings.TrimPrefix(given["id"], "#")))
	if err != nil || !found {
		return nil, false, err
	}
	return map[string]string{"id": strconv.FormatInt(wo.ID, 10), "description": wo.Description, "priority": wo.Priority, "wo_type": wo.Type,
		"assigned_to": cell(wo.AssignedTo), "labor_minutes": strconv.FormatInt(wo.LaborMinutes, 10), "parts_cost": wo.PartsCost.String(),
		"downtime_minutes": strconv.FormatInt(wo.DowntimeMinutes, 10), "due_date": cellOf(wo.DueDate)}, true, nil
}
