package rental

import (
	"slices"
	"strings"
	"testing"

	"quartermaster/schema/assert"
)

func TestTicketsAsCSV(t *testing.T) {
	h := open(t, "2026-11-20")
	h.lease("start_date=2026-11-01")
	h.lease("start_date=2026-11-21")
	h.load("tickets", "id,property,unit,title,description,priority,status\n"+
		",House,U1,Tap,Drips,normal,open\n12,House,U2,Door,,,resolved\n,House,U1,Lamp,,high,in-progress\n")
	if e := h.events(); !slices.Equal(e, []string{"maintenance.created"}) { // the others are history
		t.Errorf("events %q", e)
	}
	want := "id,property,unit,title,description,priority,status\n1,House,U1,Tap,Drips,medium,open\n12,House,U2,Door,,medium,resolved\n13,House,U1,Lamp,,high,in_progress\n"
	assert.Equal(t, h.export("tickets"), want)
	got := h.Texts("SELECT source || ' ' || (lease_id IS NULL) || ' ' || (resolved_at IS NULL) FROM tickets ORDER BY id")
	assert.That(t, slices.Equal(got, []string{"cli 0 1", "cli 1 0", "cli 0 1"}), "%q", got)
	before := h.written()
	h.load("tickets", want)
	assert.That(t, h.written() == before && h.export("tickets") == want, "importing what was exported changed something")
	h.load("tickets", "id,title,status,priority\n1,Tap again,in_progress,\n")
	h.load("tickets", "id,property,unit\n13,House,U2\n")
	refusals := h.try("tickets", "id,title,status\n1,Tap again,in_progress\n12,Door,in_progress\n,No unit,open\n0,x,open\n13,,open\n")
	for i, says := range []string{"cannot move to in_progress", "property and unit are missing", "id", "title is empty"} {
		assert.Must(t, len(refusals) == 4 && strings.Contains(refusals[i], says), "refusals %q, want %q", refusals, says)
	}
	if got := h.Texts("SELECT title || ' ' || status || ' ' || priority || ' ' || unit_id || ' ' || coalesce(lease_id, '-') FROM tickets ORDER BY id"); !slices.Equal(got,
		[]string{"Tap again in_progress medium 1 1", "Door resolved medium 2 -", "Lamp in_progress high 2 -"}) {
		t.Errorf("%q", got)
	}
	if e := h.events(); !slices.Equal(e, []string{"maintenance.created", "maintenance.status_changed"}) { // one row moved a ticket
		t.Errorf("events %q", e)
	}
	last := h.Texts("SELECT CAST(body AS TEXT) FROM events ORDER BY seq DESC LIMIT 1")[0]
	assert.That(t, strings.Contains(last, `"title":"Tap again"`) &&
		strings.Contains(last, `"from":"open","to":"in_progress"`), "it tells %s", last)
	h.sound()
}
