package rest

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestAdminOfOneService: an admin of rental alone gets no copy of the file, no full doctor run and no
// setting of the whole shop, by page or command. They see no users and receivers of other services.
func TestAdminOfOneService(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	s.MustCLI("user", "add", "stella-of-the-store", "--role", "member", "--service", "store")
	s.MustCLI("user", "add", "renate", "--role", "member", "--service", "rental")
	s.MustCLI("webhook", "add", "--service", "store", "--url", "https://hooks.example/of-the-store")
	s.MustCLI("webhook", "add", "--service", "rental", "--url", "https://hooks.example/of-rental")
	one, all := s.Person("rental", "ruth", "admin", "rental"), s.Person("rental", "vera", "admin")
	for _, path := range []string{"/backup", "/doctor", "/do/make_backup", "/do/set_shop", "/do/set_timezone"} {
		if got := one.Get(path); got.Status != http.StatusForbidden || !strings.Contains(got.Body, "store, maintenance, reorder") {
			t.Errorf("%s: %d %s", path, got.Status, got.Body)
		}
		assert.Equal(t, all.Get(path).Status, http.StatusOK, "an admin of all: %s", path)
	}
	for op, fields := range map[string][]string{
		"make_backup": nil, "set_shop": {"shop_name", "Ruth's"}, "set_timezone": {"timezone", "Asia/Tokyo"},
	} {
		if got := one.Post("/do/"+op, fields...); got.Status != http.StatusForbidden || strings.Contains(got.Body, "SQLite format") {
			t.Errorf("%s: %d", op, got.Status)
		}
	}
	code, _, errs := s.CLI("settings", "timezone", "Asia/Tokyo", "--as", "ruth")
	assert.That(t, code == 1 && strings.Contains(errs, "ruth is not an admin of store"), "exit %d: %s", code, errs)
	shop := s.Person("store", "sam", "admin", "store")
	assert.Equal(t, shop.Post("/do/set_currency", "currency", "EUR").Status, http.StatusForbidden,
		"the store's admin sets the currency of all")
	page := one.Get("/settings").Body
	if strings.Contains(page, `action="/do/set_shop"`) || !strings.Contains(page, "an admin of all services") || strings.Contains(page, `href="/backup"`) || strings.Contains(page, `href="/doctor"`) {
		t.Error("the settings offer what is refused")
	}
	for _, path := range []string{"/do", "/users", "/keys", "/webhooks", "/do/invite_user", "/do/create_key", "/do/remove_webhook", "/do/resend", "/webhooks/deliveries"} {
		body := one.Get(path).Body
		for _, foreign := range []string{"stella-of-the-store", "of-the-store", "make_backup"} {
			assert.Lacks(t, body, foreign, "%s shows", path)
		}
	}
	assert.Contains(t, one.Get("/do/invite_user").Body, "renate", "the own people")
	copies, err := filepath.Glob(s.Path + ".download-*")
	assert.That(t, err == nil && len(copies) <= 0, "copies are left: %v (%v)", copies, err)
	_, err = os.Stat(s.Path)
	assert.OK(t, err)
}

// TestKeyForAUserWithHigherRole: an admin of one service cannot make a key for a user with higher rights in another, by
// page or command. For themselves and for users of their own service they can.
func TestKeyForAUserWithHigherRole(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	s.MustCLI("user", "add", "renate", "--role", "member", "--service", "rental")
	s.MustCLI("user", "add", "ruth", "--role", "admin", "--service", "rental")
	s.MustCLI("user", "role", "ruth", "viewer", "--service", "store")
	one := s.Invited("rental", "ruth")
	for user, want := range map[string]int{"owner": http.StatusForbidden, "renate": http.StatusOK, "ruth": http.StatusOK} {
		got := one.Post("/do/create_key", "service", "rental", "user", user)
		assert.That(t, got.Status == want && strings.Contains(got.Body, "apk_") == (want == http.StatusOK),
			"a key as %s by page: %d %s", user, got.Status, got.Body)
		code, out, _ := s.CLI("key", "create", "--service", "rental", "--user", user, "--as", "ruth")
		assert.That(t, (code == 0) == (want == http.StatusOK) && strings.Contains(out, "apk_") == (code == 0),
			"a key as %s by command: exit %d %s", user, code, out)
	}
}

// TestAChangeEndsLinksAndSessions: a change of role, password or state ends earlier invitations and sessions.
func TestAChangeEndsLinksAndSessions(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	for change, act := range map[string]func(v *apptest.Visitor, name string){
		"the role": func(_ *apptest.Visitor, name string) {
			s.MustCLI("user", "role", name, "viewer", "--service", "rental")
		},
		"role none": func(_ *apptest.Visitor, name string) { s.MustCLI("user", "role", name, "none", "--service", "store") },
		"the state": func(_ *apptest.Visitor, name string) {
			s.MustCLI("user", "disable", name)
			s.MustCLI("user", "enable", name)
		},
		"the password": func(v *apptest.Visitor, _ string) {
			v.Post("/do/change_password", "current", apptest.Password, "password", "another fine password")
		},
		"removal": func(_ *apptest.Visitor, name string) { s.MustCLI("user", "remove", name, "--yes") },
	} {
		name := "user of " + change
		v := s.Person("rental", name, "admin")
		here := s.Visitor("rental")
		here.Post("/login", "name", name, "password", apptest.Password)
		assert.MustEqual(t, here.Get("/account").Status, http.StatusOK, "%s", change)
		link := strings.TrimSpace(s.MustCLI("user", "invite", name))
		path := link[strings.Index(link, "/welcome/"):]
		got := s.Visitor("rental").Get(path)
		assert.Must(t, got.Status == http.StatusOK, "%s: the link: %d", change, got.Status)
		if text := apptest.Text(got.First("main")); !regexp.MustCompile(`This link works once, until \S.*\S\.`).MatchString(text) {
			t.Errorf("words run together: %s", text)
		}
		act(v, name)
		assert.Equal(t, s.Visitor("rental").Post(path, "password", "the password of a thief").Status, http.StatusGone,
			"%s: the link opens after it", change)
		if got := here.Get("/account"); got.Status == http.StatusOK {
			t.Errorf("%s: the session goes on after it", change)
		}
	}
}
