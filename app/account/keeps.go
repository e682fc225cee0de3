package account

import (
	"maps"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// An admin manages the roles and keys of their own services, and users whose roles are all in those. The operator at
// the command line and the appliance itself manage all of them.

// adminOf returns the services in which the caller is an admin; all is true for the operator.
func adminOf(c *db.Conn, who db.Caller) (in map[string]bool, all bool, err error) {
	if who.User == "cli" || who.User == "system" {
		return nil, true, nil
	}
	services, err := db.All(c, db.Text, `SELECT r.service FROM roles r JOIN users u ON u.id = r.user_id
		WHERE u.name = ? AND r.role = 'admin' AND u.disabled = 0 AND u.removed_at IS NULL`, who.User)
	in = map[string]bool{}
	for _, s := range services {
		in[s] = true
	}
	return in, false, err
}

// keepsServices refuses a caller who is not an admin of each of the services.
func keepsServices(c *db.Conn, who db.Caller, services []string) error {
	in, all, err := adminOf(c, who)
	if err != nil || all {
		return err
	}
	for _, s := range services {
		if !in[s] {
			return fault.Forbiddenf("only an admin of the service %s may change its users and API keys; %s is not one",
				schema.Quote(s), who.User)
		}
	}
	return nil
}

// keepsPerson refuses an admin who is not one of every service in which the user has a role; does is the action:
// "disables".
func keepsPerson(c *db.Conn, who db.Caller, u User, does string) error {
	in, all, err := adminOf(c, who)
	if err != nil || all {
		return err
	}
	var others []string
	for _, s := range slices.Sorted(maps.Keys(u.Roles)) {
		if !in[s] {
			others = append(others, s)
		}
	}
	if len(others) > 0 {
		return fault.Forbiddenf("only an admin of every service in which %s has a role %s them; %s is not an admin of %s",
			schema.Quote(u.Name), does, who.User, strings.Join(others, ", "))
	}
	return nil
}

// keepLastAdmin refuses to remove a service's last admin.
func keepLastAdmin(c *db.Conn, u User, services []string) error {
	if u.Disabled {
		return nil
	}
	for _, s := range services {
		if u.Roles[s] != "admin" {
			continue
		}
		_, others, err := db.One(c, db.Int, `SELECT 1 FROM roles r JOIN users u ON u.id = r.user_id
			WHERE r.service = ? AND r.role = 'admin' AND r.user_id <> ? AND u.disabled = 0 AND u.removed_at IS NULL LIMIT 1`, s,
			u.id)
		if err != nil {
			return err
		}
		if !others {
			return fault.Conflictf("%s is the last admin of the service %s; make another admin first", schema.Quote(u.Name), s)
		}
	}
	return nil
}

// AdminsOfAll makes the admins of all of the services admins of another one, too.
func AdminsOfAll(tx *db.Tx, services []string, another string) error {
	_, err := tx.Exec(`INSERT INTO roles (user_id, service, role)
		SELECT r.user_id, ?1, 'admin' FROM roles r JOIN users u ON u.id = r.user_id
		WHERE r.role = 'admin' AND u.removed_at IS NULL AND r.service IN (SELECT value FROM json_each(?2))
		GROUP BY r.user_id HAVING count(*) = ?3
		ON CONFLICT (user_id, service) DO UPDATE SET role = 'admin'`, another, jsonOf(services), len(services))
	return err
}

func jsonOf(words []string) string { return `["` + strings.Join(words, `","`) + `"]` }
