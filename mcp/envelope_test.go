package mcp_test

import (
	"strings"
	"testing"

	"quartermaster/schema/assert"
)

func nested(levels int) string { // in the envelope, levels in all
	return `{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat(`{"a":`, levels-1) + "1" + strings.Repeat("}", levels)
}

func TestEnvelope(t *testing.T) {
	s := start(t)
	cases := []struct {
		name, body string
		status     int
		id         string // as written in the answer
		code       int    // 0: a result
		says       string // in the error's message
	}{
		{"a whole number", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, 200, `1`, 0, ""},
		{"the id's bytes come back", `{"jsonrpc":"2.0","id":1.50e+2,"method":"ping"}`, 200, `1.50e+2`, 0, ""},
		{"a number too large for any integer", `{"id":123456789012345678901234567890,"method":"ping","jsonrpc":"2.0"}`, 200, `123456789012345678901234567890`, 0, ""},
		{"a string with escapes", `{"jsonrpc":"2.0","id":"\u0061\/\"ä","method":"ping"}`, 200, `"\u0061\/\"ä"`, 0, ""},
		{"an empty string", `{"jsonrpc":"2.0","id":"","method":"ping"}`, 200, `""`, 0, ""},
		{"zero", ` { "jsonrpc" : "2.0" , "id" : 0 , "method" : "ping" } `, 200, `0`, 0, ""},
		{"names are read unescaped", `{"json\u0072pc":"2.0","id":1,"method":"p\u0069ng"}`, 200, `1`, 0, ""},
		{"unknown members are left alone", `{"jsonrpc":"2.0","id":1,"method":"ping","trace":[1]}`, 200, `1`, 0, ""},
		{"empty params", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}`, 200, `1`, 0, ""},
		{"_meta is allowed", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"progressToken":7}}}`, 200, `1`, 0, ""},

		{"an empty body", ``, 400, `null`, -32700, "empty"},
		{"no JSON", `{"jsonrpc":"2.0","id":1,`, 400, `null`, -32700, "byte 24"},
		{"text after the message", `{"jsonrpc":"2.0","id":1,"method":"ping"} x`, 400, `null`, -32700, "nothing after"},
		{"two messages", `{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}`, 400, `null`, -32700, ""},
		{"a name twice", `{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}`, 400, `null`, -32700, `duplicate name "id"`},
		{"a name twice, far inside", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write_note","arguments":{"text":"a","text":"b"}}}`, 400, `null`, -32700, `duplicate name "text"`},
		{"invalid UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", 400, `null`, -32700, "UTF-8"},
		{"half a surrogate pair", `{"jsonrpc":"2.0","id":"\ud800","method":"ping"}`, 400, `null`, -32700, "surrogate"},
		{"a byte order mark", "\ufeff" + ping, 400, `null`, -32700, "byte order mark"},
		{"32 levels", nested(32), 200, `1`, 0, ""},
		{"33 levels", nested(33), 400, `null`, -32700, "nested deeper than 32"},

		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, 400, `null`, -32600, "batch"},
		{"an empty batch", `[]`, 400, `null`, -32600, "batch"},
		{"a number", `5`, 400, `null`, -32600, "a number"},
		{"null", `null`, 400, `null`, -32600, "null"},
		{"an empty object", `{}`, 400, `null`, -32600, "jsonrpc"},
		{"no version", `{"id":7,"method":"ping"}`, 400, `7`, -32600, "jsonrpc"},
		{"another version", `{"jsonrpc":"1.0","id":"x","method":"ping"}`, 400, `"x"`, -32600, "jsonrpc"},
		{"the version as a number", `{"jsonrpc":2.0,"id":7,"method":"ping"}`, 400, `7`, -32600, "jsonrpc"},
		{"names in another case", `{"JSONRPC":"2.0","id":7,"method":"ping"}`, 400, `7`, -32600, "jsonrpc"},
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, 400, `null`, -32600, "id is null"},
		{"id true", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, 400, `null`, -32600, "id is"},
		{"id an object", `{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, 400, `null`, -32600, "id is an object"},
		{"id an array", `{"jsonrpc":"2.0","id":[1],"method":"ping"}`, 400, `null`, -32600, "id is an array"},
		{"no method", `{"jsonrpc":"2.0","id":7}`, 400, `7`, -32600, "method"},
		{"the method a number", `{"jsonrpc":"2.0","id":7,"method":1}`, 400, `7`, -32600, "method"},
		{"an answer", `{"jsonrpc":"2.0","id":7,"result":{}}`, 400, `7`, -32600, "only requests"},
		{"params a number", `{"jsonrpc":"2.0","id":7,"method":"ping","params":1}`, 400, `7`, -32600, "params is a number"},
		{"params null", `{"jsonrpc":"2.0","id":7,"method":"ping","params":null}`, 400, `7`, -32600, "params is null"},
		{"params an array", `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":["a"]}`, 200, `7`, -32602, "params is an array"},

		{"an unknown method", `{"jsonrpc":"2.0","id":7,"method":"resources/list"}`, 200, `7`, -32601, `"resources/list"`},
		{"an empty method", `{"jsonrpc":"2.0","id":7,"method":""}`, 200, `7`, -32601, `""`},
		{"a method in another case", `{"jsonrpc":"2.0","id":7,"method":"Ping"}`, 200, `7`, -32601, `"Ping"`},
		{"a method of the other era", `{"jsonrpc":"2.0","id":7,"method":"server/discover"}`, 200, `7`, -32601, "initialize"},
		{"an unknown tool", call("erase_all", `{}`), 200, `1`, -32602, `unknown tool "erase_all". The tools are list_notes, write_note,`},
		{"a tool in another case", call("List_notes", `{}`), 200, `1`, -32602, "unknown tool"},
		{"an operation that is no tool", call("", `{}`), 200, `1`, -32602, "unknown tool"},
		{"no tool", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{}}}`, 200, `1`, -32602, "params.name"},
		{"no params", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, 200, `1`, -32602, "params.name"},
		{"the tool a number", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5}}`, 200, `1`, -32602, "params.name"},
		{"arguments an array", call("tell_day", `[]`), 200, `1`, -32602, "params.arguments is an array"},
		{"arguments a string", call("tell_day", `"{}"`), 200, `1`, -32602, "params.arguments is a string"},
		{"a cursor that was never given", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}`, 200, `1`, -32602, "cursor"},
		{"a cursor that is no string", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":{}}}`, 200, `1`, -32602, "cursor"},
		{"no cursor, said in two ways", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":null}}`, 200, `1`, 0, ""},
		{"an empty cursor", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":""}}`, 200, `1`, 0, ""},
		{"initialize without a version", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`, 200, `1`, -32602, "protocolVersion"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a := s.post(t, c.body, nil)
			r := a.reply(t)
			assert.That(t, a.status == c.status && string(r.ID) == c.id,
				"%d with id %s; want %d with %s: %s", a.status, r.ID, c.status, c.id, a.body)
			if c.code == 0 {
				assert.That(t, r.Error == nil, "an error: %s", a.body)
				return
			}
			assert.That(t, r.Error != nil && r.Error.Code == c.code && strings.Contains(r.Error.Message, c.says),
				"want %d with %q: %s", c.code, c.says, a.body)
		})
	}
	assert.Equal(t, s.audited(t), 0, "writes happened")
}

func TestNotifications(t *testing.T) {
	s := start(t)
	for _, body := range []string{
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"x"}}`,
		`{"jsonrpc":"2.0","method":"notifications/made-up"}`,
		// Without an id no answer is possible, so nothing is done.
		`{"jsonrpc":"2.0","method":"tools/call","params":{"name":"write_note","arguments":{"text":"a"}}}`,
	} {
		for _, version := range []string{"", "2025-06-18", "2026-07-28"} {
			a := s.post(t, body, map[string]string{"MCP-Protocol-Version": version})
			assert.That(t, a.status == 202 && a.body == "", "%s with %q: %d %q", body, version, a.status, a.body)
		}
	}
	assert.Equal(t, s.audited(t), 0, "writes happened")
	a := s.post(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, map[string]string{"MCP-Protocol-Version": "1999-01-01"})
	r := a.reply(t)
	assert.That(t, a.status == 400 && r.Error.Code == -32022, "a version that is not spoken: %d %s", a.status, a.body)
	a = s.post(t, `{"jsonrpc":"2.0","method":"notifications/initialized","params":3}`, nil)
	r = a.reply(t)
	assert.That(t, a.status == 400 && r.Error.Code == -32600, "what is no notification: %d %s", a.status, a.body)
}
