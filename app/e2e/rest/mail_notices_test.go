package rest

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// staffed is an appliance with mail and users with addresses; bob and vera are in all services.
func staffed(t *testing.T) (*apptest.Fixture, *apptest.MailServer) {
	t.Helper()
	s, to := apptest.Start(t), apptest.StartMail(t)
	apptest.SetMail(s, to)
	for _, name := range []string{"bob", "vera"} {
		s.MustCLI("user", "add", name, "--role", "admin")
		s.MustCLI("user", "email", name, "--email", name+"@example.com")
	}
	s.MustCLI("maintenance", "assets", "save", "PRESS", "--name", "Press")
	return s, to
}

// TestAssigneesAreNotified: a job that is assigned to a user is mailed at once. One's own change, an import and other
// changes are not. A job that was reassigned by then is not sent.
func TestAssigneesAreNotified(t *testing.T) {
	t.Parallel()
	s, to := staffed(t)
	open := func(args ...string) {
		s.MustCLI(append([]string{"maintenance", "work-orders", "create", "PRESS", "--priority", "high"}, args...)...)
	}
	open("--description", "Oil the press", "--assigned-to", "BOB")
	m := settled(s, in("sent"))
	text := letter(t, to.Got()[0])
	assert.That(t, m.Kind == "notice" && m.To == "bob@example.com" && m.Record == "work order 1" && m.Service == "",
		"%+v", m)
	if !strings.Contains(text, "Oil the press") || !strings.Contains(text, "http://"+s.Server.Addr("maintenance")+"/work-orders/1") {
		t.Error(text)
	}
	s.MustCLI("maintenance", "work-orders", "edit", "1", "--due-date", "2026-11-20")
	s.MustCLI("maintenance", "work-orders", "edit", "1", "--assigned-to", "bob")
	bob := s.Invited("maintenance", "bob")
	got := bob.Post("/do/edit_workorder", "id", "1", "assigned_to", "vera")
	assert.Must(t, got.Status < 400, "%v", got.Body)
	settled(s, func(m mailed) bool { return m.State == "sent" && m.To == "vera@example.com" })
	bob.Post("/do/edit_workorder", "id", "1", "assigned_to", "bob")
	if _, out, errs := s.Pipe("asset_tag,description,assigned_to\nPRESS,Old work,vera\n", "import", "maintenance", "work-orders", "-"); errs != "" && !strings.Contains(out, "1 new") {
		t.Fatal(out, errs)
	}
	all := mails(s)
	assert.That(t, len(all) == 2, "%+v", all)
	s.MustCLI("mail", "pause")
	open("--description", "Cut", "--assigned-to", "vera")
	s.MustCLI("maintenance", "work-orders", "edit", "3", "--assigned-to", "")
	s.MustCLI("mail", "resume")
	if m := settled(s, in("cancelled", "sent")); m.State != "cancelled" || *m.Reply != "it no longer applies" {
		t.Errorf("%+v", m)
	}
}

// TestDigests: held notices and due jobs are one message per user, with a section per service, jobs once a day. A user
// with nothing new gets none.
func TestDigests(t *testing.T) {
	t.Parallel()
	s, to := staffed(t)
	s.MustCLI("user", "notices", "bob", "--jobs", "digest", "--alarms", "digest")
	s.MustCLI("user", "notices", "vera", "--jobs", "off")
	for service, words := range map[string]string{
		"maintenance": "Assigned to you = Für dich\ndue = bis", "reorder": "in stock = auf Lager",
	} {
		code, _, errs := s.Pipe(words, "mail", "text", "set", "words-"+service, "-")
		assert.That(t, code == 0, "%v", errs)
	}
	s.MustCLI("maintenance", "work-orders", "create", "PRESS", "--description", "Oil the press", "--assigned-to", "bob",
		"--due-date", "2026-11-20")
	s.MustCLI("maintenance", "work-orders", "create", "PRESS", "--description", "Later", "--assigned-to", "vera",
		"--due-date", "2026-11-19")
	s.MustCLI("reorder", "skus", "save", "TEA", "--unit-cost-cents", "100", "--safety-stock-days", "5", "--lead-time-days", "10", "--current-stock", "30")
	code, out, errs := s.Pipe("date,sku,qty\n2026-11-18,TEA,20\n2026-11-19,TEA,20\n", "import", "reorder", "sales", "-")
	assert.Must(t, code == 0, "%v %v", out, errs)
	s.MustCLI("reorder", "adjust", "TEA", "--set", "400", "--reason", "count")
	s.MustCLI("reorder", "adjust", "TEA", "--set", "1", "--reason", "count")
	if all := mails(s, "--state", "held"); len(all) != 2 {
		t.Fatalf("%+v", mails(s))
	}
	out = s.MustCLI("mail", "digest", "--dry-run")
	assert.That(t, strings.Contains(out, "bob@example.com") && len(mails(s, "--kind", "digest")) == 0, "%v", out)
	for i, want := range []int{1, 0} {
		var v struct{ Sent []struct{ User string } }
		err := json.Unmarshal([]byte(s.MustCLI("mail", "digest", "--json", "--yes")), &v)
		assert.That(t, err == nil && len(v.Sent) == want, "run %d: %+v %v", i, v, err)
	}
	settled(s, in("sent"))
	text := letter(t, to.Got()[0])
	if !strings.Contains(text, "Maintenance") || !strings.Contains(text, "Reorder") ||
		!strings.Contains(text, "Für dich | Work order 1") || !strings.Contains(text, "bis 20 November") ||
		!strings.Contains(text, "1 auf Lager") || !strings.Contains(text, "TEA") || strings.Contains(text, "Later") ||
		strings.Count(text, "Oil the press") != 4 { // due and assigned, in the text and the HTML
		t.Error(text)
	}
	s.Clock.Set(apptest.Noon.Add(24 * time.Hour))
	s.MustCLI("mail", "timer", "--digests")
	assert.Contains(t, s.MustCLI("mail", "daily"), "bob")
	m := settled(s, in("sent"))
	assert.That(t, m.Kind == "digest" && m.ID == 4, "%+v", m)
}

// TestNoticesOfFailedDeliveries: only admins are notified of failed deliveries, once an hour.
func TestNoticesOfFailedDeliveries(t *testing.T) {
	t.Parallel()
	s, to := staffed(t)
	s.MustCLI("user", "add", "vic", "--role", "viewer")
	s.MustCLI("user", "email", "vic", "--email", "vic@example.com")
	for _, name := range []string{"bob", "vic"} {
		s.MustCLI("user", "notices", name, "--deliveries", "now")
	}
	to.Answer("RCPT", "554 5.7.1 no")
	s.MustCLI("store", "product", "save", "PLUGIN", "--name", "Audio plugin", "--kind", "license", "--price-cents", "4900")
	record(s, "--email", "ann@example.com")
	settled(s, func(m mailed) bool { return m.Kind == "notice" && m.To == "bob@example.com" && m.State == "refused" })
	record(s, "--email", "ann@example.com")
	settled(s, func(m mailed) bool { return m.Kind == "order" && m.State == "refused" })
	for _, m := range mails(s) {
		assert.That(t, m.To != "vic@example.com" && (m.Kind != "notice" || m.ID <= 2),
			"a viewer hears of failures, or an admin twice in an hour: %+v", m)
	}
}

// TestNoticesOfVisitors: a request, a tenant's report and an unmatched payment are mailed to subscribers with the right
// role: members for the store's payments, any role for the others.
func TestNoticesOfVisitors(t *testing.T) {
	t.Parallel()
	s, to := adasHouse(t), apptest.StartMail(t)
	apptest.SetMail(s, to)
	for name, role := range map[string]string{"bob": "member", "vic": "viewer", "tim": "viewer", "off": "admin"} {
		args := []string{"user", "add", name, "--role", role}
		if name == "tim" { // rental only
			args = append(args, "--service", "rental")
		}
		s.MustCLI(args...)
		s.MustCLI("user", "email", name, "--email", name+"@example.com")
		if name != "off" {
			s.MustCLI("user", "notices", name, "--requests", "now", "--tickets", "now", "--payments", "now")
		}
	}
	hear := func(what, words string, names ...string) {
		t.Helper()
		apptest.Await(t, what, func() bool {
			return len(mails(s, "--state", "queued")) == 0 && len(mails(s, "--state", "sending")) == 0
		})
		var heard []string
		for _, l := range to.Got() {
			if text := letter(t, l); strings.Contains(text, words) && strings.Contains(text, "Subject: "+what) {
				heard = append(heard, strings.TrimSuffix(l.To, "@example.com"))
			}
		}
		slices.Sort(heard)
		if !slices.Equal(heard, names) {
			t.Errorf("%s: %v heard, not %v; %+v", what, heard, names, mails(s))
		}
	}
	s.MustCLI("maintenance", "assets", "save", "LATHE-1", "--name", "Lathe")
	page := regexp.MustCompile(`/request/\S+`).FindString(s.MustCLI("maintenance", "requests", "LATHE-1"))
	s.Visitor("maintenance").Post(page, "description", "It smokes")
	hear("New request", "It smokes", "bob", "vic")

	s.MustCLI("rental", "tenant", "mail-invitation", "Ada", "--yes")
	guest := s.Visitor("rental")
	guest.Post(linkIn(t, s, to, "tenant-link"))
	guest.Post("/portal/do/report_problem", "title", "The tap drips", "priority", "high", "description", "x")
	hear("From a tenant", "The tap drips", "bob", "tim", "vic")

	guest.Post("/portal/do/add_note", "ticket_id", "1", "text", "still")
	hear("From a tenant", "The tap drips", "bob", "bob", "tim", "tim", "vic", "vic")

	s.MustCLI("store", "provider", "set", "lemonsqueezy", "--secret", "sunny-day-42")
	a := lemonTells(s, "sunny-day-42", lemonOrder)
	assert.Must(t, a.Status == http.StatusOK, "%v %v", a.Status, a.Body)
	hear("A payment could not be booked", "lemonsqueezy", "bob")
}

// TestMailTestGoesToItsCaller: without an address a test is mailed to the caller's own. A caller without one is asked
// for it. A test is audited, and blocks an address that the server does not know.
func TestMailTestGoesToItsCaller(t *testing.T) {
	t.Parallel()
	s, to := staffed(t)
	vera := s.Invited("store", "vera")
	if got := vera.Post("/do/test_mail"); got.Status >= http.StatusBadRequest || len(to.Got()) != 1 || to.Got()[0].To != "vera@example.com" {
		t.Errorf("%d %+v %s", got.Status, to.Got(), got.Body)
	}
	s.MustCLI("user", "email", "vera", "--email", "")
	got := vera.Post("/do/test_mail")
	assert.That(t, got.Status == http.StatusUnprocessableEntity && len(to.Got()) == 1, "%d %+v", got.Status, to.Got())
	assert.Contains(t, s.MustCLI("audit"), "mail.tested")
	to.Answer("RCPT", "550 5.1.1 nobody of that name")
	code, _, _ := s.CLI("mail", "test", "gone@example.com")
	assert.That(t, code == 1, "%d", code)
	m := mails(s)[0]
	assert.That(t, m.State == "refused" && m.Tries == 1, "%+v", m)
	s.MustCLI("mail", "unblock", "gone@example.com")
	s.MustCLI("mail", "set", "--port", "1")
	vera.Post("/do/test_mail", "to", "vera@example.com")
	says(t, "a test that failed", vera.Get("/settings/mail").Body, `class="flash bad" role="alert"`, "The mail server was not reached: connection refused")
}
