package rest

import (
	"encoding/json"
	"net/http"
	"net/mail"
	"strings"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// mailed is a row of list_mails.
type mailed struct {
	ID                          int64
	Service, Kind, Record, To   string
	State                       string
	Tries                       int64
	Code                        *int64
	Reply                       *string
	CreatedAt, NextTryAt, Tried *time.Time `json:"-"`
	Next                        *time.Time `json:"next_try_at"`
}

func mails(s *apptest.Fixture, args ...string) []mailed {
	s.T.Helper()
	var v struct{ Mails []mailed }
	assert.OK(s.T, json.Unmarshal([]byte(s.MustCLI(append([]string{"mail", "list", "--json"}, args...)...)), &v))
	return v.Mails
}

// settled waits until the newest message is in one of the states.
func settled(s *apptest.Fixture, until func(mailed) bool) mailed {
	s.T.Helper()
	var newest mailed
	apptest.Await(s.T, "the newest message to settle", func() bool {
		all := mails(s)
		if len(all) > 0 {
			newest = all[0]
		}
		return len(all) > 0 && until(newest)
	})
	return newest
}

func in(states ...string) func(mailed) bool {
	return func(m mailed) bool { return strings.Contains(" "+strings.Join(states, " ")+" ", " "+m.State+" ") }
}

func record(s *apptest.Fixture, args ...string) (ref, key string) {
	s.T.Helper()
	var v struct {
		Ref      string `json:"order_ref"`
		Licenses []struct {
			Key string `json:"license_key"`
		}
	}
	out := s.MustCLI(append([]string{"store", "order", "record", "--sku", "PLUGIN", "--json"}, args...)...)
	err := json.Unmarshal([]byte(out), &v)
	assert.Must(s.T, err == nil && len(v.Licenses) != 0, "%v %v", err, out)
	return v.Ref, v.Licenses[0].Key
}

// TestMailBeforeItIsSetUp: nothing is queued, no page shows a control, and operations say how to set mail up.
func TestMailBeforeItIsSetUp(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	s.MustCLI("store", "product", "save", "PLUGIN", "--name", "Audio plugin", "--kind", "license", "--price-cents", "4900")
	record(s, "--email", "ann@example.com")
	v := s.Person("store", "vera", "admin")
	for _, args := range [][]string{
		{"mail", "list"}, {"user", "notices", "vera", "--jobs", "off"}, {"mail", "test", "a@b.example"}, {"mail", "pause"}, {"mail", "kind", "order", "off"}, {"mail", "preview", "order"}, {"mail", "unset"},
		{"store", "mail-order", "ORD-7Q4ZJ0M3RT"}, {"store", "send-expiry-notices"},
	} {
		if code, _, errs := s.CLI(args...); code != 1 || !strings.Contains(errs, "mail is not set up") || !strings.Contains(errs, "quartermaster mail set") {
			t.Errorf("%v: %d %s", args, code, errs)
		}
	}
	assert.Lacks(t, v.Get("/").Body, `href="/mail"`, "the first page leads to mail")
	if got := v.Get("/mail"); got.Status != http.StatusConflict || !strings.Contains(got.Body, `href="/settings/mail"`) {
		t.Errorf("/mail: %d %s", got.Status, got.Body)
	}
	if got := v.Get("/settings/mail"); got.Status != http.StatusOK || !strings.Contains(got.Body, "Mail is not set up") || strings.Contains(got.Body, "test_mail") {
		t.Errorf("/settings/mail: %d %s", got.Status, got.Body)
	}
	to := apptest.StartMail(t)
	apptest.SetMail(s, to)
	all := mails(s)
	assert.That(t, len(all) == 0, "what was before is mailed: %+v", all)
}

// TestAPaidOrderIsMailed: the buyer gets the key, once; nobody else does.
func TestAPaidOrderIsMailed(t *testing.T) {
	t.Parallel()
	s, to := apptest.MailShop(t)
	ref, key := record(s, "--email", "Ann@Example.com", "--name", "Ann <b>Lee</b>", "--provider", "paypal", "--provider-ref", "P1")
	m := settled(s, in("sent"))
	assert.That(t, m.Kind == "order" && m.Record == ref && m.To == "ann@example.com" && m.Tries == 1 && *m.Code == 250 &&
		*m.Reply == "2.0.0 Ok: queued as Q1", "%+v", m)
	record(s, "--email", "ann@example.com", "--provider", "paypal", "--provider-ref", "P1") // already recorded
	record(s, "--email", "ann@example.com", "--mail=false")
	s.MustCLI("mail", "kind", "order", "off")
	record(s, "--email", "ann@example.com")
	s.MustCLI("mail", "kind", "order", "on")
	_, _, errs := s.CLI("store", "order", "record", "--sku", "PLUGIN", "--email", "ann@example.com", "--dry-run")
	assert.That(t, errs == "", "%v", errs)
	all := mails(s)
	assert.That(t, len(all) == 1, "%+v", all)
	got := to.Got()
	assert.Must(t, len(got) == 1 && got[0].From == "shop@example.com" && got[0].To == "ann@example.com" &&
		strings.Contains(got[0].Text, key), "%+v", got)
	assert.That(t, !strings.Contains(got[0].Text, "<b>Lee") || strings.Contains(got[0].Text, "&lt;b&gt;Lee"),
		"a name is markup")
	letter, err := mail.ReadMessage(strings.NewReader(got[0].Text))
	if err != nil || letter.Header.Get("From") != `"Bean & Co" <shop@example.com>` || letter.Header.Get("Subject") != "Your order "+ref+" from Bean & Co" {
		t.Error(letter.Header, err)
	}
	s.MustCLI("store", "order", "refund", ref, "--amount-cents", "900")
	if m := settled(s, in("sent")); m.Kind != "refund" || !strings.Contains(to.Got()[1].Text, "9.00=C2=A0USD") {
		t.Errorf("%+v %s", m, to.Got()[1].Text)
	}
	for _, secret := range []string{key, got[0].Text[:60]} {
		out := s.MustCLI("mail", "list", "--json") + s.MustCLI("mail", "preview", "order", ref) + s.MustCLI("mail", "show",
			"1", "--json")
		assert.That(t, !strings.Contains(out, secret), "a key is shown: %s", out)
	}
}

// TestRepliesOfTheMailServer: the effect of each reply at each verb on the message and the others.
func TestRepliesOfTheMailServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		verb, reply string
		state       string
		tries       int64
		blocked     bool
		trouble     bool
	}{
		{"RCPT", "550 5.1.1 <ann@example.com> unknown", "refused", 1, true, false},
		{"RCPT", "550 5.7.1 relay denied", "refused", 1, false, false},
		{"RCPT", "550 no", "refused", 1, true, false},
		{"RCPT", "552 5.2.2 full", "queued", 1, false, false},
		{"RCPT", "451 4.7.1 greylisted", "queued", 1, false, false},
		{"RCPT", "cut", "queued", 1, false, false},
		{"DATA", "451 later", "queued", 1, false, false},
		{"DATA", "554 no", "refused", 1, false, false},
		{"DATA", "cut", "queued", 1, false, false},
		{".", "451 later", "queued", 1, false, false},
		{".", "552 5.3.4 too large", "refused", 1, false, false},
		{".", "cut", "queued", 1, false, false},
		{"CONNECT", "554 go away", "queued", 0, false, true},
		{"CONNECT", "cut", "queued", 0, false, true},
		{"EHLO", "cut", "queued", 0, false, true},
		{"AUTH", "535 5.7.8 wrong", "queued", 0, false, true},
		{"MAIL", "550 not you", "queued", 0, false, true},
		{"MAIL", "cut", "queued", 0, false, true},
	} {
		t.Run(c.verb+" "+c.reply, func(t *testing.T) {
			t.Parallel()
			s, to := apptest.MailShop(t)
			s.MustCLI("mail", "set", "--user", "shop", "--password", "sesame")
			to.Answer(c.verb, c.reply)
			record(s, "--email", "ann@example.com")
			m := settled(s, func(m mailed) bool { return m.Reply != nil })
			assert.That(t, m.State == c.state && m.Tries == c.tries && !strings.Contains(*m.Reply, "ann@"),
				"%+v %s", m, *m.Reply)
			_, _, errs := s.CLI("mail", "unblock", "ANN@example.com")
			assert.Equal(t, errs == "" || !strings.Contains(errs, "is not blocked"), c.blocked, "blocked")
			page := s.Person("store", "vera", "admin").Get("/")
			assert.Equal(t, strings.Contains(page.Body, "refuses messages"), c.trouble, "told of trouble")
			if !c.trouble {
				return
			}
			to.Answer(c.verb, "")
			s.MustCLI("mail", "test", "vera@example.com") // a successful test ends the problem
			settled(s, func(m mailed) bool { return m.Kind == "test" && mails(s, "--kind", "order")[0].State == "sent" })
		})
	}
}

// TestMailAttemptsEnd: a message is retried by the schedule and fails after two days, also when the clock is set back.
func TestMailAttemptsEnd(t *testing.T) {
	t.Parallel()
	s, to := apptest.MailShop(t)
	to.Answer("RCPT", "451 4.2.0 later")
	record(s, "--email", "ann@example.com")
	at := apptest.Noon
	for i, wait := range []time.Duration{1, 5, 15, 30, 60, 120, 240, 240} {
		m := settled(s, func(m mailed) bool { return m.Tries == int64(i+1) && m.State == "queued" })
		at = at.Add(wait * time.Minute)
		assert.Must(t, m.Next.Equal(at), "try %d: next %s, want %s", i+1, m.Next, at)
		s.Clock.Set(at)
	}
	s.Clock.Set(apptest.Noon.Add(49 * time.Hour))
	m := settled(s, in("failed"))
	assert.That(t, m.Next == nil, "%+v", m)
	to.Answer("RCPT", "")
	s.MustCLI("mail", "resend", "1", "--yes")
	m = settled(s, in("sent"))
	assert.That(t, m.ID == 2 && m.Record != "", "%+v", m)
}

// TestImplausibleClockAgesNoMessage: an attempt that fails while the clock is more than a year ahead leaves the message
// in the queue. It is sent once the clock is right.
func TestImplausibleClockAgesNoMessage(t *testing.T) {
	t.Parallel()
	s, to := apptest.MailShop(t)
	to.Answer("RCPT", "451 4.2.0 later")
	record(s, "--email", "ann@example.com")
	settled(s, func(m mailed) bool { return m.Tries == 1 && m.State == "queued" })
	s.Clock.Set(apptest.Noon.Add(401 * 24 * time.Hour))
	m := settled(s, func(m mailed) bool { return m.Tries == 2 && m.State != "sending" })
	assert.Must(t, m.State == "queued", "%+v", m)
	to.Answer("RCPT", "")
	s.Clock.Set(apptest.Noon.Add(2 * time.Minute))
	settled(s, in("sent"))
}

// TestMailIsPausedAndCancelled: a pause holds messages, cancelling ends one, a refund invalidates one.
func TestMailIsPausedAndCancelled(t *testing.T) {
	t.Parallel()
	s, to := apptest.MailShop(t)
	s.MustCLI("mail", "pause")
	first, _ := record(s, "--email", "ann@example.com")
	second, _ := record(s, "--email", "bob@example.com")
	s.MustCLI("mail", "cancel", "1")
	s.MustCLI("mail", "kind", "refund", "off")
	s.MustCLI("store", "order", "refund", second, "--yes")
	got := to.Got()
	assert.That(t, len(got) == 0, "%+v", got)
	s.MustCLI("mail", "resume")
	m := settled(s, in("cancelled"))
	if m.Record != second || *m.Reply != "the order is refunded" || mails(s)[1].State != "cancelled" || mails(s)[1].Record != first {
		t.Errorf("%+v", mails(s))
	}
	code, _, errs := s.CLI("mail", "resend", "2", "--yes")
	assert.That(t, code == 1 && strings.Contains(errs, "the order is refunded"), "%d %s", code, errs)
	s.MustCLI("mail", "block", "ann@example.com", "--reason", "bounced")
	record(s, "--email", "ann@example.com")
	if m := mails(s)[0]; m.State != "refused" || *m.Reply != "the address is blocked: bounced" || m.Next != nil {
		t.Errorf("%+v", m)
	}
	code, _, errs = s.CLI("store", "mail-order", first, "--yes")
	assert.That(t, code == 1 && strings.Contains(errs, "blocked"), "%d %s", code, errs)
	s.MustCLI("mail", "unblock", "ann@example.com")
	s.MustCLI("store", "mail-order", first, "--yes")
	settled(s, in("sent"))
}

// TestMessageInTransitSurvivesAKill: a message in transit at a kill is sent again after the restart. A command says that
// its message waits while no server runs.
func TestMessageInTransitSurvivesAKill(t *testing.T) {
	t.Parallel()
	s, to := apptest.MailShop(t)
	to.Answer("RCPT", "451 4.2.0 later")
	waits := func() bool {
		code, _, errs := s.CLI("store", "order", "record", "--sku", "PLUGIN", "--email", "ann@example.com")
		return code == 0 && strings.Contains(errs, "Messages that wait: 1. No server is running")
	}
	assert.That(t, !waits(), "the server is said not to run")
	settled(s, func(m mailed) bool { return m.Tries == 1 })
	s.Down()
	assert.That(t, waits(), "a command does not say that its message waits")
	alter(t, s.Path, "UPDATE mails SET state = 'sending', next_try_at = 0")
	to.Answer("RCPT", "")
	s.Up()
	settled(s, in("sent"))
	got := to.Got()
	assert.That(t, len(got) == 2, "%+v", got)
}

// TestSetMailRefuses: settings that cannot be a mail server are refused by field.
func TestSetMailRefuses(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("store", "vera", "admin")
	for field, args := range map[string][]string{
		"from":     {"host", "smtp.example.com"},
		"host":     {"from", "a@b.example", "host", "169.254.169.254"},
		"port":     {"from", "a@b.example", "host", "smtp.example.com", "port", "70000"},
		"security": {"from", "a@b.example", "host", "smtp.example.com", "security", "none"},
		"reply_to": {"from", "a@b.example", "host", "smtp.example.com", "reply_to", "x, y"},
		"rate":     {"from", "a@b.example", "host", "smtp.example.com", "rate", "601"},
		"password": {"from", "a@b.example", "host", "smtp.example.com", "password", "x"},
	} {
		assert.Equal(t, v.Post("/do/set_mail", args...).Status, http.StatusUnprocessableEntity, "%s", field)
	}
	s.MustCLI("mail", "set", "--host", "smtp.example.com", "--user", "u", "--password", "sesame-7", "--from", "a@b.example")
	var kept struct {
		Port     int64
		Security string
		Password bool
	}
	err := json.Unmarshal([]byte(s.MustCLI("mail", "set", "--rate", "10", "--json")), &kept)
	assert.That(t, err == nil && kept.Port == 587 && kept.Security == "starttls" && kept.Password, "%v %v", kept, err)
	code, _, errs := s.Pipe("sesame-7\n", "mail", "set", "--password-stdin")
	assert.That(t, code == 0, "%v", errs)
	assert.Lacks(t, v.Get("/settings/mail").Body+v.Get("/audit").Body, "sesame-7", "a page shows the password")
	err = json.Unmarshal([]byte(s.MustCLI("mail", "set", "--host", "other.example.com", "--json")), &kept)
	assert.That(t, err == nil && !kept.Password, "another host keeps the password %v", err)
}

// TestTextsOfMail: the shop's own text is refused if its placeholders cannot be filled in.
func TestTextsOfMail(t *testing.T) {
	t.Parallel()
	s, to := apptest.MailShop(t)
	code, _, errs := s.Pipe("Subject: Hallo\n\nKein Schlüssel", "mail", "text", "set", "order", "-")
	assert.That(t, code == 1 && strings.Contains(errs, "it must contain {keys}"), "%d %s", code, errs)
	if code, _, errs := s.Pipe("Subject: Bestellung {order}\n\nGuten Tag {name},\n\n{keys}\n\n{items}", "mail", "text", "set", "order", "-"); code != 0 {
		t.Fatal(errs)
	}
	code, _, errs = s.Pipe("seat = Platz\nseats = Plätze\nTotal = Summe\n", "mail", "text", "set", "words-store", "-")
	assert.Must(t, code == 0, "%v", errs)
	s.MustCLI("settings", "locale", "de-DE")
	ref, _ := record(s, "--email", "ann@example.com", "--total-cents", "123456")
	settled(s, in("sent"))
	if text := to.Got()[0].Text; !strings.Contains(text, "Subject: Bestellung "+ref) || !strings.Contains(text, "3 Pl=C3=A4tze") ||
		!strings.Contains(text, "Summe | 1.234,56=C2=A0USD") || strings.Contains(text, "Guten Tag") {
		t.Error(text)
	}
	v := s.Person("store", "vera", "admin")
	for _, path := range []string{"/settings/mail", "/settings/mail/order", "/settings/mail/words-store", "/mail", "/mail/1"} {
		assert.Equal(t, v.Get(path).Status, http.StatusOK, "%s", path)
	}
	if got := v.Get("/settings/mail/order"); !strings.Contains(got.Body, `sandbox srcdoc="&lt;!DOCTYPE html`) || strings.Contains(got.Body, "<td>Audio plugin") {
		t.Error("the HTML of a message stands in the page itself")
	}
	if got := v.Get("/mail/1"); strings.Contains(got.Body, to.Got()[0].Text[len(to.Got()[0].Text)-300:]) || !strings.Contains(got.Body, "Bestellung "+ref) {
		t.Error(got.Body)
	}
	s.MustCLI("mail", "text", "reset", "order", "--yes")
	assert.Contains(t, s.MustCLI("mail", "preview", "order"), "Your order "+ref)
}

// TestExpiryNotices: each license gets one notice per end date, in one message per customer.
func TestExpiryNotices(t *testing.T) {
	t.Parallel()
	s, to := apptest.MailShop(t)
	s.MustCLI("store", "product", "save", "PLUGIN", "--license-days", "10")
	for range 2 {
		record(s, "--email", "ann@example.com", "--mail=false")
	}
	if out := s.MustCLI("store", "send-expiry-notices", "--days", "5", "--json", "--yes"); !strings.Contains(out, `"sent":[]`) && !strings.Contains(out, `"sent": []`) {
		t.Error(out)
	}
	for i, want := range []int{1, 0} {
		var v struct{ Sent []struct{ To string } }
		err := json.Unmarshal([]byte(s.MustCLI("store", "send-expiry-notices", "--json", "--yes")), &v)
		assert.That(t, err == nil && len(v.Sent) == want, "run %d: %+v %v", i, v, err)
	}
	if m := settled(s, in("sent")); m.Kind != "expiry" || m.Record != "ann@example.com" || strings.Count(to.Got()[0].Text, "30 November 2026") != 4 {
		t.Errorf("%+v %s", m, to.Got()[0].Text)
	}
}

// alter changes a file while the program is stopped.
func alter(t *testing.T, path, statement string) {
	t.Helper()
	d := assert.Value(db.Open(path, db.Options{Now: (&apptest.Clock{}).Now, Accept: true}))(t)
	defer d.Close()
	assert.OK(t, db.Exec(t.Context(), d, db.Bookkeeping(), func(tx *db.Tx) error {
		_, err := tx.Exec(statement)
		return err
	}))
}

// TestRestorePausesMail: messages in a backup's queue may have been sent since.
func TestRestorePausesMail(t *testing.T) {
	t.Parallel()
	s, to := apptest.MailShop(t)
	s.MustCLI("mail", "pause")
	record(s, "--email", "ann@example.com")
	s.MustCLI("mail", "resume")
	settled(s, in("sent"))
	s.MustCLI("mail", "pause")
	copied := s.Path + ".copy"
	s.MustCLI("backup", copied)
	s.MustCLI("mail", "resume")
	s.Down()
	assert.Contains(t, s.MustCLI("restore", copied), "mail is paused")
	s.Up()
	page := s.Person("store", "vera", "admin").Get("/")
	assert.That(t, strings.Contains(page.Body, "Mail is paused") && len(to.Got()) == 1, "mail is not paused")
}
