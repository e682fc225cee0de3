package mcp

import (
	"net/http"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/strict"
)

// exchange is one message and its answer.
type exchange struct {
	e         *Endpoint
	w         http.ResponseWriter
	r         *http.Request
	who       db.Caller
	id        string // of the HTTP request, for the log
	stateless bool
}

// answer returns the HTTP status and, appended to b, the body. A notification has none and is ignored: a stateless
// endpoint needs none, and a tool whose call cannot be answered is not called.
func (x *exchange) answer(b, body []byte) (status int, answer []byte) {
	x.stateless = saysStateless(x.r.Header)
	m, bad := readMessage(body)
	if bad == nil {
		x.stateless, bad = eraOf(x.r.Header, m)
	}
	if bad != nil {
		return x.wrong(m, bad)
	}
	if m.id == nil {
		return http.StatusAccepted, nil
	}
	b = append(appendHead(b, m.id, x.stateless), `,"result":`...)
	if b, bad = x.result(b, m); bad != nil {
		return x.wrong(m, bad)
	}
	return http.StatusOK, append(b, '}')
}

func (x *exchange) wrong(m message, bad *wrong) (int, []byte) {
	return bad.status(x.stateless), bad.append(nil, m.id, x.stateless)
}

// result appends the request's result to b.
func (x *exchange) result(b []byte, m message) ([]byte, *wrong) {
	if x.stateless {
		if bad := checkStateless(x.r.Header, m); bad != nil {
			return nil, bad
		}
	}
	switch {
	case m.method == "tools/call":
		return x.call(b, m.params)
	case m.method == "tools/list":
		return x.list(b, m.params)
	case m.method == "server/discover" && x.stateless:
		return append(b, x.discovered()...), nil
	case m.method == "initialize" && !x.stateless:
		return x.initialize(b, m.params)
	case m.method == "ping" && !x.stateless:
		return append(b, "{}"...), nil
	}
	return nil, &wrong{code: methodNotFound, text: "there is no method " + schema.Quote(m.method) + " here; there are " +
		methods(x.stateless)}
}

func methods(stateless bool) string {
	if stateless {
		return "server/discover, tools/list, tools/call"
	}
	return "initialize, ping, tools/list, tools/call"
}

func (x *exchange) initialize(b []byte, params strict.Value) ([]byte, *wrong) {
	asked, ok := member(params, "protocolVersion", strict.String)
	if !ok {
		return nil, &wrong{code: invalidParams, text: "params.protocolVersion is missing: a string such as " +
			latestHandshake}
	}
	return append(b, x.initialized(negotiate(asked.Text()))...), nil
}

// list returns the tools that the key's scope allows, in one page without a cursor.
func (x *exchange) list(b []byte, params strict.Value) ([]byte, *wrong) {
	if cursor, given := params.Get("cursor"); given && cursor.Kind() != strict.Null && string(cursor.Raw()) != `""` {
		return nil, &wrong{code: invalidParams, text: "cursor: the list has a single page and no cursor"}
	}
	lists := &x.e.ready().prerendered.handshakeLists
	if x.stateless {
		lists = &x.e.ready().prerendered.statelessLists
	}
	return append(b, lists[x.scope()]...), nil
}
