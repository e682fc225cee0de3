package command

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"quartermaster/schema/assert"
)

func TestUserCommands(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.done("init", "--admin", "alice")
	for _, args := range [][]string{
		{"user", "add", "bob", "--role", "viewer", "--service", "rental", "--service", "reorder"},
		{"user", "role", "bob", "member", "--service", "store"},
		{"user", "add", "eve", "--role", "member"},
		{"user", "role", "eve", "viewer"},
		{"user", "disable", "eve"},
		{"user", "disable", "bob"},
		{"user", "enable", "bob"},
	} {
		assert.MustEqual(t, s.done(args...), "", "%v printed", args)
	}
	all := func(role string) string {
		return `{"maintenance":"` + role + `","rental":"` + role + `","reorder":"` + role + `","store":"` + role + `"}`
	}
	want := `{"users":[{"name":"alice","disabled":false,"roles":` + all("admin") + `},` +
		`{"name":"bob","disabled":false,"roles":{"rental":"viewer","reorder":"viewer","store":"member"}},` +
		`{"name":"eve","disabled":true,"roles":` + all("viewer") + "}]}\n"
	assert.MustEqual(t, s.done("user", "list", "--json"), want)
	wantText := "" +
		"USER   STATE     ROLES\n" +
		"alice  enabled   store admin, maintenance admin, rental admin, reorder admin\n" +
		"bob    enabled   store member, rental viewer, reorder viewer\n" +
		"eve    disabled  store viewer, maintenance viewer, rental viewer, reorder viewer\n"
	assert.MustEqual(t, s.done("user", "list"), wantText)
}

func TestUserCommandsAreRefused(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.done("init", "--admin", "alice")
	s.fails(1, []string{`"alice"`, "already"}, "user", "add", "alice", "--role", "admin")
	s.fails(1, []string{`"bob"`, "no user"}, "user", "role", "bob", "admin")
	s.fails(1, []string{`"bob"`, "no user"}, "user", "disable", "bob")
	s.fails(1, []string{`"alice"`, "enabled already"}, "user", "enable", "alice")
	s.fails(1, []string{"name is empty"}, "user", "add", "", "--role", "admin")

	s.fails(2, []string{"role"}, "user", "add", "bob")
	s.fails(2, []string{"--role", `"boss"`, "viewer, member, admin"}, "user", "add", "bob", "--role", "boss")
	s.fails(2, []string{"--role"}, "user", "add", "bob", "--role", "")
	s.fails(2, []string{"--service", `"shop"`, "store, maintenance, rental, reorder"}, "user", "add", "bob", "--role", "admin", "--service", "shop")
	s.fails(2, []string{"ROLE", `"boss"`, "viewer, member, admin"}, "user", "role", "alice", "boss")
	s.fails(2, []string{"--service", `"shop"`}, "user", "role", "alice", "viewer", "--service", "shop")
	s.fails(2, nil, "user", "add", "--role", "admin")
	s.fails(2, nil, "user", "add", "bob", "eve", "--role", "admin")
	s.fails(2, nil, "user", "role", "alice")
	s.fails(2, nil, "user", "disable")
	s.fails(2, nil, "user", "list", "bob")
	s.fails(1, []string{`"bob"`, "no user"}, "user", "remove", "bob")
	s.fails(1, []string{`"alice"`, "last admin"}, "user", "remove", "alice")
	s.fails(1, []string{`"alice"`, "last admin"}, "user", "role", "alice", "none", "--service", "rental")
	s.fails(2, []string{"none"}, "user", "role", "alice", "none")
	got := s.done("user", "list")
	assert.Must(t, strings.Count(got, "\n") == 2, "a refused command left a user:\n%s", got)
}

func TestUserAndKeyCommandsRefuseAMissingDatabase(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	for _, args := range [][]string{
		{"user", "add", "bob", "--role", "admin"}, {"user", "list"}, {"user", "role", "bob", "admin"},
		{"user", "disable", "bob"}, {"user", "enable", "bob"},
		{"key", "create", "--service", "store", "--user", "bob"}, {"key", "list"}, {"key", "revoke", "1"},
	} {
		s.fails(1, []string{s.db, "quartermaster init"}, args...)
	}
	_, err := os.Stat(s.db)
	assert.Must(t, os.IsNotExist(err), "a refused command left a file: %v", err)
}

// shownKey is the beginning of a key, by which lists name it.
var shownKey = regexp.MustCompile("apk_[0-9a-f]{4}")

func TestTheShellCompletesNamesAndLists(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.done("init", "--admin", "alice")
	s.done("user", "add", "bob", "--role", "viewer")
	for line, want := range map[string]string{
		"user disable |":              "alice\nbob\n",
		"user role |":                 "alice\nbob\n",
		"user role bob |":             "viewer\nmember\nadmin\nnone\n",
		"user role bob admin |":       "",
		"user add eve --role |":       "viewer\nmember\nadmin\n",
		"user add eve --service |":    "store\nmaintenance\nrental\nreorder\n",
		"key create --user |":         "alice\nbob\n",
		"key create --scope |":        "read\nfull\n",
		"key list --service |":        "store\nmaintenance\nrental\nreorder\n",
		"key revoke |":                "4\tapk_, reorder of alice\n3\tapk_, rental of alice\n2\tapk_, maintenance of alice\n1\tapk_, store of alice\n",
		"user enable --db /nowhere |": "",
	} {
		args := append([]string{"__complete"}, strings.Fields(strings.ReplaceAll(line, "|", ""))...)
		if !strings.Contains(line, "--db") {
			args = append(args[:2], append([]string{"--db", s.db}, args[2:]...)...)
		}
		o := s.bare(append(args, "")...)
		got, _, _ := strings.Cut(shownKey.ReplaceAllString(o.out, "apk_"), ":4\n") // no file names
		assert.That(t, o.code == 0 && got == want && strings.HasSuffix(o.out, ":4\n"),
			"%s: got %q, want %q", line, o.out, want)
	}
}
