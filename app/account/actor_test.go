package account

import (
	"context"
	"strings"
	"testing"

	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

func TestActorHasTheUsersRole(t *testing.T) {
	h, ctx := newFixture(t), context.Background()
	must[User](t)(h.add("zoë", "member", "store", "rental"))
	must[User](t)(SetRole(ctx, h.d, db.CLI(""), "zoë", "viewer", []string{"rental"}, nil))
	for service, role := range map[string]string{"store": "member", "rental": "viewer"} {
		want := db.Caller{Service: service, User: "zoë", Role: role, Scope: "full", Via: "cli"}
		if got := must[db.Caller](t)(Actor(ctx, h.d, " zoë ", service)); got != want {
			t.Errorf("%s: got %+v, want %+v", service, got, want)
		}
	}
}

func TestActorIsRefusedByName(t *testing.T) {
	h, ctx := newFixture(t), context.Background()
	h.user("alice")
	h.user("bob")
	must[User](t)(Disable(ctx, h.d, db.CLI(""), "bob"))
	for _, c := range []struct {
		name, service, want string
		kind                fault.Kind
	}{
		{"carol", "store", `no user "carol"`, fault.NotFound},
		{"Alice", "store", `no user "Alice"`, fault.NotFound},
		{"", "store", `no user ""`, fault.NotFound},
		{"cli", "store", `no user "cli"`, fault.NotFound},
		{"bob", "store", `"bob" is disabled`, fault.Forbidden},
		{"alice", "reorder", `"alice" has no role in the reorder service`, fault.Forbidden},
	} {
		who, err := Actor(ctx, h.d, c.name, c.service)
		if !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.want) || who != (db.Caller{}) {
			t.Errorf("%q in %s: got %+v, %v", c.name, c.service, who, err)
		}
	}
}
