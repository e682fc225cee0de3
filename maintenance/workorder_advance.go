package maintenance

import (
	"fmt"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Advanced is a work order after a move, with its plan's next due date.
type Advanced struct {
	WorkOrder
	PMNextDue *exact.Day `json:"pm_next_due,omitempty" about:"for agents: when the plan that the job serves is due next"`
}

// advanceWorkOrder moves a work order, as MoveWorkOrder does, and sets the job's minutes in the same step: before it is
// closed, or after it is reopened.
func advanceWorkOrder(tx *db.Tx, m Move, ch OrderChange) (none Advanced, err error) {
	if err := toPerson(&tx.Conn, ch.AssignedTo, ch.newPerson); err != nil {
		return none, err
	}
	wo, err := advance(tx, m, ch)
	if err != nil {
		return none, err
	}
	done := Advanced{WorkOrder: wo}
	if wo.PMID != nil && tx.Who().Via != "rest" { // over REST the answer equals the event's data: the order
		row, err := dueRow(&tx.Conn, *wo.PMID)
		if err != nil {
			return none, err
		}
		done.PMNextDue = row.NextDue
	}
	return done, nil
}

func advance(tx *db.Tx, m Move, ch OrderChange) (wo WorkOrder, err error) {
	held, found, err := lookWorkOrder(&tx.Conn, m.ID)
	if err != nil {
		return wo, err
	}
	sets := false
	for _, is := range ch.Sent {
		sets = sets || is
	}
	if !sets || !found || closed(held.Status) {
		if wo, err = moveWorkOrder(tx, m); err != nil || !sets {
			return wo, err
		}
		return changeFields(tx, wo, ch)
	}
	if err := workOrderMoves.Check("work order", held.Status, m.Status); err != nil {
		return wo, err
	}
	if _, err := changeFields(tx, held, ch); err != nil {
		return wo, err
	}
	return moveWorkOrder(tx, m)
}

func (s *Service) advanceStatus() schema.Op {
	return schema.Op{
		Name: "advance_status", Says: "Move a job", Overwrites: true,
		About: "Change a work order's status: " + workOrderMoves.Prose() + ". " +
			"done needs a resolution, and skip_steps while check list steps are open. Completing a plan's job restarts the " +
			"plan; pm_next_due is its next day.",
		Writes: true, Response: Advanced{WorkOrder: sampleDone},
		Bind: schema.Writes2(s.db, func(f *schema.Form, m *Move, ch *OrderChange) {
			bindJob(f, &m.ID, schema.InPath("id"), orderPositional)
			bindStatus(f, &m.Status, "the new status", schema.Required, schema.Example("done"), schema.Positional("STATUS"))
			f.Text(&m.Resolution, "resolution", "what was done; needed for done", schema.Most(maxText), schema.Lines,
				schema.Help("What was done. It is needed to mark the job as done."),
				schema.Example("Bearing replaced"))
			f.Text(&m.SkipSteps, "skip_steps", "why open steps of the check list are skipped", schema.Most(maxText),
				schema.Label("Why steps are skipped"), schema.Help("Needed where steps of the check list are open."))
			ch.Sent = workOrders.Form(f, &ch.WorkOrder, false, nil, "assigned_to", "labor_minutes", "parts_cost",
				"downtime_minutes")
			ch.newPerson = f.Surface() != schema.Tool
			bindNew(f, &ch.newPerson)
		}, advanceWorkOrder),
		Refuses: []fault.Kind{fault.NotFound},
		Example: "maintenance work-orders advance 12 done --resolution \"Bearing replaced\" --labor-minutes 90",
		Did: schema.SaidIn(func(a Advanced, m schema.Money) string {
			text := fmt.Sprintf("Work order %d is %s", a.ID, a.Status)
			if a.Status == "done" {
				text += ", at " + m(a.TotalCostCents)
			}
			if a.Status == "done" && a.PMNextDue != nil {
				text += "; its plan is due next on " + a.PMNextDue.String()
			}
			return text + "."
		}),
		Doubt: func(answer any, _ schema.Money) schema.Question {
			a := answer.(Advanced)
			if a.Status != "cancelled" {
				return schema.Question{}
			}
			return schema.Question{
				Title:  fmt.Sprintf("Cancel work order %d, %s: %s?", a.ID, a.Asset, firstLine(a.Description)),
				Button: "Cancel job",
				Text:   "A cancelled work order cannot be reopened. Its history is kept.",
			}
		},
		Leads: leadsToOrder,
		Undo: func(answer any) *schema.Undo {
			if a := answer.(Advanced); a.Status == "done" {
				return moveBack(a.WorkOrder, "open", "Reopen it")
			}
			return nil
		},
	}
}
