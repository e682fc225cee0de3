package maintenance

import (
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

// Report is what the jobs of a range of days came to, by asset, person, month or type.
type Report struct {
	From            exact.Day   `json:"from"`
	To              exact.Day   `json:"to"`
	By              string      `json:"by" enum:"asset,person,month,type"`
	Jobs            *int64      `json:"jobs,omitempty" about:"in all, on the first page"`
	DowntimeMinutes *int64      `json:"downtime_minutes,omitempty" about:"in all, on the first page"`
	TotalCostCents  *int64      `json:"total_cost_cents,omitempty" about:"in all, on the first page"`
	Rows            []ReportRow `json:"rows"`
	Shown           int         `json:"shown"`
	Total           int         `json:"total" about:"rows in all"`
	Next            *string     `json:"next" about:"ask on with after; null at the end"`
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

// Report adds the jobs up, the dearest first, months in their order.
func (s *Service) Report(ctx context.Context, by string, q FiguresFor) (Report, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (r Report, err error) {
		sums, err := figures(c, q)
		if err != nil {
			return r, err
		}
		r = Report{From: sums.From, To: sums.To, By: by, Rows: []ReportRow{}, Jobs: &sums.Jobs, DowntimeMinutes: &sums.DowntimeMinutes, TotalCostCents: &sums.TotalCostCents}
		var keys []string
		of := map[string]*AssetFigures{}
		err = eachDone(c, r.From, r.To, q.AssetID, func(j doneJob) *AssetFigures {
			key := map[string]string{"asset": j.asset, "person": j.person, "month": j.day.Month().String(), "type": j.kind}[by]
			if of[key] == nil {
				keys = append(keys, key)
				of[key] = &AssetFigures{}
			}
			return of[key]
		})
		for _, key := range keys {
			a := of[key]
			r.Rows = append(r.Rows, ReportRow{Key: key, Jobs: a.Jobs, TotalCostCents: a.TotalCostCents, LaborCostCents: a.LaborCostCents, PartsCostCents: a.PartsCostCents,
				DowntimeMinutes: a.DowntimeMinutes, MTBFDays: betweenFailures(r.days(key), a.DowntimeMinutes, a.corrective), MTTRHours: toRepair(a.repairSeconds, a.corrective)})
		}
		slices.SortStableFunc(r.Rows, func(a, b ReportRow) int {
			if by != "month" && a.TotalCostCents != b.TotalCostCents {
				return int(min(max(b.TotalCostCents-a.TotalCostCents, -1), 1))
			}
			return strings.Compare(a.Key, b.Key)
		})
		r.Total = len(r.Rows)
		return r, err
	})
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
		About: "What the jobs done from one day to another came to, by asset, person, month or type: jobs, cost, downtime, mtbf_days (days less downtime / corrective jobs), " +
			"mttr_hours (started to completed). The dearest first. The last 365 days unless from and to say otherwise.",
		Response: Report{From: sampleDay - 364, To: sampleDay, By: "asset", Jobs: &sums, DowntimeMinutes: &sums, TotalCostCents: &sums,
			Rows: []ReportRow{{Key: "Lathe", Jobs: 4, TotalCostCents: 32450}}, Shown: 1, Total: 1},
		Bind: func(f *schema.Form) schema.Handler {
			by := "asset"
			var q FiguresFor
			page := schema.First(50)
			f.Enum(&by, "by", "", reportBy)
			f.DayPtr(&q.From, "from", "first day of completion")
			f.DayPtr(&q.To, "to", "last day")
			f.ID(&q.AssetID, "asset_id", "only this asset", schema.Lookup(assetNamed))
			f.Limit(&page.Limit)
			f.After(&page.After)
			return func(ctx context.Context, _ db.Caller) (any, error) {
				r, err := s.Report(ctx, by, q)
				from := min(page.After, int64(r.Total))
				if page.After > 0 {
					r.Jobs, r.DowntimeMinutes, r.TotalCostCents = nil, nil, nil
				}
				r.Rows = r.Rows[from:min(from+page.Limit, int64(r.Total))]
				r.Shown = len(r.Rows)
				if end := from + int64(r.Shown); end < int64(r.Total) {
					r.Next = schema.NextText(&end)
				}
				return r, err
			}
		},
		Refuses: []fault.Kind{fault.NotFound},
	}
}
