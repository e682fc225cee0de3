package mcp_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"quartermaster/mcp"
	"quartermaster/schema/assert"
	"quartermaster/schema/strict"
)

// FuzzEnvelope sends any body under any version, method and name header. The answer is one JSON-RPC message with the
// request's id, or 202 without a body.
func FuzzEnvelope(f *testing.F) {
	n := &notes{db: open(f)}
	endpoint := mcp.New(n.service(), mcp.Options{Version: "1", Authenticate: authenticate})
	for _, body := range []string{
		ping, initialize("2025-06-18"), listTools, nested(32), nested(33), "", "[]", "[" + ping + "]", "null", "{}", "\ufeff{}",
		call("write_note", `{"text":"a","colour":"green","times":3}`), call("write_note", `{"text":["a"],"x":null}`),
		call("ingest_rows", `{"rows":[{"date":"2026-11-20","qty":1e400}]}`), call("fail", `{"how":"panic"}`),
		call("list_notes", `{"limit":99999999999999999999}`), call("tell_day", `null`), call("no_such", `{}`),
		stateless("server/discover", ""), stateless("tools/list", `"cursor":""`), stateless("tools/call", `"name":"tell_day"`),
		`{"jsonrpc":"2.0","id":"\ud83d\ude00","method":"ping","params":[]}`, `{"jsonrpc":"2.0","id":-0.0e-9,"method":"\u0000"}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":{"a":[1]},"method":5,"params":"x"}`,
	} {
		f.Add([]byte(body), "", "", "")
		f.Add([]byte(body), "2026-07-28", "tools/call", "tell_day")
		f.Add([]byte(body), "2025-11-25", "tools/list", "=?base64?dGVsbF9kYXk=?=")
	}
	f.Fuzz(func(t *testing.T, body []byte, version, method, name string) {
		r := httptest.NewRequest(http.MethodPost, "/mcp", bytes.NewReader(body))
		r.Header.Set("Authorization", "Bearer full")
		r.Header.Set("Content-Type", "application/json")
		for key, value := range map[string]string{"Mcp-Protocol-Version": version, "Mcp-Method": method, "Mcp-Name": name} {
			if value != "" {
				r.Header[key] = strings.Split(value, "\n")
			}
		}
		w := httptest.NewRecorder()
		endpoint.ServeHTTP(w, r)
		got := w.Body.Bytes()
		if w.Code == 202 {
			assert.Must(t, len(got) == 0, "202 with a body: %s", got)
			return
		}
		assert.Must(t, w.Code == 200 || w.Code == 400 || w.Code == 404, "status %d: %s", w.Code, got)
		answer, err := strict.Parse(got, 64)
		assert.Must(t, err == nil && json.Valid(got), "the answer is not JSON: %v: %q", err, got)
		_, hasResult := answer.Get("result")
		_, hasError := answer.Get("error")
		if v, _ := answer.Get("jsonrpc"); v.Text() != "2.0" || hasResult == hasError || hasResult && w.Code != 200 {
			t.Fatalf("not a JSON-RPC answer: %d %s", w.Code, got)
		}
		back, has := answer.Get("id")
		message, err := strict.Parse(body, 32)
		sent, _ := message.Get("id")
		readable := err == nil && (sent.Kind() == strict.String || sent.Kind() == strict.Number)
		switch {
		case readable && !bytes.Equal(sent.Raw(), back.Raw()):
			t.Fatalf("the id %s came back as %s", sent.Raw(), back.Raw())
		case !readable && back.Kind() != strict.Null:
			t.Fatalf("an id out of nowhere: %s", got)
		case !readable && has == (version == "2026-07-28"):
			t.Fatalf("id null belongs to the handshake era: %s", got)
		}
	})
}
