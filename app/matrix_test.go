package app_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// caller is one kind of caller of a service.
type caller struct {
	name   string
	header string // the Authorization header; "" sends none
	reads  bool   // the service lets it in
	writes bool
	says   string // what the refusal of a write names
}

// callersOf makes every kind of caller of the service.
func callersOf(s *apptest.Shop, service string) []caller {
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
func keyIDOf(s *apptest.Shop, user, service string) string {
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

// startFilled starts an appliance with every service's demo data. It trusts this
// machine as its proxy, so that a test may come from many addresses.
func startFilled(t testing.TB, args ...string) *apptest.Shop {
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

// from gives a client's address that no earlier call gave, so that what is slowed by
// address does not stand in the way.
type from struct{ n int }

func (f *from) next() string {
	f.n++
	return fmt.Sprintf("X-Forwarded-For: 10.%d.%d.%d", f.n>>16&255, f.n>>8&255, f.n&255)
}

// TestEveryOperationKnowsItsCallers asks for every operation there is, as every kind
// of caller, over REST.
func TestEveryOperationKnowsItsCallers(t *testing.T) {
	s := startFilled(t)
	var address from
	for _, service := range s.Server.Declared() {
		callers := callersOf(s, service.Name)
		documented := documentedRoutes(s, service.Name)
		ping := schema.Op{Route: "GET /api/ping", Ask: func(*schema.Form) schema.Do { return nil }}
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

// matrix is one operation over REST, asked as many callers.
type matrix struct {
	t       *testing.T
	s       *apptest.Shop
	service string
	op      schema.Op
	address *from
}

// refusals asks as those who are refused, with a good body and with ones that are
// refused later than the caller is, and holds the database still meanwhile.
func (m *matrix) refusals(callers []caller) {
	bodies := []string{""}
	if m.op.Method() == http.MethodPost {
		bodies = []string{sampleBody(m.op), "{", `{"nonsense":1}`}
	}
	before := still(m.t, m.s)
	refused := 0
	for _, c := range callers {
		if m.op.Open || c.reads && (c.writes || !m.op.Writes) {
			continue
		}
		refused++
		for _, body := range bodies {
			for _, method := range m.methods() {
				m.refused(c, method, body)
			}
		}
	}
	if refused == 0 && !m.op.Open {
		m.t.Error("nobody is refused")
	}
	before.check("refused requests")
}

// methods are the operation's own and, for a GET, HEAD, which is served as well.
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

// grants asks as those who are let in: whatever else may be wrong, it is not them.
func (m *matrix) grants(callers []caller) {
	body := ""
	if m.op.Method() == http.MethodPost {
		body = sampleBody(m.op)
	}
	for _, c := range callers {
		if !m.op.Open && (!c.reads || m.op.Writes && !c.writes) {
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

// samplePath is the operation's path with records that are there as far as a number
// can tell.
func samplePath(op schema.Op) string {
	parts := strings.Split(op.Path(), "/")
	for i, p := range parts {
		if strings.HasPrefix(p, ":") {
			parts[i] = "1"
		}
	}
	return strings.Join(parts, "/")
}

// sampleBody is the operation's body as its description has it.
func sampleBody(op schema.Op) string {
	body := map[string]any{}
	for _, a := range op.Args(schema.REST) {
		if a.Path == "" && a.Header == "" && a.Kind != schema.RawBody && (a.Required || a.Example != nil) {
			body[a.Name] = a.Sample()
		}
	}
	return jsonText(body)
}

// sampleArguments are the tool's arguments as its description has them.
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

// openAPIPath is the route's path as the documents write it.
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
func documentedRoutes(s *apptest.Shop, service string) map[string]bool {
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

// TestEveryToolKnowsItsCallers calls every tool there is as every kind of caller, and
// asks for the protocol's other methods.
func TestEveryToolKnowsItsCallers(t *testing.T) {
	s := startFilled(t)
	var address from
	for _, service := range s.Server.Declared() {
		if len(service.Tools()) == 0 {
			continue
		}
		for _, c := range callersOf(s, service.Name) {
			a := agent{t: t, s: s, service: service.Name, caller: c, address: &address}
			t.Run(service.Name+" "+c.name, func(t *testing.T) {
				a.t = t
				a.methods()
				a.lists(service)
				for _, op := range service.Tools() {
					a.calls(op)
				}
			})
		}
	}
}

// agent is one kind of caller at a service's agent endpoint.
type agent struct {
	t       *testing.T
	s       *apptest.Shop
	service string
	caller  caller
	address *from
}

func (a *agent) post(message string, heads ...string) apptest.Answer {
	a.t.Helper()
	heads = append(heads, a.address.next())
	if a.caller.header != "" {
		heads = append(heads, "Authorization: "+a.caller.header)
	}
	return a.s.Do(a.service, "POST", "/mcp", "", message, heads...)
}

// methods asks what is no tool: nothing of the protocol is open to strangers.
func (a *agent) methods() {
	for _, message := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nonsense"}}`,
		`{`,
	} {
		if got := a.post(message).Status; (got == 401) == a.caller.reads || got == 403 || got >= 500 {
			a.t.Errorf("%s: %d", message, got)
		}
	}
}

// lists holds what the caller sees: with a read-only key the tools that read, else all.
func (a *agent) lists(service schema.Service) {
	if !a.caller.reads {
		return
	}
	var listed struct {
		Result struct {
			Tools []struct {
				Name        string
				Annotations struct{ ReadOnlyHint bool }
			}
		}
	}
	a.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`).JSON(a.t, &listed)
	var got, want []string
	for _, tool := range listed.Result.Tools {
		got = append(got, fmt.Sprint(tool.Name, tool.Annotations.ReadOnlyHint))
	}
	for _, op := range service.Tools() {
		if !op.Writes || !strings.HasPrefix(a.caller.name, "read-only") {
			want = append(want, fmt.Sprint(op.Tool, !op.Writes))
		}
	}
	if !slices.Equal(got, want) {
		a.t.Errorf("sees %v, want %v", got, want)
	}
}

// calls calls a tool, also with arguments that would be refused if the caller were not.
func (a *agent) calls(op schema.Op) {
	before := still(a.t, a.s)
	allowed := a.caller.reads && (a.caller.writes || !op.Writes)
	for _, arguments := range []string{sampleArguments(op), `{"nonsense":1}`, `7`} {
		message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + op.Tool + `","arguments":` + arguments + `}}`
		answer := a.post(message)
		if (answer.Status == 401) == a.caller.reads {
			a.t.Errorf("%s: %d %s", message, answer.Status, answer.Body)
			continue
		}
		if !a.caller.reads {
			continue
		}
		var called struct {
			Result struct {
				IsError bool
				Content []struct{ Text string }
			}
		}
		answer.JSON(a.t, &called)
		text := answer.Body
		if len(called.Result.Content) > 0 {
			text = called.Result.Content[0].Text
		}
		if allowed {
			if strings.Contains(text, "read-only") || strings.Contains(text, "the role") || strings.Contains(text, "internal error") {
				a.t.Errorf("%s %s: %s", op.Tool, arguments, text)
			}
			continue
		}
		if !called.Result.IsError || !strings.Contains(text, op.Tool) || !strings.Contains(text, a.caller.says) {
			a.t.Errorf("%s %s: %s does not refuse naming the tool and %q", op.Tool, arguments, answer.Body, a.caller.says)
		}
	}
	if !allowed {
		before.check(op.Tool)
	}
}

// standstill is the database as it was.
type standstill struct {
	t       testing.TB
	s       *apptest.Shop
	version int64
	digest  string
}

// still notes how the database is.
func still(t testing.TB, s *apptest.Shop) standstill {
	t.Helper()
	return standstill{t: t, s: s, version: version(t, s), digest: digest(t, s)}
}

// check fails when a row is not as it was. Where nothing was committed at all, none is.
func (b standstill) check(what string) {
	b.t.Helper()
	if version(b.t, b.s) != b.version && digest(b.t, b.s) != b.digest {
		b.t.Errorf("%s changed rows", what)
	}
}

func version(t testing.TB, s *apptest.Shop) int64 {
	t.Helper()
	v, err := s.Server.DB().Version()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// digests are kept by version: reading every row costs more than a request does.
var digests = map[string]string{}

// digest is a hash over every row of every table, but for when a key was last used,
// which is written off the request's path.
func digest(t testing.TB, s *apptest.Shop) string {
	t.Helper()
	at := fmt.Sprint(s.Path, version(t, s))
	if d, ok := digests[at]; ok {
		return d
	}
	sum := sha256.New()
	err := s.Server.DB().View(context.Background(), func(c *db.Conn) error {
		tables, err := db.All(c, db.Text, "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
		if err != nil {
			return err
		}
		for _, table := range tables {
			if err := digestTable(c, sum, table); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	digests[at] = fmt.Sprintf("%x", sum.Sum(nil))
	return digests[at]
}

func digestTable(c *db.Conn, w io.Writer, table string) error {
	columns, err := db.All(c, db.Text, "SELECT name FROM pragma_table_info(?) WHERE name <> 'last_used_at'", table)
	if err != nil || len(columns) == 0 {
		return err
	}
	for i, name := range columns {
		columns[i] = `quote("` + name + `")`
	}
	fmt.Fprintln(w, table, columns)
	return db.Each(c, func(r *db.Row) error {
		_, err := fmt.Fprintln(w, r.Text())
		return err
	}, "SELECT "+strings.Join(columns, " || ',' || ")+` FROM "`+table+`"`)
}

// TestStandstillSeesEveryRow makes sure that the matrix can fail: a row that is new,
// changed or gone in any table is seen.
func TestStandstillSeesEveryRow(t *testing.T) {
	s := startFilled(t)
	for _, write := range []func(){
		func() { s.Key("reorder", "zoe", "viewer", "read") },
		func() { s.MustCLI("user", "disable", "zoe") },
	} {
		before := digest(t, s)
		write()
		if digest(t, s) == before {
			t.Error("a write left the digest as it was")
		}
	}
}
