package page

import (
	"context"
	"fmt"

	"quartermaster/maintenance"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/page"
)

// The calendar has twelve weeks. Each names at most ten plans.
const (
	weeksShown = 12
	mostOfWeek = 10
)

// week is one week of the calendar.
type week struct {
	First exact.Day // its Monday; of the first week today
	Now   bool
	Plans []maintenance.PMDueRow
}

// dueView is what is due, with a calendar.
type dueView struct {
	Rows                   []maintenance.PMDueRow
	Overdue, Soon, OK      int64
	Status                 string
	Late                   []maintenance.PMDueRow // due before today
	Weeks                  []week
	Today                  exact.Day
	Beyond, Unknown, Shown int
	Total                  int64  // number of all rows
	Next                   string // the start of the next page
}

func due(s *maintenance.Service) page.Page {
	return page.New(page.Spec[dueView]{
		Path: "/pm-due", Title: "Due", Menu: "Due", Key: "d", Marks: true,
		Load: func(f *schema.Form) page.Loader[dueView] {
			var p page.Paging
			p.Bind(f, dueSorts.Names()...)
			var status string
			maintenance.BindDueStatus(f, &status)
			return func(ctx context.Context, _ db.Caller) (dueView, error) {
				list, err := s.PMDue(ctx, "")
				v := newDue(list, status)
				v.Total = int64(len(v.Rows))
				var then *int64
				v.Rows, then = page.Arrange(p, v.Rows, dueSorts)
				v.Next = schema.Cell(then)
				return v, err
			}
		},
		View: Due,
		CSV: func(v dueView) page.Sheet {
			return page.SheetOf("pm-due", maintenance.DueColumns(), v.Rows, maintenance.PMDueRow.Cells)
		},
	})
}

// newDue sorts the list into the weeks of the calendar.
func newDue(list maintenance.PMDue, status string) dueView {
	v := dueView{Status: status, Today: list.Today, Weeks: make([]week, weeksShown)}
	monday := list.Today - exact.Day((int(list.Today)+3)%7) // day 0 was a Thursday
	for i := range v.Weeks {
		v.Weeks[i] = week{First: monday + exact.Day(7*i), Now: i == 0} // #nosec G115 -- twelve weeks
	}
	for _, r := range list.PMDue {
		switch r.DueStatus {
		case "overdue":
			v.Overdue++
		case "due-soon":
			v.Soon++
		default:
			v.OK++
		}
		if status == "" || r.DueStatus == status {
			v.Rows = append(v.Rows, r)
		}
		switch {
		case r.DueStatus == "overdue":
			v.Late = append(v.Late, r)
		case r.NextDue == nil:
			v.Unknown++
		case *r.NextDue >= monday+7*weeksShown:
			v.Beyond++
		default:
			at := int(*r.NextDue-monday) / 7
			v.Weeks[at].Plans = append(v.Weeks[at].Plans, r)
		}
	}
	return v
}

func (v dueView) title() string {
	switch {
	case v.Overdue+v.Soon == 0:
		return "Nothing is due"
	case v.Overdue == 0:
		return page.Plural(v.Soon, "plan is due soon", "plans are due soon")
	}
	return page.Plural(v.Overdue, "plan is overdue", "plans are overdue") + fmt.Sprintf(", %d due soon", v.Soon)
}

// nextDue is the plan's next day. One that is overdue by use has none if its meter does not tell yet since when: the
// day by days is later.
func nextDue(ctx context.Context, r maintenance.PMDueRow) *exact.Day {
	if r.DueStatus == "overdue" && r.NextDue != nil && *r.NextDue > page.From(ctx).Today {
		return nil
	}
	return r.NextDue
}

func count(n int64) *int64 { return &n }

// dueActs are the actions on an active plan: a job, unless one is open, and that it was done.
func dueActs(ctx context.Context, r maintenance.PMDueRow) []page.Action {
	id := page.Num(r.PMID)
	done := page.Open("Mark as done", "complete_plan", "id", id, "date", page.From(ctx).Today.String()).Named(
		r.Title).Then(page.From(ctx).Here())
	if r.OpenJob != nil {
		return []page.Action{done}
	}
	return []page.Action{jobOf(r, "Open job").Named(r.Title), done}
}

// jobOf opens a job by a plan.
func jobOf(r maintenance.PMDueRow, label string) page.Action {
	return page.Open(label, "create_workorder", "asset_id", page.Num(r.AssetID), "pm_id", page.Num(r.PMID), "wo_type",
		"preventive", "description", r.Title)
}

// plansView is the list of plans.
type plansView struct {
	maintenance.Plans
	Next string
}

func plans(s *maintenance.Service) page.Page {
	return page.New(page.Spec[plansView]{
		Path: "/plans", Title: "Plans", Menu: "Plans", Key: "l",
		Load: func(f *schema.Form) page.Loader[plansView] {
			var p page.Paging
			p.Bind(f, planSorts.Names()...)
			filter := maintenance.PlanFilter{}
			maintenance.BindPlanFilter(f, &filter)
			filter.Q, filter.Cursor = p.Q, p.Cursor()
			return func(ctx context.Context, _ db.Caller) (plansView, error) {
				list, err := s.Plans(ctx, filter)
				err = page.Arranged(p, &list.Plans, list.Total, &list.Next, planSorts, err)
				return plansView{list, schema.Cell(list.Next)}, err
			}
		},
		View: Plans,
		CSV: func(v plansView) page.Sheet {
			return page.SheetOf("pm-plans", maintenance.PlanColumns(), v.Plans.Plans, maintenance.Plan.Cells)
		},
	})
}

// title counts the plans, and the overdue ones if all are listed.
func (v plansView) title() string {
	text, overdue := page.Plural(v.Total, "plan", "plans"), 0
	for _, p := range v.Plans.Plans {
		if p.DueStatus == "overdue" && !p.Paused {
			overdue++
		}
	}
	if overdue > 0 && int64(len(v.Plans.Plans)) == v.Total {
		text += fmt.Sprintf(", %d overdue", overdue)
	}
	return text
}

// byUse reports whether the use of a meter makes the plan due, alone or as the days do.
func byUse(r maintenance.PMDueRow) bool {
	return r.UsageRemaining != nil && r.DueSource != "days" && r.DueStatus != "ok"
}

// useLeft says how much use is left, or how far it is over: "500 h left", "240 km over".
func useLeft(left exact.Milli, unit string) string {
	if left < 0 {
		return page.QtyText(-left) + " " + unit + " over"
	}
	return page.QtyText(left) + " " + unit + " left"
}

// daysLeft says how long is left, or how long it is overdue.
func daysLeft(days int64) string {
	switch {
	case days < 0:
		return page.Plural(-days, "day", "days") + " over"
	case days == 0:
		return "today"
	}
	return page.Plural(days, "day", "days")
}
