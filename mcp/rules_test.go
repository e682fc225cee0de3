package mcp_test

import (
	"strings"
	"testing"

	"quartermaster/schema/assert"
)

// TestArgumentOfAnotherTool: an unknown argument is refused with the operation that accepts it.
func TestArgumentOfAnotherTool(t *testing.T) {
	s := start(t)
	for args, want := range map[string]string{
		`{"text":"a","rows":[]}`: `unknown argument "rows"; ingest_rows takes it; the arguments are text`,
		`{"text":"a","nose":1}`:  `unknown argument "nose"; the arguments are text`,
	} {
		a := s.post(t, call("write_note", args), nil)
		assert.That(t, strings.Contains(strings.ReplaceAll(a.body, `\"`, `"`), want), "%s: %s", args, a.body)
	}
}

// TestNumbersAsTextAreNotGuessed: a separator before three digits may be one of thousands or of decimals.
func TestNumbersAsTextAreNotGuessed(t *testing.T) {
	s := start(t)
	for weight, want := range map[string]string{
		`"1.200"`: "can be read as 1200 or 1.2;", `"1,250"`: "can be read as 1250 or 1.25;", `"2.000"`: "can be read as 2000 or 2;",
		`"1200"`: `"isError":false`, `"12.5"`: `"isError":false`, `"0.125"`: `"isError":false`, `1.200`: `"isError":false`,
	} {
		assert.Contains(t, s.post(t, call("write_note", `{"text":"a","weight":`+weight+`}`), nil).body, want, "%s", weight)
	}
}
