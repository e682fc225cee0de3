package screens

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

const gumroadFile = "Purchase ID,Item Name,Purchase Email,Purchase Date,License Key,License Key Enabled?\n" +
	"g1,Echo Pro (EU),ann@example.com,2025-05-03,AAAA1111-BBBB2222-CCCC3333-DDDD4444,1\n" +
	"g2,Echo Pro (EU),bo@example.com,2025-05-04,EEEE1111-BBBB2222-CCCC3333-DDDD4444,0\n"

// TestLicenseKeysImportOnThePages: an owner imports keys on the pages: the file, what "Echo Pro (EU)" is here, Write.
// Others may not. The password is asked again. No page that can be cached has a whole key, and the file is deleted.
func TestLicenseKeysImportOnThePages(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	s.MustCLI("store", "product", "save", "ECHO", "--name", "Tape Echo")
	owner, member, viewer := s.Person("store", "olga", "admin"), s.Person("store", "mo", "member"), s.Person("store", "vic", "viewer")
	for who, v := range map[string]*apptest.Visitor{"member": member, "viewer": viewer} {
		for _, path := range []string{"/import/licenses", "/export/licenses"} {
			if got := v.Get(path); got.Status != http.StatusForbidden || !strings.Contains(got.Body, "Not allowed") {
				t.Errorf("%s as %s: %d %q", path, who, got.Status, got.Body)
			}
		}
		assert.Lacks(t, v.Get("/export").Body, "/export/licenses", "the list of exports as %s names the licenses", who)
	}
	assert.Contains(t, owner.Get("/import").Body, "/import/licenses", "the owner's list of imports")

	s.Clock.Set(s.Clock.Now().Add(20 * time.Minute))
	asks := func(what string, got apptest.Sheet) {
		t.Helper()
		assert.That(t, strings.Contains(got.Body, `name="password_again"`) && got.Header.Get("Cache-Control") == "no-store",
			"%s: %d, %s, %s", what, got.Status, got.Header.Get("Cache-Control"), got.Body)
	}
	asks("import", owner.Get("/import/licenses"))
	asks("export", owner.Get("/export/licenses"))
	asks("an upload", owner.Upload("/import/licenses", nil, "file", "sales.csv", gumroadFile))
	asks("a wrong password", owner.Post("/import/licenses", "password_again", "wrong", "then", "/import/licenses"))
	location(t, owner.Post("/import/licenses", "password_again", apptest.Password, "then", "/import/licenses"), "/import/licenses")

	sent := owner.Upload("/import/licenses", nil, "file", "sales.csv", gumroadFile)
	preview := sent.Header.Get("Location")
	assert.Must(t, strings.HasPrefix(preview, "/import/licenses?file="), "the upload: %d %s", sent.Status, sent.Body)
	shown := owner.Get(preview)
	for _, text := range []string{"Which product is it?", "Echo Pro (EU)", "2 rows", `action="/do/map_provider"`, "Tape Echo (ECHO)"} {
		assert.Contains(t, shown.Body, text, "the preview lacks")
	}
	location(t, owner.Post("/do/map_provider", "provider", "gumroad", "payment_link", "Echo Pro (EU)", "sku", "ECHO", "then", preview), preview)
	shown = owner.Get(preview)
	if strings.Contains(shown.Body, "AAAA1111") || !strings.Contains(shown.Body, "…4444") || shown.Header.Get("Cache-Control") != "no-store" || strings.Contains(shown.Body, "Which product") {
		t.Errorf("the preview: %s: %s", shown.Header.Get("Cache-Control"), shown.Body)
	}
	u := assert.Value(url.Parse(preview))(t)
	location(t, owner.Post("/import/licenses", "file", u.Query().Get("file"), "read", "yes"), "/import/licenses?job=1")
	assert.Equal(t, owner.Get(preview).Status, http.StatusNotFound, "the file that was written waits on")
	got := owner.Get("/export/licenses")
	if !strings.HasPrefix(got.Header.Get("Content-Type"), "text/csv") || got.Header.Get("Cache-Control") != "no-store" || !strings.Contains(got.Body, "\nAAAA1111-BBBB2222-CCCC3333-DDDD4444,ECHO,") {
		t.Errorf("the export: %s", got.Body)
	}
	assert.Contains(t, owner.Get("/licenses/1").Body, "Imported", "the license")
	assert.Lacks(t, viewer.Get("/licenses?format=csv").Body, "AAAA1111", "a viewer's list")

	again := owner.Upload("/import/licenses", nil, "file", "sales.csv", gumroadFile).Header.Get("Location")
	location(t, owner.Post("/import/licenses", "leave", "yes"), "/import/licenses")
	assert.Equal(t, owner.Get(again).Status, http.StatusNotFound, "the file that was left waits on")
	waits := owner.Upload("/import/licenses", nil, "file", "sales.csv", gumroadFile).Header.Get("Location")
	s.Clock.Set(s.Clock.Now().Add(31 * time.Minute))
	owner.Post("/import/licenses", "password_again", apptest.Password, "then", "/import/licenses")
	assert.Equal(t, owner.Get(waits).Status, http.StatusNotFound, "after 31 minutes the file waits on")
	logged := s.Log.String()
	assert.That(t, !strings.Contains(logged, "AAAA1111") && !strings.Contains(logged, "EEEE1111"), "the log has a key")
	s.MustCLI("doctor")
}
