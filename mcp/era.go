package mcp

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/strict"
)

// The revisions of the protocol that are spoken, newest first.
const (
	statelessRevision = "2026-07-28"
	latestHandshake   = "2025-11-25"
)

var revisions = []string{statelessRevision, latestHandshake, "2025-06-18", "2025-03-26"}

// negotiate returns the handshake revision for initialize: the requested one if supported, else the latest.
func negotiate(asked string) string {
	if asked != statelessRevision && slices.Contains(revisions, asked) {
		return asked
	}
	return latestHandshake
}

// The members of params._meta in a request of the stateless revision, and those of its results.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaServer       = "io.modelcontextprotocol/serverInfo"
)

const versionHeader = "Mcp-Protocol-Version"

// eraOf reports whether the message is of the stateless revision. The header and the body must name the same, supported
// version; a request without any is of the first handshake revision, which had no header. On initialize the header is
// ignored, since the version is being negotiated.
func eraOf(h http.Header, m message) (stateless bool, x *wrong) {
	stateless = saysStateless(h)
	meta, _ := member(m.params, "_meta", strict.Object)
	inBody, carried := member(meta, metaVersion, strict.String)
	if m.method == "initialize" && !carried {
		return false, nil
	}
	given := h[versionHeader]
	switch {
	case len(given) > 1:
		return stateless, mismatch("MCP-Protocol-Version is given %d times; give it once", len(given))
	case len(given) == 0 && carried:
		return stateless, mismatch("the header MCP-Protocol-Version is missing; send it as in _meta, %s",
			schema.Quote(inBody.Text()))
	case len(given) == 0:
		return stateless, nil
	case carried && inBody.Text() != given[0]:
		return stateless, mismatch("the header MCP-Protocol-Version is %s, but _meta says %s", schema.Quote(given[0]),
			schema.Quote(inBody.Text()))
	case !slices.Contains(revisions, given[0]):
		return stateless, unsupported(given[0])
	}
	return stateless, nil
}

// saysStateless is the header's version alone.
func saysStateless(h http.Header) bool {
	given := h[versionHeader]
	return len(given) == 1 && given[0] == statelessRevision
}

func mismatch(format string, args ...any) *wrong {
	return &wrong{code: headerMismatch, text: "header mismatch: " + fmt.Sprintf(format, args...)}
}

func unsupported(asked string) *wrong {
	data, err := strict.Marshal(struct {
		Supported []string `json:"supported"`
		Requested string   `json:"requested"`
	}{revisions, asked})
	if err != nil {
		data = nil // strings always marshal
	}
	return &wrong{
		code: unsupportedVersion, data: data,
		text: fmt.Sprintf("unsupported protocol version %s; supported are %s", schema.Quote(asked),
			strings.Join(revisions, ", ")),
	}
}

// checkStateless refuses a request of the stateless revision without its required members, or whose headers contradict
// its body.
func checkStateless(h http.Header, m message) *wrong {
	meta, ok := member(m.params, "_meta", strict.Object)
	if !ok {
		return &wrong{code: invalidParams, text: "params._meta is missing: an object with " + metaVersion + " and " +
			metaCapabilities}
	}
	if _, ok := member(meta, metaVersion, strict.String); !ok {
		return &wrong{code: invalidParams, text: "params._meta lacks " + metaVersion + ": a string"}
	}
	if _, ok := member(meta, metaCapabilities, strict.Object); !ok {
		return &wrong{code: invalidParams, text: "params._meta lacks " + metaCapabilities + ": an object"}
	}
	if x := sameInHeader(h, "Mcp-Method", m.method); x != nil {
		return x
	}
	if m.method != "tools/call" {
		return nil
	}
	name, ok := member(m.params, "name", strict.String)
	if !ok {
		return nil // the call itself refuses it
	}
	return sameInHeader(h, "Mcp-Name", name.Text())
}

// sameInHeader refuses a header that is missing, ambiguous or contradicts the body.
func sameInHeader(h http.Header, name, inBody string) *wrong {
	given := h[name]
	if len(given) != 1 {
		return mismatch("the header %s is given %d times; give it once, as %s", name, len(given), schema.Quote(inBody))
	}
	value, ok := headerText(given[0])
	if !ok {
		return mismatch("the header %s holds characters that are not allowed, or unreadable Base64", name)
	}
	if value != inBody {
		return mismatch("the header %s is %s, but the body says %s", name, schema.Quote(value), schema.Quote(inBody))
	}
	return nil
}

// headerText decodes a mirrored value: plain ASCII, or =?base64?...?= around the
// Base64 of its UTF-8.
func headerText(s string) (string, bool) {
	for _, c := range []byte(s) {
		if c < ' ' && c != '\t' || c > '~' {
			return "", false
		}
	}
	inner, ok := strings.CutPrefix(s, "=?base64?")
	if !ok {
		return s, true
	}
	if inner, ok = strings.CutSuffix(inner, "?="); !ok {
		return s, true
	}
	text, err := base64.StdEncoding.DecodeString(inner)
	return string(text), err == nil
}
