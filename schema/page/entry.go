package page

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/exact"

	"github.com/a-h/templ"
)

// entry is a field as drawn.
type entry struct {
	arg      schema.Arg
	offered  []schema.Choice // the records that the typed text may mean
	source   string          // the address of its choices' suggestions: "op=save_lease"
	name, id string
	values   []string
	have     bool
	why      string
	inline   bool
	labels   bool
	focus    bool
	required bool
	sent     string // the name of an uploaded file
	blank    string // the text of the empty choice or field
	unit     string // the currency of an amount
}

// field writes one argument's field with its label, help and refusal.
func (f *Frame) field(ctx context.Context, b *strings.Builder, fm Form, a schema.Arg) error {
	e := entry{arg: a, name: schema.PageField(a.Name), inline: fm.Inline, labels: fm.Labels, required: a.Required,
		source: "op=" + fm.Op, blank: cmp.Or(fm.Hints[schema.PageField(a.Name)], a.None)}
	e.focus = fm.focus == e.name
	if label := fm.Called[e.name]; label != "" {
		e.arg.Title, e.arg.About, e.arg.Help = label, "", ""
	}
	e.required = e.required || slices.Contains(fm.Needs, e.name)
	if e.sent = fm.Sent[e.name]; e.sent != "" {
		e.required = false
	}
	e.id = FieldID(fm, e.name)
	e.values, e.have = fm.given(e.name)
	if !e.have {
		e.values = f.initial(a)
		e.have = e.values != nil
	}
	if part, _ := fm.given(a.PartOf); a.PartOf != "" && !slices.Contains(fm.Facts, e.name) &&
		strings.Join(part, "") != "" && e.value() != "" && !strings.Contains(e.value(), "\t") {
		e.values = []string{part[0] + "\t" + e.value()}
	}
	e.why, e.offered = fm.Refused[e.name], fm.Offered[e.name]
	if !e.inline && f.marked(b, fm, e) {
		return nil
	}
	if slices.Contains(fm.Facts, e.name) && e.why == "" {
		hidden(b, e.name, e.value())
		b.WriteString(f.factOf(e))
		return nil
	}
	if a.Kind == schema.TableKind || a.Kind == schema.RowsKind {
		return f.records(ctx, b, fm, e)
	}
	if a.Kind == schema.BoolKind {
		f.checkBox(b, e)
		return nil
	}
	e.unit = f.unit(fm, a)
	class := fieldClass(a)
	if slices.Contains(fm.pairs, a.Name) {
		class += " two"
	}
	b.WriteString(`<div class="` + class + `">` + f.labelOf(e))
	if e.unit != "" && !e.labels {
		b.WriteString(`<span class="inside">`)
	}
	if err := f.control(b, e); err != nil {
		return err
	}
	if e.unit != "" && !e.labels {
		b.WriteString(`<span aria-hidden="true">` + esc(e.unit) + `</span></span>`)
	}
	b.WriteString(f.newBeside(e) + e.below())
	b.WriteString(`</div>`)
	return nil
}

// FieldID is the id of a form's field, for links from the summary of refusals.
func FieldID(fm Form, field string) string {
	id := "f-" + fm.Op
	if fm.ID != "" {
		id += "-" + fm.ID
	}
	clean := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}
	return strings.Map(clean, id+"-"+field)
}

// initial is an untouched field's value: the argument's default, or today.
func (f *Frame) labelOf(e entry) string {
	class := ""
	if e.inline && !e.labels {
		class = ` class="hear"`
	}
	s := `<label` + class + ` for="` + e.id + `">` + esc(e.arg.Label())
	if e.unit != "" {
		s += unitOf(e, e.unit)
	}
	if !e.inline && !e.required && !e.arg.Usual && !e.preset() {
		s += ` <small>optional</small>`
	}
	return s + `</label>`
}

// preset says that the field has a value which people change rather than clear: a choice, a number, a day.
func (e entry) preset() bool {
	switch e.arg.Kind {
	case schema.EnumKind, schema.IntKind, schema.NumberKind, schema.DayKind:
		return e.value() != "" || e.why != ""
	}
	return false
}

// unitOf is the unit in a label, for screen readers if it is visible inside the field.
func unitOf(e entry, unit string) string {
	if e.inline {
		return `, ` + esc(unit)
	}
	return `<span class="hear">, ` + esc(unit) + `</span>`
}

// unit is the currency of an amount: the one in the form, else the shop's.
func (f *Frame) unit(fm Form, a schema.Arg) string {
	if schema.PageField(a.Name) == a.Name {
		return ""
	}
	own, _ := fm.given("currency")
	return cmp.Or(strings.Join(own, ""), f.Currency)
}

// below writes an argument's help and refusal.
func (e entry) below() string {
	s := ""
	if e.why != "" {
		s += `<p class="why" id="` + e.id + `-why"`
		if e.inline {
			s += ` role="alert"`
		}
		s += `>` + esc(sentence(e.why)) + `</p>`
	}
	if help := e.help(); !e.inline && help != "" {
		s += `<small id="` + e.id + `-help">` + esc(sentence(help)) + `</small>`
	}
	return s
}

// Written is a text that a person wrote for readers, with its addresses as links.
func Written(note string) templ.Component {
	if note == "" {
		return templ.NopComponent
	}
	linked := address.ReplaceAllStringFunc(esc(note), func(a string) string {
		return `<a href="` + a + `" rel="noopener noreferrer">` + a + `</a>`
	})
	return text(`<p class="lines">` + linked + `</p>`)
}

// address is a web address in an escaped text, without the punctuation that ends its sentence.
var address = regexp.MustCompile(`\bhttps?://(?:&amp;|[^\s&<>"'])*[^\s&<>"'.,;:!?)]`)

// Reason is a refusal's text.
func Reason(detail string) templ.Component { return text(esc(sentence(detail))) }

// besideOthers are short texts that share a line.
var besideOthers = []string{"name", "email", "phone"}

// fieldClass is the class of the field's width.
func fieldClass(a schema.Arg) string {
	switch {
	case schema.PageField(a.Name) != a.Name:
		return "field money"
	case a.Kind == schema.EnumKind || a.Any && a.HasChoices() || slices.Contains(besideOthers, a.Name):
		return "field half"
	case a.Kind == schema.DayKind || a.Kind == schema.MonthKind:
		return "field day"
	case a.Kind == schema.NumberKind || a.Kind == schema.IntKind && !a.Named():
		return "field number"
	}
	return "field"
}

func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// marks are the attributes of every control of the field.
func (e entry) marks() string {
	s := ` id="` + e.id + `" name="` + esc(e.name) + `"`
	var told []string
	if e.why != "" {
		s += ` aria-invalid="true"`
		told = append(told, e.id+"-why")
	}
	if !e.inline && e.help() != "" {
		told = append(told, e.id+"-help")
	}
	if len(told) > 0 {
		s += ` aria-describedby="` + strings.Join(told, " ") + `"`
	}
	if e.required {
		s += ` required`
	}
	if e.focus {
		s += ` autofocus`
	}
	return s
}

// hint is what an empty input says.
func (e entry) hint() string {
	said := cmp.Or(e.blank, e.usual())
	if said == "" {
		return ""
	}
	return ` placeholder="` + esc(said) + `"`
}

func (e entry) value() string { return strings.Join(e.values, "\n") }

// AmountField is cents in a form's field: 1080.39.
func AmountField(ctx context.Context, cents int64) string {
	return exact.CurrencyOf(From(ctx).Currency).Plain(cents)
}
