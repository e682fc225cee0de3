package schema

import (
	"slices"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
	"quartermaster/schema/words"
)

// Makes reports whether the operation makes a record, or changes the one with its keys.
func (o Op) Makes() bool { return len(o.Keys) > 0 }

// Identifies reports whether the argument identifies the record.
func (o Op) Identifies(argument string) bool {
	return slices.Contains(o.Keys, argument) || argument == o.Number && argument != ""
}

// Unused refuses to make a record with used keys. The refusal's More names the record that has them, for a link.
func (o Op) Unused(c *db.Conn, given map[string][]string, currency exact.Currency) error {
	held, found, err := o.Filled(c, given, currency)
	if err != nil || !found {
		return err
	}
	var shown []string
	for _, key := range o.Keys {
		field := PageField(key)
		if words.Fold(fieldText(held, field)) != words.Fold(strings.TrimSpace(fieldText(given, field))) {
			return nil // another person of the same name
		}
		if text := fieldText(held, field); text != "" {
			shown = append(shown, text)
		}
	}
	noun := strings.TrimPrefix(o.Title(), "Save ")
	if len(noun) > 1 && noun[1] >= 'a' && noun[1] <= 'z' {
		noun = strings.ToUpper(noun[:1]) + noun[1:]
	}
	e := fault.Conflictf("%s %s exists. Open it to change it.", noun, strings.Join(shown, ", "))
	e.Code, e.Fields = CodeExists, []fault.Field{{Field: PageField(o.Keys[0]), Detail: e.Detail}}
	return e
}

// CodeExists marks the refusal of Unused.
const CodeExists = "exists"

func fieldText(fields map[string][]string, name string) string {
	if v := fields[name]; len(v) > 0 {
		return v[len(v)-1]
	}
	return ""
}

// Edit is a submitted Edit form.
type Edit struct {
	Fields map[string][]string // the record's keys and the changed values, as the form sent them
	base   map[string]string   // the stored value that each written field must still have
}

// Writes reports whether the edit changes the field.
func (e Edit) Writes(field string) bool {
	_, does := e.base[field]
	return does
}

// Edited compares a form's fields with the values when it was loaded (seen, of Seen) and with the present record: only
// fields changed on the form are written. A mandatory field that was emptied is refused.
func (o Op) Edited(given, now map[string][]string, seen string) (e Edit, err error) {
	held, err := strict.Parse([]byte(seen), maxDepth)
	if err != nil || held.Kind() != strict.Object {
		return e, fault.Invalidf("This form cannot be read. Load it again.")
	}
	was := func(field string) (string, bool) {
		v, ok := held.Get(field)
		return v.Text(), ok
	}
	e = Edit{Fields: map[string][]string{}, base: map[string]string{}}
	for name, values := range given {
		e.Fields[name] = values
	}
	var refused []fault.Field
	for _, a := range o.Args(Page) {
		field := PageField(a.Name)
		if a.Kind == TableKind || a.Kind == RowsKind {
			o.editedRows(&e, a, was, now)
			continue
		}
		text, known := was(field)
		values, sent := given[field]
		if !known || !sent || o.Identifies(a.Name) {
			continue
		}
		typed := written(values[len(values)-1])
		switch {
		case !a.same(typed, text):
			e.base[field] = text
			zero := a.Kind == IntKind || a.Kind == NumberKind // it would become 0 in silence
			if typed == "" && !a.Required && (zero || !o.Makes()) && !a.Nullable() {
				refused = append(refused, fault.Field{Field: field, Detail: a.Label() + " is required."})
			}
		case a.Required && a.Path == "":
			e.Fields[field] = []string{fieldText(now, field)}
			e.base[field] = fieldText(now, field)
		case a.Path == "":
			delete(e.Fields, field)
		}
	}
	return e, refusalOf(refused)
}

// editedRows omits a list of objects if none of its fields was changed.
func (o Op) editedRows(e *Edit, a Arg, was func(string) (string, bool), now map[string][]string) {
	start, changed := PageField(a.Name)+".", false
	for field, values := range e.Fields {
		if text, _ := was(field); strings.HasPrefix(field, start) && written(values[len(values)-1]) != text {
			changed = true
		}
	}
	for field := range e.Fields {
		if strings.HasPrefix(field, start) && !changed {
			delete(e.Fields, field)
		}
	}
	if !changed {
		return
	}
	for field := range now {
		if strings.HasPrefix(field, start) {
			e.base[field], _ = was(field)
		}
	}
}

func written(text string) string { return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")) }

// same reports whether two texts of the argument's field mean one value.
func (a Arg) same(typed, held string) bool {
	if a.Kind == BoolKind {
		return (typed == "true" || typed == "1") == (held == "true" || held == "1")
	}
	return typed == written(held)
}

// Unchanged refuses, as a conflict that names each field with both values, if somebody else has changed fields that the
// edit writes since its form was loaded.
func (o Op) Unchanged(c *db.Conn, e Edit, currency exact.Currency) error {
	now, found, err := o.Filled(c, e.Fields, currency)
	if err != nil {
		return err
	}
	if !found {
		return fault.Conflictf("This record was removed or renamed after you opened the form.")
	}
	labels := map[string]string{}
	for _, a := range o.Args(Page) {
		labels[PageField(a.Name)] = a.Label()
	}
	refusal := fault.Conflictf("Somebody changed this record after you opened the form. Compare both values, then save " +
		"again.")
	for _, a := range sortedFields(e.base) {
		was, is := e.base[a], fieldText(now, a)
		if is == was || is == written(fieldText(e.Fields, a)) {
			continue
		}
		label := labels[a]
		if label == "" {
			label = Arg{Name: a[strings.LastIndexByte(a, '.')+1:]}.Label()
		}
		refusal.Fields = append(refusal.Fields, fault.Field{Field: a,
			Detail: label + " was " + Quote(was) + " when the form was loaded, and is " + Quote(is) + " now."})
	}
	if len(refusal.Fields) == 0 {
		return nil
	}
	return refusal
}

func sortedFields(m map[string]string) []string {
	names := make([]string, 0, len(m))
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
