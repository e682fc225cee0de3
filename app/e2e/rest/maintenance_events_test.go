package rest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// maintenanceHook is the maintenance fixture with a receiver of its events.
type maintenanceHook struct {
	apptest.Maintenance
	*apptest.Receiver
	secret string
}

func newMaintenanceHook(t *testing.T, args ...string) maintenanceHook {
	t.Helper()
	h := maintenanceHook{Maintenance: apptest.NewMaintenance(t, "--webhook-allow-private"), Receiver: apptest.Receive(t)}
	var made struct{ Secret string }
	h.Into(h.MustCLI(append([]string{"webhook", "add", "--service", "maintenance", "--url", h.URL(), "--json"}, args...)...), &made)
	h.secret = made.Secret
	return h
}

// URL is the receiver's address; the fixture has a method of the same name.
func (h maintenanceHook) URL() string { return h.Receiver.URL }

// hears waits for the next delivery, which must be the event, signed, and returns its data.
func (h maintenanceHook) hears(what, event string) (data string) {
	h.T.Helper()
	d := h.Next(h.T)
	mac := hmac.New(sha256.New, []byte(h.secret))
	mac.Write([]byte(d.Body))
	for name, want := range map[string]string{
		"X-Maintenance-Event": event, "X-Maintenance-Signature": "sha256=" + hex.EncodeToString(mac.Sum(nil)), "Content-Type": "application/json",
	} {
		assert.Equal(h.T, d.Header.Get(name), want, "%s: %s", what, name)
	}
	lib := assert.Value(standardwebhooks.NewWebhook(h.secret))(h.T)
	// the shop's clock differs from the library's
	assert.NoError(h.T, lib.VerifyIgnoringTimestamp([]byte(d.Body), d.Header), "%s: the public library", what)
	var e struct {
		ID, Event, Service string
		CreatedAt          string `json:"created_at"`
		Data               json.RawMessage
	}
	h.Into(d.Body, &e)
	assert.That(h.T, e.Event == event && e.Service == "maintenance" && e.CreatedAt == "2026-11-20T12:00:00Z" &&
		strings.HasPrefix(e.ID, "evt_") && e.ID == d.Header.Get("Webhook-Id"), "%s: %s", what, d.Body)
	return string(e.Data)
}

// TestWorkOrderEventsOverEveryInterface: an order that is opened or completed by any interface sends the same event.
func TestWorkOrderEventsOverEveryInterface(t *testing.T) {
	t.Parallel()
	h := newMaintenanceHook(t)
	created := h.MustPost(201, "/api/work-orders", `{"asset_id":1,"description":"By REST","parts_cost":3.5,"assigned_to":"Ana"}`)
	h.Equal("by REST", h.hears("by REST", "workorder.created"), created)
	h.MustTool("create_workorder", `{"asset_id":1,"description":"By an agent"}`)
	h.Equal("by an agent", h.hears("by an agent", "workorder.created"), h.MustGet("/api/work-orders/2"))
	h.Load("work-orders", "asset_tag,description,status,resolution,created_at", "LATHE-1,By a file,open,,", "LATHE-1,History,done,Long ago,2025-01-01", "LATHE-1,Never,cancelled,,2025-01-01",
		"VAN-1,Begun,in-progress,,")
	h.Equal("by a file", h.hears("by a file", "workorder.created"), h.MustGet("/api/work-orders/3"))
	h.Says("begun, by a file", h.hears("begun, by a file", "workorder.created"), `"id":6,`, `"status":"in-progress"`)

	for id := int64(1); id <= 3; id++ {
		h.Move(id, "in-progress", "") // no event
	}
	h.Equal("done by REST", h.Move(1, "done", "Done by REST"), h.hears("done by REST", "workorder.completed"))
	h.MustTool("advance_status", `{"id":2,"status":"done","resolution":"Done by an agent"}`)
	h.Equal("done by an agent", h.hears("done by an agent", "workorder.completed"), h.MustGet("/api/work-orders/2"))
	h.Run("move", "done", "3", "6", "--resolution", "Done by a bulk change")
	h.Equal("done by a bulk change", h.hears("done by a bulk change", "workorder.completed"), h.MustGet("/api/work-orders/3"))
	h.Equal("and the next", h.hears("and the next", "workorder.completed"), h.MustGet("/api/work-orders/6"))
	h.Move(1, "open", "")
	h.Move(1, "in-progress", "")
	h.Load("work-orders", "id,status,resolution", "1,done,Done by a file")
	h.Says("done by a file", h.hears("done by a file", "workorder.completed"), `"id":1,`, `"resolution":"Done by a file"`)
	h.Open(`{"asset_id":3,"description":"The last"}`)
	h.Says("nothing between", h.hears("nothing between", "workorder.created"), `"description":"The last"`)
}

// TestReadingEventsOverEveryInterface: exactly the readings that move their meter send an event, by any interface.
func TestReadingEventsOverEveryInterface(t *testing.T) {
	t.Parallel()
	h := newMaintenanceHook(t)
	h.MustPost(201, "/api/assets/1/readings", `{"reading":1100,"read_date":"2026-11-18"}`)
	h.Equal("by REST", h.hears("by REST", "reading.recorded"),
		`{"asset_id":1,"asset":"Lathe","meter":"hours","meter_id":1,"unit":"h","previous_reading":1000,"reading":1100,"read_date":"2026-11-18","correction":false}`)
	h.MustPost(201, "/api/assets/1/readings", `{"reading":1100}`)                   // equal
	h.MustPost(201, "/api/assets/1/readings", `{"reading":1100,"correction":true}`) // equal
	h.Refused(409, "/api/assets/1/readings", `{"reading":1099.999}`)
	h.MustTool("record_meter", `{"asset_id":1,"reading":1100.5}`)
	h.Says("by an agent", h.hears("by an agent", "reading.recorded"), `"previous_reading":1100,"reading":1100.5,"read_date":"2026-11-20","correction":false`)
	h.Rows("readings", "asset_tag,meter,reading,read_date,correction", "LATHE-1,hours,1100.5,2026-11-20,0", "LATHE-1,hours,1000,2026-11-20,0", "LATHE-1,,1200,,", "LATHE-1,,1150,,1")
	h.Says("by a file", h.hears("by a file", "reading.recorded"), `"previous_reading":1100.5,"reading":1200,`)
	h.Says("a correction by a file", h.hears("a correction by a file", "reading.recorded"), `"previous_reading":1200,"reading":1150,"read_date":"2026-11-20","correction":true`)
	h.MustPost(201, "/api/assets/1/readings", `{"reading":10,"correction":true}`)
	h.Says("a correction", h.hears("a correction", "reading.recorded"), `"previous_reading":1150,"reading":10,`, `"correction":true`)
	h.Rows("meters", "asset_tag,name,reading", "LATHE-1,hours,20", "LATHE-1,hours,19", "LATHE-1,hours,20", "BENCH-1,hours,500")
	h.Says("by the meters' file", h.hears("by the meters' file", "reading.recorded"), `"previous_reading":10,"reading":20,`)
	h.MustPost(201, "/api/assets/3/readings", `{"reading":501}`)
	h.Says("nothing between", h.hears("nothing between", "reading.recorded"), `"asset":"Bench"`, `"previous_reading":500,"reading":501,`)
}

// TestEachReceiverGetsItsEventsWithItsSecret: two receivers, one of completions only, and a third of another service.
func TestEachReceiverGetsItsEventsWithItsSecret(t *testing.T) {
	t.Parallel()
	h := newMaintenanceHook(t)
	second := maintenanceHook{Maintenance: h.Maintenance, Receiver: apptest.Receive(t), secret: "whsec_c2Vjb25kLXNlY29uZC1zZWNvbmQ="}
	h.MustCLI("webhook", "add", "--service", "maintenance", "--url", second.URL(), "--event", "workorder.completed", "--secret", second.secret)
	other := apptest.Receive(t)
	h.MustCLI("webhook", "add", "--service", "rental", "--url", other.URL)
	id := h.Open(`{"asset_id":1,"description":"Oil"}`)
	h.MustPost(201, "/api/assets/1/readings", `{"reading":1100}`)
	done := h.Close(id)
	for _, event := range []string{"workorder.created", "reading.recorded"} {
		h.hears(event, event)
	}
	h.Equal("the first", h.hears("the first", "workorder.completed"), done)
	h.Equal("the second", second.hears("the second", "workorder.completed"), done)
	n, o := len(second.All()), len(other.All())
	assert.That(t, n == 1 && o == 0, "%d came to the second, %d to another service's", n, o)
}

// TestAMissedMaintenanceEventIsSentByHand: one attempt, then the log, then a resend by a person.
func TestAMissedMaintenanceEventIsSentByHand(t *testing.T) {
	t.Parallel()
	h := newMaintenanceHook(t)
	h.Answer(http.StatusInternalServerError)
	h.Open(`{"asset_id":1,"description":"Oil"}`)
	missed := h.hears("missed", "workorder.created")
	apptest.Await(t, "the failure in the log", func() bool {
		return strings.Contains(h.MustCLI("webhook", "deliveries", "--service", "maintenance", "--failed", "--json"), `"event":"workorder.created"`)
	})
	h.Says("the log", h.MustCLI("webhook", "deliveries", "--json"), `"response_code":500`, `"state":"failed"`, `"kind":"auto"`)
	h.Answer(http.StatusNoContent)
	h.Move(1, "in-progress", "")
	h.Move(1, "done", "x")
	h.hears("the next event", "workorder.completed") // the missed one is not resent automatically
	h.MustCLI("webhook", "resend", "1", "--webhook-allow-private")
	h.Equal("by hand", h.hears("by hand", "workorder.created"), missed)
	assert.Equal(t, len(h.All()), 3, "requests came")
}

// TestMaintenanceAuditNamesTheInterface: every kind of write with its actor and interface.
func TestMaintenanceAuditNamesTheInterface(t *testing.T) {
	t.Parallel()
	w := apptest.NewMaintenance(t)
	mo := w.Key("maintenance", "mo", "member", "full")
	trail := func(what string, do func(), want ...string) {
		t.Helper()
		before := len(w.Trail(1000))
		do()
		got := w.Trail(1000)
		got = got[:len(got)-before]
		w.Equal(what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	rest := func(path, body string) func() { return func() { w.Do("maintenance", "POST", path, mo, body) } }
	tool := func(name, arguments string) func() {
		return func() { w.ToolAs("maintenance", mo, name, arguments) }
	}
	file := func(table string, rows ...string) func() {
		return func() {
			w.Pipe(strings.Join(rows, "\n")+"\n", "import", "maintenance", table, "-", "--as", "mo")
		}
	}
	const made = `{"asset_id":1,"description":"Oil","priority":"medium","status":"open","wo_type":"corrective"}`
	trail("opened by REST", rest("/api/work-orders", `{"asset_id":1,"description":"Oil"}`), "mo rest workorder.created work_order:1 "+made)
	trail("opened by an agent", tool("create_workorder", `{"asset_id":1,"description":"Oil"}`), "mo mcp workorder.created work_order:2 "+made)
	trail("opened by a file", file("work-orders", "asset_tag,description", "LATHE-1,Oil"), "mo cli workorder.created work_order:3 "+made)
	trail("moved by REST", rest("/api/work-orders/1/status", `{"status":"in-progress"}`), `mo rest workorder.status work_order:1 {"from":"open","to":"in-progress"}`)
	trail("moved by an agent", tool("advance_status", `{"id":2,"status":"cancelled","resolution":"No"}`), `mo mcp workorder.status work_order:2 {"from":"open","to":"cancelled","resolution":"No"}`)
	trail("moved by a file", file("work-orders", "id,status", "3,in-progress"), `mo cli workorder.status work_order:3 {"from":"open","to":"in-progress"}`)
	trail("read by REST", rest("/api/assets/1/readings", `{"reading":1010}`), `mo rest meter.reading meter:1 {"asset_id":1,"from":1000,"to":1010,"read_date":"2026-11-20","correction":false}`)
	trail("read by an agent", tool("record_meter", `{"asset_id":1,"reading":1020}`), `mo mcp meter.reading meter:1 {"asset_id":1,"from":1010,"to":1020,"read_date":"2026-11-20","correction":false}`)
	trail("read by a file", file("readings", "asset_tag,reading", "LATHE-1,1030"), `mo cli meter.reading meter:1 {"asset_id":1,"from":1020,"to":1030,"read_date":"2026-11-20","correction":false}`)
	trail("corrected", rest("/api/assets/1/readings", `{"reading":5,"correction":true}`),
		`mo rest meter.reading meter:1 {"asset_id":1,"from":1030,"to":5,"read_date":"2026-11-20","correction":true,"rebased":[{"pm_id":1,"from":1000,"to":-25}]}`)
	trail("an asset changed", file("assets", "asset_tag,status", "LATHE-1,down"), `mo cli asset.changed asset:1 {"status":["operational","down"]}`)
	trail("nothing changed", file("assets", "asset_tag,status", "LATHE-1,down"))
	trail("refused", func() {
		rest("/api/work-orders", `{"asset_id":99,"description":"Oil"}`)()
		tool("advance_status", `{"id":2,"status":"open"}`)()
		file("work-orders", "id,status", "2,done")()
	})
	var list struct{ Entries []map[string]any }
	w.Into(w.MustCLI("audit", "--service", "maintenance", "--limit", "1", "--json"), &list)
	e := list.Entries[0]
	assert.That(t, e["at"] == "2026-11-20T12:00:00Z" && e["service"] == "maintenance", "%v", e)
}

// TestRefusedMoveSendsNoEvent: a bulk change writes, audits and sends events only for the moves that are not refused.
func TestRefusedMoveSendsNoEvent(t *testing.T) {
	t.Parallel()
	h := newMaintenanceHook(t)
	for range 5 {
		h.Open(`{"asset_id":1,"description":"Oil","pm_id":1}`)
		h.hears("opened", "workorder.created")
	}
	h.Run("move", "in-progress", "1", "3", "5")
	before := len(events(h.Maintenance))
	code, out, errs := h.CLI("maintenance", "move", "done", "1", "2", "3", "4", "5", "--resolution", "Oil changed")
	assert.That(t, code == 1 && out == "1: done\n3: done\n5: done\n" && strings.Count(errs, "cannot move to done") == 2,
		"exit %d: %s%s", code, out, errs)
	for _, id := range []string{"1", "3", "5"} {
		h.Says("completed", h.hears(id, "workorder.completed"), `{"id":`+id+`,`)
	}
	assert.Equal(t, len(events(h.Maintenance)), before+3, "events, want three more than %d", before)
	for _, id := range []string{"2", "4"} {
		h.Says("order "+id, h.MustGet("/api/work-orders/"+id), `"status":"open"`, `"resolution":null`, `"updated_at":"2026-11-20T12:00:00Z"`)
	}
	for _, entry := range h.Trail(3) {
		if !strings.Contains(entry, `"to":"done","resolution":"Oil changed","pm":{"pm_id":1,"last_done_date":"2026-11-20","baseline_reading":1000}`) {
			t.Errorf("audited: %s", entry)
		}
	}
}
