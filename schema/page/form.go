package page

import (
	"cmp"
	"context"
	"fmt"
	"html"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"quartermaster/schema"
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

	focus string   // the field with the focus
	pairs []string // arguments that stand in pairs
}

// Act draws the form; nothing for callers who may not do the operation.
func Act(fm Form) templ.Component {
	return drawn(func(ctx context.Context, f *Frame, b *strings.Builder) error {
		op, ok := f.may(fm.Op)
		if !ok {
			return nil
		}
		return f.form(ctx, b, op, fm)
	})
}

func (f *Frame) form(ctx context.Context, b *strings.Builder, op schema.Op, fm Form) error {
	args := op.Args(schema.Page)
	f.comesBack(b, op, &fm)
	if len(op.First) > 0 && !fm.Inline {
		fm.pairs = op.First[1:]
	}
	class := "form"
	if fm.Inline {
		class = "inline"
	}
	b.WriteString(`<form method="post" class="` + class + `" action="` + esc(f.DoPath(op.Name)) + `"`)
	if slices.ContainsFunc(args, func(a schema.Arg) bool { return a.Kind == schema.FileKind && fm.shows(a) }) {
		b.WriteString(` enctype="multipart/form-data"`)
	} else if op.Doubt != nil && !fm.Confirm {
		b.WriteString(asks(op))
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
			strings.Join(values, "") != fmt.Sprint(a.Default) &&
			(a.Kind != schema.BoolKind || a.Default != nil || strings.Join(values, "") != "false") {
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

func (f *Frame) initial(a schema.Arg) []string {
	switch {
	case a.Today && f.Today != 0:
		return []string{f.Today.String()}
	case a.Default == nil:
		return nil
	}
	return []string{fmt.Sprint(a.Default)}
}
