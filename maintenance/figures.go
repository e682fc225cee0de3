package maintenance

import (
	"context"
	"fmt"
	"io"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Figures are the results of a range of days' jobs, by day of completion in the shop's zone.
type Figures struct {
	From   exact.Day      `json:"from"`
	To     exact.Day      `json:"to"`
	Assets []AssetFigures `json:"assets"`

	Jobs            int64 `json:"jobs" about:"of all assets"`
	DowntimeMinutes int64 `json:"downtime_minutes"`
	LaborCostCents  int64 `json:"labor_cost_cents"`
	PartsCostCents  int64 `json:"parts_cost_cents"`
	TotalCostCents  int64 `json:"total_cost_cents"`
	PlansDone       int64 `json:"plans_done"`
	PlansLate       int64 `json:"plans_late"`

	Months   map[exact.Month]int64 `json:"-"` // cents
	Kinds    map[string]Kind       `json:"-"` // corrective and preventive
	Unpriced int64                 `json:"-"` // jobs whose labor cost nothing, as there was no hourly rate
}

// Kind are the jobs of a kind.
type Kind struct{ Jobs, Cents int64 }

// AssetFigures are those of one asset.
type AssetFigures struct {
	AssetID         int64          `json:"asset_id"`
	Asset           string         `json:"asset"`
	Jobs            int64          `json:"jobs" about:"done in the range"`
	DowntimeMinutes int64          `json:"downtime_minutes"`
	LaborCostCents  int64          `json:"labor_cost_cents"`
	PartsCostCents  int64          `json:"parts_cost_cents"`
	TotalCostCents  int64          `json:"total_cost_cents"`
	MTBFDays        *exact.Decimal `json:"mtbf_days" about:"mean time between failures: (days of the range, both included, - downtime) / corrective jobs done; null without any"`
	MTTRHours       *exact.Decimal `json:"mttr_hours" about:"mean time to repair: from started, else created, to completed, over the corrective jobs done; null without any"`
	PlansDone       int64          `json:"plans_done" about:"jobs that served a plan"`
	PlansLate       int64          `json:"plans_late" about:"of those, done after the day they were due"`

	corrective, repairSeconds int64
}

// FiguresFor selects jobs: of the days From to To, inclusive, of one asset or, with 0, of all. To nil is today, From
// nil is 365 days up to To.
type FiguresFor struct {
	From, To *exact.Day
	AssetID  int64
}

// Figures computes the results of a range's jobs. Assets without a job in it are omitted, except the requested one.
func (s *Service) Figures(ctx context.Context, q FiguresFor) (Figures, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (Figures, error) { return figures(c, q) })
}

// days are the first and the last day; it refuses a range that ends before it begins, and an unknown asset.
func (q FiguresFor) days(c *db.Conn) (from, to exact.Day, err error) {
	if to = c.Today(); q.To != nil {
		to = *q.To
	}
	if from = to - 364; q.From != nil {
		from = *q.From
	}
	if from > to {
		return from, to, fault.Fieldf("from", "from: %v is after to, %v", from, to)
	}
	if q.AssetID != 0 {
		_, err = assets.ByID(c, q.AssetID)
	}
	return from, to, err
}

func figures(c *db.Conn, q FiguresFor) (f Figures, err error) {
	f.Assets = []AssetFigures{}
	if f.From, f.To, err = q.days(c); err != nil {
		return f, err
	}
	if err := f.addJobs(c, q.AssetID); err != nil {
		return f, err
	}
	if q.AssetID != 0 && len(f.Assets) == 0 {
		a, err := assets.ByID(c, q.AssetID)
		if err != nil {
			return f, err
		}
		f.Assets = append(f.Assets, AssetFigures{AssetID: a.ID, Asset: a.Name})
	}
	days := int64(f.To) - int64(f.From) + 1
	for i := range f.Assets {
		a := &f.Assets[i]
		a.MTBFDays, a.MTTRHours = betweenFailures(days, a.DowntimeMinutes, a.corrective),
			toRepair(a.repairSeconds, a.corrective)
		f.Jobs += a.Jobs
		f.DowntimeMinutes += a.DowntimeMinutes
		f.LaborCostCents += a.LaborCostCents
		f.PartsCostCents += a.PartsCostCents
		f.TotalCostCents += a.TotalCostCents
		f.PlansDone += a.PlansDone
		f.PlansLate += a.PlansLate
	}
	return f, nil
}

// addJobs adds up the jobs done in the range, asset by asset.
func (f *Figures) addJobs(c *db.Conn, assetID int64) error {
	f.Months, f.Kinds = map[exact.Month]int64{}, map[string]Kind{}
	return eachDone(c, f.From, f.To, assetID, func(j doneJob) {
		if n := len(f.Assets); n == 0 || f.Assets[n-1].AssetID != j.assetID {
			f.Assets = append(f.Assets, AssetFigures{AssetID: j.assetID, Asset: j.asset})
		}
		f.Assets[len(f.Assets)-1].add(j)
		f.Months[j.day.Month()] += j.cost.TotalCents
		k := f.Kinds[j.kind]
		f.Kinds[j.kind] = Kind{Jobs: k.Jobs + 1, Cents: k.Cents + j.cost.TotalCents}
		if j.minutes > 0 && j.rate == 0 {
			f.Unpriced++
		}
	})
}

// doneJob is what figures need of a job.
type doneJob struct {
	assetID             int64
	asset, person, kind string
	day                 exact.Day
	minutes, rate       int64
	cost                Cost
	downtime, seconds   int64 // minutes that the asset stood, and how long the job took
	served, late        bool  // a plan, after the day it was due
}

// add adds a job.
func (a *AssetFigures) add(j doneJob) {
	a.Jobs++
	a.LaborCostCents += j.cost.LaborCents
	a.PartsCostCents += j.cost.PartsTypedCents + j.cost.PartsUsedCents
	a.TotalCostCents += j.cost.TotalCents
	a.DowntimeMinutes += j.downtime
	if j.kind == "corrective" {
		a.corrective++
		a.repairSeconds += max(0, j.seconds)
	}
	if j.served {
		a.PlansDone++
	}
	if j.late {
		a.PlansLate++
	}
}

// eachDone yields each job done from one day to another, inclusive, in the order of the assets.
func eachDone(c *db.Conn, from, to exact.Day, assetID int64, yield func(doneJob)) error {
	return db.Each(c, func(r *db.Row) error {
		j := doneJob{assetID: r.Int(), asset: r.Text(), person: r.Text(), kind: r.Text()}
		done := r.Instant()
		j.day = done.Day(c.Zone())
		j.minutes, j.rate = r.Int(), r.Int()
		j.cost = costOf(j.minutes, j.rate, r.Int(), r.Int())
		j.downtime, j.seconds = r.Int(), int64(done)-int64(r.Instant())
		var due *exact.Day
		j.served, due = r.Bool(), r.DayPtr()
		j.late = j.served && due != nil && j.day > *due
		yield(j)
		return nil
	}, `SELECT a.id, a.name, coalesce(w.assigned_to, ''), w.wo_type, w.completed_at, w.labor_minutes,
		coalesce(w.labor_rate_cents, 0), w.typed_cents,
		w.used_cents, w.downtime_minutes, coalesce(w.started_at, w.created_at), w.pm_served, w.pm_due_day
		FROM work_orders w CROSS JOIN assets a ON a.id = w.asset_id
		WHERE w.completed_at >= ?1 AND w.completed_at < ?2 AND w.status = 'done' AND (?3 = 0 OR w.asset_id = ?3)
		ORDER BY a.id`,
		exact.InstantOf(from.Time(c.Zone())), exact.InstantOf((to + 1).Time(c.Zone())), assetID)
}

// betweenFailures is the mean time between failures in days with one decimal: the range minus the downtime, never below
// 0, divided by the failures; nil without any.
func betweenFailures(days, downtimeMinutes, failures int64) *exact.Decimal {
	if failures == 0 {
		return nil
	}
	up := max(0, days*24*60-downtimeMinutes)
	return &exact.Decimal{Unscaled: exact.Mul(up, 10).DivRound(24 * 60 * failures), Places: 1}
}

// toRepair is the mean time to repair in hours with one decimal; nil without a repair.
func toRepair(seconds, repairs int64) *exact.Decimal {
	if repairs == 0 {
		return nil
	}
	return &exact.Decimal{Unscaled: exact.Mul(seconds, 10).DivRound(60 * 60 * repairs), Places: 1}
}

func (s *Service) maintenanceFigures() schema.Op {
	between, repair := exact.Decimal{Unscaled: 1213, Places: 1}, exact.Decimal{Unscaled: 35, Places: 1}
	one := AssetFigures{AssetID: 1, Asset: "Lathe", Jobs: 4, DowntimeMinutes: 1440, LaborCostCents: 24300,
		PartsCostCents: 8150, TotalCostCents: 32450,
		MTBFDays: &between, MTTRHours: &repair, PlansDone: 1}
	return schema.Op{
		Name: "maintenance_figures", About: "Figures of the jobs done in a range of days: per asset jobs, downtime, cost, " +
			"mean time between failures and to repair, and services by plan, done and late.",
		Response: Figures{From: sampleDay - 364, To: sampleDay, Assets: []AssetFigures{one}, Jobs: 4, DowntimeMinutes: 1440,
			LaborCostCents: 24300,
			PartsCostCents: 8150, TotalCostCents: 32450, PlansDone: 1},
		Bind:    schema.Reads(BindFigures, s.Figures),
		Refuses: []fault.Kind{fault.NotFound},
		Example: "maintenance figures --from 2026-01-01 --to 2026-12-31\nmaintenance figures --asset LATHE-1 --csv",
		Print:   schema.Printed(printFigures),
	}
}

// BindFigures binds the filters of the list.
func BindFigures(f *schema.Form, q *FiguresFor) {
	f.DayPtr(&q.From, "from", "the first day (default: 365 days ago)")
	f.DayPtr(&q.To, "to", "the last day (default: today)")
	f.ID(&q.AssetID, "asset", "only this asset, by its id or tag", schema.NameFirst, schema.Lookup(assetNamed),
		schema.Choices(assetChoices))
}

// FigureColumns are the columns of an asset's figures as a file.
func FigureColumns() []string {
	return []string{"asset_id", "asset", "jobs", "downtime_minutes", "labor_cost_cents", "parts_cost_cents",
		"total_cost_cents", "mtbf_days", "mttr_hours",
		"plans_done", "plans_late"}
}

// Cells is the figures as FigureColumns say.
func (a AssetFigures) Cells() []string {
	n := func(v int64) string { return schema.Cell(&v) }
	return []string{n(a.AssetID), a.Asset, n(a.Jobs), n(a.DowntimeMinutes), n(a.LaborCostCents), n(a.PartsCostCents),
		n(a.TotalCostCents),
		schema.Cell(a.MTBFDays), schema.Cell(a.MTTRHours), n(a.PlansDone), n(a.PlansLate)}
}

func printFigures(w io.Writer, f Figures) {
	fmt.Fprintf(w, "%v to %v: %d jobs, %s, %d minutes down; %d services by plan, %d of them late\n", f.From, f.To, f.Jobs,
		units(f.TotalCostCents), f.DowntimeMinutes, f.PlansDone, f.PlansLate)
	schema.Tabulate(w, "ASSET|JOBS|DOWN (MIN)|LABOR|PARTS|TOTAL|MTBF (DAYS)|MTTR (H)", f.Assets,
		func(a AssetFigures) []any {
			return []any{schema.Shorten(a.Asset, 32), a.Jobs, a.DowntimeMinutes, units(a.LaborCostCents),
				units(a.PartsCostCents),
				units(a.TotalCostCents), schema.Cell(a.MTBFDays), schema.Cell(a.MTTRHours)}
		})
}
