package maintenance

import (
	"context"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// WorkOrder is a job on an asset, with what it costs.
type WorkOrder struct {
	ID              int64          `json:"id"`
	AssetID         int64          `json:"asset_id"`
	Asset           string         `json:"asset" about:"the asset's name"`
	Description     string         `json:"description"`
	Priority        string         `json:"priority" enum:"low,medium,high,urgent"`
	Type            string         `json:"wo_type" enum:"corrective,preventive"`
	Status          string         `json:"status" enum:"open,in-progress,done,cancelled"`
	AssignedTo      *string        `json:"assigned_to"`
	LaborMinutes    int64          `json:"labor_minutes"`
	PartsCost       exact.Decimal  `json:"parts_cost" about:"as typed, in currency units"`
	DowntimeMinutes int64          `json:"downtime_minutes"`
	Resolution      *string        `json:"resolution" about:"what was done"`
	PMID            *int64         `json:"pm_id" about:"the plan that this job serves"`
	LaborCostCents  int64          `json:"labor_cost_cents" about:"labor_minutes at the hourly rate, rounded half up: today's rate while the order is open, fixed when it is closed"`
	PartsCostCents  int64          `json:"parts_cost_cents" about:"parts_cost and the parts used, at their unit cost on the day of use"`
	TotalCostCents  int64          `json:"total_cost_cents" about:"labor and parts"`
	CreatedBy       string         `json:"created_by"`
	CreatedAt       exact.Instant  `json:"created_at"`
	StartedAt       *exact.Instant `json:"started_at"`
	CompletedAt     *exact.Instant `json:"completed_at"`
	UpdatedAt       exact.Instant  `json:"updated_at"`
	DueDate         *exact.Day     `json:"due_date"`
	Overdue         bool           `json:"overdue" about:"due_date is before today and the order is open or in progress"`
	Checklist       []Step         `json:"checklist"`
	Source          *string        `json:"source" enum:"api,agent,cli,web,request,import" about:"where it came from; null for orders from before this was kept"`

	cost Cost
	tag  string // the asset's
}

// workOrderMoves is the only statement of how a work order may move.
var workOrderMoves = schema.Transitions{
	{Name: "open", To: []string{"in-progress", "cancelled"}},
	{Name: "in-progress", To: []string{"done", "cancelled"}},
	{Name: "done", To: []string{"open"}},
	{Name: "cancelled"},
}

var (
	priorities = []string{"low", "medium", "high", "urgent"}
	orderTypes = []string{"corrective", "preventive"}

	// sources are where a work order may come from.
	sources = []string{"api", "agent", "cli", "web", "request", "import"}

	// Spellings that are read as one of the values, and never given out.
	alsoPriority = map[string]string{"critical": "urgent"}
	alsoStatus   = map[string]string{"in_progress": "in-progress"}
)

// closed tells a state whose cost stands.
func closed(status string) bool { return status == "done" || status == "cancelled" }

func isSource(s string) bool { return slices.Contains(sources, s) }

// workOrderColumns are of work_orders w and assets a; an order that is not closed
// costs what labor costs today.
const workOrderColumns = `w.id, w.asset_id, a.name, w.description, w.priority, w.wo_type, w.status, w.assigned_to,
	w.labor_minutes, coalesce(w.labor_rate_cents, (SELECT labor_rate_cents FROM maintenance_settings)),
	w.typed_cents, w.used_cents, w.downtime_minutes, w.resolution, w.pm_id,
	w.created_by, w.created_at, w.started_at, w.completed_at, w.updated_at, w.due_date, w.checklist, w.source, a.asset_tag`

// scanWorkOrder reads a row of workOrderColumns; overdue is told by a day.
func scanWorkOrder(r *db.Row) WorkOrder {
	wo := WorkOrder{ID: r.Int(), AssetID: r.Int(), Asset: r.Text(), Description: r.Text(), Priority: r.Text(), Type: r.Text(),
		Status: r.Text(), AssignedTo: r.TextPtr(), LaborMinutes: r.Int()}
	rate, typed, used := r.Int(), r.Int(), r.Int()
	wo.DowntimeMinutes, wo.Resolution, wo.PMID = r.Int(), r.TextPtr(), r.IntPtr()
	wo.CreatedBy, wo.CreatedAt, wo.StartedAt, wo.CompletedAt, wo.UpdatedAt = r.Text(), r.Instant(), r.InstantPtr(), r.InstantPtr(), r.Instant()
	wo.DueDate, wo.Checklist, wo.Source = r.DayPtr(), readSteps(r.Text()), r.TextPtr()
	wo.tag = r.Text()
	wo.PartsCost = exact.Decimal{Unscaled: typed, Places: 2}
	wo.cost = costOf(wo.LaborMinutes, rate, typed, used)
	wo.LaborCostCents, wo.PartsCostCents, wo.TotalCostCents = wo.cost.LaborCents, typed+used, wo.cost.TotalCents
	return wo
}

// on is the order as it is on a day.
func (wo WorkOrder) on(today exact.Day) WorkOrder {
	wo.Overdue = wo.DueDate != nil && *wo.DueDate < today && !closed(wo.Status)
	return wo
}

// lookWorkOrder finds a work order, if there is one.
func lookWorkOrder(c *db.Conn, id int64) (WorkOrder, bool, error) {
	wo, found, err := db.One(c, scanWorkOrder, "SELECT "+workOrderColumns+" FROM work_orders w JOIN assets a ON a.id = w.asset_id WHERE w.id = ?", id)
	return wo.on(c.Today()), found, err
}

// findWorkOrder finds a work order; one that is not there is 404.
func findWorkOrder(c *db.Conn, id int64) (WorkOrder, error) {
	wo, found, err := lookWorkOrder(c, id)
	if err == nil && !found {
		err = noWorkOrder(id)
	}
	return wo, err
}

func noWorkOrder(id int64) error { return fault.NotFoundf("there is no work order %d", id) }

// WorkOrder gives one work order; 404 if there is none.
func (s *Service) WorkOrder(ctx context.Context, id int64) (WorkOrder, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (WorkOrder, error) { return findWorkOrder(c, id) })
}

func (s *Service) getWorkOrder() schema.Op {
	return schema.Op{
		Name:     "show_workorder",
		Route:    "GET /api/work-orders/:id",
		About:    "One work order.",
		Response: sampleOrder,
		Bind: func(f *schema.Form) schema.Handler {
			var id int64
			f.ID(&id, "id", "the work order", schema.InPath("id"))
			return func(ctx context.Context, _ db.Caller) (any, error) { return s.WorkOrder(ctx, id) }
		},
		Refuses: []fault.Kind{fault.NotFound},
	}
}
