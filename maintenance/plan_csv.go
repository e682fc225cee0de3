package maintenance

import (
	"fmt"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

const maxDays = 36_500

// planTable is the preventive maintenance plans as CSV.
func planTable() schema.Table {
	t := plans.Table("pm-plans", "Preventive maintenance plans, one row each: by days, by use of a meter, or both.")
	t.Row = func(f *schema.Form) schema.Put {
		var r planRow
		bindPlanRow(f, &r)
		return func(tx *db.Tx) (schema.Outcome, error) { return putPlan(tx, r) }
	}
	t.Find = func(c *db.Conn, cell func(column string) string) ([]string, bool, error) {
		p, found, err := plans.One(c, "WHERE p.asset_id = (SELECT id FROM assets WHERE asset_tag = ?) AND p.title = ?",
			cell("asset_tag"), cell("title"))
		return plans.Cells(p), found, err
	}
	return t
}

// planRow is a plan as a row of its file or its form gives it.
type planRow struct {
	plan
	given func(column string) bool
}

func bindPlanRow(f *schema.Form, r *planRow) {
	brought := plans.Form(f, &r.plan, false, nil)
	r.given = func(column string) bool { // an empty cell clears a value, but for the first day
		return brought[column] || column != "start_date" && f.Given(column)
	}
}

// PlanColumns are the columns of Plan.Cells.
func PlanColumns() []string { return plans.Header() }

// Cells is the plan as a row of the table.
func (p Plan) Cells() []string { return plans.Cells(p.plan) }

// putPlan makes the plan that the row names, or applies the row to it. A plan whose last service or meter the row
// changes counts as changed: reopening a job does not restore its former values.
func putPlan(tx *db.Tx, r planRow) (o schema.Outcome, err error) {
	a, err := assetByTag(&tx.Conn, r.tag)
	if err != nil {
		return o, err
	}
	if r.LastDone != nil {
		if _, err := pastDay(tx, "last_done_date", r.LastDone); err != nil {
			return o, err
		}
	}
	p, found, err := plans.One(&tx.Conn, "WHERE p.asset_id = ? AND p.title = ?", a.ID, r.Title)
	if err != nil {
		return o, err
	}
	if !found && !r.given("start_date") {
		if err := tx.CheckClock(); err != nil {
			return o, err
		}
	}
	if !found {
		p = plan{AssetID: a.ID, Title: r.Title, schedule: schedule{Start: tx.Today()}}
	}
	before := p
	changes := plans.Edit(&p, r.plan, func(column string) bool { return column != "baseline_reading" && r.given(column) })
	if err := p.count(tx, a, r); err != nil {
		return o, err
	}
	if !found {
		return plans.Create(tx, &p)
	}
	if p.MeterID != before.MeterID {
		changes["meter"] = [2]any{before.MeterID, p.MeterID}
	}
	if was, is := orZero(before.Baseline), orZero(p.Baseline); was != is {
		changes["baseline_reading"] = [2]any{was, is}
	}
	if len(changes) == 0 {
		return schema.Outcome{ID: p.ID}, nil
	}
	for _, column := range []string{"last_done_date", "meter", "baseline_reading"} {
		if _, touched := changes[column]; touched {
			p.RestartedBy = 0
		}
	}
	if err := plans.Update(tx, &before, &p); err != nil {
		return o, err
	}
	return schema.Changed(p.ID, changes), tx.Audit("pm.changed", db.Subject("pm_plan", p.ID), changes)
}

func orZero(m *exact.Milli) exact.Milli {
	if m == nil {
		return 0
	}
	return *m
}

// count sets the plan's meter and baseline by the row, and refuses a plan without a trigger, or with a use that no
// meter counts.
func (p *plan) count(tx *db.Tx, a Asset, r planRow) error {
	if p.IntervalUsage == nil {
		p.MeterID, p.Baseline, p.DueSoonUsage = 0, nil, nil
		switch {
		case p.IntervalDays == nil:
			return fault.Fieldf("interval_days",
				"interval_days and interval_usage are both empty: give one of them, or both")
		case r.meter != "" || r.Baseline != nil || r.DueSoonUsage != nil:
			return fault.Invalidf("interval_usage is empty: give it, or leave out meter, baseline_reading and due_soon_usage")
		}
		return nil
	}
	if *p.IntervalUsage == 0 {
		return fault.Invalidf("interval_usage: 0 is out of range; it takes a number above 0 with at most 3 decimals")
	}
	var m Meter
	var err error
	if r.given("meter") && r.meter != "" || p.MeterID == 0 {
		m, err = pickMeter(&tx.Conn, a, r.meter)
	} else {
		m, err = meters.ByID(&tx.Conn, p.MeterID)
	}
	if err != nil {
		return err
	}
	switch {
	case r.Baseline != nil && *r.Baseline > m.Reading:
		return fault.Invalidf("baseline_reading: %v is above what the meter %s shows, %v; it takes at most that", *r.Baseline,
			m.Name, m.Reading)
	case r.Baseline != nil:
		p.Baseline = r.Baseline
	case m.ID != p.MeterID: // a new plan counts from its meter's present value, not from 0
		p.Baseline = &m.Reading
	}
	p.MeterID = m.ID
	return nil
}

func savePlan(tx *db.Tx, r planRow) (none Plan, err error) {
	o, err := putPlan(tx, r)
	if err != nil {
		return none, err
	}
	return planByID(&tx.Conn, o.ID)
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
		Fill:    planTable().Save(s.db, schema.Op{}).Fill,
		Bind:    schema.Writes(s.db, bindPlanRow, savePlan),
		Refuses: []fault.Kind{fault.NotFound},
		Example: "maintenance plans save LATHE-1 \"Change the oil\" --interval-days 180 --interval-usage 250 --meter hours " +
			"--checklist \"Drain\" --checklist \"Fill\"",
		Did: schema.Said(func(p Plan) string {
			return fmt.Sprintf("%s, %s: every %s, next due %s.", p.Asset, p.Title, everyText(p.PMDueRow), nextDay(p.NextDue))
		}),
		Leads: leadsToPlan,
	}
}
