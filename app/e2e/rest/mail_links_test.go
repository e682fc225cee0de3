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
	"quartermaster/schema/assert"
)

// letter is a message's text as a reader sees it.
func letter(t *testing.T, l apptest.Letter) string {
	t.Helper()
	b := assert.Value(io.ReadAll(quotedprintable.NewReader(strings.NewReader(l.Text))))(t)
	return string(b)
}

var mailedLink = regexp.MustCompile(`https?://[^/\s]+(/(?:portal/|my/)?welcome/[A-Za-z0-9_-]{43})`)

// linkIn is the path of the link in the newest message, after it was sent.
func linkIn(t *testing.T, s *apptest.Fixture, to *apptest.MailServer, kind string) string {
	t.Helper()
	m := settled(s, in("sent"))
	assert.Must(t, m.Kind == kind, "%+v", m)
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
	assert.Equal(t, v.Get("/forgot").Status, http.StatusNotFound, "before set-up")
	apptest.SetMail(s, to)
	assert.Contains(t, v.Get("/login").Body, `href="/forgot"`, "/login")
	unknown := v.Post("/forgot", "name", "nobody@example.com")
	known := v.Post("/forgot", "name", "bob")
	assert.That(t, unknown.Status == http.StatusOK && known.Status == http.StatusOK && unknown.Body == known.Body,
		"%d %d", unknown.Status, known.Status)
	first := linkIn(t, s, to, "staff-link")
	if text := letter(t, to.Got()[0]); strings.Contains(text, "invited by") || !strings.Contains(text, "http://"+s.Server.Addr("rental")) {
		t.Error(text)
	}
	v.Post("/forgot", "name", "bob@example.com") // who is not meant
	v.Post("/forgot", "name", "BÖB@example.com")
	second := linkIn(t, s, to, "staff-link")
	bob := s.Visitor("rental")
	for range 2 {
		got := bob.Get(first)
		assert.That(t, got.Status == http.StatusOK && strings.Contains(got.Body, "bob"), "%d %s", got.Status, got.Body)
	}
	got := bob.Post(first, "password", "correct horse battery")
	assert.That(t, got.Status == http.StatusSeeOther, "%d %s", got.Status, got.Body)
	for _, link := range []string{first, second} {
		assert.Equal(t, s.Visitor("rental").Get(link).Status, http.StatusGone, "used")
	}
	v.Post("/forgot", "name", "bob")
	v.Post("/forgot", "name", "bob")
	assert.Equal(t, len(mails(s)), 3, "within an hour")
	code, _, errs := s.CLI("mail", "resend", "1", "--yes")
	assert.That(t, code == 1 && strings.Contains(errs, "request a new one"), "%d %s", code, errs)
	for n := range 30 {
		got := v.Post("/forgot", "name", fmt.Sprintf("x%d", n))
		assert.That(t, (got.Status == http.StatusTooManyRequests) == (n >= 14), "question %d: %d", n+7, got.Status)
	}
}

// TestAnInvitationIsMailed: an admin mails it. A later link ends the earlier one. Without an address it is refused.
func TestAnInvitationIsMailed(t *testing.T) {
	t.Parallel()
	s, to := apptest.Start(t), apptest.StartMail(t)
	apptest.SetMail(s, to)
	s.MustCLI("user", "add", "bob", "--role", "viewer", "--service", "store")
	code, _, errs := s.CLI("user", "mail-invitation", "bob", "--yes")
	assert.That(t, code == 1 && strings.Contains(errs, "bob has no e-mail address"), "%d %s", code, errs)
	s.MustCLI("user", "email", "bob", "--email", "bob@example.com")
	asked := s.MustCLI("user", "mail-invitation", "bob", "--dry-run")
	assert.That(t, strings.Contains(asked, "bob@example.com") && len(mails(s)) == 0, "%s %+v", asked, mails(s))
	s.MustCLI("user", "mail-invitation", "bob", "--yes")
	first := linkIn(t, s, to, "staff-link")
	assert.Contains(t, letter(t, to.Got()[0]), "You were invited by the operator")
	vera := s.Person("store", "vera", "admin")
	got := vera.Post("/do/mail_invitation", "name", "bob", "confirm", "yes")
	assert.That(t, got.Status == http.StatusSeeOther, "%d %s", got.Status, got.Body)
	second := linkIn(t, s, to, "staff-link")
	assert.Equal(t, s.Visitor("store").Get(first).Status, http.StatusGone, "an earlier invitation")
	assert.Equal(t, s.Visitor("store").Post(second, "password", "correct horse battery").Status, http.StatusSeeOther)
}

// TestTheOwnAddress: a user changes it with the password. Another user's address may be changed by those who may invite
// that user.
func TestTheOwnAddress(t *testing.T) {
	t.Parallel()
	s, to := apptest.Start(t), apptest.StartMail(t)
	apptest.SetMail(s, to)
	s.MustCLI("user", "add", "vic", "--role", "viewer", "--service", "store")
	vic := s.Invited("store", "vic")
	got := vic.Post("/do/set_user_email", "name", "vic", "email", "vic@example.com", "current", "wrong")
	assert.That(t, got.Status == http.StatusUnprocessableEntity, "a wrong password: %d", got.Status)
	if got := vic.Get("/account"); !strings.Contains(got.Body, `name="current"`) || !strings.Contains(got.Body, `name="tickets"`) {
		t.Error(got.Body)
	}
	vera := s.Person("store", "vera", "admin")
	got = vic.Post("/do/set_user_email", "name", "vera", "email", "vic@example.com")
	assert.That(t, got.Status == http.StatusForbidden, "a viewer sets another's: %d", got.Status)
	assert.Equal(t, vera.Post("/do/set_user_email", "name", "vic", "email", "x@").Status, http.StatusUnprocessableEntity,
		"no address")
	got = vera.Post("/do/set_user_email", "name", "vic", "email", "vic@example.com")
	assert.That(t, got.Status == http.StatusSeeOther, "%d %s", got.Status, got.Body)
	assert.Contains(t, vera.Get("/users").Body, "vic@example.com", "the address")
	if out := s.MustCLI("user", "email", "vic", "--email", "", "--json"); !strings.Contains(out, `"email": null`) && !strings.Contains(out, `"email":null`) {
		t.Error(out)
	}
	out := s.MustCLI("user", "notices", "vic", "--tickets", "digest", "--json")
	assert.That(t, strings.Contains(out, "digest") && strings.Contains(out, `"jobs":`), "%v", out)
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
	assert.That(t, known.Status == http.StatusOK && known.Body == unknown.Body && v.Get("/my").Field("email") == "",
		"%d %s", known.Status, known.Body)
	link := linkIn(t, s, to, "buyer-link")
	got := v.Get(link)
	assert.That(t, got.Status == http.StatusOK && !strings.Contains(got.Body, first), "%d", got.Status)
	got = v.Post(link)
	assert.Must(t, got.Status == http.StatusSeeOther, "%d %s", got.Status, got.Body)
	page := v.Get("/my").Body
	assert.That(t, strings.Contains(page, first) && strings.Contains(page, second) && !strings.Contains(page, other),
		"%v", page)
	got = v.Get("/my/receipt?order_ref=" + ref)
	assert.That(t, got.Status == http.StatusOK && strings.Contains(got.Body, ref), "%d", got.Status)
	assert.Equal(t, s.Visitor("store").Post(link).Status, http.StatusGone, "used")
	assert.Equal(t, s.Visitor("store").Post("/my", "license_key", second).Status, http.StatusSeeOther, "by a key")
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
	assert.Contains(t, l.Visitor("rental").Post("/portal", "code", "AAAA-BBBB").Body, "check the code", "a wrong code")
	assert.Equal(t, l.Visitor("rental").Post("/portal", "code", code).Status, http.StatusSeeOther, "the code %q", code)
	v := l.Visitor("rental")
	known, unknown := v.Post("/portal", "email", "U1@example.org"), v.Post("/portal", "email", "nobody@example.org")
	assert.That(t, known.Status == http.StatusOK && known.Body == unknown.Body, "%d %s", known.Status, known.Body)
	asked := linkIn(t, l.Fixture, to, "tenant-link")
	assert.Equal(t, v.Get(invited).Status, http.StatusOK, "an asked link ends the invitation")
	assert.Equal(t, v.Post(asked).Status, http.StatusSeeOther)
	if got := v.Get("/portal"); !strings.Contains(got.Body, "U1") || !strings.Contains(got.Body, "To sign in again you need") {
		t.Error(got.Body)
	}
	for _, link := range []string{invited, asked} {
		assert.Equal(t, l.Visitor("rental").Get(link).Status, http.StatusGone, "after one was used")
	}
	assert.Equal(t, l.Visitor("rental").Post("/portal", "code", code).Status, http.StatusSeeOther, "the code ends")
}
