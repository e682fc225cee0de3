package mcp

import (
	"fmt"
	"regexp"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/strict"
)

// prerendered are the results that never change while the program runs, as they are
// sent; of the two that open a conversation all but the instructions.
type prerendered struct {
	me             implementation
	kept           cacheable
	handshakeLists [scopes][]byte
	statelessLists [scopes][]byte
	callTail       []byte // ends the result of a call in the stateless revision
}

// freshFor is how long a client may keep a list of tools, in milliseconds. Only
// another version of the program has another list.
const freshFor = 300_000

// instructions tell an agent what holds for every tool.
const instructions = " Every argument is a single value unless its schema says otherwise. Days are YYYY-MM-DD, months YYYY-MM," +
	" amounts of money whole cents in fields that end in _cents. A refused call says what was refused and what is allowed:" +
	" correct it and call again. Lists say how many there are in all and, in next, how to go on with after. request_key makes a" +
	" repeated write safe."

// instructions are the service's, with what this caller needs to know: which day it is,
// what its key may do, and where what has no tool is done.
func (x *exchange) instructions() string {
	today, zone := x.e.o.Today()
	return fmt.Sprintf("%s%s Today is %s in the time zone %s. This key belongs to %s, role %s, scope %s. %s",
		x.e.service.About, instructions, today, zone, x.who.User, x.who.Role, x.who.Scope, x.e.service.Elsewhere)
}

// elsewhere says where what has no tool is done: of an operation by its name, of any
// other name what instructions say.
func (e *Endpoint) elsewhere(name string) string {
	op, ok := e.service.Op(strings.ReplaceAll(strings.ToLower(name), "-", "_"))
	switch {
	case !ok && e.service.Elsewhere == "":
		return ""
	case !ok:
		return e.service.Elsewhere + " "
	}
	var ways []string
	if op.Route != "" {
		ways = append(ways, "over REST by "+inPath.ReplaceAllString(op.Route, "{$1}"))
	}
	if op.Command != "" {
		ways = append(ways, "at the command line by `quartermaster "+op.Command+"`")
	}
	ways = append(ways, "on the screens at /do/"+op.Name)
	return op.Name + " is no tool here, it is done " + strings.Join(ways, ", ") + ". " + e.service.Elsewhere + " "
}

// inPath is an argument in a route.
var inPath = regexp.MustCompile(`[:*](\w+)`)

type implementation struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	Version string `json:"version"`
}

type capabilities struct {
	Tools struct{} `json:"tools"`
}

// common is what every result of the stateless revision carries.
type common struct {
	Type string         `json:"resultType"`
	Meta map[string]any `json:"_meta"`
}

// cacheable is what its lists carry beside that.
type cacheable struct {
	TTL   int    `json:"ttlMs"`
	Scope string `json:"cacheScope"`
	common
}

func render(s schema.Service, version string, tools [scopes][]*tool) prerendered {
	me := implementation{Name: "quartermaster-" + s.Name, Title: s.Title, Version: version}
	every := common{Type: "complete", Meta: map[string]any{metaServer: me}}
	kept := cacheable{TTL: freshFor, Scope: "private", common: every}
	result := prerendered{me: me, kept: kept}
	for scope, visible := range tools {
		list := make([]listed, len(visible))
		for i, t := range visible {
			list[i] = t.listed
		}
		result.handshakeLists[scope] = must(struct {
			Tools []listed `json:"tools"`
		}{list})
		result.statelessLists[scope] = must(struct {
			Tools []listed `json:"tools"`
			cacheable
		}{list, kept})
	}
	result.callTail = append([]byte{','}, must(every)[1:]...)
	return result
}

// initialized is the answer to initialize in the revision.
func (x *exchange) initialized(revision string) []byte {
	return must(struct {
		ProtocolVersion string         `json:"protocolVersion"`
		Capabilities    capabilities   `json:"capabilities"`
		ServerInfo      implementation `json:"serverInfo"`
		Instructions    string         `json:"instructions"`
	}{revision, capabilities{}, x.e.ready().prerendered.me, x.instructions()})
}

// discovered is the answer to server/discover.
func (x *exchange) discovered() []byte {
	return must(struct {
		SupportedVersions []string     `json:"supportedVersions"`
		Capabilities      capabilities `json:"capabilities"`
		Instructions      string       `json:"instructions"`
		cacheable
	}{revisions, capabilities{}, x.instructions(), x.e.ready().prerendered.kept})
}

// must is for what is made of declarations and of texts that are always valid.
func must(v any) []byte {
	b, err := strict.Marshal(v)
	if err != nil {
		panic("mcp: a declaration cannot be written as JSON: " + err.Error())
	}
	return b
}
