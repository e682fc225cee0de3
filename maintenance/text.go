package maintenance

import (
	"strings"
	"unicode/utf8"

	"quartermaster/schema"
	"quartermaster/schema/fault"
)

// The longest texts, in characters.
const (
	maxName = 200
	maxText = 10_000
)

// text checks any text and returns it trimmed.
func text(name, s string, most int) (string, error) {
	s = strings.TrimSpace(s)
	return s, schema.CheckText(name, s, most)
}

// needed is text that must not be empty.
func needed(name, s string, most int) (string, error) {
	s, err := text(name, s, most)
	if err == nil && s == "" {
		err = fault.Fieldf(name, "%s is empty: a text is needed", name)
	}
	return s, err
}

// within refuses a whole number outside 0..most.
func within(name string, n, most int64) error {
	if n < 0 || n > most {
		return fault.Fieldf(name, "%s: %d is out of range; it takes a whole number from 0 to %d", name, n, most)
	}
	return nil
}

// short shortens a text for the audit trail.
func short(s string) string {
	const most = 200
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "..."
}
