package schema

import (
	"slices"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// ServiceNames are the names of the services in the order of their ports.
var ServiceNames = []string{"store", "maintenance", "rental", "reorder"}

// ServicesOn returns the services that are turned on, in order: those that `init --for` named and an admin added, by
// default all.
func ServicesOn(c *db.Conn) ([]string, error) {
	kept, err := c.Setting(db.SettingServices)
	if err != nil || kept == "" {
		return ServiceNames, err
	}
	named := strings.Split(kept, ",")
	return slices.DeleteFunc(slices.Clone(ServiceNames), func(s string) bool { return !slices.Contains(named, s) }), nil
}

// KeepsWhole refuses an operation on the whole appliance, such as copying the file, to anyone who is not an admin of
// every service that is turned on. The operator may.
func KeepsWhole(c *db.Conn, who db.Caller, act string) error {
	if who.User == "cli" || who.User == "system" {
		return nil
	}
	on, err := ServicesOn(c)
	if err != nil {
		return err
	}
	keeps, err := db.All(c, db.Text, `SELECT r.service FROM roles r JOIN users u ON u.id = r.user_id
		WHERE u.name = ? AND r.role = 'admin' AND u.disabled = 0 AND u.removed_at IS NULL`, who.User)
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(slices.Clone(on), func(s string) bool { return slices.Contains(keeps, s) })
	if len(others) > 0 {
		return fault.Forbiddenf("%s concerns all services and needs an admin of each; %s is not an admin of %s", act,
			who.User, strings.Join(others, ", "))
	}
	return nil
}
