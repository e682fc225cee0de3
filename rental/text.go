package rental

import (
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/record"
)

// maxCents bounds every amount, in cents.
const maxCents = 1_000_000_000_000

// maxName and maxText bound texts, in characters.
const (
	maxName = 200
	maxText = 10_000
)

func set(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// optional is a column of text that is unset when it is empty.
func optional[T any](name string, at func(*T) **string, about string, opts ...schema.Opt) record.Column[T] {
	return record.OptText(name, at, about).Field(func(f *schema.Form, t *T, more ...schema.Opt) bool {
		var text string
		given := f.Text(&text, name, about, slices.Concat(opts, more)...)
		*at(t) = db.NullText(text)
		return given
	})
}

// shown is an optional text as audit entries have it.
func shown(v any) any { return set(v.(*string)) }

// cell is how a day that may be missing stands in CSV.
func cell(d *exact.Day) string {
	if d == nil {
		return ""
	}
	return d.String()
}

// checkText refuses a text that is empty after trimming, too long or not printable,
// and gives it trimmed. It is for texts that come through no form.
func checkText(name, s string, most int) (string, error) {
	if s = strings.TrimSpace(s); s == "" {
		return "", fault.Fieldf(name, "%s is empty: a text is needed", name)
	}
	return s, schema.CheckText(name, s, most)
}

func checkCents(name string, cents int64) error {
	if cents < 0 || cents > maxCents {
		return fault.Fieldf(name, "%s: %d is out of range; it takes cents from %d to %d", name, fault.Cents(cents),
			fault.Cents(0), fault.Cents(maxCents))
	}
	return nil
}

// number reads an integer as a cell.
func number(r *db.Row) string { return strconv.FormatInt(r.Int(), 10) }
