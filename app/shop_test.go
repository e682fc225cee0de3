package app_test

import (
	"bytes"
	"encoding/json"
	"testing"
)

// indented is JSON as the goldens have it.
func indented(t testing.TB, body string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(body), "", "  "); err != nil {
		t.Fatal(err)
	}
	b.WriteByte('\n')
	return b.Bytes()
}
