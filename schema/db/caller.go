package db

import (
	"quartermaster/schema/fault"
)

// Caller is the author of a call, with everything that determines their permissions. It is an argument of every guarded
// function, never taken from a context.
type Caller struct {
	Service string // store, maintenance, rental, reorder; "" for the appliance itself
	User    string // the audit trail's actor: a user's name, "cli", "system"
	Role    string // viewer, member or admin
	Scope   string // read or full
	Via     string // rest, mcp, cli, license, provider; web, portal, buyer, request
	KeyID   int64  // the API key; 0 if there is none
	Session int64  // the session of staff; 0 if there is none
	Subject int64  // the tenant or the license of the session; 0 for others

	Request *Request // what the request carries beside its arguments; nil: none

	Unmailed bool // rows of an imported file: no mail is sent

	quiet bool // the appliance's own bookkeeping, which leaves no audit entry
}

// systemUser is the actor of the appliance's own actions.
const systemUser = "system"

// CLI is the operator at the command line, who may do everything.
func CLI(service string) Caller {
	return Caller{Service: service, User: "cli", Role: "admin", Scope: "full", Via: "cli"}
}

// System is the appliance acting on its own during a request, such as posting due charges when a ledger is read. It is
// audited as "system", with the interface of who.
func System(who Caller) Caller {
	return Caller{Service: who.Service, User: systemUser, Role: "admin", Scope: "full", Via: who.Via,
		Unmailed: who.Unmailed}
}

// Bookkeeping is the appliance's own writes without an audit entry: delivery states, a key's last use. It never changes
// business data.
func Bookkeeping() Caller {
	return Caller{User: systemUser, Role: "admin", Scope: "full", Via: "system", quiet: true}
}

// MayWrite refuses a read-only key and a viewer, by name. what is the called tool or route.
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
