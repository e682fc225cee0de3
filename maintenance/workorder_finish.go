package maintenance

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// Finish is the work on finished jobs: time, parts and resolution. Steps are ticked first, for a single job.
type Finish struct {
	Move
	Took  OrderChange
	Steps []int64
}

// FinishWorkOrders finishes many jobs, each separately: an open one is started first, so that its history has two
// moves. One that cannot be finished is named and the others continue.
func (s *Service) FinishWorkOrders(ctx context.Context, who db.Caller, all Finish, m marked) (Moved, error) {
	all.Status = "done"
	if err := all.check(); err != nil {
		return Moved{}, err
	}
	if err := all.unresolved(); err != nil {
		return Moved{}, err
	}
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (done Moved, err error) {
		rate, err := laborRate(&tx.Conn)
		if err != nil {
			return done, err
		}
		done.Moved, done.Refused, err = m.each(tx, func(id int64) (WorkOrder, error) { return finish(tx, all, id) })
		done.Unpriced = rate == 0 && slices.ContainsFunc(done.Moved, func(wo WorkOrder) bool { return wo.LaborMinutes > 0 })
		return done, err
	})
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

// marked are the work orders of a bulk action: the named ones, or all of the filters in the list's address.
type marked struct {
	ids   []int64
	match string
	whole bool // a refusal refuses all, so that the form of a single order comes back as it was sent
}

func (m *marked) bind(f *schema.Form) {
	some := f.IDs(&m.ids, "id", "the work orders", maxBulk, schema.AllowDuplicates, schema.Positional("ID"),
		schema.Usual, schema.Label("Work orders"),
		schema.Help("None is marked. Go back and mark them in the list of work orders, or write their numbers here."))
	if f.Surface() == schema.Page {
		f.Text(&m.match, "match", "instead of work orders: all that match these filters", schema.Label("All that match"),
			schema.Help("Filters of the list, in place of marked rows."))
	}
	if !f.Describing() && !some && m.match == "" {
		f.Refuse("id", "id is missing: mark at least one work order")
	}
}

// each does an action on each order separately and names the refused ones.
func (m marked) each(tx *db.Tx, act func(id int64) (WorkOrder, error)) (done []WorkOrder, refused []RefusedOrder,
	err error) {
	ids := m.ids
	if len(ids) == 0 && m.match != "" {
		f, err := ParseFilter(m.match)
		if err != nil {
			return nil, nil, err
		}
		if ids, err = f.ids(&tx.Conn); err != nil {
			return nil, nil, err
		}
	}
	done, refused = []WorkOrder{}, []RefusedOrder{}
	for _, id := range ids {
		err := tx.Try(func() error {
			wo, err := act(id)
			if err == nil {
				done = append(done, wo)
			}
			return err
		})
		if err == nil {
			continue
		}
		refusal, is := fault.As(err)
		if !is || m.whole || refusal.Kind == fault.Unavailable {
			return nil, nil, err
		}
		refused = append(refused, RefusedOrder{ID: id, Reason: refusal.Detail})
	}
	return done, refused, nil
}

// ids lists the orders of the filter, at most maxBulk.
func (f Filter) ids(c *db.Conn) ([]int64, error) {
	if err := f.resolve(c); err != nil {
		return nil, err
	}
	t := f.where(c)
	ids, err := db.All(c, db.Int, "SELECT w.id"+orderTables+t.sql()+" ORDER BY w.id LIMIT ?", append(t.args, maxBulk+1)...)
	if err == nil && len(ids) > maxBulk {
		err = fault.Invalidf("more than %d work orders match; narrow the filters", maxBulk)
	}
	return ids, err
}

func (s *Service) finishWorkOrders() schema.Op {
	return schema.Op{
		Name: "finish_workorders",
		About: "Finish work orders, with what was done, minutes and parts. Open ones are started first. " +
			"Refused ones are named with the reason; the others are finished.",
		Writes: true,
		Response: Moved{Moved: []WorkOrder{sampleDone},
			Refused: []RefusedOrder{{ID: 14, Reason: "there is no work order 14"}}},
		Bind: schema.Does2(func(f *schema.Form, all *Finish, m *marked) {
			m.bind(f)
			f.Text(&all.Resolution, "resolution", "for each of them", schema.Required, schema.Most(maxText), schema.Lines,
				schema.Label("What was done"))
			all.Took.Sent = workOrders.Form(f, &all.Took.WorkOrder, false, nil, "labor_minutes", "parts_cost",
				"downtime_minutes")
			f.IDs(&all.Steps, "step", "done steps of the check list, for a single work order", maxSteps,
				schema.Label("Done steps of one work order"), schema.Rare)
			f.Text(&all.SkipSteps, "skip_steps",
				"why the other steps of the check list are skipped", schema.Most(maxText), schema.Label("Why steps are skipped"))
			if len(all.Steps) > 0 && len(m.ids) != 1 {
				f.Refuse("step", "step: tick steps of one work order at a time")
			}
			m.whole = f.Surface() == schema.Page && len(m.ids) == 1
		}, s.FinishWorkOrders),
		Example: "maintenance finish 12 14 --resolution \"Filters changed\" --labor-minutes 30",
		Print: func(w io.Writer, answer any) {
			for _, wo := range answer.(Moved).Moved {
				fmt.Fprintf(w, "%d: %s\n", wo.ID, wo.Status)
			}
		},
		Did: schema.Said(didMove),
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

func (s *Service) editWorkOrders() schema.Op {
	return schema.Op{
		Name:   "edit_workorders",
		About:  "Assign work orders, or set their due day or priority. Refused ones are named with the reason.",
		Writes: true, Idempotent: true,
		Response: Edited{Changed: []WorkOrder{sampleOrder},
			Refused: []RefusedOrder{{ID: 14, Reason: "there is no work order 14"}}},
		Bind: func(f *schema.Form) schema.Handler {
			var ch OrderChange
			var m marked
			m.bind(f)
			ch.Sent = workOrders.Form(f, &ch.WorkOrder, f.Surface() != schema.Page, nil, "assigned_to", "due_date", "priority")
			if !f.Describing() && !slices.Contains(slices.Collect(maps.Values(ch.Sent)), true) {
				f.Refuse("assigned_to", "give an assignee, a due day or a priority")
			}
			return func(ctx context.Context, who db.Caller) (any, error) {
				return db.Update(ctx, s.db, who, func(tx *db.Tx) (done Edited, err error) {
					done.Changed, done.Refused, err = m.each(tx, func(id int64) (wo WorkOrder, err error) {
						if wo, err = findWorkOrder(&tx.Conn, id); err != nil {
							return wo, err
						}
						one := ch
						one.ID = id
						return changeFields(tx, wo, one)
					})
					return done, err
				})
			}
		},
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
