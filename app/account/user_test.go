package account

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

func TestUsersAreAddedChangedAndListed(t *testing.T) {
	h, ctx, cli := newFixture(t), context.Background(), db.CLI("")
	some := assert.Value(Any(ctx, h.d))(t)
	assert.Must(t, !some, "an empty database has a user")
	if users := assert.Value(Users(ctx, h.d, cli))(t); users == nil || len(users) != 0 {
		t.Fatalf("got %v, want an empty list", users)
	}
	assert.Value(h.add("  zoë  ", "member", "store", "rental"))(t)
	assert.Value(h.add("bob", "viewer", "store"))(t)
	assert.Value(SetRole(ctx, h.d, cli, "zoë", "admin", []string{"store", "reorder"}, nil))(t)
	assert.Value(SetRole(ctx, h.d, cli, "zoë", "member", []string{"rental"}, nil))(t) // unchanged: no entry
	assert.Value(setDisabled(ctx, h.d, cli, " bob", true))(t)
	some = assert.Value(Any(ctx, h.d))(t)
	assert.Must(t, some, "Any sees nobody")
	users := assert.Value(Users(ctx, h.d, cli))(t)
	assert.Must(t, len(users) == 2 && users[0].Name == "bob" && users[0].Disabled && users[1].Name == "zoë" &&
		!users[1].Disabled, "got %+v", users)
	if want := map[string]string{"store": "admin", "reorder": "admin", "rental": "member"}; !maps.Equal(users[1].Roles, want) {
		t.Fatalf("got roles %v, want %v", users[1].Roles, want)
	}
	assert.Value(setDisabled(ctx, h.d, cli, "bob", false))(t)
	u := assert.Value(Users(ctx, h.d, cli))(t)[0]
	assert.Must(t, !u.Disabled, "bob is still disabled")
	want := []entry{
		{"", "cli", "cli", "user.added", "user:1", `{"name":"zoë","roles":{"rental":"member","store":"member"}}`},
		{"", "cli", "cli", "user.added", "user:2", `{"name":"bob","roles":{"store":"viewer"}}`},
		{"", "cli", "cli", "user.role", "user:1", `{"name":"zoë","roles":{"reorder":"admin","store":"admin"}}`},
		{"", "cli", "cli", "user.disabled", "user:2", `{"name":"bob"}`},
		{"", "cli", "cli", "user.enabled", "user:2", `{"name":"bob"}`},
	}
	got := h.audit()
	assert.Must(t, slices.Equal(got, want), "audit:\n got %q\nwant %q", got, want)
}

func TestUsersAreRefusedByName(t *testing.T) {
	h, ctx, cli := newFixture(t), context.Background(), db.CLI("")
	h.user("alice")
	before := h.audit()
	set := func(name, role string) error {
		_, err := SetRole(ctx, h.d, cli, name, role, []string{"store"}, nil)
		return err
	}
	add := func(name, role string, services ...string) error {
		_, err := h.add(name, role, services...)
		return err
	}
	enable := func(name string) error { _, err := setDisabled(ctx, h.d, cli, name, false); return err }
	disable := func(name string) error { _, err := setDisabled(ctx, h.d, cli, name, true); return err }
	for _, c := range []struct {
		about string
		err   error
		kind  fault.Kind
		words []string
	}{
		{"empty", add("", "admin", "store"), fault.Invalid, []string{"name", "empty", "1 to 200"}},
		{"blank", add(" \t ", "admin", "store"), fault.Invalid, []string{"empty"}},
		{"201 characters", add(strings.Repeat("ü", 201), "admin", "store"), fault.Invalid, []string{"201", "at most 200"}},
		{"newline", add("al\nice", "admin", "store"), fault.Invalid, []string{"control character"}},
		{"tab", add("al\tice", "admin", "store"), fault.Invalid, []string{"control character"}},
		{"C1", add("al\u0085ice", "admin", "store"), fault.Invalid, []string{"control character"}},
		{"not UTF-8", add("al\xffice", "admin", "store"), fault.Invalid, []string{"UTF-8"}},
		{"cli", add("cli", "admin", "store"), fault.Invalid, []string{`"cli"`, "reserved"}},
		{"system", add("system", "admin", "store"), fault.Invalid, []string{`"system"`, "reserved"}},
		{"license", add("license", "admin", "store"), fault.Invalid, []string{`"license"`, "reserved"}},
		{"Stripe", add("Stripe", "admin", "store"), fault.Invalid, []string{`"Stripe"`, "reserved"}},
		{"zero width space", add("ali\u200bce", "admin", "store"), fault.Invalid, []string{"invisible"}},
		{"soft hyphen", add("ali\u00adce", "admin", "store"), fault.Invalid, []string{"invisible"}},
		{"no-break space", add("al\u00a0ice", "admin", "store"), fault.Invalid, []string{"invisible"}},
		{"right to left", add("\u202ecila", "admin", "store"), fault.Invalid, []string{"invisible"}},
		{"hangul filler", add("alice\u3164", "admin", "store"), fault.Invalid, []string{"invisible"}},
		{"variation selector", add("alice\ufe0f", "admin", "store"), fault.Invalid, []string{"invisible"}},
		{"another case", add("Alice", "admin", "store"), fault.Conflict, []string{`"alice"`, "case only"}},
		{"role", add("bob", "boss", "store"), fault.Invalid, []string{`"boss"`, "viewer, member, admin"}},
		{"no service", add("bob", "admin"), fault.Invalid, []string{`"bob"`, "service"}},
		{"duplicate", add("alice ", "admin", "store"), fault.Conflict, []string{`"alice"`, "already"}},
		{"unknown", set("bob", "admin"), fault.NotFound, []string{`"bob"`, "user list"}},
		{"unknown role", set("alice", "ADMIN"), fault.Invalid, []string{`"ADMIN"`, "viewer, member, admin"}},
		{"disable unknown", disable("bob"), fault.NotFound, []string{`"bob"`}},
		{"enable enabled", enable("alice"), fault.Conflict, []string{`"alice"`, "enabled already"}},
	} {
		t.Run(c.about, func(t *testing.T) { refused(t, c.err, c.kind, c.words...) })
	}
	got := h.audit()
	assert.Must(t, slices.Equal(got, before), "a refused change left an entry: %q", got)
	assert.Value(h.add(strings.Repeat("ü", 200), "admin", "store"))(t) // exactly the allowed length
	assert.Value(setDisabled(ctx, h.d, cli, "alice", true))(t)
	refused(t, disable("alice"), fault.Conflict, `"alice"`, "disabled already")
}

func TestOnlyAdminsManageUsersAndKeys(t *testing.T) {
	h, ctx := newFixture(t), context.Background()
	h.user("alice")
	h.key(NewKey{Service: "store", User: "alice", Scope: "full"})
	before := h.audit()
	for _, who := range []db.Caller{
		{User: "vic", Role: "viewer", Scope: "full", Via: "rest", Service: "store"},
		{User: "mel", Role: "member", Scope: "full", Via: "rest", Service: "store"},
		{User: "eve", Role: "", Scope: "full", Via: "rest", Service: "store"},
	} {
		tries := map[string]func() error{
			"AddUser":   func() error { _, err := AddUser(ctx, h.d, who, "bob", "admin", []string{"store"}); return err },
			"SetRole":   func() error { _, err := SetRole(ctx, h.d, who, "alice", "admin", []string{"store"}, nil); return err },
			"Disable":   func() error { _, err := setDisabled(ctx, h.d, who, "alice", true); return err },
			"Enable":    func() error { _, err := setDisabled(ctx, h.d, who, "alice", false); return err },
			"Users":     func() error { _, err := Users(ctx, h.d, who); return err },
			"First":     func() error { _, err := First(ctx, h.d, who, "bob", []string{"store"}); return err },
			"KeysOf":    func() error { _, err := KeysOf(ctx, h.d, who, ""); return err },
			"RevokeKey": func() error { _, err := RevokeKey(ctx, h.d, who, 1); return err },
			"CreateKey": func() error {
				_, _, err := CreateKey(ctx, h.d, who, NewKey{Service: "store", User: "alice", Scope: "full"})
				return err
			},
		}
		for name, try := range tries {
			t.Run(name+" by "+who.User, func(t *testing.T) { refused(t, try(), fault.Forbidden, who.User, "admin") })
		}
	}
	reader := db.Caller{User: "ann", Role: "admin", Scope: "read", Via: "rest", Service: "store"}
	_, err := AddUser(ctx, h.d, reader, "bob", "admin", []string{"store"})
	refused(t, err, fault.Forbidden, "read-only")
	got := h.audit()
	assert.Must(t, slices.Equal(got, before), "a refused change left an entry: %q", got)
}

func TestFirstMakesAnAdminWithAKeyForEachServiceOnce(t *testing.T) {
	h, ctx, cli := newFixture(t), context.Background(), db.CLI("")
	services := []string{"store", "rental"}
	_, err := First(ctx, h.d, cli, "a\nb", services)
	refused(t, err, fault.Invalid, "control character")
	keys := assert.Value(First(ctx, h.d, cli, "alice", services))(t)
	assert.Must(t, len(keys) == 2 && keys["store"] != keys["rental"], "got %v, want a key for each service", keys)
	k := NewKeys(h.d)
	for _, s := range services {
		who := assert.Value(k.Authenticate(ctx, s, "Bearer "+keys[s], "127.0.0.1"))(t)
		assert.Must(t, who.User == "alice" && who.Role == "admin" && who.Scope == "full" && who.Service == s,
			"%s: got %+v", s, who)
	}
	_, err = First(ctx, h.d, cli, "bob", services)
	refused(t, err, fault.Conflict, "users already", "user add")
	users := assert.Value(Users(ctx, h.d, cli))(t)
	assert.Must(t, len(users) == 1, "got %d users, want 1", len(users))
	var got []string
	for _, e := range h.audit() {
		got = append(got, e.service+" "+e.action+" "+e.subject)
	}
	want := []string{" user.added user:1", "store key.created key:1", "rental key.created key:2"}
	assert.Must(t, slices.Equal(got, want), "audit: got %q, want %q", got, want)
}
