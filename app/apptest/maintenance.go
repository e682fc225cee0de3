package apptest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"quartermaster/schema/assert"
)

// Maintenance is a running appliance with a few maintenance records. It is Friday, 2026-11-20.
//
//	asset 1 LATHE-1 Lathe, operational:  meter 1 hours at 1000
//	asset 2 VAN-1 Van 1, down:           meters 3 cooler, never read, and 2 odometer at 50000
//	asset 3 BENCH-1 Bench, operational:  no meter
//	asset 4 OLD-1 Old saw, retired:      meter 4 hours at 10
//
//	plan 1 of the lathe:  Oil, every 500 h
//	plan 2 of the van:    Inspection, every 365 days, first on 2027-11-20
//	plan 3 of the van:    Service, every 180 days and 15000 km, last on 2026-11-01
//	plan 4 of the saw:    Belts, every 30 days, due since 2026-01-01
//
//	part 1 6204-2RS: 3, at least 4, 4.25 each;  2 OIL: 38.5 l, at least 20, 6.90 each;  3 FUSE: none, no minimum
type Maintenance struct{ *Fixture }

// NewMaintenance starts one at noon UTC on 2026-11-20, with four assets, their meters and some parts.
func NewMaintenance(t testing.TB, args ...string) Maintenance {
	t.Helper()
	w := Maintenance{Start(t, args...)}
	w.Load("assets", "asset_tag,name,status", "LATHE-1,Lathe,operational", "VAN-1,Van 1,down", "BENCH-1,Bench,", "OLD-1,Old saw,retired")
	w.Load("meters", "asset_tag,name,unit,reading,read_date", "LATHE-1,hours,h,1000,2026-11-10", "VAN-1,odometer,km,50000,2026-11-19",
		"VAN-1,cooler,h,,", "OLD-1,hours,h,10,2025-01-01")
	w.Load("parts", "part_number,name,unit,quantity,min_quantity,unit_cost_cents", "6204-2RS,Ball bearing,piece,3,4,425", "OIL,Engine oil,l,38.5,20,690",
		"FUSE,Fuse,,0,0,15")
	w.Load("pm-plans", "asset_tag,title,interval_days,interval_usage,meter,start_date,last_done_date", "LATHE-1,Oil,,500,,,",
		"VAN-1,Inspection,365,,,2027-11-20,", "VAN-1,Service,180,15000,odometer,,2026-11-01", "OLD-1,Belts,30,,,2026-01-01,")
	t.Cleanup(func() { w.MustCLI("doctor") })
	return w
}

// Load imports rows that must all be good.
func (w Maintenance) Load(table, header string, rows ...string) {
	w.T.Helper()
	code, out, errs := w.Rows(table, header, rows...)
	assert.Must(w.T, code == 0, "import %s: exit %d: %s%s", table, code, out, errs)
}

// Rows imports rows.
func (w Maintenance) Rows(table, header string, rows ...string) (code int, out, errs string) {
	w.T.Helper()
	return w.Pipe(header+"\n"+strings.Join(rows, "\n")+"\n", "import", "maintenance", table, "-")
}

// MustGet must be answered 200.
func (w Maintenance) MustGet(path string) string {
	w.T.Helper()
	a := w.Get("maintenance", path)
	assert.Must(w.T, a.Status == 200, "GET %s: %d %s", path, a.Status, a.Body)
	return a.Body
}

// MustPost must be answered with the status.
func (w Maintenance) MustPost(status int, path, body string) string {
	w.T.Helper()
	a := w.Post("maintenance", path, body)
	assert.Must(w.T, a.Status == status, "POST %s %s: %d %s, want %d", path, body, a.Status, a.Body, status)
	return a.Body
}

// Open opens a work order and returns its id.
func (w Maintenance) Open(body string) int64 {
	w.T.Helper()
	var wo struct{ ID int64 }
	w.Into(w.MustPost(201, "/api/work-orders", body), &wo)
	return wo.ID
}

// Move moves a work order and returns it.
func (w Maintenance) Move(id int64, status, resolution string) string {
	w.T.Helper()
	return w.MustPost(200, fmt.Sprintf("/api/work-orders/%d/status", id), JSONText(map[string]string{"status": status, "resolution": resolution}))
}

// Close moves an open work order to done.
func (w Maintenance) Close(id int64) string {
	w.T.Helper()
	w.Move(id, "in-progress", "")
	return w.Move(id, "done", "Done")
}

// MustTool calls a tool that must succeed and returns its answer as JSON.
func (w Maintenance) MustTool(name, arguments string) string {
	w.T.Helper()
	content, refusal := w.Tool("maintenance", name, arguments)
	assert.Must(w.T, refusal == "", "%s %s: %s", name, arguments, refusal)
	return JSONText(content)
}

// Due is the row of a plan in the list of due plans; nil if it is missing.
func (w Maintenance) Due(plan int64) map[string]any {
	w.T.Helper()
	var list struct {
		Rows []map[string]any `json:"pm_due"`
	}
	w.Into(w.MustGet("/api/pm-due"), &list)
	for _, row := range list.Rows {
		if row["pm_id"] == float64(plan) {
			return row
		}
	}
	return nil
}

// IsDue compares some of a plan's figures with the expected ones.
func (w Maintenance) IsDue(when string, plan int64, want map[string]any) {
	w.T.Helper()
	row := w.Due(plan)
	if row == nil {
		w.T.Errorf("%s: plan %d is not in the list", when, plan)
		return
	}
	for name, value := range want {
		assert.That(w.T, fmt.Sprint(row[name]) == fmt.Sprint(value), "%s: plan %d has %s %v, want %v in %v", when, plan, name,
			row[name], value, row)
	}
}

// Trail is the newest n audit entries of the service, newest first, each as "actor via action subject changes".
func (w Maintenance) Trail(n int) []string {
	w.T.Helper()
	var list struct {
		Entries []struct {
			Actor, Via, Action, Subject string
			Changes                     json.RawMessage
		}
	}
	w.Into(w.MustCLI("audit", "--service", "maintenance", "--limit", fmt.Sprint(n), "--json"), &list)
	var lines []string
	for _, e := range list.Entries {
		lines = append(lines, strings.Join([]string{e.Actor, e.Via, e.Action, e.Subject, string(e.Changes)}, " "))
	}
	return lines
}

// Into reads JSON.
func (w Maintenance) Into(body string, v any) {
	w.T.Helper()
	err := json.Unmarshal([]byte(body), v)
	assert.Must(w.T, err == nil, "%v in %s", err, body)
}

// Equal compares two texts.
func (w Maintenance) Equal(what, got, want string) {
	w.T.Helper()
	assert.That(w.T, got == want, "%s\n got %s\nwant %s", what, got, want)
}

// Says requires a text to contain the parts.
func (w Maintenance) Says(what, text string, parts ...string) {
	w.T.Helper()
	for _, p := range parts {
		assert.That(w.T, strings.Contains(text, p), "%s does not say %q:\n%s", what, p, text)
	}
}

// Refuses runs a command of the service that must end with the code, print nothing on stdout, say each of the words,
// and change no row.
func (w Maintenance) Refuses(code int, words []string, args ...string) {
	w.T.Helper()
	before := SnapshotOf(w.T, w.Fixture)
	got, out, errs := w.CLI(append([]string{"maintenance"}, args...)...)
	assert.That(w.T, got == code && out == "", "maintenance %q: exit %d with %q, want %d: %s", args, got, out, code, errs)
	w.Says(fmt.Sprintf("maintenance %q", args), errs, words...)
	before.Check(fmt.Sprintf("maintenance %q", args))
}

// Run runs a command of the service that must succeed.
func (w Maintenance) Run(args ...string) string {
	w.T.Helper()
	return w.MustCLI(append([]string{"maintenance"}, args...)...)
}

// Refused sends a request that must be refused with the status, say each of the words, and change no row.
func (w Maintenance) Refused(status int, path, body string, words ...string) {
	w.T.Helper()
	before := SnapshotOf(w.T, w.Fixture)
	a := w.Post("maintenance", path, body)
	var refusal struct{ Error, Detail string }
	w.Into(a.Body, &refusal)
	if code := map[int]string{400: "bad_request", 404: "not_found", 409: "conflict", 422: "validation"}[status]; a.Status != status || refusal.Error != code {
		w.T.Errorf("POST %s %s: %d %s, want %d", path, body, a.Status, a.Body, status)
	}
	w.Says(fmt.Sprintf("POST %s %s", path, body), refusal.Detail, words...)
	before.Check(fmt.Sprintf("POST %s %s", path, body))
}

// ToolRefused calls a tool that must refuse, say each of the words, and change no row.
func (w Maintenance) ToolRefused(name, arguments string, words ...string) {
	w.T.Helper()
	before := SnapshotOf(w.T, w.Fixture)
	content, refusal := w.Tool("maintenance", name, arguments)
	assert.That(w.T, refusal != "", "%s %s: %v", name, arguments, content)
	w.Says(name+" "+arguments, refusal, words...)
	before.Check(name + " " + arguments)
}

// WholeDue is pm_due's answer without its paging: no next, and as many rows as the total.
func (w Maintenance) WholeDue(list map[string]any) map[string]any {
	w.T.Helper()
	rows, _ := list["pm_due"].([]any)
	w.Equal("the whole list", fmt.Sprintln(list["next"], list["shown"], list["total"]), fmt.Sprintln(nil, len(rows), len(rows)))
	for _, name := range []string{"next", "shown", "total"} {
		delete(list, name)
	}
	return list
}
