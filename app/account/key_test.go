package account

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

func TestKeysAreMadeListedAndRevoked(t *testing.T) {
	h, ctx, cli := newFixture(t), context.Background(), db.CLI("")
	h.user("alice")
	keys := assert.Value(KeysOf(ctx, h.d, cli, ""))(t)
	assert.Must(t, keys != nil && len(keys) == 0, "got %v, want an empty list", keys)
	first, full := h.key(NewKey{Service: "store", User: " alice ", Scope: "full", Label: " till 1 "})
	h.key(NewKey{Service: "rental", User: "alice", Scope: "read"})
	assert.Must(t, regexp.MustCompile(`^apk_[0-9a-f]{40}$`).MatchString(full) && first.Prefix == full[:8],
		"got the key %q with the prefix %q", full, first.Prefix)
	revoked := assert.Value(RevokeKey(ctx, h.d, cli, 2))(t)
	assert.Must(t, revoked.ID == 2 && revoked.RevokedAt != nil, "got %+v", revoked)
	b := assert.Value(json.Marshal(assert.Value(KeysOf(ctx, h.d, cli, ""))(t)))(t)
	want := `[{"id":1,"prefix":"` + full[:8] + `","label":"till 1","service":"store","user":"alice","scope":"full",` +
		`"created_at":"2026-11-20T12:00:30Z","last_used_at":null,"revoked_at":null},` +
		`{"id":2,"prefix":"` + revoked.Prefix + `","label":"","service":"rental","user":"alice","scope":"read",` +
		`"created_at":"2026-11-20T12:00:30Z","last_used_at":null,"revoked_at":"2026-11-20T12:00:30Z"}]`
	assert.Must(t, string(b) == want, "got\n%s\nwant\n%s", b, want)
	keys = assert.Value(KeysOf(ctx, h.d, cli, "rental"))(t)
	assert.Must(t, len(keys) == 1 && keys[0].ID == 2, "got %+v, want rental's one key", keys)
	wantAudit := []entry{
		{"store", "cli", "cli", "key.created", "key:1", `{"label":"till 1","prefix":"` + full[:8] + `","scope":"full","user":"alice"}`},
		{"rental", "cli", "cli", "key.created", "key:2", `{"label":"","prefix":"` + revoked.Prefix + `","scope":"read","user":"alice"}`},
		{"rental", "cli", "cli", "key.revoked", "key:2", `{"prefix":"` + revoked.Prefix + `","user":"alice"}`},
	}
	got := h.audit()[1:]
	assert.Must(t, slices.Equal(got, wantAudit), "audit:\n got %q\nwant %q", got, wantAudit)
}

func TestKeysAreRefusedByName(t *testing.T) {
	h, ctx, cli := newFixture(t), context.Background(), db.CLI("")
	h.user("alice")
	assert.Value(h.add("gone", "member", "store"))(t)
	assert.Value(disable(ctx, h.d, cli, "gone"))(t)
	k, _ := h.key(NewKey{Service: "store", User: "alice", Scope: "full"})
	assert.Value(RevokeKey(ctx, h.d, cli, k.ID))(t)
	before := h.audit()
	create := func(n NewKey) error { _, _, err := CreateKey(ctx, h.d, cli, n); return err }
	revoke := func(id int64) error { _, err := RevokeKey(ctx, h.d, cli, id); return err }
	for _, c := range []struct {
		about string
		err   error
		kind  fault.Kind
		words []string
	}{
		{"unknown user", create(NewKey{Service: "store", User: "bob", Scope: "full"}), fault.NotFound, []string{`"bob"`, "user list"}},
		{"disabled user", create(NewKey{Service: "store", User: "gone", Scope: "full"}), fault.Conflict, []string{`"gone"`, "disabled", "user enable"}},
		{"no role", create(NewKey{Service: "reorder", User: "alice", Scope: "full"}), fault.Conflict, []string{`"alice"`, "no role", `"reorder"`}},
		{"scope", create(NewKey{Service: "store", User: "alice", Scope: "write"}), fault.Invalid, []string{`"write"`, "read, full"}},
		{"label of two lines", create(NewKey{Service: "store", User: "alice", Scope: "full", Label: "a\nb"}), fault.Invalid, []string{"label", "control character"}},
		{"label of 201", create(NewKey{Service: "store", User: "alice", Scope: "full", Label: strings.Repeat("x", 201)}), fault.Invalid, []string{"label", "at most 200"}},
		{"unknown key", revoke(99), fault.NotFound, []string{"99", "key list"}},
		{"revoked key", revoke(k.ID), fault.Conflict, []string{k.Prefix, "revoked already", "2026-11-20T12:00:30Z"}},
	} {
		t.Run(c.about, func(t *testing.T) { refused(t, c.err, c.kind, c.words...) })
	}
	got := h.audit()
	assert.Must(t, slices.Equal(got, before), "a refused change left an entry: %q", got)
}

// TestNoKeyIsStoredInPlain: a key is shown once. Afterwards no file and no entry contains it in any readable form.
func TestNoKeyIsStoredInPlain(t *testing.T) {
	h, ctx := newFixture(t), context.Background()
	h.user("alice")
	_, full := h.key(NewKey{Service: "store", User: "alice", Scope: "full", Label: "marked label"})
	k := NewKeys(h.d)
	assert.Value(k.Authenticate(ctx, "store", "Bearer "+full, "127.0.0.1"))(t)
	_, err := k.Authenticate(ctx, "rental", "Bearer "+full, "127.0.0.1")
	refused(t, err, fault.Unauthorized)
	assert.Must(t, !strings.Contains(err.Error(), full[len(keyStart):]), "the refusal tells the key: %v", err)
	assert.OK(t, k.Flush(ctx))
	copied := filepath.Join(t.TempDir(), "copy.db")
	assert.OK(t, db.Backup(h.d.Path(), copied))
	raw := assert.Value(hex.DecodeString(full[len(keyStart):]))(t)
	found := 0
	for _, path := range []string{h.d.Path(), h.d.Path() + "-wal", copied} {
		b := assert.Value(os.ReadFile(path))(t)
		found += bytes.Count(b, []byte("marked label"))
		for _, secret := range [][]byte{[]byte(full), []byte(full[len(keyStart):]), bytes.ToUpper([]byte(full[len(keyStart):])), raw} {
			assert.Must(t, !bytes.Contains(b, secret), "%s holds the key", filepath.Base(path))
		}
	}
	if found < 2 { // where the key was written, and in the copy
		t.Fatalf("the search saw the label beside the key %d times; it looks in the wrong place", found)
	}
}
