package strict

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Marshal writes v as JSON the way it leaves the program: without HTML escapes and
// without a newline at the end.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// AppendText appends s as a JSON string, byte for byte as Marshal writes it, for
// answers that are large enough to write themselves.
func AppendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf && needsEscapes(s) {
			quoted, err := Marshal(s)
			if err != nil {
				panic(err) // a string always marshals
			}
			return append(b, quoted...)
		} else if c >= utf8.RuneSelf {
			break // needsEscapes has seen the whole text
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// needsEscapes tells whether encoding/json would write anything in s but its bytes.
func needsEscapes(s string) bool {
	return !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' || r == '"' || r == '\\' || r == '\u2028' || r == '\u2029'
	})
}
