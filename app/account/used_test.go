package account

import (
	"context"
	"testing"
	"time"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

func TestLastUseIsKeptToTheMinute(t *testing.T) {
	h, ctx := newFixture(t), context.Background()
	h.user("alice")
	_, full := h.key(NewKey{Service: "store", User: "alice", Scope: "full"})
	k := NewKeys(h.d)
	ask := func() { t.Helper(); assert.Value(k.Authenticate(ctx, "store", "Bearer "+full, "192.0.2.1"))(t) }
	lastUse := func() string {
		t.Helper()
		at := assert.Value(KeysOf(ctx, h.d, db.CLI(""), ""))(t)[0].LastUsedAt
		if at == nil {
			return "never"
		}
		return at.String()
	}
	flush := func(want string) {
		t.Helper()
		assert.OK(t, k.Flush(ctx))
		assert.MustEqual(t, lastUse(), want, "last used")
	}
	flush("never")
	ask()
	assert.MustEqual(t, lastUse(), "never", "written on the request's path")
	flush("2026-11-20T12:00:00Z")
	version := assert.Value(h.d.Version())(t)
	h.pass(29 * time.Second) // 12:00:59, the same minute
	ask()
	assert.Must(t, len(k.used) == 0, "the same minute is noted twice")
	flush("2026-11-20T12:00:00Z")
	assert.MustEqual(t, assert.Value(h.d.Version())(t), version, "the same minute was written twice")
	h.pass(time.Second)
	ask()
	flush("2026-11-20T12:01:00Z")
	h.pass(-time.Hour) // a clock that is set back does not move it back
	ask()
	flush("2026-11-20T12:01:00Z")
	h.pass(2 * time.Hour)
	ask()
	ended, cancel := context.WithCancel(ctx)
	cancel()
	err := k.Flush(ended)
	assert.Must(t, err != nil, "written although the call had ended")
	flush("2026-11-20T13:01:00Z")
	assert.MustEqual(t, len(h.audit()), 2, "audit entries")
}
