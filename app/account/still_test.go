package account

import (
	"context"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// TestAccessIsLookedUpAgainInTheWrite revokes the access of authenticated users. Their write is refused in its
// transaction and rolled back.
func TestAccessIsLookedUpAgainInTheWrite(t *testing.T) {
	h, ctx, cli := newFixture(t), context.Background(), db.CLI("")
	h.d.OnWrite(MayStill)
	keys, sessions := NewKeys(h.d), NewSessions(h.d)
	byKey := func(name string) db.Caller {
		_, key := h.key(NewKey{Service: "store", User: name, Scope: "full"})
		return assert.Value(keys.Authenticate(ctx, "store", "Bearer "+key, "192.0.2.1"))(t)
	}
	bySession := func(name string) db.Caller {
		who, _, err := sessions.Authenticate(ctx, h.accept(sessions, name), "store")
		assert.OK(t, err)
		return who
	}
	write := func(who db.Caller, word string) error {
		return db.Exec(ctx, h.d, who.Asking(&db.Request{}), func(tx *db.Tx) error {
			if err := tx.SetSetting("word", word); err != nil {
				return err
			}
			return tx.Audit("word.set", "settings", nil)
		})
	}
	for name, c := range map[string]struct {
		in   func(string) db.Caller
		lose func(string, db.Caller) error
		kind fault.Kind
	}{
		"a key is revoked": {byKey, func(_ string, who db.Caller) error {
			_, err := RevokeKey(ctx, h.d, cli, who.KeyID)
			return err
		}, fault.Unauthorized},
		"a user with a key is disabled": {byKey, func(name string, _ db.Caller) error {
			_, err := disable(ctx, h.d, cli, name)
			return err
		}, fault.Unauthorized},
		"a role with a key is another": {byKey, func(name string, _ db.Caller) error {
			_, err := SetRole(ctx, h.d, cli, name, "viewer", []string{"store"}, nil)
			return err
		}, fault.Forbidden},
		"a session is ended by a new role": {bySession, func(name string, _ db.Caller) error {
			_, err := SetRole(ctx, h.d, cli, name, "viewer", []string{"store"}, nil)
			return err
		}, fault.Unauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Value(h.add(name, "member", "store"))(t)
			who := c.in(name)
			assert.OK(t, write(who, name), "with access")
			assert.OK(t, c.lose(name, who))
			refused(t, write(who, "after "+name), c.kind, "nothing was written")
			assert.Equal(t, h.number("SELECT count(*) FROM settings WHERE name = 'word' AND value = ?", name), 1,
				"a refused write was kept")
		})
	}
}
