package account

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// User is a person, or a program that acts like one, with a role in each of their services.
type User struct {
	Name     string            `json:"name"`
	Disabled bool              `json:"disabled"`
	Roles    map[string]string `json:"roles"` // service -> role

	SignedInAt  *exact.Instant `json:"signed_in_at,omitempty"` // the last time, with a password or an invitation
	Email       string         `json:"email,omitempty"`
	HasPassword bool           `json:"-"`
	id          int64
}

const userColumns = "id, name, disabled, signed_in_at, password IS NOT NULL, email"

func scanUser(r *db.Row) User {
	return User{id: r.Int(), Name: r.Text(), Disabled: r.Bool(), SignedInAt: r.InstantPtr(), HasPassword: r.Bool(),
		Email: r.Text(), Roles: map[string]string{}}
}

// findUser returns the user of that name with their roles. A removed one is not found.
func findUser(c *db.Conn, name string) (User, error) {
	u, found, err := db.One(c, scanUser, "SELECT "+userColumns+" FROM users WHERE name = ? AND removed_at IS NULL",
		strings.TrimSpace(name))
	if err != nil {
		return u, err
	}
	if !found {
		return u, noUser(name)
	}
	u.Roles, err = rolesOf(c, u.id)
	return u, err
}

func noUser(name string) error {
	return fault.NotFoundf("there is no user %s; `quartermaster user list` lists the users", schema.Quote(name))
}

// rolesOf returns a user's roles by service.
func rolesOf(c *db.Conn, id int64) (map[string]string, error) {
	roles := map[string]string{}
	err := db.Each(c, func(r *db.Row) error {
		service := r.Text()
		roles[service] = r.Text()
		return nil
	}, "SELECT service, role FROM roles WHERE user_id = ?", id)
	return roles, err
}

// ID is the user's number in the audit trail, which survives a change of the name.
func (u User) ID() int64 { return u.id }

func (u User) subject() string { return fmt.Sprintf("user:%d", u.id) }

// CheckName returns the stored form of a user's name: trimmed, 1 to 200 characters, all of them visible. The audit
// trail's names of other actors are refused, in any case.
func CheckName(name string) (string, error) {
	name = strings.TrimSpace(name)
	if name == "" {
		return "", fault.Fieldf("name", "the user's name is empty; enter 1 to %d characters", most)
	}
	if slices.Contains(otherActors, strings.ToLower(name)) {
		return "", fault.Fieldf("name", "%q is a reserved name; choose another name", name)
	}
	if err := line("name", "the user's name", name); err != nil {
		return "", err
	}
	if strings.ContainsFunc(name, invisible) {
		return "", fault.Fieldf("name", "the user's name holds an invisible character; type it again with plain spaces")
	}
	return name, nil
}

// otherActors are the audit trail's other actors: the operator, the appliance, people without an account, buyers'
// programs, payment providers.
var otherActors = []string{"cli", "system", "request", "portal", "buyer", "license", "provider", "stripe",
	"lemonsqueezy", "polar"}

// invisible reports whether a character is invisible or looks like a plain space, so that two names could look alike.
func invisible(c rune) bool {
	switch c {
	case ' ':
		return false
	// fillers and blanks that count as letters or symbols
	case '\u034f', '\u115f', '\u1160', '\u17b4', '\u17b5', '\u2800', '\u3164', '\uffa0', '\ufffc':
		return true
	}
	return !unicode.IsGraphic(c) || unicode.In(c, unicode.Zs, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point)
}

// alike finds another user, including removed ones, whose name differs only in case.
func alike(c *db.Conn, name string) (string, error) {
	names, err := db.All(c, db.Text, "SELECT name FROM users")
	if i := slices.IndexFunc(names, func(n string) bool { return n != name && strings.EqualFold(n, name) }); i >= 0 {
		return names[i], err
	}
	return "", err
}

func noRole(role string) error {
	return fault.Fieldf("role", "role: %s is not one of %s", schema.Quote(role), strings.Join(Roles, ", "))
}

// AddUser adds a user with the role in each of the services.
func AddUser(ctx context.Context, d *db.DB, who db.Caller, name, role string, services []string) (User, error) {
	return update(ctx, d, who, func(tx *db.Tx) (User, error) { return addUser(tx, name, role, services) })
}

func addUser(tx *db.Tx, name, role string, services []string) (User, error) {
	name, err := CheckName(name)
	if err != nil {
		return User{}, err
	}
	if !slices.Contains(Roles, role) {
		return User{}, noRole(role)
	}
	if err := keepsServices(&tx.Conn, tx.Who(), services); err != nil {
		return User{}, err
	}
	if len(services) == 0 {
		return User{}, fault.Fieldf("service", "the user %s would have no service; name at least one", schema.Quote(name))
	}
	gone, taken, err := db.One(&tx.Conn, db.Int, "SELECT removed_at IS NOT NULL FROM users WHERE name = ?", name)
	if err != nil {
		return User{}, err
	}
	if gone == 1 {
		return User{},
			fault.Conflictf("there was a user %s, whose name stays in Activity and cannot be used again; choose another name",
				schema.Quote(name))
	}
	if taken {
		return User{},
			fault.Conflictf("there is a user %s already; choose another name, or change the role with `quartermaster user role`",
				schema.Quote(name))
	}
	other, err := alike(&tx.Conn, name)
	if err != nil {
		return User{}, err
	}
	if other != "" {
		return User{}, fault.Conflictf("there is a user %s, whose name differs in case only; choose another name",
			schema.Quote(other))
	}
	u := User{Name: name, Roles: map[string]string{}}
	if u.id, err = tx.Insert("INSERT INTO users (name, created_at) VALUES (?, ?)", name, tx.Now()); err != nil {
		return User{}, err
	}
	for _, service := range services {
		if err := u.put(tx, service, role); err != nil {
			return User{}, err
		}
	}
	return u, tx.Audit("user.added", u.subject(), map[string]any{"name": u.Name, "roles": u.Roles})
}

// put sets the user's role in the service; none removes it.
func (u User) put(tx *db.Tx, service, role string) error {
	if role == NoRole {
		delete(u.Roles, service)
		_, err := tx.Exec("DELETE FROM roles WHERE user_id = ? AND service = ?", u.id, service)
		return err
	}
	u.Roles[service] = role
	_, err := tx.Exec(`INSERT INTO roles (user_id, service, role) VALUES (?, ?, ?)
		ON CONFLICT (user_id, service) DO UPDATE SET role = excluded.role`, u.id, service, role)
	return err
}

// Users lists all users whom the caller may see, by name.
func Users(ctx context.Context, d *db.DB, who db.Caller) (users []User, err error) {
	if err := guard(who); err != nil {
		return nil, err
	}
	return db.Read(ctx, d, func(c *db.Conn) ([]User, error) { return usersFor(c, who) })
}

// usersFor lists the users of the caller's own services, and those without a role; all for the operator.
func usersFor(c *db.Conn, who db.Caller) ([]User, error) {
	in, all, err := adminOf(c, who)
	if err != nil {
		return nil, err
	}
	users, err := db.All(c, scanUser, "SELECT "+userColumns+" FROM users WHERE removed_at IS NULL ORDER BY name")
	if err != nil {
		return nil, err
	}
	at := make(map[int64]int, len(users))
	for i, u := range users {
		at[u.id] = i
	}
	err = db.Each(c, func(r *db.Row) error {
		i, some := at[r.Int()]
		if service := r.Text(); some {
			users[i].Roles[service] = r.Text()
		}
		return nil
	}, "SELECT user_id, service, role FROM roles")
	return slices.DeleteFunc(users, func(u User) bool {
		for service := range u.Roles {
			if all || in[service] {
				return false
			}
		}
		return !all && len(u.Roles) > 0
	}), err
}

// Any reports whether a user exists. Without one, no request over HTTP is possible.
func Any(ctx context.Context, d *db.DB) (bool, error) { return db.Read(ctx, d, anyUser) }

func anyUser(c *db.Conn) (bool, error) {
	_, some, err := db.One(c, db.Int, "SELECT id FROM users LIMIT 1")
	return some, err
}

// First turns the services on and the others off, adds the first user, an admin in each of them, with one full-access
// key for each, and returns the keys by service. It is refused once users exist.
func First(ctx context.Context, d *db.DB, who db.Caller, name string, services []string) (map[string]string, error) {
	return update(ctx, d, who, func(tx *db.Tx) (map[string]string, error) {
		some, err := anyUser(&tx.Conn)
		if err != nil {
			return nil, err
		}
		if some {
			return nil, fault.Conflictf(
				"there are users already; add more with `quartermaster user add` and `quartermaster key create`")
		}
		u, err := addUser(tx, name, "admin", services)
		if err != nil {
			return nil, err
		}
		if len(services) < len(schema.ServiceNames) {
			if err := tx.SetSetting(db.SettingServices, strings.Join(services, ",")); err != nil {
				return nil, err
			}
		}
		keys := map[string]string{}
		for _, service := range services {
			_, key, err := createKey(tx, u, NewKey{Service: service, Scope: "full", Label: "first key"})
			if err != nil {
				return nil, err
			}
			keys[service] = key
		}
		return keys, nil
	})
}
