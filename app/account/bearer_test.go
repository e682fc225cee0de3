package account

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

func TestAuthenticate(t *testing.T) {
	h, ctx, cli := newFixture(t), context.Background(), db.CLI("")
	assert.Value(h.add("alice", "viewer", "store", "rental"))(t)
	made, full := h.key(NewKey{Service: "store", User: "alice", Scope: "read"})
	k := NewKeys(h.d)
	want := db.Caller{Service: "store", User: "alice", Role: "viewer", Scope: "read", KeyID: made.ID}
	for _, authorization := range []string{"Bearer " + full, "bearer " + full, "BEARER    " + full} {
		assert.MustEqual(t, assert.Value(k.Authenticate(ctx, "store", authorization, "192.0.2.1"))(t), want,
			"%q", authorization)
	}

	_, err := k.Authenticate(ctx, "store", "", "192.0.2.1")
	refused(t, err, fault.Unauthorized, "is needed", "Authorization: Bearer", "store")
	missing := err.Error()

	_, unknownRole := h.key(NewKey{Service: "rental", User: "alice", Scope: "full"})
	_, err = takeRole(h.d, "alice", "rental")
	assert.OK(t, err)
	_, revoked := h.key(NewKey{Service: "store", User: "alice", Scope: "full"})
	assert.Value(RevokeKey(ctx, h.d, cli, 3))(t)
	assert.Value(h.add("gone", "member", "store"))(t)
	_, disabled := h.key(NewKey{Service: "store", User: "gone", Scope: "full"})
	assert.Value(disable(ctx, h.d, cli, "gone"))(t)
	_, err = k.Authenticate(ctx, "store", "Bearer "+mintKey(), "192.0.2.1")
	refused(t, err, fault.Unauthorized, "Authorization: Bearer", "store")
	unknown := err.Error()
	assert.Must(t, unknown != missing, "a wrong key is refused in the words of a missing one")
	for about, try := range map[string]struct{ service, authorization string }{
		"no key":           {"store", "Bearer"},
		"empty key":        {"store", "Bearer "},
		"another scheme":   {"store", "Basic " + full},
		"no scheme":        {"store", full},
		"no space":         {"store", "Bearer" + full},
		"a tab":            {"store", "Bearer\t" + full},
		"space before":     {"store", " Bearer " + full},
		"space behind":     {"store", "Bearer " + full + " "},
		"short":            {"store", "Bearer " + full[:len(full)-1]},
		"long":             {"store", "Bearer " + full + "0"},
		"upper case":       {"store", "Bearer " + strings.ToUpper(full)},
		"upper case digit": {"store", "Bearer apk_" + strings.Repeat("A", 40)},
		"another prefix":   {"store", "Bearer rk__" + full[4:]},
		"two":              {"store", "Bearer " + full + ", Bearer " + full},
		"revoked":          {"store", "Bearer " + revoked},
		"disabled owner":   {"store", "Bearer " + disabled},
	} {
		t.Run(about, func(t *testing.T) {
			_, err := k.Authenticate(ctx, try.service, try.authorization, about)
			refused(t, err, fault.Unauthorized)
			assert.Must(t, err.Error() == unknown, "got %q, want the words for an unknown key", err)
		})
	}
	for about, key := range map[string]string{"another service's": full, "owner without a role": unknownRole} {
		t.Run(about, func(t *testing.T) {
			_, err := k.Authenticate(ctx, "rental", "Bearer "+key, "192.0.2.2")
			refused(t, err, fault.Unauthorized)
			want := strings.ReplaceAll(unknown, "store", "rental")
			assert.Must(t, err.Error() == want, "got %q, want %q", err, want)
		})
	}
}

// takeRole removes a role, which no command does.
func takeRole(d *db.DB, user, service string) (int, error) {
	return db.Update(context.Background(), d, db.Bookkeeping(), func(tx *db.Tx) (int, error) {
		return tx.Exec("DELETE FROM roles WHERE service = ? AND user_id = (SELECT id FROM users WHERE name = ?)", service, user)
	})
}

// TestRevocationAppliesToTheNextRequest: what one process revokes, another refuses at its next request.
func TestRevocationAppliesToTheNextRequest(t *testing.T) {
	ctx, cli := context.Background(), db.CLI("")
	h := newFixture(t)
	other := h.open(h.d.Path())
	for name, d := range map[string]*db.DB{"same handle": h.d, "another handle": other} {
		t.Run(name, func(t *testing.T) {
			user := strings.ReplaceAll(name, " ", "-")
			h.user(user)
			made, full := h.key(NewKey{Service: "store", User: user, Scope: "full"})
			_, spare := h.key(NewKey{Service: "store", User: user, Scope: "full"})
			k := NewKeys(h.d)
			ask := func(key string) (db.Caller, error) { return k.Authenticate(ctx, "store", "Bearer "+key, "192.0.2.1") }
			assert.Value(ask(full))(t)
			assert.Value(ask(spare))(t)
			assert.Value(RevokeKey(ctx, d, cli, made.ID))(t)
			_, err := ask(full)
			refused(t, err, fault.Unauthorized)
			assert.Value(SetRole(ctx, d, cli, user, "viewer", []string{"store"}, nil))(t)
			assert.MustEqual(t, assert.Value(ask(spare))(t).Role, "viewer", "got the role")
			assert.Value(disable(ctx, d, cli, user))(t)
			_, err = ask(spare)
			refused(t, err, fault.Unauthorized)
			assert.Value(enable(ctx, d, cli, user))(t)
			assert.Value(ask(spare))(t)
			_, err = takeRole(d, user, "store")
			assert.OK(t, err)
			_, err = ask(spare)
			refused(t, err, fault.Unauthorized)
		})
	}
}

// TestNoRequestAfterARevocationPasses authenticates from many goroutines while keys are revoked, in this process or
// another. A request that begins after the revocation is refused.
func TestNoRequestAfterARevocationPasses(t *testing.T) {
	h, ctx := newFixture(t), context.Background()
	h.user("alice")
	handles := []*db.DB{h.d, h.open(h.d.Path())}
	k := NewKeys(h.d)
	for round := range 40 {
		made, full := h.key(NewKey{Service: "store", User: "alice", Scope: "full"})
		_, steady := h.key(NewKey{Service: "store", User: "alice", Scope: "full"})
		var done, passed atomic.Bool
		var all, warm sync.WaitGroup
		for range 8 {
			all.Add(1)
			warm.Add(1)
			go func() {
				defer all.Done()
				for first := true; ; first = false {
					after := done.Load()
					_, err := k.Authenticate(ctx, "store", "Bearer "+full, "192.0.2.1")
					if err == nil && after {
						passed.Store(true)
					}
					if first {
						warm.Done()
					}
					if after {
						return
					}
					_, err = k.Authenticate(ctx, "store", "Bearer "+steady, "192.0.2.1")
					assert.NoError(t, err, "the other key")
				}
			}()
		}
		warm.Wait()
		_, err := RevokeKey(ctx, handles[round%2], db.CLI(""), made.ID)
		assert.NoError(t, err)
		done.Store(true)
		all.Wait()
		assert.Must(t, !passed.Load(), "round %d: a request that began after the revocation passed", round)
	}
}

func TestCacheIsBounded(t *testing.T) {
	k := NewKeys(nil)
	for i := range maxSeen + 100 {
		k.remember([32]byte{byte(i), byte(i >> 8)}, &seenKey{}, k.stamp)
	}
	assert.MustEqual(t, len(k.seen), maxSeen, "keys are remembered")
	h, ctx := newFixture(t), context.Background()
	k = NewKeys(h.d)
	for range 50 {
		_, err := k.Authenticate(ctx, "store", "Bearer "+mintKey(), "192.0.2.1")
		assert.Must(t, err != nil, "an unknown key passed")
	}
	assert.Must(t, len(k.seen) == 0, "%d unknown keys are remembered", len(k.seen))
}

// TestVersionCheckServesEarlierRequestsOnly: a version check serves only requests that arrived before it began. One
// that was under way may have read the version before a revocation that the request must see.
func TestVersionCheckServesEarlierRequestsOnly(t *testing.T) {
	h, ctx := newFixture(t), context.Background()
	h.user("alice")
	made, full := h.key(NewKey{Service: "store", User: "alice", Scope: "full"})
	k := NewKeys(h.d)
	before := k.begun.Load()
	assert.Value(k.Authenticate(ctx, "store", "Bearer "+full, "192.0.2.1"))(t)
	under := k.begun.Load()
	assert.Value(RevokeKey(ctx, h.d, db.CLI(""), made.ID))(t)
	assert.OK(t, k.lookSince(before))
	assert.Must(t, k.begun.Load() == under && len(k.seen) == 1, "looked again for a request that the last look serves")
	assert.OK(t, k.lookSince(under))
	assert.Must(t, k.begun.Load() == under+1 && len(k.seen) == 0,
		"a request was served by a look that had begun before it came")
}

// TestKeyReadDuringAChangeIsNotCached: a key that was read while a credential changed is valid for its own
// request alone.
func TestKeyReadDuringAChangeIsNotCached(t *testing.T) {
	h, ctx := newFixture(t), context.Background()
	h.user("alice")
	_, first := h.key(NewKey{Service: "store", User: "alice", Scope: "full"})
	_, full := h.key(NewKey{Service: "store", User: "alice", Scope: "full"})
	k := NewKeys(h.d)
	assert.Value(k.Authenticate(ctx, "store", "Bearer "+first, "192.0.2.1"))(t)
	assert.Value(SetRole(ctx, h.d, db.CLI(""), "alice", "viewer", []string{"store"}, nil))(t)
	hash, _ := bearer("Bearer " + full)
	who, found, err := k.read(ctx, hash, 0)
	assert.Must(t, err == nil && found && who.Role == "viewer", "got %+v, %v, %v", who, found, err)
	assert.Must(t, k.seen[hash] == nil, "remembered beside what was read before the change")
	assert.Value(k.Authenticate(ctx, "store", "Bearer "+full, "192.0.2.1"))(t)
	assert.Must(t, k.seen[hash] != nil && len(k.seen) == 1,
		"%d keys are remembered, want the one that was read since", len(k.seen))
}

// TestRequestsUseIndexes: neither a request nor the flush scans a table.
func TestRequestsUseIndexes(t *testing.T) {
	h := newFixture(t)
	err := h.d.View(context.Background(), func(c *db.Conn) error {
		for _, query := range []string{selectCaller, selectStamp, setLastUse} {
			s, err := c.Prepare("EXPLAIN QUERY PLAN " + query)
			if err != nil {
				return err
			}
			defer s.Reset()
			steps := 0
			for row, err := s.Step(); row != nil || err != nil; row, err = s.Step() {
				if err != nil {
					return err
				}
				steps++
				_, _, _, detail := row.Int(), row.Int(), row.Int(), row.Text()
				if strings.HasPrefix(detail, "SCAN") && detail != "SCAN credential_stamp" { // a table of one row
					t.Errorf("%s\n%s", query, detail)
				}
			}
			assert.That(t, steps != 0, "%s: no plan", query)
		}
		return nil
	})
	assert.OK(t, err)
}

var bearerForm = regexp.MustCompile(`^(?i:bearer) +apk_[0-9a-f]{40}$`)

func FuzzBearer(f *testing.F) {
	key := "apk_0123456789abcdef0123456789abcdef01234567"
	for _, s := range []string{
		"", "Bearer", "Bearer ", "Bearer " + key, "bEARER   " + key, "Bearer\t" + key, "Bearer " + key + " ", key,
		"Bearer apk_0123456789ABCDEF0123456789abcdef01234567", "Bearer apk_", "Basic " + key, "Be\u0430rer " + key, "Bearer \x00" + key[1:],
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		_, ok := bearer(s)
		assert.Must(t, ok == bearerForm.MatchString(s), "%q: read as a key: %v", s, ok)
	})
}
