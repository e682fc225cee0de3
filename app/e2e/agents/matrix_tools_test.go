package agents

import (
	"fmt"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema"
	"quartermaster/schema/assert"
)

// TestToolPermissions calls every tool as every kind of caller, and the protocol's other methods.
func TestToolPermissions(t *testing.T) {
	t.Parallel()
	s := apptest.StartFilled(t)
	var address apptest.From
	for _, service := range s.Server.Declared() {
		if len(service.Tools()) == 0 {
			continue
		}
		for _, c := range apptest.CallersOf(s, service.Name) {
			a := agent{t: t, s: s, service: service.Name, caller: c, address: &address}
			t.Run(service.Name+" "+c.Name, func(t *testing.T) {
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

// agent is a kind of caller at a service's agent endpoint.
type agent struct {
	t       *testing.T
	s       *apptest.Fixture
	service string
	caller  apptest.Caller
	address *apptest.From
}

func (a *agent) post(message string, heads ...string) apptest.Answer {
	a.t.Helper()
	heads = append(heads, a.address.Next())
	if a.caller.Header != "" {
		heads = append(heads, "Authorization: "+a.caller.Header)
	}
	return a.s.Do(a.service, "POST", "/mcp", "", message, heads...)
}

// methods calls the methods beside tools: strangers may call none.
func (a *agent) methods() {
	for _, message := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nonsense"}}`,
		`{`,
	} {
		got := a.post(message).Status
		assert.That(a.t, (got == 401) != a.caller.Reads && got != 403 && got < 500, "%s: %d", message, got)
	}
}

// lists checks the tools that the caller sees: with a read-only key those that read, else all.
func (a *agent) lists(service schema.Service) {
	if !a.caller.Reads {
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
		if op.Listed == nil && (!op.Writes || !strings.HasPrefix(a.caller.Name, "read-only")) {
			want = append(want, fmt.Sprint(op.Tool, !op.Writes))
		}
	}
	assert.EqualSlices(a.t, got, want, "sees")
}

// calls calls a tool, also with arguments that are refused later than the caller.
func (a *agent) calls(op schema.Op) {
	before := apptest.SnapshotOf(a.t, a.s)
	allowed := a.caller.Reads && (a.caller.Writes || !op.Writes)
	for _, arguments := range []string{apptest.SampleArguments(op), `{"nonsense":1}`, `7`} {
		message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + op.Tool + `","arguments":` + arguments + `}}`
		answer := a.post(message)
		if (answer.Status == 401) == a.caller.Reads {
			a.t.Errorf("%s: %d %s", message, answer.Status, answer.Body)
			continue
		}
		if !a.caller.Reads {
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
			assert.That(a.t, !strings.Contains(text, "read-only") && !strings.Contains(text, "the role") &&
				!strings.Contains(text, "internal error"), "%s %s: %s", op.Tool, arguments, text)
			continue
		}
		assert.That(a.t, called.Result.IsError && strings.Contains(text, op.Tool) && strings.Contains(text, a.caller.Says),
			"%s %s: %s does not refuse naming the tool and %q", op.Tool, arguments, answer.Body, a.caller.Says)
	}
	if !allowed {
		before.Check(op.Tool)
	}
}
