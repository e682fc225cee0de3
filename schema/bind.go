package schema

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
)

// Text binds a text: trimmed, at most 10,000 characters unless Most changes that, without control characters except
// newline and tab.
func (f *Form) Text(p *string, name, about string, opts ...Opt) bool {
	a, s, ok := f.addText(Arg{Name: name, About: about, Most: 10_000, Default: orNothing(*p)}, opts)
	if !ok {
		return false
	}
	if a.Secret { // every character counts; its use decides whether it is valid
		*p = s
		return true
	}
	s = strings.TrimSpace(s)
	err := CheckText(f.shown(a), s, a.Most)
	switch {
	case (s == "" || err != nil) && a.Path != "" && f.surface == REST:
		f.pathErr = fault.NotFoundf("%s %s in the path is not an id", a.Path, Quote(s))
	case s == "" && a.Required:
		f.refuseEmpty(a, "a text is needed")
	case err != nil:
		f.refuseErr(a, err)
	default:
		*p = s
		return true
	}
	return false
}

// CheckText refuses a text that is too long or contains control characters.
func CheckText(name, s string, most int) error {
	if utf8.RuneCountInString(s) > most {
		return fault.Invalidf("%s has %d characters; at most %d are allowed", name, utf8.RuneCountInString(s), most)
	}
	if !utf8.ValidString(s) {
		return fault.Invalidf("%s is not valid UTF-8", name)
	}
	bad := func(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) }
	if strings.ContainsFunc(s, bad) {
		return fault.Invalidf("%s holds a control character; only newline and tab are allowed", name)
	}
	return nil
}

// Ref binds a record's name or id: a text, or a whole number as its digits.
func (f *Form) Ref(p *string, name, about string, opts ...Opt) bool {
	a, v, ok := f.add(Arg{Name: name, About: about, Kind: RefKind, Most: 200}, opts)
	if !ok {
		return false
	}
	if !v.isText && v.json.Kind() == strict.Number {
		n, ok := f.number(a, v, 0)
		if ok {
			*p = strconv.FormatInt(n, 10)
		}
		return ok
	}
	s, ok := f.textOf(a, v)
	if !ok {
		return false
	}
	if s = strings.TrimSpace(s); s == "" && a.Required {
		f.refuseEmpty(a, "it takes "+f.wants(a))
		return false
	}
	if err := CheckText(f.shown(a), s, a.Most); err != nil {
		f.refuseErr(a, err)
		return false
	}
	*p = s
	return true
}

// TextPtr binds an optional text; nil if absent.
func (f *Form) TextPtr(p **string, name, about string, opts ...Opt) bool {
	return optional(p, f.Text, name, about, opts)
}

// optional binds an argument whose variable stays nil if it is absent.
func optional[T any](p **T, bind func(*T, string, string, ...Opt) bool, name, about string, opts []Opt) bool {
	var v T
	if !bind(&v, name, about, opts...) {
		return false
	}
	*p = &v
	return true
}

// Enum binds one of the values.
func (f *Form) Enum(p *string, name, about string, values []string, opts ...Opt) bool {
	a, s, ok := f.addText(Arg{Name: name, About: about, Kind: EnumKind, Enum: values, Default: orNothing(*p)}, opts)
	if !ok {
		return false
	}
	word := strings.TrimSpace(s)
	if a.folded || f.surface == Tool {
		word = strings.ToLower(word)
	}
	if means, is := a.also[word]; is {
		word = means
	}
	if f.surface == Tool { // an agent's guess is accepted where it is unambiguous: "in progress"
		same := func(s string) string { return strings.NewReplacer(" ", "-", "_", "-").Replace(s) }
		for _, v := range a.Enum {
			if word != v && same(word) == same(v) {
				word = v
				break
			}
		}
	}
	if !slices.Contains(a.Enum, word) {
		f.refuse(a, ": %s is not allowed; it takes %s", Quote(s), f.wants(a))
		return false
	}
	*p = word
	return true
}

// Bool binds true or false; in a query and in a cell also 1 or 0.
func (f *Form) Bool(p *bool, name, about string, opts ...Opt) bool {
	a, v, ok := f.add(Arg{Name: name, About: about, Kind: BoolKind, Default: orNothing(*p)}, opts)
	if !ok {
		return false
	}
	word := v.text
	switch {
	case v.isText:
	case v.json.Kind() == strict.Bool:
		*p = v.json.Bool()
		return true
	case f.surface == Tool && v.json.Kind() == strict.String: // unambiguous
		word = strings.ToLower(v.json.Text())
	default:
		f.wrongType(a, v)
		return false
	}
	switch word {
	case "true", "1":
		*p = true
	case "false", "0":
		*p = false
	default:
		f.refuse(a, ": %s is not allowed; it takes %s", Quote(word), f.truths())
		return false
	}
	return true
}

// Day binds a calendar day.
func (f *Form) Day(p *exact.Day, name, about string, opts ...Opt) bool {
	a, s, ok := f.addText(Arg{Name: name, About: about, Kind: DayKind}, opts)
	if !ok {
		return false
	}
	d, ok := exact.ParseDay(s)
	if !ok {
		f.refuse(a, ": %s is no day of the calendar; it takes one as YYYY-MM-DD", Quote(s))
		return false
	}
	*p = d
	return true
}

// DayPtr binds an optional calendar day; nil if absent.
func (f *Form) DayPtr(p **exact.Day, name, about string, opts ...Opt) bool {
	return optional(p, f.Day, name, about, opts)
}

// Month binds a month.
func (f *Form) Month(p *exact.Month, name, about string, opts ...Opt) bool {
	a, s, ok := f.addText(Arg{Name: name, About: about, Kind: MonthKind}, opts)
	if !ok {
		return false
	}
	m, ok := exact.ParseMonth(s)
	if !ok {
		f.refuse(a, ": %s is not %s", Quote(s), f.wants(a))
		return false
	}
	*p = m
	return true
}

// Loose binds any text; anything else leaves the variable unchanged.
func (f *Form) Loose(p *string, name, about string, opts ...Opt) {
	_, v, ok := f.add(Arg{Name: name, About: about, Kind: LooseKind}, opts)
	switch {
	case !ok:
	case v.isText:
		*p = strings.TrimSpace(v.text)
	case v.json.Kind() == strict.String:
		*p = strings.TrimSpace(v.json.Text())
	case f.surface == Tool && nested(v.json):
		f.wrongType(Arg{Name: name, Kind: TextKind}, v)
	}
}

// Rows binds the one nested argument: an array of at most most objects. item is a sample row. The operation reads the
// rows and refuses each separately.
func (f *Form) Rows(p *strict.Value, name, about string, item any, most int, opts ...Opt) {
	a := Arg{Name: name, About: about, Kind: RowsKind, Items: item, Most: most}
	if !f.describing && (f.surface == Page || f.surface == Command) {
		for _, o := range opts {
			o(&a)
		}
		f.args = append(f.args, a)
		rows, ok := f.rowsOf(a)
		if ok {
			*p = rows
		} else if a.Required {
			f.refuseMissing(a)
		}
		return
	}
	a, v, ok := f.add(a, opts)
	switch {
	case !ok:
	case !v.isText && f.surface == Tool && v.json.Kind() == strict.String: // unambiguous
		rows, err := strict.Parse([]byte(v.json.Text()), maxDepth)
		if err != nil || rows.Kind() != strict.Array {
			f.wrongType(a, v)
			return
		}
		*p = rows
	case v.isText || v.json.Kind() != strict.Array:
		f.wrongType(a, v)
	default:
		*p = v.json
	}
}

// Raw binds the whole body, unparsed.
func (f *Form) Raw(p *[]byte, about string) {
	f.args = append(f.args, Arg{Name: "body", About: about, Kind: RawBody})
	*p = f.in.Raw
}

// Header binds a header of the request.
func (f *Form) Header(p *string, header, about string) {
	if _, v, ok := f.add(Arg{Name: header, About: about, Header: header}, nil); ok {
		*p = v.text
	}
}

// Remote binds the client's address.
func (f *Form) Remote(p *string) { *p = f.in.Remote }

// addText is add of an argument whose value is a text.
func (f *Form) addText(a Arg, opts []Opt) (_ Arg, text string, ok bool) {
	a, v, ok := f.add(a, opts)
	if ok {
		text, ok = f.textOf(a, v)
	}
	return a, text, ok
}

func (f *Form) textOf(a Arg, v value) (string, bool) {
	if v.isText {
		return v.text, true
	}
	switch {
	case v.json.Kind() == strict.String:
		return v.json.Text(), true
	case f.surface == Tool && v.json.Kind() == strict.Number: // unambiguous
		return string(v.json.Raw()), true
	}
	f.wrongType(a, v)
	return "", false
}

func (f *Form) wrongType(a Arg, v value) {
	if v.isText {
		f.refuse(a, ": it takes %s", f.wants(a))
		return
	}
	if f.surface == Tool && nested(v.json) && a.Kind != RowsKind {
		f.refuse(a, " is nested (%s); every argument is a single value: it takes %s", v.json.Kind(), f.wants(a))
		return
	}
	f.refuse(a, " is %s; it takes %s", v.json.Kind(), f.wants(a))
}

func nested(v strict.Value) bool { return v.Kind() == strict.Array || v.Kind() == strict.Object }

func orNothing[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

// truths says how a boolean is written.
func (f *Form) truths() string {
	if f.surface == Page {
		return "Yes or No"
	}
	if f.surface == Tool {
		return "true or false"
	}
	return "true (1) or false (0)"
}
