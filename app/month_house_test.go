package app_test

import (
	"encoding/json"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/app/server"
)

// TestWebhookTest sends a receiver an example of each event that it takes, marked and
// signed as a real one is, and tells of it in the log.
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
		if err := json.Unmarshal([]byte(s.MustCLI("webhook", "add", "--service", service, "--url", receiver.URL, "--json")), &added); err != nil {
			t.Fatal(err)
		}
		id := added.ID.String()
		out := s.MustCLI("webhook", "test", id, "--webhook-allow-private", "--json")
		came := map[string]bool{}
		for _, d := range receiver.All() {
			var body struct {
				Event string
				Test  bool
			}
			if err := json.Unmarshal([]byte(d.Body), &body); err != nil {
				t.Fatal(err)
			}
			title := strings.ToUpper(service[:1]) + service[1:]
			if !body.Test || d.Header.Get("X-"+title+"-Test") != "true" || d.Header.Get("Webhook-Signature") == "" {
				t.Errorf("%s is not marked, or not signed: %v %s", body.Event, d.Header, d.Body)
			}
			came[body.Event] = true
		}
		for _, event := range declared.Events {
			if !came[event.Name] {
				t.Errorf("%s: no example of %s came; %v did", service, event.Name, came)
			}
		}
		if n := strings.Count(out, `"kind":"test"`); n != len(came) {
			t.Errorf("%s: the command tells %d of %d: %s", service, n, len(came), out)
		}
		if log := s.MustCLI("webhook", "deliveries", "--endpoint", id, "--json"); strings.Count(log, `"kind":"test"`) != len(came) {
			t.Errorf("%s: the log: %s", service, log)
		}
	}
}

// TestPlainHTTP listens beyond loopback without TLS by the operator's word alone, and says
// at every start what that means.
func TestPlainHTTP(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keys := apptest.Keys(t, dir)
	code, _, errs := apptest.Exec(t, dir, "serve", "--store-addr", "0.0.0.0:0")
	if code == 0 || !strings.Contains(errs, "--plain-http") {
		t.Errorf("without the word: exit %d: %s", code, errs)
	}
	p := apptest.Serve(t, dir, "--plain-http", "--store-addr", "0.0.0.0:0")
	if !strings.Contains(p.Stderr.String(), "can be read by everybody on this network") {
		t.Errorf("no warning: %s", p.Stderr)
	}
	if status, body := ask(t, p, "GET", "store", "/api/ping", keys["store"], ""); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	if code := p.Stop(t); code != 0 {
		t.Errorf("exit %d: %s", code, p.Stderr)
	}
}
