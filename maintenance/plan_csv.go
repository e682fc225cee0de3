package maintenance

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

const maxDays = 36_500

// planRow is one row of the plans' file.
type planRow struct {
	tag, title, meter string
	schedule
	start     *exact.Day
	baseline  *exact.Milli
	checklist []string
	paused    bool
}

// planTable is the preventive maintenance plans as CSV.
func (s *Service) planTable() schema.Table {
	return schema.Table{
		Name:  "pm-plans",
		About: "Preventive maintenance plans, one row each: by days, by use of a meter, or both.",
		Row: func(f *schema.Form) schema.Put {
			p := bindPlanRow(f)
			return func(tx *db.Tx) (schema.Outcome, error) { return putPlan(tx, f, p) }
		},
		Export: exportPlans,
		Find:   findPlanRow,
	}
}

// bindPlanRow binds a plan's fields: a row's columns, or its form's.
func bindPlanRow(f *schema.Form) (p planRow) {
	f.Text(&p.tag, "asset_tag", "the asset", schema.Required, schema.Most(maxName), schema.Choices(tagChoices),
		schema.Label("Asset"), schema.NewBy("save_asset"))
	f.Text(&p.title, "title", "the service; with asset_tag it identifies the plan", schema.Required, schema.Most(maxName))
	f.IntPtr(&p.IntervalDays, "interval_days", "days between services", schema.Range(1, maxDays),
		schema.Label("Days between services"))
	f.MilliPtr(&p.IntervalUsage, "interval_usage", "use between services, in the meter's unit; above 0",
		schema.Range(0, maxReading), schema.Label("Use between services"))
	f.Text(&p.meter, "meter",
		"the meter that counts the use, by name or id; not needed if the asset has one meter", schema.Most(maxName),
		schema.Choices(meterChoices))
	f.DayPtr(&p.start, "start_date", "the day of the first service by days; empty is the day the plan is created",
		schema.Label("First due on"), schema.Today)
	f.DayPtr(&p.LastDone, "last_done_date", "the day of the last service; empty is never",
		schema.Label("Last done on"))
	f.MilliPtr(&p.baseline, "baseline_reading",
		"the meter's reading at the last service, at most what it shows now; for a new plan what it shows now when "+
			"empty", schema.Range(-maxReading, maxReading),
		schema.Label("Reading at the last service"))
	f.IntPtr(&p.DueSoonDays, "due_soon_days", "due soon within this many days; empty is 14 or a fifth of the interval, "+
		"whichever is less", schema.Range(0, maxDays), schema.Label("Due soon, days before"))
	f.MilliPtr(&p.DueSoonUsage, "due_soon_usage", "due soon with this much use left; empty is a tenth of the "+
		"interval", schema.Range(0, maxReading), schema.Label("Due soon, use before"))
	f.Texts(&p.checklist, "checklist", "the steps of its jobs, one a line", maxSteps, maxStepText,
		schema.Label("Check list"))
	f.Bool(&p.paused, "paused", "true (1): it is not in the due list and opens no jobs")
	return p
}

var planRows = "SELECT " + planColumns + `, a.asset_tag, m.name
	FROM pm_plans p CROSS JOIN assets a ON a.id = p.asset_id LEFT JOIN meters m ON m.id = p.meter_id`

func exportPlans(c *db.Conn, emit func(cells ...string) error) error {
	return db.Each(c, func(r *db.Row) error { return emit(planCells(r)...) }, planRows+" ORDER BY p.id")
}

// findPlanRow finds a plan by its asset's tag and its title.
func findPlanRow(c *db.Conn, given func(column string) string) ([]string, bool, error) {
	return db.One(c, planCells, planRows+" WHERE p.asset_id = (SELECT id FROM assets WHERE asset_tag = ?) AND p.title = ?",
		given("asset_tag"), given("title"))
}

// planCells is a plan as a row.
func planCells(r *db.Row) []string {
	p, tag, meter := scanPlan(r), r.Text(), r.Text()
	return []string{tag, p.Title, schema.Cell(p.IntervalDays), schema.Cell(p.IntervalUsage), meter, p.Start.String(),
		schema.Cell(p.LastDone),
		schema.Cell(p.baseline()), schema.Cell(p.DueSoonDays), schema.Cell(p.DueSoonUsage),
		strings.Join(p.Checklist, "\n"),
		truth(p.Paused)}
}

// PlanColumns are the columns of Plan.Cells.
func PlanColumns() []string { return columnsOf((&Service{}).planTable()) }

// Cells is the plan as a row of the table.
func (p Plan) Cells() []string {
	return []string{p.AssetTag, p.Title, schema.Cell(p.IntervalDays), schema.Cell(p.IntervalUsage), schema.Cell(p.Meter),
		p.StartDate.String(), schema.Cell(p.LastDoneDate),
		schema.Cell(p.BaselineReading), schema.Cell(p.DueSoonDays), schema.Cell(p.DueSoonUsage), strings.Join(p.Checklist, "\n"),
		truth(p.Paused)}
}

// columnsOf lists a table's columns.
func columnsOf(t schema.Table) []string {
	var names []string
	for _, a := range t.Columns() {
		names = append(names, a.Name)
	}
	return names
}

// truth is a truth value as a cell.
func truth(is bool) string {
	if is {
		return "1"
	}
	return ""
}

// putPlan makes the plan that the row names, or applies the row to it. A plan whose last service or meter the row
// changes counts as changed: reopening a job does not restore its former values.
func putPlan(tx *db.Tx, row *schema.Form, r planRow) (o schema.Outcome, err error) {
	a, err := assetByTag(&tx.Conn, r.tag)
	if err != nil {
		return o, err
	}
	if r.LastDone != nil {
		if _, err := pastDay(tx, "last_done_date", r.LastDone); err != nil {
			return o, err
		}
	}
	p, found, err := db.One(&tx.Conn, scanPlan, "SELECT "+planColumns+
		" FROM pm_plans p WHERE p.asset_id = ? AND p.title = ?", a.ID, r.title)
	if err != nil {
		return o, err
	}
	if !found && r.start == nil {
		if err := tx.CheckClock(); err != nil {
			return o, err
		}
	}
	if !found {
		p = plan{AssetID: a.ID, Title: r.title, schedule: schedule{Start: tx.Today()}}
	}
	before := p
	e := newEdit(row.Given)
	setPtr(e, "interval_days", &p.IntervalDays, r.IntervalDays)
	setPtr(e, "interval_usage", &p.IntervalUsage, r.IntervalUsage)
	if r.start != nil {
		set(e, "start_date", &p.Start, *r.start)
	}
	setPtr(e, "last_done_date", &p.LastDone, r.LastDone)
	setPtr(e, "due_soon_days", &p.DueSoonDays, r.DueSoonDays)
	setPtr(e, "due_soon_usage", &p.DueSoonUsage, r.DueSoonUsage)
	if row.Given("checklist") && !slices.Equal(p.Checklist, r.checklist) {
		e.changes["checklist"] = [2]any{p.Checklist, r.checklist}
		p.Checklist = r.checklist
	}
	set(e, "paused", &p.Paused, r.paused)
	if err := p.count(tx, a, row, r); err != nil {
		return o, err
	}
	if p.MeterID != before.MeterID {
		e.changes["meter"] = [2]any{before.MeterID, p.MeterID}
	}
	if p.Baseline != before.Baseline {
		e.changes["baseline_reading"] = [2]any{before.Baseline, p.Baseline}
	}
	return p.store(tx, e, found)
}

// count sets the plan's meter and baseline by the row, and refuses a plan without a trigger, or with a use that no
// meter counts.
func (p *plan) count(tx *db.Tx, a Asset, row *schema.Form, r planRow) error {
	if p.IntervalUsage == nil {
		p.MeterID, p.Baseline, p.DueSoonUsage = 0, 0, nil
		switch {
		case p.IntervalDays == nil:
			return fault.Fieldf("interval_days",
				"interval_days and interval_usage are both empty: give one of them, or both")
		case r.meter != "" || r.baseline != nil || r.DueSoonUsage != nil:
			return fault.Invalidf("interval_usage is empty: give it, or leave out meter, baseline_reading and due_soon_usage")
		}
		return nil
	}
	if *p.IntervalUsage == 0 {
		return fault.Invalidf("interval_usage: 0 is out of range; it takes a number above 0 with at most 3 decimals")
	}
	var m Meter
	var err error
	if row.Given("meter") && r.meter != "" || p.MeterID == 0 {
		m, err = pickMeter(&tx.Conn, a, r.meter)
	} else {
		m, err = findMeter(&tx.Conn, p.MeterID)
	}
	if err != nil {
		return err
	}
	switch {
	case r.baseline != nil && *r.baseline > m.Reading:
		return fault.Invalidf("baseline_reading: %v is above what the meter %s shows, %v; it takes at most that", *r.baseline,
			m.Name, m.Reading)
	case r.baseline != nil:
		p.Baseline = *r.baseline
	case m.ID != p.MeterID: // a new plan counts from its meter's present value, not from 0
		p.Baseline = m.Reading
	}
	p.MeterID = m.ID
	return nil
}

// store writes the plan, if it is new or something changed.
func (p *plan) store(tx *db.Tx, e *edit, found bool) (o schema.Outcome, err error) {
	if !found {
		id, err := tx.InsertRow("pm_plans", "asset_id, title, "+planSets, append([]any{p.AssetID, p.Title}, p.sets()...)...)
		if err != nil {
			return o, err
		}
		return schema.Outcome{ID: id, New: true}, tx.Audit("pm.created", db.Subject("pm_plan", id), map[string]any{
			"asset_id": p.AssetID, "title": p.Title, "interval_days": p.IntervalDays, "interval_usage": p.IntervalUsage,
			"baseline_reading": p.baseline()})
	}
	if e.nothing() {
		return schema.Outcome{ID: p.ID}, nil
	}
	for _, column := range []string{"last_done_date", "meter", "baseline_reading"} {
		if _, touched := e.changes[column]; touched {
			p.RestartedBy = 0
		}
	}
	if err := tx.UpdateRow("pm_plans", p.ID, planSets, p.sets()...); err != nil {
		return o, err
	}
	return schema.Changed(p.ID, e.changes), tx.Audit("pm.changed", db.Subject("pm_plan", p.ID), e.changes)
}

func (s *Service) savePlan() schema.Op {
	return schema.Op{
		Name: "save_plan",
		Rare: []string{"last_done_date", "due_soon_days", "paused"},
		Groups: []schema.Group{{Title: "By use of a meter", Fields: []string{"interval_usage", "meter", "baseline_reading",
			"due_soon_usage"}}},
		Keys: []string{"asset_tag", "title"},
		About: "Create or change a preventive maintenance plan, identified by asset_tag and title. By days, by use of a " +
			"meter, or both.",
		Writes: true, Idempotent: true, Response: samplePlan,
		Fill: s.planTable().Save(s.db, schema.Op{}).Fill,
		Bind: func(f *schema.Form) schema.Handler {
			r := bindPlanRow(f)
			return func(ctx context.Context, who db.Caller) (any, error) {
				return db.Update(ctx, s.db, who, func(tx *db.Tx) (Plan, error) {
					o, err := putPlan(tx, f, r)
					if err != nil {
						return Plan{}, err
					}
					return planByID(&tx.Conn, o.ID)
				})
			}
		},
		Refuses: []fault.Kind{fault.NotFound},
		Example: "maintenance plans save LATHE-1 \"Change the oil\" --interval-days 180 --interval-usage 250 --meter hours " +
			"--checklist \"Drain\" --checklist \"Fill\"",
		Did: schema.Said(func(p Plan) string {
			return fmt.Sprintf("%s, %s: every %s, next due %s.", p.Asset, p.Title, everyText(p.PMDueRow), nextDay(p.NextDue))
		}),
		Leads: leadsToPlan,
	}
}
