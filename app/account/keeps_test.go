package account

import (
	"context"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

func TestTheLastAdminStays(t *testing.T) {
	h, ctx, cli := newFixture(t), context.Background(), db.CLI("")
	assert.Value(h.add("ann", "admin", "store", "rental"))(t)
	assert.Value(h.add("ben", "admin", "store"))(t)
	tries := func(name string) map[string]error {
		_, demoted := SetRole(ctx, h.d, cli, name, "member", []string{"rental"}, nil)
		_, none := SetRole(ctx, h.d, cli, name, "none", []string{"rental"}, nil)
		_, disabled := disable(ctx, h.d, cli, name)
		_, removed := Remove(ctx, h.d, cli, name)
		return map[string]error{"demoted": demoted, "without a role": none, "disabled": disabled, "removed": removed}
	}
	for what, err := range tries("ann") {
		t.Run(what, func(t *testing.T) { refused(t, err, fault.Conflict, `"ann"`, "last admin", "rental") })
	}
	assert.Value(SetRole(ctx, h.d, cli, "ann", "viewer", []string{"store"}, nil))(t) // ben is left there
	_, err := disable(ctx, h.d, cli, "ben")
	refused(t, err, fault.Conflict, "store")
	assert.Value(h.add("eve", "admin", "store", "rental"))(t)
	assert.Value(disable(ctx, h.d, cli, "ben"))(t)
	assert.Value(Remove(ctx, h.d, cli, "ann"))(t)
	_, err = h.add("ann", "member", "store")
	refused(t, err, fault.Conflict, "cannot be used again")
	_, err = SetRole(ctx, h.d, cli, "ann", "admin", nil, []string{"store"})
	refused(t, err, fault.NotFound)
}

func TestRolesWithoutAServiceAreTheUsersRoles(t *testing.T) {
	h, ctx, cli := newFixture(t), context.Background(), db.CLI("")
	all := []string{"store", "maintenance", "rental", "reorder"}
	assert.Value(h.add("ann", "member", "store", "rental"))(t)
	u := assert.Value(SetRole(ctx, h.d, cli, "ann", "viewer", nil, all))(t)
	assert.That(t, len(u.Roles) == 2 && u.Roles["store"] == "viewer" && u.Roles["rental"] == "viewer", "got %v", u.Roles)
	u = assert.Value(SetRole(ctx, h.d, cli, "ann", "none", []string{"store", "rental"}, all))(t)
	assert.That(t, len(u.Roles) == 0, "got %v, want none", u.Roles)
	_, err := SetRole(ctx, h.d, cli, "ann", "none", nil, all)
	refused(t, err, fault.Invalid, "services")
	u = assert.Value(SetRole(ctx, h.d, cli, "ann", "member", nil, all))(t)
	assert.That(t, len(u.Roles) == 4, "got %v, want all four", u.Roles)
}

func TestAdminManagesOwnServicesOnly(t *testing.T) {
	h, ctx := newFixture(t), context.Background()
	assert.Value(h.add("root", "admin", "store", "rental"))(t)
	assert.Value(h.add("ann", "admin", "store"))(t)
	assert.Value(h.add("ben", "member", "store"))(t)
	assert.Value(h.add("eve", "member", "store", "rental"))(t)
	key, _ := h.key(NewKey{Service: "rental", User: "eve", Scope: "full"})
	ann := db.Caller{Service: "store", User: "ann", Role: "admin", Scope: "full", Via: "web"}
	add := func(services ...string) error {
		_, err := AddUser(ctx, h.d, ann, "new", "member", services)
		return err
	}
	role := func(name, service string) error {
		_, err := SetRole(ctx, h.d, ann, name, "viewer", []string{service}, nil)
		return err
	}
	makeKey := func(service, name string) error {
		_, _, err := CreateKey(ctx, h.d, ann, NewKey{Service: service, User: name, Scope: "full"})
		return err
	}
	revoke := func(id int64) error { _, err := RevokeKey(ctx, h.d, ann, id); return err }
	person := func(do func(context.Context, *db.DB, db.Caller, string) (User, error), name string) error {
		_, err := do(ctx, h.d, ann, name)
		return err
	}
	remove := func(name string) error { _, err := Remove(ctx, h.d, ann, name); return err }
	invite := func(name string) error { _, _, err := Invite(ctx, h.d, ann, name); return err }
	for about, err := range map[string]error{
		"a user of another service":   add("store", "rental"),
		"a role elsewhere":            role("eve", "rental"),
		"a key of another service":    makeKey("rental", "eve"),
		"a key of who keeps more":     makeKey("store", "eve"),
		"another service's key":       revoke(key.ID),
		"inviting who works there":    invite("eve"),
		"disabling who works there":   person(disable, "eve"),
		"removing who works there":    remove("eve"),
		"inviting an admin of more":   invite("root"),
		"disabling an admin of more":  person(disable, "root"),
		"demoting, in another's name": role("root", "rental"),
	} {
		t.Run(about, func(t *testing.T) { refused(t, err, fault.Forbidden, "ann") })
	}
	for about, err := range map[string]error{
		"a user here": add("store"), "a role here": role("eve", "store"), "a key here": makeKey("store", "ben"),
		"inviting": invite("ben"), "disabling": person(disable, "ben"), "enabling": person(enable, "ben"),
	} {
		assert.NoError(t, err, "%s", about)
	}
	keys := assert.Value(KeysOf(ctx, h.d, ann, ""))(t)
	assert.That(t, len(keys) == 1 && keys[0].Service == "store", "the keys that ann sees: %+v", keys)
}
