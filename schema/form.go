package schema

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
)

// Surface is the origin of a call.
type Surface uint8

// The surfaces whose arguments a Form reads.
const (
	REST    Surface = iota
	Tool            // an agent's arguments
	CSV             // a table's row: text cells
	Command         // positional arguments and flags: texts
	Page            // an HTML form, or a page's address: texts as people write them
)

// Input is the data of one call. A field is read from the path if its name is there, else from the body if there is
// one, else from the query.
type Input struct {
	Surface Surface
	Place   int // of the record in its list, as it was sent
	Path    func(name string) string
	Query   map[string][]string
	Body    strict.Value // an object; for a tool its arguments
	HasBody bool
	Raw     []byte // the unparsed body
	Header  func(name string) string
	Remote  string // the client's address, behind trusted proxies
	Cells   map[string]string

	Values   map[string][]string              // of Command by argument, of Page by the field's name
	Lenient  bool                             // of Page: unknown fields are ignored, as in a page's address
	Files    map[string]File                  // of Page: the uploads
	ReadFile func(path string) (File, error)  // of Command: how a file is read
	Currency exact.Currency                   // of Page: the currency of typed amounts
	View     func(func(*db.Conn) error) error // of Command, Page and Tool: how names are looked up
	// of Tool: the operation that accepts an argument unknown to this one; "" if none
	TakenBy func(argument string) string
}

// File is an upload, or a file named in a command.
type File struct {
	Name string
	Data []byte
}

// Form binds arguments to variables, as flag.FlagSet does: a variable's present value is its default. The same calls
// without values describe the arguments.
type Form struct {
	Options LoadOptions // import's flags, for a table's row

	surface    Surface
	describing bool
	in         Input
	args       []Arg
	refused    []fault.Field // in the order of binding
	pathErr    error         // a path without a record comes before any field
	failure    error         // a failed look-up, which is no refusal
}

// Surface returns the form's surface.
func (f *Form) Surface() Surface { return f.surface }

// Describing reports whether the form only describes: look up and refuse nothing.
func (f *Form) Describing() bool { return f.describing }

// Given reports whether the call has the argument: an empty cell of an existing column counts, an absent column does
// not.
func (f *Form) Given(name string) bool {
	if f.describing {
		return false
	}
	if f.surface == Command || f.surface == Page {
		_, ok := f.in.Values[f.field(Arg{Name: name})]
		return ok
	}
	_, ok := f.find(name)
	return ok
}

// Refuse refuses the call because of the field: an argument's name, "" for the whole. The text is a complete sentence.
// All refusals are returned together.
func (f *Form) Refuse(field, format string, args ...any) {
	if f.describing {
		return
	}
	if f.surface == Page {
		field = PageField(field)
	}
	if slices.ContainsFunc(f.refused, func(r fault.Field) bool { return r.Field == field }) {
		return // its first fault may be the cause of this one
	}
	f.refused = append(f.refused, fault.Field{Field: field, Detail: fmt.Sprintf(format, args...)})
}

// refuse is Refuse about an argument, whose name on this surface begins the text.
func (f *Form) refuse(a Arg, format string, args ...any) {
	f.Refuse(a.Name, f.shown(a)+format, args...)
}

// refuseMissing refuses the call because the argument is missing.
func (f *Form) refuseMissing(a Arg) {
	if f.surface == Page {
		f.Refuse(a.Name, "%s", a.missing())
		return
	}
	f.refuse(a, " is missing: %s", a.wants())
}

// refuseEmpty refuses an empty value of a mandatory argument.
func (f *Form) refuseEmpty(a Arg, needs string) {
	if f.surface == Page {
		f.refuseMissing(a)
		return
	}
	f.refuse(a, " is empty: %s", needs)
}

// refuseErr refuses with the error of a check of the argument.
func (f *Form) refuseErr(a Arg, err error) {
	if e, ok := fault.As(err); ok && e.Kind == fault.Invalid {
		if f.surface == Page {
			e = e.Amounts(func(cents int64, _ string) string { return f.currency().Plain(cents) })
		}
		f.Refuse(a.Name, "%s", e.Detail)
		return
	}
	if err != nil && f.failure == nil {
		f.failure = err
	}
}

// shown is the argument's name on the call's surface.
func (f *Form) shown(a Arg) string {
	switch {
	case f.surface == Command && a.Header == "":
		return a.Written()
	case f.surface == Page:
		return a.Label()
	}
	return a.Name
}

// wants says what the argument accepts, in the words of the surface.
func (f *Form) wants(a Arg) string {
	if f.surface == Page {
		return a.wantsWritten()
	}
	return a.wants()
}

// PageField is the name of an argument's field in an HTML form: an amount in cents is typed in currency units there,
// and named accordingly.
func PageField(argument string) string {
	if argument == "cents" {
		return "amount"
	}
	return strings.TrimSuffix(argument, "_cents")
}

// value is an argument's raw value: JSON, or text from a path, a query or a cell.
type value struct {
	json   strict.Value
	text   string
	isText bool
}

// add declares an argument and returns its value, if the call has one.
func (f *Form) add(a Arg, opts []Opt) (Arg, value, bool) {
	for _, o := range opts {
		o(&a)
	}
	f.args = append(f.args, a)
	if f.describing {
		return a, value{}, false
	}
	v, ok := f.read(a)
	if ok && a.clear != nil && v.clears() {
		*a.clear = true
		return a, v, false
	}
	if ok && v.isText && (f.surface == CSV || f.surface == Page) && v.text == "" {
		ok = false // an empty cell is the default
	}
	if !ok && a.Required {
		f.refuseMissing(a)
	}
	return a, v, ok
}

// clears reports whether the value clears a nullable argument: null, or an empty text.
func (v value) clears() bool {
	if v.isText {
		return strings.TrimSpace(v.text) == ""
	}
	return v.json.Kind() == strict.Null
}

func (f *Form) read(a Arg) (value, bool) {
	switch {
	case f.surface == Command || f.surface == Page:
		return f.written(a)
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
	case f.surface == Command || f.surface == Page:
		return f.written(Arg{Name: name})
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
		f.Refuse(name, "%s is given %d times; give it once", name, len(t))
	}
	return value{text: t[0], isText: true}, true
}

// finish refuses unknown fields, then what was refused during binding.
func (f *Form) finish() error {
	switch {
	case f.pathErr != nil:
		return f.pathErr
	case f.failure != nil:
		return f.failure
	}
	all := f.refused
	if unknown, found := f.unknown(); found {
		all = append([]fault.Field{unknown}, all...)
	}
	return refusalOf(all)
}

// refusalOf is the refusal of all the fields: its detail begins with the first.
func refusalOf(all []fault.Field) error {
	if len(all) == 0 {
		return nil
	}
	details := Map(all, func(field fault.Field) string { return field.Detail })
	text := strings.ReplaceAll(strings.Join(details, "; "), ".; ", ". ")
	e := fault.Invalidf("%s", text)
	e.Fields = slices.DeleteFunc(slices.Clone(all), func(x fault.Field) bool { return x.Field == "" })
	return e
}

func (f *Form) unknown() (refused fault.Field, found bool) {
	about := func(name, format string, args ...any) (fault.Field, bool) {
		return fault.Field{Field: name, Detail: fmt.Sprintf(format, args...)}, true
	}
	if name, found := f.unknownField(); found {
		if f.surface == Page {
			return about(name, "This form has an unknown field, %s. Load the page again.", Quote(name))
		}
		what := "field"
		if f.surface == Tool {
			what = "argument"
		}
		taken := ""
		if f.surface == Tool && f.in.TakenBy != nil {
			taken = f.in.TakenBy(name)
		}
		return about(name, "unknown %s %s; %s%s", what, Quote(name), taken, f.allowed(what))
	}
	name, found := f.unknownParameter()
	switch {
	case !found || f.in.Lenient && f.surface == REST:
		return refused, false
	case f.in.HasBody:
		return about(name, "unknown query parameter %s; this request takes none: send its fields in the body", Quote(name))
	}
	return about(name, "unknown query parameter %s; %s", Quote(name), f.allowed("query parameter"))
}

// unknownField is the body's first field without an argument.
func (f *Form) unknownField() (name string, found bool) {
	if f.surface == Page && !f.in.Lenient {
		return f.unknownValue()
	}
	if !f.in.HasBody || f.takesRaw() || f.in.Lenient && f.surface == REST {
		return "", false
	}
	for name := range f.in.Body.Fields {
		if !f.knows(string(name)) {
			return string(name), true
		}
	}
	return "", false
}

// unknownParameter is the query's first parameter, by name, that is not allowed.
func (f *Form) unknownParameter() (name string, found bool) {
	for n := range f.in.Query {
		if (f.in.HasBody || !f.knows(n)) && (!found || n < name) {
			name, found = n, true
		}
	}
	return name, found
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
			names = append(names, f.shown(a))
		}
	}
	if len(names) == 0 {
		return "there are none"
	}
	return "the " + what + "s are " + strings.Join(names, ", ")
}

// Quote shows a caller's text in a refusal: short, printable, in quotes.
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
