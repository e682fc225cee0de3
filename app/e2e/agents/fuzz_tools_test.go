package agents

import (
	"quartermaster/app/apptest"
	"slices"
	"strconv"
	"strings"
)

// call makes a call of a tool.
func (f *fuzzer) call(target *target) request {
	g := f.g
	r := request{target: target, service: target.service, method: "POST", path: "/mcp", key: "owner"}
	members := g.members(target.takes)
	if g.strange == 0 && g.one(2) {
		members = f.hintTool(target, members)
	}
	arguments := objectText(members)
	r.plain = g.strange == 0
	if g.odd > 0 && g.one(3) {
		r.plain = false
		arguments = f.spoilArguments(&r, members)
	}
	name := apptest.JSONText(target.tool)
	if g.odd > 0 && g.one(20) {
		r.plain, name = false, pick(g, []string{`"nonsense"`, `"` + strings.ToUpper(target.tool) + `"`, `7`, `null`, `""`})
		r.spoiled = "the tool's name"
	}
	r.body = `{"jsonrpc":"2.0","id":` + pick(g, []string{"1", "0", `"a"`, "-7", "9007199254740993", `"\u00e9"`}) + `,"method":"tools/call","params":{"name":` + name + `,"arguments":` + arguments + `}}`
	f.asAgent(&r)
	return r
}

// hintTool gives arguments that belong together, which chance would seldom choose.
func (f *fuzzer) hintTool(target *target, members []member) []member {
	id := strconv.Itoa(1 + f.g.IntN(12))
	switch target.tool {
	case "license_action":
		return []member{{"license", `"#` + id + `"`}, {"action", pick(f.g, []string{`"suspend"`, `"resume"`})}}
	case "update_workorder":
		return []member{{"id", id}, {"priority", pick(f.g, []string{`"high"`, `"low"`})}}
	case "create_workorder":
		return []member{{"asset_id", id}, {"description", `"Leaks oil"`}}
	case "record_meter":
		return []member{{"asset_id", "1"}, {"reading", strconv.Itoa(20_000 + f.g.IntN(50))}}
	case "record_payment":
		return []member{{"lease_id", id}, {"amount_cents", "100"}, {"request_key", apptest.JSONText("k" + strconv.Itoa(f.g.IntN(1_000_000)))}}
	case "update_ticket":
		return []member{{"ticket_id", strconv.Itoa(1 + f.g.IntN(4))}, {"note", `"Looked at"`}}
	case "purchase_detail":
		return []member{{"number", pick(f.g, []string{`"PO-000001"`, `"PO-000002"`})}}
	case "refund_order":
		return slices.DeleteFunc(members, func(m member) bool { return m.name == "request_key" })
	}
	return members
}

// spoilArguments makes the arguments surely invalid.
func (f *fuzzer) spoilArguments(r *request, members []member) string {
	switch f.g.IntN(4) {
	case 0:
		r.spoiled = "unknown argument"
		return objectText(append(members, member{"nonsense", "1"}))
	case 1:
		r.spoiled = "an argument twice"
		return objectText(append(slices.Clone(members), member{"same", "1"}, member{"same", "1"}))
	case 2:
		required, _ := r.target.takes["required"].([]any)
		if len(required) > 0 {
			name, _ := pick(f.g, required).(string)
			r.spoiled = name + " is missing"
			members = slices.DeleteFunc(slices.Clone(members), func(m member) bool { return m.name == name })
		}
		return objectText(members)
	}
	r.spoiled = "no arguments by name"
	return pick(f.g, []string{"[]", "7", `"x"`, "true", "{"})
}

// asAgent calls with other keys now and then.
func (f *fuzzer) asAgent(r *request) {
	if !f.g.one(10) {
		return
	}
	r.plain = false
	switch r.key = pick(f.g, []string{"", "viewer", "read-only", "member"}); {
	case r.key == "":
		r.want = []int{401}
	case r.key != "member" && r.target.writes:
		r.spoiled = "a key that may not write"
	}
}

// envelope makes a message with arbitrary members.
func (f *fuzzer) envelope(target *target) request {
	g := f.g
	any := func(good ...string) string {
		if g.one(4) {
			return g.oddity()
		}
		return pick(g, good)
	}
	members := []member{
		{"jsonrpc", any(`"2.0"`)},
		{"id", any("1", `"x"`)},
		{"method", any(`"ping"`, `"tools/list"`, `"tools/call"`, `"initialize"`, `"server/discover"`, `"notifications/initialized"`, `"resources/list"`)},
		{"params", any("{}", `{"cursor":"x"}`, `{"protocolVersion":"2025-11-25"}`, `{"protocolVersion":7}`, `{"name":`+apptest.JSONText(target.tool)+`}`,
			`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}`)},
	}
	for len(members) > 0 && g.one(4) {
		i := g.IntN(len(members))
		members = slices.Delete(members, i, i+1)
	}
	r := request{target: target, service: target.service, method: "POST", path: "/mcp", key: "owner", spoiled: "the envelope"}
	r.body = objectText(members)
	switch g.IntN(8) {
	case 0:
		r.body = "[" + r.body + "]"
	case 1:
		r.body = r.body[:g.IntN(len(r.body))]
	case 2:
		r.body = strings.Repeat("[", 100_000)
	}
	for _, header := range []string{"MCP-Protocol-Version: 2026-07-28", "MCP-Protocol-Version: 2025-06-18", "MCP-Protocol-Version: 1999-01-01", "Mcp-Method: ping", "Mcp-Name: x", "Origin: null", "Accept: text/html"} {
		if g.one(6) {
			r.heads = append(r.heads, header)
		}
	}
	return r
}
