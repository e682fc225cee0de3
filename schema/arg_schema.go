package schema

import (
	"strconv"
	"strings"
)

// cents reports whether the argument is an amount in cents. A value with a decimal point, 950.00, is refused: it is
// probably in another unit.
func (a Arg) cents() bool { return a.Name == "cents" || strings.HasSuffix(a.Name, "_cents") }

func (a Arg) bounds() string {
	return a.boundsBy(func(n int64) string { return strconv.FormatInt(n, 10) })
}

// boundsBy returns the argument's bounds in words, each formatted by write.
func (a Arg) boundsBy(write func(n int64) string) string {
	switch {
	case a.capped:
		return " of at least " + write(*a.Min) + "; over " + write(*a.Max) + " is taken as " + write(*a.Max)
	case a.Min != nil && a.Max != nil && *a.Max < 1<<62:
		return " from " + write(*a.Min) + " to " + write(*a.Max)
	case a.Min != nil:
		return " of at least " + write(*a.Min)
	}
	return ""
}

// Schema is the argument as JSON Schema, in the dialect.
func (a Arg) Schema(d Dialect) map[string]any {
	s := map[string]any{}
	if a.About != "" {
		s["description"] = a.About
	}
	switch a.Kind {
	case IntKind:
		s["type"] = "integer"
		if a.byID { // clients of agents reject anyOf; a number is accepted too
			s["type"] = "string"
			return s
		}
	case NumberKind:
		s["type"] = "number"
		if d == OpenAPI {
			s["format"] = "double"
		}
	case BoolKind:
		s["type"] = "boolean"
	case LooseKind: // any scalar: no type, but clients of agents want one for each argument
		if d == JSONSchema {
			s["type"] = "string"
		}
	case RefKind:
		if d == JSONSchema { // widely used clients drop a list of tools that has an anyOf; a number is read as its digits
			s["type"], s["maxLength"] = "string", a.Most
			break
		}
		s["anyOf"] = []any{map[string]any{"type": "string", "maxLength": a.Most},
			map[string]any{"type": "integer", "minimum": 1}}
	case RowsKind:
		s["type"] = "array"
		s["maxItems"] = a.Most
		items := ShapeOf(a.Items).Schema(d)
		items["additionalProperties"] = false
		s["items"] = items
	case ListKind:
		s["type"] = "array"
		if a.Most > 0 {
			s["maxItems"] = a.Most
		}
		s["items"] = map[string]any{"type": "string"}
		if a.IDs {
			s["items"] = map[string]any{"type": "integer", "minimum": 1}
		}
	case TableKind:
		s["type"] = "array"
		if a.Most > 0 {
			s["maxItems"] = a.Most
		}
		s["items"] = objectOf(a.Fields, d)
	default:
		s["type"] = "string"
	}
	a.limit(s)
	if a.clear != nil && d == OpenAPI { // clients of agents reject a list of types; omitting it means the same
		s["nullable"] = true
	}
	if a.Default != nil {
		s["default"] = a.Default
	}
	return s
}

// objectOf is an object whose members are the arguments.
func objectOf(fields []Arg, d Dialect) map[string]any {
	props, required := map[string]any{}, []string{}
	for _, f := range fields {
		props[f.Name] = f.Schema(d)
		if f.Required {
			required = append(required, f.Name)
		}
	}
	o := map[string]any{"type": "object", "properties": props, "additionalProperties": false}
	if len(required) > 0 {
		o["required"] = required
	}
	return o
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

// Sample is a valid value, for an example.
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
	case ListKind:
		if a.IDs {
			return []any{1}
		}
		return []any{a.Name}
	case TableKind:
		record := map[string]any{}
		for _, f := range a.Fields {
			if f.Required || f.Example != nil {
				record[f.Name] = f.Sample()
			}
		}
		return []any{record}
	}
	return a.Name
}
