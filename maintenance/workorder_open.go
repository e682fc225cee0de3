package maintenance

import (
	"fmt"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// openWorkOrder opens a work order on an asset: of wo the fields that people set, its asset, its plan and its check
// list, by default that of the plan. An unknown asset is 404; a retired one, and a plan that is paused or not the
// asset's, are 422.
func openWorkOrder(tx *db.Tx, wo WorkOrder) (none WorkOrder, err error) {
	if err := wo.check(); err != nil {
		return none, err
	}
	steps, err := checkSteps("checklist", stepTexts(wo.Checklist))
	if err != nil {
		return none, err
	}
	a, err := assets.ByID(&tx.Conn, wo.AssetID)
	if err != nil {
		return none, err
	}
	if err := a.takesWork("asset_id"); err != nil {
		return none, err
	}
	p, err := planOf(&tx.Conn, idOf(wo.PMID), wo.AssetID)
	if err != nil {
		return none, err
	}
	if len(steps) == 0 {
		steps = p.Checklist
	}
	wo.Status, wo.Checklist, wo.CreatedAt = "open", openSteps(steps), tx.Now()
	wo.Source = db.NullText(sourceOf(tx.Who().Via))
	return opened(tx, wo)
}

// idOf is an optional reference; 0 is none.
func idOf(id *int64) int64 {
	if id == nil {
		return 0
	}
	return *id
}

// sourceOf is the origin of an order, by the interface of its author.
func sourceOf(via string) string {
	switch via {
	case "rest":
		return "api"
	case "mcp":
		return "agent"
	}
	return via
}

// opened stores a new order that is open or in progress, with audit entry and event.
func opened(tx *db.Tx, wo WorkOrder) (WorkOrder, error) {
	wo, err := filed(tx, wo)
	if err != nil {
		return wo, err
	}
	if err := notify(tx, nil, wo, true); err != nil {
		return wo, err
	}
	return wo, tx.Emit("workorder.created", wo)
}

// filed stores a new order with its audit entry only, as history. A closed one keeps today's rate.
func filed(tx *db.Tx, wo WorkOrder) (none WorkOrder, err error) {
	wo.CreatedBy = tx.Who().User
	if wo.Source != nil && !isSource(*wo.Source) {
		wo.Source = nil
	}
	if closed(wo.Status) {
		rate, err := laborRate(&tx.Conn)
		if err != nil {
			return none, err
		}
		wo.rate.fixed = &rate
	}
	o, err := workOrders.Create(tx, &wo)
	if err != nil {
		return none, err
	}
	return findWorkOrder(&tx.Conn, o.ID)
}

// planOf is the asset's plan of a new job; plan 0 is none. One of another asset, or a paused one, is refused.
func planOf(c *db.Conn, pmID, assetID int64) (none plan, err error) {
	if pmID == 0 {
		return none, nil
	}
	p, is, err := plans.One(c, "WHERE p.id = ? AND p.asset_id = ?", pmID, assetID)
	switch {
	case err != nil:
		return none, err
	case is && p.Paused:
		return none, fault.Fieldf("pm_id", "pm_id: the plan %d (%s) is paused; resume it first", p.ID, p.Title)
	case is:
		return p, nil
	}
	others, err := db.All(c, func(r *db.Row) string { return fmt.Sprintf("%d (%s)", r.Int(), r.Text()) },
		"SELECT id, title FROM pm_plans WHERE asset_id = ? ORDER BY title", assetID)
	if err != nil {
		return none, err
	}
	if len(others) == 0 {
		return none, fault.Fieldf("pm_id", "pm_id: %d is not a plan of asset %d, which has none; leave pm_id out", pmID,
			assetID)
	}
	return none, fault.Fieldf("pm_id", "pm_id: %d is not a plan of asset %d; its plans are %s", pmID, assetID,
		strings.Join(others, ", "))
}

// newJob is a work order to open: again although its plan has an unfinished one. An agent's assignee is known, or is a
// newPerson; for all others any name may be.
type newJob struct {
	WorkOrder
	agents, again, newPerson bool
}

func openNew(tx *db.Tx, n newJob) (none WorkOrder, err error) {
	if err := toPerson(&tx.Conn, n.AssignedTo, n.newPerson); n.agents && err != nil {
		return none, err
	}
	if n.PMID != nil && !n.again {
		if err := hasNoJob(&tx.Conn, *n.PMID); err != nil {
			return none, fault.Conflictf("%s, or pass again true for a second one", err)
		}
	}
	return openWorkOrder(tx, n.WorkOrder)
}

func (s *Service) createWorkOrder() schema.Op {
	return schema.Op{
		Name:   "create_workorder",
		Says:   "Open a job",
		About:  "Open a work order for an asset that is not retired.",
		Writes: true, Creates: true, Response: sampleOrder,
		Bind: schema.Writes(s.db, func(f *schema.Form, n *newJob) {
			n.WorkOrder = newWorkOrder()
			var noDay bool
			wo := &n.WorkOrder
			f.ID(&wo.AssetID, "asset_id", "the asset", schema.Required, assetPositional, schema.Choices(assetChoices),
				schema.NewBy("save_asset"))
			workOrders.Form(f, wo, false, func(column string) []schema.Opt {
				switch column {
				case "description":
					return []schema.Opt{schema.Required, schema.Label("What is to be done")}
				case "assigned_to":
					return []schema.Opt{schema.None("Nobody yet")}
				case "due_date":
					return []schema.Opt{schema.Clear(&noDay)}
				case "wo_type", "labor_minutes", "parts_cost", "downtime_minutes":
					return []schema.Opt{schema.Rare}
				}
				return nil
			})
			var plan int64
			if f.ID(&plan, "pm_id", "the asset's plan that this job serves; completing the job restarts it",
				schema.Flag("plan"), schema.Label("Plan"), schema.Rare,
				schema.Lookup(func(c *db.Conn, name string) (int64, error) { return planOfAsset(c, wo.AssetID, name) }),
				schema.Choices(planChoices)) {
				wo.PMID = &plan
			}
			var steps []string
			f.Texts(&steps, "checklist", "the steps of the job, one line each (default: those of its plan)",
				maxSteps, maxStepText, schema.Flag("step"), schema.Label("Check list"), schema.Rare)
			wo.Checklist = openSteps(steps)
			n.agents = f.Surface() == schema.Tool
			if n.again = !n.agents; n.agents {
				f.Bool(&n.again, "again", "true: open a second job although one is unfinished")
			}
			bindNew(f, &n.newPerson)
		}, openNew),
		First:   []string{"description", "asset_id", "assigned_to", "priority", "due_date", "wo_type", "pm_id", "checklist"},
		Beside:  besideNewJob,
		Refuses: []fault.Kind{fault.NotFound},
		Example: "maintenance work-orders create LATHE-1 --description \"Spindle bearing is loud\" --priority high\n" +
			"maintenance work-orders create VAN-1 --description \"Oil and filter\" --plan \"VAN-1/Oil and filter\" --due-date " +
			"2026-12-01",
		Did: schema.Said(func(wo WorkOrder) string {
			return fmt.Sprintf("Work order %d is open: %s, %s.", wo.ID, wo.Asset, firstLine(wo.Description))
		}),
		Leads: leadsToOrder,
		Undo: func(answer any) *schema.Undo {
			return moveBack(answer.(WorkOrder), "cancelled", "Cancel it")
		},
	}
}

// besideNewJob are the jobs that wait, of the asset if one is named, so that none is opened twice.
func besideNewJob(c *db.Conn, given map[string]string) (b schema.Beside, err error) {
	const most = 8
	b.Title, b.Field = "Already open", "asset_id"
	asset := numberOf(given["asset_id"])
	for _, status := range []string{"in-progress", "open"} {
		list, err := mostUrgent(c, status)
		if err != nil {
			return b, err
		}
		for _, wo := range list {
			if len(b.Rows) == most || asset != 0 && wo.AssetID != asset {
				continue
			}
			note := wo.Asset + " · nobody yet"
			if wo.AssignedTo != nil {
				note = wo.Asset + " · " + *wo.AssignedTo
			}
			row := schema.BesideRow{Text: firstLine(wo.Description), Note: note,
				Path: fmt.Sprintf("/work-orders/%d", wo.ID), Of: fmt.Sprint(wo.AssetID)}
			row.Look, row.State = standing(wo)
			b.Rows = append(b.Rows, row)
		}
	}
	slices.SortStableFunc(b.Rows, func(a, b schema.BesideRow) int { return rank(a.Look) - rank(b.Look) })
	return b, nil
}

// rank orders looks: what presses most first.
func rank(look string) int { return slices.Index([]string{"bad", "high", "going", "todo"}, look) }

// standing is what presses most about an unfinished job, else its status, with its look.
func standing(wo WorkOrder) (look, word string) {
	switch {
	case wo.Overdue:
		return "bad", "Overdue"
	case wo.Priority == "urgent":
		return "bad", "Urgent"
	case wo.Priority == "high":
		return "high", "High"
	case wo.Status == "open":
		return "todo", "Open"
	}
	return "going", "In progress"
}
