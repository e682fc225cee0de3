package maintenance

import (
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Fields are what people set of a work order, when it is opened, edited or imported. An
// empty priority is medium, an empty type corrective.
type Fields struct {
	Description     string
	Priority        string
	Type            string
	AssignedTo      string
	LaborMinutes    int64
	TypedCents      int64 // parts_cost
	DowntimeMinutes int64
	DueDate         *exact.Day
}

// check refuses fields that are wrong by themselves and normalises the others: one way
// for every surface.
func (n *Fields) check() (err error) {
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
	return n.checkNumbers()
}

func (n *Fields) checkNumbers() error {
	if err := within("labor_minutes", n.LaborMinutes, maxMinutes); err != nil {
		return err
	}
	if n.TypedCents < 0 || n.TypedCents > maxTyped*100 {
		return fault.Fieldf("parts_cost", "parts_cost: %s is out of range; it takes an amount from 0 to %d",
			exact.Decimal{Unscaled: n.TypedCents, Places: 2}, maxTyped)
	}
	return within("downtime_minutes", n.DowntimeMinutes, maxMinutes)
}

// sent is which fields a call brought: those alone are changed by an edit.
type sent map[string]bool

// bindDescription and those below bind one field each, on any surface. They tell
// whether the call brought it.
func bindDescription(f *schema.Form, p *string, opts ...schema.Opt) bool {
	return f.Text(p, "description", "what is to be done",
		append(opts, schema.Most(maxText), schema.Lines, schema.Example("Spindle bearing is loud"))...)
}

func bindPriority(f *schema.Form, p *string, about string) bool {
	return f.Enum(p, "priority", about, priorities, schema.Folded, schema.Alias("critical", "urgent"))
}

func bindType(f *schema.Form, p *string) bool {
	return f.Enum(p, "wo_type", "a repair, or a service before anything breaks", orderTypes, schema.Folded, schema.Label("Kind"))
}

func bindAssignee(f *schema.Form, p *string, opts ...schema.Opt) bool {
	return f.Text(p, "assigned_to", "who does it", append(opts, schema.Most(maxName), schema.Example("Ana"))...)
}

// bindEffort binds what a job took, telling which of it the call brought.
func bindEffort(f *schema.Form, n *Fields, came sent) {
	came["labor_minutes"] = f.Int(&n.LaborMinutes, "labor_minutes", "minutes worked", schema.Range(0, maxMinutes), schema.Example(90))
	came["parts_cost"] = f.Amount(&n.TypedCents, "parts_cost", "cost of parts in currency units, besides the parts used from stock",
		schema.Range(0, maxTyped), schema.Example(12.5))
	came["downtime_minutes"] = f.Int(&n.DowntimeMinutes, "downtime_minutes", "minutes that the asset stood still",
		schema.Range(0, maxMinutes), schema.Example(30))
}

func bindDue(f *schema.Form, p **exact.Day, opts ...schema.Opt) bool {
	return f.DayPtr(p, "due_date", "when it must be done", append(opts, schema.Label("Due"))...)
}

// assignees lists who has work orders, for a list to choose from.
func assignees(c *db.Conn) ([]schema.Choice, error) {
	names, err := assigneeNames(c)
	if err != nil || len(names) > 200 {
		return nil, err
	}
	list := make([]schema.Choice, len(names))
	for i, n := range names {
		list[i] = schema.Choice{Value: n, Text: n}
	}
	return list, nil
}

// assigneeNames lists every name that a work order is assigned to, one step into the
// index a name.
func assigneeNames(c *db.Conn) ([]string, error) {
	return db.All(c, func(r *db.Row) string { return r.Text() }, `WITH RECURSIVE names (name) AS (
		SELECT min(assigned_to) FROM work_orders WHERE assigned_to IS NOT NULL
		UNION ALL
		SELECT (SELECT min(w.assigned_to) FROM work_orders w WHERE w.assigned_to > name) FROM names WHERE name IS NOT NULL)
		SELECT name FROM names WHERE name IS NOT NULL`)
}
