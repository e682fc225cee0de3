package mcp_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	official "github.com/modelcontextprotocol/go-sdk/mcp"

	"quartermaster/schema/assert"
)

// keyed sends every request with a key and records the server's answers.
type keyed struct {
	key string

	mu       sync.Mutex
	statuses []int
}

func (k *keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("Authorization", "Bearer "+k.key)
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err == nil {
		k.mu.Lock()
		k.statuses = append(k.statuses, resp.StatusCode)
		k.mu.Unlock()
	}
	return resp, err
}

// connect connects the official client; version "" is its newest.
func connect(t *testing.T, s *server, key, version string) *official.ClientSession {
	t.Helper()
	client := official.NewClient(&official.Implementation{Name: "test", Version: "0"}, nil)
	transport := &official.StreamableClientTransport{Endpoint: s.url, HTTPClient: &http.Client{Transport: &keyed{key: key}}}
	session, err := client.Connect(t.Context(), transport, &official.ClientSessionOptions{ProtocolVersion: version})
	assert.OK(t, err, "%s", version)
	t.Cleanup(func() { _ = session.Close() })
	return session
}

var eras = []string{"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

func TestOfficialClient(t *testing.T) {
	for _, version := range eras {
		t.Run(version, func(t *testing.T) {
			s := start(t)
			session := connect(t, s, "full", version)
			info := session.InitializeResult()
			assert.Must(t, info.ProtocolVersion == version && info.ServerInfo.Name == "quartermaster-notes" &&
				info.Capabilities.Tools != nil, "%+v of %+v", info, info.ServerInfo)
			list := assert.Value(session.ListTools(t.Context(), nil))(t)
			assert.Must(t, len(list.Tools) == 5 && list.NextCursor == "", "%d tools", len(list.Tools))
			for name, arguments := range map[string]any{
				"write_note":  map[string]any{"text": "hello", "colour": "green", "times": 2},
				"list_notes":  map[string]any{"limit": 5},
				"ingest_rows": map[string]any{"rows": []any{map[string]any{"date": "2026-11-20", "qty": 1.5}}},
				"tell_day":    nil,
			} {
				at := slices.IndexFunc(list.Tools, func(t *official.Tool) bool { return t.Name == name })
				tool := list.Tools[at]
				if arguments != nil {
					validate(t, name+" arguments", tool.InputSchema, arguments)
				}
				result, err := session.CallTool(t.Context(), &official.CallToolParams{Name: name, Arguments: arguments})
				assert.Must(t, err == nil && !result.IsError, "%s: %v %+v", name, err, result)
				validate(t, name, tool.OutputSchema, result.StructuredContent)
				var text any
				assert.OK(t, json.Unmarshal([]byte(result.Content[0].(*official.TextContent).Text), &text))
				validate(t, name+" as text", tool.OutputSchema, text)
			}
			assert.Equal(t, s.audited(t), 2, "writes")
		})
	}
}

// validate checks a value against a schema as the client received it.
func validate(t *testing.T, what string, schema, value any) {
	t.Helper()
	b := assert.Value(json.Marshal(schema))(t)
	var parsed jsonschema.Schema
	assert.OK(t, json.Unmarshal(b, &parsed), "%s", what)
	resolved, err := parsed.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true})
	assert.OK(t, err, "%s", what)
	assert.NoError(t, resolved.Validate(value), "%s", what)
}

func TestOfficialClientRefused(t *testing.T) {
	for _, version := range eras {
		t.Run(version, func(t *testing.T) {
			s := start(t)
			session := connect(t, s, "read", version)
			list, err := session.ListTools(t.Context(), nil)
			assert.Must(t, err == nil && len(list.Tools) == 3, "%v %+v", err, list)
			result, err := session.CallTool(t.Context(), &official.CallToolParams{Name: "write_note", Arguments: map[string]any{"text": "a"}})
			assert.That(t, err == nil && result.IsError &&
				strings.Contains(result.Content[0].(*official.TextContent).Text, "read-only"), "%v %+v", err, result)
			_, err = session.CallTool(t.Context(), &official.CallToolParams{Name: "erase_all"})
			var wire *jsonrpc.Error
			assert.That(t, errors.As(err, &wire) && wire.Code == -32602 && strings.Contains(wire.Message, "list_notes"),
				"an unknown tool: %v", err)
			_, err = session.ListResources(t.Context(), nil)
			assert.That(t, errors.As(err, &wire) && wire.Code == -32601, "an unknown method: %v", err)
			// The connection has survived the refusals.
			if result, err := session.CallTool(t.Context(), &official.CallToolParams{Name: "tell_day"}); err != nil || result.IsError {
				t.Errorf("%v %+v", err, result)
			}
			assert.Equal(t, s.audited(t), 0, "writes")
		})
	}
}

func TestOfficialClientWithoutAKey(t *testing.T) {
	s := start(t)
	for _, version := range eras {
		client := official.NewClient(&official.Implementation{Name: "test", Version: "0"}, nil)
		wire := &keyed{key: "wrong"}
		transport := &official.StreamableClientTransport{Endpoint: s.url, HTTPClient: &http.Client{Transport: wire}}
		session, err := client.Connect(t.Context(), transport, &official.ClientSessionOptions{ProtocolVersion: version})
		if err == nil {
			_ = session.Close()
			t.Fatalf("%s: connected", version)
		}
		assert.That(t, len(wire.statuses) != 0 && !slices.ContainsFunc(wire.statuses, func(s int) bool { return s != 401 }),
			"%s: %v", version, wire.statuses)
	}
}
