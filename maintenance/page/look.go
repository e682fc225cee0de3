package page

import (
	"context"
	"fmt"
	"strings"

	"github.com/a-h/templ"

	"quartermaster/maintenance"
	"quartermaster/schema"
	"quartermaster/schema/exact"
	"quartermaster/schema/page"
)

// orderState is a work order's state as a badge.
func orderState(status string) templ.Component {
	switch status {
	case "open":
		return page.State(page.Todo, "Open")
	case "in-progress":
		return page.State(page.Going, "In progress")
	case "done":
		return page.State(page.Good, "Done")
	}
	return page.State(page.Idle, "Cancelled")
}

// assetState is an asset's state as a badge.
func assetState(status string) templ.Component {
	switch status {
	case "operational":
		return page.State(page.Good, "Operational")
	case "needs-attention":
		return page.State(page.Warn, "Needs attention")
	case "down":
		return page.State(page.Bad, "Down")
	}
	return page.State(page.Idle, "Retired")
}

// dueState is a plan's state as a badge.
func dueState(status string) templ.Component {
	switch status {
	case "overdue":
		return page.State(page.Bad, "Overdue")
	case "due-soon":
		return page.State(page.Warn, "Due soon")
	}
	return page.State(page.Good, "Not yet due")
}

// dueText is a day on which a job is due, as it is said.
func dueText(ctx context.Context, day exact.Day) string {
	switch day - page.From(ctx).Today {
	case 0:
		return "due today"
	case 1:
		return "due tomorrow"
	}
	return "due " + page.DayText(ctx, day)
}

// pressing reports whether a job's priority is worth a badge.
func pressing(wo maintenance.WorkOrder) bool {
	return wo.Status != "done" && wo.Status != "cancelled" && (wo.Priority == "urgent" || wo.Priority == "high")
}

func priorityState(priority string) templ.Component {
	if priority == "urgent" {
		return page.State(page.Bad, "Urgent")
	}
	return page.State(page.High, "High")
}

// moveWords are the labels of the moves' buttons.
var moveWords = map[string]string{"in-progress": "Start", "done": "Mark as done", "cancelled": "Cancel job",
	"open": "Reopen"}

// moves are the buttons of every possible move of a work order, likeliest first. A move that needs a text leads to its
// form.
func moves(wo maintenance.WorkOrder, main bool) []page.Action {
	var list []page.Action
	for i, to := range maintenance.OrderMoves(wo.Status) {
		id := page.Num(wo.ID)
		label := moveWords[to]
		var a page.Action
		switch to {
		case "done":
			a = page.Link(label, orderPath(wo.ID)+"/done").For("advance_status")
		case "cancelled":
			a = page.Do(label, "advance_status", "id", id, "status", to).Quiet()
			if main {
				a = a.Danger()
			}
		default:
			a = page.Do(label, "advance_status", "id", id, "status", to)
		}
		if i == 0 && main && to != "open" {
			a = a.Main()
		}
		list = append(list, a.Named("work order "+id))
	}
	return list
}

// headline is the first line of what is to be done.
func headline(description string) string {
	line, _, _ := strings.Cut(description, "\n")
	const most = 90
	if r := []rune(line); len(r) > most {
		line = string(r[:most-1]) + "…"
	}
	return line
}

// rest is what the headline leaves out of a description: its further lines, or all of it if the first was cut.
func rest(description string) string {
	line, more, _ := strings.Cut(description, "\n")
	if headline(description) != line {
		return description
	}
	return strings.TrimSpace(more)
}

// ticked is how many steps of a check list are done: "2 of 5 steps".
func ticked(steps []maintenance.Step) string {
	done := 0
	for _, s := range steps {
		if s.Done {
			done++
		}
	}
	return fmt.Sprintf("%d of %d steps", done, len(steps))
}

// every is a plan's triggers in words.
func every(r maintenance.PMDueRow) string {
	text := ""
	if r.IntervalDays != nil {
		text = page.Plural(*r.IntervalDays, "day", "days")
	}
	if r.IntervalUsage != nil {
		if text != "" {
			text += " or "
		}
		text += page.QtyText(*r.IntervalUsage) + " " + schema.Cell(r.Unit)
	}
	return "Every " + text
}

// address is the full address of a page, for a QR code.
func address(ctx context.Context, path string) string { return page.From(ctx).Base + path }
