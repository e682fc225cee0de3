package schema

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"quartermaster/schema/exact"
	"quartermaster/schema/strict"
)

// Dialect is the dialect of a schema: the two differ in how they say "or null".
type Dialect uint8

// The dialects.
const (
	OpenAPI    Dialect = iota // OpenAPI 3.0.3: "nullable": true
	JSONSchema                // JSON Schema 2020-12, for agents: "type": ["string", "null"]
)

// Shape is a Go value's shape in JSON, derived from its type, so that the documents always match.
type Shape struct {
	Name     string // of an object's Go type, for its own schema in OpenAPI; may be empty
	Type     string // "" is any value
	Format   string
	Pattern  string
	About    string
	Enum     []string
	Nullable bool
	Fields   []Field // of an object, in order
	Items    *Shape  // of an array, or of the values of a map
}

// Field is one member of an object.
type Field struct {
	Name     string
	Optional bool
	Shape    *Shape
}

// ShapeOf derives the shape from v's type. Field tags add what types cannot express: `about` a sentence, `enum` the
// values, separated by commas.
func ShapeOf(v any) *Shape { return shapeOf(reflect.TypeOf(v)) }

var known = map[reflect.Type]Shape{
	reflect.TypeFor[exact.Day]():       {Type: "string", Format: "date"},
	reflect.TypeFor[exact.Month]():     {Type: "string", Pattern: `^\d{4}-\d{2}$`},
	reflect.TypeFor[exact.Instant]():   {Type: "string", Format: "date-time"},
	reflect.TypeFor[exact.Milli]():     {Type: "number"},
	reflect.TypeFor[exact.Decimal]():   {Type: "number"},
	reflect.TypeFor[json.RawMessage](): {},
}

func shapeOf(t reflect.Type) *Shape {
	if t == nil {
		return &Shape{}
	}
	if s, ok := known[t]; ok {
		return &s
	}
	if s, ok := reflect.Zero(t).Interface().(shaped); ok {
		return s.shape()
	}
	switch t.Kind() {
	case reflect.Pointer:
		s := *shapeOf(t.Elem())
		s.Nullable = true
		return &s
	case reflect.Bool:
		return &Shape{Type: "boolean"}
	case reflect.String:
		return &Shape{Type: "string"}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &Shape{Type: "integer"}
	case reflect.Float32, reflect.Float64:
		return &Shape{Type: "number"}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return &Shape{Type: "string", Format: "byte"} // encoding/json writes bytes as Base64
		}
		return &Shape{Type: "array", Items: shapeOf(t.Elem())}
	case reflect.Map:
		return &Shape{Type: "object", Items: shapeOf(t.Elem())}
	case reflect.Struct:
		return &Shape{Name: nameOf(t), Type: "object", Fields: fieldsOf(t)}
	}
	return &Shape{}
}

// nameOf is the type's own name, if it has one that other languages can use.
func nameOf(t reflect.Type) string {
	if n := t.Name(); n != "" && n[0] >= 'A' && n[0] <= 'Z' && !strings.Contains(n, "[") {
		return n
	}
	return ""
}

// NameKey holds the name of a schema's Go type in OpenAPI's dialect, until the document moves the schema to its own
// place.
const NameKey = "x-go-name"

func fieldsOf(t reflect.Type) []Field {
	members, ok := strict.Members(t)
	if !ok {
		panic("schema: " + t.String() + " has a json option that is not described, or a name twice") // a declaration is wrong
	}
	fields := make([]Field, len(members))
	for i, m := range members {
		s := *shapeOf(m.Type)
		s.About = m.Tag.Get("about")
		if e := m.Tag.Get("enum"); e != "" {
			s.Enum = strings.Split(e, ",")
		}
		fields[i] = Field{Name: m.Name, Optional: m.OmitEmpty, Shape: &s}
	}
	return fields
}

// Unbounded reports whether the value may contain any number of others, so that its size depends on stored data.
func (s *Shape) Unbounded() bool {
	return s.Items != nil || s.Type == "" ||
		slices.ContainsFunc(s.Fields, func(f Field) bool { return f.Shape.Unbounded() })
}

// Schema is the shape in the dialect.
func (s *Shape) Schema(d Dialect) map[string]any {
	m := map[string]any{}
	set := func(key, v string) {
		if v != "" {
			m[key] = v
		}
	}
	set("type", s.Type)
	set("format", s.Format)
	if d == OpenAPI {
		set(NameKey, s.Name)
		if s.Type == "number" {
			m["format"] = "double"
		}
	}
	set("pattern", s.Pattern)
	set("description", s.About)
	if len(s.Enum) > 0 {
		m["enum"] = s.values()
	}
	if s.Nullable && s.Type != "" {
		if d == OpenAPI {
			m["nullable"] = true
		} else {
			m["type"] = []string{s.Type, "null"}
		}
	}
	switch {
	case s.Type == "array":
		m["items"] = s.Items.Schema(d)
	case s.Items != nil:
		m["additionalProperties"] = s.Items.Schema(d)
	case s.Type == "object":
		s.object(m, d)
	}
	return m
}

func (s *Shape) values() []any {
	vs := Map(s.Enum, func(v string) any { return v })
	if s.Nullable {
		vs = append(vs, nil)
	}
	return vs
}

func (s *Shape) object(m map[string]any, d Dialect) {
	props := map[string]any{}
	required := []string{}
	for _, f := range s.Fields {
		props[f.Name] = f.Shape.Schema(d)
		if !f.Optional {
			required = append(required, f.Name)
		}
	}
	m["properties"] = props
	if len(required) > 0 {
		m["required"] = required
	}
}
