package page

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"

	"quartermaster/schema"
)

// Sent is a refused form that is shown again on its page, as it was sent.
type Sent struct {
	Op      string
	Fields  url.Values
	Refused map[string]string          // by field
	Offered map[string][]schema.Choice // by field: the records that the typed text may mean
	Text    string                     // the refusal
	Key     string                     // its idempotency key
	At      string                     // the address of its page
	Back    bool                       // it was drawn again
	Pressed bool                       // it is a drawn button without fields
	Gone    bool                       // it may be a button that is not drawn any more: somebody else did it meanwhile
}

// comesBack fills the form with what was sent if it is the refused one, and shows why.
func (f *Frame) comesBack(b *strings.Builder, op schema.Op, fm *Form) {
	s := f.Sent
	if s == nil || s.Back || s.Op != op.Name || !fm.isOf(s, op) {
		return
	}
	s.Back = true
	fm.Given, fm.Refused, fm.Offered = url.Values{"idempotency_key": {s.Key}}, s.Refused, s.Offered
	for name, values := range s.Fields {
		fm.Given[name] = values
	}
	fm.Fixed = maps.Clone(fm.Fixed)
	if fm.Fixed == nil {
		fm.Fixed = map[string]string{}
	}
	fm.Fixed["sent_from"] = s.At // its next refusal comes from the operation's address
	if fm.Inline && s.isOfFields(fm.order(op.Args(schema.Page))) {
		return // its row says it once, below the field
	}
	b.WriteString(`<div class="note bad" role="alert"><p>` + esc(sentence(s.Text)) + `</p></div>`)
}

// isOfFields reports whether all that is wrong is in these fields.
func (s *Sent) isOfFields(shown []schema.Arg) bool {
	for name := range s.Refused {
		if !slices.ContainsFunc(shown, func(a schema.Arg) bool { return schema.PageField(a.Name) == name }) {
			return false
		}
	}
	return len(s.Refused) > 0
}

// isOf reports whether this form was sent: its hidden values and its fields agree.
func (fm *Form) isOf(s *Sent, op schema.Op) bool {
	for name, value := range fm.Fixed {
		if name != "then" && s.Fields.Get(name) != value {
			return false
		}
	}
	args := op.Args(schema.Page)
	if fm.Extra == nil { // what the page draws beside the fields may be any argument
		args = fm.order(args)
	}
	for name := range s.Fields {
		_, fixed := fm.Fixed[name]
		if !fixed && !slices.ContainsFunc(args, func(a schema.Arg) bool {
			field := schema.PageField(a.Name)
			return field == name || strings.HasPrefix(name, field+".")
		}) {
			return false
		}
	}
	return true
}

// pressed notes that the button is the one whose action was refused.
func (f *Frame) pressed(a Action) {
	s := f.Sent
	if s == nil || s.Op != a.op || len(a.fields)/2 != len(s.Fields) {
		return
	}
	for i := 0; i+1 < len(a.fields); i += 2 {
		if s.Fields.Get(a.fields[i]) != a.fields[i+1] {
			return
		}
	}
	s.Pressed = true
}

// WasSent reports whether the operation's form was refused and is shown again.
func WasSent(ctx context.Context, op string) bool {
	s := From(ctx).Sent
	return s != nil && s.Op == op
}

// WasTicked reports whether the box of the refused form was ticked, for boxes that a page draws itself.
func WasTicked(ctx context.Context, name, value string) bool {
	s := From(ctx).Sent
	return s != nil && slices.Contains(s.Fields[name], value)
}
