package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"quartermaster/app/apptest"
	"quartermaster/app/server"
	"quartermaster/schema/assert"
)

// stocked imports SKUs A-1 to A-n with a stock of 10 each.
func stocked(s *apptest.Fixture, n int) {
	s.T.Helper()
	var b strings.Builder
	b.WriteString("sku,name,supplier,current_stock,unit_cost_cents\n")
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "A-%d,Article %d,Acme,10,250\n", i, i)
	}
	code, out, errs := s.Pipe(b.String(), "import", "reorder", "skus", "-")
	assert.Must(s.T, code == 0, "import: exit %d: %s%s", code, out, errs)
}

const oneSale = `{"rows":[{"date":"2026-11-19","sku":"A-1","qty":3}]}`

func TestPingAndHealthReportTheVersions(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	for service, want := range map[string][2]string{
		"store": {"4.1.0", "4.1.0"}, "maintenance": {"2.0.0", "2.0.0"}, "rental": {server.Version, "3.0.0"}, "reorder": {"3.1.6", "3.1.6"},
	} {
		a := s.Get(service, "/api/ping")
		if got, want := a.Body, fmt.Sprintf(`{"ok":true,"user":"owner","app":%q,"version":%q,"role":"admin","scope":"full"}`, service, want[0]); a.Status != 200 || got != want {
			t.Errorf("%s ping: %d %s, want %s", service, a.Status, got, want)
		}
		a = s.Do(service, "GET", "/healthz", "", "")
		got, want := a.Body, fmt.Sprintf(`{"ok":true,"app":%q,"version":%q}`, service, want[1])
		assert.That(t, a.Status == 200 && got == want, "%s health: %d %s, want %s", service, a.Status, got, want)
	}
}

// TestOrderOfRefusals sends requests with several faults at once: the first fault in the contract's order is answered.
func TestOrderOfRefusals(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	stocked(s, 1)
	viewer := s.Key("reorder", "vera", "viewer", "full")
	reader := s.Key("reorder", "rolf", "member", "read")
	full := s.Keys["reorder"]
	wrong := "apk_" + strings.Repeat("0", 40)
	big := `{"rows":[` + strings.Repeat(" ", 16<<20) + `]}`
	type c struct {
		name, method, path, key, body string
		heads                         []string
		status                        int
		code, detail                  string
	}
	for _, c := range []c{
		{"no key, unknown path", "GET", "/api/nope", "", "", nil, 401, "unauthorized", "Authorization"},
		{"wrong key, wrong method", "DELETE", "/api/skus", wrong, "", nil, 401, "unauthorized", ""},
		{"another service's key", "GET", "/api/skus", s.Keys["rental"], "", nil, 401, "unauthorized", ""},
		{"key in the query", "GET", "/api/skus?key=" + full, "", "", nil, 401, "unauthorized", ""},
		{"unknown path", "GET", "/api/nope", full, "", nil, 404, "not_found", "/api/nope"},
		{"trailing slash", "GET", "/api/skus/", full, "", nil, 404, "not_found", ""},
		{"other case", "GET", "/API/skus", full, "", nil, 404, "not_found", ""},
		{"path outside /api", "GET", "/.well-known/oauth-protected-resource", "", "", nil, 404, "not_found", ""},
		{"wrong method", "POST", "/api/skus", viewer, "{}", nil, 405, "method_not_allowed", "GET"},
		{"viewer, wrong media type", "POST", "/api/sales-history", viewer, "x", []string{"Content-Type: text/csv"}, 403, "forbidden", "viewer"},
		{"read-only key, bad body", "POST", "/api/sales-history", reader, "{", nil, 403, "forbidden", "read-only"},
		{"media type", "POST", "/api/sales-history", full, "{", []string{"Content-Type: text/plain"}, 415, "unsupported_media_type", "application/json"},
		{"charset", "POST", "/api/sales-history", full, "{}", []string{"Content-Type: application/json; charset=latin1"}, 415, "unsupported_media_type", ""},
		{"too large", "POST", "/api/sales-history", full, big, nil, 413, "payload_too_large", ""},
		{"empty", "POST", "/api/sales-history", full, " ", nil, 400, "bad_request", "empty"},
		{"not JSON", "POST", "/api/sales-history", full, `{"rows":[}`, nil, 400, "bad_request", ""},
		{"trailing data", "POST", "/api/sales-history", full, `{"rows":[]} x`, nil, 400, "bad_request", ""},
		{"duplicate names", "POST", "/api/sales-history", full, `{"rows":[],"rows":[]}`, nil, 400, "bad_request", "rows"},
		{"duplicate names inside", "POST", "/api/sales-history", full, `{"rows":[{"sku":"a","sku":"b"}]}`, nil, 400, "bad_request", "sku"},
		{"invalid UTF-8", "POST", "/api/sales-history", full, "{\"rows\":[{\"sku\":\"\xff\"}]}", nil, 400, "bad_request", ""},
		{"not an object", "POST", "/api/sales-history", full, `[]`, nil, 400, "bad_request", "an array"},
		{"too deep", "POST", "/api/sales-history", full, `{"rows":` + strings.Repeat("[", 32) + strings.Repeat("]", 32) + `}`, nil, 400, "bad_request", "32"},
		{"name in another case", "POST", "/api/sales-history", full, `{"Rows":[]}`, nil, 422, "validation", "Rows"},
		{"missing field", "POST", "/api/sales-history", full, `{}`, nil, 422, "validation", "rows"},
		{"null", "POST", "/api/sales-history", full, `{"rows":null}`, nil, 422, "validation", "rows"},
		{"wrong type", "POST", "/api/sales-history", full, `{"rows":{}}`, nil, 422, "validation", "rows"},
		{"wrong type of an optional field", "POST", "/api/sales-history", full, `{"rows":[],"replace":"yes"}`, nil, 422, "validation", "replace"},
		{"query on a POST", "POST", "/api/sales-history?replace=1", full, `{"rows":[]}`, nil, 422, "validation", "replace"},
		{"unknown query parameter", "GET", "/api/skus?supply=x", full, "", nil, 422, "validation", "supply"},
		{"twice", "GET", "/api/skus?q=a&q=b", full, "", nil, 422, "validation", "q"},
		{"out of the list", "GET", "/api/reorder-report?status=low", full, "", nil, 422, "validation", "below, near, healthy, flagged, all"},
		{"limit 0", "GET", "/api/skus?limit=0", full, "", nil, 422, "validation", "limit"},
		{"limit not a number", "GET", "/api/skus?limit=ten", full, "", nil, 422, "validation", "limit"},
		{"active not 0 or 1", "GET", "/api/skus?active=", full, "", nil, 422, "validation", "0, 1"},
		{"idempotency key too long", "POST", "/api/sales-history", full, oneSale, []string{"Idempotency-Key: " + strings.Repeat("k", 201)}, 422, "validation", "Idempotency-Key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := s.Do("reorder", c.method, c.path, c.key, c.body, c.heads...)
			m := a.Map(t)
			assert.Must(t, a.Status == c.status && m["error"] == c.code && m["detail"] != "",
				"%d %s, want %d %s", a.Status, a.Body, c.status, c.code)
			detail, _ := m["detail"].(string)
			assert.That(t, detail != "" && strings.Contains(detail, c.detail), "detail %q does not name %q", detail, c.detail)
			assert.That(t, a.Header.Get("Content-Type") == "application/json", "Content-Type %q", a.Header.Get("Content-Type"))
			got := a.Header.Get("WWW-Authenticate")
			assert.That(t, (got == "Bearer") == (c.status == 401), "WWW-Authenticate %q", got)
			got = a.Header.Get("Allow")
			assert.That(t, (got != "") == (c.status == 405), "Allow %q", got)
		})
	}
	if m := s.Get("reorder", "/api/reorder-report?status=all").Map(t); fmt.Sprint(m["skus"].([]any)[0].(map[string]any)["sold_in_window"]) != "0" {
		t.Errorf("a refused request changed the sales: %v", m)
	}
}

func TestEveryAnswerHasItsHeaders(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	for _, path := range []string{"/api/ping", "/healthz", "/api/openapi.json", "/api/nope", "/mcp"} {
		a := s.Do("reorder", "GET", path, "", "", "X-Request-Id: my.id_7-x")
		for name, want := range map[string]string{"X-Request-Id": "my.id_7-x", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"} {
			assert.Equal(t, a.Header.Get(name), want, "%s: %s", path, name)
		}
		for name := range a.Header {
			assert.That(t, !strings.HasPrefix(name, "Access-Control"), "%s: %s without --cors-origin", path, name)
		}
	}
	for _, bad := range []string{"", "a b", strings.Repeat("x", 129), "ä"} {
		a := s.Do("reorder", "GET", "/healthz", "", "", "X-Request-Id: "+bad)
		got := a.Header.Get("X-Request-Id")
		assert.That(t, got != bad && len(got) >= 8, "request id %q came back as %q", bad, got)
	}
	a := s.Do("reorder", "HEAD", "/healthz", "", "")
	assert.That(t, a.Status == 200 && a.Body == "", "HEAD: %d %q", a.Status, a.Body)
}

func TestCORSIsForTheListedOriginOnly(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, "--cors-origin", "https://shop.example")
	a := s.Do("reorder", "OPTIONS", "/api/skus", "", "", "Origin: https://shop.example", "Access-Control-Request-Method: GET")
	if a.Status != 204 || a.Header.Get("Access-Control-Allow-Origin") != "https://shop.example" || !strings.Contains(a.Header.Get("Access-Control-Allow-Headers"), "Authorization") {
		t.Errorf("preflight: %d %v", a.Status, a.Header)
	}
	if a := s.Do("reorder", "GET", "/api/ping", s.Keys["reorder"], "", "Origin: https://shop.example"); a.Header.Get("Access-Control-Allow-Origin") == "" {
		t.Error("the listed origin may not read the answer")
	}
	if a := s.Do("reorder", "GET", "/api/ping", s.Keys["reorder"], "", "Origin: https://evil.example"); a.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("another origin may read the answer")
	}
}

func TestIdempotencyKeys(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	stocked(s, 2)
	post := func(key, body, idem string) apptest.Answer {
		return s.Do("reorder", "POST", "/api/sales-history", key, body, "Idempotency-Key: "+idem)
	}
	sold := func() string {
		m := s.Get("reorder", "/api/reorder-report?status=all").Map(t)
		return fmt.Sprint(m["skus"].([]any)[0].(map[string]any)["sold_in_window"])
	}
	full := s.Keys["reorder"]
	first := post(full, oneSale, "k1")
	again := post(full, oneSale, "k1")
	if first.Status != 200 || again.Body != first.Body || again.Status != first.Status || again.Header.Get("Idempotent-Replayed") != "true" || first.Header.Get("Idempotent-Replayed") != "" {
		t.Errorf("first %d %s, again %d %s %v", first.Status, first.Body, again.Status, again.Body, again.Header)
	}
	assert.Equal(t, sold(), "3", "sold")
	a := post(full, `{"rows":[{"date":"2026-11-19","sku":"A-1","qty":4}]}`, "k1")
	assert.That(t, a.Status == 409 && a.Map(t)["error"] == "conflict", "another body: %d %s", a.Status, a.Body)
	other := s.Key("reorder", "otto", "member", "full")
	if a := post(other, oneSale, "k1"); a.Status != 200 || a.Header.Get("Idempotent-Replayed") != "" {
		t.Errorf("another API key: %d %v", a.Status, a.Header)
	}
	assert.Equal(t, post(s.Key("reorder", "rita", "viewer", "full"), oneSale, "k1").Status, 403, "a viewer")
	assert.Equal(t, post(full, `{"rows":7}`, "k2").Status, 422, "refused")
	if a := post(full, oneSale, "k2"); a.Status != 200 || a.Header.Get("Idempotent-Replayed") != "" {
		t.Errorf("a refused answer was kept: %d %v", a.Status, a.Header)
	}
	s.Clock.Set(s.Clock.Now().Add(24*time.Hour + time.Second))
	assert.Equal(t, post(full, oneSale, "k1").Header.Get("Idempotent-Replayed"), "",
		"an answer was kept longer than a day")
}

func TestRevokedAndDisabledApplyToTheNextRequest(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	key := s.Key("reorder", "max", "member", "full")
	a := s.Do("reorder", "GET", "/api/ping", key, "")
	assert.Must(t, a.Status == 200, "%v", a.Body)
	for _, step := range []struct {
		command []string
		status  int
		role    string
	}{
		{[]string{"user", "disable", "max"}, 401, ""},
		{[]string{"user", "enable", "max"}, 200, "member"},
		{[]string{"user", "role", "max", "viewer", "--service", "reorder"}, 200, "viewer"},
		{[]string{"key", "revoke", keyID(s, "max")}, 401, ""},
	} {
		s.MustCLI(step.command...)
		a := s.Do("reorder", "GET", "/api/ping", key, "")
		assert.That(t, a.Status == step.status && (step.role == "" || a.Map(t)["role"] == step.role), "after %v: %d %s",
			step.command, a.Status, a.Body)
	}
}

func keyID(s *apptest.Fixture, user string) string {
	s.T.Helper()
	var list struct {
		Keys []struct {
			ID   int64
			User string
		}
	}
	apptest.Answer{Body: s.MustCLI("key", "list", "--json")}.JSON(s.T, &list)
	for _, k := range list.Keys {
		if k.User == user {
			return fmt.Sprint(k.ID)
		}
	}
	s.T.Fatalf("no key of %s", user)
	return ""
}

func TestWrongKeysAreSlowedAndGoodOnesAreNot(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	for i := range 20 {
		service := server.Names[i%4] // one count for all listeners
		assert.MustEqual(t, s.Do(service, "GET", "/api/ping", fmt.Sprintf("apk_%040x", i), "").Status, 401, "wrong key %d", i)
	}
	for range 30 {
		assert.MustEqual(t, s.Do("rental", "GET", "/api/ping", "", "").Status, 401, "missing keys don't count")
	}
	a := s.Do("store", "GET", "/api/ping", "apk_"+strings.Repeat("f", 40), "")
	assert.That(t, a.Status == 429 && a.Map(t)["error"] == "rate_limited" && a.Header.Get("Retry-After") != "",
		"the 21st: %d %s %v", a.Status, a.Body, a.Header)
	assert.Equal(t, s.Get("store", "/api/ping").Status, 200, "a good key")
	if a := s.Do("reorder", "POST", "/mcp", "apk_"+strings.Repeat("e", 40), `{"jsonrpc":"2.0","id":1,"method":"ping"}`); a.Status != 429 {
		t.Errorf("the agent endpoint: %d", a.Status)
	}
	s.Clock.Set(s.Clock.Now().Add(time.Minute + time.Second))
	assert.Equal(t, s.Do("store", "GET", "/api/ping", "apk_"+strings.Repeat("f", 40), "").Status, 401, "a minute later")
}

// TestDocumentsAreValidAndStable checks each OpenAPI document against its specification and its golden.
func TestDocumentsAreValidAndStable(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	for _, service := range server.Names {
		a := s.Do(service, "GET", "/api/openapi.json", "", "")
		doc, err := openapi3.NewLoader().LoadFromData([]byte(a.Body))
		assert.OK(t, err, "%s", service)
		assert.NoError(t, doc.Validate(context.Background(), openapi3.EnableExamplesValidation()), "%s", service)
		assert.That(t, doc.OpenAPI == "3.0.3", "%s: OpenAPI %s", service, doc.OpenAPI)
		apptest.Golden(t, service+"/openapi.json", indented(t, a.Body))
		if service == "store" {
			continue
		}
		tools := s.Post(service, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		apptest.Golden(t, service+"/tools.json", indented(t, tools.Body))
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	addr := apptest.FreeAddr(t)
	s := apptest.Start(t, "--metrics-addr", addr)
	s.Get("reorder", "/api/ping")
	resp := assert.Value(http.Get("http://" + addr + "/metrics"))(t)
	defer resp.Body.Close()
	b := assert.Value(io.ReadAll(resp.Body))(t)
	for _, want := range []string{
		`quartermaster_http_requests_total{service="reorder",method="GET",route="/api/ping",status="200"} 1`,
		`quartermaster_http_request_seconds_bucket{service="reorder",method="GET",route="/api/ping",status="200",le="+Inf"} 1`,
		"quartermaster_database_bytes", "quartermaster_write_wait_seconds_total",
	} {
		assert.That(t, strings.Contains(string(b), want), "no %s in:\n%s", want, b)
	}
}

// TestTheLogKeepsSecrets looks in the log for what must never be written to it.
func TestTheLogKeepsSecrets(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	stocked(s, 1)
	key := s.Keys["reorder"]
	s.Post("reorder", "/api/sales-history", `{"rows":[{"date":"2026-11-19","sku":"A-1","qty":3}],"secretword":1}`)
	s.Do("reorder", "GET", "/api/skus?q=secretquery", key, "", "X-Request-Id: find-me")
	s.Do("reorder", "GET", "/api/secretpath", key, "")
	s.Tool("reorder", "adjust_stock", `{"sku":"A-1","delta":1,"reason":"secretreason"}`)
	log := s.Log.String()
	for _, secret := range []string{key, key[8:], "secretword", "secretquery", "secretpath", "secretreason"} {
		assert.Lacks(t, log, secret, "the log has")
	}
	for _, want := range []string{`"request_id":"find-me"`, `"route":"/api/skus"`, `"key":"` + key[:8] + `"`, `"status":404`, `"route":"/mcp"`} {
		assert.Contains(t, log, want, "the log lacks")
	}
}

// indented is JSON as in the goldens.
func indented(t testing.TB, body string) []byte {
	t.Helper()
	var b bytes.Buffer
	assert.OK(t, json.Indent(&b, []byte(body), "", "  "))
	b.WriteByte('\n')
	return b.Bytes()
}
