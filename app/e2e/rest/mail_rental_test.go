package rest

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// adasHouse is a shop in which Ada owes rent and water since 2026-11-01; today is 2026-11-06.
func adasHouse(t *testing.T) *apptest.Fixture {
	t.Helper()
	s := apptest.StartAt(t, time.Date(2026, 11, 6, 12, 0, 0, 0, time.UTC))
	for _, args := range [][]string{
		{"settings", "currency", "EUR"}, {"rental", "property", "save", "House"}, {"rental", "unit", "save", "House", "A"},
		{"rental", "tenant", "save", "Ada", "--email", "ada@example.org"}, {"rental", "tenant", "save", "Ben", "--email", "ben@example.org"},
		{"rental", "lease", "save", "House", "A", "2026-11-01", "--tenant", "Ada|Ben", "--rent-cents", "95000", "--due-day", "1"},
		{"rental", "charge", "1", "--type", "utility", "--amount-cents", "4500", "--due", "2026-11-01", "--label", "Water"},
	} {
		code, _, errs := s.CLI(args...)
		assert.Must(t, code == 0, "%v %v", args, errs)
	}
	return s
}

// lettersOf waits until so many messages were sent and returns them as readers see them.
func lettersOf(t *testing.T, s *apptest.Fixture, to *apptest.MailServer, n int) (all []string) {
	t.Helper()
	apptest.Await(t, "messages", func() bool { return len(to.Got()) >= n })
	for _, l := range to.Got() {
		all = append(all, letter(t, l))
	}
	assert.Must(t, len(all) == n, "%d messages, want %d: %q", len(all), n, all)
	return all
}

// TestALandlordBeforeMailIsSetUp: arrears can be read and printed; no page offers to mail.
func TestALandlordBeforeMailIsSetUp(t *testing.T) {
	t.Parallel()
	s := adasHouse(t)
	if out := s.MustCLI("rental", "reminders", "--csv"); !strings.Contains(out, "lease_id,property,unit,tenant,to,kind,open_cents,oldest_due,days,reason\n1,House,A,Ada,ada@example.org,late-1,99500,2026-11-01,5,\n") {
		t.Error(out)
	}
	for _, args := range [][]string{{"send-reminders", "--yes"}, {"set-reminders", "--gap-days", "5"}, {"pause-reminders", "1", "--until", "2026-12-01"}, {"mail-statement", "1", "--yes"}} {
		code, _, errs := s.CLI(append([]string{"rental"}, args...)...)
		assert.That(t, code == 1 && strings.Contains(errs, "mail is not set up"), "%v: %d %s", args, code, errs)
	}
	v := s.Person("rental", "vera", "admin")
	for path, never := range map[string][]string{"/arrears": {"/reminders"}, "/leases/1": {"send_reminders", "mail_statement", "pause_reminders"},
		"/leases/1/statement": {"mail_statement"}, "/reminders": {"/do/send_reminders"}} {
		got := v.Get(path)
		for _, word := range never {
			assert.That(t, got.Status == http.StatusOK && !strings.Contains(got.Body, word),
				"%s: %d, %s", path, got.Status, word)
		}
	}
	if got := v.Get("/leases/1/reminder"); !strings.Contains(got.Body, "Our books show these amounts as open.") || !strings.Contains(got.Body, "995.00\u00a0EUR is overdue") ||
		!strings.Contains(got.Body, "6 November 2026") {
		t.Error(got.Body)
	}
}

// TestRemindersByMail: each tenant gets the text in the shop's locale, once. The printed letter says the same.
func TestRemindersByMail(t *testing.T) {
	t.Parallel()
	s, to := adasHouse(t), apptest.StartMail(t)
	apptest.SetMail(s, to)
	s.MustCLI("settings", "locale", "de-DE")
	code, _, errs := s.Pipe("Rent = Miete\n", "mail", "text", "set", "words-rental", "-")
	assert.Must(t, code == 0, "%v", errs)
	if code, _, errs := s.Pipe("Subject: Offen: {open}\n\n{charges}\n\nOffen: {open} seit {days} Tagen, {unit}", "mail", "text", "set", "late-1", "-"); code != 0 {
		t.Fatal(errs)
	}
	before := s.MustCLI("rental", "reminders", "--json")
	if out := s.MustCLI("rental", "send-reminders", "--dry-run"); !strings.Contains(out, "mail") || len(mails(s)) != 0 || s.MustCLI("rental", "reminders", "--json") != before {
		t.Error(out)
	}
	v := s.Person("rental", "vera", "admin")
	page := v.Get("/reminders")
	if !strings.Contains(page.Body, "ada@example.org") || !strings.Contains(page.Body, "ben@example.org") || !strings.Contains(page.Body, "2 reminders are due") {
		t.Error(page.Body)
	}
	assert.Equal(t, v.Post("/do/send_reminders", "marked", "true").Status, http.StatusUnprocessableEntity,
		"nothing marked")
	s.MustCLI("rental", "send-reminders", "--yes")
	for i, text := range lettersOf(t, s, to, 2) {
		for _, want := range []string{"Subject: Offen: 995,00", "Miete 01.11.2026 - 30.11.2026 | 01.11.2026 | 950,00\u00a0EUR", "Water | 01.11.2026 | 45,00\u00a0EUR", "Offen: 995,00\u00a0EUR seit 5 Tagen, House / A"} {
			assert.That(t, strings.Contains(text, want) || strings.Contains(want, "Subject"), "message %d lacks %q:\n%s", i,
				want, text)
		}
	}
	if got := v.Get("/leases/1/reminder"); !strings.Contains(got.Body, "Miete 01.11.2026 - 30.11.2026") || !strings.Contains(got.Body, "06.11.2026") {
		t.Error(got.Body)
	}
	if got := v.Get("/leases/1/reminder?step=3"); !strings.Contains(got.Body, "our last reminder") ||
		!strings.Contains(apptest.Text(got.Doc), "Last reminder") {
		t.Error(got.Body)
	}
	out := s.MustCLI("rental", "send-reminders", "--yes", "--json")
	assert.That(t, strings.Contains(strings.ReplaceAll(out, " ", ""), `"sent":[]`), "%v", out)
	code, _, errs = s.CLI("rental", "send-reminders", "--lease-id", "1", "--yes")
	assert.That(t, code == 1 && strings.Contains(errs, "no reminder is sent"), "%d %s", code, errs)
	out = s.MustCLI("rental", "pause-reminders", "House/A", "--until", "2026-12-31")
	assert.That(t, strings.Contains(out, "until after 2026-12-31"), "%v", out)
	s.Clock.Set(time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC))
	assert.Contains(t, s.MustCLI("rental", "reminders", "--csv"), "late-2,99500,2026-11-01,14,paused")
	s.MustCLI("rental", "pause-reminders", "1", "--until", "")
	s.MustCLI("mail", "pause")
	if got := v.Post("/do/send_reminders", "marked", "true", "lease_id", "1", "confirm", "yes"); got.Status != http.StatusOK && got.Status != http.StatusSeeOther {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	s.MustCLI("rental", "receive", "1", "--amount-cents", "99500")
	s.MustCLI("mail", "resume")
	m := settled(s, in("cancelled"))
	assert.That(t, m.Kind == "late-2" && *m.Reply == "nothing is open", "%+v", m)
	s.MustCLI("rental", "end-lease", "1", "--date", "2026-11-30", "--yes")
	s.Clock.Set(time.Date(2026, 12, 15, 12, 0, 0, 0, time.UTC))
	s.MustCLI("rental", "tenant", "forget", "Ada", "--yes")
	if out := s.MustCLI("mail", "list", "--json"); strings.Contains(out, "ada@example.org") || !strings.Contains(out, "ben@example.org") || !strings.Contains(out, "House/A") {
		t.Error(out)
	}
}

// TestReceiptsStatementsAndTickets: the texts of the other kinds of mail to tenants, and when they are sent.
func TestReceiptsStatementsAndTickets(t *testing.T) {
	t.Parallel()
	s, to := adasHouse(t), apptest.StartMail(t)
	apptest.SetMail(s, to)
	s.MustCLI("rental", "tenant", "save", "Ben", "--email", "")
	s.MustCLI("rental", "receive", "1", "--amount-cents", "1000")
	all := mails(s)
	assert.That(t, len(all) == 0, "receipts are off at first: %+v", all)
	s.MustCLI("mail", "kind", "receipt", "on")
	s.MustCLI("rental", "receive", "1", "--amount-cents", "100000", "--method", "transfer")
	text := lettersOf(t, s, to, 1)[0]
	if m := mails(s)[0]; m.Kind != "receipt" || m.Record != "2" || m.To != "ada@example.org" || !strings.Contains(text, "We received 1,000.00\u00a0EUR on 6 November 2026") ||
		!strings.Contains(text, "Rent 1 November 2026 - 30 November 2026 | 1 November 2026 | 940.00\u00a0EUR") || !strings.Contains(text, "Left as credit: 15.00\u00a0EUR") {
		t.Errorf("%+v %s", m, text)
	}
	out := s.MustCLI("rental", "mail-statement", "House/A", "--year", "2026", "--yes")
	assert.That(t, strings.Contains(out, "House/A is mailed to ada@example.org"), "%v", out)
	text = lettersOf(t, s, to, 2)[1]
	if !strings.Contains(text, "6 November 2026 | Bank transfer | 1,000.00\u00a0EUR") || !strings.Contains(text, "Balance at the end: -15.00\u00a0EUR") {
		t.Error(text)
	}
	v := s.Person("rental", "vera", "member")
	s.MustCLI("rental", "ticket", "create", "House/A", "--title", "A tap of ours")
	s.MustCLI("rental", "ticket", "move", "1", "in_progress") // not the tenant's
	s.MustCLI("rental", "tenant", "mail-invitation", "Ada", "--yes")
	guest := s.Visitor("rental")
	guest.Post(linkIn(t, s, to, "tenant-link"))
	got := guest.Post("/portal/do/report_problem", "title", "The tap drips", "priority", "high", "description", "x")
	assert.Must(t, got.Status == http.StatusSeeOther, "%d %s", got.Status, got.Body)
	guest.Post("/portal/do/add_note", "ticket_id", "2", "text", "still")
	v.Post("/do/add_ticket_note", "ticket_id", "2", "text", "The plumber comes on Thursday.")
	text = lettersOf(t, s, to, 4)[3]
	if !strings.Contains(text, "The tap drips: Open") || !strings.Contains(text, "The plumber comes on Thursday.") || !strings.Contains(text, "/portal/tickets/2") {
		t.Error(text)
	}
	v.Post("/do/advance_ticket", "ticket_id", "2", "status", "in_progress")
	if text = lettersOf(t, s, to, 5)[4]; !strings.Contains(text, "The tap drips: In progress") {
		t.Error(text)
	}
	_, refused := s.Tool("rental", "update_ticket", `{"ticket_id":2,"status":"resolved","note":"New washer."}`)
	assert.That(t, refused == "", "%v", refused)
	if text = lettersOf(t, s, to, 6)[5]; !strings.Contains(text, "The tap drips: Resolved") || !strings.Contains(text, "New washer.") {
		t.Error(text)
	}
	lists(t, v, "/leases/1", 1, 2)
	lists(t, v, "/tenants/1", 1, 2, 3, 4, 5, 6)
	lists(t, v, "/maintenance/2", 4, 5, 6)
	for _, kind := range []string{"receipt", "statement", "ticket", "reminder"} {
		s.MustCLI("mail", "preview", kind)
	}
	assert.Contains(t, s.MustCLI("mail", "preview", "statement", "House/A"), "Statement of 2026, House / A")
}
