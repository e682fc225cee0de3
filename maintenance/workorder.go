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

// orderSets are the columns of a work order that opening, editing and importing write,
// with their values: one list for INSERT, UPDATE and scanWorkOrder.
const orderSets db.Columns = "description, priority, wo_type, assigned_to, labor_minutes, typed_cents, downtime_minutes, due_date, " +
	"resolution, checklist, created_at, completed_at, updated_at"

func (wo WorkOrder) sets() []any {
	return []any{wo.Description, wo.Priority, wo.Type, wo.AssignedTo, wo.LaborMinutes, wo.PartsCost.Unscaled, wo.DowntimeMinutes, wo.DueDate,
		wo.Resolution, keptSteps(wo.Checklist), wo.CreatedAt, wo.CompletedAt, wo.UpdatedAt}
}

// workOrderColumns are of work_orders w and assets a; an order that is not closed
// costs what labor costs today.
var workOrderColumns = `w.id, w.asset_id, a.name, a.asset_tag, w.status, w.pm_id, w.created_by, w.started_at, w.source, w.used_cents,
	coalesce(w.labor_rate_cents, (SELECT labor_rate_cents FROM maintenance_settings)), ` + orderSets.Of("w")

// scanWorkOrder reads a row of workOrderColumns; overdue is told by a day.
func scanWorkOrder(r *db.Row) WorkOrder {
	wo := WorkOrder{ID: r.Int(), AssetID: r.Int(), Asset: r.Text(), tag: r.Text(), Status: r.Text(), PMID: r.IntPtr(),
		CreatedBy: r.Text(), StartedAt: r.InstantPtr(), Source: r.TextPtr()}
	used, rate := r.Int(), r.Int()
	wo.Description, wo.Priority, wo.Type, wo.AssignedTo, wo.LaborMinutes = r.Text(), r.Text(), r.Text(), r.TextPtr(), r.Int()
	typed := r.Int()
	wo.DowntimeMinutes, wo.DueDate, wo.Resolution, wo.Checklist = r.Int(), r.DayPtr(), r.TextPtr(), readSteps(r.Text())
	wo.CreatedAt, wo.CompletedAt, wo.UpdatedAt = r.Instant(), r.InstantPtr(), r.Instant()
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

// WorkOrder returns one work order; 404 if there is none.
func (s *Service) WorkOrder(ctx context.Context, id int64) (WorkOrder, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (WorkOrder, error) { return findWorkOrder(c, id) })
}

func (s *Service) getWorkOrder() schema.Op {
	return schema.Op{
		Name:     "show_workorder",
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
