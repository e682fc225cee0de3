package rest

import (
	"strings"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestTheShopsDayDecides: today is the day in the shop's time zone, on both sides of UTC, for readings, plans and
// commands alike. Instants stay in UTC.
func TestTheShopsDayDecides(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ zone, at, today, tomorrow string }{
		{"Pacific/Kiritimati", "2026-11-20T12:00:00Z", "2026-11-21", "2026-11-22"}, // fourteen hours ahead
		{"Pacific/Kiritimati", "2026-11-20T09:59:59Z", "2026-11-20", "2026-11-21"},
		{"Pacific/Honolulu", "2026-11-20T09:59:59Z", "2026-11-19", "2026-11-20"}, // ten hours behind
		{"Pacific/Honolulu", "2026-11-20T10:00:00Z", "2026-11-20", "2026-11-21"},
		{"America/New_York", "2026-11-02T04:59:59Z", "2026-11-01", "2026-11-02"}, // the 25-hour day
		{"Europe/Berlin", "2026-03-29T22:00:00Z", "2026-03-30", "2026-03-31"},    // after the 23-hour day
	} {
		at := assert.Value(time.Parse(time.RFC3339, c.at))(t)
		w := apptest.Maintenance{Fixture: apptest.StartAt(t, at, "--timezone", c.zone)}
		w.Pipe("asset_tag,name\nL,Lathe\n", "import", "maintenance", "assets", "-", "--timezone", c.zone)
		w.Pipe("asset_tag,name,unit\nL,hours,h\n", "import", "maintenance", "meters", "-", "--timezone", c.zone)
		w.Pipe("asset_tag,title,interval_days\nL,Oil,30\n", "import", "maintenance", "pm-plans", "-", "--timezone", c.zone)
		w.Says(c.zone, w.MustGet("/api/pm-due"), `"today":"`+c.today+`"`, `"next_due":"`+c.today+`","days_until":0,`)
		w.Refused(422, "/api/assets/1/readings", `{"reading":1,"read_date":"`+c.tomorrow+`"}`, "in the future", "today, "+c.today)
		w.Says(c.zone, w.MustPost(201, "/api/assets/1/readings", `{"reading":1,"read_date":"`+c.today+`"}`), `"read_date":"`+c.today+`"`)
		w.Says(c.zone, w.MustTool("record_meter", `{"asset_id":1,"reading":2}`), `"read_date":"`+c.today+`"`)
		w.Refuses(1, []string{"in the future", "today, " + c.today}, "pm-done", "1", "--date", c.tomorrow, "--timezone", c.zone)
		w.Says(c.zone, w.Run("pm-done", "1", "--timezone", c.zone), "done "+c.today)
		w.Says(c.zone, w.MustPost(201, "/api/work-orders", `{"asset_id":1,"description":"x"}`), `"created_at":"`+c.at+`"`)
	}
}

// TestDateOperationsNeedAPlausibleClock: while the clock is earlier than the newest record, as on a machine without a
// battery, no operation takes the date from it. Reads and operations with their own date work.
func TestDateOperationsNeedAPlausibleClock(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	job := w.Open(`{"asset_id":2,"description":"Service","pm_id":3}`)
	w.Move(job, "in-progress", "")
	w.Clock.Set(apptest.Noon.AddDate(0, 0, -3))
	before := apptest.SnapshotOf(t, w.Fixture)
	for path, body := range map[string]string{
		"/api/assets/1/readings":    `{"reading":1100}`,
		"/api/work-orders/1/status": `{"status":"done","resolution":"x"}`,
	} {
		a := w.Post("maintenance", path, body)
		assert.That(t, a.Status == 503 && a.Map(t)["error"] == "unavailable" && strings.Contains(a.Body, "clock"),
			"%s: %d %s", path, a.Status, a.Body)
	}
	w.ToolRefused("record_meter", `{"asset_id":1,"reading":1100}`, "clock")
	w.Refuses(1, []string{"clock"}, "pm-done", "1")
	w.Refuses(1, []string{"clock"}, "move", "done", "1", "--resolution", "x")
	before.Check("what takes its day from the clock")
	for _, path := range []string{"/api/work-orders", "/api/assets", "/api/parts", "/api/pm-due"} {
		w.MustGet(path)
	}
	w.Says("a day that is given", w.MustPost(201, "/api/assets/1/readings", `{"reading":1100,"read_date":"2026-11-16"}`), `"moved":true`)
	w.Says("the operator's word", w.Run("pm-done", "1", "--accept-clock"), "done 2026-11-17")
	w.Clock.Set(apptest.Noon)
	w.Move(job, "done", "x")
	w.IsDue("when it is right again", 3, map[string]any{"last_done_date": "2026-11-20"})
}
