package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3filter"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"quartermaster/schema/strict"
)

// send sends the request and checks the answer.
func (f *fuzzer) send(r request) {
	f.t.Helper()
	heads := append([]string{f.address.Next()}, r.heads...)
	r.target.asked++
	f.g.seen = f.seen[r.service]
	a, err := f.do(r, heads)
	if err != nil {
		f.fail(r, a, "no answer came: %v", err)
		return
	}
	f.form(r, a)
	f.described(r, a)
	if r.target.tool != "" {
		f.said(r, a)
		return
	}
	good := a.Status < 300
	if good {
		r.target.good++
		f.remember(r)
		var v any
		if json.Unmarshal([]byte(a.Body), &v) == nil && r.path != "/api/openapi.json" {
			f.g.learn("", v)
		}
	}
	switch {
	// the client sends no more
	case a.Status == http.StatusRequestEntityTooLarge && strings.HasPrefix(r.path, "/license/") && len(r.body) > 8192:
	case len(r.want) > 0 && !slices.Contains(r.want, a.Status):
		f.fail(r, a, "want one of %v", r.want)
	case r.plain && slices.Contains([]int{400, 401, 403, 405, 413, 415}, a.Status) && !r.target.open:
		f.fail(r, a, "it was as described, and is refused as if it were not")
	}
}

// do is the shop's Do, except that a request without an answer is a finding.
func (f *fuzzer) do(r request, heads []string) (a apptest.Answer, err error) {
	req, err := http.NewRequest(r.method, f.s.URL(r.service, r.path), strings.NewReader(r.body))
	if err != nil {
		return a, err
	}
	if r.body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if key := f.credential(r); key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	for _, h := range heads {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return apptest.Answer{Status: resp.StatusCode, Header: resp.Header, Body: string(b)}, err
}

func (f *fuzzer) fail(r request, a apptest.Answer, format string, args ...any) {
	f.t.Helper()
	f.failures++
	short := func(s string) string {
		if len(s) > 600 {
			return s[:300] + "..." + s[len(s)-300:]
		}
		return s
	}
	f.t.Errorf("%s %s %s %q as %q, body %s, spoiled by %q\n  answered %d %s\n  "+format,
		append([]any{r.service, r.method, short(r.path), r.heads, r.key, short(r.body), r.spoiled, a.Status, short(a.Body)}, args...)...)
}

// leaks are words that only the program's internals know.
var leaks = []string{"sqlite", "SQL", "constraint", ".go:", "goroutine", "runtime error", "panic", "nil pointer", "db:", "%!"}

// form checks what every answer must have.
func (f *fuzzer) form(r request, a apptest.Answer) {
	f.t.Helper()
	if a.Status >= 500 {
		f.fail(r, a, "a server's error")
	}
	if a.Header.Get("X-Request-Id") == "" || a.Header.Get("X-Content-Type-Options") != "nosniff" || a.Header.Get("Cache-Control") != "no-store" {
		f.fail(r, a, "it lacks a header: %v", a.Header)
	}
	if a.Status == http.StatusAccepted && a.Body == "" || r.method == "HEAD" {
		return
	}
	if a.Header.Get("Content-Type") != "application/json" {
		f.fail(r, a, "its type is %q", a.Header.Get("Content-Type"))
	}
	v, err := strict.Parse([]byte(a.Body), 32)
	if err != nil || v.Kind() != strict.Object {
		f.fail(r, a, "it is no strict JSON object: %v", err)
		return
	}
	if a.Status < 400 || r.path == "/mcp" {
		return
	}
	word, _ := v.Get("error")
	detail, _ := v.Get("detail")
	text := detail.Text()
	if word.Text() == "" || text == "" {
		f.fail(r, a, "a refusal has error and detail")
	}
	for _, leak := range leaks {
		if strings.Contains(text, leak) && !strings.Contains(r.body+r.path, leak) {
			f.fail(r, a, "the detail tells of the program's inside: %q", leak)
		}
	}
}

// described checks the answer by the OpenAPI document.
func (f *fuzzer) described(r request, a apptest.Answer) {
	f.t.Helper()
	request, err := http.NewRequest(r.method, "http://shop"+r.target.path, nil)
	assert.OK(f.t, err)
	err = openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: request, Route: r.target.route},
		Status:                 a.Status, Header: a.Header, Body: io.NopCloser(strings.NewReader(a.Body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	})
	if err != nil {
		what, _, _ := strings.Cut(err.Error(), "\nSchema:")
		f.fail(r, a, "its document does not describe that: %s", what)
	}
}

// said checks a JSON-RPC answer: its form, and a tool's result by the tool's description.
func (f *fuzzer) said(r request, a apptest.Answer) {
	f.t.Helper()
	if r.want != nil {
		if !slices.Contains(r.want, a.Status) {
			f.fail(r, a, "want one of %v", r.want)
		}
		return
	}
	if a.Status == http.StatusAccepted || a.Status == 403 || a.Status == 413 || a.Status == 415 {
		return
	}
	var m struct {
		JSONRPC string
		Result  *struct {
			Tools             json.RawMessage
			Content           []struct{ Type, Text string }
			StructuredContent json.RawMessage
			IsError           bool
		}
		Error *struct {
			Code    int
			Message string
		}
	}
	a.JSON(f.t, &m)
	switch {
	case m.JSONRPC != "2.0" || (m.Result == nil) == (m.Error == nil):
		f.fail(r, a, "it is no JSON-RPC answer")
	case m.Error != nil:
		if !slices.Contains([]int{-32700, -32600, -32601, -32602, -32020, -32022}, m.Error.Code) || m.Error.Message == "" {
			f.fail(r, a, "the error's code %d", m.Error.Code)
		}
		if r.plain {
			f.fail(r, a, "it was as described, and is a protocol error")
		}
	case m.Result.Content != nil:
		f.result(r, a, m.Result.IsError, m.Result.Content[0].Text, m.Result.StructuredContent)
	}
}

// result checks the result of a tool's call.
func (f *fuzzer) result(r request, a apptest.Answer, refused bool, text string, content json.RawMessage) {
	f.t.Helper()
	if refused {
		for _, leak := range append([]string{"internal error"}, leaks...) {
			if strings.Contains(text, leak) && !strings.Contains(r.body, leak) {
				f.fail(r, a, "the text tells of the program's inside: %q", leak)
			}
		}
		if content != nil || text == "" {
			f.fail(r, a, "a refusal has a text and no content")
		}
		return
	}
	if r.spoiled != "" && r.spoiled != "the envelope" {
		f.fail(r, a, "it was wrong, and is not refused")
	}
	var compact bytes.Buffer
	var v any
	if json.Compact(&compact, content) != nil || json.Unmarshal(content, &v) != nil {
		f.fail(r, a, "the content is no JSON")
		return
	}
	if want := f.inShort(r, compact.String()); want != text {
		f.fail(r, a, "the text is not %s", want)
		return
	}
	if err := r.target.gives.Validate(v); err != nil {
		f.fail(r, a, "its outputSchema does not describe that: %v", err)
	}
	r.target.good++
	f.g.learn("", v)
}

// inShort is the text for a content: for a list its short form, for any other answer the content itself.
func (f *fuzzer) inShort(r request, content string) string {
	f.t.Helper()
	rows := listRows(r.target)
	var call struct {
		Params struct{ Arguments map[string]json.RawMessage }
	}
	if rows == "" || json.Unmarshal([]byte(r.body), &call) != nil {
		return content
	}
	if call.Params.Arguments == nil {
		call.Params.Arguments = map[string]json.RawMessage{}
	}
	call.Params.Arguments["detail"] = json.RawMessage(`"short"`)
	r.body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":` + apptest.JSONText(r.target.tool) + `,"arguments":` + apptest.JSONText(call.Params.Arguments) + `}}`
	a, err := f.do(r, []string{f.address.Next()})
	if err != nil {
		f.fail(r, a, "no answer came: %v", err)
		return content
	}
	var m struct {
		Result struct{ StructuredContent map[string]json.RawMessage }
	}
	var full map[string]json.RawMessage
	var whole, short []json.RawMessage
	a.JSON(f.t, &m)
	_ = json.Unmarshal([]byte(content), &full)
	if json.Unmarshal(full[rows], &whole) != nil || json.Unmarshal(m.Result.StructuredContent[rows], &short) != nil || len(short) < len(whole) {
		f.fail(r, a, "%s has %d rows in full", rows, len(whole))
		return content
	}
	in := fmt.Sprintf("%q:[", rows)
	var given []string
	for _, row := range short[:len(whole)] {
		given = append(given, string(row))
	}
	return strings.Replace(content, in+string(full[rows][1:]), in+strings.Join(given, ",")+"]", 1)
}

// listRows is the member that holds the rows of a list; "" if the tool is no list.
func listRows(t *target) string {
	switch t.tool {
	case "lease_detail": // one lease
		return ""
	case "list_subscriptions":
		return "subscriptions"
	case "sales_report":
		return "rows"
	case "list_purchase_orders":
		return "purchase_orders"
	}
	for _, list := range agentsLists {
		if list.tool == t.tool {
			return list.rows
		}
	}
	return ""
}

// checkLog finds errors that the caller does not see.
func (f *fuzzer) checkLog() {
	f.t.Helper()
	for line := range strings.Lines(f.s.Log.String()) {
		assert.That(f.t, !strings.Contains(line, `"level":"error"`) && !strings.Contains(line, "panic"),
			"the log has %s", line)
	}
}
