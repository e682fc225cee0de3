package maintenance

import (
	"fmt"
	"io"
	"strconv"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// Opened is the result of opening jobs of plans, plan by plan.
type Opened struct {
	Opened  []WorkOrder   `json:"opened"`
	Refused []RefusedPlan `json:"refused"`
}

// RefusedPlan is a plan without a new job, and why.
type RefusedPlan struct {
	PMID   int64  `json:"pm_id"`
	Plan   string `json:"plan"`
	Reason string `json:"reason"`
}

// Refusals names the refused ones, which fails the command.
func (o Opened) Refusals() (refused []string, err error) {
	for _, r := range o.Refused {
		refused = append(refused, r.Plan+": "+r.Reason)
	}
	return schema.SomeRefused(refused, len(o.Refused)+len(o.Opened), "plans")
}

// Left are the refused plans: they stay marked.
func (o Opened) Left() (ids []string) {
	for _, r := range o.Refused {
		ids = append(ids, strconv.FormatInt(r.PMID, 10))
	}
	return ids
}

// openDue opens a job of each plan, with the plan's title and check list, and of wo its assignee and due day. A plan
// with an unfinished job is refused and named.
func openDue(tx *db.Tx, plans []int64, wo WorkOrder) (done Opened, err error) {
	done.Refused = []RefusedPlan{}
	name := ""
	done.Opened, err = schema.EachOf(tx, plans, false, func(id int64) (WorkOrder, error) {
		name = fmt.Sprintf("plan %d", id)
		p, err := findPlan(&tx.Conn, id)
		if err != nil {
			return wo, err
		}
		name = p.Title
		if err := hasNoJob(&tx.Conn, id); err != nil {
			return wo, err
		}
		job := newWorkOrder()
		job.AssetID, job.PMID, job.Description, job.Type = p.AssetID, &p.ID, p.Title, "preventive"
		job.AssignedTo, job.DueDate = wo.AssignedTo, wo.DueDate
		return openWorkOrder(tx, job)
	}, func(id int64, reason string) {
		done.Refused = append(done.Refused, RefusedPlan{PMID: id, Plan: name, Reason: reason})
	})
	return done, err
}

// hasNoJob refuses a second unfinished job of a plan.
func hasNoJob(c *db.Conn, plan int64) error {
	job, found, err := db.One(c, scanCalled, `SELECT id, CASE status WHEN 'open' THEN 'open' ELSE 'in progress' END
		FROM work_orders
		WHERE pm_id = ? AND status IN ('open', 'in-progress') ORDER BY id LIMIT 1`, plan)
	if err == nil && found {
		err = fault.Conflictf("Job %d is %s for this plan; finish it or change it", job.id, job.name)
	}
	return err
}

func (s *Service) openDue() schema.Op {
	return schema.Op{
		Name:   "open_due_workorders",
		About:  "Open one job for each plan. A plan with an unfinished job is refused and named.",
		Writes: true,
		Response: Opened{Opened: []WorkOrder{sampleOrder},
			Refused: []RefusedPlan{{PMID: 3, Plan: "Change the oil",
				Reason: "Job 8 is open for this plan; finish it or change it"}}},
		Bind: schema.Writes2(s.db, func(f *schema.Form, plans *[]int64, wo *WorkOrder) {
			f.IDs(plans, "plan_id", "the plans", maxBulk, schema.Required, schema.Positional("PLAN"), schema.Lookup(planNamed),
				schema.Label("Plans"))
			workOrders.Form(f, wo, false, nil, "assigned_to", "due_date")
		}, openDue),
		Example: "maintenance open-due \"LATHE-1/Change the oil\" 4 --assigned-to Ana --due-date 2026-12-01",
		Print: func(w io.Writer, answer any) {
			for _, wo := range answer.(Opened).Opened {
				fmt.Fprintf(w, "%d: %s, %s\n", wo.ID, wo.Asset, firstLine(wo.Description))
			}
		},
		Did: schema.Said(func(o Opened) string {
			switch len(o.Opened) {
			case 0:
				return "No job was opened."
			case 1:
				return fmt.Sprintf("Job %d is open: %s, %s.", o.Opened[0].ID, o.Opened[0].Asset, firstLine(o.Opened[0].Description))
			}
			return fmt.Sprintf("%d jobs are open: %d to %d.", len(o.Opened), o.Opened[0].ID, o.Opened[len(o.Opened)-1].ID)
		}),
		Leads: func(any) string { return "/pm-due" },
	}
}
