package maintenance

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Plan is a preventive maintenance plan with what it comes to today.
type Plan struct {
	PMDueRow
	AssetTag     string       `json:"asset_tag"`
	StartDate    exact.Day    `json:"start_date" about:"when the first service by days is due"`
	DueSoonDays  *int64       `json:"due_soon_days"`
	DueSoonUsage *exact.Milli `json:"due_soon_usage"`
	Checklist    []string     `json:"checklist"`
	Paused       bool         `json:"paused" about:"it is not in the due list and opens no jobs"`

	plan plan
}

// Plans is one page of the plans, by id.
type Plans struct {
	Plans []Plan `json:"plans"`
	Next  *int64 `json:"next" about:"pass it as after; null at the end"`
	Total int64  `json:"total"`
}

// PlanFilter restricts a list of plans; zero values do not.
type PlanFilter struct {
	AssetID int64
	Q       string // words of the title, or of the asset's name or tag
	Paused  *bool
	schema.Cursor[int64]
}

func (f PlanFilter) where() (t db.Where) {
	t.And(f.AssetID != 0, "p.asset_id = ?", f.AssetID)
	if f.Paused != nil {
		t.And(true, "p.paused = ?", *f.Paused)
	}
	t.And(f.Q != "", "has_words(?, p.title, a.name, a.asset_tag)", f.Q)
	return t
}

// Plans lists plans by id, including those of retired assets.
func (s *Service) Plans(ctx context.Context, f PlanFilter) (Plans, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (Plans, error) { return listPlans(c, f) })
}

func listPlans(c *db.Conn, f PlanFilter) (page Plans, err error) {
	all := f.where()
	t := all
	t.And(true, "p.id > ?", f.After)
	if page.Plans, err = plansWhere(c, t.SQL()+" ORDER BY p.id LIMIT ?", append(t.Args, f.Fetch())...); err != nil {
		return page, err
	}
	page.Plans, page.Next = schema.Cut(page.Plans, f.Limit, func(one Plan) int64 { return one.PMID })
	if page.Total = int64(len(page.Plans)); page.Next != nil || f.After != 0 {
		page.Total, _, err = db.One(c, db.Int, "SELECT count(*)"+planTables+all.SQL(), all.Args...)
	}
	return page, err
}

func plansWhere(c *db.Conn, rest string, args ...any) ([]Plan, error) {
	first, err := c.Prepare(firstReading)
	if err != nil {
		return nil, err
	}
	list := []Plan{}
	err = db.Each(c, func(r *db.Row) error {
		p := scanWithJob(r)
		u, err := p.counter.useBy(first, c.Today())
		if err != nil {
			return err
		}
		list = append(list, Plan{PMDueRow: p.row(c.Today(), u), AssetTag: p.tag, StartDate: p.Start,
			DueSoonDays: p.DueSoonDays, DueSoonUsage: p.DueSoonUsage, Checklist: p.Checklist, Paused: p.Paused,
			plan: p.plan})
		return nil
	}, "SELECT "+dueColumns+", "+openJob+planTables+rest, args...)
	return list, err
}

// planByID is one plan; 404 if there is none.
func planByID(c *db.Conn, id int64) (Plan, error) {
	list, err := plansWhere(c, " WHERE p.id = ?", id)
	if err != nil || len(list) == 0 {
		return Plan{}, cmp.Or(err, noPlan(id))
	}
	return list[0], nil
}

// Plan returns one plan; 404 if there is none.
func (s *Service) Plan(ctx context.Context, id int64) (Plan, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (Plan, error) { return planByID(c, id) })
}

// PlanRecord is a plan with all that its page shows.
type PlanRecord struct {
	Plan
	Jobs  []WorkOrder // that serve it, latest first
	Total int64       // how many there are
}

// mostPlanJobs is how many of its jobs a plan's page shows.
const mostPlanJobs = 20

// PlanRecord reads a plan with the jobs that serve it; 404 if there is none.
func (s *Service) PlanRecord(ctx context.Context, id int64) (PlanRecord, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (v PlanRecord, err error) {
		if v.Plan, err = planByID(c, id); err != nil {
			return v, err
		}
		today := c.Today()
		scan := func(r *db.Row) WorkOrder { return workOrders.Row(r).on(today) }
		if v.Jobs, err = db.All(c, scan, "SELECT "+workOrders.Columns()+orderTables+
			" WHERE w.pm_id = ? ORDER BY w.id DESC LIMIT ?", id, mostPlanJobs); err != nil {
			return v, err
		}
		v.Total, _, err = db.One(c, db.Int, "SELECT count(*) FROM work_orders WHERE pm_id = ?", id)
		return v, err
	})
}

func (s *Service) listPlans() schema.Op {
	return schema.Op{
		Name: "list_plans", About: "Preventive maintenance plans with their state today, by id.",
		Response: Plans{Plans: []Plan{samplePlan}, Total: 1},
		Bind: schema.Reads(func(f *schema.Form, p *PlanFilter) {
			BindPlanFilter(f, p)
			f.Text(&p.Q, "q", "words of the title, or of the asset's name or tag", schema.Most(maxName), schema.Label("Search"))
			f.Limit(&p.Limit)
			f.After(&p.After)
		}, s.Plans),
		Example: "maintenance plans list --asset LATHE-1\nmaintenance plans list --paused --csv",
		Print: schema.Printed(func(w io.Writer, page Plans) {
			schema.Tabulate(w, "ID|PLAN|ASSET|LAST DONE|NEXT DUE|STATUS", page.Plans, func(p Plan) []any {
				status := p.DueStatus
				if p.Paused {
					status = "paused"
				}
				return []any{p.PMID, p.AssetTag + "/" + p.Title, schema.Shorten(p.Asset, 24), schema.Cell(p.LastDoneDate),
					schema.Cell(p.NextDue),
					status}
			})
			fmt.Fprintf(w, "%d in all\n", page.Total)
		}),
	}
}

// BindPlanFilter binds the filters of the list.
func BindPlanFilter(f *schema.Form, p *PlanFilter) {
	f.ID(&p.AssetID, "asset_id", "only those of this asset", schema.Flag("asset"), schema.Lookup(assetNamed),
		schema.Choices(assetChoices), schema.Label("Asset"))
	var paused bool
	if f.Bool(&paused, "paused", "true: only those that are paused; false: only those that are not") {
		p.Paused = &paused
	}
}

func (s *Service) showPlan() schema.Op {
	return schema.Op{
		Name: "show_plan", About: "One preventive maintenance plan with its check list and state today.",
		Response: samplePlan,
		Bind:     schema.Reads(bindPlan, s.Plan),
		Refuses:  []fault.Kind{fault.NotFound},
		Example:  "maintenance plans show \"LATHE-1/Change the oil\"",
		Print: schema.Printed(func(w io.Writer, p Plan) {
			schema.Facts(w, "plan", fmt.Sprintf("%d, %s/%s", p.PMID, p.AssetTag, p.Title), "asset", p.Asset, "every",
				everyText(p.PMDueRow),
				"last done", schema.Cell(p.LastDoneDate), "next due", nextDay(p.NextDue), "status", p.DueStatus,
				"paused", yes(p.Paused))
			for i, step := range p.Checklist {
				fmt.Fprintf(w, "  %d. %s\n", i+1, step)
			}
		}),
	}
}

// everyText is a plan's triggers in words: "180 days, 250 h".
func everyText(p PMDueRow) string {
	text := ""
	if p.IntervalDays != nil {
		text = fmt.Sprintf("%d days", *p.IntervalDays)
	}
	if p.IntervalUsage != nil {
		if text != "" {
			text += " or "
		}
		text += fmt.Sprintf("%v %s", *p.IntervalUsage, schema.Cell(p.Unit))
	}
	return text
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return ""
}
