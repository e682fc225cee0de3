package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema"
	"quartermaster/schema/exact"
)

// caller is one kind of caller of a service.
type caller struct {
	name   string
	header string // the Authorization header; "" sends none
	reads  bool   // may read the service
	writes bool
	says   string // what the refusal of a write says
}

// callersOf makes every kind of caller of the service.
func callersOf(s *apptest.Fixture, service string) []caller {
	s.T.Helper()
	other := "store"
	if service == other {
		other = "rental"
	}
	bearer := func(user, role, scope string) string { return "Bearer " + s.Key(service, user, role, scope) }
	revoked, disabled := s.Key(service, "rick", "admin", "full"), s.Key(service, "dora-"+service, "admin", "full")
	s.MustCLI("key", "revoke", keyIDOf(s, "rick", service))
	s.MustCLI("user", "disable", "dora-"+service)
	good := s.Keys[service]
	return []caller{
		{name: "none"},
		{name: "no scheme", header: good},
		{name: "another scheme", header: "Basic " + good},
		{name: "no key", header: "Bearer "},
		{name: "a short key", header: "Bearer " + good[:len(good)-1]},
		{name: "a long key", header: "Bearer " + good + "0"},
		{name: "a key in capitals", header: "Bearer " + strings.ToUpper(good)},
		{name: "two keys", header: "Bearer " + good + ", Bearer " + good},
		{name: "unknown", header: "Bearer apk_" + strings.Repeat("0", 40)},
		{name: "revoked", header: "Bearer " + revoked},
		{name: "another service's key", header: "Bearer " + s.Keys[other]},
		{name: "disabled owner", header: "Bearer " + disabled},
		{name: "viewer", header: bearer("vera", "viewer", "full"), reads: true, says: "role viewer"},
		{name: "read-only viewer", header: bearer("vera", "viewer", "read"), reads: true, says: "read-only"},
		{name: "read-only member", header: bearer("mia", "member", "read"), reads: true, says: "read-only"},
		{name: "read-only admin", header: bearer("anna", "admin", "read"), reads: true, says: "read-only"},
		{name: "member", header: bearer("mia", "member", "full"), reads: true, writes: true},
		{name: "admin", header: bearer("anna", "admin", "full"), reads: true, writes: true},
		{name: "admin, scheme in capitals", header: "BEARER  " + good, reads: true, writes: true},
	}
}

// keyIDOf is the id of the user's only key of the service.
func keyIDOf(s *apptest.Fixture, user, service string) string {
	s.T.Helper()
	var list struct {
		Keys []struct {
			ID            int64
			User, Service string
		}
	}
	apptest.Answer{Body: s.MustCLI("key", "list", "--json")}.JSON(s.T, &list)
	for _, k := range list.Keys {
		if k.User == user && k.Service == service {
			return fmt.Sprint(k.ID)
		}
	}
	s.T.Fatalf("no key of %s for %s", user, service)
	return ""
}

// startFilled starts an appliance with every service's demo data. It trusts this machine as its proxy, so that a test
// may use many client addresses.
func startFilled(t testing.TB, args ...string) *apptest.Fixture {
	t.Helper()
	s := apptest.Start(t, append([]string{"--trusted-proxy", "127.0.0.0/8"}, args...)...)
	today := exact.DayOf(s.Clock.Now())
	for _, service := range s.Server.Declared() {
		if service.Demo == nil {
			continue
		}
		if err := service.Demo(context.Background(), today); err != nil {
			t.Fatalf("%s: %v", service.Name, err)
		}
	}
	return s
}

// from returns a new client address, so that rate limits by address do not interfere.
type from struct{ n int }

func (f *from) next() string {
	f.n++
	return fmt.Sprintf("X-Forwarded-For: 10.%d.%d.%d", f.n>>16&255, f.n>>8&255, f.n&255)
}

// TestOperationPermissions calls every operation as every kind of caller over REST.
func TestOperationPermissions(t *testing.T) {
	t.Parallel()
	s := startFilled(t)
	var address from
	for _, service := range s.Server.Declared() {
		callers := callersOf(s, service.Name)
		documented := documentedRoutes(s, service.Name)
		ping := schema.Op{Route: "GET /api/ping", Bind: func(*schema.Form) schema.Handler { return nil }}
		for _, op := range append(slices.Clone(service.Ops), ping) {
			if op.Route == "" {
				continue
			}
			delete(documented, op.Method()+" "+openAPIPath(op))
			t.Run(service.Name+" "+op.Route, func(t *testing.T) {
				asked := &matrix{t: t, s: s, service: service.Name, op: op, address: &address}
				asked.refusals(callers)
				asked.grants(callers)
			})
		}
		for _, open := range []string{"GET /healthz", "GET /api/openapi.json", "POST /mcp", "GET /mcp"} {
			delete(documented, open)
		}
		if len(documented) > 0 {
			t.Errorf("%s: no caller was tried on %v", service.Name, slices.Collect(maps.Keys(documented)))
		}
	}
}

// matrix calls one operation over REST as many callers.
type matrix struct {
	t       *testing.T
	s       *apptest.Fixture
	service string
	op      schema.Op
	address *from
}

// refusals calls as refused callers, with a good body and with bodies that are refused later than the caller. The
// database must not change.
func (m *matrix) refusals(callers []caller) {
	bodies := []string{""}
	if m.op.Method() == http.MethodPost {
		bodies = []string{sampleBody(m.op), "{", `{"nonsense":1}`}
	}
	before := snapshotOf(m.t, m.s)
	refused := 0
	for _, c := range callers {
		if m.op.Public || c.reads && (c.writes || !m.op.Writes) {
			continue
		}
		refused++
		for _, body := range bodies {
			for _, method := range m.methods() {
				m.refused(c, method, body)
			}
		}
	}
	if refused == 0 && !m.op.Public {
		m.t.Error("nobody is refused")
	}
	before.check("refused requests")
}

// methods are the operation's own and, for a GET, also HEAD.
func (m *matrix) methods() []string {
	if m.op.Method() == http.MethodGet {
		return []string{http.MethodGet, http.MethodHead}
	}
	return []string{m.op.Method()}
}

func (m *matrix) refused(c caller, method, body string) {
	m.t.Helper()
	a := m.ask(c, method, body)
	want, code := 401, "unauthorized"
	if c.reads {
		want, code = 403, "forbidden"
	}
	if a.Status != want {
		m.t.Errorf("%s, %s %s: %d %s, want %d", c.name, method, body, a.Status, a.Body, want)
		return
	}
	if got := a.Header.Get("WWW-Authenticate"); (got == "Bearer") != (want == 401) {
		m.t.Errorf("%s: WWW-Authenticate %q with %d", c.name, got, want)
	}
	if method == http.MethodHead {
		return
	}
	var refusal struct{ Error, Detail string }
	a.JSON(m.t, &refusal)
	if refusal.Error != code || refusal.Detail == "" || !strings.Contains(refusal.Detail, c.says) {
		m.t.Errorf("%s: %s does not say %s and name %q", c.name, a.Body, code, c.says)
	}
}

// grants calls as permitted callers: another refusal is possible, but not theirs.
func (m *matrix) grants(callers []caller) {
	body := ""
	if m.op.Method() == http.MethodPost {
		body = sampleBody(m.op)
	}
	for _, c := range callers {
		if !m.op.Public && (!c.reads || m.op.Writes && !c.writes) {
			continue
		}
		for _, method := range m.methods() {
			a := m.ask(c, method, body)
			if a.Status == 401 || a.Status == 403 || a.Status == 405 || a.Status == 429 || a.Status >= 500 {
				m.t.Errorf("%s, %s: %d %s", c.name, method, a.Status, a.Body)
			}
		}
	}
}

func (m *matrix) ask(c caller, method, body string) apptest.Answer {
	m.t.Helper()
	heads := []string{m.address.next()}
	if c.header != "" {
		heads = append(heads, "Authorization: "+c.header)
	}
	return m.s.Do(m.service, method, samplePath(m.op), "", body, heads...)
}

// samplePath is the operation's path with ids that exist, as far as a number can tell.
func samplePath(op schema.Op) string {
	parts := strings.Split(op.Path(), "/")
	for i, p := range parts {
		if strings.HasPrefix(p, ":") {
			parts[i] = "1"
			for _, a := range op.Args(schema.REST) {
				if a.Name == p[1:] && a.Name == "year" {
					parts[i] = fmt.Sprint(a.Sample())
				}
			}
		}
	}
	return strings.Join(parts, "/")
}

// sampleBody is a body made from the operation's description.
func sampleBody(op schema.Op) string {
	body := map[string]any{}
	for _, a := range op.Args(schema.REST) {
		if a.Path == "" && a.Header == "" && a.Kind != schema.RawBody && (a.Required || a.Example != nil) {
			body[a.Name] = a.Sample()
		}
	}
	return jsonText(body)
}

// sampleArguments are made from the tool's description.
func sampleArguments(op schema.Op) string {
	args := map[string]any{}
	for _, a := range op.Args(schema.Tool) {
		if a.Header == "" && (a.Required || a.Example != nil) {
			args[a.Name] = a.Sample()
		}
	}
	return jsonText(args)
}

func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// openAPIPath is the route's path as in the documents.
func openAPIPath(op schema.Op) string {
	parts := strings.Split(op.Path(), "/")
	for i, p := range parts {
		if strings.HasPrefix(p, ":") {
			parts[i] = "{" + p[1:] + "}"
		}
	}
	return strings.Join(parts, "/")
}

// documentedRoutes are the routes of the service's OpenAPI document.
func documentedRoutes(s *apptest.Fixture, service string) map[string]bool {
	s.T.Helper()
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	s.Do(service, "GET", "/api/openapi.json", "", "").JSON(s.T, &doc)
	routes := map[string]bool{}
	for path, item := range doc.Paths {
		for method := range item {
			routes[strings.ToUpper(method)+" "+path] = true
		}
	}
	return routes
}
