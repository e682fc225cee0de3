package schema

import (
	"slices"
	"strings"
	"unicode"

	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
)

// Surface is where a call comes from.
type Surface uint8

// The surfaces whose arguments a Form reads.
const (
	REST Surface = iota
	Tool
	CSV
)

// Input is what one call brought. A field is read from the path when its name stands
// there, else from the body if the call has one, else from the query.
type Input struct {
	Surface Surface
	Path    func(name string) string
	Query   map[string][]string
	Body    strict.Value // an object; for a tool its arguments
	HasBody bool
	Raw     []byte // the body as it came
	Header  func(name string) string
	Remote  string // the client's address, proxies that are trusted resolved
	Cells   map[string]string
}

// Form binds arguments to variables, as flag.FlagSet does: the value that a variable
// has before is its default. The same calls without values describe the arguments.
type Form struct {
	Options LoadOptions // import's flags, for a table's row

	surface    Surface
	describing bool
	in         Input
	args       []Arg
	err        error // the first refusal
	pathErr    error // a path that names no record comes before any field
}

// Surface tells whom the form serves.
func (f *Form) Surface() Surface { return f.surface }

// Describing tells that the form has no values: nothing may be looked up or refused.
func (f *Form) Describing() bool { return f.describing }

// Given tells whether the call brought the argument at all: an empty cell of a column
// that is there counts, an absent column does not.
func (f *Form) Given(name string) bool {
	if f.describing {
		return false
	}
	_, ok := f.find(name)
	return ok
}

// Refuse makes the form refuse the call, unless something was refused before.
func (f *Form) Refuse(format string, args ...any) {
	if f.err == nil && !f.describing {
		f.err = fault.Invalidf(format, args...)
	}
}

// value is one argument as it came: JSON, or text from a path, a query or a cell.
type value struct {
	json   strict.Value
	text   string
	isText bool
}

// add declares an argument and gives its value, if the call brought one.
func (f *Form) add(a Arg, opts []Opt) (Arg, value, bool) {
	for _, o := range opts {
		o(&a)
	}
	f.args = append(f.args, a)
	if f.describing {
		return a, value{}, false
	}
	v, ok := f.read(a)
	if ok && v.isText && f.surface == CSV && v.text == "" {
		ok = false // an empty cell is the default
	}
	if !ok && a.Required {
		f.Refuse("%s is missing: %s", a.Name, a.wants())
	}
	return a, v, ok
}

func (f *Form) read(a Arg) (value, bool) {
	switch {
	case f.surface == REST && a.Path != "":
		return value{text: f.in.Path(a.Path), isText: true}, true
	case a.Header != "":
		t := f.in.Header(a.Header)
		return value{text: t, isText: true}, t != ""
	}
	return f.find(a.Name)
}

func (f *Form) find(name string) (value, bool) {
	switch {
	case f.surface == CSV:
		t, ok := f.in.Cells[name]
		return value{text: strings.TrimSpace(t), isText: true}, ok
	case f.in.HasBody:
		v, ok := f.in.Body.Get(name)
		return value{json: v}, ok
	}
	t, ok := f.in.Query[name]
	if !ok || len(t) == 0 {
		return value{}, false
	}
	if len(t) > 1 {
		f.Refuse("%s is given %d times; give it once", name, len(t))
	}
	return value{text: t[0], isText: true}, true
}

// finish refuses what the form does not know, then what was refused on the way.
func (f *Form) finish() error {
	if f.pathErr != nil {
		return f.pathErr
	}
	if err := f.unknown(); err != nil {
		return err
	}
	return f.err
}

func (f *Form) unknown() error {
	if name, strange := f.strangeField(); strange {
		what := "field"
		if f.surface == Tool {
			what = "argument"
		}
		return fault.Invalidf("unknown %s %s; %s", what, Quote(name), f.allowed(what))
	}
	name, strange := f.strangeParameter()
	switch {
	case !strange:
		return nil
	case f.in.HasBody:
		return fault.Invalidf("unknown query parameter %s; this request takes none, its fields stand in the body", Quote(name))
	}
	return fault.Invalidf("unknown query parameter %s; %s", Quote(name), f.allowed("query parameter"))
}

// strangeField is the body's first field that no argument has the name of.
func (f *Form) strangeField() (name string, strange bool) {
	if !f.in.HasBody || f.takesRaw() {
		return "", false
	}
	for name := range f.in.Body.Fields {
		if !f.knows(string(name)) {
			return string(name), true
		}
	}
	return "", false
}

// strangeParameter is the first, by name, that the query may not hold.
func (f *Form) strangeParameter() (name string, strange bool) {
	for n := range f.in.Query {
		if (f.in.HasBody || !f.knows(n)) && (!strange || n < name) {
			name, strange = n, true
		}
	}
	return name, strange
}

func (f *Form) knows(name string) bool {
	return slices.ContainsFunc(f.args, func(a Arg) bool {
		return a.Name == name && a.Header == "" && (a.Path == "" || f.surface != REST)
	})
}

func (f *Form) takesRaw() bool {
	return slices.ContainsFunc(f.args, func(a Arg) bool { return a.Kind == RawBody })
}

func (f *Form) allowed(what string) string {
	var names []string
	for _, a := range f.args {
		if a.Header == "" && (a.Path == "" || f.surface != REST) {
			names = append(names, a.Name)
		}
	}
	if len(names) == 0 {
		return "there are none"
	}
	return "the " + what + "s are " + strings.Join(names, ", ")
}

// Quote shows what a caller sent inside a refusal: short, printable, in quotes.
func Quote(s string) string {
	const most = 60
	var b strings.Builder
	b.WriteByte('"')
	n := 0
	for _, r := range s {
		if n++; n > most {
			b.WriteString("...")
			break
		}
		if unicode.IsControl(r) || r == 0xfffd || r == '"' {
			r = '?'
		}
		b.WriteRune(r)
	}
	b.WriteByte('"')
	return b.String()
}
