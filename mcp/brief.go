package mcp

import (
	"fmt"
	"slices"
)

// An agent reads tools/list before it does anything, and pays for each word of it. So the
// schema of an answer tells names and types alone, and of the records in it the names of
// their members; what they mean stands in the tool's description. A record that an earlier
// tool told is not told again: a row of a list of work orders is what opening one answers.

// alike is how many members two records must have in common to be the same record.
const alike = 6

// told are the records of earlier tools: their members with types, by tool.
type told []record

type record struct {
	tool    string
	members map[string]string
}

// brief makes the schema of an answer short; what it holds is remembered.
func (k *told) brief(tool string, schema map[string]any) map[string]any {
	before := slices.Clone(*k)
	k.learn(tool, schema)
	return shorten(before, schema, true)
}

// learn remembers the records in a schema.
func (k *told) learn(tool string, schema map[string]any) {
	if members := typesOf(schema); len(members) >= alike {
		*k = append(*k, record{tool, members})
	}
	for _, inner := range inside(schema) {
		k.learn(tool, inner)
	}
}

// typesOf are an object's members with their types.
func typesOf(schema map[string]any) map[string]string {
	props, _ := schema["properties"].(map[string]any)
	types := make(map[string]string, len(props))
	for name, p := range props {
		if s, ok := p.(map[string]any); ok {
			types[name] = fmt.Sprint(s["type"])
		}
	}
	return types
}

// inside are the schemas that a schema holds.
func inside(schema map[string]any) (list []map[string]any) {
	if props, ok := schema["properties"].(map[string]any); ok {
		for _, p := range props {
			if s, ok := p.(map[string]any); ok {
				list = append(list, s)
			}
		}
	}
	for _, name := range []string{"items", "additionalProperties"} {
		if s, ok := schema[name].(map[string]any); ok {
			list = append(list, s)
		}
	}
	return list
}

// shorten copies a schema without descriptions, and without the members of a record described before.
func shorten(before told, schema map[string]any, top bool) map[string]any {
	short := map[string]any{}
	for key, v := range schema {
		switch key {
		case "description", "enum", "format", "pattern":
		case "required":
			if top {
				short[key] = v
			}
		case "items", "additionalProperties":
			if s, ok := v.(map[string]any); ok {
				v = shorten(before, s, false)
			}
			short[key] = v
		case "properties":
			short[key] = v
		default:
			short[key] = v
		}
	}
	props, ok := schema["properties"].(map[string]any)
	if !ok {
		return short
	}
	known, tool := before.same(typesOf(schema))
	kept := map[string]any{}
	for name, p := range props {
		s, ok := p.(map[string]any)
		if ok && known[name] != "" && name != "id" {
			continue
		}
		switch {
		case ok && !top && s["properties"] == nil && s["items"] == nil && s["additionalProperties"] == nil:
			p = map[string]any{} // a member of a record: its name tells what it is
		case ok:
			p = shorten(before, s, false)
		}
		kept[name] = p
	}
	short["properties"] = kept
	if tool != "" {
		short["description"], short["additionalProperties"] = "and what "+tool+" tells of it", true
		if required, ok := short["required"].([]string); ok {
			short["required"] = slices.DeleteFunc(slices.Clone(required), func(n string) bool { return kept[n] == nil })
		}
	}
	return short
}

// same finds the earlier record with the most common members, if these are enough, and those members.
func (k told) same(types map[string]string) (common map[string]string, tool string) {
	for _, r := range k {
		both := map[string]string{}
		for name, t := range types {
			if r.members[name] == t {
				both[name] = t
			}
		}
		if len(both) >= alike && 3*len(both) >= 2*len(r.members) && len(both) > len(common) {
			common, tool = both, r.tool
		}
	}
	return common, tool
}
