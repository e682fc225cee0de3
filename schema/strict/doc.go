// Package strict reads JSON strictly and fast.
//
// It takes exactly the texts that RFC 8259 allows and, of these, refuses what
// two readers could understand differently: an object with one name twice
// (compared unescaped, at any depth), a \u escape of a surrogate without its
// pair, and nesting deeper than the caller's limit. Invalid UTF-8, a byte order
// mark, text after the value and empty input are refused as well.
//
// Parse validates the whole input in one pass. The Value it returns is a span
// of that input, which must not change while Values of it are in use. Walking a
// Value scans its text again and checks nothing; it allocates only to unescape.
package strict
