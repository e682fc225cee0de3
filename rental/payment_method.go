package rental

import (
	"slices"
	"strings"
	"unicode"
)

// methods are the payment methods; the last is for all others.
var methods = []string{"cash", "bank_transfer", "card", "check", "direct_debit", "online", otherMethod}

const otherMethod = "other"

// methodOf parses a payment method, in any case, with blanks, - or _ between words: transfer, wire and standing order
// are bank_transfer, cheque is check, anything unknown is other.
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

// unknownMethod reports whether a given payment method is unknown, and so other.
func unknownMethod(said string) bool {
	said = strings.TrimSpace(said)
	return said != "" && methodOf(said) == otherMethod && !strings.EqualFold(said, otherMethod)
}
