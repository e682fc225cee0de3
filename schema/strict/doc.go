// Package strict parses JSON strictly.
//
// It accepts exactly the texts of RFC 8259, except those that two readers could understand differently: an object with
// a repeated name (compared unescaped, at any depth), a \u escape of a surrogate without its pair, and nesting deeper
// than the caller's limit. It also refuses invalid UTF-8, a byte order mark, text after the value and empty input.
//
// Parse validates the whole input in one pass. Its Value is a span of that input, which must not change while Values of
// it are in use. Walking a Value scans its text again without checks; it allocates only to unescape.
package strict
