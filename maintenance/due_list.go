package maintenance

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// PMDueRow is a plan in the due list.
type PMDueRow struct {
	PMID            int64        `json:"pm_id"`
	AssetID         int64        `json:"asset_id"`
	Asset           string       `json:"asset" about:"the asset's name"`
	Title           string       `json:"title"`
	IntervalDays    *int64       `json:"interval_days"`
	IntervalUsage   *exact.Milli `json:"interval_usage" about:"in the meter's unit"`
	Meter           *string      `json:"meter" about:"the name of the meter that counts the use"`
	Unit            *string      `json:"unit"`
	LastDoneDate    *exact.Day   `json:"last_done_date"`
	BaselineReading *exact.Milli `json:"baseline_reading" about:"the meter's reading at the last service"`
	NextDue         *exact.Day   `json:"next_due" about:"the earlier of the date by days and the date projected from the readings; null while neither is known"`
	DaysUntil       *int64       `json:"days_until" about:"next_due - today; negative when it is past"`
	DueStatus       string       `json:"due_status" enum:"overdue,due-soon,ok"`
	UsageRemaining  *exact.Milli `json:"usage_remaining,omitempty" about:"until the due reading, negative when past; only with a usage trigger"`
	OpenJob         *int64       `json:"open_job,omitempty" about:"its unfinished job"`
	DueSource       string       `json:"due_source,omitempty" enum:"days,usage,both" about:"which trigger gives the status; only with a usage trigger"`

	doubt string // why the reading of its service is implausible, "" if it is not
}

// PMDue is the due list of all assets that are not retired: the most urgent first.
type PMDue struct {
	Today exact.Day  `json:"today"`
	PMDue []PMDueRow `json:"pm_due"`
}

// duePlan is a plan with its asset's name, its meter, and its first unfinished job.
type duePlan struct {
	plan
	asset   string
	unit    *string
	counter Meter
	job     *int64
}

var dueColumns = plans.Columns() + ", a.name, m.unit, m.reading, m.epoch, m.corrected_day, m.last_day, m.last_value"

const (
	planTables = " FROM pm_plans p " + planJoins
	unpaused   = " WHERE a.status <> 'retired' AND p.paused = 0"

	openJob = `(SELECT min(w.id) FROM work_orders w WHERE w.pm_id = p.id AND w.status IN ('open', 'in-progress'))`
)

func scanDuePlan(r *db.Row) duePlan {
	p := duePlan{plan: plans.Row(r), asset: r.Text(), unit: r.TextPtr()}
	m := &p.counter
	m.ID, m.Reading, m.epoch, m.correctedDay = p.MeterID, r.Milli(), r.Int(), r.DayPtr()
	if day, value := r.DayPtr(), r.Milli(); day != nil {
		m.last = &point{Day: *day, Value: value}
	}
	return p
}

// scanWithJob reads a plan from dueColumns and, behind them, its openJob.
func scanWithJob(r *db.Row) duePlan {
	p := scanDuePlan(r)
	p.job = r.IntPtr()
	return p
}

// openJobs are the unfinished jobs by plan: the first of each.
func openJobs(c *db.Conn) (map[int64]int64, error) {
	jobs := map[int64]int64{}
	return jobs, db.Each(c, func(r *db.Row) error {
		plan, job := r.Int(), r.Int()
		if first, open := jobs[plan]; !open || job < first {
			jobs[plan] = job
		}
		return nil
	}, `SELECT pm_id, id FROM work_orders INDEXED BY work_orders_plan_open
		WHERE status IN ('open', 'in-progress') AND pm_id IS NOT NULL`)
}

// PMDue is the due list: with status, only the rows in that state.
func (s *Service) PMDue(ctx context.Context, status string) (list PMDue, err error) {
	rows, today, err := s.dueRows(ctx, status)
	list = PMDue{Today: today, PMDue: make([]PMDueRow, len(rows))}
	for i, r := range rows {
		list.PMDue[i] = *r
	}
	return list, err
}

// dueRows is the due list in its order, of a status or, with "", whole.
func (s *Service) dueRows(ctx context.Context, status string) (rows []*PMDueRow, today exact.Day, err error) {
	err = s.db.View(ctx, func(c *db.Conn) error {
		today = c.Today()
		rows, err = listDue(c, status)
		return err
	})
	return rows, today, err
}

func listDue(c *db.Conn, status string) (rows []*PMDueRow, err error) {
	today := c.Today()
	first, err := c.Prepare(firstReading)
	if err != nil {
		return nil, err
	}
	jobs, err := openJobs(c) // in one statement: a plan may have served hundreds
	if err != nil {
		return nil, err
	}
	err = db.Each(c, func(r *db.Row) error {
		p := scanDuePlan(r)
		if job, open := jobs[p.ID]; open {
			p.job = &job
		}
		if status != "" && p.dueOn(today, p.counter.Reading, use{}).Status != status { // its use decides no status
			return nil
		}
		u, err := p.counter.useBy(first, today)
		if err != nil {
			return err
		}
		row := p.row(today, u)
		rows = append(rows, &row)
		return nil
	}, "SELECT "+dueColumns+planTables+unpaused)
	slices.SortFunc(rows, compareDue)
	return rows, err
}

// dueRow is the row of a single plan, whatever its asset's status.
func dueRow(c *db.Conn, id int64) (PMDueRow, error) {
	p, found, err := db.One(c, scanWithJob, "SELECT "+dueColumns+", "+openJob+planTables+" WHERE p.id = ?", id)
	if err != nil || !found {
		return PMDueRow{}, err
	}
	first, err := c.Prepare(firstReading)
	if err != nil {
		return PMDueRow{}, err
	}
	u, err := p.counter.useBy(first, c.Today())
	return p.row(c.Today(), u), err
}

// row is the plan's result today.
func (p *duePlan) row(today exact.Day, u use) PMDueRow {
	d := p.dueOn(today, p.counter.Reading, u)
	return PMDueRow{
		PMID: p.ID, AssetID: p.AssetID, Asset: p.asset, Title: p.Title,
		IntervalDays: p.IntervalDays, IntervalUsage: p.IntervalUsage, Meter: db.NullText(p.meter), Unit: p.unit,
		LastDoneDate: p.LastDone, BaselineReading: p.Baseline,
		NextDue: d.Next, DaysUntil: d.DaysUntil, DueStatus: d.Status, UsageRemaining: d.Remaining, DueSource: d.Source,
		OpenJob: p.job,
	}
}

func (s *Service) listDue() schema.Op {
	return schema.Op{
		Name: "pm_due", Says: "What is due",
		About: "Preventive maintenance as of now: overdue first, then due soon, then ok. Retired assets and paused plans " +
			"are not listed.",
		AgentAbout: "Preventive maintenance by days or use: overdue, then due-soon, then ok. By days: last done + interval. " +
			"By use: overdue when usage_remaining = baseline + interval - reading <= 0; the date is projected from the use " +
			"per day of the last 90 days. " +
			"open_job is its unfinished job. detail short: plan, asset, title, status, day.",
		Response: PMDue{Today: sampleDay, PMDue: []PMDueRow{sampleDue}},
		AgentResponse: DueForAgents{Today: sampleDay, PMDue: []schema.Row[PMDueRow, ShortDue]{{Full: &sampleDue}}, Shown: 1,
			Total: 1},
		Bind: func(f *schema.Form) schema.Handler {
			if f.Surface() == schema.Tool {
				return s.bindDueForAgents(f)
			}
			var status string
			BindDueStatus(f, &status)
			return func(ctx context.Context, _ db.Caller) (any, error) { return s.PMDue(ctx, status) }
		},
		Example: "maintenance due\nmaintenance due --status overdue --csv",
		Print:   printDue,
	}
}

// BindDueStatus binds the state that restricts the due list.
func BindDueStatus(f *schema.Form, p *string) {
	f.Enum(p, "status", "only the rows in this state", dueStatuses, schema.Folded, schema.Alias("due_soon", dueSoon))
}

// DueColumns are the columns of a due row as a file.
func DueColumns() []string {
	return []string{"pm_id", "asset_id", "asset", "title", "interval_days", "interval_usage", "meter", "unit",
		"last_done_date", "baseline_reading",
		"next_due", "days_until", "due_status", "usage_remaining", "due_source"}
}

// Cells is the row as DueColumns.
func (r PMDueRow) Cells() []string {
	return []string{strconv.FormatInt(r.PMID, 10), strconv.FormatInt(r.AssetID, 10), r.Asset, r.Title,
		schema.Cell(r.IntervalDays), schema.Cell(r.IntervalUsage), schema.Cell(r.Meter),
		schema.Cell(r.Unit), schema.Cell(r.LastDoneDate), schema.Cell(r.BaselineReading),
		schema.Cell(r.NextDue), schema.Cell(r.DaysUntil), r.DueStatus,
		schema.Cell(r.UsageRemaining), r.DueSource}
}

func printDue(w io.Writer, answer any) {
	schema.Tabulate(w, "PLAN|ASSET|TITLE|STATUS|NEXT DUE|DAYS|USE LEFT", answer.(PMDue).PMDue, func(r PMDueRow) []any {
		days, left := schema.Cell(r.DaysUntil), ""
		if r.UsageRemaining != nil {
			left = r.UsageRemaining.String() + " " + schema.Cell(r.Unit)
		}
		return []any{r.PMID, schema.Shorten(r.Asset, 32), schema.Shorten(r.Title, 40), r.DueStatus,
			schema.Cell(r.NextDue), days,
			left}
	})
}

// DueForAgents is the due list as agents get it: a page of at most 120 rows.
type DueForAgents struct {
	Today exact.Day                        `json:"today"`
	PMDue []schema.Row[PMDueRow, ShortDue] `json:"pm_due"`
	Shown int                              `json:"shown"`
	Total int                              `json:"total" about:"how many there are in all"`
	Next  *string                          `json:"next" about:"pass it as after; null at the end"`
}

// ShortDue is what identifies a plan and decides about it.
type ShortDue struct {
	PMID      int64  `json:"pm_id"`
	Asset     string `json:"asset"`
	DueStatus string `json:"due_status"`

	Title     string     `json:"title"`
	NextDue   *exact.Day `json:"next_due,omitempty"`
	DaysUntil *int64     `json:"days_until,omitempty"`
	OpenJob   *int64     `json:"open_job,omitempty"`
}

func (r PMDueRow) short() ShortDue {
	return ShortDue{PMID: r.PMID, Asset: schema.Shorten(r.Asset, 16), DueStatus: r.DueStatus,
		Title:   schema.Shorten(r.Title, 32),
		NextDue: r.NextDue, DaysUntil: r.DaysUntil, OpenJob: r.OpenJob}
}

// DueFilter restricts the agents' due list: to overdue plans, and to a range of days, inclusive.
type DueFilter struct {
	Status   string
	From, To *exact.Day
	Sort     string // "asset": by asset and title, instead of the most urgent first
	schema.Listing
}

func (f DueFilter) passes(r *PMDueRow) bool {
	return (f.From == nil || r.NextDue != nil && *r.NextDue >= *f.From) &&
		(f.To == nil || r.NextDue != nil && *r.NextDue <= *f.To)
}

// DueForAgents lists a page of what is due.
func (s *Service) DueForAgents(ctx context.Context, f DueFilter) (list DueForAgents, err error) {
	due, err := s.PMDue(ctx, f.Status)
	if err != nil {
		return list, err
	}
	all := slices.DeleteFunc(due.PMDue, func(r PMDueRow) bool { return !f.passes(&r) })
	if f.Sort == "asset" {
		slices.SortStableFunc(all, func(a, b PMDueRow) int {
			return cmp.Or(strings.Compare(a.Asset, b.Asset), strings.Compare(a.Title, b.Title))
		})
	}
	if f.After > int64(len(all)) {
		return list, fault.Fieldf("after", "after: the list has only %d rows; ask for it from its beginning",
			len(all))
	}
	list = DueForAgents{Today: due.Today, Total: len(all)}
	list.PMDue, list.Next = schema.PageOf(all, f.Listing, PMDueRow.short, schema.AnswerBytes)
	list.Shown = len(list.PMDue)
	return list, nil
}

func (s *Service) bindDueForAgents(f *schema.Form) schema.Handler {
	var overdue bool
	due := DueFilter{Sort: "pressing", Listing: schema.Listing{Cursor: schema.First(120)}}
	f.Bool(&overdue, "overdue_only", "true for what is overdue only")
	f.DayPtr(&due.From, "from", "next_due on this day or later")
	f.DayPtr(&due.To, "to", "next_due on this day or earlier")
	f.Enum(&due.Sort, "sort", "", []string{"pressing", "asset"})
	due.Asked = f.Int(&due.Limit, "limit", "rows at most", schema.Range(1, 200))
	f.After(&due.After)
	f.Short(&due.Short)
	if overdue {
		due.Status = dueOverdue
	}
	return func(ctx context.Context, _ db.Caller) (any, error) { return s.DueForAgents(ctx, due) }
}
