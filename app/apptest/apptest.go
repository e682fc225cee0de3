// Package apptest starts whole appliances for tests: a real database file, real
// listeners on free ports, a clock that the test moves, the real command line.
package apptest

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"quartermaster/app/account"
	"quartermaster/app/cli"
	"quartermaster/app/server"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/db/dbtest"
)

// Noon is the start of every test's clock: a Friday, at noon UTC.
var Noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// Clock is the appliance's clock.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// Now is the clock's present time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set moves the clock.
func (c *Clock) Set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t
}

// Fixture is a running appliance with one full-access admin key per service.
type Fixture struct {
	T      testing.TB
	Path   string // of the database
	Clock  *Clock
	Keys   map[string]string // by service
	Log    *Buffer
	Server *server.Server

	args []string
}

// Buffer collects output of several goroutines.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Start starts an appliance with an empty database; args are further flags of serve.
// It is stopped when the test ends.
func Start(t testing.TB, args ...string) *Fixture {
	t.Helper()
	return StartAt(t, Noon, args...)
}

// StartAt is Start with another start of the clock: stored data may not be newer than a clock that is set back.
func StartAt(t testing.TB, at time.Time, args ...string) *Fixture {
	t.Helper()
	s := &Fixture{T: t, Path: filepath.Join(t.TempDir(), "shop.db"), Clock: &Clock{now: at}, Log: &Buffer{}, args: args}
	dbtest.Create(t, s.Path)
	s.Up()
	keys, err := account.First(context.Background(), s.Server.DB(), db.CLI(""), "owner", server.Names)
	assert.OK(t, err)
	s.Keys = keys
	t.Cleanup(func() {
		if s.Server != nil {
			s.Down()
		}
	})
	return s
}

// Up starts the server on the shop's database.
func (s *Fixture) Up() {
	s.T.Helper()
	args := []string{"--db", s.Path, "--init", "--timezone", "UTC", "--log-format", "json"}
	for _, service := range server.Names {
		args = append(args, "--"+service+"-addr", "127.0.0.1:0")
	}
	server, err := cli.Start(context.Background(), cli.Env{
		Args: append(args, s.args...), Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: s.Log,
		Getenv: func(string) string { return "" }, Now: s.Clock.Now,
	})
	assert.OK(s.T, err)
	s.Server = server
}

// Down stops the server as SIGTERM does.
func (s *Fixture) Down() {
	s.T.Helper()
	assert.NoError(s.T, s.Server.Stop())
	s.Server = nil
}

// URL is the address of a path of a service.
func (s *Fixture) URL(service, path string) string { return "http://" + s.Server.Addr(service) + path }

// Answer is a response with its body read.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// JSON reads the body into v.
func (a Answer) JSON(t testing.TB, v any) {
	t.Helper()
	err := json.Unmarshal([]byte(a.Body), v)
	assert.Must(t, err == nil, "%v in %s", err, a.Body)
}

// Map is the body as an object.
func (a Answer) Map(t testing.TB) map[string]any {
	t.Helper()
	var m map[string]any
	a.JSON(t, &m)
	return m
}

// Get requests with the owner's key.
func (s *Fixture) Get(service, path string) Answer {
	s.T.Helper()
	return s.Do(service, "GET", path, s.Keys[service], "")
}

// Post sends a JSON body with the owner's key.
func (s *Fixture) Post(service, path, body string) Answer {
	s.T.Helper()
	return s.Do(service, "POST", path, s.Keys[service], body)
}

// Do sends one request; heads are "Name: value". A key of "" sends none.
func (s *Fixture) Do(service, method, path, key, body string, heads ...string) Answer {
	s.T.Helper()
	r, err := http.NewRequest(method, s.URL(service, path), strings.NewReader(body))
	assert.OK(s.T, err)
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range heads {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	assert.OK(s.T, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	assert.OK(s.T, err)
	return Answer{Status: resp.StatusCode, Header: resp.Header, Body: string(b)}
}

// Key makes a key of the scope for the service, and if needed its user with a role.
func (s *Fixture) Key(service, user, role, scope string) string {
	s.T.Helper()
	ctx, d := context.Background(), s.Server.DB()
	_, _ = account.AddUser(ctx, d, db.CLI(""), user, role, server.Names) // may exist
	_, key, err := account.CreateKey(ctx, d, db.CLI(service), account.NewKey{Service: service, User: user, Scope: scope})
	assert.OK(s.T, err)
	return key
}

// Tool calls an agent's tool with the owner's key: its structured content, or the
// text of its refusal.
func (s *Fixture) Tool(service, name, arguments string) (content map[string]any, refusal string) {
	s.T.Helper()
	return s.ToolAs(service, s.Keys[service], name, arguments)
}

// ToolAs is Tool with another key.
func (s *Fixture) ToolAs(service, key, name, arguments string) (content map[string]any, refusal string) {
	s.T.Helper()
	a := s.Do(service, "POST", "/mcp", key,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`","arguments":`+arguments+`}}`)
	var m struct {
		Result struct {
			StructuredContent map[string]any `json:"structuredContent"`
			IsError           bool           `json:"isError"`
			Content           []struct{ Text string }
		}
		Error *struct{ Message string }
	}
	a.JSON(s.T, &m)
	switch {
	case m.Error != nil:
		return nil, m.Error.Message
	case m.Result.IsError:
		return nil, m.Result.Content[0].Text
	}
	return m.Result.StructuredContent, ""
}

// CLI runs a command on the shop's database, beside the server.
func (s *Fixture) CLI(args ...string) (code int, stdout, stderr string) {
	s.T.Helper()
	return s.Pipe("", args...)
}

// Pipe is CLI with a standard input.
func (s *Fixture) Pipe(stdin string, args ...string) (code int, stdout, stderr string) {
	s.T.Helper()
	var out, errs bytes.Buffer
	code = cli.Run(context.Background(), cli.Env{
		Args: append([]string{"--db", s.Path, "--timezone", "UTC"}, args...), Stdin: strings.NewReader(stdin), Stdout: &out,
		Stderr: &errs,
		Getenv: func(string) string { return "" }, Now: s.Clock.Now,
	})
	return code, out.String(), errs.String()
}

// MustCLI is CLI for a command that must succeed; it returns stdout.
func (s *Fixture) MustCLI(args ...string) string {
	s.T.Helper()
	code, out, errs := s.CLI(args...)
	assert.Must(s.T, code == 0, "quartermaster %s: exit %d: %s%s", strings.Join(args, " "), code, out, errs)
	return out
}

var update = flag.Bool("update", false, "write the goldens anew")

// Golden compares got with the file under testdata at the root of the project.
func Golden(t testing.TB, name string, got []byte) {
	t.Helper()
	path := filepath.Join(root(t), "testdata", name)
	if *update {
		assert.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
		assert.OK(t, os.WriteFile(path, got, 0o644))
	}
	want, err := os.ReadFile(path)
	assert.OK(t, err)
	assert.That(t, bytes.Equal(want, got),
		"%s is not what the golden has; if the change is meant, run the test with -update and look at the diff", name)
}

// root is the project's folder.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	assert.OK(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}
