package account

import (
	"context"
	"maps"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/session"
)

// SetRole gives a user the role in each of the services; the default is the services in which the user has a role, and
// all for a user without one. The role "none" removes it and needs the services. Without a change nothing is written;
// otherwise the user's sessions end, except the calling one.
func SetRole(ctx context.Context, d *db.DB, who db.Caller, name, role string, services, all []string) (User, error) {
	return update(ctx, d, who, func(tx *db.Tx) (User, error) {
		if role == NoRole && len(services) == 0 {
			return User{}, fault.Fieldf("role", "role: none removes a role; name the services")
		}
		if role != NoRole && !slices.Contains(Roles, role) {
			return User{}, noRole(role)
		}
		u, err := findUser(&tx.Conn, name)
		if err != nil {
			return User{}, err
		}
		if len(services) == 0 {
			if services = slices.Sorted(maps.Keys(u.Roles)); len(services) == 0 {
				services = all
			}
		}
		if err := keepsServices(&tx.Conn, tx.Who(), services); err != nil {
			return User{}, err
		}
		return u, u.setRoles(tx, role, services)
	})
}

// NoRole is the word that removes a role.
const NoRole = "none"

func (u *User) setRoles(tx *db.Tx, role string, services []string) error {
	changed := map[string]string{}
	var less []string // the services in which the user is no longer an admin
	for _, service := range services {
		if had := u.Roles[service]; had == role || had == "" && role == NoRole {
			continue
		}
		changed[service] = role
		if role != "admin" {
			less = append(less, service)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	if err := keepLastAdmin(&tx.Conn, *u, less); err != nil {
		return err
	}
	for service := range changed {
		if err := u.put(tx, service, role); err != nil {
			return err
		}
	}
	if _, err := endAccess(tx, u.id, tx.Who().Session); err != nil {
		return err
	}
	return tx.Audit("user.role", u.subject(), map[string]any{"name": u.Name, "roles": changed})
}

// endAccess ends a user's access from before a change of role, password or state: all sessions except one, whose number
// it returns, and an open invitation.
func endAccess(tx *db.Tx, user, except int64) (ended int, err error) {
	if ended, err = session.EndAll(tx, session.Staff, user, except); err != nil {
		return 0, err
	}
	return ended, session.Withdraw(tx, session.Staff, user)
}

// Removed is a removed user, with what has ended.
type Removed struct {
	User
	Keys     int `json:"keys"`
	Sessions int `json:"sessions"`
}

// Remove ends a user's roles, keys and sessions for good. The audit trail keeps the name, which cannot be used again.
func Remove(ctx context.Context, d *db.DB, who db.Caller, name string) (Removed, error) {
	return update(ctx, d, who, func(tx *db.Tx) (u Removed, err error) {
		u.User, err = findUser(&tx.Conn, name)
		if err != nil {
			return u, err
		}
		if err := keepsPerson(&tx.Conn, tx.Who(), u.User, "removes"); err != nil {
			return u, err
		}
		if err := keepLastAdmin(&tx.Conn, u.User, slices.Sorted(maps.Keys(u.Roles))); err != nil {
			return u, err
		}
		keys, err := db.All(&tx.Conn, scanKey, selectKeys+"WHERE k.user_id = ? AND k.revoked_at IS NULL ORDER BY k.id", u.id)
		if err != nil {
			return u, err
		}
		u.Keys = len(keys)
		for _, k := range keys {
			if err := k.revoke(tx); err != nil {
				return u, err
			}
		}
		if u.Sessions, err = endAccess(tx, u.id, 0); err != nil {
			return u, err
		}
		for _, table := range []string{"roles", "sign_ins"} {
			if _, err := tx.Exec("DELETE FROM "+table+" WHERE user_id = ?", u.id); err != nil {
				return u, err
			}
		}
		if _, err := tx.Exec("UPDATE users SET removed_at = ?, password = NULL WHERE id = ?", tx.Now(), u.id); err != nil {
			return u, err
		}
		return u, tx.Audit("user.removed", u.subject(), map[string]any{"name": u.Name})
	})
}

// setDisabled invalidates a user's keys from the next request on, or makes them valid again, except revoked ones.
func setDisabled(ctx context.Context, d *db.DB, who db.Caller, name string, disabled bool) (User, error) {
	does := map[bool]string{true: "disable", false: "enable"}[disabled]
	return update(ctx, d, who, func(tx *db.Tx) (User, error) {
		u, err := findUser(&tx.Conn, name)
		if err != nil {
			return User{}, err
		}
		if u.Disabled == disabled {
			return User{}, fault.Conflictf("the user %s is %sd already", schema.Quote(u.Name), does)
		}
		if err := keepsPerson(&tx.Conn, tx.Who(), u, does+"s"); err != nil {
			return User{}, err
		}
		if disabled {
			if err := keepLastAdmin(&tx.Conn, u, slices.Sorted(maps.Keys(u.Roles))); err != nil {
				return User{}, err
			}
		}
		if _, err := endAccess(tx, u.id, tx.Who().Session); err != nil {
			return User{}, err
		}
		u.Disabled = disabled
		if _, err := tx.Exec("UPDATE users SET disabled = ? WHERE id = ?", disabled, u.id); err != nil {
			return User{}, err
		}
		return u, tx.Audit("user."+does+"d", u.subject(), map[string]any{"name": u.Name})
	})
}
