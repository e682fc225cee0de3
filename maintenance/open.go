package maintenance

import (
	"context"
	"fmt"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// NewOrder is what opens a work order. PMID 0 is no plan; a plan's job takes over its
// check list, unless it is given one.
type NewOrder struct {
	AssetID         int64
	Description     string
	Priority        string // "" is medium
	Type            string // "" is corrective
	AssignedTo      string
	LaborMinutes    int64
	TypedCents      int64 // parts_cost
	DowntimeMinutes int64
	DueDate         *exact.Day
	PMID            int64
	Checklist       []string
}

func (n NewOrder) fields() Fields {
	return Fields{Description: n.Description, Priority: n.Priority, Type: n.Type, AssignedTo: n.AssignedTo, LaborMinutes: n.LaborMinutes,
		TypedCents: n.TypedCents, DowntimeMinutes: n.DowntimeMinutes, DueDate: n.DueDate}
}

func (n *NewOrder) set(f Fields) {
	n.Description, n.Priority, n.Type, n.AssignedTo = f.Description, f.Priority, f.Type, f.AssignedTo
	n.LaborMinutes, n.TypedCents, n.DowntimeMinutes, n.DueDate = f.LaborMinutes, f.TypedCents, f.DowntimeMinutes, f.DueDate
}

// OpenWorkOrder opens a work order against an asset. An unknown asset is 404; a
// retired one, and a plan that is paused or not the asset's, are 422.
func (s *Service) OpenWorkOrder(ctx context.Context, who db.Caller, n NewOrder) (WorkOrder, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (WorkOrder, error) { return openWorkOrder(tx, n) })
}

func openWorkOrder(tx *db.Tx, n NewOrder) (none WorkOrder, err error) {
	fields := n.fields()
	if err := fields.check(); err != nil {
		return none, err
	}
	steps, err := checkSteps("checklist", n.Checklist)
	if err != nil {
		return none, err
	}
	a, err := findAsset(&tx.Conn, n.AssetID)
	if err != nil {
		return none, err
	}
	if err := a.takesWork("asset_id"); err != nil {
		return none, err
	}
	p, err := planOf(&tx.Conn, n.PMID, n.AssetID)
	if err != nil {
		return none, err
	}
	if len(steps) == 0 {
		steps = p.Checklist
	}
	return opened(tx, orderRecord{Fields: fields, assetID: n.AssetID, pmID: n.PMID, status: "open",
		steps: openSteps(steps), source: sourceOf(tx.Who().Via), created: tx.Now()})
}

// sourceOf is where an order comes from, by the way of who opened it.
func sourceOf(via string) string {
	switch via {
	case "rest":
		return "api"
	case "mcp":
		return "agent"
	}
	return via
}

// orderRecord is a work order as it is first stored.
type orderRecord struct {
	Fields
	id                 int64 // 0: the next
	assetID, pmID      int64
	status, resolution string
	steps              []Step
	source             string
	created            exact.Instant
	completed          *exact.Instant
}

// insert stores a new work order. One that is closed keeps today's rate.
func (o orderRecord) insert(tx *db.Tx) (id int64, err error) {
	source := db.NullText(o.source)
	if source != nil && !isSource(o.source) {
		source = nil
	}
	var rate *int64
	if closed(o.status) {
		today, err := laborRate(&tx.Conn)
		if err != nil {
			return 0, err
		}
		rate = &today
	}
	wo := WorkOrder{Description: o.Description, Priority: o.Priority, Type: o.Type, AssignedTo: db.NullText(o.AssignedTo), LaborMinutes: o.LaborMinutes,
		PartsCost: exact.Decimal{Unscaled: o.TypedCents, Places: 2}, DowntimeMinutes: o.DowntimeMinutes, DueDate: o.DueDate,
		Resolution: db.NullText(o.resolution), Checklist: o.steps, CreatedAt: o.created, CompletedAt: o.completed, UpdatedAt: tx.Now()}
	return tx.InsertRow("work_orders", "id, asset_id, status, labor_rate_cents, pm_id, source, created_by, "+orderSets,
		append([]any{db.NullID(o.id), o.assetID, o.status, rate, db.NullID(o.pmID), source, tx.Who().User}, wo.sets()...)...)
}

// opened stores a new order that is open or in progress and leaves its trace: the audit
// entry and the event.
func opened(tx *db.Tx, o orderRecord) (WorkOrder, error) {
	wo, err := filed(tx, o)
	if err != nil {
		return wo, err
	}
	return wo, tx.Emit("workorder.created", wo)
}

// filed stores a new order with its audit entry alone, as history arrives.
func filed(tx *db.Tx, o orderRecord) (WorkOrder, error) {
	id, err := o.insert(tx)
	if err != nil {
		return WorkOrder{}, err
	}
	wo, err := findWorkOrder(&tx.Conn, id)
	if err != nil {
		return wo, err
	}
	return wo, tx.Audit("workorder.created", db.Subject("work_order", wo.ID), map[string]any{
		"asset_id": wo.AssetID, "description": short(wo.Description), "priority": wo.Priority, "wo_type": wo.Type, "status": wo.Status})
}

// planOf is the asset's plan that a new job serves; plan 0 is none. One that the asset
// does not have, or that is paused, is refused.
func planOf(c *db.Conn, pmID, assetID int64) (none plan, err error) {
	if pmID == 0 {
		return none, nil
	}
	p, is, err := db.One(c, scanPlan, "SELECT "+planColumns+" FROM pm_plans p WHERE p.id = ? AND p.asset_id = ?", pmID, assetID)
	switch {
	case err != nil:
		return none, err
	case is && p.Paused:
		return none, fault.Fieldf("pm_id", "pm_id: the plan %d (%s) is paused and opens no job; resume it first", p.ID, p.Title)
	case is:
		return p, nil
	}
	plans, err := db.All(c, func(r *db.Row) string { return fmt.Sprintf("%d (%s)", r.Int(), r.Text()) },
		"SELECT id, title FROM pm_plans WHERE asset_id = ? ORDER BY title", assetID)
	if err != nil {
		return none, err
	}
	if len(plans) == 0 {
		return none, fault.Fieldf("pm_id", "pm_id: %d is not a plan of asset %d, which has none; leave pm_id out", pmID, assetID)
	}
	return none, fault.Fieldf("pm_id", "pm_id: %d is not a plan of asset %d; its plans are %s", pmID, assetID, strings.Join(plans, ", "))
}

func (s *Service) createWorkOrder() schema.Op {
	return schema.Op{
		Name:   "create_workorder",
		About:  "Open a work order against an asset that is not retired.",
		Writes: true, Creates: true, Response: sampleOrder,
		Bind: func(f *schema.Form) schema.Handler {
			var n NewOrder
			fields := Fields{Priority: "medium", Type: "corrective"}
			f.ID(&n.AssetID, "asset_id", "the asset", schema.Required, assetPositional, schema.Choices(assetChoices))
			bindDescription(f, &fields.Description, schema.Required)
			bindPriority(f, &fields.Priority, "how pressing it is; critical is read as urgent")
			bindType(f, &fields.Type)
			bindAssignee(f, &fields.AssignedTo)
			bindEffort(f, &fields, sent{})
			var noDay bool
			bindDue(f, &fields.DueDate, schema.Clear(&noDay))
			n.set(fields)
			f.ID(&n.PMID, "pm_id", "the plan that this job serves, of the same asset: completing the job restarts it",
				schema.Flag("plan"), schema.Label("Plan"), schema.Lookup(planNamed), schema.Choices(planChoices))
			f.Texts(&n.Checklist, "checklist", "the steps of the job, each a line of text; a plan's job has those of the plan",
				maxSteps, maxStepText, schema.Flag("step"), schema.Label("Check list"))
			return func(ctx context.Context, who db.Caller) (any, error) { return s.OpenWorkOrder(ctx, who, n) }
		},
		Refuses: []fault.Kind{fault.NotFound},
		Example: "maintenance work-orders create LATHE-1 --description \"Spindle bearing is loud\" --priority high\n" +
			"maintenance work-orders create VAN-1 --description \"Oil and filter\" --plan \"VAN-1/Oil and filter\" --due-date 2026-12-01",
		Did: func(answer any, _ schema.Money) string {
			wo := answer.(WorkOrder)
			return fmt.Sprintf("Work order %d is open: %s, %s.", wo.ID, wo.Asset, firstLine(wo.Description))
		},
		Leads: leadsToOrder,
		Undo: func(answer any) *schema.Undo {
			return moveBack(answer.(WorkOrder), "cancelled", "Cancel it")
		},
	}
}
