package apptest

import (
	"context"
	"os"
	"path/filepath"
	command "quartermaster/app/cli"
	"strings"
	"testing"
	"time"

	"quartermaster/schema/assert"
)

// CLI runs command lines of the program on the test's own database.
type CLI struct {
	testing.TB
	Dir, Db string
	Stdin   string            // of the next call
	Env     map[string]string // of every call
	Now     time.Time
}

// NewCLI makes the database with the admin alice.
func NewCLI(t testing.TB) *CLI {
	t.Helper()
	c := BareCLI(t)
	c.Ok("init", "--admin", "alice")
	return c
}

// BareCLI has no database yet.
func BareCLI(t testing.TB) *CLI {
	dir := t.TempDir()
	return &CLI{TB: t, Dir: dir, Db: filepath.Join(dir, "shop.db"), Env: map[string]string{}, Now: time.Date(2026, 11, 20, 21, 5, 0, 0, time.UTC)}
}

// Call runs one command line on the database.
func (c *CLI) Call(args ...string) (code int, stdout, stderr string) {
	c.Helper()
	var out, err strings.Builder
	env := func(name string) string {
		if v, ok := c.Env[name]; ok {
			return v
		}
		return map[string]string{"QUARTERMASTER_DB": c.Db, "QUARTERMASTER_TIMEZONE": "UTC"}[name]
	}
	code = command.Run(context.Background(), command.Env{
		Args: args, Stdin: strings.NewReader(c.Stdin), Stdout: &out, Stderr: &err, Getenv: env,
		Now: func() time.Time { return c.Now },
	})
	c.Stdin = ""
	return code, out.String(), err.String()
}

// Ok runs a command line that must succeed and returns its output.
func (c *CLI) Ok(args ...string) string {
	c.Helper()
	code, out, err := c.Call(args...)
	assert.Must(c, code == 0, "%s: exit %d\n%s%s", strings.Join(args, " "), code, out, err)
	return out
}

// Long reports whether QUARTERMASTER_LONG selects the long tests of faults, as in .ci/torture.
func Long() bool { return os.Getenv("QUARTERMASTER_LONG") != "" }

// Times returns the number for the short or the long form.
func Times(short, whenLong int) int {
	if Long() {
		return whenLong
	}
	return short
}
