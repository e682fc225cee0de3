package maintenance

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
	"quartermaster/schema/record"
)

// OrderChange edits a work order: the columns of WorkOrder that Sent names. An empty optional one is cleared.
type OrderChange struct {
	WorkOrder
	Sent      map[string]bool
	newPerson bool // the assignee need not be known
}

// editWorkOrder changes the sent fields; equal ones are no change. On a done order a change of the cost is 422, on a
// cancelled one any change; an unknown order is 404.
func editWorkOrder(tx *db.Tx, ch OrderChange) (none WorkOrder, err error) {
	held, found, err := lookWorkOrder(&tx.Conn, ch.ID)
	if err != nil {
		return none, err
	}
	if !found { // wrong fields are refused before a missing record
		ch.keepUnsent(held)
		if err := ch.check(); err != nil {
			return none, err
		}
		return none, noWorkOrder(ch.ID)
	}
	return changeFields(tx, held, ch)
}

// changeFields carries out an edit of an order that is there.
func changeFields(tx *db.Tx, held WorkOrder, ch OrderChange) (none WorkOrder, err error) {
	ch.keepUnsent(held)
	if err := ch.check(); err != nil {
		return none, err
	}
	o, err := storeOrder(tx, held, ch.WorkOrder, func(column string) bool { return ch.Sent[column] })
	if err != nil || len(o.Fields) == 0 {
		return held, err
	}
	return findWorkOrder(&tx.Conn, held.ID)
}

// keepUnsent fills the fields that check would refuse when they are empty.
func (ch *OrderChange) keepUnsent(held WorkOrder) {
	if !ch.Sent["description"] {
		ch.Description = cmp.Or(held.Description, "-")
	}
}

// storeOrder applies the given fields of now to an order, if its state allows that.
func storeOrder(tx *db.Tx, held, now WorkOrder, given func(column string) bool) (schema.Outcome, error) {
	is := held
	if err := mayChange(held, workOrders.Edit(&is, now, given)); err != nil {
		return schema.Outcome{}, err
	}
	o, err := workOrders.Change(tx, held, now, given)
	if err != nil || schema.Cell(is.AssignedTo) == schema.Cell(held.AssignedTo) {
		return o, err
	}
	return o, notify(tx, held.AssignedTo, is, false)
}

// mayChange refuses changes that the order's state forbids: of the cost if done, all if cancelled.
func mayChange(held WorkOrder, changes record.Changes) error {
	switch {
	case held.Status == "cancelled" && len(changes) > 0:
		columns := slices.Sorted(maps.Keys(changes))
		return fault.Invalidf("work order %d is cancelled: %s cannot be changed", held.ID, strings.Join(columns,
			", ")).At(columns...)
	case held.Status != "done":
		return nil
	}
	if _, moves := changes["checklist"]; moves {
		return fault.Fieldf("checklist", "checklist: work order %d is done; to change its check list, reopen it first",
			held.ID)
	}
	for _, column := range []string{"labor_minutes", "parts_cost"} {
		if _, moves := changes[column]; moves {
			return fault.Fieldf(column, "%s: work order %d is done; to change its cost, reopen it first", column, held.ID)
		}
	}
	return nil
}

func (s *Service) editWorkOrder() schema.Op {
	return schema.Op{
		Name: "edit_workorder",
		About: "Change a work order: only the given fields; null clears assigned_to, due_date and requester_email. " +
			"A done order refuses changes of its cost (reopen it first); a cancelled one refuses all.",
		Writes: true, Idempotent: true, Response: sampleOrder,
		Bind: schema.Writes(s.db, func(f *schema.Form, ch *OrderChange) {
			f.ID(&ch.ID, "id", "the work order", schema.InPath("id"), orderPositional, schema.Choices(jobChoices))
			ch.Sent = workOrders.Form(f, &ch.WorkOrder, true, nil)
			if f.Surface() != schema.Page || mail.Offered(s.db) {
				bindRequester(f, ch)
			}
			if ch.Description == "" && (ch.Sent["description"] || f.Surface() == schema.Page && f.Given("description")) {
				f.Refuse("description", "description is empty: a text is needed")
			}
		}, editWorkOrder),
		Fill:    fillOrder,
		Refuses: []fault.Kind{fault.NotFound},
		Example: "maintenance work-orders edit 12 --priority urgent --assigned-to Ana --due-date 2026-12-01\nmaintenance " +
			"work-orders edit 12 --due-date \"\"",
		Did:   schema.Said(func(wo WorkOrder) string { return fmt.Sprintf("Work order %d is changed.", wo.ID) }),
		Leads: leadsToOrder,
	}
}

// fillOrder returns the order that is edited, for the form.
func fillOrder(c *db.Conn, given map[string]string) (map[string]string, bool, error) {
	wo, found, err := lookWorkOrder(c, numberOf(strings.TrimPrefix(given["id"], "#")))
	if err != nil || !found {
		return nil, false, err
	}
	texts := workOrders.Texts(wo)
	texts["requester_email"] = schema.Cell(wo.RequesterEmail)
	return texts, true, nil
}

// bindRequester binds the address to notify when the order is closed; an empty one is nobody.
func bindRequester(f *schema.Form, ch *OrderChange) {
	var email string
	var clear bool
	if f.Text(&email, "requester_email",
		"the requester, who is mailed when it is done or cancelled", schema.Most(254), schema.Clear(&clear),
		schema.Label("Requester's e-mail"), schema.Example("ann@example.com")) || clear {
		var err error
		if ch.RequesterEmail, err = requester("requester_email", email); err != nil {
			bad, _ := fault.As(err)
			f.Refuse("requester_email", "%s", bad.Fields[0].Detail)
		}
		ch.Sent["requester_email"] = true
	}
}
