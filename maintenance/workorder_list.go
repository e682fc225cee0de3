package maintenance

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// WorkOrders is one page of the filter's work orders, newest first.
type WorkOrders struct {
	WorkOrders []WorkOrder `json:"work_orders"`
	Next       *int64      `json:"next" about:"pass it as after; null at the end"`
	Total      int64       `json:"total" about:"how many match in all"`
}

// FoundOrders is WorkOrders for agents, with the cost of all matches.
type FoundOrders struct {
	WorkOrders     []schema.Row[WorkOrder, ShortOrder] `json:"work_orders"`
	Shown          int                                 `json:"shown" about:"how many are given here"`
	Total          int64                               `json:"total" about:"how many match in all"`
	TotalCostCents *int64                              `json:"total_cost_cents,omitempty" about:"what all that match cost, on the first page"`
	Next           *string                             `json:"next" about:"pass it as after; null at the end"`
	Near           []string                            `json:"near,omitempty" about:"assets similar to q, if nothing matches"`
}

// ShortOrder is what identifies a work order and decides about it.
type ShortOrder struct {
	ID          int64      `json:"id"`
	Asset       string     `json:"asset"`
	Description string     `json:"description"`
	Status      string     `json:"status"`
	AssignedTo  string     `json:"assigned_to,omitempty"`
	DueDate     *exact.Day `json:"due_date,omitempty"`
	CostCents   int64      `json:"total_cost_cents,omitempty"`
}

func (wo WorkOrder) short() ShortOrder {
	s := ShortOrder{ID: wo.ID, Asset: schema.Shorten(wo.Asset, 24), Description: schema.Shorten(firstLine(wo.Description),
		32),
		Status: wo.Status, CostCents: wo.TotalCostCents}
	if wo.AssignedTo != nil {
		s.AssignedTo = schema.Shorten(*wo.AssignedTo, 16)
	}
	if !closed(wo.Status) {
		s.DueDate = wo.DueDate
	}
	return s
}

// newest is how many work orders the list over REST gives unless it is asked for more.
const newest = 200

// WorkOrders returns the newest work orders of the filter, at most f.Limit of them after f.After, and the number of
// all.
func (s *Service) WorkOrders(ctx context.Context, f Filter) (WorkOrders, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (WorkOrders, error) { return pageOfOrders(c, f) })
}

func pageOfOrders(c *db.Conn, f Filter) (page WorkOrders, err error) {
	if err := f.resolve(c); err != nil {
		return page, err
	}
	limit := f.Limit
	f.Limit = f.Fetch()
	if page.WorkOrders, err = f.read(c); err != nil {
		return page, err
	}
	page.WorkOrders, page.Next = schema.Cut(page.WorkOrders, limit, func(wo WorkOrder) int64 { return wo.ID })
	if page.Total = int64(len(page.WorkOrders)); page.Next == nil && f.After == 0 && f.Skip == 0 {
		return page, nil // these are all
	}
	query, args := f.inAll(c)
	page.Total, _, err = db.One(c, db.Int, query, args...)
	return page, err
}

// read returns the first orders of the filter. Each spelling of an assignee is read separately: an index has the newest
// of each.
func (f Filter) read(c *db.Conn) (orders []WorkOrder, err error) {
	today := c.Today()
	scan := func(r *db.Row) WorkOrder { return workOrders.Row(r).on(today) }
	if orderSorts[f.Sort] != "" {
		query, args := f.sorted(c)
		return db.All(c, scan, query, args...)
	}
	ways := f.names
	if len(ways) < 2 {
		query, args := f.newestFirst(c)
		return db.All(c, scan, query, args...)
	}
	for i := range ways {
		f.names = ways[i : i+1]
		query, args := f.newestFirst(c)
		some, err := db.All(c, scan, query, args...)
		if err != nil {
			return nil, err
		}
		orders = append(orders, some...)
	}
	slices.SortFunc(orders, func(a, b WorkOrder) int { return cmp.Compare(b.ID, a.ID) })
	return orders[:min(int64(len(orders)), f.Limit)], nil
}

// FindWorkOrders is WorkOrders for agents. An unknown assignee or asset is refused with the existing ones.
func (s *Service) FindWorkOrders(ctx context.Context, f Filter) (found FoundOrders, err error) {
	if f.From != nil && f.To != nil && *f.To < *f.From {
		return found, fault.Fieldf("to", "to: %s lies before from, %s", f.To, f.From)
	}
	err = s.db.View(ctx, func(c *db.Conn) error {
		if f.Named {
			if _, err := assets.ByID(c, f.AssetID); err != nil {
				return err
			}
		}
		if err := refuseUnknownAssignee(c, f.AssignedTo); err != nil {
			return err
		}
		page, err := pageOfOrders(c, f)
		if err != nil {
			return err
		}
		rows := schema.Fit(page.WorkOrders, f.Short, WorkOrder.short, f.Asked, schema.AnswerBytes)
		if n := len(rows); n < len(page.WorkOrders) {
			page.Next = &page.WorkOrders[n-1].ID
		}
		if given := f.Skip + int64(len(rows)); f.Sort != "" && page.Next != nil {
			page.Next = &given
		}
		found = FoundOrders{WorkOrders: rows, Shown: len(rows), Total: page.Total, Next: schema.NextText(page.Next)}
		if f.Q != "" && page.Total == 0 {
			names, err := assetNames(c)
			if err != nil {
				return err
			}
			found.Near = schema.Near(f.Q, names, 5)
		}
		if f.After != 0 || f.Skip != 0 {
			return nil
		}
		cents, err := costOfAll(c, f)
		found.TotalCostCents = &cents
		return err
	})
	return found, err
}

// costOfAll is what the work orders that pass the filter cost.
func costOfAll(c *db.Conn, f Filter) (int64, error) {
	if err := f.resolve(c); err != nil {
		return 0, err
	}
	t := f.where(c)
	if f.summed() {
		sum, _, err := db.One(c, db.Int, "SELECT coalesce(sum(w.cents), 0) FROM work_order_sums w"+t.SQL(), t.Args...)
		return sum, err
	}
	tables := " FROM work_orders w"
	if t.joins {
		tables = orderTables
	}
	var sum int64
	rate, err := laborRate(c)
	if err != nil {
		return 0, err
	}
	err = db.Each(c, func(r *db.Row) error {
		sum += costOf(r.Int(), r.Int(), r.Int(), r.Int()).TotalCents
		return nil
	}, "SELECT w.labor_minutes, coalesce(w.labor_rate_cents, "+strconv.FormatInt(rate, 10)+
		"), w.typed_cents, w.used_cents"+tables+t.SQL(), t.Args...)
	return sum, err
}

// refuseUnknownAssignee refuses a name that no work order is assigned to, in any case.
func refuseUnknownAssignee(c *db.Conn, name string) error {
	if name == "" {
		return nil
	}
	names, err := assigneeNames(c)
	if err != nil {
		return err
	}
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return nil
		}
	}
	return fault.Fieldf("assigned_to", "assigned_to: %s has no work orders; %s", schema.Quote(name),
		schema.ThereAre(name, names))
}

func (s *Service) listWorkOrders() schema.Op {
	next, cost := int64(12), int64(8000)
	return schema.Op{
		Name: "list_workorders", Says: "Which jobs there are",
		About: "Work orders, newest first, that match every filter; 200 at a time unless limit says otherwise.",
		AgentAbout: "Work orders, newest first, that match every filter. total and total_cost_cents are over all that " +
			"match, beyond limit too. " +
			"Cost = labor_minutes x hourly rate + parts. overdue: due_date before today and open or in progress. from, to: " +
			"the day it was opened. " +
			"detail short: id, asset, description, status, assignee, due day, cost.",
		Response: WorkOrders{WorkOrders: []WorkOrder{sampleOrder}, Next: &next, Total: 1},
		AgentResponse: FoundOrders{WorkOrders: []schema.Row[WorkOrder, ShortOrder]{{Full: &sampleOrder}}, Shown: 1, Total: 1,
			TotalCostCents: &cost},
		Bind: func(f *schema.Form) schema.Handler {
			w := Filter{Cursor: schema.First(newest)}
			BindFilter(f, &w)
			bindQ(f, &w.Q)
			if f.Surface() == schema.Tool {
				return s.bindFound(f, w)
			}
			f.Limit(&w.Limit)
			f.After(&w.After)
			return func(ctx context.Context, _ db.Caller) (any, error) { return s.WorkOrders(ctx, w) }
		},
		Example: "maintenance work-orders list --status open --assigned-to Ana\nmaintenance work-orders list --overdue --csv",
		Print:   schema.Printed(printOrders),
	}
}

// BindFilter binds the filters of the list over REST, at the command line and on pages, without the search.
func BindFilter(f *schema.Form, w *Filter) {
	bindStatus(f, &w.Status, "only those in this state")
	bindPriority(f, &w.Priority, "only those with this priority")
	f.ID(&w.AssetID, "asset_id", "only those of this asset", schema.Flag("asset"), schema.Label("Asset"),
		schema.Lookup(assetNamed), schema.Choices(assetChoices))
	f.Text(&w.AssignedTo, "assigned_to", "only those of this assignee", schema.Most(maxName), schema.ChoicesFor(assignees),
		schema.Any)
	var overdue bool
	if f.Bool(&overdue, "overdue", "true: only those that are overdue; false: only those that are not") {
		w.Overdue = &overdue
	}
}

func bindQ(f *schema.Form, p *string) {
	f.Text(p, "q", "words of the description, the resolution or the asset, in any case, or the number",
		schema.Most(maxName), schema.Label("Search"))
}

func bindStatus(f *schema.Form, p *string, about string, opts ...schema.Opt) {
	f.Enum(p, "status", about, workOrderMoves.States(),
		append(opts, schema.Folded, schema.Alias("in_progress", "in-progress"))...)
}

// agentSorts are what agents may sort work orders by, with the columns.
var agentSorts = map[string]string{"newest": "", "due": "due_date", "priority": "priority", "cost": "total_cost_cents"}

// bindFound binds what agents have beside the filters.
func (s *Service) bindFound(f *schema.Form, w Filter) schema.Handler {
	w.Named = f.Given("asset")
	f.DayPtr(&w.From, "from", "first day")
	f.DayPtr(&w.To, "to", "last day")
	sort := "newest"
	f.Enum(&sort, "sort", "", []string{"newest", "due", "priority", "cost"})
	w.Asked = f.Limit(&w.Limit)
	f.After(&w.After)
	f.Short(&w.Short)
	if w.Sort, w.Falling = agentSorts[sort], sort == "cost"; w.Sort != "" {
		w.Skip, w.After = w.After, 0
	}
	return func(ctx context.Context, _ db.Caller) (any, error) { return s.FindWorkOrders(ctx, w) }
}

// printOrders is a list of work orders as a table for a terminal.
func printOrders(w io.Writer, page WorkOrders) {
	schema.Tabulate(w, "ID|ASSET|DESCRIPTION|PRIORITY|STATUS|ASSIGNED|DUE|COST", page.WorkOrders,
		func(wo WorkOrder) []any {
			due := schema.Cell(wo.DueDate)
			if wo.Overdue {
				due += " (overdue)"
			}
			return []any{wo.ID, schema.Shorten(wo.Asset, 24), schema.Shorten(firstLine(wo.Description), 40), wo.Priority,
				wo.Status,
				schema.Cell(wo.AssignedTo), due, units(wo.TotalCostCents)}
		})
	fmt.Fprintf(w, "%d in all\n", page.Total)
}

// units is an amount of cents in currency units, for a table.
func units(cents int64) string { return exact.CurrencyOf("").Plain(cents) }
