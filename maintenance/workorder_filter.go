package maintenance

import (
	"maps"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/words"
)

// Filter restricts a list of work orders; zero values do not.
type Filter struct {
	Status     string
	Priority   string
	AssetID    int64
	AssignedTo string // in any case
	Q          string // words of the description, the resolution, or the asset's name or tag, or the order's number
	Overdue    *bool
	From, To   *exact.Day // the days on which it was opened, in the shop's zone, both included
	schema.Cursor[int64]

	Sort    string // one of OrderSorts, instead of newest first
	Falling bool   // in descending order
	Skip    int64  // with Sort, instead of After: the number of earlier rows

	Named bool // for agents: the asset was named, so it must exist
	Short bool // for agents: a row's few fields that identify and decide
	Asked bool // for agents: Limit was given, however long the answer becomes

	names []string // the spellings of the assignee in the orders
}

// condition is the filter as SQL with its arguments. If several indexes are possible, the most selective is used: a
// unary plus keeps the engine from the others.
type condition struct {
	db.Where
	indexed bool
	joins   bool // it looks at the asset
}

// by adds a term on a column that has an index whose end holds the newest.
func (t *condition) by(column, rest string, args ...any) {
	if t.indexed {
		column = "+" + column
	}
	t.indexed = true
	t.And(true, column+rest, args...)
}

// resolve finds the spellings of the assignee in the orders. An unknown name matches nothing.
func (f *Filter) resolve(c *db.Conn) error {
	if f.AssignedTo == "" {
		return nil
	}
	names, err := assigneeNames(c)
	if err != nil {
		return err
	}
	f.names = nil
	for _, n := range names {
		if strings.EqualFold(n, f.AssignedTo) {
			f.names = append(f.names, n)
		}
	}
	return nil
}

// where is the filter's condition on work_orders w and assets a, without After.
func (f Filter) where(c *db.Conn) (t condition) {
	if f.AssetID != 0 {
		t.by("w.asset_id", " = ?", f.AssetID)
	}
	switch {
	case f.AssignedTo == "":
	case len(f.names) == 0:
		t.by("w.assigned_to", " = ?", f.AssignedTo)
	case len(f.names) == 1 && f.Status != "" && !t.indexed: // an index has both
		t.by("w.assigned_to", " = ? AND w.status = ?", f.names[0], f.Status)
	case len(f.names) == 1:
		t.by("w.assigned_to", " = ?", f.names[0])
	default:
		args := schema.Map(f.names, func(n string) any { return n })
		t.by("w.assigned_to", " IN (?"+strings.Repeat(", ?", len(args)-1)+")", args...)
	}
	f.whereDue(c, &t)
	f.whereState(&t)
	if f.From != nil {
		t.And(true, "w.created_at >= ?", exact.InstantOf(f.From.Time(c.Zone())))
	}
	if f.To != nil {
		t.And(true, "w.created_at < ?", exact.InstantOf((*f.To + 1).Time(c.Zone())))
	}
	t.joins = f.Q != ""
	t.And(t.joins, "(has_words(?, w.description, a.name, a.asset_tag, w.resolution) OR w.id = ?)", f.Q,
		words.Number(f.Q, "WO", "job"))
	return t
}

// whereDue tells the overdue from the others.
func (f Filter) whereDue(c *db.Conn, t *condition) {
	switch {
	case f.Overdue == nil:
	case *f.Overdue:
		t.And(true, "w.due_date < ? AND w.status IN ('open', 'in-progress')", c.Today())
	default:
		t.And(true, "(w.due_date IS NULL OR w.due_date >= ? OR w.status IN ('done', 'cancelled'))", c.Today())
	}
}

// whereState adds priority and status, the more selective one first: few orders are open, many are closed.
func (f Filter) whereState(t *condition) {
	priority := func() {
		if f.Priority != "" {
			t.by("w.priority", " = ?", f.Priority)
		}
	}
	if f.Status == "" || closed(f.Status) {
		priority()
	}
	if f.Status != "" {
		t.by("w.status", " = ?", f.Status)
		if !closed(f.Status) {
			priority()
		}
	}
}

// summed reports whether the stored sums give the number and cost of the filter's orders.
func (f Filter) summed() bool {
	return f.AssetID == 0 && f.Q == "" && f.Overdue == nil && f.From == nil && f.To == nil
}

// counted reports whether the stored numbers of every status and priority do.
func (f Filter) counted() bool { return f.summed() && f.AssignedTo == "" }

const orderTables = " FROM work_orders w CROSS JOIN assets a ON a.id = w.asset_id"

// orderSorts are the columns that the list can be sorted by, as SQL.
var orderSorts = map[string]string{
	"id": "w.id", "asset": "a.name",
	"priority":    "CASE w.priority WHEN 'urgent' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 ELSE 3 END",
	"status":      "CASE w.status WHEN 'open' THEN 0 WHEN 'in-progress' THEN 1 WHEN 'done' THEN 2 ELSE 3 END",
	"assigned_to": "w.assigned_to IS NULL, w.assigned_to", "due_date": "w.due_date IS NULL, w.due_date",
	"total_cost_cents": `(w.labor_minutes * coalesce(w.labor_rate_cents, (SELECT labor_rate_cents
		FROM maintenance_settings)) + 30) / 60 + w.typed_cents + w.used_cents`,
}

// OrderSorts lists the columns that work orders can be sorted by.
func OrderSorts() []string { return slices.Sorted(maps.Keys(orderSorts)) }

// sorted is the statement that lists the filter's orders by a column. It chooses them by their ids: to sort whole rows
// takes twice as long.
func (f Filter) sorted(c *db.Conn) (query string, args []any) {
	t := f.where(c)
	by := orderSorts[f.Sort]
	if f.Sort == "status" && f.Status != "" || f.Sort == "priority" && f.Priority != "" {
		by = "NULL" // all have the same
	}
	if f.Falling {
		by += " DESC"
	}
	by = " ORDER BY " + by + ", w.id DESC"
	tables := " FROM work_orders w"
	if t.joins || f.Sort == "asset" {
		tables = orderTables
	}
	return "SELECT " + workOrders.Columns() + orderTables + " WHERE w.id IN (SELECT w.id" + tables + t.SQL() + by +
		" LIMIT ? OFFSET ?)" + by, append(t.Args, f.Limit, f.Skip)
}

// newestFirst is the statement that lists the filter's orders.
func (f Filter) newestFirst(c *db.Conn) (query string, args []any) {
	t := f.where(c)
	t.And(f.After != 0, "w.id < ?", f.After)
	return "SELECT " + workOrders.Columns() + orderTables + t.SQL() + " ORDER BY w.id DESC LIMIT ?",
		append(t.Args, f.Limit)
}

// inAll is the statement that counts the filter's orders: by the stored numbers if possible, else along an index.
func (f Filter) inAll(c *db.Conn) (query string, args []any) {
	t := f.where(c)
	switch {
	case f.counted():
		return "SELECT coalesce(sum(w.n), 0) FROM work_order_counts w" + t.SQL(), t.Args
	case f.summed():
		return "SELECT coalesce(sum(w.n), 0) FROM work_order_sums w" + t.SQL(), t.Args
	case t.joins:
		return "SELECT count(*)" + orderTables + t.SQL(), t.Args
	}
	return "SELECT count(*) FROM work_orders w" + t.SQL(), t.Args
}
