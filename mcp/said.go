package mcp

import (
	"quartermaster/schema"
	"quartermaster/schema/strict"
)

// said are the results that never change while the program runs, as they are sent.
type said struct {
	initialize     map[string][]byte // by revision
	discover       []byte
	handshakeLists [scopes][]byte
	statelessLists [scopes][]byte
	callTail       []byte // ends the result of a call in the stateless revision
}

// freshFor is how long a client may keep a list of tools, in milliseconds. Only
// another version of the program has another list.
const freshFor = 300_000

// manners tell an agent what holds for every tool.
const manners = " Every argument is a single value unless its schema says otherwise. Days are YYYY-MM-DD, months YYYY-MM," +
	" amounts of money whole cents in fields that end in _cents. A refused call says what was refused and what is allowed:" +
	" correct it and call again."

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

func say(s schema.Service, version string, tools [scopes][]*tool) said {
	me := implementation{Name: "quartermaster-" + s.Name, Title: s.Title, Version: version}
	every := common{Type: "complete", Meta: map[string]any{metaServer: me}}
	kept := cacheable{TTL: freshFor, Scope: "private", common: every}
	result := said{initialize: map[string][]byte{}}
	for _, revision := range revisions {
		if revision == statelessRevision {
			continue
		}
		result.initialize[revision] = must(struct {
			ProtocolVersion string         `json:"protocolVersion"`
			Capabilities    capabilities   `json:"capabilities"`
			ServerInfo      implementation `json:"serverInfo"`
			Instructions    string         `json:"instructions"`
		}{revision, capabilities{}, me, s.About + manners})
	}
	result.discover = must(struct {
		SupportedVersions []string     `json:"supportedVersions"`
		Capabilities      capabilities `json:"capabilities"`
		Instructions      string       `json:"instructions"`
		cacheable
	}{revisions, capabilities{}, s.About + manners, kept})
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

// must is for what is made of declarations alone, once, at the start.
func must(v any) []byte {
	b, err := strict.Marshal(v)
	if err != nil {
		panic("mcp: a declaration cannot be written as JSON: " + err.Error())
	}
	return b
}
