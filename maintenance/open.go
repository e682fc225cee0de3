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

// NewOrder is what opens a work order. An empty priority is medium, an empty type
// corrective; PMID 0 is no plan.
type NewOrder struct {
	AssetID         int64
	Description     string
	Priority        string
	Type            string
	AssignedTo      string
	LaborMinutes    int64
	TypedCents      int64 // parts_cost
	DowntimeMinutes int64
	PMID            int64
}

// check refuses fields that are wrong by themselves and normalises the others: one
// way for every surface.
func (n *NewOrder) check() (err error) {
	if n.Description, err = needed("description", n.Description, maxText); err != nil {
		return err
	}
	if n.Priority == "" {
		n.Priority = "medium"
	}
	if n.Priority, err = choice("priority", n.Priority, priorities, alsoPriority); err != nil {
		return err
	}
	if n.Type == "" {
		n.Type = "corrective"
	}
	if n.Type, err = choice("wo_type", n.Type, orderTypes, nil); err != nil {
		return err
	}
	if n.AssignedTo, err = text("assigned_to", n.AssignedTo, maxName); err != nil {
		return err
	}
	if err = within("labor_minutes", n.LaborMinutes, maxMinutes); err != nil {
		return err
	}
	if n.TypedCents < 0 || n.TypedCents > maxTyped*100 {
		return fault.Invalidf("parts_cost: %s is out of range; it takes an amount from 0 to %d", exact.Decimal{Unscaled: n.TypedCents, Places: 2}, maxTyped)
	}
	return within("downtime_minutes", n.DowntimeMinutes, maxMinutes)
}

// OpenWorkOrder opens a work order against an asset. An unknown asset is 404; a
// retired one, and a plan that is not the asset's, are 422.
func (s *Service) OpenWorkOrder(ctx context.Context, who db.Caller, n NewOrder) (WorkOrder, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (WorkOrder, error) { return openWorkOrder(tx, n) })
}

func openWorkOrder(tx *db.Tx, n NewOrder) (none WorkOrder, err error) {
	if err := n.check(); err != nil {
		return none, err
	}
	a, err := findAsset(&tx.Conn, n.AssetID)
	if err != nil {
		return none, err
	}
	if err := a.takesWork("asset_id"); err != nil {
		return none, err
	}
	if err := servesAsset(&tx.Conn, n.PMID, n.AssetID); err != nil {
		return none, err
	}
	id, err := tx.Insert(`INSERT INTO work_orders (asset_id, description, priority, wo_type, status, assigned_to, labor_minutes,
		typed_cents, downtime_minutes, pm_id, created_by, created_at, updated_at) VALUES (?, ?, ?, ?, 'open', ?, ?, ?, ?, ?, ?, ?, ?)`,
		n.AssetID, n.Description, n.Priority, n.Type, orNil(n.AssignedTo), n.LaborMinutes, n.TypedCents, n.DowntimeMinutes,
		orNoID(n.PMID), tx.Who().User, tx.Now(), tx.Now())
	if err != nil {
		return none, err
	}
	return opened(tx, id)
}

// opened leaves a new work order's trace: the audit entry and the event.
func opened(tx *db.Tx, id int64) (WorkOrder, error) {
	wo, err := findWorkOrder(&tx.Conn, id)
	if err != nil {
		return wo, err
	}
	if err := auditNewOrder(tx, wo); err != nil {
		return wo, err
	}
	return wo, tx.Emit("workorder.created", wo)
}

func auditNewOrder(tx *db.Tx, wo WorkOrder) error {
	return tx.Audit("workorder.created", subject("work_order", wo.ID), map[string]any{
		"asset_id": wo.AssetID, "description": short(wo.Description), "priority": wo.Priority, "wo_type": wo.Type, "status": wo.Status})
}

// servesAsset refuses a plan that the asset does not have. Plan 0 is none.
func servesAsset(c *db.Conn, pmID, assetID int64) error {
	if pmID == 0 {
		return nil
	}
	_, is, err := db.One(c, db.Int, "SELECT 1 FROM pm_plans WHERE id = ? AND asset_id = ?", pmID, assetID)
	if err != nil || is {
		return err
	}
	plans, err := db.All(c, func(r *db.Row) string { return fmt.Sprintf("%d (%s)", r.Int(), r.Text()) },
		"SELECT id, title FROM pm_plans WHERE asset_id = ? ORDER BY title", assetID)
	if err != nil {
		return err
	}
	if len(plans) == 0 {
		return fault.Invalidf("pm_id: %d is not a plan of asset %d, which has none; leave pm_id out", pmID, assetID)
	}
	return fault.Invalidf("pm_id: %d is not a plan of asset %d; its plans are %s", pmID, assetID, strings.Join(plans, ", "))
}

func (s *Service) createWorkOrder() schema.Op {
	return schema.Op{
		Route: "POST /api/work-orders", Tool: "create_workorder",
		About:  "Open a work order against an asset that is not retired.",
		Writes: true, Creates: true, Response: sampleOrder,
		Bind: func(f *schema.Form) schema.Handler {
			n := NewOrder{Priority: "medium", Type: "corrective"}
			f.ID(&n.AssetID, "asset_id", "the asset", schema.Required)
			f.Text(&n.Description, "description", "what is to be done", schema.Required, schema.Most(maxText), schema.Example("Spindle bearing is loud"))
			askPriority(f, &n.Priority, "how pressing it is; critical is read as urgent")
			f.Enum(&n.Type, "wo_type", "a repair, or a service before anything breaks", orderTypes, schema.Folded)
			f.Text(&n.AssignedTo, "assigned_to", "who does it", schema.Most(maxName), schema.Example("Ana"))
			f.Int(&n.LaborMinutes, "labor_minutes", "minutes worked", schema.Range(0, maxMinutes), schema.Example(90))
			f.Amount(&n.TypedCents, "parts_cost", "cost of parts in currency units, besides the parts used from stock", schema.Range(0, maxTyped), schema.Example(12.5))
			f.Int(&n.DowntimeMinutes, "downtime_minutes", "minutes that the asset stood still", schema.Range(0, maxMinutes), schema.Example(30))
			f.ID(&n.PMID, "pm_id", "the plan that this job serves, of the same asset: completing the job restarts it")
			return func(ctx context.Context, who db.Caller) (any, error) { return s.OpenWorkOrder(ctx, who, n) }
		},
		Refuses: []fault.Kind{fault.NotFound},
	}
}
