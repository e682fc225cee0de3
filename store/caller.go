package store

import "quartermaster/schema/db"

// buyer is a person or program whose only credential is a license or a code.
func buyer() db.Caller {
	return db.Caller{Service: "store", User: "license", Role: "member", Scope: "full", Via: "license"}
}

// provider is a payment provider, whose signature was good.
func providerCaller(name string) db.Caller {
	return db.Caller{Service: "store", User: name, Role: "member", Scope: "full", Via: "provider"}
}

// seesKeys reports whether the caller sees whole license keys: with a full-access key of a member or an admin, but
// never an agent, which may write them elsewhere.
func seesKeys(who db.Caller) bool {
	return who.Via != "mcp" && who.Scope == "full" && (who.Role == "member" || who.Role == "admin")
}
