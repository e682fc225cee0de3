package strict

import (
	"reflect"
	"slices"
	"strings"
)

// Member is one field of a struct in JSON.
type Member struct {
	Name      string
	Index     []int // as for reflect's FieldByIndex
	Type      reflect.Type
	Tag       reflect.StructTag
	OmitEmpty bool
}

// Members lists a struct's members in encoding/json's order: json tags are read only here. ok is false for structs left
// to encoding/json: rare options, and names repeated at equal depth.
func Members(t reflect.Type) (members []Member, ok bool) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case tag == "-":
			continue
		case f.Anonymous && name == "":
			if f.Type.Kind() != reflect.Struct || tagged {
				return nil, false
			}
			inner, ok := Members(f.Type)
			if !ok {
				return nil, false
			}
			for _, m := range inner {
				m.Index = append([]int{i}, m.Index...)
				members = append(members, m)
			}
			continue
		case !f.IsExported():
			continue
		case options != "" && options != "omitempty":
			return nil, false
		case name == "":
			name = f.Name
		}
		members = append(members, Member{Name: name, Index: []int{i}, Type: f.Type, Tag: f.Tag,
			OmitEmpty: options == "omitempty"})
	}
	return outermost(members)
}

// outermost drops the members that are hidden by an outer struct's, as Go and encoding/json do; ok is false if a name
// is repeated at equal depth.
func outermost(members []Member) (left []Member, ok bool) {
	depth := map[string]int{}
	for _, m := range members {
		if d, seen := depth[m.Name]; seen && d == len(m.Index) {
			return nil, false
		} else if !seen || len(m.Index) < d {
			depth[m.Name] = len(m.Index)
		}
	}
	return slices.DeleteFunc(members, func(m Member) bool { return len(m.Index) > depth[m.Name] }), true
}
