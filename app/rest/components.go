package rest

import (
	"maps"
	"reflect"
	"slices"
	"strconv"

	"quartermaster/schema"
)

// components moves every schema with a Go type's name to its own place and refers to it, so that generated clients have
// a type of that name. It changes the document in place and returns the schemas by name.
type components map[string]obj

// extract returns the replacement of v.
func (c components) extract(v any) any {
	switch x := v.(type) {
	case obj:
		// of two types of one name the first keeps it, in every run the same
		for _, key := range slices.Sorted(maps.Keys(x)) {
			if key != "example" && key != "examples" && key != "default" {
				x[key] = c.extract(x[key])
			}
		}
		return c.named(x)
	case []any:
		for i := range x {
			x[i] = c.extract(x[i])
		}
	case []obj:
		for i := range x {
			c.extract(x[i])
		}
	}
	return v
}

func (c components) named(schemaOf obj) any {
	name, ok := schemaOf[schema.NameKey].(string)
	if !ok {
		return schemaOf
	}
	delete(schemaOf, schema.NameKey)
	nullable := schemaOf["nullable"] == true
	delete(schemaOf, "nullable")
	about, described := schemaOf["description"]
	delete(schemaOf, "description") // it belongs to the member, not to the type
	free := name
	for n := 2; c[free] != nil && !reflect.DeepEqual(c[free], schemaOf); n++ {
		free = name + strconv.Itoa(n)
	}
	c[free] = schemaOf
	ref := obj{"$ref": "#/components/schemas/" + free}
	if !nullable && !described {
		return ref
	}
	whole := obj{"allOf": []any{ref}}
	if nullable {
		whole["nullable"] = true
	}
	if described {
		whole["description"] = about
	}
	return whole
}
