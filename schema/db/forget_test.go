package db

import (
	"testing"

	"quartermaster/schema/assert"
)

// TestReplaced: the status replaces each value that names the person, in any case and in JSON. Other people's names and
// addresses stay.
func TestReplaced(t *testing.T) {
	keys := []string{"lee@example.com", "ORD-1"}
	replace := map[string]string{"lee@example.com": "forgotten-7@invalid", "Ann": "forgotten-7", "Ann Lee": "forgotten-7", `Ann "A" Lee`: "forgotten-7"}
	for text, want := range map[string]string{
		"Ann Lee, lee@example.com":                      "forgotten-7, forgotten-7@invalid",
		"ANN of LEE@Example.COM":                        "forgotten-7 of forgotten-7@invalid",
		"Ann":                                           "Ann", // no key: another person of this name
		"ORD-1 of Ann, Anna and JoAnn":                  "ORD-1 of forgotten-7, Anna and JoAnn",
		"ORD-12 of Ann":                                 "ORD-12 of Ann",
		"order:ORD-1\x00{\"name\":\"Ann\"}":             "order:ORD-1\x00{\"name\":\"forgotten-7\"}",
		"Ann and ann.lee@example.com":                   "Ann and ann.lee@example.com",
		"Ann and lee@example.com.au":                    "Ann and lee@example.com.au",
		"told lee@example.com. And ann-lee@example.com": "told forgotten-7@invalid. And ann-lee@example.com",
		`{"ref":"ORD-1","name":"Ann \"A\" Lee"}`:        `{"ref":"ORD-1","name":"forgotten-7"}`,
		`{"ref":"ORD-1","text":"for\nAnn \u003clee@example.com\u003e"}`: `{"ref":"ORD-1","text":"for\nforgotten-7 \u003cforgotten-7@invalid\u003e"}`,
	} {
		got, changed := Replaced(text, keys, replace)
		assert.That(t, got == want && changed == (text != want), "%q became %q (%t), want %q", text, got, changed, want)
	}
}
