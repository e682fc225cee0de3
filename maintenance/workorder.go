package maintenance

import (
	"cmp"
	"context"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/record"
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

	RequesterEmail *string `json:"-"` // the requester, who is mailed when it is closed

	cost Cost
	tag  string // the asset's
	rate struct {
		fixed *int64 // cents an hour, once the order is closed
		now   int64  // or today's
		used  int64  // cents of parts used
	}
	typed struct{ created, completed string } // the instants of a file's row, as written
}

// workOrderMoves is the only definition of a work order's moves.
var workOrderMoves = schema.Transitions{
	{Name: "open", To: []string{"in-progress", "cancelled"}},
	{Name: "in-progress", To: []string{"done", "cancelled"}},
	{Name: "done", To: []string{"open"}},
	{Name: "cancelled"},
}

var (
	priorities = []string{"low", "medium", "high", "urgent"}
	orderTypes = []string{"corrective", "preventive"}

	// sources are the origins of a work order.
	sources = []string{"api", "agent", "cli", "web", "request", "import"}
)

// closed reports whether a state's cost is final.
func closed(status string) bool { return status == "done" || status == "cancelled" }

func isSource(s string) bool { return slices.Contains(sources, s) }

// workOrders are read from work_orders w and assets a; an order that is not closed costs today's rate.
var workOrders = record.New("workorder", "work_orders",
	record.ID(func(wo *WorkOrder) *int64 { return &wo.ID }).InFile().FileOnly().
		Field(func(f *schema.Form, wo *WorkOrder, _ ...schema.Opt) bool {
			return f.ID(&wo.ID, "id", "identifies the order; empty for a new one")
		}),
	record.Text("asset_tag", func(wo *WorkOrder) *string { return &wo.tag }, "the asset; an order keeps its own",
		schema.Most(maxName)).From("a.asset_tag").FileOnly(),
	record.Text("description", func(wo *WorkOrder) *string { return &wo.Description }, "what is to be done",
		schema.Most(maxText), schema.Lines, schema.Example("Spindle bearing is loud")).Told().Shown(shortText),
	record.Enum("priority", func(wo *WorkOrder) *string { return &wo.Priority }, priorities, "priority; critical "+
		"counts as urgent",
		schema.Folded, schema.Alias("critical", "urgent")).Told(),
	record.Enum("wo_type", func(wo *WorkOrder) *string { return &wo.Type }, orderTypes,
		"a repair, or a service before anything breaks",
		schema.Folded, schema.Label("Kind")).Told(),
	record.Enum("status", func(wo *WorkOrder) *string { return &wo.Status }, workOrderMoves.States(), "its status",
		schema.Folded, schema.Alias("in_progress", "in-progress")).Once().FileOnly().Told(),
	record.OptText("assigned_to", func(wo *WorkOrder) **string { return &wo.AssignedTo }, "who does it",
		schema.Most(maxName), schema.Example("Ana"), schema.ChoicesFor(assignees), schema.Any),
	record.Int("labor_minutes", func(wo *WorkOrder) *int64 { return &wo.LaborMinutes }, "minutes worked",
		schema.Range(0, maxMinutes), schema.Example(90), schema.Label("Minutes worked")),
	record.Amount("parts_cost", func(wo *WorkOrder) *exact.Decimal { return &wo.PartsCost },
		"cost of parts in currency units, without parts used from stock",
		schema.Range(0, maxTyped), schema.Example(12.5), schema.Label("Other parts"),
		schema.Help("What was bought for it, without parts from stock")).Stored("typed_cents"),
	record.Int("downtime_minutes", func(wo *WorkOrder) *int64 { return &wo.DowntimeMinutes }, "minutes of downtime",
		schema.Range(0, maxMinutes), schema.Example(30)),
	record.OptText("resolution", func(wo *WorkOrder) **string { return &wo.Resolution }, "what was done; needed for done",
		schema.Most(maxText), schema.Lines).FileOnly().Shown(func(v any) any { return short(schema.Cell(v.(*string))) }),
	record.Moment("created_at", func(wo *WorkOrder) *exact.Instant { return &wo.CreatedAt }).FileOnly().
		Field(func(f *schema.Form, wo *WorkOrder, _ ...schema.Opt) bool {
			return f.Text(&wo.typed.created, "created_at", "RFC 3339 or a day; now when empty", schema.Most(40))
		}),
	record.OptMoment("completed_at", func(wo *WorkOrder) **exact.Instant { return &wo.CompletedAt }).FileOnly().
		Field(func(f *schema.Form, wo *WorkOrder, _ ...schema.Opt) bool {
			return f.Text(&wo.typed.completed, "completed_at", "RFC 3339 or a day, for done orders only; now when empty",
				schema.Most(40))
		}),
	record.OptDay("due_date", func(wo *WorkOrder) **exact.Day { return &wo.DueDate }, "when it must be done",
		schema.Label("Due")),
	record.Of("checklist", func(wo *WorkOrder) *[]Step { return &wo.Checklist }, stepsKind,
		"one step a line, [x] before a done one",
		schema.Most(maxSteps*(maxStepText+len(doneSign)+1)), schema.Lines).FileOnly().
		Shown(func(v any) any { return stepsCell(v.([]Step)) }),
	record.Moment("updated_at", func(wo *WorkOrder) *exact.Instant { return &wo.UpdatedAt }),
	record.Int("asset_id", func(wo *WorkOrder) *int64 { return &wo.AssetID }, "").Once().Told(),
	record.Text("asset", func(wo *WorkOrder) *string { return &wo.Asset }, "").From("a.name"),
	record.OptInt("pm_id", func(wo *WorkOrder) **int64 { return &wo.PMID }, "").Once(),
	record.Text("created_by", func(wo *WorkOrder) *string { return &wo.CreatedBy }, "").Once(),
	record.OptMoment("started_at", func(wo *WorkOrder) **exact.Instant { return &wo.StartedAt }).From("w.started_at"),
	record.OptText("source", func(wo *WorkOrder) **string { return &wo.Source }, "").Once(),
	record.OptText("requester_email", func(wo *WorkOrder) **string { return &wo.RequesterEmail },
		"").Shown(func(v any) any {
		return v.(*string) != nil // the trail reports whether there is one, and not whose
	}),
	record.OptInt("labor_rate_cents", func(wo *WorkOrder) **int64 { return &wo.rate.fixed }, "").Once(),
	record.Int("rate", func(wo *WorkOrder) *int64 { return &wo.rate.now }, "").
		From("coalesce(w.labor_rate_cents, (SELECT labor_rate_cents FROM maintenance_settings))"),
	record.Int("used_cents", func(wo *WorkOrder) *int64 { return &wo.rate.used }, "").From("w.used_cents"),
).Joined("w", "CROSS JOIN assets a ON a.id = w.asset_id").Subject("work_order").Derive((*WorkOrder).add).
	Check(func(tx *db.Tx, _, now *WorkOrder) error {
		now.UpdatedAt = tx.Now()
		return nil
	})

// shortText shortens a text for the audit trail.
func shortText(v any) any { return short(v.(string)) }

// add adds up what the order costs.
func (wo *WorkOrder) add() {
	typed := wo.PartsCost.Unscaled
	wo.cost = costOf(wo.LaborMinutes, wo.rate.now, typed, wo.rate.used)
	wo.LaborCostCents, wo.PartsCostCents, wo.TotalCostCents = wo.cost.LaborCents, typed+wo.rate.used, wo.cost.TotalCents
}

// newWorkOrder is an order with its defaults.
func newWorkOrder() WorkOrder {
	return WorkOrder{Priority: "medium", Type: "corrective", Status: "open", PartsCost: exact.Decimal{Places: 2}}
}

// on is the order as it is on a day.
func (wo WorkOrder) on(today exact.Day) WorkOrder {
	wo.Overdue = wo.DueDate != nil && *wo.DueDate < today && !closed(wo.Status)
	return wo
}

// lookWorkOrder finds a work order, if there is one.
func lookWorkOrder(c *db.Conn, id int64) (WorkOrder, bool, error) {
	wo, found, err := workOrders.One(c, "WHERE w.id = ?", id)
	return wo.on(c.Today()), found, err
}

// findWorkOrder finds a work order; an unknown one is 404.
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
		Bind: schema.Reads(func(f *schema.Form, id *int64) {
			f.ID(id, "id", "the work order", schema.InPath("id"), schema.Choices(jobChoices))
		}, s.WorkOrder),
		Refuses: []fault.Kind{fault.NotFound},
	}
}

// check refuses fields that are wrong by themselves and normalises the others, alike for every surface. An empty
// priority is medium, an empty type corrective.
func (wo *WorkOrder) check() (err error) {
	if wo.Description, err = needed("description", wo.Description, maxText); err != nil {
		return err
	}
	wo.Priority, wo.Type = cmp.Or(wo.Priority, "medium"), cmp.Or(wo.Type, "corrective")
	wo.AssignedTo = db.NullText(schema.Cell(wo.AssignedTo))
	if err := within("labor_minutes", wo.LaborMinutes, maxMinutes); err != nil {
		return err
	}
	if wo.PartsCost.Unscaled < 0 || wo.PartsCost.Unscaled > maxTyped*100 {
		return fault.Fieldf("parts_cost", "parts_cost: %s is out of range; it takes an amount from 0 to %d", wo.PartsCost,
			maxTyped)
	}
	return within("downtime_minutes", wo.DowntimeMinutes, maxMinutes)
}

// bindPriority binds the priority that restricts a list.
func bindPriority(f *schema.Form, p *string, about string) {
	f.Enum(p, "priority", about, priorities, schema.Folded, schema.Alias("critical", "urgent"))
}
