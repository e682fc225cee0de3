package command

import (
	"context"
	"html"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	command "quartermaster/app/cli"
	"quartermaster/app/server"
	"quartermaster/schema/assert"
)

var (
	entries    = regexp.MustCompile(`href="/docs/([^"#?]+)"`)
	sends      = regexp.MustCompile(`^quartermaster webhook (test|resend) `) // to wherever receivers are
	shellParts = regexp.MustCompile(`(?:[^\s"']|"[^"]*"|'[^']*')+`)
	inQuotes   = regexp.MustCompile(`"([^"]*)"|'([^']*)'`)
	examples   = regexp.MustCompile(`(?s)<pre data-example><code>(.*?)</code></pre>`)
)

// TestReferenceExamples runs every example of /docs on the demo. Requests and command lines are understood and
// permitted. Their records may be missing or done already: 404, 409, 422 and exit 1 are accepted.
func TestReferenceExamples(t *testing.T) {
	t.Parallel()
	s := demoServed(t)
	alice := s.Person("store", "alice", "admin")
	c := apptest.BareCLI(t)
	c.Now, c.Env["QUARTERMASTER_DB"] = s.Clock.Now(), filepath.Join(t.TempDir(), "copy.db")
	s.MustCLI("backup", c.Env["QUARTERMASTER_DB"])
	requests, commands := 0, 0
	tried := map[string]bool{}
	for _, service := range server.Names {
		key := regexp.MustCompile("apk_[0-9a-f]+").FindString(s.MustCLI("key", "create", "--service", service, "--user", "alice", "--json"))
		at := alice.At(s.URL(service, ""))
		contents := at.Get("/docs").Body
		for _, entry := range entries.FindAllStringSubmatch(contents, -1) {
			page := at.Get("/docs/" + entry[1])
			if page.Status != 200 {
				t.Errorf("%s /docs/%s: %d", service, entry[1], page.Status)
			}
			for _, m := range examples.FindAllStringSubmatch(page.Body, -1) {
				text := html.UnescapeString(m[1])
				switch {
				case strings.HasPrefix(text, "curl "):
					requests++
					tryRequest(t, service+" "+entry[1], text, key)
				case strings.HasPrefix(text, "quartermaster "):
					for line := range strings.SplitSeq(text, "\n") {
						args := []string{}
						for _, word := range shellParts.FindAllString(line, -1) {
							args = append(args, inQuotes.ReplaceAllString(word, "$1$2"))
						}
						if tried[line] || len(args) < 2 || args[0] != "quartermaster" || strings.Contains(line, ">") || strings.Contains(line, ".csv") || sends.MatchString(line) {
							continue
						}
						tried[line] = true
						commands++
						if code, _, told := c.Call(args[1:]...); code == 2 {
							t.Errorf("%s %s: %s: %s", service, entry[1], line, told)
						}
					}
				default:
					t.Errorf("%s %s: an example of nothing: %s", service, entry[1], text)
				}
			}
		}
	}
	assert.That(t, requests >= 30 && commands >= 150, "%d requests and %d commands were tried", requests, commands)
}

// demoServed is an appliance filled as serve --demo fills it.
func demoServed(t *testing.T) *apptest.Fixture {
	t.Helper()
	s := &apptest.Fixture{T: t, Path: filepath.Join(t.TempDir(), "demo.db"), Clock: &apptest.Clock{}, Log: &apptest.Buffer{}}
	s.Clock.Set(apptest.Noon)
	args := []string{"--db", s.Path, "--demo", "--timezone", "UTC", "--log-format", "json"}
	for _, name := range server.Names {
		args = append(args, "--"+name+"-addr", "127.0.0.1:0")
	}
	running, err := command.Start(context.Background(), command.Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: s.Log, Getenv: func(string) string { return "" }, Now: s.Clock.Now,
	})
	assert.OK(t, err)
	s.Server = running
	t.Cleanup(s.Down)
	return s
}

func tryRequest(t *testing.T, name, line, key string) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", strings.Replace(line, "curl ", `curl -s -w '\n%{http_code}' `, 1))
	cmd.Env = []string{"KEY=" + key, "PATH=/usr/local/bin:/usr/bin:/bin"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s\n%s", name, err, line, out)
		return
	}
	end := strings.LastIndex(string(out), "\n")
	body, code := string(out[:end]), string(out[end+1:])
	switch code {
	case "200", "201", "404", "409":
	case "422":
		assert.That(t, !strings.Contains(body, "is missing") && !strings.Contains(body, "unknown") &&
			!strings.Contains(body, "give one of"), "%s: %s\n%s", name, line, body)
	default:
		t.Errorf("%s: %s\n%s\n%s", name, line, code, body)
	}
}
