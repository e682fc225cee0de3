package maintenance

import (
	"fmt"
	"maps"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
)

// Finish is the work on finished jobs: time, parts and resolution. Steps are ticked first, for a single job.
type Finish struct {
	Move
	Took  OrderChange
	Steps []int64
}

// finishWorkOrders finishes many jobs, each separately: an open one is started first, so that its history has two
// moves. One that cannot be finished is named and the others continue.
func finishWorkOrders(tx *db.Tx, all Finish, m marked) (done Moved, err error) {
	all.Status = "done"
	rate, err := laborRate(&tx.Conn)
	if err != nil {
		return done, err
	}
	done.Moved, done.Refused, err = m.each(tx, func(id int64) (WorkOrder, error) { return finish(tx, all, id) })
	done.Unpriced = rate == 0 && slices.ContainsFunc(done.Moved, func(wo WorkOrder) bool { return wo.LaborMinutes > 0 })
	return done, err
}

func finish(tx *db.Tx, all Finish, id int64) (wo WorkOrder, err error) {
	if wo, err = findWorkOrder(&tx.Conn, id); err != nil {
		return wo, err
	}
	for _, step := range all.Steps {
		if _, err := tickStep(tx, Tick{ID: id, Step: step, Done: true}); err != nil {
			return wo, err
		}
	}
	if wo.Status == "open" {
		if _, err := moveWorkOrder(tx, Move{ID: id, Status: "in-progress"}); err != nil {
			return wo, err
		}
	}
	all.ID, all.Took.ID = id, id
	return advance(tx, all.Move, all.Took)
}

func (s *Service) finishWorkOrders() schema.Op {
	return schema.Op{
		Name: "finish_workorders",
		About: "Finish work orders, with what was done, minutes and parts. Open ones are started first. " +
			"Refused ones are named with the reason; the others are finished.",
		Writes: true,
		Response: Moved{Moved: []WorkOrder{sampleDone},
			Refused: []RefusedOrder{{ID: 14, Reason: "there is no work order 14"}}},
		Bind: schema.Writes2(s.db, func(f *schema.Form, all *Finish, m *marked) {
			m.bind(f)
			f.Text(&all.Resolution, "resolution", "for each of them", schema.Required, schema.Most(maxText), schema.Lines,
				schema.Label("What was done"))
			all.Took.Sent = workOrders.Form(f, &all.Took.WorkOrder, false, nil, "labor_minutes", "parts_cost",
				"downtime_minutes")
			f.IDs(&all.Steps, "step", "done steps of the check list, for a single work order", maxSteps,
				schema.Label("Done steps of one work order"), schema.Rare)
			f.Text(&all.SkipSteps, "skip_steps",
				"why the other steps of the check list are skipped", schema.Most(maxText), schema.Label("Why steps are skipped"))
			if len(all.Steps) > 0 && len(m.IDs) != 1 {
				f.Refuse("step", "step: tick steps of one work order at a time")
			}
			m.Whole = f.Surface() == schema.Page && len(m.IDs) == 1
		}, finishWorkOrders),
		Example: "maintenance finish 12 14 --resolution \"Filters changed\" --labor-minutes 30",
		Print:   schema.Printed(printMoved),
		Did:     schema.Said(didMove),
		Undo: func(answer any) *schema.Undo {
			if m := answer.(Moved); len(m.Moved) == 1 {
				return moveBack(m.Moved[0], "open", "Reopen it")
			}
			return nil
		},
		Leads: leadsToMoved,
	}
}

// leadsToMoved is the order's page if one was moved, else the list.
func leadsToMoved(answer any) string {
	if m := answer.(Moved); len(m.Moved) == 1 && len(m.Refused) == 0 {
		return orderPage(m.Moved[0].ID)
	}
	return "/work-orders"
}

// Edited is the result of changing many work orders, order by order.
type Edited struct {
	Changed []WorkOrder    `json:"changed"`
	Refused []RefusedOrder `json:"refused"`
}

// Refusals names the refused ones, which fails the command.
func (e Edited) Refusals() ([]string, error) {
	return Moved{Moved: e.Changed, Refused: e.Refused}.Refusals()
}

// Left are the refused ones.
func (e Edited) Left() []string { return Moved{Refused: e.Refused}.Left() }

// editWorkOrders changes many work orders, each separately.
func editWorkOrders(tx *db.Tx, ch OrderChange, m marked) (done Edited, err error) {
	done.Changed, done.Refused, err = m.each(tx, func(id int64) (wo WorkOrder, err error) {
		if wo, err = findWorkOrder(&tx.Conn, id); err != nil {
			return wo, err
		}
		one := ch
		one.ID = id
		return changeFields(tx, wo, one)
	})
	return done, err
}

func (s *Service) editWorkOrders() schema.Op {
	return schema.Op{
		Name:   "edit_workorders",
		About:  "Assign work orders, or set their due day or priority. Refused ones are named with the reason.",
		Writes: true, Idempotent: true,
		Response: Edited{Changed: []WorkOrder{sampleOrder},
			Refused: []RefusedOrder{{ID: 14, Reason: "there is no work order 14"}}},
		Bind: schema.Writes2(s.db, func(f *schema.Form, ch *OrderChange, m *marked) {
			m.bind(f)
			ch.Sent = workOrders.Form(f, &ch.WorkOrder, f.Surface() != schema.Page, nil, "assigned_to", "due_date", "priority")
			if !f.Describing() && !slices.Contains(slices.Collect(maps.Values(ch.Sent)), true) {
				f.Refuse("assigned_to", "give an assignee, a due day or a priority")
			}
		}, editWorkOrders),
		Example: "maintenance assign 12 14 --assigned-to Ana --due-date 2026-12-01",
		Did: func(answer any, _ schema.Money) string {
			switch e := answer.(Edited); len(e.Changed) {
			case 0:
				return "No work order was changed."
			case 1:
				return fmt.Sprintf("Work order %d is changed.", e.Changed[0].ID)
			default:
				return fmt.Sprintf("%d work orders are changed.", len(e.Changed))
			}
		},
		Leads: func(any) string { return "/work-orders" },
	}
}
