package command

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"quartermaster/app/account"
	command "quartermaster/app/cli"
	"quartermaster/app/server"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// shell runs command lines against one database file, at one fixed instant.
type shell struct {
	t  *testing.T
	db string
}

// outcome is the result of a command line.
type outcome struct {
	code        int
	out, errors string
}

func newShell(t *testing.T) shell {
	t.Helper()
	return shell{t, filepath.Join(t.TempDir(), "shop.db")}
}

func (s shell) run(args ...string) outcome {
	s.t.Helper()
	return s.bare(append(args, "--db", s.db)...)
}

// bare runs a command line unchanged, without the path of the database.
func (s shell) bare(args ...string) outcome {
	s.t.Helper()
	var out, errors bytes.Buffer
	code := command.Run(context.Background(), command.Env{
		Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errors,
		Getenv: func(string) string { return "" },
		Now:    func() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) },
	})
	return outcome{code, out.String(), errors.String()}
}

// done runs a command line that must succeed and returns its standard output.
func (s shell) done(args ...string) string {
	s.t.Helper()
	o := s.run(args...)
	assert.Must(s.t, o.code == 0, "%v: exit %d: %s", args, o.code, o.errors)
	return o.out
}

// fails runs a command line that must end with the code, an empty standard output, and one line on standard error with
// the words. Wrong usage adds a line that points to the help.
func (s shell) fails(code int, words []string, args ...string) {
	s.t.Helper()
	o := s.run(args...)
	assert.Must(s.t, o.code == code && o.out == "",
		"%v: exit %d with %q on stdout, want %d with nothing; stderr: %s", args, o.code, o.out, code, o.errors)
	lines := strings.Count(o.errors, "\n")
	assert.That(s.t, lines == code, "%v: %d lines on stderr, want %d:\n%s", args, lines, code, o.errors)
	for _, w := range words {
		assert.Contains(s.t, o.errors, w, "%v: stderr", args)
	}
}

// emptyDatabase makes a database without users.
func (s shell) emptyDatabase() shell {
	s.t.Helper()
	assert.OK(s.t, db.Create(s.db, db.Options{}))
	return s
}

// authenticate returns the user of a key, as a running server does.
func (s shell) authenticate(k *account.Keys, service, key string) (db.Caller, error) {
	return k.Authenticate(context.Background(), service, "Bearer "+key, "192.0.2.1")
}

func (s shell) open() *db.DB {
	s.t.Helper()
	d := assert.Value(db.Open(s.db, db.Options{}))(s.t)
	s.t.Cleanup(func() {
		assert.NoError(s.t, d.Close())
	})
	return d
}

var keyForm = regexp.MustCompile(`^apk_[0-9a-f]{40}$`)

func TestInitMakesADatabaseAnAdminAndKeys(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	var made struct {
		Admin string            `json:"admin"`
		Keys  map[string]string `json:"keys"`
	}
	assert.OK(t, json.Unmarshal([]byte(s.done("init", "--admin", " alice ", "--json")), &made))
	assert.Must(t, made.Admin == "alice" && len(made.Keys) == len(server.Names), "got %+v", made)
	keys := account.NewKeys(s.open())
	for _, service := range server.Names {
		assert.Must(t, keyForm.MatchString(made.Keys[service]), "%s: got the key %q", service, made.Keys[service])
		who := assert.Value(s.authenticate(keys, service, made.Keys[service]))(t)
		assert.Must(t, who.User == "alice" && who.Role == "admin" && who.Scope == "full", "%s: got %+v", service, who)
	}
	st := assert.Value(os.Stat(s.db))(t)
	assert.Must(t, st.Mode().Perm() == 0o600, "the file's mode is %o", st.Mode().Perm())
	s.fails(1, []string{"users already", "user add"}, "init")
	s.fails(1, []string{"users already"}, "init", "--admin", "bob", "--json")
}

func TestInitPrintsATable(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	o := s.run("init")
	assert.Must(t, o.code == 0 && strings.Contains(o.errors, s.db) && strings.Contains(o.errors, "user admin added"),
		"exit %d: %s", o.code, o.errors)
	table, next, _ := strings.Cut(o.out, "\n\n")
	assert.That(t, regexp.MustCompile(`http://127\.0\.0\.1:8081/welcome/[A-Za-z0-9_-]{20,}\n$`).MatchString(next),
		"behind the keys stands %q, no link", next)
	lines := strings.Split(table, "\n")
	assert.Must(t, len(lines) == 1+len(server.Names), "got\n%s", o.out)
	for i, service := range server.Names {
		cells := strings.Fields(lines[i+1])
		if len(cells) != 2 || cells[0] != service || !keyForm.MatchString(cells[1]) {
			t.Fatalf("got the line %q", lines[i+1])
		}
	}
}

func TestInitAcceptsADatabaseWithoutUsers(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.emptyDatabase()
	o := s.run("init")
	assert.Must(t, o.code == 0 && !strings.Contains(o.errors, "database made"), "exit %d: %s", o.code, o.errors)
	empty := newShell(t)
	assert.OK(t, os.WriteFile(empty.db, nil, 0o600))
	o = empty.run("init")
	assert.Must(t, o.code == 0 && strings.Contains(o.errors, "database made"), "exit %d: %s", o.code, o.errors)
}

func TestInitLeavesNothingBehindWhenRefused(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.fails(1, []string{"name is empty"}, "init", "--admin", "")
	s.fails(1, []string{`"cli"`}, "init", "--admin", "cli")
	s.fails(2, []string{"unknown"}, "init", "now")
	if _, err := os.Stat(s.db); !os.IsNotExist(err) {
		t.Fatalf("a refused init left a file: %v", err)
	}
	assert.OK(t, os.WriteFile(s.db, []byte("a letter to the bank, which is no database"), 0o600))
	s.fails(1, []string{s.db, "untouched"}, "init")
	b, err := os.ReadFile(s.db)
	assert.Must(t, err == nil && string(b) == "a letter to the bank, which is no database",
		"the foreign file was touched: %q, %v", b, err)
}
