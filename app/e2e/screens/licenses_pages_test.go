package screens

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"quartermaster/app/apptest"
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
		if got := v.Get("/export"); strings.Contains(got.Body, "/export/licenses") {
			t.Errorf("the list of exports as %s names the licenses", who)
		}
	}
	if got := owner.Get("/import"); !strings.Contains(got.Body, "/import/licenses") {
		t.Errorf("the owner's list of imports: %s", got.Body)
	}

	s.Clock.Set(s.Clock.Now().Add(20 * time.Minute))
	asks := func(what string, got apptest.Sheet) {
		t.Helper()
		if !strings.Contains(got.Body, `name="password_again"`) || got.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d, %s, %s", what, got.Status, got.Header.Get("Cache-Control"), got.Body)
		}
	}
	asks("import", owner.Get("/import/licenses"))
	asks("export", owner.Get("/export/licenses"))
	asks("an upload", owner.Upload("/import/licenses", nil, "file", "sales.csv", gumroadFile))
	asks("a wrong password", owner.Post("/import/licenses", "password_again", "wrong", "then", "/import/licenses"))
	location(t, owner.Post("/import/licenses", "password_again", apptest.Password, "then", "/import/licenses"), "/import/licenses")

	sent := owner.Upload("/import/licenses", nil, "file", "sales.csv", gumroadFile)
	preview := sent.Header.Get("Location")
	if !strings.HasPrefix(preview, "/import/licenses?file=") {
		t.Fatalf("the upload: %d %s", sent.Status, sent.Body)
	}
	shown := owner.Get(preview)
	for _, text := range []string{"Which product is it?", "Echo Pro (EU)", "2 rows", `action="/do/map_provider"`, "Tape Echo (ECHO)"} {
		if !strings.Contains(shown.Body, text) {
			t.Errorf("the preview lacks %s: %s", text, shown.Body)
		}
	}
	location(t, owner.Post("/do/map_provider", "provider", "gumroad", "payment_link", "Echo Pro (EU)", "sku", "ECHO", "then", preview), preview)
	shown = owner.Get(preview)
	if strings.Contains(shown.Body, "AAAA1111") || !strings.Contains(shown.Body, "…4444") || shown.Header.Get("Cache-Control") != "no-store" || strings.Contains(shown.Body, "Which product") {
		t.Errorf("the preview: %s: %s", shown.Header.Get("Cache-Control"), shown.Body)
	}
	u, err := url.Parse(preview)
	apptest.OK(t, err)
	location(t, owner.Post("/import/licenses", "file", u.Query().Get("file"), "read", "yes"), "/import/licenses?job=1")
	if got := owner.Get(preview); got.Status != http.StatusNotFound {
		t.Errorf("the file that was written waits on: %d", got.Status)
	}
	got := owner.Get("/export/licenses")
	if !strings.HasPrefix(got.Header.Get("Content-Type"), "text/csv") || got.Header.Get("Cache-Control") != "no-store" || !strings.Contains(got.Body, "\nAAAA1111-BBBB2222-CCCC3333-DDDD4444,ECHO,") {
		t.Errorf("the export: %s", got.Body)
	}
	if page := owner.Get("/licenses/1"); !strings.Contains(page.Body, "Imported") {
		t.Errorf("the license: %s", page.Body)
	}
	if list := viewer.Get("/licenses?format=csv"); strings.Contains(list.Body, "AAAA1111") {
		t.Errorf("a viewer's list: %s", list.Body)
	}

	again := owner.Upload("/import/licenses", nil, "file", "sales.csv", gumroadFile).Header.Get("Location")
	location(t, owner.Post("/import/licenses", "leave", "yes"), "/import/licenses")
	if got := owner.Get(again); got.Status != http.StatusNotFound {
		t.Errorf("the file that was left waits on: %d", got.Status)
	}
	waits := owner.Upload("/import/licenses", nil, "file", "sales.csv", gumroadFile).Header.Get("Location")
	s.Clock.Set(s.Clock.Now().Add(31 * time.Minute))
	owner.Post("/import/licenses", "password_again", apptest.Password, "then", "/import/licenses")
	if got := owner.Get(waits); got.Status != http.StatusNotFound {
		t.Errorf("after 31 minutes the file waits on: %d", got.Status)
	}
	if logged := s.Log.String(); strings.Contains(logged, "AAAA1111") || strings.Contains(logged, "EEEE1111") {
		t.Error("the log has a key")
	}
	s.MustCLI("doctor")
}
