package strict

import (
	"bytes"
	"encoding/json"
)

// Marshal writes v as encoding/json does, without HTML escapes.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// AppendText appends s as a JSON string.
func AppendText(b []byte, s string) []byte {
	quoted, err := Marshal(s)
	if err != nil {
		panic(err) // a string always marshals
	}
	return append(b, quoted...)
}
