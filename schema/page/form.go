package page

import (
	"cmp"
	"context"
	"fmt"
	"html"
	"io"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"quartermaster/schema"
	"quartermaster/schema/exact"
)

func esc(s string) string         { return html.EscapeString(s) }
func queryEscape(s string) string { return url.QueryEscape(s) }

// Form is an operation's form, drawn from its arguments.
type Form struct {
	Op      string
	ID      string            // distinguishes it from another form of the operation on the page
	Values  map[string]string // initial values, by field name
	Fixed   map[string]string // values sent along and not shown
	Only    []string          // the fields shown, in this order; nil is all
	Button  string            // its button's label; "" is the operation's title
	Then    string            // the next page; "" is this page
	Inline  bool              // one line, with labels for screen readers only: for a row of a table
	Labels  bool              // an inline form's labels are visible
	Focus   bool              // its first empty field has the focus when the page opens
	Main    bool              // the button is the page's main one
	Given   map[string][]string
	Refused map[string]string          // by field name
	Offered map[string][]schema.Choice // by field name: the records that the typed text may mean
	Sent    map[string]string          // by field name: the file that was uploaded already
	Needs   []string                   // mandatory fields of the form that are optional in the operation
	Called  map[string]string          // names of fields here, in place of their label and help
	Hints   map[string]string          // what fields say while they are empty, by name
	Record  bool                       // the operation chooses the next page: the record's
	Extra   templ.Component            // drawn before the button
	Confirm bool                       // sends confirm=yes
	Danger  bool                       // the button destroys
	Facts   []string                   // fields shown as facts and sent along
	Back    string                     // where Cancel beside its button leads; "": it has none
	Alone   bool                       // it is the page's only form: a refusal returns only the form

	focus string // the field with the focus
}

// Act draws the form; nothing for callers who may not do the operation.
func Act(fm Form) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		f := From(ctx)
		op, ok := f.may(fm.Op)
		if !ok {
			return nil
		}
		var b strings.Builder
		if err := f.form(ctx, &b, op, fm); err != nil {
			return err
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
}

func (f *Frame) form(ctx context.Context, b *strings.Builder, op schema.Op, fm Form) error {
	args := op.Args(schema.Page)
	f.comesBack(b, op, &fm)
	class := "form"
	if fm.Inline {
		class = "inline"
	}
	b.WriteString(`<form method="post" class="` + class + `" action="` + esc(f.DoPath(op.Name)) + `"`)
	if slices.ContainsFunc(args, func(a schema.Arg) bool { return a.Kind == schema.FileKind && fm.shows(a) }) {
		b.WriteString(` enctype="multipart/form-data"`)
	}
	b.WriteString(`>`)
	for _, name := range slices.Sorted(maps.Keys(fm.Fixed)) {
		hidden(b, name, fm.Fixed[name])
	}
	if fm.Record {
		if fm.Fixed["idempotency_key"] == "" {
			f.key(b, fm.Given["idempotency_key"]...)
		}
	} else {
		f.beside(b, fm.Then, fm.Given["idempotency_key"]...)
	}
	if fm.Confirm {
		hidden(b, "confirm", "yes")
	}
	if fm.Alone {
		hidden(b, "alone", "yes")
	}
	if op.Preview != nil {
		hidden(b, "preview", "yes")
	}
	shown := fm.order(args)
	if !fm.Inline && slices.ContainsFunc(shown, func(a schema.Arg) bool {
		return a.New != "" || slices.ContainsFunc(a.Fields, func(x schema.Arg) bool { return x.New != "" })
	}) {
		b.WriteString(`<button class="hear" tabindex="-1" aria-hidden="true"></button>`) // pressed by Enter
	}
	if err := f.fields(ctx, b, &fm, op, shown); err != nil {
		return err
	}
	if fm.Extra != nil {
		if err := fm.Extra.Render(ctx, b); err != nil {
			return err
		}
	}
	label := cmp.Or(fm.Button, op.Verb())
	button := "btn"
	if fm.Main {
		button = "btn main"
	}
	if fm.Danger {
		button += " danger"
	}
	button = `<button class="` + button + `">` + esc(label) + `</button>`
	if fm.Back != "" {
		leave, class := "Cancel", "btn quiet"
		if fm.Confirm && fm.Danger {
			leave, class = "Keep it", "btn quiet keep"
		}
		button = `<div class="acts">` + button + `<a class="` + class + `" href="` + esc(fm.Back) + `">` + leave + `</a></div>`
	}
	b.WriteString(button + `</form>`)
	return nil
}

// untouched reports whether the argument's field, or its rows, are unchanged.
func (fm *Form) untouched(a schema.Arg) bool {
	name := schema.PageField(a.Name)
	for field, values := range fm.Given {
		if a.Kind == schema.BoolKind && len(values) > 1 { // a checked box, and what is sent of one that is not
			values = values[len(values)-1:]
		}
		if (field == name || strings.HasPrefix(field, name+".")) && strings.Join(values, "") != "" &&
			strings.Join(values, "") != fmt.Sprint(a.Default) {
			return false
		}
	}
	for field, value := range fm.Values {
		if (field == name || strings.HasPrefix(field, name+".")) && value != "" {
			return false
		}
	}
	return true
}

// shows reports whether the argument has a visible field.
func (fm Form) shows(a schema.Arg) bool {
	name := schema.PageField(a.Name)
	if _, fixed := fm.Fixed[name]; fixed || a.Header != "" {
		return false
	}
	return fm.Only == nil || slices.Contains(fm.Only, name)
}

// order are the shown arguments.
func (fm Form) order(args []schema.Arg) []schema.Arg {
	var shown []schema.Arg
	for _, a := range args {
		part := slices.ContainsFunc(args, func(x schema.Arg) bool { return x.PartOf == a.Name }) &&
			!slices.Contains(fm.Facts, a.Name)
		if fm.shows(a) && !part {
			shown = append(shown, a)
		}
	}
	if fm.Only != nil {
		place := func(a schema.Arg) int { return slices.Index(fm.Only, schema.PageField(a.Name)) }
		slices.SortStableFunc(shown, func(x, y schema.Arg) int { return place(x) - place(y) })
	}
	return shown
}

// empty reports whether the argument's field is an empty one to type or choose in.
func (fm Form) empty(a schema.Arg) bool {
	v, have := fm.given(schema.PageField(a.Name))
	switch a.Kind {
	case schema.TableKind, schema.RowsKind, schema.BoolKind, schema.FileKind:
		return false
	}
	return a.Name != matchField && a.Default == nil && !a.Today && (!have || strings.Join(v, "") == "")
}

// given is the form field's value: what was sent, else the page's value.
func (fm Form) given(name string) ([]string, bool) {
	if v, ok := fm.Given[name]; ok {
		return v, true
	}
	v, ok := fm.Values[name]
	return []string{v}, ok
}

func given(m map[string][]string, name string) bool { return len(m[name]) > 0 && m[name][0] != "" }

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
	b.WriteString(`<div class="` + fieldClass(a) + `">` + f.labelOf(e))
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
func (f *Frame) initial(a schema.Arg) []string {
	switch {
	case a.Today && f.Today != 0:
		return []string{f.Today.String()}
	case a.Default == nil:
		return nil
	}
	return []string{fmt.Sprint(a.Default)}
}

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
		s += `<p class="why" id="` + e.id + `-why">` + esc(sentence(e.why)) + `</p>`
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
