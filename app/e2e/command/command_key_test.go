package command

import (
	"encoding/json"
	"strings"
	"testing"

	"quartermaster/app/account"
	"quartermaster/schema/assert"
	"quartermaster/schema/fault"
)

func TestKeyCommands(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.done("init", "--admin", "alice")
	s.done("user", "add", "bob", "--role", "member", "--service", "rental")
	printed := s.done("key", "create", "--service", "rental", "--user", "bob", "--scope", "read", "--label", "cash desk")
	key := strings.TrimSuffix(printed, "\n")
	assert.Must(t, keyForm.MatchString(key) && printed == key+"\n", "got %q, want a key alone", printed)
	var made struct {
		ID  int64  `json:"id"`
		Key string `json:"key"`
	}
	assert.OK(t, json.Unmarshal([]byte(s.done("key", "create", "--service", "rental", "--user", "bob", "--json")), &made))
	assert.Must(t, made.ID == 6 && keyForm.MatchString(made.Key), "got %+v", made)
	assert.MustEqual(t, s.done("key", "revoke", "6"), "", "printed")
	keys := s.listed("--service", "rental")
	assert.Must(t, len(keys) == 3, "got %d keys of rental, want the admin's and bob's two", len(keys))
	want := map[string]any{
		"id": 5.0, "prefix": key[:8], "label": "cash desk", "service": "rental", "user": "bob", "scope": "read",
		"created_at": "2026-11-20T12:00:00Z", "last_used_at": nil, "revoked_at": nil,
	}
	same(t, keys[1], want)
	same(t, keys[2], map[string]any{
		"id": 6.0, "prefix": made.Key[:8], "label": "", "service": "rental", "user": "bob", "scope": "full",
		"created_at": "2026-11-20T12:00:00Z", "last_used_at": nil, "revoked_at": "2026-11-20T12:00:00Z",
	})
	all := s.listed()
	assert.Must(t, len(all) == 6, "got %d keys, want 6", len(all))
	text := s.done("key", "list")
	assert.Must(t, strings.Count(text, "\n") == 7 && strings.Contains(text, "cash desk") && !strings.Contains(text, key) &&
		strings.Contains(text, key[:8]), "got\n%s", text)
}

// listed is the output of key list --json.
func (s shell) listed(args ...string) []map[string]any {
	s.t.Helper()
	var list map[string][]map[string]any
	assert.OK(s.t, json.Unmarshal([]byte(s.done(append([]string{"key", "list", "--json"}, args...)...)), &list))
	assert.Must(s.t, list["keys"] != nil && len(list) == 1, "got %v, want keys alone", list)
	return list["keys"]
}

func same(t *testing.T, got, want map[string]any) {
	t.Helper()
	for name, v := range want {
		g, ok := got[name]
		assert.That(t, ok && g == v, "%s: got %v, want %v", name, g, v)
	}
	assert.That(t, len(got) == len(want), "got %v, want %v", got, want)
}

func TestListsAreNeverNull(t *testing.T) {
	t.Parallel()
	s := newShell(t).emptyDatabase()
	assert.MustEqual(t, s.done("key", "list", "--json"), `{"keys":[]}`+"\n")
	assert.MustEqual(t, s.done("user", "list", "--json"), `{"users":[]}`+"\n")
}

func TestKeyCommandsAreRefused(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.done("init", "--admin", "alice")
	s.done("user", "add", "bob", "--role", "member", "--service", "rental")
	s.done("user", "add", "gone", "--role", "admin")
	s.done("user", "disable", "gone")
	s.done("key", "revoke", "4")
	s.fails(1, []string{`"eve"`, "no user"}, "key", "create", "--service", "store", "--user", "eve")
	s.fails(1, []string{`"bob"`, "no role", `"store"`}, "key", "create", "--service", "store", "--user", "bob")
	s.fails(1, []string{`"gone"`, "disabled"}, "key", "create", "--service", "store", "--user", "gone")
	s.fails(1, []string{"99"}, "key", "revoke", "99")
	s.fails(1, []string{"revoked already"}, "key", "revoke", "4")

	s.fails(2, []string{"service"}, "key", "create", "--user", "alice")
	s.fails(2, []string{"user"}, "key", "create", "--service", "store")
	s.fails(2, []string{"--service", `"shop"`, "store, maintenance, rental, reorder"}, "key", "create", "--service", "shop", "--user", "alice")
	s.fails(2, []string{"--scope", `"write"`, "read, full"}, "key", "create", "--service", "store", "--user", "alice", "--scope", "write")
	s.fails(2, []string{"--service", `"shop"`}, "key", "list", "--service", "shop")
	s.fails(2, []string{"ID", `"x"`}, "key", "revoke", "x")
	s.fails(2, []string{"ID", `"0"`}, "key", "revoke", "0")
	s.fails(2, nil, "key", "revoke")
	s.fails(2, []string{"forget"}, "key", "forget", "1")
	assert.MustEqual(t, len(s.listed()), 4, "a refused command left a key: there")
}

// TestRevokeAppliesInARunningServer revokes a key by a command in another process. The running server refuses it at the
// next request.
func TestRevokeAppliesInARunningServer(t *testing.T) {
	t.Parallel()
	s := newShell(t)
	s.done("init", "--admin", "alice")
	key := strings.TrimSpace(s.done("key", "create", "--service", "store", "--user", "alice"))
	other := strings.TrimSpace(s.done("key", "create", "--service", "store", "--user", "alice"))
	keys := account.NewKeys(s.open())
	for range 2 {
		_, err := s.authenticate(keys, "store", key)
		assert.OK(t, err)
	}
	s.done("key", "revoke", "5")
	_, err := s.authenticate(keys, "store", key)
	assert.Must(t, fault.Is(err, fault.Unauthorized), "a revoked key: %v", err)
	s.done("user", "add", "carol", "--role", "admin") // the last admin stays
	s.done("user", "role", "alice", "viewer", "--service", "store")
	who, err := s.authenticate(keys, "store", other)
	assert.Must(t, err == nil && who.Role == "viewer", "got %+v, %v; want a viewer", who, err)
	s.done("user", "disable", "alice")
	_, err = s.authenticate(keys, "store", other)
	assert.Must(t, fault.Is(err, fault.Unauthorized), "a disabled owner's key: %v", err)
}
