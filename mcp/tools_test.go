package mcp_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"quartermaster/mcp"
	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

const listTools = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`

func (s *server) list(t *testing.T, key string) (names []string, entries map[string]json.RawMessage) {
	t.Helper()
	r := s.post(t, listTools, map[string]string{"Authorization": "Bearer " + key}).reply(t)
	var got struct{ Tools []json.RawMessage }
	assert.OK(t, json.Unmarshal(r.Result, &got))
	entries = map[string]json.RawMessage{}
	for _, raw := range got.Tools {
		var one struct{ Name string }
		assert.OK(t, json.Unmarshal(raw, &one))
		names = append(names, one.Name)
		entries[one.Name] = raw
	}
	return names, entries
}

func TestListByScope(t *testing.T) {
	s := start(t)
	all := []string{"list_notes", "write_note", "ingest_rows", "tell_day", "fail"}
	for key, want := range map[string][]string{"full": all, "viewer": all, "read": {"list_notes", "tell_day", "fail"}} {
		if got, _ := s.list(t, key); !slices.Equal(got, want) {
			t.Errorf("%s sees %v, want %v", key, got, want)
		}
		var got struct {
			Result struct {
				Tools      []struct{ Name string }
				CacheScope string
				TTLMs      *int
			}
		}
		h := with(headers("tools/list", ""), "Authorization", "Bearer "+key)
		assert.OK(t, json.Unmarshal([]byte(s.post(t, stateless("tools/list", ""), h).body), &got))
		assert.That(t, len(got.Result.Tools) == len(want) && got.Result.CacheScope == "private" && got.Result.TTLMs != nil,
			"stateless, %s: %+v", key, got)
	}
	a, b := s.post(t, listTools, nil), s.post(t, listTools, nil)
	assert.That(t, a.body == b.body, "two lists differ")
}

// TestListedTools compares the complete entries, as clients get them.
func TestListedTools(t *testing.T) {
	s := start(t)
	_, entries := s.list(t, "full")
	for name, want := range map[string]string{
		"write_note": `{"name":"write_note","title":"Write note","description":"Writes a note.",
			"inputSchema":{"type":"object","properties":{
				"text":{"description":"what to note","maxLength":200,"minLength":1,"type":"string"},
				"colour":{"default":"red","description":"its colour","enum":["red","green"],"type":"string"},
				"on":{"description":"the day that it is about","format":"date","type":"string"},
				"times":{"description":"how many times","maximum":9,"minimum":1,"type":"integer"},
				"weight":{"description":"how heavy","type":"number"},
				"loud":{"description":"whether it shouts","type":"boolean"},
				"request_key":{"description":"the same key within 24 hours does nothing twice","maxLength":200,"type":"string"}},
				"required":["text"],"additionalProperties":false},
			"outputSchema":{"additionalProperties":true,"description":"and what list_notes tells of it","properties":{"id":{"type":"integer"}},"required":["id"],"type":"object"},
			"annotations":{"readOnlyHint":false,"destructiveHint":false,"idempotentHint":false,"openWorldHint":false}}`,
		"ingest_rows": `{"name":"ingest_rows","title":"Ingest rows","description":"Takes rows.",
			"inputSchema":{"type":"object","properties":{
				"rows":{"description":"the rows","items":{"additionalProperties":false,"properties":{					"date":{"format":"date","type":"string"},"qty":{"type":"number"}},
					"required":["date","qty"],"type":"object"},"maxItems":50000,"type":"array"},"request_key":{"description":"the same key within 24 hours does nothing twice","maxLength":200,"type":"string"}},
				"required":["rows"],"additionalProperties":false},
			"outputSchema":{"properties":{"imported":{"type":"integer"}},"required":["imported"],"type":"object"},
			"annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":true,"openWorldHint":false}}`,
		"tell_day": `{"name":"tell_day","title":"Tell day","description":"Tells the day.",
			"inputSchema":{"type":"object","properties":{},"additionalProperties":false},
			"outputSchema":{"properties":{"today":{"type":"string"}},"required":["today"],"type":"object"},
			"annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}}`,
	} {
		want = strings.NewReplacer("\n", "", "\t", "").Replace(want)
		assert.Equal(t, string(entries[name]), want, "%s", name)
	}
}

func TestSuccessfulCall(t *testing.T) {
	s := start(t)
	const text = `{"text":"tea \"for\" two\n\ttabs, ü and \u2028 too","colour":"green","on":"2026-11-20","times":3,"weight":1.5,"loud":true}`
	for _, era := range []struct {
		body    string
		headers map[string]string
	}{
		{call("write_note", text), nil},
		{stateless("tools/call", `"name":"write_note","arguments":`+text), headers("tools/call", "write_note")},
	} {
		a := s.post(t, era.body, era.headers)
		c := a.called(t)
		assert.That(t, !(*c.IsError) && c.Content[0].Text == string(c.Structured),
			"the text is not the structured content: %s", a.body)
		var n note
		assert.OK(t, json.Unmarshal(c.Structured, &n))
		assert.That(t, n.Text == "tea \"for\" two\n\ttabs, ü and \u2028 too" && n.Actor == "alice" && n.Via == "mcp" &&
			*n.Colour == "green", "%+v", n)
		assert.That(t, era.headers != nil || c.ResultType == "" && c.Meta == nil,
			"a handshake result with the other era's members: %s", a.body)
		assert.That(t, era.headers == nil || c.ResultType == "complete" &&
			c.Meta["io.modelcontextprotocol/serverInfo"] != nil, "a stateless result without its members: %s", a.body)
	}
	// The audit trail has both, with mcp as the interface.
	c := s.post(t, call("list_notes", `{}`), nil).called(t)
	var l noteList
	assert.OK(t, json.Unmarshal(c.Structured, &l))
	assert.That(t, l.Total == 2 && len(l.Notes) == 2 && l.Notes[0].Via == "mcp" && l.Notes[1].Via == "mcp", "%+v", l)
}

// TestRequestKey: a repeated call with its request_key gets the first answer, with its arguments in any order. The same
// key with other arguments is refused.
func TestRequestKey(t *testing.T) {
	s := start(t)
	write := func(arguments string) (c called) { return s.post(t, call("write_note", arguments), nil).called(t) }
	first := write(`{"text":"a","colour":"green","request_key":"k1"}`)
	again := write(`{"request_key":"k1", "colour":"green", "text":"a"}`)
	assert.That(t, string(first.Structured) == string(again.Structured) && !(*again.IsError), "first %s, again %s",
		first.Structured, again.Structured)
	assert.Equal(t, s.audited(t), 1, "notes were written")
	other := write(`{"text":"b","request_key":"k1"}`)
	assert.That(t, *other.IsError && strings.Contains(other.Content[0].Text, "k1"), "%+v", other)
	fresh := write(`{"text":"a","colour":"green","request_key":"k2"}`)
	assert.That(t, !(*fresh.IsError) && s.audited(t) == 2, "%+v", fresh)
}

func TestAnswerWithItsOwnEncoding(t *testing.T) {
	s := start(t)
	const want = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"today\":\"2026-11-20\"}"}],` +
		`"structuredContent":{"today":"2026-11-20"},"isError":false}}`
	for _, params := range []string{
		`{"name":"tell_day"}`, `{"name":"tell_day","arguments":{}}`, `{"name":"tell_day","arguments":null}`,
		`{"name":"tell_day","arguments":{},"_meta":{"progressToken":"p"},"task":{"ttl":1}}`,
	} {
		a := s.post(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+params+`}`, nil)
		assert.That(t, a.status == 200 && a.body == want, "%s: %d %s", params, a.status, a.body)
	}
}

func TestRefusedCalls(t *testing.T) {
	s := start(t)
	cases := []struct {
		name, key, tool, arguments string
		says                       []string
	}{
		{"unknown argument", "full", "write_note", `{"text":"a","correction":true}`, []string{`"correction"`, "text, colour, on, times, weight, loud, request_key"}},
		{"unknown argument of a tool without any", "full", "tell_day", `{"zone":"UTC"}`, []string{`"zone"`, "none"}},
		{"an argument of REST alone", "full", "write_note", `{"text":"a","X-Note":"b"}`, []string{`"X-Note"`}},
		{"a name in another case", "full", "write_note", `{"Text":"a"}`, []string{`"Text"`}},
		{"not in the list", "full", "write_note", `{"text":"a","colour":"blue"}`, []string{"colour", `"blue"`, "red, green"}},
		{"missing", "full", "write_note", `{}`, []string{"text", "missing"}},
		{"missing, no arguments at all", "full", "write_note", `null`, []string{"text", "missing"}},
		{"empty", "full", "write_note", `{"text":"  "}`, []string{"text", "empty"}},
		{"a nested object", "full", "write_note", `{"text":{"a":1}}`, []string{"text", "nested", "single value"}},
		{"a nested array", "full", "write_note", `{"text":["a"]}`, []string{"text", "nested", "single value"}},
		{"rows that are no array", "full", "ingest_rows", `{"rows":{"date":"2026-11-20"}}`, []string{"rows", "an array of objects"}},
		{"wrong type", "full", "write_note", `{"text":true}`, []string{"text", "true", "a text"}},
		{"null", "full", "write_note", `{"text":"a","times":null}`, []string{"times", "null", "from 1 to 9"}},
		{"a number as text that is none", "full", "write_note", `{"text":"a","times":"3 "}`, []string{"times", `"3 "`, "from 1 to 9"}},
		{"a truth value as text that is none", "full", "write_note", `{"text":"a","loud":"yes"}`, []string{"loud", `"yes"`, "true or false"}},
		{"out of range", "full", "write_note", `{"text":"a","times":10}`, []string{"times", "10", "from 1 to 9"}},
		{"too fine", "full", "write_note", `{"text":"a","weight":0.0001}`, []string{"weight", "0.0001"}},
		{"no calendar day", "full", "write_note", `{"text":"a","on":"2026-02-30"}`, []string{"on", "2026-02-30", "YYYY-MM-DD"}},
		{"limit too large", "full", "list_notes", `{"limit":201}`, []string{"limit", "201", "from 1 to 200"}},
		{"limit zero", "full", "list_notes", `{"limit":0}`, []string{"limit", "from 1 to 200"}},
		{"a read-only key", "read", "write_note", `{"text":"a"}`, []string{"write_note", "read-only"}},
		{"a viewer", "viewer", "write_note", `{"text":"a"}`, []string{"write_note", "viewer", "member or admin"}},
		{"permission comes before arguments", "read", "write_note", `{"wrong":[1]}`, []string{"write_note", "read-only"}},
		{"and before their form", "viewer", "write_note", `7`, []string{"write_note", "viewer"}},
		{"not found", "full", "fail", `{"how":"missing"}`, []string{"there is no note 7"}},
		{"conflict", "read", "fail", `{"how":"conflict"}`, []string{"the note is \"closed\"\nand stays so"}},
		{"the disk is full", "viewer", "fail", `{"how":"full"}`, []string{"the disk is full"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			h := headers("tools/call", c.tool)
			both := []answer{
				s.post(t, call(c.tool, c.arguments), map[string]string{"Authorization": "Bearer " + c.key}),
				s.post(t, stateless("tools/call", `"name":"`+c.tool+`","arguments":`+c.arguments), with(h, "Authorization", "Bearer "+c.key)),
			}
			for i, a := range both {
				got := a.called(t)
				assert.That(t, a.status == 200 && *got.IsError && got.Structured == nil, "era %d: %d %s", i, a.status, a.body)
				for _, s := range c.says {
					assert.That(t, strings.Contains(got.Content[0].Text, s), "era %d: %q does not say %q", i, got.Content[0].Text, s)
				}
				assert.Lacks(t, a.body, secret, "era %d leaks", i)
			}
			assert.That(t, both[1].called(t).ResultType == "complete", "a stateless refusal without resultType")
		})
	}
	assert.Equal(t, s.audited(t), 0, "writes happened")
}

// TestFailedCalls: the program's own errors go to the log alone.
func TestFailedCalls(t *testing.T) {
	s := start(t)
	for _, how := range []string{"error", "panic", "nothing", "unwritable"} {
		s.lastLog()
		a := s.post(t, call("fail", `{"how":"`+how+`"}`), nil)
		c := a.called(t)
		assert.That(t, a.status == 200 && *c.IsError && c.Structured == nil && !strings.Contains(a.body, secret),
			"%s: %d %s", how, a.status, a.body)
		text := c.Content[0].Text
		assert.That(t, strings.Contains(text, "internal error") && strings.Contains(text, "req-1"), "%s: %s", how, text)
		logged := s.lastLog()
		for _, part := range []string{"notes", "tool fail", "req-1"} {
			assert.Contains(t, logged, part, "%s: the log has", how)
		}
		assert.That(t, how == "unwritable" || strings.Contains(logged, secret), "%s: the log has %q", how, logged)
		assert.That(t, how != "panic" || strings.Contains(logged, "fixture_test.go"), "no stack: %s", logged)
	}
	s.lastLog()
	s.post(t, call("fail", `{"how":"full"}`), nil)
	assert.Contains(t, s.lastLog(), secret, "an unavailable machine's cause")
	s.post(t, call("fail", `{"how":"conflict"}`), nil)
	assert.Equal(t, s.lastLog(), "", "a refusal was logged")
}

func TestManyRows(t *testing.T) {
	s := start(t)
	const n = 50_000
	rows := `{"rows":[` + strings.Repeat(`{"date":"2026-11-20","sku":"A","qty":1},`, n-1) + `{"date":"2026-11-20","sku":"A","qty":1}]}`
	c := s.post(t, call("ingest_rows", rows), nil).called(t)
	assert.That(t, !(*c.IsError) && string(c.Structured) == `{"imported":50000}`, "%+v", c)
}

func TestUnusableDeclarationsPanic(t *testing.T) {
	ask := func(*schema.Form) schema.Handler {
		return func(context.Context, db.Caller) (any, error) { return nil, nil }
	}
	for name, op := range map[string]schema.Op{
		"an array":    {Tool: "a", About: "Gives.", Bind: ask, Response: []int{1}},
		"nothing":     {Tool: "a", About: "Gives.", Bind: ask},
		"no sentence": {Tool: "a", Bind: ask, Response: day{}},
		"or null":     {Tool: "a", About: "Gives.", Bind: ask, Response: &day{}},
	} {
		e := mcp.New(schema.Service{Ops: []schema.Op{op}}, mcp.Options{
			Authenticate: func(*http.Request) (db.Caller, error) { return db.CLI(""), nil },
		})
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		func() {
			defer func() {
				if recover() == nil && w.Code == http.StatusOK {
					t.Errorf("%s: taken: %s", name, w.Body)
				}
			}()
			e.ServeHTTP(w, r)
		}()
	}
}
