package page

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema"
)

// control writes the input, select or text area of a field.
func (f *Frame) control(b *strings.Builder, e entry) error {
	a := e.arg
	choices, err := f.choices(e)
	if err != nil {
		return err
	}
	switch {
	case a.Means != nil:
		f.meanings(b, e)
	case e.offered != nil:
		e.values = nil
		f.choose(b, e, e.offered)
	case a.Kind == schema.EnumKind && choices == nil:
		f.choose(b, e, inWords(a.Enum))
	case a.Kind == schema.ListKind && choices != nil:
		f.boxes(b, e, choices)
	case a.Apart != "":
		return f.each(b, e, choices)
	case choices != nil && (a.Any || len(choices) > schema.MostChoices):
		return f.suggest(b, e, choices)
	case choices != nil:
		return f.chooseOf(b, e, choices)
	case a.Kind == schema.ListKind, a.Many && a.Kind != schema.FileKind:
		b.WriteString(`<textarea rows="4"` + e.marks() + `>` + "\n" + esc(e.value()) + `</textarea>`)
	case a.Kind == schema.FileKind:
		b.WriteString(`<input type="file"` + e.marks() + fileMarks(a) + `>`)
		if e.sent != "" {
			b.WriteString(`<p>` + esc(e.sent) + `. Choose a file only to replace what is here.</p>`)
		}
	default:
		b.WriteString(`<input` + kindMarks(a) + e.marks() + e.hint())
		if e.have && !a.Secret {
			b.WriteString(` value="` + esc(e.value()) + `"`)
		}
		b.WriteString(`>`)
	}
	return nil
}

// inWords are the choices of an enum, as a reader says them.
func inWords(values []string) (choices []schema.Choice) {
	for _, v := range values {
		text := Word(strings.ReplaceAll(v, "-", " "))
		switch v {
		case "true", "1":
			text = "Yes"
		case "false", "0":
			text = "No"
		}
		if len(v) == 5 && v[2] == '-' || v != "" && v[0] >= '1' && v[0] <= '9' && len(v) > 1 { // de-DE, 1-30
			text = v
		}
		choices = append(choices, schema.Choice{Value: v, Text: text})
	}
	return choices
}

// choose writes a select.
func (f *Frame) choose(b *strings.Builder, e entry, choices []schema.Choice) {
	value := e.value()
	b.WriteString(`<select` + e.marks() + `>`)
	if (e.required || e.arg.Usual) && e.blank == "" {
		e.blank = "Choose one"
	}
	if value == "" || !e.required && (e.blank != "" || e.arg.Default == nil) { // a default stands for the empty choice
		b.WriteString(`<option value="">` + esc(e.blank) + `</option>`)
	}
	known := value == ""
	for _, c := range choices {
		selected := ""
		if c.Value == value {
			selected, known = ` selected`, true
		}
		b.WriteString(`<option value="` + esc(c.Value) + `"` + selected + `>` + esc(c.Whole()) + `</option>`)
	}
	if !known {
		b.WriteString(`<option value="` + esc(value) + `" selected>` + esc(value) + `</option>`)
	}
	b.WriteString(`</select>`)
}

// boxes writes a list to choose several from.
func (f *Frame) boxes(b *strings.Builder, e entry, choices []schema.Choice) {
	b.WriteString(`<div class="boxes" role="group" id="` + e.id + `" aria-label="` + esc(e.arg.Label()) + `">`)
	for i, c := range choices {
		id := e.id + "-" + strconv.Itoa(i)
		checked := ""
		if slices.Contains(e.values, c.Value) {
			checked = ` checked`
		}
		b.WriteString(`<label for="` + id + `"><input type="checkbox" id="` + id + `" name="` + esc(e.name) + `" value="` +
			esc(c.Value) + `"` + checked + `> ` + esc(c.Whole()) + `</label>`)
	}
	b.WriteString(`</div>`)
}

// checkBox writes a boolean: a hidden false and the box's true.
func (f *Frame) checkBox(b *strings.Builder, e entry) {
	checked := ""
	if e.have && len(e.values) > 0 {
		if last := e.values[len(e.values)-1]; last == "true" || last == "1" {
			checked = ` checked`
		}
	}
	e.required = false
	b.WriteString(`<div class="field check">`)
	hidden(b, e.name, "false")
	b.WriteString(`<input type="checkbox" value="true"` + e.marks() + checked + `><label for="` + e.id + `">` +
		esc(e.arg.Label()) + `</label>`)
	b.WriteString(e.below())
	b.WriteString(`</div>`)
}

// kindMarks are the attributes for the type of an input.
func kindMarks(a schema.Arg) string {
	switch a.Kind {
	case schema.DayKind:
		return ` type="date"`
	case schema.MonthKind:
		return ` type="month" pattern="\d{4}-\d{2}" placeholder="YYYY-MM"`
	case schema.NumberKind:
		return ` inputmode="decimal" autocomplete="off"`
	case schema.IntKind:
		if schema.PageField(a.Name) != a.Name {
			return ` inputmode="decimal" autocomplete="off"`
		}
		return ` inputmode="numeric" autocomplete="off"`
	}
	most := ""
	if a.Most > 0 && a.Kind == schema.TextKind && a.Most < 10_000 {
		most = ` maxlength="` + strconv.Itoa(a.Most) + `"`
	}
	switch {
	case a.Secret && a.Name == "current":
		return ` type="password" autocomplete="current-password"` + most
	case a.Secret:
		return ` type="password" autocomplete="new-password"` + most
	case a.Name == "email":
		return ` type="email" autocomplete="off"` + most
	}
	return ` autocomplete="off"` + most
}

// fileMarks let a phone take a photo directly. A field of several files has none.
func fileMarks(a schema.Arg) string {
	if a.Many {
		return ` multiple`
	}
	if a.Name == "file" || a.Name == "photo" {
		return ` accept="image/*" capture="environment" data-shrink`
	}
	return ""
}

// blankRecords is the number of empty lines in a list of records.
const blankRecords = 3

// records writes a list of objects: the present ones, and some empty lines.
func (f *Frame) records(ctx context.Context, b *strings.Builder, fm Form, e entry) error {
	n := 0
	for name := range fm.Values {
		n = max(n, recordNumber(e.name, name)+1)
	}
	for name, values := range fm.Given {
		if strings.Join(values, "") != "" { // a refused form comes back with its empty lines: nobody must fill them
			n = max(n, recordNumber(e.name, name)+1)
		}
	}
	fields := e.arg.Fields
	if e.arg.Kind == schema.RowsKind {
		for _, x := range schema.ShapeOf(e.arg.Items).Fields {
			fields = append(fields, schema.Arg{Name: x.Name, Kind: schema.TextKind})
		}
	}
	b.WriteString(`<fieldset class="records" id="` + e.id + `"`)
	if e.why != "" {
		b.WriteString(` aria-invalid="true" aria-describedby="` + e.id + `-why"`)
	}
	b.WriteString(`><legend>` + esc(e.arg.Label()) + `</legend>`)
	if e.why != "" {
		b.WriteString(`<p class="why" id="` + e.id + `-why">` + esc(sentence(e.why)) + `</p>`)
	}
	for i := range n + blankRecords {
		b.WriteString(`<div class="record">`)
		for _, a := range fields {
			a.Title = orLabel(a)
			if unit := f.unit(fm, a); unit != "" {
				a.Title += ", " + unit
			}
			a.Name = e.name + "." + strconv.Itoa(i) + "." + schema.PageField(a.Name)
			a.About, a.Help = "", ""
			a.Required = a.Required && (i < n || i == 0 && e.required)
			if err := f.field(ctx, b, fm, a); err != nil {
				return err
			}
		}
		b.WriteString(`</div>`)
	}
	b.WriteString(`</fieldset>`)
	return nil
}

// orLabel is the label of a record's field, without the record's index.
func orLabel(a schema.Arg) string {
	if a.Title != "" {
		return a.Title
	}
	return a.Label()
}

// recordNumber is the index of the field's record; -1 for another field.
func recordNumber(list, field string) int {
	rest, ok := strings.CutPrefix(field, list+".")
	if !ok {
		return -1
	}
	place, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(place)
	if err != nil || n < 0 || n > 1000 {
		return -1
	}
	return n
}
