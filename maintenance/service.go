package maintenance

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// Service is the maintenance service over one database.
type Service struct {
	db *db.DB
}

// New is the service over d.
func New(d *db.DB) *Service { return &Service{db: d} }

// The longest texts, in characters.
const (
	maxName = 200
	maxText = 10_000
)

// text checks a text that comes from anywhere and gives it trimmed.
func text(name, s string, most int) (string, error) {
	s = strings.TrimSpace(s)
	return s, schema.CheckText(name, s, most)
}

// needed is text that must not be empty.
func needed(name, s string, most int) (string, error) {
	s, err := text(name, s, most)
	if err == nil && s == "" {
		err = fault.Invalidf("%s is empty: a text is needed", name)
	}
	return s, err
}

// choice is one of values, in any case; also are other spellings of them.
func choice(name, s string, values []string, also map[string]string) (string, error) {
	word := strings.ToLower(strings.TrimSpace(s))
	if means, is := also[word]; is {
		word = means
	}
	for _, v := range values {
		if v == word {
			return v, nil
		}
	}
	return "", fault.Invalidf("%s: %s is not allowed; it takes one of %s", name, schema.Quote(s), strings.Join(values, ", "))
}

// within refuses a whole number outside 0..most.
func within(name string, n, most int64) error {
	if n < 0 || n > most {
		return fault.Invalidf("%s: %d is out of range; it takes a whole number from 0 to %d", name, n, most)
	}
	return nil
}

// orNil is how a text that may be unset is kept: nil for none.
func orNil(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// orNoID is how a reference that may be unset is kept: nil for 0.
func orNoID(id int64) *int64 {
	if id == 0 {
		return nil
	}
	return &id
}

// subject names a record in the audit trail: "work_order:12".
func subject(noun string, id int64) string { return noun + ":" + strconv.FormatInt(id, 10) }

// short shortens a text for the audit trail.
func short(s string) string {
	const most = 200
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "..."
}
