package page

import (
	"slices"
	"strings"

	"quartermaster/schema"
)

// choices are the field's choices, at most one more than a select has; nil if it has none. A list for many fields is
// read once per page.
func (f *Frame) choices(e entry) ([]schema.Choice, error) {
	if f.Choices == nil || !e.arg.HasChoices() || e.arg.Kind == schema.EnumKind {
		return nil, nil
	}
	key := e.source + " " + listOf(e.name)
	if known, ok := f.listed[key]; ok {
		return known, nil
	}
	most := schema.MostChoices + 1
	if e.arg.Kind == schema.ListKind {
		most = 1000 // boxes to tick
	}
	list, err := f.Choices(e.arg, schema.Find{Most: most})
	if f.listed == nil {
		f.listed = map[string][]schema.Choice{}
	}
	if list == nil {
		list = []schema.Choice{}
	}
	f.listed[key] = list
	return list, err
}

// listOf is a field's name without its record's index: lines.sku of lines.3.sku.
func listOf(name string) string {
	parts := strings.Split(name, ".")
	if len(parts) == 3 {
		return parts[0] + "." + parts[2]
	}
	return name
}

// named is the choice with the value.
func (f *Frame) named(e entry, among []schema.Choice) (schema.Choice, bool, error) {
	value := e.value()
	if i := slices.IndexFunc(among, func(c schema.Choice) bool { return c.Value == value }); i >= 0 {
		return among[i], true, nil
	}
	if value == "" || f.Choices == nil {
		return schema.Choice{}, false, nil
	}
	list, err := f.Choices(e.arg, schema.Find{Value: value, Most: 1})
	if err != nil || len(list) == 0 {
		return schema.Choice{}, false, err
	}
	return list[0], true, nil
}

// chooseOf writes a select. It includes the field's present value even if it is not in the list.
func (f *Frame) chooseOf(b *strings.Builder, e entry, choices []schema.Choice) error {
	held, found, err := f.named(e, choices)
	if found && !slices.Contains(choices, held) {
		choices = append(slices.Clone(choices), held)
	}
	f.choose(b, e, choices)
	return err
}

// suggest writes an input with suggestions: the first of the list and, with script, those that match the typed text.
// Without script, the typed text is looked up when the form is sent.
func (f *Frame) suggest(b *strings.Builder, e entry, choices []schema.Choice) error {
	held, found, err := f.named(e, choices)
	if found {
		e.values = []string{held.Text}
	}
	list := "list-" + e.id
	b.WriteString(`<input autocomplete="off" list="` + list + `"`)
	if e.source != "" && len(choices) > schema.MostChoices {
		b.WriteString(` data-find="/choices?` + e.source + `&amp;field=` + queryEscape(e.name) + `&amp;q="`)
	}
	b.WriteString(e.marks() + ` value="` + esc(e.value()) + `"><datalist id="` + list + `">`)
	for _, c := range choices[:min(len(choices), schema.MostChoices)] {
		Suggested(b, c)
	}
	b.WriteString(`</datalist>`)
	return err
}

// Suggested writes one suggestion of an input.
func Suggested(b *strings.Builder, c schema.Choice) {
	b.WriteString(`<option value="` + esc(c.Text) + `">` + esc(c.More) + `</option>`)
}

// newBeside is the button for a record missing in a choice: it leads to the record's New form, and back to this form
// with what was typed.
func (f *Frame) newBeside(e entry) string {
	if e.arg.New == "" || e.inline || f.Area != Staff {
		return ""
	}
	op, ok := f.may(e.arg.New)
	if !ok {
		return ""
	}
	return `<button class="btn link" name="new" value="` + esc(e.name) + `" formnovalidate>` + esc(op.NewTitle()) +
		`</button>`
}
