package app_test

import (
	"context"
	"path/filepath"
	command "quartermaster/app/cli"
	"strings"
	"testing"
	"time"
)

// cli runs command lines of the program on the test's own database.
type cli struct {
	testing.TB
	dir, db string
	stdin   string            // of the next call
	env     map[string]string // of every call
	now     time.Time
}

// newCLI makes the database with the admin alice.
func newCLI(t testing.TB) *cli {
	t.Helper()
	c := bareCLI(t)
	c.ok("init", "--admin", "alice")
	return c
}

// bareCLI has no database yet.
func bareCLI(t testing.TB) *cli {
	dir := t.TempDir()
	return &cli{TB: t, dir: dir, db: filepath.Join(dir, "shop.db"), env: map[string]string{}, now: time.Date(2026, 11, 20, 21, 5, 0, 0, time.UTC)}
}

// call runs one command line on the database.
func (c *cli) call(args ...string) (code int, stdout, stderr string) {
	c.Helper()
	var out, err strings.Builder
	env := func(name string) string {
		if v, ok := c.env[name]; ok {
			return v
		}
		return map[string]string{"QUARTERMASTER_DB": c.db, "QUARTERMASTER_TIMEZONE": "UTC"}[name]
	}
	code = command.Run(context.Background(), command.Env{
		Args: args, Stdin: strings.NewReader(c.stdin), Stdout: &out, Stderr: &err, Getenv: env,
		Now: func() time.Time { return c.now },
	})
	c.stdin = ""
	return code, out.String(), err.String()
}

// ok runs a command line that must succeed and returns its output.
func (c *cli) ok(args ...string) string {
	c.Helper()
	code, out, err := c.call(args...)
	if code != 0 {
		c.Fatalf("%s: exit %d\n%s%s", strings.Join(args, " "), code, out, err)
	}
	return out
}

// refuses runs a command line that must end with the exit code, an empty stdout and each of the words on stderr.
func (c *cli) refuses(code int, words []string, args ...string) {
	c.Helper()
	got, out, err := c.call(args...)
	if got != code || out != "" {
		c.Errorf("%s: exit %d with %q, want %d\n%s", strings.Join(args, " "), got, out, code, err)
	}
	for _, w := range words {
		if !strings.Contains(err, w) {
			c.Errorf("%s: it does not say %q:\n%s", strings.Join(args, " "), w, err)
		}
	}
}

// equal compares a result.
func (c *cli) equal(what, got, want string) {
	c.Helper()
	if got != want {
		c.Errorf("%s\n got %s\nwant %s", what, got, want)
	}
}
