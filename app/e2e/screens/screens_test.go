package screens

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// status fails unless the answer has the status and contains the texts.
func status(t *testing.T, got apptest.Sheet, want int, holds ...string) apptest.Sheet {
	t.Helper()
	assert.Must(t, got.Status == want, "status %d, want %d: %.300s", got.Status, want, got.Body)
	for _, text := range holds {
		assert.Must(t, strings.Contains(got.Body, text), "%q is not in %.2000s", text, got.Body)
	}
	return got
}

func location(t *testing.T, got apptest.Sheet, want string) {
	t.Helper()
	assert.Must(t, got.Status == http.StatusSeeOther && got.Header.Get("Location") == want,
		"it leads %d to %q, want 303 to %q: %.300s", got.Status, got.Header.Get("Location"), want, got.Body)
}

// TestSignIn signs in and out, and requests pages without a session.
func TestSignIn(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	alice := s.Person("reorder", "alice", "admin")
	nobody := s.Visitor("reorder")

	location(t, nobody.Get("/skus?q=tea"), "/login?next=%2Fskus%3Fq%3Dtea")
	location(t, nobody.Get("/purchase-orders/nix"), "/login?next=%2Fpurchase-orders%2Fnix")
	status(t, nobody.Get("/nix"), http.StatusNotFound)
	status(t, nobody.Post("/skus"), http.StatusMethodNotAllowed)
	status(t, nobody.Post("/do/reorder_report"), http.StatusMethodNotAllowed)
	status(t, nobody.Post("/do/save_sku", "sku", "A-1"), http.StatusUnauthorized, "Sign in", "/do/save_sku?sku=A-1")
	plain := s.Visitor("reorder")
	plain.Head = map[string]string{"Accept": "*/*"}
	status(t, plain.Get("/skus"), http.StatusUnauthorized, `"error":"unauthorized"`)

	first := status(t, nobody.Post("/login", "name", "alice", "password", "wrong"), http.StatusUnauthorized, `role="alert"`)
	second := status(t, nobody.Post("/login", "name", "nobody at all", "password", "wrong"), http.StatusUnauthorized)
	assert.That(t, strings.ReplaceAll(first.Body, "alice", "") == strings.ReplaceAll(second.Body, "nobody at all", ""),
		"a wrong password and an unknown name are told apart")
	location(t, nobody.Post("/login", "name", "alice", "password", apptest.Password, "next", "/skus?q=tea"), "/skus?q=tea")
	location(t, nobody.Get("/login"), "/")
	status(t, nobody.Get("/skus"), http.StatusOK)
	status(t, nobody.At(s.URL("store", "")).Get("/account"), http.StatusOK, "alice, admin")
	location(t, nobody.Post("/logout"), "/login")
	location(t, nobody.Get("/skus"), "/login?next=%2Fskus")
	status(t, alice.Get("/skus"), http.StatusOK)
}

// TestSignInRedirect tries to redirect a sign-in to another site.
func TestSignInRedirect(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	s.Person("store", "alice", "admin")
	for _, next := range []string{
		"https://evil.example/", "//evil.example/", `/\evil.example/`, `\\evil.example`, "/\t/evil.example", "javascript:alert(1)", "data:text/html,x",
		"/logout", "/login", "/login?next=/", "/welcome/x", "/do", "/do/", "http:evil.example", "///evil.example", "/%2f/evil.example", "/api/ping", "/portal", "/my",
		"evil.example", "", " ", "/\x00", "/static/x/style.css", "/healthz", "https:/evil.example", "//", "/..//evil.example", "/account\r\nX: y", "@evil.example",
		"/nix", "?next=/", "#x", "/./evil", "ftp://evil.example", "HTTPS://EVIL.EXAMPLE", "//evil.example@/", "/:@evil.example", "/account/../../x", strings.Repeat("/a", 4000),
	} {
		v := s.Visitor("store")
		got := v.Post("/login", "name", "alice", "password", apptest.Password, "next", next)
		to := got.Header.Get("Location")
		assert.That(t, got.Status == http.StatusSeeOther && (to == "/" || to == "/do"), "next=%q leads %d to %q", next,
			got.Status, to)
	}
}

// TestForgedForms sends forms as another site's page would make a browser send them.
func TestForgedForms(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("maintenance", "alice", "admin")
	for name, head := range map[string]map[string]string{
		"another site":              {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
		"another port of this host": {"Origin": s.URL("store", "")},
		"says nothing":              {"Origin": ""},
		"null":                      {"Origin": "null"},
		"a proxy changed Host":      {"Origin": "https://shop.example"},
	} {
		forged := *v
		forged.Head = head
		got := forged.Post("/do/set_preferences", "theme", "dark")
		assert.That(t, got.Status == http.StatusForbidden && strings.Contains(got.Body, "--maintenance-url") &&
			strings.Contains(got.Body, "Origin: "), "%s: %d %.300s", name, got.Status, got.Body)
	}
	status(t, v.Post("/do/set_preferences", "theme", "dark"), http.StatusSeeOther)
	fetched := *v
	fetched.Head = map[string]string{"Origin": "", "Sec-Fetch-Site": "same-origin"}
	status(t, fetched.Post("/do/set_preferences", "theme", "light"), http.StatusSeeOther)
}

// TestFormOnce sends a form again: it is done once and leads to the same page.
func TestFormOnce(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("reorder", "alice", "member")
	fields := []string{"sku", "TEA-1", "name", "Tea", "idempotency_key", "k-1", "then", "/skus"}
	location(t, v.Post("/do/save_sku", fields...), "/skus")
	got := status(t, v.Get("/skus"), http.StatusOK, `role="status"`)
	assert.Lacks(t, v.Get("/skus").Body, `role="status"`, "the message stands twice: %s", got.Body)
	before := rowsOf(t, s.Server.DB())
	location(t, v.Post("/do/save_sku", fields...), "/skus")
	after := rowsOf(t, s.Server.DB())
	assert.That(t, after == before, "the second time wrote %d rows", after-before)
	fields[3] = "Another tea"
	status(t, v.Post("/do/save_sku", fields...), http.StatusConflict)
}

// TestNamesAreNoMarkup reads stored names that look like markup on the pages that show them.
func TestNamesAreNoMarkup(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	const name = `<script>alert(1)</script>`
	for _, f := range [][3]string{
		{"reorder", "skus", "sku,name,supplier\nA-1," + name + "," + name + "\n"},
		{"store", "products", "sku,name\nX-1," + name + "\n"},
		{"maintenance", "assets", "asset_tag,name,location\nL-1," + name + "," + name + "\n"},
		{"maintenance", "work-orders", "asset_tag,description,assigned_to\nL-1," + name + "," + name + "\n"},
		{"maintenance", "parts", "part_number,name\nP-1," + name + "\n"},
		{"rental", "properties", "name\n" + name + "\n"},
		{"rental", "units", "property,name\n" + name + "," + name + "\n"},
		{"rental", "tenants", "name\n" + name + "\n"},
		{"rental", "leases", "property,unit,start_date,tenant,rent_cents\n" + name + "," + name + ",2026-10-01," + name + ",90000\n"},
	} {
		if code, out, errs := s.Pipe(f[2], "import", f[0], f[1], "-"); code != 0 {
			t.Fatalf("%s: %s%s", f[1], out, errs)
		}
	}
	for service, paths := range map[string][]string{
		"store":       {"/", "/products", "/products/X-1"},
		"reorder":     {"/", "/skus", "/skus/A-1", "/suppliers"},
		"maintenance": {"/", "/work-orders", "/work-orders/1", "/assets", "/assets/1", "/parts", "/parts/1"},
		"rental":      {"/", "/arrears", "/leases", "/leases/1", "/properties", "/properties/1", "/tenants", "/tenants/1"},
	} {
		v := s.Person(service, "ann-"+service, "admin")
		for _, path := range paths {
			got := status(t, v.Get(path), http.StatusOK)
			assert.Lacks(t, got.Body, name, "%s%s shows a name as markup", service, path)
			assert.That(t, path == "/" || strings.Contains(got.Body, "&lt;script&gt;alert(1)"), "%s%s does not show the name",
				service, path)
		}
	}
}

// TestRefusedForm: a refused form returns with all that was typed.
func TestRefusedForm(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("reorder", "alice", "member")
	const hostile = `<script>alert("x")</script>'"&`
	got := status(t, v.Post("/do/save_sku", "sku", "TEA-1", "name", hostile, "unit_cost", "1.2.3.4", "lead_time_days", "soon"), http.StatusUnprocessableEntity, `role="alert"`)
	assert.Lacks(t, got.Body, "<script>alert", "what was typed is markup")
	assert.That(t, got.Field("name") == hostile, "what was typed came back as %q", got.Field("name"))
	marked := 0
	got.Each(func(n *html.Node) {
		if apptest.Attr(n, "aria-invalid") == "true" {
			marked++
			if apptest.Attr(n, "aria-describedby") == "" {
				t.Errorf("the field %s does not say why", apptest.Attr(n, "name"))
			}
		}
	})
	assert.That(t, marked == 2, "%d fields are marked, want 2: %s", marked, got.Body)
}

// TestConcurrentEdits: two people change one record, and the second sees the first's change.
func TestConcurrentEdits(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	alice, bob := s.Person("reorder", "alice", "member"), s.Person("reorder", "bob", "member")
	status(t, alice.Post("/do/save_sku", "sku", "TEA-1", "name", "Tea"), http.StatusSeeOther)
	seen := func(v *apptest.Visitor) string {
		got := status(t, v.Get("/do/save_sku?sku=TEA-1"), http.StatusOK)
		assert.Must(t, got.Field("name") == "Tea", "the form is not filled: %s", got.Body)
		return got.Field("seen")
	}
	of, ofBob := seen(alice), seen(bob)
	status(t, alice.Post("/do/save_sku", "sku", "TEA-1", "name", "Green tea", "seen", of), http.StatusSeeOther)
	got := status(t, bob.Post("/do/save_sku", "sku", "TEA-1", "name", "Black tea", "seen", ofBob), http.StatusConflict, "Green tea", "Black tea")
	status(t, bob.Post("/do/save_sku", "sku", "TEA-1", "name", "Black tea", "seen", got.Field("seen")), http.StatusSeeOther)
}

// TestAskFirst: a destructive action asks a question and writes nothing before.
func TestAskFirst(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("store", "alice", "admin")
	s.Person("store", "bob", "member")
	before := rowsOf(t, s.Server.DB())
	got := status(t, v.Post("/do/remove_user", "name", "bob"), http.StatusOK, `name="confirm" value="yes"`)
	after := rowsOf(t, s.Server.DB())
	assert.Must(t, after == before, "the question wrote %d rows", after-before)
	status(t, v.Get("/do/remove_user?name=bob"), http.StatusOK, `name="confirm" value="yes"`)
	status(t, v.Post("/do/remove_user", "name", "bob", "confirm", "yes", "asked", got.Field("asked")), http.StatusSeeOther)
	status(t, v.Post("/do/remove_user", "name", "bob", "confirm", "yes"), http.StatusNotFound)
}

// TestShownOnce makes a key. Only its answer shows it, and the password is asked for if it was typed long ago.
func TestShownOnce(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("store", "alice", "admin")
	fields := []string{"service", "store", "user", "alice", "scope", "read", "idempotency_key", "k"}
	got := status(t, v.Post("/do/create_key", fields...), http.StatusOK, "apk_")
	assert.That(t, got.Header.Get("Cache-Control") == "no-store" && got.Header.Get("Content-Encoding") == "",
		"a page with a secret: %v", got.Header)
	status(t, v.Post("/do/create_key", fields...), http.StatusConflict)
	if keys := v.Get("/keys"); strings.Count(keys.Body, "apk_") < 1 || strings.Contains(keys.Body, got.Body[strings.Index(got.Body, "apk_"):][:44]) {
		t.Error("the list of keys shows no beginning, or the whole key")
	}
	s.Clock.Set(s.Clock.Now().Add(16 * time.Minute))
	fields[7] = "k2"
	asked := status(t, v.Post("/do/create_key", fields...), http.StatusUnauthorized, "Your password, again")
	assert.Lacks(t, asked.Body, "apk_0", "a key was made before the password was asked for")
	status(t, v.Post("/do/create_key", append(fields, "password_again", "wrong")...), http.StatusUnprocessableEntity)
	status(t, v.Post("/do/create_key", append(fields, "password_again", apptest.Password)...), http.StatusOK, "apk_")
}

// TestRoles holds each role to its permissions.
func TestRoles(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	viewer := s.Person("rental", "vera", "viewer", "rental")
	status(t, viewer.Get("/"), http.StatusOK)
	status(t, viewer.Get("/do/save_property"), http.StatusForbidden, "viewer", "member")
	status(t, viewer.Post("/do/save_property", "name", "x"), http.StatusForbidden, "viewer")
	status(t, viewer.Get("/users"), http.StatusForbidden, "admin")
	status(t, viewer.Get("/audit"), http.StatusOK)
	status(t, viewer.Get("/import/units"), http.StatusForbidden)
	elsewhere := viewer.At(s.URL("store", ""))
	status(t, elsewhere.Get("/"), http.StatusForbidden, "store")
	status(t, elsewhere.Get("/nix"), http.StatusNotFound)
	status(t, viewer.Post("/do/set_preferences", "theme", "dark"), http.StatusSeeOther)
	status(t, viewer.Get("/account"), http.StatusOK, `class="dark"`)
	s.MustCLI("user", "disable", "vera")
	location(t, viewer.Get("/"), "/login?next=%2F")
}

// TestTwoInstallations: two installations on one host do not sign each other out, although cookies ignore ports.
func TestTwoInstallations(t *testing.T) {
	t.Parallel()
	one, two := apptest.Start(t), apptest.Start(t)
	v := one.Person("store", "alice", "admin")
	w := two.Person("store", "alice", "admin")
	w.Client.Jar = v.Client.Jar
	location(t, w.Post("/login", "name", "alice", "password", apptest.Password), "/")
	status(t, v.Get("/account"), http.StatusOK)
	status(t, w.Get("/account"), http.StatusOK)
}

// TestHeaders checks the headers of every page.
func TestHeaders(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("store", "alice", "admin")
	for _, path := range []string{"/", "/nix", "/login", "/users", "/do/create_key"} {
		h := v.Get(path).Header
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; manifest-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
			"X-Content-Type-Options":  "nosniff", "Referrer-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
		} {
			assert.That(t, h.Get(name) == want, "%s: %s: %q", path, name, h.Get(name))
		}
		assert.That(t, h.Get("X-Request-Id") != "" && h.Get("Strict-Transport-Security") == "", "%s: %v", path, h)
	}
}
