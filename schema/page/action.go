package page

import (
	"strings"

	"github.com/a-h/templ"

	"quartermaster/schema"
)

// Action is a link or a button on a page. It draws nothing for callers who may not use it.
type Action struct {
	label, href, op, then, key, id string
	needs                          string // the operation of the link's page
	fields                         []string
	post, main, quiet, danger      bool
	folded                         bool
}

// Link leads to another page.
func Link(label, href string) Action { return Action{label: label, href: href} }

// Open leads to the operation's form, filled with the fields: names and values alternately.
func Open(label, op string, fields ...string) Action {
	return Action{label: label, op: op, fields: fields}
}

// For names the operation of the link's page: callers who may not do it see no link.
func (a Action) For(op string) Action { a.needs = op; return a }

// Do is a button that runs the operation with the fields at once; a destructive one asks first. It needs no further
// field.
func Do(label, op string, fields ...string) Action {
	return Action{label: label, op: op, fields: fields, post: true}
}

// Main makes it the page's main button.
func (a Action) Main() Action { a.main = true; return a }

// Quiet draws it without a border.
func (a Action) Quiet() Action { a.quiet = true; return a }

// Danger marks it as destructive.
func (a Action) Danger() Action { a.danger = true; return a }

// Folded puts it under "More" in a page's head.
func (a Action) Folded() Action { a.folded = true; return a }

// Key is the letter that presses it.
func (a Action) Key(letter string) Action { a.key = letter; return a }

// Then is the next page; the default is this page.
func (a Action) Then(path string) Action { a.then = path; return a }

// Named returns the button with a name for screen readers, which read it without its row: "Record payment, Ada
// Lindqvist".
func (a Action) Named(name string) Action { a.id = name; return a }

// Button draws an action.
func Button(a Action) templ.Component { return made(func(f *Frame) string { return f.button(a) }) }

// Actions draws several actions in a row; nothing if none is permitted.
func Actions(as ...Action) templ.Component {
	return made(func(f *Frame) string { return inRow(f.buttons(as...)) })
}

func inRow(buttons string) string {
	if buttons == "" {
		return ""
	}
	return `<div class="acts">` + buttons + `</div>`
}

func (f *Frame) buttons(as ...Action) (all string) {
	for _, a := range as {
		all += f.button(a)
	}
	return all
}

// mostShown is the number of a head's acts, beside its main one, that a desk shows unfolded.
const mostShown = 3

// mostBeside is the most letters of an act that a phone has room for beside a title.
const mostBeside = 9

// headActions are those of a page's head. The main one stands alone; on a phone several others open from the foot of
// the screen. Destructive ones are under "More" everywhere, and those after the third if there are more.
func headActions(as []Action) templ.Component {
	return made(func(f *Frame) string {
		var main, danger string
		var safe []string
		letters := 0
		for _, a := range as {
			button := f.button(a)
			switch {
			case a.danger, a.folded:
				danger += button
			case a.main:
				main += button
			case button != "":
				safe, letters = append(safe, button), letters+len(a.label)
			}
		}
		shown := safe
		if len(safe) > mostShown {
			shown = safe[:mostShown-1]
		}
		second := strings.Join(shown, "")
		if folded := strings.Join(safe[len(shown):], "") + danger; folded != "" {
			second += more("btn", folded)
		}
		if len(safe) > 1 || len(safe) == 1 && danger != "" || letters > mostBeside {
			second = `<button type="button" class="btn down narrow-only" popovertarget="acts">More</button>` +
				`<div class="second" popover id="acts">` + second + `</div>`
		}
		return inRow(main + second)
	})
}

// more folds buttons behind one of the class.
func more(class, buttons string) string {
	return `<details class="others"><summary class="` + class + ` down">More</summary><div class="drop">` + buttons +
		`</div></details>`
}

// NextStep draws the first permitted action, and the others and all destructive ones under "More".
func NextStep(as ...Action) templ.Component {
	return made(func(f *Frame) string {
		next, others := "", ""
		for _, a := range as {
			if next == "" && !a.danger {
				next = f.button(a)
			} else {
				others += f.button(a)
			}
		}
		if others != "" {
			next += more(`btn quiet`, others)
		}
		return inRow(next)
	})
}

// Others draws the permitted actions under "More", where none presses.
func Others(as ...Action) templ.Component {
	return made(func(f *Frame) string {
		if others := f.buttons(as...); others != "" {
			return inRow(more(`btn quiet`, others))
		}
		return ""
	})
}

// Offers reports whether the caller may do one of the actions.
func (f *Frame) Offers(acts ...Action) bool { return f.buttons(acts...) != "" }

// button is one action, "" for callers who may not use it.
func (f *Frame) button(a Action) string {
	if strings.HasPrefix(a.href, "/import") && !f.is(Member) {
		return "" // importing needs a writing role
	}
	if a.needs != "" {
		if _, ok := f.may(a.needs); !ok {
			return ""
		}
	}
	ask := ""
	if a.op != "" {
		op, ok := f.may(a.op)
		if !ok {
			return ""
		}
		ask = asks(op)
	}
	class := "btn"
	for _, c := range []struct {
		is   bool
		name string
	}{{a.main, " main"}, {a.quiet, " quiet"}, {a.danger, " danger"}} {
		if c.is {
			class += c.name
		}
	}
	attrs := ` class="` + class + `"`
	if a.key != "" {
		attrs += ` data-key="` + esc(a.key) + `"`
	}
	label, key := esc(a.label), ""
	if a.key != "" && f.Keys {
		key = ` <kbd>` + esc(a.key) + `</kbd>`
	}
	if a.id != "" { // a space beside it would be as wide as a gap
		label += `<span class="hear">, ` + esc(a.id) + ` </span>` + strings.TrimSpace(key)
	} else {
		label += key
	}
	if !a.post {
		return `<a` + attrs + ` href="` + esc(f.target(a)) + `">` + label + `</a>`
	}
	f.pressed(a)
	var b strings.Builder
	b.WriteString(`<form method="post" action="` + esc(f.DoPath(a.op)) + `"` + ask + `>`)
	for i := 0; i+1 < len(a.fields); i += 2 {
		hidden(&b, a.fields[i], a.fields[i+1])
	}
	f.beside(&b, a.then)
	b.WriteString(`<button` + attrs + `>` + label + `</button></form>`)
	return b.String()
}

// asks marks the form of an operation that asks first: its question stands over the page.
func asks(op schema.Op) string {
	if op.Confirmed() || op.Doubt != nil {
		return ` data-ask`
	}
	return ""
}

// target is a link's address.
func (f *Frame) target(a Action) string {
	if a.op == "" {
		return a.href
	}
	q := make([]string, 0, len(a.fields)/2+1)
	for i := 0; i+1 < len(a.fields); i += 2 {
		q = append(q, queryEscape(a.fields[i])+"="+queryEscape(a.fields[i+1]))
	}
	if a.then != "" {
		q = append(q, "then="+queryEscape(a.then))
	}
	if len(q) == 0 {
		return f.DoPath(a.op)
	}
	return f.DoPath(a.op) + "?" + strings.Join(q, "&")
}

// key writes the idempotency key of a form: that of the refused one, else a new one.
func (f *Frame) key(b *strings.Builder, sent ...string) {
	if len(sent) > 0 && sent[0] != "" {
		hidden(b, "idempotency_key", sent[0])
	} else if f.NewKey != nil {
		hidden(b, "idempotency_key", f.NewKey())
	}
}

// beside writes the hidden fields of an operation's form: the idempotency key, and the next page.
func (f *Frame) beside(b *strings.Builder, then string, key ...string) {
	f.key(b, key...)
	if then == "" && f.Area == Staff {
		then = f.Here()
	}
	if then != "" {
		hidden(b, "then", then)
	}
}

func hidden(b *strings.Builder, name, value string) {
	b.WriteString(`<input type="hidden" name="` + esc(name) + `" value="` + esc(value) + `">`)
}
