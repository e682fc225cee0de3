package maintenance

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/assert"
)

func TestDemo(t *testing.T) {
	first, second := open(t), open(t)
	for _, s := range []*fixture{first, second} {
		s.Must(s.Declare().Demo(ctx, day(t, "2026-11-20")))
	}
	for _, table := range first.Declare().Tables {
		a, b := first.export(table.Name), second.export(table.Name)
		assert.That(t, strings.Join(a, "\n") == strings.Join(b, "\n") && len(a) != 0,
			"%s: %d rows, not the same twice", table.Name, len(a))
	}
	first.movesTo(open(t))
	assert.Equal(t, len(first.export("readings")), 6*105, "readings")
	list := assert.Value(first.PMDue(ctx, ""))(first.T)
	states := map[string]int{}
	for _, row := range list.PMDue {
		states[row.DueStatus]++
		states[row.DueStatus+" by "+row.DueSource]++
	}
	jobs := assert.Value(first.WorkOrders(ctx, Filter{Cursor: schema.First(200)}))(first.T)
	for _, wo := range jobs.WorkOrders {
		states[wo.Status]++
	}
	for _, wo := range jobs.WorkOrders {
		trail := assert.Value(first.History(ctx, "work_order", wo.ID))(first.T)
		for _, h := range trail {
			assert.That(t, h.Actor != "cli" && h.At.Day(time.UTC) < day(t, "2026-11-20") && h.At >= wo.CreatedAt,
				"work order %d: %s by %s at %v", wo.ID, h.Action, h.Actor, h.At)
		}
	}
	parts := assert.Value(first.Parts(ctx, PartFilter{}))(first.T)
	for _, p := range parts.Parts {
		if p.LowStock {
			states["low"]++
		}
	}
	assets := assert.Value(first.Assets(ctx, AssetFilter{Cursor: schema.First(100)}))(first.T)
	for _, a := range assets.Assets {
		states[a.Status]++
		for _, m := range a.Meters {
			assert.That(t, m.AvgPerDay != nil && dayText(m.ReadDate) == "2026-11-19", "%s: %s", a.Name, asJSON(t, m))
		}
	}
	for _, want := range []string{"overdue", "due-soon", "ok", "overdue by ", "overdue by usage", "due-soon by usage", "ok by both",
		"open", "in-progress", "done", "cancelled", "low", "operational", "needs-attention", "down"} {
		assert.That(t, states[want] != 0, "nothing in the demo is %q: %v", want, states)
	}
	assert.That(t, len(list.PMDue) == 10 && len(assets.Assets) == 5 && jobs.Total == 34,
		"%s", fmt.Sprint(len(list.PMDue), len(assets.Assets), jobs.Total))
}
