package rest

import (
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestMonthOfMaintenance holds the lines of month.md's "Maintenance" over REST, by agents and at the command line, on
// Friday, 2026-11-20.
func TestMonthOfMaintenance(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	askAll(t, w.Fixture, "maintenance", []asked{
		{"due_date on creation", "POST", "/api/work-orders", `{"asset_id":1,"description":"Bearing","due_date":"2026-11-19","assigned_to":"Ana"}`, 201, `"id":1|"due_date":"2026-11-19","overdue":true|"source":"api"`},
		{"null is none", "POST", "/api/work-orders", `{"asset_id":99,"description":"x","due_date":null}`, 404, "asset 99"},
		{"no such day", "POST", "/api/work-orders", `{"asset_id":1,"description":"x","due_date":"2026-02-30"}`, 422, "due_date"},
		{"only what is sent changes", "PATCH", "/api/work-orders/1", `{"priority":"critical","labor_minutes":30}`, 200, `"priority":"urgent"|"labor_minutes":30|"description":"Bearing"|"assigned_to":"Ana"|"due_date":"2026-11-19"`},
		{"null clears", "PATCH", "/api/work-orders/1", `{"assigned_to":null,"due_date":null}`, 200, `"assigned_to":null|"due_date":null,"overdue":false`},
		{"null clears nothing else", "PATCH", "/api/work-orders/1", `{"description":null}`, 422, "description"},
		{"a field that is not edited", "PATCH", "/api/work-orders/1", `{"asset_id":2}`, 422, "asset_id"},
		{"no such order", "PATCH", "/api/work-orders/99", `{"priority":"low"}`, 404, "not_found"},
		{"due today is not overdue", "PATCH", "/api/work-orders/1", `{"due_date":"2026-11-20","assigned_to":"Ana"}`, 200, `"overdue":false`},
		{"a check list", "POST", "/api/work-orders", `{"asset_id":2,"description":"Brakes, OIL","due_date":"2026-11-01","checklist":["Lift it","Bleed"]}`, 201, `"id":2|"checklist":[{"step":1,"text":"Lift it","done":false},{"step":2,"text":"Bleed","done":false}]`},
		{"started", "POST", "/api/work-orders/2/status", `{"status":"in-progress"}`, 200, `"status":"in-progress"`},
		{"open steps stand in the way", "POST", "/api/work-orders/2/status", `{"status":"done","resolution":"Bled"}`, 422, "skip_steps|2 of 2"},
		{"overdue ones", "GET", "/api/work-orders?overdue=true", "", 200, `"id":2|!"id":1,|"next":null,"total":1`},
		{"the others", "GET", "/api/work-orders?overdue=false", "", 200, `"id":1,|"total":1`},
		{"by assignee in any case", "GET", "/api/work-orders?assigned_to=ANA", "", 200, `"id":1,|"total":1`},
		{"by words of the description", "GET", "/api/work-orders?q=oil", "", 200, `"id":2,|"total":1`},
		{"by the asset's name", "GET", "/api/work-orders?q=lathe", "", 200, `"id":1,|"total":1`},
		{"by number", "GET", "/api/work-orders?q=2", "", 200, `"id":2,`},
		{"by priority and asset", "GET", "/api/work-orders?priority=urgent&asset_id=1", "", 200, `"id":1,|"total":1`},
		{"a page", "GET", "/api/work-orders?limit=1", "", 200, `"id":2,|!"id":1,|"next":2,"total":2`},
		{"the next", "GET", "/api/work-orders?limit=1&after=2", "", 200, `"id":1,|"next":null,"total":2`},
		{"a value that is none", "GET", "/api/work-orders?overdue=maybe", "", 422, "overdue"},
		{"a plan's order", "POST", "/api/work-orders", `{"asset_id":1,"description":"Oil","wo_type":"preventive","pm_id":1}`, 201, `"id":3|"pm_id":1`},
	})
	typeAll(t, w.CLI, []typed{
		{"a step is ticked", "maintenance tick-step 2 1", 0, "1 of 2"},
		{"there is no such step", "maintenance tick-step 2 3", 1, "3"},
		{"done with a reason", "maintenance work-orders advance 2 done --resolution Bled --skip-steps night~shift", 0, "done"},
		{"the reason is in the trail", "audit --subject work_order:2 --json", 0, "night shift"},
		{"no ticking on a done order", "maintenance tick-step 2 2", 1, "reopen it first"},
		{"it is edited from here too", "maintenance work-orders edit 1 --description Spindle --due-date 2030-01-01", 0, ""},
		{"by CSV", "export maintenance work-orders -", 0, "2030-01-01|[x] Lift it"},
	})
	askAll(t, w.Fixture, "maintenance", []asked{
		{"what moves the cost of a done order", "PATCH", "/api/work-orders/2", `{"labor_minutes":5}`, 422, "labor_minutes|reopen it first"},
		{"equal is no change", "PATCH", "/api/work-orders/2", `{"labor_minutes":0}`, 200, `"labor_minutes":0`},
		{"what does not", "PATCH", "/api/work-orders/2", `{"description":"Brakes"}`, 200, `"description":"Brakes"`},
		{"reopening keeps the ticks", "POST", "/api/work-orders/2/status", `{"status":"open"}`, 200, `"text":"Lift it","done":true`},
		{"cancelled", "POST", "/api/work-orders/2/status", `{"status":"cancelled"}`, 200, `"status":"cancelled"`},
		{"everything of a cancelled order", "PATCH", "/api/work-orders/2", `{"description":"x"}`, 422, "cancelled"},
	})
	w.Load("assets", "asset_tag,name", "2,Second hall's door")
	typeAll(t, w.CLI, []typed{
		{"a tag of digits is a name first", "maintenance assets show 2 --json", 0, `"asset_tag":"2"`},
		{"an id is #2", "maintenance assets show #2 --json", 0, `"asset_tag":"VAN-1"`},
		{"and where the contract took an id it is one", "maintenance asset-status 2 operational", 0, "Van 1"},
		{"a paused plan", "maintenance pause-plan LATHE-1/Oil", 0, "paused"},
		{"leaves the list", "maintenance due --json", 0, `!"title":"Oil"|"title":"Service"`},
		{"its job resumes it", "maintenance move in-progress 3", 0, ""},
		{"and restarts it", "maintenance move done 3 --resolution x", 0, ""},
		{"it is on the list again", "maintenance due --json", 0, `"title":"Oil"|"last_done_date":"2026-11-20"`},
		{"a plan that is removed keeps its orders", "maintenance remove-plan LATHE-1/Oil --yes", 0, "1 work order stays"},
		{"without it", "maintenance work-orders show 3 --json", 0, `"pm_id":null`},
		{"parts used", "maintenance use-part 1 oil 3", 0, "3 of OIL"},
		{"a part that is not there, with those that are", "maintenance use-part 1 OLI 3", 1, "there are |OIL"},
		{"some go back", "maintenance return-part 1 OIL 1", 0, "6.90"},
		{"never more than was used", "maintenance return-part 1 OIL 2.5", 1, "2"},
		{"a part that is used stays", "maintenance parts remove OIL --yes", 1, "1 work order"},
		{"one that is not goes", "maintenance parts remove FUSE --yes", 0, "removed"},
		{"an asset with orders stays", "maintenance assets remove LATHE-1 --yes", 1, "work orders"},
		{"one without goes", "maintenance assets remove BENCH-1 --yes", 0, "removed"},
		{"figures", "maintenance figures --from 2026-11-01 --to 2026-11-20 --json", 0, `"jobs":1,|"plans_done":1|"plans_late":0|"mtbf_days":null,"mttr_hours":null`},
		{"as a file", "maintenance figures --csv", 0, "asset_id,asset,jobs,downtime_minutes,labor_cost_cents,parts_cost_cents,total_cost_cents,mtbf_days,mttr_hours,plans_done,plans_late"},
		{"by what people call it", "maintenance assets show VAN-1 --json", 0, `"asset_tag":"VAN-1"`},
		{"or its id", "maintenance assets show #2 --json", 0, `"asset_tag":"VAN-1"`},
		{"a tag that is not there", "maintenance assets show NOPE", 1, "NOPE"},
	})
}

// TestRequestsWithoutAnAccount: a person at the machine can send a request without an account. It is off until an admin
// turns it on, and limited to five an hour per address. Refused uploads do not count, and no page can be found by
// guessing.
func TestRequestsWithoutAnAccount(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t, "--trusted-proxy", "127.0.0.0/8")
	who := w.Visitor("maintenance")
	assert.Equal(t, who.Get("/request/AAAAAAAAAAAAAAAAAAAAAA").Status, 404, "a guessed address")
	w.Key("maintenance", "mia", "member", "full")
	typeAll(t, w.CLI, []typed{{"a member may not", "maintenance requests LATHE-1 --as mia", 1, "admin"}, {"not on a retired asset", "maintenance requests OLD-1", 1, "retired"}})
	_, path, _ := strings.Cut(w.MustCLI("maintenance", "requests", "LATHE-1", "--json"), `"path":"`)
	path, _, _ = strings.Cut(path, `"`)
	if got := who.Get(path); got.Status != 200 || !strings.Contains(got.Body, "Lathe") || len(path) < len("/request/")+22 {
		t.Fatalf("%s: %d %s", path, got.Status, got.Body)
	}
	jpeg := "\xff\xd8\xff\xe0" + strings.Repeat(" ", 500)
	from := func(address string) { who.Head = map[string]string{"X-Forwarded-For": address} }
	from("192.0.2.1")
	for _, c := range []struct {
		what, description, name, photo string
		status                         int
	}{
		{"no description", "  ", "Joe", "", 422},
		{"one too long", strings.Repeat("x", 10_001), "Joe", "", 422},
		{"a name too long", "It drips", strings.Repeat("x", 201), "", 422},
		{"a control character", "It\x01drips", "Joe", "", 422},
		{"no picture", "It drips", "Joe", "<svg onload=alert(1)>" + strings.Repeat(" ", 300), 422},
		{"a picture too large", "It drips", "Joe", "\xff\xd8\xff\xe0" + strings.Repeat(" ", 10<<20+1), 413},
		{"one with a picture", "It drips", "Joe", jpeg, 200}, {"2", "2", "", "", 200}, {"3", "3", "", "", 200}, {"4", "4", "", "", 200}, {"5", "5", "", "", 200},
		{"the sixth", "6", "", "", 429},
	} {
		form := map[string]string{"description": c.description, "name": c.name}
		var got apptest.Sheet
		if c.photo == "" {
			got = who.Post(path, "description", c.description, "name", c.name)
		} else {
			got = who.Upload(path, form, "photo", "p.jpg", c.photo)
		}
		assert.That(t, got.Status == c.status || c.status == 200 && got.Status == 303, "%s: %d, want %d", c.what, got.Status,
			c.status)
		assert.That(t, c.status != 429 || got.Header.Get("Retry-After") != "", "%s: no Retry-After", c.what)
	}
	if from("192.0.2.2"); who.Post(path, "description", "from elsewhere").Status >= 400 {
		t.Error("another address is refused")
	}
	askAll(t, w.Fixture, "maintenance", []asked{
		{"what came of them", "GET", "/api/work-orders", "", 200, `"total":6|"description":"Joe: It drips","priority":"medium"|"source":"request"|"created_by":"request"|!"source":"api"`},
	})
	typeAll(t, w.CLI, []typed{{"the way in the trail", "audit --via request --json", 0, `"actor":"request","via":"request"`}, {"off again", "maintenance requests LATHE-1 --on=false", 0, "off"}})
	assert.Equal(t, who.Get(path).Status, 404, "off again")
}
