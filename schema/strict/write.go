package strict

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Marshal writes v as JSON, byte for byte as encoding/json does, but without HTML escapes and several times faster. It
// calls AppendJSON of values that have it, and leaves types unknown to writeOf to encoding/json.
func Marshal(v any) ([]byte, error) { return Append(nil, v) }

// Append is Marshal that appends to b.
func Append(b []byte, v any) ([]byte, error) {
	if a, ok := v.(appender); ok {
		return a.AppendJSON(b), nil
	}
	return appendAny(b, v)
}

// appender is a value that encodes itself.
type appender interface{ AppendJSON(b []byte) []byte }

// slow writes v by encoding/json.
func slow(b []byte, v any) ([]byte, error) {
	var w bytes.Buffer
	enc := json.NewEncoder(&w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return b, err
	}
	return append(b, bytes.TrimSuffix(w.Bytes(), []byte("\n"))...), nil
}

// AppendText appends s as a JSON string, byte for byte as Marshal writes it.
func AppendText(b []byte, s string) []byte {
	for i := range len(s) {
		if asItIs[s[i]] {
			continue
		}
		if s[i] < utf8.RuneSelf || needsEscapes(s) {
			quoted, err := slow(b, s)
			if err != nil {
				panic(err) // a string always marshals
			}
			return quoted
		}
		break // needsEscapes has read the whole text
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// asItIs says for every byte whether it is a character that is written unchanged.
var asItIs = func() (t [256]bool) {
	for c := byte(' '); c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// needsEscapes reports whether encoding/json would write s other than byte for byte.
func needsEscapes(s string) bool {
	return !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' || r == '"' || r == '\\' || r == '\u2028' || r == '\u2029'
	})
}
