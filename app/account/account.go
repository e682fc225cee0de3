// Package account has users with their roles, API keys, sessions, and authentication: from an Authorization header to a
// Caller.
//
// The names of the services come as arguments; the caller has checked them against the appliance's list.
package account

import (
	"context"
	"unicode/utf8"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Roles are a user's roles in a service. A viewer reads; a member and an admin read and write.
var Roles = []string{"viewer", "member", "admin"}

// Scopes are the scopes of a key.
var Scopes = []string{"read", "full"}

// guard refuses a caller who is no admin: only admins see and change users and keys.
func guard(who db.Caller) error {
	if who.Role != "admin" {
		return fault.Forbiddenf("only an admin may change users and API keys; %s has the role %s", who.User,
			schema.Quote(who.Role))
	}
	return nil
}

// update is db.Update for an admin, on the appliance's own data: its audit entries belong to no service unless they
// name one.
func update[T any](ctx context.Context, d *db.DB, who db.Caller, fn func(*db.Tx) (T, error)) (T, error) {
	var none T
	if err := guard(who); err != nil {
		return none, err
	}
	who.Service = ""
	return db.Update(ctx, d, who, fn)
}

// line refuses a text that is too long or has line breaks or control characters. The field is its argument.
func line(field, name, s string) error {
	if !utf8.ValidString(s) {
		return fault.Fieldf(field, "%s is not valid UTF-8", name)
	}
	if n := utf8.RuneCountInString(s); n > most {
		return fault.Fieldf(field, "%s has %d characters; at most %d are allowed", name, n, most)
	}
	for _, c := range s {
		if c < ' ' || c >= 0x7f && c < 0xa0 || c == '\u2028' || c == '\u2029' {
			return fault.Fieldf(field, "%s holds a control character; one line of text is allowed", name)
		}
	}
	return nil
}

// most is the largest number of characters of a name or a label.
const most = 200

// minute is an instant truncated to the minute.
func minute(i exact.Instant) exact.Instant { return i - i%60 }
