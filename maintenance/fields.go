package maintenance

import (
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// check refuses fields that are wrong by themselves and normalises the others: one way
// for every surface. An empty priority is medium, an empty type corrective.
func (wo *WorkOrder) check() (err error) {
	if wo.Description, err = needed("description", wo.Description, maxText); err != nil {
		return err
	}
	if wo.Priority == "" {
		wo.Priority = "medium"
	}
	if wo.Priority, err = choice("priority", wo.Priority, priorities, alsoPriority); err != nil {
		return err
	}
	if wo.Type == "" {
		wo.Type = "corrective"
	}
	if wo.Type, err = choice("wo_type", wo.Type, orderTypes, nil); err != nil {
		return err
	}
	who, err := text("assigned_to", cell(wo.AssignedTo), maxName)
	if err != nil {
		return err
	}
	wo.AssignedTo = db.NullText(who)
	return wo.checkNumbers()
}

func (wo *WorkOrder) checkNumbers() error {
	if err := within("labor_minutes", wo.LaborMinutes, maxMinutes); err != nil {
		return err
	}
	if wo.PartsCost.Unscaled < 0 || wo.PartsCost.Unscaled > maxTyped*100 {
		return fault.Fieldf("parts_cost", "parts_cost: %s is out of range; it takes an amount from 0 to %d", wo.PartsCost, maxTyped)
	}
	return within("downtime_minutes", wo.DowntimeMinutes, maxMinutes)
}

// bindPriority binds the priority that a list is narrowed to.
func bindPriority(f *schema.Form, p *string, about string) bool {
	return f.Enum(p, "priority", about, priorities, schema.Folded, schema.Alias("critical", "urgent"))
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
