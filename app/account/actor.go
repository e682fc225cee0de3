package account

import (
	"context"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// Actor returns the Caller of a command that acts in the service as the user of that name, with that user's role there;
// via stays cli. For the appliance itself, service "", it is the user's highest role anywhere. An unknown name, a
// disabled user, and one without a role in the service are refused.
func Actor(ctx context.Context, d *db.DB, name, service string) (db.Caller, error) {
	u, err := db.Read(ctx, d, func(c *db.Conn) (User, error) { return findUser(c, name) })
	switch {
	case err != nil:
		return db.Caller{}, err
	case u.Disabled:
		return db.Caller{}, fault.Forbiddenf("the user %s is disabled; `quartermaster user enable` changes that",
			schema.Quote(u.Name))
	case service == "":
		return db.Caller{User: u.Name, Role: highest(u.Roles), Scope: "full", Via: "cli"}, nil
	case u.Roles[service] == "":
		return db.Caller{}, fault.Forbiddenf("the user %s has no role in the %s service; `quartermaster user role` gives one",
			schema.Quote(u.Name), service)
	}
	return db.Caller{Service: service, User: u.Name, Role: u.Roles[service], Scope: "full", Via: "cli"}, nil
}

// highest is the most powerful of the roles.
func highest(roles map[string]string) string {
	best := -1
	for _, role := range roles {
		best = max(best, slices.Index(Roles, role))
	}
	if best < 0 {
		return ""
	}
	return Roles[best]
}
