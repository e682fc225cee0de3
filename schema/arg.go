package schema

import (
	"fmt"
	"strconv"
	"strings"
)

// Kind is what an argument's value is.
type Kind uint8

// The kinds of arguments.
const (
	TextKind Kind = iota
	IntKind
	NumberKind // a decimal with a fixed number of places
	BoolKind
	EnumKind
	DayKind
	MonthKind
	LooseKind // any scalar; what is not a text counts as absent
	RefKind   // a record's name or id: a text or a whole number
	RowsKind  // the one nested argument: an array of objects
	RawBody   // the whole body, as it came
)

// Arg describes one argument.
type Arg struct {
	Name     string
	About    string
	Kind     Kind
	Required bool
	Path     string   // its name in the route's path, if it stands there
	Header   string   // the header that carries it
	Enum     []string // the values that are allowed
	also     map[string]string
	folded   bool
	Min, Max *int64 // bounds, both allowed; in whole units
	capped   bool   // over Max is Max
	Places   int    // decimals that are kept
	Most     int    // characters of a text, items of rows
	Default  any
	Example  any
	Items    any // for rows: one row, filled in
	Pattern  string
}

// Opt changes how an argument is read and described.
type Opt func(*Arg)

// Required makes the argument necessary, and a text non-empty.
func Required(a *Arg) { a.Required = true }

// Folded reads an enum in any case.
func Folded(a *Arg) { a.folded = true }

// InPath reads the argument from the route's path on REST, where it is called name.
func InPath(name string) Opt {
	return func(a *Arg) { a.Path, a.Required = name, true }
}

// Range bounds a number, both ends allowed, in whole units.
func Range(lo, hi int64) Opt { return func(a *Arg) { a.Min, a.Max = &lo, &hi } }

// Most bounds a text's characters.
func Most(n int) Opt { return func(a *Arg) { a.Most = n } }

// Alias reads the spelling as meaning one of the enum's values.
func Alias(spelling, means string) Opt {
	return func(a *Arg) {
		if a.also == nil {
			a.also = map[string]string{}
		}
		a.also[spelling] = means
	}
}

// Example is shown in the documents.
func Example(v any) Opt { return func(a *Arg) { a.Example = v } }

// wants says what the argument takes, for a refusal.
func (a Arg) wants() string {
	switch a.Kind {
	case IntKind:
		if a.cents() {
			return "a whole number of cents, without a decimal point," + a.bounds()
		}
		return "a whole number" + a.bounds()
	case NumberKind:
		return fmt.Sprintf("a number%s with at most %d decimals", a.bounds(), a.Places)
	case BoolKind:
		return "true or false"
	case EnumKind:
		return "one of " + strings.Join(a.Enum, ", ")
	case DayKind:
		return "a calendar day as YYYY-MM-DD"
	case MonthKind:
		return "a month as YYYY-MM"
	case RefKind:
		return "a name or an id"
	case RowsKind:
		return "an array of objects"
	}
	return "a text"
}

// cents tells that the argument is an amount in cents. One that is written with a
// decimal point, 950.00, is money in another unit sooner than 950 cents: it is refused.
func (a Arg) cents() bool { return strings.HasSuffix(a.Name, "_cents") }

func (a Arg) bounds() string {
	switch {
	case a.capped:
		return fmt.Sprintf(" of at least %d; over %d is taken as %d", *a.Min, *a.Max, *a.Max)
	case a.Min != nil && a.Max != nil && *a.Max < 1<<62:
		return " from " + strconv.FormatInt(*a.Min, 10) + " to " + strconv.FormatInt(*a.Max, 10)
	case a.Min != nil:
		return " of at least " + strconv.FormatInt(*a.Min, 10)
	}
	return ""
}

// Schema is the argument as JSON Schema, in the dialect's spelling.
func (a Arg) Schema(d Dialect) map[string]any {
	s := map[string]any{"description": a.About}
	switch a.Kind {
	case IntKind:
		s["type"] = "integer"
	case NumberKind:
		s["type"] = "number"
	case BoolKind:
		s["type"] = "boolean"
	case LooseKind: // any scalar: no type
	case RefKind:
		s["anyOf"] = []any{map[string]any{"type": "string", "maxLength": a.Most}, map[string]any{"type": "integer", "minimum": 1}}
	case RowsKind:
		s["type"] = "array"
		s["maxItems"] = a.Most
		s["items"] = ShapeOf(a.Items).Schema(d)
	default:
		s["type"] = "string"
	}
	a.limit(s)
	if a.Default != nil {
		s["default"] = a.Default
	}
	return s
}

func (a Arg) limit(s map[string]any) {
	if len(a.Enum) > 0 {
		s["enum"] = a.Enum
	}
	if a.Min != nil {
		s["minimum"] = *a.Min
	}
	if a.Max != nil && *a.Max < 1<<62 && !a.capped {
		s["maximum"] = *a.Max
	}
	switch a.Kind {
	case TextKind:
		if a.Required {
			s["minLength"] = 1
		}
		if a.Most > 0 {
			s["maxLength"] = a.Most
		}
	case DayKind:
		s["format"] = "date"
	case MonthKind:
		s["pattern"] = `^\d{4}-(0[1-9]|1[0-2])$`
	}
}

// Sample is a value that the argument takes, for an example.
func (a Arg) Sample() any {
	switch {
	case a.Example != nil:
		return a.Example
	case a.Default != nil:
		return a.Default
	case len(a.Enum) > 0:
		return a.Enum[0]
	}
	switch a.Kind {
	case IntKind, NumberKind:
		if a.Min != nil && *a.Min > 1 {
			return *a.Min
		}
		return 1
	case BoolKind:
		return true
	case DayKind:
		return "2026-11-20"
	case MonthKind:
		return "2026-11"
	case RowsKind:
		return []any{a.Items}
	}
	return a.Name
}
