package mcp

import (
	"net/http"
	"strconv"

	"quartermaster/schema/strict"
)

// message is a received JSON-RPC message.
type message struct {
	id     []byte       // as it stands in the body; nil for a notification
	method string       // "tools/call"
	params strict.Value // an object, or the zero Value if there are none
}

// The codes of JSON-RPC, and of the stateless revision.
const (
	parseError         = -32700
	invalidRequest     = -32600
	methodNotFound     = -32601
	invalidParams      = -32602
	headerMismatch     = -32020
	unsupportedVersion = -32022
)

// wrong is a JSON-RPC error: a fault of the message, not of a tool's task.
type wrong struct {
	code int
	text string
	data []byte // JSON; nil if there is none
}

// status is the HTTP status of the error. The handshake revisions answer every readable request with 200; the stateless
// one has a status for each code.
func (x *wrong) status(stateless bool) int {
	switch {
	case x.code == methodNotFound && stateless:
		return http.StatusNotFound
	case (x.code == methodNotFound || x.code == invalidParams) && !stateless:
		return http.StatusOK
	}
	return http.StatusBadRequest
}

// maxDepth bounds how deep a message may be nested, the envelope included.
const maxDepth = strict.MaxDepth

// readMessage reads the envelope. With an error it returns the id if it could be read.
func readMessage(body []byte) (m message, x *wrong) {
	v, err := strict.Parse(body, maxDepth)
	if err != nil {
		return m, &wrong{code: parseError, text: "the body cannot be read as JSON: " + err.Error()}
	}
	switch v.Kind() {
	case strict.Object:
	case strict.Array:
		return m, &wrong{code: invalidRequest, text: "batches are not accepted; send one message a request"}
	default:
		return m, &wrong{code: invalidRequest, text: "the message is " + v.Kind().String() + "; a JSON-RPC object is needed"}
	}
	var version, id, method, params strict.Value
	var hasID, hasParams bool
	for name, member := range v.Fields {
		switch string(name) {
		case "jsonrpc":
			version = member
		case "id":
			id, hasID = member, true
		case "method":
			method = member
		case "params":
			params, hasParams = member, true
		}
	}
	idKind := id.Kind()
	if idKind == strict.String || idKind == strict.Number {
		m.id = id.Raw()
	}
	m.method = method.Text()
	switch {
	case version.Text() != "2.0":
		x = &wrong{code: invalidRequest, text: `jsonrpc must be "2.0"`}
	case hasID && m.id == nil:
		x = &wrong{code: invalidRequest, text: "id is " + idKind.String() + "; it takes a string or a number; a " +
			"notification has none"}
	case method.Kind() != strict.String:
		x = &wrong{code: invalidRequest, text: "method is missing or not a string; only requests and notifications are " +
			"accepted"}
	case hasParams && params.Kind() == strict.Array:
		x = &wrong{code: invalidParams, text: "params is an array; it takes an object with the parameters by name"}
	case hasParams && params.Kind() != strict.Object:
		x = &wrong{code: invalidRequest, text: "params is " + params.Kind().String() + "; it takes an object"}
	default:
		m.params = params
	}
	return m, x
}

// member returns the object's member name when it is of the kind.
func member(v strict.Value, name string, kind strict.Kind) (strict.Value, bool) {
	f, ok := v.Get(name)
	return f, ok && f.Kind() == kind
}

// appendHead begins an answer to the request id. Without one it is null, as JSON-RPC
// has it, or absent, as the stateless revision has it.
func appendHead(b, id []byte, stateless bool) []byte {
	b = append(b, `{"jsonrpc":"2.0"`...)
	switch {
	case id != nil:
		b = append(append(b, `,"id":`...), id...)
	case !stateless:
		b = append(b, `,"id":null`...)
	}
	return b
}

func (x *wrong) append(b, id []byte, stateless bool) []byte {
	b = append(appendHead(b, id, stateless), `,"error":{"code":`...)
	b = strconv.AppendInt(b, int64(x.code), 10)
	b = strict.AppendText(append(b, `,"message":`...), x.text)
	if x.data != nil {
		b = append(append(b, `,"data":`...), x.data...)
	}
	return append(b, '}', '}')
}
