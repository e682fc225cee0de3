package account

import (
	"context"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// Actor gives the Caller by which a command acts in the service as the user of that
// name, with that user's role there; its via stays cli. Refused: a name that nobody
// has, a user who is disabled, and one who has no role in the service.
func Actor(ctx context.Context, d *db.DB, name, service string) (db.Caller, error) {
	var u User
	err := d.View(ctx, func(c *db.Conn) (err error) {
		u, err = findUser(c, name)
		return err
	})
	switch {
	case err != nil:
		return db.Caller{}, err
	case u.Disabled:
		return db.Caller{}, fault.Forbiddenf("the user %s is disabled; `quartermaster user enable` changes that", schema.Quote(u.Name))
	case u.Roles[service] == "":
		return db.Caller{}, fault.Forbiddenf("the user %s has no role in the %s service; `quartermaster user role` gives one", schema.Quote(u.Name), service)
	}
	return db.Caller{Service: service, User: u.Name, Role: u.Roles[service], Scope: "full", Via: "cli"}, nil
}
