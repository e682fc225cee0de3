package rest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

func TestAssetsAndPartsOverREST(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	const lathe = `{"id":1,"asset_tag":"LATHE-1","name":"Lathe","category":null,"location":null,"manufacturer":null,"model":null,"serial_number":null,` +
		`"status":"operational","notes":null,"meters":[{"id":1,"name":"hours","unit":"h","reading":1000,"read_date":"2026-11-10","avg_per_day":null}]}`
	const van = `{"id":2,"asset_tag":"VAN-1","name":"Van 1","category":null,"location":null,"manufacturer":null,"model":null,"serial_number":null,"status":"down","notes":null,` +
		`"meters":[{"id":3,"name":"cooler","unit":"h","reading":0,"read_date":null,"avg_per_day":null},{"id":2,"name":"odometer","unit":"km","reading":50000,"read_date":"2026-11-19","avg_per_day":null}]}`
	const bench = `{"id":3,"asset_tag":"BENCH-1","name":"Bench","category":null,"location":null,"manufacturer":null,"model":null,"serial_number":null,"status":"operational","notes":null,"meters":[]}`
	const saw = `{"id":4,"asset_tag":"OLD-1","name":"Old saw","category":null,"location":null,"manufacturer":null,"model":null,"serial_number":null,` +
		`"status":"retired","notes":null,"meters":[{"id":4,"name":"hours","unit":"h","reading":10,"read_date":"2025-01-01","avg_per_day":null}]}`
	page := func(next string, rows ...string) string {
		return `{"assets":[` + strings.Join(rows, ",") + `],"next":` + next + `}`
	}
	for path, want := range map[string]string{
		"/api/assets":                            page("null", lathe, van, bench, saw),
		"/api/assets?status=operational":         page("null", lathe, bench),
		"/api/assets?status=Needs_Attention":     page("null"),
		"/api/assets?status=down":                page("null", van),
		"/api/assets?status=retired":             page("null", saw),
		"/api/assets?limit=2":                    page("2", lathe, van),
		"/api/assets?limit=2&after=2":            page("null", bench, saw),
		"/api/assets?limit=4":                    page("null", lathe, van, bench, saw),
		"/api/assets?after=4":                    page("null"),
		"/api/assets?status=operational&limit=1": page("1", lathe),
		"/api/parts": `{"parts":[{"id":1,"part_number":"6204-2RS","name":"Ball bearing","unit":"piece","quantity":3,"min_quantity":4,"unit_cost_cents":425,"supplier":null,"location":null,"low_stock":true},` +
			`{"id":2,"part_number":"OIL","name":"Engine oil","unit":"l","quantity":38.5,"min_quantity":20,"unit_cost_cents":690,"supplier":null,"location":null,"low_stock":false},` +
			`{"id":3,"part_number":"FUSE","name":"Fuse","unit":null,"quantity":0,"min_quantity":0,"unit_cost_cents":15,"supplier":null,"location":null,"low_stock":false}],"next":null}`,
		"/api/parts?limit=1&after=1": `{"parts":[{"id":2,"part_number":"OIL","name":"Engine oil","unit":"l","quantity":38.5,"min_quantity":20,"unit_cost_cents":690,"supplier":null,"location":null,"low_stock":false}],"next":2}`,
	} {
		w.Equal(path, w.MustGet(path), want)
	}
}

// TestStockIsLowAtItsMinimum uses a part down to its minimum and below.
func TestStockIsLowAtItsMinimum(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	w.Open(`{"asset_id":1,"description":"Oil"}`)
	for _, c := range []struct{ use, quantity, low string }{{"18.499", "20.001", "false"}, {"0.001", "20", "true"}, {"20", "0", "true"}} {
		w.Run("use-part", "1", "OIL", c.use)
		w.Says(c.use, w.MustGet("/api/parts?after=1&limit=1"), `"quantity":`+c.quantity+`,`, `"low_stock":`+c.low)
	}
	w.Load("parts", "part_number,quantity", "OIL,100")
	w.Says("filled up", w.MustGet("/api/parts?after=1&limit=1"), `"quantity":100,`, `"low_stock":false`)
}

// TestLimitsOfPages makes more than two pages of each list.
func TestLimitsOfPages(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	assets, parts := make([]string, 1100), make([]string, 1100)
	for i := range assets {
		assets[i], parts[i] = fmt.Sprintf("M-%d", i), fmt.Sprintf("P-%d", i)
	}
	w.Load("assets", "asset_tag", assets...)
	w.Load("parts", "part_number", parts...)
	for noun, all := range map[string]int{"assets": 1104, "parts": 1103} {
		for query, want := range map[string]int{"": 500, "?limit=1000": 1000, "?limit=1001": 1000, "?limit=5000": 1000, "?limit=1": 1} {
			var page map[string]any
			w.Into(w.MustGet("/api/"+noun+query), &page)
			if rows := page[noun].([]any); len(rows) != want || page["next"] != float64(want) {
				t.Errorf("%s%s: %d rows, next %v", noun, query, len(rows), page["next"])
			}
		}
		seen, after := 0, "0"
		for pages := 0; after != "<nil>" && pages < 10; pages++ {
			var page map[string]any
			query := "?after=" + after
			if after == "0" {
				query = ""
			}
			w.Into(w.MustGet("/api/"+noun+query), &page)
			seen, after = seen+len(page[noun].([]any)), fmt.Sprint(page["next"])
		}
		assert.That(t, seen == all, "%d of %d %s on all pages", seen, all, noun)
	}
}

// TestReadingRulesOverEveryInterface posts the same readings over REST, as an agent and as rows of a file. A lower one
// is refused, an equal one does not move the meter, a higher one does.
func TestReadingRulesOverEveryInterface(t *testing.T) {
	t.Parallel()
	ways := map[string]func(w apptest.Maintenance, reading, date string) string{
		"rest": func(w apptest.Maintenance, reading, date string) string {
			a := w.Post("maintenance", "/api/assets/1/readings", `{"reading":`+reading+`,"read_date":"`+date+`"}`)
			if a.Status == 201 {
				return a.Body
			}
			assert.That(w.T, a.Status == 409 && a.Map(w.T)["error"] == "conflict", "%s: %d %s", reading, a.Status, a.Body)
			detail, _ := a.Map(w.T)["detail"].(string)
			return detail
		},
		"mcp": func(w apptest.Maintenance, reading, date string) string {
			content, refusal := w.Tool("maintenance", "record_meter", `{"asset_id":1,"reading":`+reading+`,"read_date":"`+date+`"}`)
			if refusal != "" {
				return refusal
			}
			return apptest.JSONText(content)
		},
		"csv": func(w apptest.Maintenance, reading, date string) string {
			_, _, errs := w.Rows("readings", "asset_tag,reading,read_date", "LATHE-1,"+reading+","+date)
			return errs
		},
	}
	for way, post := range ways {
		t.Run(way, func(t *testing.T) {
			w := apptest.NewMaintenance(t)
			events := eventCount(w)
			w.Says("higher", post(w, "1250.5", "2026-11-12")+`"moved":true`, `"moved":true`)
			meterIs(w, "higher", 1, 1250.5, "2026-11-12", events+1)
			before := apptest.SnapshotOf(t, w.Fixture)
			w.Says("lower", post(w, "1250.499", "2026-11-20"), "reading: 1250.499 is below the present value 1250.5", "Lathe", "correction true")
			before.Check("lower")
			w.Says("equal", post(w, "1250.5", "2026-11-13")+`"moved":false`, `"moved":false`)
			meterIs(w, "equal, later", 1, 1250.5, "2026-11-13", events+1)
			post(w, "1300", "2026-11-11")
			meterIs(w, "higher, of an older day", 1, 1300, "2026-11-13", events+2)
			post(w, "1300", "2024-02-29")
			meterIs(w, "equal, of a leap day", 1, 1300, "2026-11-13", events+2)
		})
	}
}

// eventCount is the number of the service's stored events.
func eventCount(w apptest.Maintenance) int {
	w.T.Helper()
	return len(events(w))
}

// meterIs compares a meter's value and the number of events with the expected ones.
func meterIs(w apptest.Maintenance, when string, id int64, reading float64, date string, events int) {
	w.T.Helper()
	var page struct {
		Assets []struct {
			Meters []struct {
				ID       int64
				Reading  float64
				ReadDate string `json:"read_date"`
			}
		}
	}
	w.Into(w.MustGet("/api/assets"), &page)
	for _, a := range page.Assets {
		for _, m := range a.Meters {
			assert.That(w.T, m.ID != id || m.Reading == reading && m.ReadDate == date,
				"%s: meter %d shows %v of %s, want %v of %s", when, id, m.Reading, m.ReadDate, reading, date)
		}
	}
	got := eventCount(w)
	assert.That(w.T, got == events, "%s: %d events, want %d", when, got, events)
}

// TestReadingAnswers: the answer begins with its warning, so that an agent does not overlook it.
func TestReadingAnswers(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	w.Equal("the first of a meter", w.MustPost(201, "/api/assets/2/readings", `{"meter":"cooler","reading":120.5}`),
		`{"warning":null,"asset_id":2,"meter":{"id":3,"name":"cooler","unit":"h","reading":120.5,"read_date":"2026-11-20","avg_per_day":null},"previous_reading":0,`+
			`"accepted":true,"moved":true,"correction":false}`)
	w.Says("by id", w.MustPost(201, "/api/assets/2/readings", `{"meter":2,"reading":50100}`), `"id":2,`, `"avg_per_day":100}`)
	w.Says("by id as text, by name in another case", w.MustPost(201, "/api/assets/2/readings", `{"meter":"2","reading":50150}`)+w.MustPost(201, "/api/assets/2/readings", `{"meter":"ODOMETER","reading":50200}`),
		`"reading":50150,`, `"reading":50200,`, `"avg_per_day":200}`)
	// 200 km a day since yesterday: more than 2000 km in one day is a jump.
	w.Clock.Set(apptest.Noon.Add(24 * time.Hour))
	w.Says("just no jump", w.MustPost(201, "/api/assets/2/readings", `{"meter":2,"reading":52200}`), `"warning":null`)
	w.Says("a jump", w.MustPost(201, "/api/assets/2/readings", `{"meter":2,"reading":90000}`), `"accepted":true,"moved":true`, `"warning":"odometer went up by 37800 km in 1 day, more than ten times its use of 1100 a day`)
	w.Says("put right", w.MustPost(201, "/api/assets/2/readings", `{"meter":2,"reading":52300,"correction":true}`),
		`{"warning":null,`, `"previous_reading":90000,"accepted":true,"moved":true,"correction":true}`)
	w.Says("equal", w.MustPost(201, "/api/assets/2/readings", `{"meter":2,"reading":52300}`), `"moved":false,"correction":false`)
	w.Says("a correction that changes nothing", w.MustPost(201, "/api/assets/2/readings", `{"meter":2,"reading":52300,"correction":true}`), `"moved":false,"correction":true`)
}

// TestDueListFollowsReadingsAndDay: the list is computed for each request from the posted readings, and a
// request writes nothing.
func TestDueListFollowsReadingsAndDay(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	w.IsDue("at first", 1, map[string]any{"usage_remaining": 500, "next_due": nil, "days_until": nil, "due_status": "ok", "due_source": "usage"})
	w.MustPost(201, "/api/assets/1/readings", `{"reading":1200}`) // 200 h in ten days; 300 h are left: 15 days
	w.IsDue("read", 1, map[string]any{"usage_remaining": 300, "next_due": "2026-12-05", "days_until": 15, "due_status": "ok"})
	before := apptest.SnapshotOf(t, w.Fixture)
	for day, want := range map[string]map[string]any{
		"2026-11-21": {"days_until": 14, "due_status": "ok"},
		"2026-12-05": {"days_until": 0, "due_status": "ok"},
		"2026-12-31": {"next_due": "2026-12-31", "days_until": 0, "due_status": "ok", "usage_remaining": 300},
	} {
		at := assert.Value(time.Parse(time.DateOnly, day))(t)
		w.Clock.Set(at.Add(12 * time.Hour))
		w.IsDue(day, 1, want)
	}
	before.Check("asking what is due")
	w.Clock.Set(apptest.Noon.Add(24 * time.Hour))
	for _, c := range []struct {
		reading, remaining, status string
	}{{"1449.999", "50.001", "ok"}, {"1450", "50", "due-soon"}, {"1499.999", "0.001", "due-soon"}, {"1500", "0", "overdue"}, {"1600", "-100", "overdue"}} {
		w.MustPost(201, "/api/assets/1/readings", `{"reading":`+c.reading+`}`)
		w.IsDue(c.reading, 1, map[string]any{"usage_remaining": c.remaining, "due_status": c.status, "due_source": "usage"})
	}
}

func TestPMDueRowsAndFilters(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	const oil = `{"pm_id":1,"asset_id":1,"asset":"Lathe","title":"Oil","interval_days":null,"interval_usage":500,"meter":"hours","unit":"h","last_done_date":null,"baseline_reading":1000,` +
		`"next_due":null,"days_until":null,"due_status":"ok","usage_remaining":500,"due_source":"usage"}`
	const inspection = `{"pm_id":2,"asset_id":2,"asset":"Van 1","title":"Inspection","interval_days":365,"interval_usage":null,"meter":null,"unit":null,"last_done_date":null,"baseline_reading":null,` +
		`"next_due":"2027-11-20","days_until":365,"due_status":"ok"}`
	const service = `{"pm_id":3,"asset_id":2,"asset":"Van 1","title":"Service","interval_days":180,"interval_usage":15000,"meter":"odometer","unit":"km","last_done_date":"2026-11-01","baseline_reading":50000,` +
		`"next_due":"2027-04-30","days_until":161,"due_status":"ok","usage_remaining":15000,"due_source":"both"}`
	list := func(rows ...string) string {
		return `{"today":"2026-11-20","pm_due":[` + strings.Join(rows, ",") + `]}`
	}
	w.Equal("all", w.MustGet("/api/pm-due"), list(service, inspection, oil))
	w.Equal("ok", w.MustGet("/api/pm-due?status=OK"), list(service, inspection, oil))
	w.Equal("overdue", w.MustGet("/api/pm-due?status=overdue"), list())
	w.Load("pm-plans", "asset_tag,title,interval_days,last_done_date,due_soon_days", "BENCH-1,Varnish,30,2026-10-20,", "BENCH-1,Level,10,2026-11-11,", "BENCH-1,Clean,10,2026-11-12,", "BENCH-1,Wax,10,2026-11-13,7")
	for status, want := range map[string]string{"overdue": "[5]", "due-soon": "[6 7 8]", "due_soon": "[6 7 8]", "ok": "[3 2 1]"} {
		var got struct {
			Rows []struct {
				ID int64 `json:"pm_id"`
			} `json:"pm_due"`
		}
		w.Into(w.MustGet("/api/pm-due?status="+status), &got)
		ids := []int64{}
		for _, r := range got.Rows {
			ids = append(ids, r.ID)
		}
		w.Equal(status, fmt.Sprint(ids), want)
	}
}
