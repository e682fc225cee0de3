package schema

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
)

// Text binds a text: trimmed, at most 10,000 characters unless Most says otherwise,
// without control characters other than newline and tab.
func (f *Form) Text(p *string, name, about string, opts ...Opt) bool {
	a, v, ok := f.add(Arg{Name: name, About: about, Most: 10_000, Default: orNothing(*p)}, opts)
	if !ok {
		return false
	}
	s, ok := f.textOf(a, v)
	if !ok {
		return false
	}
	if a.Secret { // every sign of it counts, and it is judged where it is known what it is for
		*p = s
		return true
	}
	s = strings.TrimSpace(s)
	err := CheckText(f.shown(a), s, a.Most)
	switch {
	case (s == "" || err != nil) && a.Path != "" && f.surface == REST:
		f.pathErr = fault.NotFoundf("%s %s in the path names no record", a.Path, Quote(s))
	case s == "" && a.Required:
		f.refuse(a, " is empty: a text is needed")
	case err != nil:
		f.refuseErr(a, err)
	default:
		*p = s
		return true
	}
	return false
}

// CheckText refuses a text that is too long or holds control characters.
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

// Ref binds what names a record, its name or its id: a text, or a whole number as its
// digits.
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
		f.refuse(a, " is empty: it takes %s", a.wants())
		return false
	}
	if err := CheckText(f.shown(a), s, a.Most); err != nil {
		f.refuseErr(a, err)
		return false
	}
	*p = s
	return true
}

// TextPtr binds a text that may be absent: nil then.
func (f *Form) TextPtr(p **string, name, about string, opts ...Opt) bool {
	var s string
	if !f.Text(&s, name, about, opts...) {
		return false
	}
	*p = &s
	return true
}

// Enum binds one of the values.
func (f *Form) Enum(p *string, name, about string, values []string, opts ...Opt) bool {
	a, v, ok := f.add(Arg{Name: name, About: about, Kind: EnumKind, Enum: values, Default: orNothing(*p)}, opts)
	if !ok {
		return false
	}
	s, ok := f.textOf(a, v)
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
	if f.surface == Tool { // a program that guesses is read where nothing is lost: "in progress"
		same := func(s string) string { return strings.NewReplacer(" ", "-", "_", "-").Replace(s) }
		for _, v := range a.Enum {
			if word != v && same(word) == same(v) {
				word = v
				break
			}
		}
	}
	if !slices.Contains(a.Enum, word) {
		f.refuse(a, ": %s is not allowed; it takes %s", Quote(s), a.wants())
		return false
	}
	*p = word
	return true
}

// Int binds a whole number.
func (f *Form) Int(p *int64, name, about string, opts ...Opt) bool {
	a, v, ok := f.add(Arg{Name: name, About: about, Kind: IntKind, Default: orNothing(*p)}, opts)
	if !ok {
		return false
	}
	n, ok := f.number(a, v, 0)
	if !ok || !f.within(a, n, 1) {
		return false
	}
	*p = n
	if a.capped && n > *a.Max {
		*p = *a.Max
	}
	return true
}

// IntPtr binds a whole number that may be absent: nil then.
func (f *Form) IntPtr(p **int64, name, about string, opts ...Opt) bool {
	var n int64
	if !f.Int(&n, name, about, opts...) {
		return false
	}
	*p = &n
	return true
}

// ID binds a record's id. One in the path that is not a positive whole number names
// no record: 404.
func (f *Form) ID(p *int64, name, about string, opts ...Opt) bool {
	a := Arg{Name: name, About: about, Kind: IntKind}
	Range(1, math.MaxInt64)(&a)
	a, v, ok := f.add(a, opts)
	if !ok {
		return false
	}
	if f.surface == Command || f.surface == Page {
		n, ok := f.id(a, v.text)
		if ok {
			*p = n
		}
		return ok
	}
	if v.isText && a.Path != "" && f.surface == REST {
		n, err := strconv.ParseUint(v.text, 10, 63)
		if err != nil || n == 0 {
			f.pathErr = fault.NotFoundf("%s %s in the path names no record: ids are positive whole numbers", a.Path, Quote(v.text))
		}
		*p = int64(n)
		return f.pathErr == nil
	}
	if f.surface == Tool && !v.isText && v.json.Kind() == strict.String { // #12 is what people call a record by its id
		v = value{text: strings.TrimPrefix(v.json.Text(), "#"), isText: true}
	}
	n, ok := f.number(a, v, 0)
	if !ok || !f.within(a, n, 1) {
		return false
	}
	*p = n
	return true
}

// Milli binds a quantity with at most three decimals.
func (f *Form) Milli(p *exact.Milli, name, about string, opts ...Opt) bool {
	var def any
	if *p != 0 {
		def = *p
	}
	a, v, ok := f.add(Arg{Name: name, About: about, Kind: NumberKind, Places: 3, Default: def}, opts)
	if !ok {
		return false
	}
	n, ok := f.number(a, v, 3)
	if !ok || !f.within(a, n, 1000) {
		return false
	}
	*p = exact.Milli(n)
	return true
}

// MilliPtr binds a quantity that may be absent: nil then.
func (f *Form) MilliPtr(p **exact.Milli, name, about string, opts ...Opt) bool {
	var n exact.Milli
	if !f.Milli(&n, name, about, opts...) {
		return false
	}
	*p = &n
	return true
}

// Amount binds an amount in currency units with at most two decimals, as cents.
func (f *Form) Amount(p *int64, name, about string, opts ...Opt) bool {
	a, v, ok := f.add(Arg{Name: name, About: about, Kind: NumberKind, Places: 2}, opts)
	if !ok {
		return false
	}
	n, ok := f.number(a, v, 2)
	if !ok || !f.within(a, n, 100) {
		return false
	}
	*p = n
	return true
}

// number reads a number as whole units of 10^-places.
func (f *Form) number(a Arg, v value, places int) (int64, bool) {
	token := v.text
	switch {
	case !v.isText && v.json.Kind() == strict.Number:
		token = string(v.json.Raw())
	case !v.isText && f.surface == Tool && v.json.Kind() == strict.String: // a slip without loss
		token = v.json.Text()
	case !v.isText:
		f.wrongType(a, v)
		return 0, false
	case f.surface == Page && a.cents():
		return f.money(a, token)
	case f.surface == Page:
		if plain, ok := decimal(token, places == 2); ok {
			token = plain
		}
	}
	var n int64
	var err error
	if places == 2 {
		n, err = exact.ParseCents(token)
	} else {
		var m exact.Milli
		m, err = exact.ParseMilli(token)
		n = int64(m)
		if places == 0 && err == nil {
			if n%1000 != 0 || a.cents() && strings.ContainsAny(token, ".eE") {
				err = exact.ErrTooFine
			}
			n /= 1000
		}
		switch {
		case places == 0 && errors.Is(err, exact.ErrTooLarge) && a.capped && token[0] != '-':
			n, err = *a.Max, nil
		case places == 0 && errors.Is(err, exact.ErrTooLarge):
			n, err = strconv.ParseInt(token, 10, 64)
		}
	}
	switch {
	case errors.Is(err, exact.ErrTooFine) && places > 0:
		f.refuse(a, ": %s has too many decimals; it takes at most %d decimals", Quote(token), places)
	case err != nil:
		f.refuse(a, ": %s is not allowed; it takes %s", Quote(token), a.wants())
	}
	return n, err == nil
}

func (f *Form) within(a Arg, n, unit int64) bool {
	low := a.Min != nil && wideLess(n, *a.Min, unit)
	high := a.Max != nil && !a.capped && *a.Max < math.MaxInt64/unit && n > *a.Max*unit
	if low || high {
		f.refuse(a, ": %s is out of range; it takes %s", exact.Decimal{Unscaled: n, Places: uint8(places(unit))}, a.wants()) // #nosec G115 -- a unit has at most three places
	}
	return !low && !high
}

func wideLess(n, bound, unit int64) bool { return exact.Mul(n, 1).Cmp(exact.Mul(bound, unit)) < 0 }

func places(unit int64) int { return len(strconv.FormatInt(unit, 10)) - 1 }

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
	case f.surface == Tool && v.json.Kind() == strict.String: // a slip without loss
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
	a, v, ok := f.add(Arg{Name: name, About: about, Kind: DayKind}, opts)
	if !ok {
		return false
	}
	s, ok := f.textOf(a, v)
	if !ok {
		return false
	}
	d, ok := exact.ParseDay(s)
	if !ok {
		f.refuse(a, ": %s is not %s that the calendar has", Quote(s), a.wants())
		return false
	}
	*p = d
	return true
}

// DayPtr binds a calendar day that may be absent: nil then.
func (f *Form) DayPtr(p **exact.Day, name, about string, opts ...Opt) bool {
	var d exact.Day
	if !f.Day(&d, name, about, opts...) {
		return false
	}
	*p = &d
	return true
}

// Month binds a month.
func (f *Form) Month(p *exact.Month, name, about string, opts ...Opt) bool {
	a, v, ok := f.add(Arg{Name: name, About: about, Kind: MonthKind}, opts)
	if !ok {
		return false
	}
	s, ok := f.textOf(a, v)
	if !ok {
		return false
	}
	m, ok := exact.ParseMonth(s)
	if !ok {
		f.refuse(a, ": %s is not %s", Quote(s), a.wants())
		return false
	}
	*p = m
	return true
}

// Loose binds whatever text came; anything else, or nothing, leaves the variable.
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

// Rows binds the one argument that may be nested: an array of objects, at most most
// of them. item is one row, filled in. The rows are read by the operation, which
// refuses each by itself.
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
			f.refuse(a, " is missing: %s", a.wants())
		}
		return
	}
	a, v, ok := f.add(a, opts)
	switch {
	case !ok:
	case !v.isText && f.surface == Tool && v.json.Kind() == strict.String: // a slip without loss
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

// Raw binds the whole body as it came, unparsed.
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

// Limit binds how many records a list gives: on REST 500, or what p holds, and at most 1000 (more is
// 1000), for agents 50 and at most 200 (more is refused). It reports whether the call said so.
func (f *Form) Limit(p *int64) bool {
	if f.surface == Command { // a list at the command line is complete
		*p = math.MaxInt32
		return f.Int(p, "limit", "how many to give at most (default: all)", Range(1, math.MaxInt32), func(a *Arg) { a.Default = nil })
	}
	if *p == 0 {
		*p = 500
	}
	if f.surface == Tool {
		*p = 50
		return f.Int(p, "limit", "how many records to give at most", Range(1, 200))
	}
	return f.Int(p, "limit", "how many records to give at most; over 1000 is taken as 1000", Range(1, 1000), func(a *Arg) { a.capped = true })
}

func (f *Form) textOf(a Arg, v value) (string, bool) {
	if v.isText {
		return v.text, true
	}
	switch {
	case v.json.Kind() == strict.String:
		return v.json.Text(), true
	case f.surface == Tool && v.json.Kind() == strict.Number: // a slip without loss
		return string(v.json.Raw()), true
	}
	f.wrongType(a, v)
	return "", false
}

func (f *Form) wrongType(a Arg, v value) {
	if v.isText {
		f.refuse(a, ": it takes %s", a.wants())
		return
	}
	if f.surface == Tool && nested(v.json) && a.Kind != RowsKind {
		f.refuse(a, " is nested (%s); every argument is a single value: it takes %s", v.json.Kind(), a.wants())
		return
	}
	f.refuse(a, " is %s; it takes %s", v.json.Kind(), a.wants())
}

func nested(v strict.Value) bool { return v.Kind() == strict.Array || v.Kind() == strict.Object }

func orNothing[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

// truths says how a truth value is written.
func (f *Form) truths() string {
	if f.surface == Tool {
		return "true or false"
	}
	return "true (1) or false (0)"
}
