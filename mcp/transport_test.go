package mcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"quartermaster/mcp"
	"quartermaster/schema/assert"
)

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

func (a answer) refusal(t *testing.T) (code, detail string) {
	t.Helper()
	var e struct {
		Error  string `json:"error"`
		Detail string `json:"detail"`
	}
	err := json.Unmarshal([]byte(a.body), &e)
	assert.Must(t, err == nil && e.Error != "" && e.Detail != "", "not the house's error form: %d %s", a.status, a.body)
	return e.Error, e.Detail
}

func TestOtherMethodsNeedNoKey(t *testing.T) {
	s := start(t)
	for _, method := range []string{"GET", "DELETE", "PUT", "PATCH", "OPTIONS"} {
		a := s.send(t, method, "", map[string]string{"Authorization": ""})
		assert.That(t, a.status == 405 && a.header.Get("Allow") == "POST",
			"%s: %d, Allow %q", method, a.status, a.header.Get("Allow"))
		code, _ := a.refusal(t)
		assert.That(t, code == "method_not_allowed", "%s: %s", method, code)
	}
	if a := s.send(t, "HEAD", "", map[string]string{"Authorization": ""}); a.status != 405 || a.header.Get("Allow") != "POST" {
		t.Errorf("HEAD: %d, Allow %q", a.status, a.header.Get("Allow"))
	}
}

func TestKeyIsRefusedAsREST(t *testing.T) {
	s := start(t)
	cases := []struct {
		authorization string
		status        int
		code          string
		header, value string
	}{
		{"", 401, "unauthorized", "Www-Authenticate", "Bearer"},
		{"Bearer unknown", 401, "unauthorized", "Www-Authenticate", "Bearer"},
		{"Bearer limited", 429, "rate_limited", "Retry-After", "2"},
		{"Bearer locked", 503, "unavailable", "", ""},
		{"Bearer broken", 500, "internal", "", ""},
	}
	for _, c := range cases {
		// The key is checked before the body.
		a := s.post(t, "not JSON", map[string]string{"Authorization": c.authorization, "Content-Type": "text/plain"})
		code, detail := a.refusal(t)
		assert.That(t, a.status == c.status && code == c.code && a.header.Get(c.header) == c.value,
			"%q: %d %s, %s %q", c.authorization, a.status, code, c.header, a.header.Get(c.header))
		assert.Lacks(t, detail, secret, "%q: the refusal leaks", c.authorization)
		logged := s.lastLog()
		assert.That(t, strings.Contains(logged, secret) == (c.status >= 500), "%q: the log has %q", c.authorization, logged)
	}
}

func TestMediaType(t *testing.T) {
	s := start(t)
	for media, status := range map[string]int{
		"application/json":                  200,
		"application/json; charset=utf-8":   200,
		"Application/JSON;charset=UTF-8":    200,
		"":                                  415,
		"text/plain":                        415,
		"application/json; charset=latin1":  415,
		"application/x-www-form-urlencoded": 415,
		"application/":                      415,
	} {
		a := s.post(t, ping, map[string]string{"Content-Type": media})
		assert.That(t, a.status == status, "%q: %d", media, a.status)
		if status == 415 {
			if code, detail := a.refusal(t); code != "unsupported_media_type" || !strings.Contains(detail, "application/json") {
				t.Errorf("%q: %s %s", media, code, detail)
			}
		}
	}
}

func TestAcceptIsNotEnforced(t *testing.T) {
	s := start(t)
	for _, accept := range []string{"", "text/html", "application/json", "application/json, text/event-stream", "*/*"} {
		assert.Equal(t, s.post(t, ping, map[string]string{"Accept": accept}).status, 200, "%q", accept)
	}
}

func TestSizeOfTheBody(t *testing.T) {
	s := start(t)
	const most = 4 << 20 // the largest of the tools' limits
	fill := func(n int) string {
		return ping[:len(ping)-1] + `,"x":"` + strings.Repeat("a", n-len(ping)-7) + `"}`
	}
	if a := s.post(t, fill(most), nil); a.status != 200 {
		t.Errorf("just fitting: %d %.200s", a.status, a.body)
	}
	a := s.post(t, fill(most+1), nil)
	if code, detail := a.refusal(t); a.status != 413 || code != "payload_too_large" || !strings.Contains(detail, fmt.Sprint(most)) {
		t.Errorf("one byte more: %d %s %s", a.status, code, detail)
	}
	// A client that writes everything before reading can still read the refusal.
	host := strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), "/mcp")
	c := assert.Value(net.Dial("tcp", host))(t)
	defer c.Close()
	long := fill(most + 12<<20)
	if _, err := fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer full\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		host, len(long), long); err != nil {
		t.Errorf("writing 16 MiB: %v", err)
	}
	b, err := io.ReadAll(c)
	assert.That(t, err == nil && strings.HasPrefix(string(b), "HTTP/1.1 413"), "after writing 16 MiB: %v %s", err, b)
	// The limit also holds without an announced length.
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url, struct{ *strings.Reader }{strings.NewReader(fill(most + 1))})
	assert.OK(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer full")
	resp := assert.Value(http.DefaultClient.Do(req))(t)
	resp.Body.Close()
	assert.That(t, req.ContentLength == 0 && resp.StatusCode == http.StatusRequestEntityTooLarge,
		"chunked: %d", resp.StatusCode)
}

func TestShortBody(t *testing.T) {
	s := start(t)
	host := strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), "/mcp")
	c := assert.Value(net.Dial("tcp", host))(t)
	defer c.Close()
	fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer full\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{", host)
	assert.OK(t, c.(*net.TCPConn).CloseWrite())
	b := assert.Value(io.ReadAll(c))(t)
	got := string(b)
	assert.That(t, strings.HasPrefix(got, "HTTP/1.1 400") && strings.Contains(got, "shorter than announced"),
		"got %s", got)
}

func TestOrigin(t *testing.T) {
	s := start(t)
	own := strings.TrimSuffix(s.url, "/mcp")
	port := own[strings.LastIndex(own, ":"):]
	cases := []struct {
		name, origin, host string
		status             int
	}{
		{"a program sends none", "", "", 200},
		{"its own address", own, "", 200},
		{"behind a proxy that speaks TLS", strings.Replace(own, "http:", "https:", 1), "", 200},
		{"localhost by name", "http://localhost" + port, "localhost" + port, 200},
		{"IPv6", "http://[::1]" + port, "[::1]" + port, 200},
		{"listed", "https://agents.example", "", 200},
		{"listed, in other letters", "https://Agents.Example", "", 200},
		{"foreign", "https://evil.example", "", 403},
		{"another port", "http://127.0.0.1:1", "", 403},
		{"another host than the request's", "http://localhost" + port, "", 403},
		{"a foreign name that was pointed here", "http://evil.example" + port, "evil.example" + port, 403},
		{"a name that begins like a listed one", "https://agents.example.evil.example", "", 403},
		{"a sandboxed page", "null", "", 403},
		{"no origin at all", "127.0.0.1" + port, "", 403},
		{"another scheme", "ftp://127.0.0.1" + port, "", 403},
		{"one good, one foreign", own + "\nhttps://evil.example", "", 403},
	}
	for _, c := range cases {
		headers := map[string]string{"Origin": c.origin}
		if c.host != "" {
			headers["Host"] = c.host
		}
		a := s.post(t, ping, headers)
		assert.That(t, a.status == c.status, "%s: %d %s", c.name, a.status, a.body)
		if c.status == 403 {
			code, detail := a.refusal(t)
			assert.That(t, code == "forbidden" && strings.Contains(detail, "origin"), "%s: %s %s", c.name, code, detail)
		}
	}
}

// TestOwnOriginOverTLS: over TLS the browser has verified the name, so DNS rebinding cannot have led it here.
func TestOwnOriginOverTLS(t *testing.T) {
	n := &notes{db: open(t)}
	endpoint := mcp.New(n.service(), mcp.Options{Authenticate: authenticate})
	for origin, status := range map[string]int{
		"https://tools.example": 200, "http://tools.example": 403, "https://other.example": 403, "https://tools.example:444": 403,
	} {
		r := httptest.NewRequest(http.MethodPost, "https://tools.example/mcp", strings.NewReader(ping))
		r.Header.Set("Authorization", "Bearer full")
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Origin", origin)
		w := httptest.NewRecorder()
		endpoint.ServeHTTP(w, r)
		assert.That(t, w.Code == status, "%s: %d %s", origin, w.Code, w.Body)
	}
}
