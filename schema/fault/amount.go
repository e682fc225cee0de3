package fault

import (
	"fmt"
	"io"
	"strings"
)

// amount is cents in a refusal's text. It is written as a whole number, as in REST, until Amounts rewrites it in
// currency units.
type amount struct {
	cents    int64
	currency string // "" is the shop's
	typed    string
}

// Cents is an amount in the shop's currency, for %d.
func Cents(n int64) any { return amount{cents: n} }

// CentsIn is an amount in the currency, for %d.
func CentsIn(n int64, currency string) any { return amount{cents: n, currency: currency} }

// Format writes the amount, for any verb.
func (a amount) Format(s fmt.State, _ rune) {
	text := a.typed
	if text == "" {
		text = fmt.Sprint(a.cents)
	}
	_, _ = io.WriteString(s, text)
}

func isAmount(v any) bool {
	_, is := v.(amount)
	return is
}

// withoutCents matches the words about cents, which mean nothing to a person who types 12.50.
var withoutCents = strings.NewReplacer("a whole number of cents", "an amount", "takes cents", "takes an amount",
	"%d cents", "%d", "%d cent", "%d")

// Amounts is the refusal for a form, where amounts are typed in currency units: write formats each one, and a field in
// cents loses that word.
func (e *Error) Amounts(write func(cents int64, currency string) string) *Error {
	if e.format == "" {
		return e
	}
	typed := *e
	args := make([]any, len(e.args))
	for i, v := range e.args {
		if a, is := v.(amount); is {
			a.typed = write(a.cents, a.currency)
			v = a
		}
		args[i] = v
	}
	typed.Detail = fmt.Sprintf(withoutCents.Replace(e.format), args...)
	if name, rest, found := strings.Cut(typed.Detail, ": "); found {
		typed.Detail = strings.TrimSuffix(name, "_cents") + ": " + rest
	}
	typed.Fields = nil
	for _, f := range e.Fields {
		if f.Detail == e.Detail {
			f.Detail = typed.Detail
		}
		typed.Fields = append(typed.Fields, f)
	}
	return &typed
}
