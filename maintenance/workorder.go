package maintenance

import (
	"context"
	"strings"

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

	cost Cost
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

	// Spellings that are read as one of the values, and never given out.
	alsoPriority = map[string]string{"critical": "urgent"}
	alsoStatus   = map[string]string{"in_progress": "in-progress"}
)

// closed tells a state whose cost stands.
func closed(status string) bool { return status == "done" || status == "cancelled" }

// workOrderColumns are of work_orders w and assets a; an order that is not closed
// costs what labor costs today.
const workOrderColumns = `w.id, w.asset_id, a.name, w.description, w.priority, w.wo_type, w.status, w.assigned_to,
	w.labor_minutes, coalesce(w.labor_rate_cents, (SELECT labor_rate_cents FROM maintenance_settings)),
	w.typed_cents, w.used_cents, w.downtime_minutes, w.resolution, w.pm_id,
	w.created_by, w.created_at, w.started_at, w.completed_at, w.updated_at`

func scanWorkOrder(r *db.Row) WorkOrder {
	wo := WorkOrder{ID: r.Int(), AssetID: r.Int(), Asset: r.Text(), Description: r.Text(), Priority: r.Text(), Type: r.Text(),
		Status: r.Text(), AssignedTo: r.TextPtr(), LaborMinutes: r.Int()}
	rate, typed, used := r.Int(), r.Int(), r.Int()
	wo.DowntimeMinutes, wo.Resolution, wo.PMID = r.Int(), r.TextPtr(), r.IntPtr()
	wo.CreatedBy, wo.CreatedAt, wo.StartedAt, wo.CompletedAt, wo.UpdatedAt = r.Text(), r.Instant(), r.InstantPtr(), r.InstantPtr(), r.Instant()
	wo.PartsCost = exact.Decimal{Unscaled: typed, Places: 2}
	wo.cost = costOf(wo.LaborMinutes, rate, typed, used)
	wo.LaborCostCents, wo.PartsCostCents, wo.TotalCostCents = wo.cost.LaborCents, typed+used, wo.cost.TotalCents
	return wo
}

// lookWorkOrder finds a work order, if there is one.
func lookWorkOrder(c *db.Conn, id int64) (WorkOrder, bool, error) {
	return db.One(c, scanWorkOrder, "SELECT "+workOrderColumns+" FROM work_orders w JOIN assets a ON a.id = w.asset_id WHERE w.id = ?", id)
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
func (s *Service) WorkOrder(ctx context.Context, id int64) (wo WorkOrder, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		wo, err = findWorkOrder(c, id)
		return err
	})
	return wo, err
}

// Filter narrows a list of work orders; what is zero does not.
type Filter struct {
	Status     string
	Priority   string
	AssetID    int64
	AssignedTo string
	Limit      int64
}

// WorkOrders is the newest 200 of the service's work orders, or of those in a state.
type WorkOrders struct {
	WorkOrders []WorkOrder `json:"work_orders"`
}

// FoundOrders is the newest work orders that were asked for, and how many there are.
type FoundOrders struct {
	WorkOrders []WorkOrder `json:"work_orders"`
	Total      int64       `json:"total" about:"how many there are in all"`
}

// newest is how many work orders the list over REST gives.
const newest = 200

// WorkOrders gives the newest 200 work orders, newest first; status "" is any.
func (s *Service) WorkOrders(ctx context.Context, status string) (list WorkOrders, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		list.WorkOrders, err = listWorkOrders(c, Filter{Status: status, Limit: newest})
		return err
	})
	return list, err
}

// FindWorkOrders gives the newest work orders that pass the filter, at most
// filter.Limit of them, and how many pass it in all.
func (s *Service) FindWorkOrders(ctx context.Context, f Filter) (found FoundOrders, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		if found.WorkOrders, err = listWorkOrders(c, f); err != nil {
			return err
		}
		found.Total, err = countWorkOrders(c, f)
		return err
	})
	return found, err
}

// where is the filter's condition, and the arguments that fill it. Each field has an
// index whose end holds the newest; the unary plus keeps the engine from any but that
// of the field which, by its nature, is the narrowest.
func (f Filter) where() (condition string, args []any) {
	var terms []string
	add := func(column string, v any) {
		if len(terms) > 0 {
			column = "+" + column
		}
		terms = append(terms, column+" = ?")
		args = append(args, v)
	}
	if f.AssetID != 0 {
		add("w.asset_id", f.AssetID)
	}
	if f.AssignedTo != "" {
		add("w.assigned_to", f.AssignedTo)
	}
	if f.Priority != "" && (f.Status == "" || closed(f.Status)) {
		add("w.priority", f.Priority)
	}
	if f.Status != "" {
		add("w.status", f.Status)
	}
	if f.Priority != "" && f.Status != "" && !closed(f.Status) {
		add("w.priority", f.Priority)
	}
	if len(terms) == 0 {
		return "", nil
	}
	return " WHERE " + strings.Join(terms, " AND "), args
}

// newestFirst is the statement that lists what passes the filter.
func (f Filter) newestFirst() (query string, args []any) {
	condition, args := f.where()
	return "SELECT " + workOrderColumns + " FROM work_orders w CROSS JOIN assets a ON a.id = w.asset_id" +
		condition + " ORDER BY w.id DESC LIMIT ?", append(args, f.Limit)
}

// inAll is the statement that counts what passes the filter: by the kept numbers
// where these tell, else along an index.
func (f Filter) inAll() (query string, args []any) {
	condition, args := f.where()
	if f.AssetID == 0 && f.AssignedTo == "" {
		return "SELECT coalesce(sum(w.n), 0) FROM work_order_counts w" + condition, args
	}
	return "SELECT count(*) FROM work_orders w" + condition, args
}

func listWorkOrders(c *db.Conn, f Filter) ([]WorkOrder, error) {
	query, args := f.newestFirst()
	return db.All(c, scanWorkOrder, query, args...)
}

func countWorkOrders(c *db.Conn, f Filter) (int64, error) {
	query, args := f.inAll()
	n, _, err := db.One(c, db.Int, query, args...)
	return n, err
}

func (s *Service) listWorkOrders() schema.Op {
	return schema.Op{
		Route:    "GET /api/work-orders",
		About:    "The newest 200 work orders, newest first; with status, the newest 200 in that state.",
		Response: WorkOrders{WorkOrders: []WorkOrder{sampleOrder}},
		Bind: func(f *schema.Form) schema.Handler {
			var status string
			askStatus(f, &status, "only those in this state")
			return func(ctx context.Context, _ db.Caller) (any, error) { return s.WorkOrders(ctx, status) }
		},
	}
}

func askStatus(f *schema.Form, p *string, about string, opts ...schema.Opt) {
	f.Enum(p, "status", about, workOrderMoves.States(), append(opts, schema.Folded, schema.Alias("in_progress", "in-progress"))...)
}

func askPriority(f *schema.Form, p *string, about string) {
	f.Enum(p, "priority", about, priorities, schema.Folded, schema.Alias("critical", "urgent"))
}

func (s *Service) findWorkOrders() schema.Op {
	return schema.Op{
		Tool:     "list_workorders",
		About:    "List work orders with their cost, newest first, by status, priority, asset or assignee. total says how many there are in all.",
		Response: FoundOrders{WorkOrders: []WorkOrder{sampleOrder}, Total: 1},
		Bind: func(f *schema.Form) schema.Handler {
			var w Filter
			askStatus(f, &w.Status, "only those in this state")
			askPriority(f, &w.Priority, "only those with this priority")
			f.ID(&w.AssetID, "asset_id", "only those of this asset")
			f.Text(&w.AssignedTo, "assigned_to", "only those of this assignee, by the exact name", schema.Most(maxName))
			f.Limit(&w.Limit)
			return func(ctx context.Context, _ db.Caller) (any, error) { return s.FindWorkOrders(ctx, w) }
		},
	}
}

func (s *Service) getWorkOrder() schema.Op {
	return schema.Op{
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
