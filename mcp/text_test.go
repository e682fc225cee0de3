package mcp

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"quartermaster/schema/db/dbtest"
)

func FuzzText(f *testing.F) {
	for _, s := range []string{
		"", `"`, `\`, `{}`, `{"a":1}`, `{"a":"\"\\\u0000"}`, "[1,\n\t2,\r\n 3]", `"ü€😀"`, strings.Repeat(`"`, 17),
		`{"eight byt":"12345678"}`, "\"\x7f\u2028 \"", `"seven..` + `\\` + `"`, strings.Repeat("abcdefg\\\"", 9), "\"!#[]^\u00a1\u0222\"",
	} {
		for pad := range 9 {
			f.Add(strings.Repeat("x", pad) + s)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		want, err := json.Marshal(s)
		dbtest.OK(t, err)
		got := appendText([]byte("before"), []byte(s))
		if !bytes.HasPrefix(got, []byte("before")) {
			t.Fatalf("what was there is gone: %q", got)
		}
		var back string
		body := append(append([]byte{'"'}, got[6:]...), '"')
		if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' }) || !json.Valid(want) {
			return // no JSON text contains it
		}
		if !json.Valid(body) {
			t.Fatalf("%q became %q", s, body)
		}
		var normal string // the replacement of invalid UTF-8 by encoding/json, in both
		dbtest.OK(t, json.Unmarshal(want, &normal))
		if err := json.Unmarshal(body, &back); err != nil || back != normal {
			t.Fatalf("%q came back as %q (%v)", s, back, err)
		}
	})
}
