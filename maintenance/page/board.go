package page

import (
	"context"
	"fmt"
	"strings"

	"quartermaster/maintenance"
	"quartermaster/schema/db"
	"quartermaster/schema/page"
)

// board is the first page: the present jobs by state.
func board(s *maintenance.Service) page.Page {
	return page.New(page.Spec[boardView]{
		Path: "/", Title: "Board", Menu: "Board", Key: "b",
		Load: page.Always(func(ctx context.Context, who db.Caller) (v boardView, err error) {
			if v.Board, err = s.Board(ctx); err != nil {
				return v, err
			}
			if v.Mine, err = s.Mine(ctx, who.User); err != nil {
				return v, err
			}
			choice, err := s.BoardChoiceOf(ctx, who.User)
			v.OnlyMine = choice.Jobs == "mine"
			return v, err
		}),
		View: Board,
	})
}

// boardView is the board, with the visitor's own jobs before it.
type boardView struct {
	maintenance.Board
	Mine     []maintenance.WorkOrder
	OnlyMine bool // the person chose to see no others
}

// choice is the button that switches the board between all jobs and one's own.
func (b boardView) choice() page.Action {
	if b.OnlyMine {
		return page.Do("Show all jobs", "choose_board", "jobs", "all")
	}
	return page.Do("Show my jobs only", "choose_board", "jobs", "mine")
}

// look is a state's, if no machine is down: one alarm is enough.
func (b boardView) look(state string) string {
	if len(b.Down) > 0 {
		return ""
	}
	return "state " + state
}

// mostDown is how many machines the board's head names.
const mostDown = 3

// boardTitle summarises the day.
func boardTitle(b boardView) string {
	switch due := b.PlansDue + b.PlansSoon; {
	case b.Opened+b.Started > 0:
	case due > 0:
		return page.Plural(due, "plan is", "plans are") + " due, no job is open"
	default:
		return "No job is waiting"
	}
	text := page.Plural(b.Opened+b.Started, "job", "jobs")
	if b.Urgent > 0 {
		text += fmt.Sprintf(", %d urgent", b.Urgent)
	}
	if b.Overdue > 0 {
		text += fmt.Sprintf(", %d overdue", b.Overdue)
	}
	return text
}

// duePlans begins the sentence about plans that are due: by the name of the only one, else by their number.
func (b boardView) duePlans(n int64) string {
	if b.PlanDue != "" {
		return b.PlanDue + " is"
	}
	return page.Plural(n, "plan is", "plans are")
}

// who is a card's last line: who does the job, its steps and its number.
func who(wo maintenance.WorkOrder) string {
	var parts []string
	switch {
	case wo.AssignedTo != nil:
		parts = append(parts, *wo.AssignedTo)
	case wo.CompletedAt == nil:
		parts = append(parts, "Nobody yet")
	}
	if len(wo.Checklist) > 0 {
		parts = append(parts, ticked(wo.Checklist))
	}
	return strings.Join(append(parts, "#"+page.Num(wo.ID)), "\u00a0· ")
}

// weeksChart is the jobs done in each week as bars, and those opened as a line; nothing without any.
func weeksChart(ctx context.Context, weeks []maintenance.Week) page.Chart {
	var c page.Chart
	var opened, done int64
	for _, w := range weeks {
		label := page.DayText(ctx, w.From)
		c.Bars = append(c.Bars, page.Point{Label: label, Value: w.Done})
		c.Line = append(c.Line, page.Point{Label: label, Value: w.Opened})
		opened, done = opened+w.Opened, done+w.Done
	}
	if opened+done == 0 {
		return page.Chart{}
	}
	c.Title = fmt.Sprintf("%s done and %d opened in twelve weeks", page.Plural(done, "job", "jobs"), opened)
	if today := page.From(ctx).Today; weeks[len(weeks)-1].From+6 > today {
		c.Until = today
	}
	c.Label, c.Names, c.Past, c.Low, c.Whole = "Week from", [2]string{"Done", "Opened"}, true, true, true
	return c
}
