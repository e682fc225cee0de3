package page

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"quartermaster/maintenance"
	"quartermaster/schema"
	"quartermaster/schema/page"
)

// told says a history entry as a sentence: "Eva opened it", "Ben used 2 x Ball bearing 6204, 8.50 USD".
func (v orderView) told(ctx context.Context, h maintenance.HistoryEntry) string {
	var is map[string]any
	if json.Unmarshal([]byte(h.Changes), &is) != nil {
		is = map[string]any{}
	}
	var said string
	switch h.Action {
	case "workorder.created":
		said = "opened it"
		if v.entered(ctx) {
			said = "entered it"
		}
	case "workorder.status":
		said = withText(moved[plainText(is["to"])], is["resolution"])
		if why := is["skip_steps"]; why != nil {
			said += "; open steps: " + plainText(why)
		}
	case "workorder.step":
		said = "unticked “" + plainText(is["text"]) + "”"
		if is["done"] == true {
			said = said[len("un"):]
		}
	case "workorder.part_used", "workorder.part_returned":
		said = "used "
		if h.Action == "workorder.part_returned" {
			said = "gave back "
		}
		said += plainText(is["qty"]) + " × " + plainText(is["name"])
		if cents, known := is["cost_cents"].(float64); known {
			said += ", " + money(ctx, cents)
		}
	case "workorder.photo_added":
		said = withText("added a photo", is["filename"])
	case "workorder.photo_removed":
		said = withText("removed a photo", is["filename"])
	case "workorder.changed":
		said = changed(ctx, is)
	default:
		said = strings.ReplaceAll(h.Action, ".", " ")
	}
	return by(h) + " " + said
}

// entered says that the job was opened before it was recorded, as one from a file: its history has other days.
func (v orderView) entered(ctx context.Context) bool {
	zone := page.From(ctx).Zone
	return !slices.ContainsFunc(v.History, func(h maintenance.HistoryEntry) bool {
		return h.Action == "workorder.created" && h.At.Day(zone) <= v.CreatedAt.Day(zone)
	})
}

// moved are the moves of a job, in words.
var moved = map[string]string{"open": "reopened it", "in-progress": "started it", "done": "marked it as done",
	"cancelled": "cancelled it"}

// by says who did it, and where if not on these pages.
func by(h maintenance.HistoryEntry) string {
	who := page.Word(page.Actor(h.Actor))
	if h.Actor == h.Via || h.Via == "web" {
		return who
	}
	return who + " (" + page.Actor(h.Via) + ")"
}

func withText(said string, text any) string {
	if text == nil {
		return said
	}
	return said + ": " + plainText(text)
}

func money(ctx context.Context, cents float64) string {
	code := page.CurrencyCode(ctx)
	return page.Amount(int64(cents), code) + " " + code
}

// changed says which fields were changed: "noted 40 min of work", "set priority: high".
func changed(ctx context.Context, is map[string]any) string {
	var noted, said []string
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(is))) { // parts, work, downtime
		now := is[name]
		if pair, two := now.([]any); two && len(pair) == 2 {
			now = pair[1]
		}
		n, _ := now.(float64)
		switch name {
		case "labor_minutes":
			noted = append(noted, page.MinutesText(int64(n))+" of work")
		case "downtime_minutes":
			noted = append(noted, page.MinutesText(int64(n))+" of downtime")
		case "parts_cost":
			noted = append(noted, "other parts for "+money(ctx, math.Round(n*100)))
		case "assigned_to":
			if now == nil {
				now = "nobody"
			}
			said = append(said, "gave it to "+plainText(now))
		default:
			said = append(said, "set "+strings.ToLower(page.Word(name))+": "+plainText(now))
		}
	}
	if len(noted) > 0 {
		said = append([]string{"noted " + strings.Join(noted, ", ")}, said...)
	}
	return strings.Join(said, ", ")
}

func plainText(v any) string {
	switch t := v.(type) {
	case nil:
		return "none"
	case bool:
		if t {
			return "yes"
		}
		return "no"
	case float64:
		return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.3f", t), "0"), ".")
	case string:
		if t == "" {
			return "none"
		}
		return schema.DaysInWords(t)
	}
	return fmt.Sprint(v)
}
