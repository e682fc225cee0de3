package db

import (
	"quartermaster/schema/fault"
)

// Caller is who asks, with everything that decides what they may do. It is an
// argument of every guarded function, never dug out of a context.
type Caller struct {
	Service string // store, maintenance, rental, reorder; "" for the appliance's own business
	User    string // the audit trail's actor: a user's name, "cli", "system"
	Role    string // viewer, member or admin
	Scope   string // read or full
	Via     string // rest, mcp, cli, license, provider; web, portal, buyer, request
	KeyID   int64  // the API key; 0 when there is none
	Session int64  // the session of staff; 0 when there is none
	Subject int64  // the tenant or the license whose session it is; 0 for others

	Request *Request // what the request brings beside its arguments; nil: none

	Unmailed bool // rows of a file that is imported: nobody is mailed

	quiet bool // the appliance's own bookkeeping, which leaves no audit entry
}

// systemUser is the actor of what the appliance does by itself.
const systemUser = "system"

// CLI is the operator at the command line, who may do everything.
func CLI(service string) Caller {
	return Caller{Service: service, User: "cli", Role: "admin", Scope: "full", Via: "cli"}
}

// System is the appliance acting by itself on behalf of a request, as when a ledger
// that is read posts what is due. It is audited as "system", by the way of who.
func System(who Caller) Caller {
	return Caller{Service: who.Service, User: systemUser, Role: "admin", Scope: "full", Via: who.Via,
		Unmailed: who.Unmailed}
}

// Bookkeeping is the appliance's own business that leaves no audit entry: delivery
// states, when a key was last used. It never changes business data.
func Bookkeeping() Caller {
	return Caller{User: systemUser, Role: "admin", Scope: "full", Via: "system", quiet: true}
}

// MayWrite refuses a read-only key and a viewer, by name. what is the tool or the
// route that was asked for.
func (c Caller) MayWrite(what string) error {
	if c.Scope != "full" {
		return fault.Forbiddenf("%s writes, and this API key is read-only: use a key with scope full", what)
	}
	if c.Role != "member" && c.Role != "admin" {
		return fault.Forbiddenf(
			"%s writes, and the user %s has the role %s, which only reads: role member or admin is needed",
			what, c.User, c.Role)
	}
	return nil
}
