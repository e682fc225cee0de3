package page

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"quartermaster/schema"
)

// Marking is the form of an action on the marked rows of a list; marks survive paging. Mark draws the boxes; Found,
// after it, pages.
type Marking struct {
	Op, Button string
	Field      string            // the argument that gets the marked rows
	Only       []string          // the shown fields, in this order; nil is all
	Fixed      map[string]string // values sent along and not shown
	Then       string            // the next page; "" is this page
	Record     bool              // the operation chooses the next page
	Main       bool              // the primary button of the page
	Sum        string            // the currency of the rows' data-sum, whose sum over the marked rows is shown
	Total      int64             // matching rows, on all pages
	Also       []Action          // Open of further operations on the same rows: their forms open with the marks
}

// Marks are the rows marked on earlier pages, and what was typed beside them.
type Marks struct {
	Op     string
	Values []string
	Was    []string   // rows marked by default
	Fields url.Values // of the form
}

// matchField holds the query of a list's address: all matching rows are meant.
const matchField = "match"

// foundField is a part of that query that says how many rows matched when the list was shown.
const foundField = "found"

// marks are those of the operation: of an earlier page, or of a refused form; nil if none.
func (f *Frame) marks(op, field string) *Marks {
	if s := f.Sent; s != nil && s.Op == op {
		return &Marks{Op: op, Values: s.Fields[field], Was: s.Fields[field], Fields: s.Fields}
	}
	if f.Marks == nil || f.Marks.Op != op {
		return nil
	}
	return f.Marks
}

// MarkedForm draws the form.
func MarkedForm(m Marking) templ.Component {
	return drawn(func(ctx context.Context, f *Frame, b *strings.Builder) error {
		op, ok := f.may(m.Op)
		if !ok {
			return nil
		}
		f.marking = &m
		fm := Form{Op: m.Op, ID: "marked", Only: m.Only, Fixed: m.Fixed}
		if s := f.Sent; s != nil && s.Op == m.Op && !s.Back {
			s.Back = true
			fm.Refused = s.Refused
			b.WriteString(`<div class="note bad" role="alert"><p>` + esc(sentence(s.Text)) + `</p></div>`)
		}
		if marks := f.marks(m.Op, m.Field); marks != nil {
			fm.Given = marks.Fields
		}
		b.WriteString(`<form method="post" class="bulk bar" id="bulk-` + m.Op + `" action="` + esc(f.DoPath(m.Op)) +
			`" data-sum="` + esc(m.Sum) + `">`)
		if m.Record && f.NewKey != nil {
			hidden(b, "idempotency_key", f.NewKey())
		} else {
			f.beside(b, m.Then)
		}
		hidden(b, "marked_op", m.Op)
		hidden(b, "marked_field", m.Field)
		for _, name := range slices.Sorted(maps.Keys(m.Fixed)) {
			hidden(b, name, m.Fixed[name])
		}
		args := op.Args(schema.Page)
		for _, a := range fm.order(args) {
			if name := schema.PageField(a.Name); name == m.Field || name == matchField {
				continue
			}
			if err := f.field(ctx, b, fm, a); err != nil {
				return err
			}
		}
		if m.Total > 1 && slices.ContainsFunc(args, func(a schema.Arg) bool { return a.Name == matchField }) {
			f.allThatMatch(b, m, given(fm.Given, matchField))
		}
		f.markedButtons(b, m)
		b.WriteString(`</form>`)
		return nil
	})
}

// markedButtons draws the form's own button and those of further operations on the same rows.
func (f *Frame) markedButtons(b *strings.Builder, m Marking) {
	class := "btn"
	if m.Main {
		class = "btn main"
	}
	b.WriteString(`<button class="` + class + `">` + esc(m.Button) + `</button>`)
	for _, a := range m.Also {
		if _, ok := f.may(a.op); ok {
			b.WriteString(`<button class="btn quiet" formnovalidate name="marked_open" value="yes" formaction="` +
				esc(f.DoPath(a.op)) + `">` + esc(a.label) + `</button>`)
		}
	}
}

// mostMarked is how many of the marked rows a form names; of more it says their number.
const mostMarked = 12

// marked draws the rows that a list's marks gave to an operation's own form as facts, and reports whether it did.
func (f *Frame) marked(b *strings.Builder, fm Form, e entry) bool {
	op, ok := f.may(fm.Op)
	if !ok || e.why != "" || e.name != matchField && e.arg.Kind != schema.ListKind ||
		!slices.ContainsFunc(op.Args(schema.Page), func(a schema.Arg) bool { return a.Name == matchField }) {
		return false
	}
	values := strings.Fields(strings.Join(e.values, " "))
	if e.name == matchField {
		values = slices.DeleteFunc(slices.Clone(e.values), func(v string) bool { return v == "" })
	}
	if len(values) == 0 {
		return e.name == matchField || given(fm.Given, matchField)
	}
	for _, v := range values {
		hidden(b, e.name, v)
	}
	text := strings.Join(values[:min(len(values), mostMarked)], ", ")
	if len(values) > mostMarked {
		text = num(len(values)) + ": " + text + " ..."
	}
	if e.name == matchField {
		text = "Yes"
		if list, err := url.ParseQuery(values[0]); err == nil && list.Get(foundField) != "" {
			text = group(list.Get(foundField))
		}
	}
	b.WriteString(`<p class="fact"><span>` + esc(e.arg.Label()) + `</span> <b>` + esc(text) + `</b></p>`)
	return true
}

// allThatMatch is the check box that selects all rows of the list's filters.
func (f *Frame) allThatMatch(b *strings.Builder, m Marking, checked bool) {
	q := url.Values{"q": {f.Query.Get("q")}, foundField: {Num(m.Total)}}
	for name, values := range f.Query {
		if name != "after" && name != "sort" && name != "format" && strings.Join(values, "") != "" {
			q[name] = values
		}
	}
	id := "all-" + m.Op
	b.WriteString(`<div class="field check"><input type="checkbox" id="` + id + `" name="` + matchField + `" value="` +
		esc(q.Encode()) + `"`)
	if checked {
		b.WriteString(` checked`)
	}
	b.WriteString(`><label for="` + id + `">All ` + group(Num(m.Total)) + ` that match</label></div>`)
}

// Mark is the box of one row for the operation's form: its cell is a <td class="mark">. label is for screen readers:
// "Mark work order 12". checked: marked by default.
func Mark(op, field, value, label string, checked bool) templ.Component {
	return made(func(f *Frame) string {
		if _, ok := f.may(op); !ok {
			return ""
		}
		var b strings.Builder
		if f.onPage == nil {
			f.onPage = map[string]bool{}
		}
		f.onPage[value] = true
		form := ` form="bulk-` + op + `"`
		if checked {
			b.WriteString(`<input type="hidden"` + form + ` name="marked_was" value="` + esc(value) + `">`)
		}
		if marks := f.marks(op, field); marks != nil {
			checked = checked && !slices.Contains(marks.Was, value) && f.Sent == nil || slices.Contains(marks.Values, value)
		}
		b.WriteString(`<input type="checkbox"` + form + ` name="` + esc(field) + `" value="` + esc(value) + `" aria-label="` +
			esc(label) + `"`)
		if checked {
			b.WriteString(` checked`)
		}
		b.WriteString(`>`)
		return b.String()
	})
}

// turn writes the control that pages: a link, or a button of the form whose marks must be kept or whose counts are
// saved.
func (f *Frame) turn(b *strings.Builder, class, rel, label, to string) {
	if f.counting == "" && (f.marking == nil || !f.Turns) {
		b.WriteString(`<a class="` + class + `"` + rel + ` href="` + esc(to) + `">` + label + `</a>`)
		return
	}
	if rel != "" {
		b.WriteString(`<link` + rel + ` href="` + esc(to) + `">`)
	}
	if f.counting != "" {
		b.WriteString(`<button class="` + class + `" form="bulk-` + f.counting + `" name="turn" value="` + esc(to) +
			`">Save, ` +
			strings.ToLower(label) + `</button>`)
		return
	}
	b.WriteString(`<button class="` + class + `" form="bulk-` + f.marking.Op + `" formnovalidate formaction="` + esc(to) +
		`">` + label + `</button>`)
}

// elsewhere writes the marks of other pages, and their number.
func (f *Frame) elsewhere(b *strings.Builder) {
	if f.marking == nil {
		return
	}
	marks := f.marks(f.marking.Op, f.marking.Field)
	if marks == nil {
		return
	}
	form, n := `<input type="hidden" form="bulk-`+f.marking.Op+`" name="`, 0
	for _, v := range marks.Was {
		if !f.onPage[v] {
			b.WriteString(form + `marked_was" value="` + esc(v) + `">`)
		}
	}
	for _, v := range marks.Values {
		if !f.onPage[v] {
			n++
			b.WriteString(form + esc(f.marking.Field) + `" value="` + esc(v) + `">`)
		}
	}
	if n > 0 {
		b.WriteString(`<span>` + Plural(n, "row", "rows") + ` marked on other pages. <a href="` + esc(f.Here()) +
			`">Unmark all</a></span>`)
	}
}
