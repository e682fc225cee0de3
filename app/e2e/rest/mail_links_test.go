package rest

import (
	"fmt"
	"io"
	"mime/quotedprintable"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"quartermaster/app/apptest"
)

// letter is a message's text as a reader sees it.
func letter(t *testing.T, l apptest.Letter) string {
	t.Helper()
	b, err := io.ReadAll(quotedprintable.NewReader(strings.NewReader(l.Text)))
	apptest.OK(t, err)
	return string(b)
}

var mailedLink = regexp.MustCompile(`https?://[^/\s]+(/(?:portal/|my/)?welcome/[A-Za-z0-9_-]{43})`)

// linkIn is the path of the link in the newest message, after it was sent.
func linkIn(t *testing.T, s *apptest.Fixture, to *apptest.MailServer, kind string) string {
	t.Helper()
	if m := settled(s, in("sent")); m.Kind != kind {
		t.Fatalf("%+v", m)
	}
	all := to.Got()
	found := mailedLink.FindStringSubmatch(letter(t, all[len(all)-1]))
	if found == nil {
		t.Fatal(letter(t, all[len(all)-1]))
	}
	return found[1]
}

// TestAForgottenPassword: a user enters a name or address at /forgot and chooses a password by the mailed link, which
// ends all links. No answer shows whether a user exists.
func TestAForgottenPassword(t *testing.T) {
	t.Parallel()
	s, to := apptest.Start(t), apptest.StartMail(t)
	s.MustCLI("user", "add", "bob", "--role", "viewer", "--service", "rental")
	s.MustCLI("user", "email", "bob", "--email", "Böb@Example.com")
	to.More = "SMTPUTF8"
	v := s.Visitor("store")
	if got := v.Get("/forgot"); got.Status != http.StatusNotFound {
		t.Errorf("before set-up: %d", got.Status)
	}
	apptest.SetMail(s, to)
	if got := v.Get("/login"); !strings.Contains(got.Body, `href="/forgot"`) {
		t.Error("/login does not lead to /forgot")
	}
	unknown := v.Post("/forgot", "name", "nobody@example.com")
	known := v.Post("/forgot", "name", "bob")
	if unknown.Status != http.StatusOK || known.Status != http.StatusOK || unknown.Body != known.Body {
		t.Errorf("%d %d", unknown.Status, known.Status)
	}
	first := linkIn(t, s, to, "staff-link")
	if text := letter(t, to.Got()[0]); strings.Contains(text, "invited by") || !strings.Contains(text, "http://"+s.Server.Addr("rental")) {
		t.Error(text)
	}
	v.Post("/forgot", "name", "bob@example.com") // who is not meant
	v.Post("/forgot", "name", "BÖB@example.com")
	second := linkIn(t, s, to, "staff-link")
	bob := s.Visitor("rental")
	for range 2 {
		if got := bob.Get(first); got.Status != http.StatusOK || !strings.Contains(got.Body, "bob") {
			t.Errorf("%d %s", got.Status, got.Body)
		}
	}
	if got := bob.Post(first, "password", "correct horse battery"); got.Status != http.StatusSeeOther {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	for _, link := range []string{first, second} {
		if got := s.Visitor("rental").Get(link); got.Status != http.StatusGone {
			t.Errorf("used: %d", got.Status)
		}
	}
	v.Post("/forgot", "name", "bob")
	v.Post("/forgot", "name", "bob")
	if all := mails(s); len(all) != 3 {
		t.Errorf("within an hour: %d", len(all))
	}
	if code, _, errs := s.CLI("mail", "resend", "1", "--yes"); code != 1 || !strings.Contains(errs, "request a new one") {
		t.Errorf("%d %s", code, errs)
	}
	for n := range 30 {
		if got := v.Post("/forgot", "name", fmt.Sprintf("x%d", n)); (got.Status == http.StatusTooManyRequests) != (n >= 14) {
			t.Errorf("question %d: %d", n+7, got.Status)
		}
	}
}

// TestAnInvitationIsMailed: an admin mails it. A later link ends the earlier one. Without an address it is refused.
func TestAnInvitationIsMailed(t *testing.T) {
	t.Parallel()
	s, to := apptest.Start(t), apptest.StartMail(t)
	apptest.SetMail(s, to)
	s.MustCLI("user", "add", "bob", "--role", "viewer", "--service", "store")
	if code, _, errs := s.CLI("user", "mail-invitation", "bob", "--yes"); code != 1 || !strings.Contains(errs, "bob has no e-mail address") {
		t.Errorf("%d %s", code, errs)
	}
	s.MustCLI("user", "email", "bob", "--email", "bob@example.com")
	asked := s.MustCLI("user", "mail-invitation", "bob", "--dry-run")
	if !strings.Contains(asked, "bob@example.com") || len(mails(s)) != 0 {
		t.Errorf("%s %+v", asked, mails(s))
	}
	s.MustCLI("user", "mail-invitation", "bob", "--yes")
	first := linkIn(t, s, to, "staff-link")
	if text := letter(t, to.Got()[0]); !strings.Contains(text, "You were invited by the operator") {
		t.Error(text)
	}
	vera := s.Person("store", "vera", "admin")
	if got := vera.Post("/do/mail_invitation", "name", "bob", "confirm", "yes"); got.Status != http.StatusSeeOther {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	second := linkIn(t, s, to, "staff-link")
	if got := s.Visitor("store").Get(first); got.Status != http.StatusGone {
		t.Errorf("an earlier invitation: %d", got.Status)
	}
	if got := s.Visitor("store").Post(second, "password", "correct horse battery"); got.Status != http.StatusSeeOther {
		t.Errorf("%d", got.Status)
	}
}

// TestTheOwnAddress: a user changes it with the password. Another user's address may be changed by those who may invite
// that user.
func TestTheOwnAddress(t *testing.T) {
	t.Parallel()
	s, to := apptest.Start(t), apptest.StartMail(t)
	apptest.SetMail(s, to)
	s.MustCLI("user", "add", "vic", "--role", "viewer", "--service", "store")
	vic := s.Invited("store", "vic")
	if got := vic.Post("/do/set_user_email", "name", "vic", "email", "vic@example.com", "current", "wrong"); got.Status != http.StatusUnprocessableEntity {
		t.Errorf("a wrong password: %d", got.Status)
	}
	if got := vic.Get("/account"); !strings.Contains(got.Body, `name="current"`) || !strings.Contains(got.Body, `name="tickets"`) {
		t.Error(got.Body)
	}
	vera := s.Person("store", "vera", "admin")
	if got := vic.Post("/do/set_user_email", "name", "vera", "email", "vic@example.com"); got.Status != http.StatusForbidden {
		t.Errorf("a viewer sets another's: %d", got.Status)
	}
	if got := vera.Post("/do/set_user_email", "name", "vic", "email", "x@"); got.Status != http.StatusUnprocessableEntity {
		t.Errorf("no address: %d", got.Status)
	}
	if got := vera.Post("/do/set_user_email", "name", "vic", "email", "vic@example.com"); got.Status != http.StatusSeeOther {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	if got := vera.Get("/users"); !strings.Contains(got.Body, "vic@example.com") {
		t.Error("the address is not listed")
	}
	if out := s.MustCLI("user", "email", "vic", "--email", "", "--json"); !strings.Contains(out, `"email": null`) && !strings.Contains(out, `"email":null`) {
		t.Error(out)
	}
	out := s.MustCLI("user", "notices", "vic", "--tickets", "digest", "--json")
	if !strings.Contains(out, "digest") || !strings.Contains(out, `"jobs":`) {
		t.Error(out)
	}
}

// TestABuyerIsMailedALink: it opens all licenses of the customer for half an hour, by a button. An order's reference no
// longer opens anything; a key does.
func TestABuyerIsMailedALink(t *testing.T) {
	t.Parallel()
	s, to := apptest.MailShop(t)
	ref, first := record(s, "--email", "ann@example.com", "--mail=false")
	_, second := record(s, "--email", "ann@example.com", "--mail=false")
	_, other := record(s, "--email", "bob@example.com", "--mail=false")
	v := s.Visitor("store")
	unknown := v.Post("/my", "email", "nobody@example.com")
	known := v.Post("/my", "order_ref", ref, "email", "ann@example.com")
	if known.Status != http.StatusOK || known.Body != unknown.Body || v.Get("/my").Field("email") != "" {
		t.Errorf("%d %s", known.Status, known.Body)
	}
	link := linkIn(t, s, to, "buyer-link")
	if got := v.Get(link); got.Status != http.StatusOK || strings.Contains(got.Body, first) {
		t.Errorf("%d", got.Status)
	}
	if got := v.Post(link); got.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	page := v.Get("/my").Body
	if !strings.Contains(page, first) || !strings.Contains(page, second) || strings.Contains(page, other) {
		t.Error(page)
	}
	if got := v.Get("/my/receipt?order_ref=" + ref); got.Status != http.StatusOK || !strings.Contains(got.Body, ref) {
		t.Errorf("%d", got.Status)
	}
	if got := s.Visitor("store").Post(link); got.Status != http.StatusGone {
		t.Errorf("used: %d", got.Status)
	}
	if got := s.Visitor("store").Post("/my", "license_key", second); got.Status != http.StatusSeeOther {
		t.Errorf("by a key: %d", got.Status)
	}
}

// TestATenantIsMailedALink: an invitation brings a link and a code. An address typed at /portal brings a link for an
// hour. Each tenant with the address gets one.
func TestATenantIsMailedALink(t *testing.T) {
	t.Parallel()
	l, to := apptest.NewRental(t), apptest.StartMail(t)
	apptest.SetMail(l.Fixture, to)
	l.Lease("start_date=2026-11-01")
	l.Rental("tenant", "mail-invitation", "Tenant U1", "--yes")
	invited := linkIn(t, l.Fixture, to, "tenant-link")
	code := regexp.MustCompile(`\b[0-9A-Z]{4}-[0-9A-Z]{4}\b`).FindString(letter(t, to.Got()[0]))
	if wrong := l.Visitor("rental").Post("/portal", "code", "AAAA-BBBB"); !strings.Contains(wrong.Body, "check the code") {
		t.Errorf("a wrong code: %s", wrong.Body)
	}
	if got := l.Visitor("rental").Post("/portal", "code", code); got.Status != http.StatusSeeOther {
		t.Errorf("the code %q: %d", code, got.Status)
	}
	v := l.Visitor("rental")
	known, unknown := v.Post("/portal", "email", "U1@example.org"), v.Post("/portal", "email", "nobody@example.org")
	if known.Status != http.StatusOK || known.Body != unknown.Body {
		t.Errorf("%d %s", known.Status, known.Body)
	}
	asked := linkIn(t, l.Fixture, to, "tenant-link")
	if got := v.Get(invited); got.Status != http.StatusOK {
		t.Errorf("an asked link ends the invitation: %d", got.Status)
	}
	if got := v.Post(asked); got.Status != http.StatusSeeOther {
		t.Errorf("%d", got.Status)
	}
	if got := v.Get("/portal"); !strings.Contains(got.Body, "U1") || !strings.Contains(got.Body, "To sign in again you need") {
		t.Error(got.Body)
	}
	for _, link := range []string{invited, asked} {
		if got := l.Visitor("rental").Get(link); got.Status != http.StatusGone {
			t.Errorf("after one was used: %d", got.Status)
		}
	}
	if got := l.Visitor("rental").Post("/portal", "code", code); got.Status != http.StatusSeeOther {
		t.Errorf("the code ends: %d", got.Status)
	}
}
