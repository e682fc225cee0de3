package command

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/app/server"
	"quartermaster/schema/assert"
)

func TestWebhooksAreKept(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	equal(c, "none", c.Ok("webhook", "list", "--json"), `{"webhooks":[]}`+"\n")
	var made struct {
		ID     int64
		Secret string
	}
	out := c.Ok("webhook", "add", "--service", "reorder", "--url", "https://example.com/a?token=x", "--json")
	if err := json.Unmarshal([]byte(out), &made); err != nil || made.ID != 1 || !regexp.MustCompile(`^\{"id":1,"secret":"whsec_[A-Za-z0-9+/]{43}="\}\n$`).MatchString(out) {
		t.Errorf("added: %s", out)
	}
	equal(c, "with a secret of one's own", c.Ok("webhook", "add", "--service", "reorder", "--url", "http://example.com/b",
		"--event", "sku.reorder_point", "--secret", "my own"), "id: 2\nsecret: my own\n")
	const list = `{"webhooks":[{"id":1,"service":"reorder","url":"https://example.com/a?token=x","events":["sku.reorder_point"],"enabled":true},` +
		`{"id":2,"service":"reorder","url":"http://example.com/b","events":["sku.reorder_point"],"enabled":%v}]}` + "\n"
	equal(c, "listed", c.Ok("webhook", "list", "--json"), fmt.Sprintf(list, true))
	equal(c, "disabling prints", c.Ok("webhook", "disable", "2"), "")
	equal(c, "disabled", c.Ok("webhook", "list", "--json"), fmt.Sprintf(list, false))
	if text := c.Ok("webhook", "list"); !regexp.MustCompile(`(?m)^2 +reorder +disabled +http://example.com/b +sku.reorder_point$`).MatchString(text) {
		t.Errorf("as text:\n%s", text)
	}
	c.Ok("webhook", "enable", "2")
	equal(c, "enabled", c.Ok("webhook", "list", "--json"), fmt.Sprintf(list, true))
	if out := c.Ok("webhook", "rotate", "1", "--json"); !strings.HasPrefix(out, `{"id":1,"secret":"whsec_`) || strings.Contains(out, made.Secret) {
		t.Errorf("rotated: %s", out)
	}
	equal(c, "removing prints", c.Ok("webhook", "remove", "1"), "")
	if out := c.Ok("webhook", "list", "--json"); strings.Contains(out, `"id":1`) || !strings.Contains(out, `"id":2`) {
		t.Errorf("after the removal: %s", out)
	}
	if trail := c.Ok("audit"); strings.Contains(trail, "whsec_") || strings.Contains(trail, "my own") || strings.Contains(trail, "token") {
		t.Errorf("a secret stands in the audit trail:\n%s", trail)
	}
	equal(c, "the log", c.Ok("webhook", "deliveries", "--json"), `{"deliveries":[]}`+"\n")
	equal(c, "nothing to send again", c.Ok("webhook", "resend", "--failed", "--json"), `{"deliveries":[]}`+"\n")
	assert.Contains(t, c.Ok("__complete", "webhook", "remove", ""), "2\treorder http://example.com/b\n", "completed")
	assert.Contains(t, c.Ok("__complete", "webhook", "add", "--service", "reorder", "--event", ""), "sku.reorder_point\n",
		"completed")
}

func TestWebhookRefusals(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	for _, args := range []string{
		"add", "add --service reorder", "add --url https://example.com", "add more --service reorder --url https://example.com",
		"add --service shop --url https://example.com", "add --service reorder --url https://example.com --event sku.sold",
		"add --service reorder --url https://example.com --secret=", "list more", "remove", "remove x", "remove 0", "remove -- -1", "remove 1 2", "rotate",
		"enable 1.5", "disable", "deliveries --service shop", "deliveries --limit 0", "deliveries --endpoint 0", "deliveries 3",
		"resend", "resend 1 --failed", "resend x", "resend 0", "resend 1 --endpoint 1", "resend 1 --since 1h", "resend --failed --since 0s",
		"resend --failed --since yesterday", "resend --failed --endpoint 0", "send",
	} {
		refuses(c, 2, nil, append([]string{"webhook"}, strings.Fields(args)...)...)
	}
	refuses(c, 2, []string{"--service", `"shop"`, "store, maintenance, rental, reorder"}, "webhook", "add", "--service", "shop", "--url", "https://example.com")
	refuses(c, 2, []string{"--event", `"sku.sold"`, "sku.reorder_point"}, "webhook", "add", "--service", "reorder", "--url", "https://example.com", "--event", "sku.sold")
	for _, args := range []string{
		"remove 7", "enable 7", "disable 7", "rotate 7", "deliveries --endpoint 7", "resend --failed --endpoint 7",
	} {
		refuses(c, 1, []string{"no webhook 7"}, append([]string{"webhook"}, strings.Fields(args)...)...)
	}
	refuses(c, 1, []string{"no delivery 7"}, "webhook", "resend", "7")
	refuses(c, 1, []string{"http"}, "webhook", "add", "--service", "reorder", "--url", "ftp://example.com")
	equal(c, "nothing was added", c.Ok("webhook", "list", "--json"), `{"webhooks":[]}`+"\n")
	bare := apptest.BareCLI(t)
	refuses(bare, 1, []string{"no database at"}, "webhook", "list")
	refuses(bare, 1, []string{"no database at"}, "webhook", "resend", "--failed")
}

// cross puts a SKU under its reorder point, by a command.
func cross(t *testing.T, s *apptest.Fixture, sku string) {
	t.Helper()
	for _, stock := range []string{"5", "0"} {
		code, out, errs := s.Pipe("sku,current_stock\n"+sku+","+stock+"\n", "import", "reorder", "skus", "-")
		assert.Must(t, code == 0, "import: exit %d: %s%s", code, out, errs)
	}
}

// TestDeliveriesAreLoggedAndResent: the running server sends the events of commands, a command resends failed ones, and
// the log lists both.
func TestDeliveriesAreLoggedAndResent(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, "--webhook-allow-private")
	receiver := apptest.Receive(t)
	receiver.Answer(http.StatusTeapot)
	s.MustCLI("webhook", "add", "--service", "reorder", "--url", receiver.URL)
	cross(t, s, "TEA")
	first := receiver.Next(t)
	apptest.Await(t, "the failure in the log", func() bool {
		return strings.Contains(s.MustCLI("webhook", "deliveries", "--failed", "--json"), `"state":"failed"`)
	})
	log := s.MustCLI("webhook", "deliveries", "--json")
	if !regexp.MustCompile(`^\{"deliveries":\[\{"id":1,"service":"reorder","endpoint_id":1,"event":"sku.reorder_point","event_id":"evt_[0-9a-f]+","kind":"auto",` +
		`"state":"failed","response_code":418,"error":null,"duration_ms":\d+,"created_at":"2026-11-20T12:00:00Z","attempted_at":"2026-11-20T12:00:00Z"\}\]\}\n$`).MatchString(log) {
		t.Errorf("the log: %s", log)
	}
	if text := s.MustCLI("webhook", "deliveries", "--service", "reorder", "--endpoint", "1"); !regexp.MustCompile(`(?m)^1 +reorder +1 +sku.reorder_point +auto +failed +418 +\d+ +2026-11-20T12:00:00Z$`).MatchString(text) {
		t.Errorf("as text:\n%s", text)
	}
	assert.Equal(t, s.MustCLI("webhook", "deliveries", "--service", "store", "--json"), `{"deliveries":[]}`+"\n",
		"of the store")

	code, out, errs := s.CLI("webhook", "resend", "1")
	assert.That(t, code == 1 && strings.Contains(out, "blocked_address") &&
		strings.Contains(errs, "1 of 1 deliveries failed"), "to a loopback address: exit %d: %s%s", code, out, errs)
	code, out, _ = s.CLI("webhook", "resend", "1", "--webhook-allow-private")
	assert.That(t, code == 1 && regexp.MustCompile(`(?m)^\d+ +1 +1 +sku.reorder_point +failed +418$`).MatchString(out),
		"to a receiver that refuses: exit %d: %s", code, out)
	receiver.Next(t)
	receiver.Answer(http.StatusNoContent)
	code, out, errs = s.CLI("webhook", "resend", "--failed", "--since", "1h", "--endpoint", "1", "--webhook-allow-private", "--json")
	if code != 0 || !strings.Contains(out, `"state":"delivered","response_code":204,"error":null`) || !strings.Contains(out, `"kind":"resend"`) || strings.Count(out, `"id"`) != 1 {
		t.Errorf("at last: exit %d: %s%s", code, out, errs)
	}
	again := receiver.Next(t)
	assert.That(t, again.Body == first.Body && again.Header.Get("Webhook-Id") == first.Header.Get("Webhook-Id"),
		"resent %s, missed %s", again.Body, first.Body)
	if out := s.MustCLI("webhook", "resend", "--failed", "--webhook-allow-private", "--json"); out != `{"deliveries":[]}`+"\n" {
		t.Errorf("what has arrived was sent again: %s", out)
	}
	assert.Equal(t, strings.Count(s.MustCLI("webhook", "deliveries", "--limit", "2", "--json"), `"id"`), 2, "of at most 2")
}

// TestDoctorCountsWhatWaits: without a server the events of commands wait, and doctor counts them.
func TestDoctorCountsWhatWaits(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	c.Ok("webhook", "add", "--service", "reorder", "--url", "https://example.com/")
	for _, stock := range []string{"5", "0"} {
		c.Ok("import", "reorder", "skus", write(c, "skus.csv", "sku,current_stock\nTEA,"+stock+"\n"))
	}
	assert.Contains(t, c.Ok("doctor"), "deliveries: ok, 1 pending\n", "doctor")
	refuses(c, 1, []string{"delivery 1 is pending"}, "webhook", "resend", "1")
}

// TestWebhookTest sends a receiver an example of each event that it subscribes to, marked as a test and signed like a
// real one. The log lists it.
func TestWebhookTest(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	for _, declared := range server.Declared(nil) {
		service := declared.Name
		if len(declared.Events) == 0 {
			continue
		}
		receiver := apptest.Receive(t)
		var added struct{ ID json.Number }
		assert.OK(t,
			json.Unmarshal([]byte(s.MustCLI("webhook", "add", "--service", service, "--url", receiver.URL, "--json")), &added))
		id := added.ID.String()
		out := s.MustCLI("webhook", "test", id, "--webhook-allow-private", "--json")
		came := map[string]bool{}
		for _, d := range receiver.All() {
			var body struct {
				Event string
				Test  bool
			}
			assert.OK(t, json.Unmarshal([]byte(d.Body), &body))
			title := strings.ToUpper(service[:1]) + service[1:]
			assert.That(t, body.Test && d.Header.Get("X-"+title+"-Test") == "true" && d.Header.Get("Webhook-Signature") != "",
				"%s is not marked, or not signed: %v %s", body.Event, d.Header, d.Body)
			came[body.Event] = true
		}
		for _, event := range declared.Events {
			assert.That(t, came[event.Name], "%s: no example of %s came; %v did", service, event.Name, came)
		}
		n := strings.Count(out, `"kind":"test"`)
		assert.That(t, n == len(came), "%s: the command tells %d of %d: %s", service, n, len(came), out)
		log := s.MustCLI("webhook", "deliveries", "--endpoint", id, "--json")
		assert.That(t, strings.Count(log, `"kind":"test"`) == len(came), "%s: the log: %s", service, log)
	}
}

// TestUnreachableReceiverIsReported adds receivers at addresses that the server cannot reach, or only in part. They
// are stored, since another server may be allowed to reach them.
func TestUnreachableReceiverIsReported(t *testing.T) {
	t.Parallel()
	c := apptest.NewCLI(t)
	const sometimes, never = "only a server that was started with --webhook-allow-private delivers there", "Nothing is ever delivered to"
	for url, want := range map[string]string{
		"http://127.0.0.1:9/hook": sometimes, "http://localhost/hook": sometimes, "http://[::1]/": sometimes, "http://192.168.1.4/": sometimes,
		"http://169.254.169.254/latest": never, "http://2130706433/": never, "https://example.com/": "",
	} {
		code, out, errs := c.Call("webhook", "add", "--service", "reorder", "--url", url, "--json")
		told := strings.Contains(errs, sometimes) || strings.Contains(errs, never)
		assert.That(t, code == 0 && strings.HasPrefix(out, `{"id":`) && !strings.Contains(out, "arn") &&
			told == (want != "") && strings.Contains(errs, want), "%s: exit %d, %s%s", url, code, out, errs)
	}
}
