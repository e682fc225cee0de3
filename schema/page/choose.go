package page

import (
	"cmp"
	"slices"
	"strings"

	"quartermaster/schema"
)

// choices are the field's choices, at most one more than a select has; nil if it has none. A list for many fields is
// read once per page.
func (f *Frame) choices(e entry) ([]schema.Choice, error) {
	if f.Choices == nil || !e.arg.HasChoices() {
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
	if e.required && e.value() == "" && len(choices) == 1 && e.arg.New != "" {
		e.values = []string{choices[0].Value}
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
	if e.blank == "" && e.arg.Any {
		e.blank = "Choose or type"
	}
	b.WriteString(`<input autocomplete="off" list="` + list + `"`)
	if e.source != "" && len(choices) > schema.MostChoices {
		b.WriteString(` data-find="/choices?` + e.source + `&amp;field=` + queryEscape(e.name) + `&amp;q="`)
	}
	b.WriteString(e.marks() + e.hint() + ` value="` + esc(e.value()) + `"><datalist id="` + list + `">`)
	for _, c := range choices[:min(len(choices), schema.MostChoices)] {
		Suggested(b, c)
	}
	b.WriteString(`</datalist>`)
	return err
}

// each writes an input for each value of a text that names several, and a few more under "Another tenant".
func (f *Frame) each(b *strings.Builder, e entry, choices []schema.Choice) error {
	var all []string
	for _, part := range strings.Split(strings.Join(e.values, e.arg.Apart), e.arg.Apart) {
		if part = strings.TrimSpace(part); part != "" || len(all) == 0 {
			all = append(all, part)
		}
	}
	e.values = all[:1]
	err := f.suggest(b, e, choices)
	another := "Another " + strings.TrimSuffix(strings.ToLower(e.arg.Label()), "s")
	open := ""
	if len(all) > 1 {
		open = ` open`
	}
	b.WriteString(`<details class="rest"` + open + `><summary>` + esc(another) + `</summary>`)
	e.required, e.focus = false, false
	for i := 1; i < max(len(all)+1, 3); i++ {
		more := e
		more.id, more.values = e.id+"-"+num(i), append(all, "", "")[i:i+1]
		b.WriteString(`<label class="hear" for="` + more.id + `">` + esc(another) + `</label>`)
		err = cmp.Or(err, f.suggest(b, more, choices))
	}
	b.WriteString(`</details>`)
	return err
}

// meanings writes for each column of a refused file what it means; before that, a box that asks for them.
func (f *Frame) meanings(b *strings.Builder, e entry) {
	if e.offered == nil {
		b.WriteString(`<label for="` + e.id + `"><input type="checkbox" value="?"` + e.marks() +
			`> Say what each column means</label>`)
		return
	}
	b.WriteString(`<div class="record" id="` + e.id + `">`)
	for i, column := range e.offered {
		id := e.id + "-" + num(i)
		b.WriteString(`<div class="field"><label for="` + id + `">` + esc(column.Text) + `</label><select id="` + id +
			`" name="` + esc(e.name) + `"><option value="">Skip this column</option>`)
		for _, m := range e.arg.Means {
			selected := ""
			if m.Value == column.Value {
				selected = ` selected`
			}
			b.WriteString(`<option value="` + esc(column.Text+"="+m.Value) + `"` + selected + `>` + esc(m.Text) + `</option>`)
		}
		b.WriteString(`</select></div>`)
	}
	b.WriteString(`</div>`)
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
