package rental

import (
	"slices"
	"strings"
	"unicode"
)

// methods are the ways of paying; the last takes in whatever is not among the others.
var methods = []string{"cash", "bank_transfer", "card", "check", "direct_debit", "online", otherMethod}

const otherMethod = "other"

// methodOf reads how something was paid, in any case, with blanks, - or _ between words: transfer, wire and standing
// order are bank_transfer, cheque is check, anything unknown is other.
func methodOf(said string) string {
	switch m := strings.Join(strings.FieldsFunc(strings.ToLower(said), func(r rune) bool {
		return unicode.IsSpace(r) ||
			r == '-' || r == '_'
	}), "_"); {
	case m == "transfer", m == "standing_order", m == "wire":
		return "bank_transfer"
	case m == "cheque":
		return "check"
	case slices.Contains(methods, m):
		return m
	}
	return otherMethod
}

// unknownMethod reports whether a way of paying is said that is none, and so is other.
func unknownMethod(said string) bool {
	said = strings.TrimSpace(said)
	return said != "" && methodOf(said) == otherMethod && !strings.EqualFold(said, otherMethod)
}
