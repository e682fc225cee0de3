package account

import (
	"context"
	"testing"
	"time"

	"quartermaster/schema/db"
)

func TestLastUseIsKeptToTheMinute(t *testing.T) {
	h, ctx := newFixture(t), context.Background()
	h.user("alice")
	_, full := h.key(NewKey{Service: "store", User: "alice", Scope: "full"})
	k := NewKeys(h.d)
	ask := func() { t.Helper(); must[db.Caller](t)(k.Authenticate(ctx, "store", "Bearer "+full, "192.0.2.1")) }
	lastUse := func() string {
		t.Helper()
		at := must[[]Key](t)(KeysOf(ctx, h.d, db.CLI(""), ""))[0].LastUsedAt
		if at == nil {
			return "never"
		}
		return at.String()
	}
	flush := func(want string) {
		t.Helper()
		if err := k.Flush(ctx); err != nil {
			t.Fatal(err)
		}
		if got := lastUse(); got != want {
			t.Fatalf("last used %s, want %s", got, want)
		}
	}
	flush("never")
	ask()
	if got := lastUse(); got != "never" {
		t.Fatalf("written on the request's path: %s", got)
	}
	flush("2026-11-20T12:00:00Z")
	version := must[int64](t)(h.d.Version())
	h.pass(29 * time.Second) // 12:00:59, the same minute
	ask()
	if len(k.used) != 0 {
		t.Fatal("the same minute is noted twice")
	}
	flush("2026-11-20T12:00:00Z")
	if now := must[int64](t)(h.d.Version()); now != version {
		t.Fatal("the same minute was written twice")
	}
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
	if err := k.Flush(ended); err == nil {
		t.Fatal("written although the call had ended")
	}
	flush("2026-11-20T13:01:00Z")
	if n := len(h.audit()); n != 2 {
		t.Fatalf("%d audit entries, want the user's and the key's", n)
	}
}
