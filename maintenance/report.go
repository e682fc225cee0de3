package maintenance

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// reportBy is by what a report adds up.
var reportBy = []string{"asset", "person", "month", "type"}

// Report is the result of a range of days' jobs, by asset, person, month or type.
type Report struct {
	From            exact.Day                            `json:"from"`
	To              exact.Day                            `json:"to"`
	By              string                               `json:"by" enum:"asset,person,month,type"`
	Jobs            *int64                               `json:"jobs,omitempty" about:"in all, on the first page"`
	DowntimeMinutes *int64                               `json:"downtime_minutes,omitempty" about:"in all, on the first page"`
	TotalCostCents  *int64                               `json:"total_cost_cents,omitempty" about:"in all, on the first page"`
	Rows            []schema.Row[ReportRow, ShortReport] `json:"rows"`
	Shown           int                                  `json:"shown"`
	Total           int                                  `json:"total" about:"rows in all"`
	Next            *string                              `json:"next" about:"pass it as after; null at the end"`
}

// ReportRow is one asset, person ("" is nobody), month (2026-11) or type.
type ReportRow struct {
	Key             string         `json:"key"`
	Jobs            int64          `json:"jobs"`
	TotalCostCents  int64          `json:"total_cost_cents"`
	LaborCostCents  int64          `json:"labor_cost_cents"`
	PartsCostCents  int64          `json:"parts_cost_cents"`
	DowntimeMinutes int64          `json:"downtime_minutes"`
	MTBFDays        *exact.Decimal `json:"mtbf_days"`
	MTTRHours       *exact.Decimal `json:"mttr_hours"`
}

// ShortReport are the few fields of a row that decide.
type ShortReport struct {
	Key             string `json:"key"`
	Jobs            int64  `json:"jobs"`
	TotalCostCents  int64  `json:"total_cost_cents"`
	DowntimeMinutes int64  `json:"downtime_minutes"`
}

func (r ReportRow) short() ShortReport {
	return ShortReport{r.Key, r.Jobs, r.TotalCostCents, r.DowntimeMinutes}
}

// by is the row's sort value, largest first; 0 keeps the order.
func (r ReportRow) by(sort string) int64 {
	switch sort {
	case "jobs":
		return r.Jobs
	case "downtime":
		return r.DowntimeMinutes
	case "cost":
		return r.TotalCostCents
	}
	return 0
}

// Report adds up the jobs, sorted by sort, largest first; months without it in order.
func (s *Service) Report(ctx context.Context, by, sort string, q FiguresFor, page schema.Listing) (Report, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (Report, error) {
		r, rows, err := report(c, by, q)
		slices.SortStableFunc(rows, func(a, b ReportRow) int { return cmp.Compare(b.by(sort), a.by(sort)) })
		if !page.First() {
			r.Jobs, r.DowntimeMinutes, r.TotalCostCents = nil, nil, nil
		}
		r.Rows, r.Next = schema.PageOf(rows, page, ReportRow.short, schema.AnswerBytes)
		r.Shown = len(r.Rows)
		return r, err
	})
}

// report adds up the jobs; its rows are the dearest first, months in order.
func report(c *db.Conn, by string, q FiguresFor) (r Report, rows []ReportRow, err error) {
	r.By = by
	if r.From, r.To, err = q.days(c); err != nil {
		return r, nil, err
	}
	var keys []string
	var all AssetFigures
	of := map[string]*AssetFigures{}
	err = eachDone(c, r.From, r.To, q.AssetID, func(j doneJob) {
		all.add(j)
		key := map[string]string{"asset": j.asset, "person": j.person, "month": j.day.Month().String(), "type": j.kind}[by]
		if of[key] == nil {
			keys = append(keys, key)
			of[key] = &AssetFigures{}
		}
		of[key].add(j)
	})
	r.Jobs, r.DowntimeMinutes, r.TotalCostCents = &all.Jobs, &all.DowntimeMinutes, &all.TotalCostCents
	for _, key := range keys {
		a := of[key]
		rows = append(rows, ReportRow{Key: key, Jobs: a.Jobs, TotalCostCents: a.TotalCostCents,
			LaborCostCents: a.LaborCostCents, PartsCostCents: a.PartsCostCents,
			DowntimeMinutes: a.DowntimeMinutes, MTBFDays: betweenFailures(r.days(key), a.DowntimeMinutes, a.corrective),
			MTTRHours: toRepair(a.repairSeconds, a.corrective)})
	}
	slices.SortFunc(rows, func(a, b ReportRow) int {
		if by != "month" && a.TotalCostCents != b.TotalCostCents {
			return cmp.Compare(b.TotalCostCents, a.TotalCostCents)
		}
		return strings.Compare(a.Key, b.Key)
	})
	r.Total = len(rows)
	return r, rows, err
}

// days is how many days of the range a row is about: those of its month, else all.
func (r Report) days(key string) int64 {
	from, to := r.From, r.To
	if m, is := exact.ParseMonth(key); is && r.By == "month" {
		from, to = max(from, m.First()), min(to, (m+1).First()-1)
	}
	return int64(to) - int64(from) + 1
}

func (s *Service) maintenanceReport() schema.Op {
	sums := int64(4)
	return schema.Op{
		Name: "maintenance_report", Says: "What jobs came to",
		About: "Jobs done in a range of days by asset, person, month or type: jobs, cost, downtime, mtbf_days (days less " +
			"downtime / corrective jobs), " +
			"mttr_hours (started to completed). key \"\": nobody. The last 365 days unless from and to say otherwise.",
		Response: Report{From: sampleDay - 364, To: sampleDay, By: "asset", Jobs: &sums, DowntimeMinutes: &sums,
			TotalCostCents: &sums,
			Rows:           schema.Rows([]ReportRow{{Key: "Lathe", Jobs: 4, TotalCostCents: 32450}}, false, ReportRow.short),
			Shown:          1, Total: 1},
		Bind: func(f *schema.Form) schema.Handler {
			by, sort := "asset", ""
			var q FiguresFor
			var page schema.Listing
			f.Enum(&by, "by", "", reportBy)
			f.DayPtr(&q.From, "from", "first day of completion")
			f.DayPtr(&q.To, "to", "last day")
			f.ID(&q.AssetID, "asset_id", "only this asset", schema.Lookup(assetNamed))
			f.Enum(&sort, "sort", "the most first; months without it in their order", []string{"cost", "jobs", "downtime"})
			f.Listing(&page)
			return func(ctx context.Context, _ db.Caller) (any, error) { return s.Report(ctx, by, sort, q, page) }
		},
		Refuses: []fault.Kind{fault.NotFound},
	}
}
