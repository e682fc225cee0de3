package mcp_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"quartermaster/schema/assert"
)

func initialize(version string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`
}

func TestInitializeNegotiatesTheVersion(t *testing.T) {
	s := start(t)
	for asked, want := range map[string]string{
		"2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25",
		"2024-11-05": "2025-11-25", "2026-07-28": "2025-11-25", "2099-01-01": "2025-11-25", "": "2025-11-25", "x": "2025-11-25",
	} {
		// Any value of the header is accepted here.
		for _, header := range []string{"", "2025-06-18", "1999-01-01", "2026-07-28", "a\nb"} {
			a := s.post(t, initialize(asked), map[string]string{"MCP-Protocol-Version": header})
			r := a.reply(t)
			assert.Must(t, r.Error == nil, "%q with %q: %s", asked, header, a.body)
			var got struct {
				ProtocolVersion string
				Capabilities    map[string]map[string]any
				ServerInfo      struct{ Name, Title, Version string }
				Instructions    string
				ResultType      *string
			}
			assert.OK(t, json.Unmarshal(r.Result, &got))
			assert.That(t, got.ProtocolVersion == want && got.ResultType == nil && a.header.Get("Mcp-Session-Id") == "",
				"%q with %q: %s", asked, header, a.body)
			assert.That(t, got.ServerInfo.Name == "quartermaster-notes" && got.ServerInfo.Version == "1.2.3" &&
				got.ServerInfo.Title == "Notes service", "server info: %+v", got.ServerInfo)
			assert.That(t, len(got.Capabilities) == 1 && got.Capabilities["tools"] != nil &&
				strings.HasPrefix(got.Instructions, "Keeps notes."), "%+v", got)
		}
	}
}

// stateless is a request of the stateless revision, with some parts omitted or replaced.
func stateless(method, params string) string {
	if params != "" {
		params += ","
	}
	return `{"jsonrpc":"2.0","id":"s1","method":"` + method + `","params":{` + params + `"_meta":{
		"io.modelcontextprotocol/protocolVersion":"2026-07-28",
		"io.modelcontextprotocol/clientInfo":{"name":"t","version":"0"},
		"io.modelcontextprotocol/clientCapabilities":{}}}}`
}

func headers(method, name string) map[string]string {
	return map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name}
}

func with(h map[string]string, name, value string) map[string]string {
	h[name] = value
	return h
}

func without(body, key string) string {
	at := strings.Index(body, `"`+key)
	end := at + strings.Index(body[at:], "\n")
	if end < at { // the last one
		return strings.TrimRight(body[:at], " \t\n,") + "}}}"
	}
	return body[:at] + body[end:]
}

func TestStatelessRequests(t *testing.T) {
	s := start(t)
	const newer = `"io.modelcontextprotocol/protocolVersion":"2027-01-01"`
	const own = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
	list := stateless("tools/list", "")
	write := stateless("tools/call", `"name":"write_note","arguments":{"text":"hi"}`)
	day := stateless("tools/call", `"name":"tell_day"`)
	cases := []struct {
		name, body string
		headers    map[string]string
		status     int
		code       int
		says       string
	}{
		{"discover", stateless("server/discover", ""), headers("server/discover", ""), 200, 0, ""},
		{"list", list, headers("tools/list", ""), 200, 0, ""},
		{"call", day, headers("tools/call", "tell_day"), 200, 0, ""},
		{"spaces around a header are none of it", day, headers("tools/call", "  tell_day  "), 200, 0, ""},
		{"the name as Base64", day, headers("tools/call", "=?base64?dGVsbF9kYXk=?="), 200, 0, ""},
		{"client info is not needed", without(list, "io.modelcontextprotocol/clientInfo"), headers("tools/list", ""), 200, 0, ""},
		{"the name of another method is not looked at", list, headers("tools/list", "whatever"), 200, 0, ""},

		{"no version in the header", list, with(headers("tools/list", ""), "MCP-Protocol-Version", ""), 400, -32020, "MCP-Protocol-Version"},
		{"two versions in the header", list, with(headers("tools/list", ""), "MCP-Protocol-Version", "2026-07-28\n2026-07-28"), 400, -32020, "MCP-Protocol-Version"},
		{"another version in the header", list, with(headers("tools/list", ""), "MCP-Protocol-Version", "2025-11-25"), 400, -32020, "MCP-Protocol-Version"},
		{"another version in the body", strings.Replace(list, own, newer, 1), headers("tools/list", ""), 400, -32020, "2027-01-01"},
		{"a version that is not spoken", strings.Replace(list, own, newer, 1), with(headers("tools/list", ""), "MCP-Protocol-Version", "2027-01-01"), 400, -32022, "2027-01-01"},
		{"no method in the header", list, headers("", ""), 400, -32020, "Mcp-Method"},
		{"another method in the header", list, headers("tools/call", "tell_day"), 400, -32020, "Mcp-Method"},
		{"the method in another case", list, headers("TOOLS/LIST", ""), 400, -32020, "Mcp-Method"},
		{"two methods in the header", list, headers("tools/list\ntools/call", ""), 400, -32020, "Mcp-Method"},
		{"no name in the header", write, headers("tools/call", ""), 400, -32020, "Mcp-Name"},
		{"another name in the header", write, headers("tools/call", "tell_day"), 400, -32020, "tell_day"},
		{"two names in the header", write, headers("tools/call", "write_note\ntell_day"), 400, -32020, "Mcp-Name"},
		{"Base64 that cannot be read", write, headers("tools/call", "=?base64?!?="), 400, -32020, "Base64"},
		{"Base64 of another name", write, headers("tools/call", "=?base64?dGVsbF9kYXk=?="), 400, -32020, "tell_day"},
		{"a header that is not ASCII", strings.Replace(write, "write_note", "wríte", 1), headers("tools/call",
			"wríte"), 400, -32020, "not allowed"},

		{"no params", `{"jsonrpc":"2.0","id":"s1","method":"tools/list"}`, headers("tools/list", ""), 400, -32602, "_meta"},
		{"no _meta", `{"jsonrpc":"2.0","id":"s1","method":"tools/list","params":{}}`, headers("tools/list", ""), 400, -32602, "_meta"},
		{"_meta is no object", `{"jsonrpc":"2.0","id":"s1","method":"tools/list","params":{"_meta":[]}}`, headers("tools/list", ""), 400, -32602, "_meta"},
		{"no version in _meta", without(list, "io.modelcontextprotocol/protocolVersion"), headers("tools/list", ""), 400, -32602, "protocolVersion"},
		{"the version a number", strings.Replace(list, `"2026-07-28"`, "2026", 1), headers("tools/list", ""), 400, -32602, "protocolVersion"},
		{"no capabilities", without(list, "io.modelcontextprotocol/clientCapabilities"), headers("tools/list", ""), 400, -32602, "clientCapabilities"},

		{"what the revision has removed", stateless("initialize", `"protocolVersion":"2025-06-18"`), headers("initialize", ""), 404, -32601, "initialize"},
		{"ping too", stateless("ping", ""), headers("ping", ""), 404, -32601, "ping"},
		{"what is not offered", stateless("subscriptions/listen", ""), headers("subscriptions/listen", ""), 404, -32601, "subscriptions/listen"},
		{"an unknown tool", stateless("tools/call", `"name":"x"`), headers("tools/call", "x"), 400, -32602, `unknown tool "x"`},
		{"no tool", stateless("tools/call", ""), headers("tools/call", ""), 400, -32602, "params.name"},
		{"arguments are no object", stateless("tools/call", `"name":"tell_day","arguments":1`), headers("tools/call", "tell_day"), 400, -32602, "params.arguments"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a := s.post(t, c.body, c.headers)
			r := a.reply(t)
			assert.That(t, a.status == c.status && string(r.ID) == `"s1"`, "%d, want %d: %s", a.status, c.status, a.body)
			if c.code == 0 {
				checkStatelessResult(t, r.Result)
				return
			}
			assert.That(t, r.Error != nil && r.Error.Code == c.code && strings.Contains(r.Error.Message, c.says),
				"want %d with %q: %s", c.code, c.says, a.body)
		})
	}
	assert.Equal(t, s.audited(t), 0, "writes happened")
}

func checkStatelessResult(t *testing.T, result json.RawMessage) {
	t.Helper()
	var got struct {
		ResultType string
		Meta       map[string]struct{ Name, Version string } `json:"_meta"`
	}
	assert.OK(t, json.Unmarshal(result, &got))
	me := got.Meta["io.modelcontextprotocol/serverInfo"]
	assert.That(t, got.ResultType == "complete" && me.Name == "quartermaster-notes" && me.Version == "1.2.3",
		"resultType or server info: %s", result)
}

func TestDiscover(t *testing.T) {
	s := start(t)
	r := s.post(t, stateless("server/discover", ""), headers("server/discover", "")).reply(t)
	var got struct {
		SupportedVersions []string
		Capabilities      map[string]any
		Instructions      string
		TTLMs             *int
		CacheScope        string
	}
	assert.OK(t, json.Unmarshal(r.Result, &got))
	want := []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"}
	assert.That(t, slices.Equal(got.SupportedVersions, want) && got.Capabilities["tools"] != nil && got.Instructions != "",
		"%+v", got)
	assert.That(t, got.TTLMs != nil && *got.TTLMs >= 0 && got.CacheScope == "private", "caching: %+v", got)
}

func TestUnsupportedVersionNamesTheSupported(t *testing.T) {
	s := start(t)
	for _, version := range []string{"1999-01-01", "2099-01-01", "nonsense", "2024-11-05"} {
		a := s.post(t, ping, map[string]string{"MCP-Protocol-Version": version})
		r := a.reply(t)
		var data struct {
			Supported []string
			Requested string
		}
		assert.Must(t, a.status == 400 && r.Error != nil && r.Error.Code == -32022, "%s: %d %s", version, a.status, a.body)
		err := json.Unmarshal(r.Error.Data, &data)
		assert.That(t, err == nil && data.Requested == version && len(data.Supported) == 4, "%s: %s", version, r.Error.Data)
	}
	for _, version := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
		a := s.post(t, ping, map[string]string{"MCP-Protocol-Version": version})
		assert.That(t, a.status == 200, "%s: %d %s", version, a.status, a.body)
	}
}

// TestAnswersWithoutAnID: the id of an unreadable request is null in the handshake versions, absent in the other.
func TestAnswersWithoutAnID(t *testing.T) {
	s := start(t)
	if a := s.post(t, "{", nil); !strings.Contains(a.body, `"id":null`) || a.status != 400 {
		t.Errorf("handshake: %d %s", a.status, a.body)
	}
	a := s.post(t, "{", map[string]string{"MCP-Protocol-Version": "2026-07-28"})
	r := a.reply(t)
	assert.That(t, r.ID == nil && r.Error.Code == -32700 && a.status == 400, "stateless: %d %s", a.status, a.body)
}
