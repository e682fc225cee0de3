package rest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema"
	"quartermaster/schema/assert"
)

// TestOperationPermissions calls every operation as every kind of caller over REST.
func TestOperationPermissions(t *testing.T) {
	t.Parallel()
	s := apptest.StartFilled(t)
	var address apptest.From
	for _, service := range s.Server.Declared() {
		callers := apptest.CallersOf(s, service.Name)
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
	address *apptest.From
}

// refusals calls as refused callers, with a good body and with bodies that are refused later than the caller. The
// database must not change.
func (m *matrix) refusals(callers []apptest.Caller) {
	bodies := []string{""}
	if m.op.Method() == http.MethodPost {
		bodies = []string{sampleBody(m.op), "{", `{"nonsense":1}`}
	}
	before := apptest.SnapshotOf(m.t, m.s)
	refused := 0
	for _, c := range callers {
		if m.op.Public || c.Reads && (c.Writes || !m.op.Writes) {
			continue
		}
		refused++
		for _, body := range bodies {
			for _, method := range m.methods() {
				m.refused(c, method, body)
			}
		}
	}
	assert.That(m.t, refused != 0 || m.op.Public, "nobody is refused")
	before.Check("refused requests")
}

// methods are the operation's own and, for a GET, also HEAD.
func (m *matrix) methods() []string {
	if m.op.Method() == http.MethodGet {
		return []string{http.MethodGet, http.MethodHead}
	}
	return []string{m.op.Method()}
}

func (m *matrix) refused(c apptest.Caller, method, body string) {
	m.t.Helper()
	a := m.ask(c, method, body)
	want, code := 401, "unauthorized"
	if c.Reads {
		want, code = 403, "forbidden"
	}
	if a.Status != want {
		m.t.Errorf("%s, %s %s: %d %s, want %d", c.Name, method, body, a.Status, a.Body, want)
		return
	}
	got := a.Header.Get("WWW-Authenticate")
	assert.That(m.t, (got == "Bearer") == (want == 401), "%s: WWW-Authenticate %q with %d", c.Name, got, want)
	if method == http.MethodHead {
		return
	}
	var refusal struct{ Error, Detail string }
	a.JSON(m.t, &refusal)
	assert.That(m.t, refusal.Error == code && refusal.Detail != "" && strings.Contains(refusal.Detail, c.Says),
		"%s: %s does not say %s and name %q", c.Name, a.Body, code, c.Says)
}

// grants calls as permitted callers: another refusal is possible, but not theirs.
func (m *matrix) grants(callers []apptest.Caller) {
	body := ""
	if m.op.Method() == http.MethodPost {
		body = sampleBody(m.op)
	}
	for _, c := range callers {
		if !m.op.Public && (!c.Reads || m.op.Writes && !c.Writes) {
			continue
		}
		for _, method := range m.methods() {
			a := m.ask(c, method, body)
			assert.That(m.t, a.Status != 401 && a.Status != 403 && a.Status != 405 && a.Status != 429 && a.Status < 500,
				"%s, %s: %d %s", c.Name, method, a.Status, a.Body)
		}
	}
}

func (m *matrix) ask(c apptest.Caller, method, body string) apptest.Answer {
	m.t.Helper()
	heads := []string{m.address.Next()}
	if c.Header != "" {
		heads = append(heads, "Authorization: "+c.Header)
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
	return apptest.JSONText(body)
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
