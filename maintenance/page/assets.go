package page

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"quartermaster/maintenance"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/page"
)

// assetsView is the list of assets.
type assetsView struct {
	Assets    []maintenance.Asset
	Next      string
	Total     int64
	Status    string
	Down      int64
	Attention int64
}

// title counts the assets, and of all those that do not run as they should.
func (v assetsView) title() string {
	var ill []string
	if v.Down > 0 {
		ill = append(ill, page.Num(v.Down)+" down")
	}
	if v.Attention > 0 {
		ill = append(ill, page.Plural(v.Attention, "needs", "need")+" attention")
	}
	title := page.Plural(v.Total, "asset", "assets")
	if len(ill) > 0 && v.Status == "" {
		title += ": " + strings.Join(ill, ", ")
	}
	return title
}

func assets(s *maintenance.Service) page.Page {
	return page.New(page.Spec[assetsView]{
		Path: "/assets", Title: "Assets", Menu: "Assets", Key: "a", Marks: true,
		Load: func(f *schema.Form) page.Loader[assetsView] {
			var p page.Paging
			p.Bind(f, maintenance.AssetSorts()...)
			var a maintenance.AssetFilter
			maintenance.BindAssetStatus(f, &a.Status)
			a.Q, a.Limit = p.Q, p.Limit
			a.Sort, a.Falling = p.Column()
			if a.Sort != "" {
				a.Skip = p.Start()
			} else {
				a.After = p.Start()
			}
			return func(ctx context.Context, _ db.Caller) (v assetsView, err error) {
				list, err := s.Assets(ctx, a)
				if err != nil {
					return v, err
				}
				v = assetsView{Assets: list.Assets, Next: schema.Cell(list.Next), Status: a.Status}
				if v.Next != "" && a.Sort != "" {
					v.Next = page.Num(a.Skip + int64(len(list.Assets)))
				}
				if v.Total, err = s.CountAssets(ctx, a); err != nil {
					return v, err
				}
				a.Status = "down"
				if v.Down, err = s.CountAssets(ctx, a); err != nil {
					return v, err
				}
				a.Status = "needs-attention"
				v.Attention, err = s.CountAssets(ctx, a)
				return v, err
			}
		},
		View: Assets,
		CSV: func(v assetsView) page.Sheet {
			return page.SheetOf("assets", maintenance.AssetColumns(), v.Assets, maintenance.Asset.Cells)
		},
	})
}

// assetView is one asset with its trail of readings and jobs.
type assetView struct{ maintenance.AssetOverview }

func (v assetView) PageTitle() string { return v.Name }

func loadAsset(s *maintenance.Service) func(f *schema.Form) page.Loader[assetView] {
	return func(f *schema.Form) page.Loader[assetView] {
		var id int64
		f.ID(&id, "id", "the asset", schema.InPath("id"))
		return func(ctx context.Context, _ db.Caller) (assetView, error) {
			v, err := s.AssetOverview(ctx, id)
			return assetView{v}, err
		}
	}
}

func asset(s *maintenance.Service) page.Page {
	return page.New(page.Spec[assetView]{
		Path: "/assets/:id", Title: "Asset", Load: loadAsset(s),
		View: Asset,
	})
}

func labels(s *maintenance.Service) page.Page {
	return page.New(page.Spec[maintenance.Labels]{
		Path: "/labels", Title: "Labels", Plain: true,
		Load: func(f *schema.Form) page.Loader[maintenance.Labels] {
			var ids []int64
			f.IDs(&ids, "id", "the assets", 1000)
			return func(ctx context.Context, _ db.Caller) (maintenance.Labels, error) {
				return s.Labels(ctx, ids)
			}
		},
		View: LabelSheet,
	})
}

func assetLabel(s *maintenance.Service) page.Page {
	return page.New(page.Spec[maintenance.Labels]{
		Path: "/assets/:id/label", Title: "Label", Plain: true,
		Load: page.ByID("id", "the asset", func(ctx context.Context, _ db.Caller, id int64) (maintenance.Labels, error) {
			return s.Labels(ctx, []int64{id})
		}),
		View: LabelSheet,
	})
}

// acts are what is done with the asset, the usual first.
func (v assetView) acts() []page.Action {
	id := page.Num(v.ID)
	acts := []page.Action{page.Open("New work order", "create_workorder", "asset_id", id).Main().Key("n")}
	if v.Status == "down" && len(v.Jobs) > 0 { // what gets it running again comes first
		acts = []page.Action{page.Link("See job #"+page.Num(v.Jobs[0].ID), orderPath(v.Jobs[0].ID)).Main(),
			page.Open("New work order", "create_workorder", "asset_id", id).Key("n")}
	} else if p := v.overdue(); p != nil {
		acts = []page.Action{jobOf(*p, "Open job: "+schema.Shorten(p.Title, 24)).Main(),
			page.Open("New work order", "create_workorder", "asset_id", id).Key("n")}
	}
	turn := page.Do("Mark as down", "set_asset_status", "id", id, "status", "down")
	if v.Status == "down" {
		turn = page.Do("Mark as running", "set_asset_status", "id", id, "status", "operational")
	}
	if v.Status != "retired" {
		acts = append(acts, turn)
	}
	acts = append(acts, page.Open("Edit", "save_asset", "asset_tag", v.AssetTag).Key("e"),
		page.Open("Set state", "set_asset_status", "id", id, "status", v.Status),
		page.Link("Label", assetPath(v.ID)+"/label"),
		page.Open("Rename", "rename_asset", "asset_id", id, "name", v.Name, "code", v.AssetTag),
		page.Open("New plan", "save_plan", "asset_tag", v.AssetTag),
		page.Open("New meter", "save_meter", "asset_tag", v.AssetTag))
	for _, m := range v.Meters {
		of := ""
		if len(v.Meters) > 1 {
			of = ": " + page.Word(m.Name)
		}
		if v.Status != "retired" {
			acts = append(acts,
				page.Open("Correct the last reading"+of, "correct_reading", "asset_id", id, "meter", m.Name, "reading",
					m.Reading.String()),
				page.Open("Replace meter"+of, "replace_meter", "asset_id", id, "meter", m.Name,
					"last_reading", m.Reading.String()))
		}
	}
	if v.Requests.On {
		acts = append(acts, page.Do("Turn requests off", "set_requests", "asset_id", id, "on", "false"))
	} else {
		acts = append(acts, page.Do("Turn requests on", "set_requests", "asset_id", id, "on", "true"))
	}
	if v.Total == 0 && len(v.Plans) == 0 {
		acts = append(acts, page.Do("Remove asset", "remove_asset", "id", id).Danger())
	}
	return acts
}

// overdue is the first overdue plan without an open job; nil without one.
func (v assetView) overdue() *maintenance.PMDueRow {
	for _, p := range v.Plans {
		if p.DueStatus == "overdue" && !p.Paused && p.OpenJob == nil {
			return &p.PMDueRow
		}
	}
	return nil
}

// heads says that the page's first act opens the plan's job.
func (v assetView) heads(p maintenance.Plan) bool {
	first := v.overdue()
	return first != nil && first.PMID == p.PMID && (v.Status != "down" || len(v.Jobs) == 0)
}

// presses says that a plan is overdue or due soon: the plans stand above the meters.
func (v assetView) presses() bool {
	return slices.ContainsFunc(v.Plans, func(p maintenance.Plan) bool { return !p.Paused && p.DueStatus != "ok" })
}

// work says in a line which jobs wait on the asset.
func (v assetView) work() string {
	overdue := 0
	for _, p := range v.Plans {
		if p.DueStatus == "overdue" && !p.Paused {
			overdue++
		}
	}
	text := page.Plural(len(v.Jobs), "job waits", "jobs wait")
	switch {
	case len(v.Jobs) == 0:
		text = "no job waits"
	case len(v.Jobs) == 1 && v.Jobs[0].Status == "in-progress" && v.Jobs[0].AssignedTo != nil:
		text = *v.Jobs[0].AssignedTo + " is on it"
	}
	if overdue > 0 {
		text += ", " + page.Plural(overdue, "plan is overdue", "plans are overdue")
	}
	if v.Status == "down" {
		text = "down, " + text
	}
	return text
}

// next is the day of the first plan that falls due; nil without one.
func (v assetView) next() (first *exact.Day) {
	for _, p := range v.Plans {
		if p.NextDue != nil && !p.Paused && (first == nil || *p.NextDue < *first) {
			first = p.NextDue
		}
	}
	return first
}

// lastDone are the listed finished jobs; the chart shows more of them.
func (v assetView) lastDone() []maintenance.WorkOrder { return v.Done[:min(len(v.Done), 5)] }

// readingsChart is a meter's readings as a line.
func (v assetView) readingsChart(ctx context.Context, m maintenance.Meter) page.Chart {
	list := v.Readings[m.ID]
	title := fmt.Sprintf("%s: %s %s", page.Word(m.Name), page.QtyText(m.Reading), m.Unit)
	if m.ReadDate != nil && page.From(ctx).Today-*m.ReadDate > 7 { // else the line ends today
		title += " on " + page.DayText(ctx, *m.ReadDate)
	}
	if m.AvgPerDay != nil {
		title += fmt.Sprintf(", %s a day", page.DecText(*m.AvgPerDay))
	}
	c := page.Chart{Title: title, Label: "Day", Low: true, Names: [2]string{"", "Reading, " + m.Unit}, Plain: milli,
		Show: func(n int64) string { return page.QtyText(exact.Milli(n)) }}
	c.From = v.first(ctx)
	for _, r := range list {
		if r.Day >= c.From {
			c.Line = append(c.Line, page.Point{Day: r.Day, Value: int64(r.Value)})
		}
	}
	v.addEvents(ctx, &c, m.Name)
	return c
}

// first is the day on which the axis of all meters begins: each shows a line.
func (v assetView) first(ctx context.Context) exact.Day {
	today := page.From(ctx).Today
	oldest, first := today, today-daysBehind
	for _, list := range v.Readings {
		if len(list) > 1 {
			oldest, first = min(oldest, list[0].Day), min(first, list[len(list)-2].Day)
		}
	}
	return max(oldest, first)
}

// last is the day on which the axis of all meters ends: a week after today, or after what is due next.
func (v assetView) last(ctx context.Context) exact.Day {
	today := page.From(ctx).Today
	last := today
	for _, p := range v.Plans {
		if !p.Paused && p.NextDue != nil && *p.NextDue < today+daysAhead {
			last = max(last, *p.NextDue)
		}
	}
	return last + 7
}

// eventsChart is the axis of an asset without a meter.
func (v assetView) eventsChart(ctx context.Context) page.Chart {
	c := page.Chart{Title: "The last 12 months", Low: true, From: page.From(ctx).Today - 365}
	v.addEvents(ctx, &c, "")
	return c
}

// The chart names the most pressing plan that is due soon; others stand below it.
const (
	daysBehind = 92
	daysAhead  = 31
)

// addEvents adds the asset's past and due work to the chart: dots are services, squares are repairs, dashed lines are
// plans. On the first line are also repairs, what goes by days alone, and since when it is down.
func (v assetView) addEvents(ctx context.Context, c *page.Chart, meter string) {
	c.To = v.last(ctx)
	first := meter == "" || meter == v.firstDrawn()
	for _, wo := range v.Done {
		of := v.meterOf(wo)
		on := meter == "" || of == meter || of == "" && first
		if day := wo.CompletedAt.Day(page.From(ctx).Zone); on && day >= c.From {
			look := page.Good
			if wo.Type == "corrective" {
				look = page.Bad
			}
			c.Events = append(c.Events, page.Part{Day: day, Look: look, Label: kind(wo) + ": " + headline(wo.Description)})
		}
	}
	for _, p := range v.Plans {
		on := meter == "" || p.Meter == nil && first || p.Meter != nil && *p.Meter == meter
		if on && p.NextDue != nil && *p.NextDue >= c.From && *p.NextDue < c.To &&
			!p.Paused && len(c.Marks) == 0 {
			c.Marks = append(c.Marks, page.Point{Day: *p.NextDue,
				Label: schema.Shorten(p.Title, 24) + ", due " + page.DayText(ctx, *p.NextDue)})
		}
	}
	if v.Down != nil && first {
		c.Events = append(c.Events, page.Part{Day: v.Down.Day(page.From(ctx).Zone), Look: page.Bad + " late",
			Label: "Down since " + page.InstantText(ctx, *v.Down)})
	}
	c.Kinds = [3]string{"Service", "Repair", "Down"}
	c.Now = &page.Point{Day: page.From(ctx).Today, Label: "today"}
}

// drawn says that a meter has enough readings for a line.
func (v assetView) drawn(m maintenance.Meter) bool { return len(v.Readings[m.ID]) > 1 }

// firstDrawn names the first meter with a line; "" without one.
func (v assetView) firstDrawn() string {
	if i := slices.IndexFunc(v.Meters, v.drawn); i >= 0 {
		return v.Meters[i].Name
	}
	return ""
}

// meterOf names the meter by whose plan a job was done, "" for repairs and plans by days.
func (v assetView) meterOf(wo maintenance.WorkOrder) string {
	i := slices.IndexFunc(v.Plans, func(p maintenance.Plan) bool { return p.Title == wo.Description && p.Meter != nil })
	if i < 0 {
		return ""
	}
	return *v.Plans[i].Meter
}

// kind is what a job was, as the chart's marks say it.
func kind(wo maintenance.WorkOrder) string {
	if wo.Type == "corrective" {
		return "Repair"
	}
	return "Service"
}

func milli(n int64) string { return exact.Milli(n).String() }

// yearCost is what the jobs cost that were done in the last 12 months.
func (v assetView) yearCost() (cents int64) {
	for _, m := range v.Months {
		cents += m.Cents
	}
	return cents
}

// waitingCost is what the waiting jobs cost so far.
func (v assetView) waitingCost() (cents int64) {
	for _, wo := range v.Jobs {
		cents += wo.TotalCostCents
	}
	return cents
}

// fewCosts is how many months must have had costs for a chart; fewer are no picture of a year.
const fewCosts = 3

// costChart is what the asset cost by month.
func (v assetView) costChart(ctx context.Context) page.Chart {
	some := 0
	c := page.Chart{Title: "Cost by month, " + page.CurrencyCode(ctx), Label: "Month", Low: true,
		Names: [2]string{"Cost, " + page.CurrencyCode(ctx), ""},
		Show:  func(n int64) string { return page.Amount(n, page.CurrencyCode(ctx)) }}
	for _, m := range v.Months {
		if m.Cents > 0 {
			some++
		}
		c.Bars = append(c.Bars, page.Point{Label: page.MonthText(m.Month)[:3], Value: m.Cents})
	}
	if some < fewCosts {
		c.Bars = nil
	}
	return c
}

// meterOf names the asset whose meter is read, and the meter where there is but one.
func meterOf(a maintenance.Asset) []string {
	fields := []string{"asset_id", page.Num(a.ID)}
	if len(a.Meters) == 1 {
		fields = append(fields, "meter", a.Meters[0].Name)
	}
	return fields
}
