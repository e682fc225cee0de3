package maintenance

import (
	"context"
	"fmt"
	"io"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
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
	refused = []string{}
	for _, r := range o.Refused {
		refused = append(refused, fmt.Sprintf("%s: %s", r.Plan, r.Reason))
	}
	if len(refused) > 0 {
		err = fmt.Errorf("%d of %d plans were refused", len(o.Refused), len(o.Refused)+len(o.Opened))
	}
	return refused, err
}

// OpenDue opens a job of each plan, with the plan's title and check list. A plan with an unfinished job is refused and
// named.
func (s *Service) OpenDue(ctx context.Context, who db.Caller, plans []int64, assignedTo *string, due *exact.Day) (
	Opened, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (Opened, error) {
		done := Opened{Opened: []WorkOrder{}, Refused: []RefusedPlan{}}
		for _, id := range plans {
			name := fmt.Sprintf("plan %d", id)
			err := tx.Try(func() error {
				p, err := findPlan(&tx.Conn, id)
				if err != nil {
					return err
				}
				name = p.Title
				if err := hasNoJob(&tx.Conn, id); err != nil {
					return err
				}
				wo := newWorkOrder()
				wo.AssetID, wo.PMID, wo.Description, wo.Type, wo.AssignedTo, wo.DueDate = p.AssetID, &p.ID, p.Title, "preventive",
					assignedTo, due
				opened, err := openWorkOrder(tx, wo)
				if err == nil {
					done.Opened = append(done.Opened, opened)
				}
				return err
			})
			if err == nil {
				continue
			}
			refusal, is := fault.As(err)
			if !is || refusal.Kind == fault.Unavailable {
				return Opened{}, err
			}
			done.Refused = append(done.Refused, RefusedPlan{PMID: id, Plan: name, Reason: refusal.Detail})
		}
		return done, nil
	})
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
		Bind: func(f *schema.Form) schema.Handler {
			var plans []int64
			var wo WorkOrder
			f.IDs(&plans, "plan_id", "the plans", maxBulk, schema.Required, schema.Positional("PLAN"), schema.Lookup(planNamed),
				schema.Label("Plans"))
			workOrders.Form(f, &wo, false, nil, "assigned_to", "due_date")
			return func(ctx context.Context, who db.Caller) (any, error) {
				return s.OpenDue(ctx, who, plans, wo.AssignedTo, wo.DueDate)
			}
		},
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
