package strict

import (
	"encoding/json"
	"testing"
)

func FuzzAppendText(f *testing.F) {
	for _, s := range []string{"", "plain", "Zoë", "Zoë \"x\"", "a\\b", "tab\there", "\x7f", "<&>", "\u2028", "é\u2029", "\xff", "é\xff", "日本\n", "\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want, err := Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		got := AppendText([]byte("x"), s)
		if string(got) != "x"+string(want) {
			t.Fatalf("%q is written %s, want %s", s, got[1:], want)
		}
		if !json.Valid(got[1:]) {
			t.Fatalf("%q is written %s", s, got[1:])
		}
	})
}
