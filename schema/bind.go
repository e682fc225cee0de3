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
func (f *Form) Text(p *string, name, about string, opts ...Opt) {
	a, v, ok := f.add(Arg{Name: name, About: about, Most: 10_000, Default: orNothing(*p)}, opts)
	if !ok {
		return
	}
	s, ok := f.textOf(a, v)
	if !ok {
		return
	}
	s = strings.TrimSpace(s)
	err := CheckText(a.Name, s, a.Most)
	switch {
	case (s == "" || err != nil) && a.Path != "" && f.surface == REST:
		f.pathErr = fault.NotFoundf("%s %s in the path names no record", a.Path, Quote(s))
	case s == "" && a.Required:
		f.Refuse("%s is empty: a text is needed", a.Name)
	case err != nil && f.err == nil:
		f.err = err
	default:
		*p = s
	}
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
func (f *Form) Ref(p *string, name, about string, opts ...Opt) {
	a, v, ok := f.add(Arg{Name: name, About: about, Kind: RefKind, Most: 200}, opts)
	if !ok {
		return
	}
	if !v.isText && v.json.Kind() == strict.Number {
		if n, ok := f.number(a, v, 0); ok {
			*p = strconv.FormatInt(n, 10)
		}
		return
	}
	s, ok := f.textOf(a, v)
	if !ok {
		return
	}
	if s = strings.TrimSpace(s); s == "" && a.Required {
		f.Refuse("%s is empty: it takes %s", a.Name, a.wants())
		return
	}
	if err := CheckText(a.Name, s, a.Most); err != nil && f.err == nil {
		f.err = err
	}
	*p = s
}

// TextPtr binds a text that may be absent: nil then.
func (f *Form) TextPtr(p **string, name, about string, opts ...Opt) {
	var s string
	f.Text(&s, name, about, opts...)
	f.ifGiven(name, func() { *p = &s })
}

// Enum binds one of the values.
func (f *Form) Enum(p *string, name, about string, values []string, opts ...Opt) {
	a, v, ok := f.add(Arg{Name: name, About: about, Kind: EnumKind, Enum: values, Default: orNothing(*p)}, opts)
	if !ok {
		return
	}
	s, ok := f.textOf(a, v)
	if !ok {
		return
	}
	word := strings.TrimSpace(s)
	if a.folded {
		word = strings.ToLower(word)
	}
	if means, is := a.also[word]; is {
		word = means
	}
	if !slices.Contains(a.Enum, word) {
		f.Refuse("%s: %s is not allowed; it takes %s", a.Name, Quote(s), a.wants())
		return
	}
	*p = word
}

// Int binds a whole number.
func (f *Form) Int(p *int64, name, about string, opts ...Opt) {
	a, v, ok := f.add(Arg{Name: name, About: about, Kind: IntKind, Default: orNothing(*p)}, opts)
	if !ok {
		return
	}
	n, ok := f.number(a, v, 0)
	if ok && f.within(a, n, 1) {
		*p = n
		if a.capped && n > *a.Max {
			*p = *a.Max
		}
	}
}

// IntPtr binds a whole number that may be absent: nil then.
func (f *Form) IntPtr(p **int64, name, about string, opts ...Opt) {
	var n int64
	f.Int(&n, name, about, opts...)
	f.ifGiven(name, func() { *p = &n })
}

// ID binds a record's id. One in the path that is not a positive whole number names
// no record: 404.
func (f *Form) ID(p *int64, name, about string, opts ...Opt) {
	a := Arg{Name: name, About: about, Kind: IntKind}
	Range(1, math.MaxInt64)(&a)
	a, v, ok := f.add(a, opts)
	if !ok {
		return
	}
	if v.isText && a.Path != "" && f.surface == REST {
		n, err := strconv.ParseUint(v.text, 10, 63)
		if err != nil || n == 0 {
			f.pathErr = fault.NotFoundf("%s %s in the path names no record: ids are positive whole numbers", a.Path, Quote(v.text))
		}
		*p = int64(n)
		return
	}
	if n, ok := f.number(a, v, 0); ok && f.within(a, n, 1) {
		*p = n
	}
}

// Milli binds a quantity with at most three decimals.
func (f *Form) Milli(p *exact.Milli, name, about string, opts ...Opt) {
	var def any
	if *p != 0 {
		def = *p
	}
	a, v, ok := f.add(Arg{Name: name, About: about, Kind: NumberKind, Places: 3, Default: def}, opts)
	if !ok {
		return
	}
	if n, ok := f.number(a, v, 3); ok && f.within(a, n, 1000) {
		*p = exact.Milli(n)
	}
}

// MilliPtr binds a quantity that may be absent: nil then.
func (f *Form) MilliPtr(p **exact.Milli, name, about string, opts ...Opt) {
	var n exact.Milli
	f.Milli(&n, name, about, opts...)
	f.ifGiven(name, func() { *p = &n })
}

// Amount binds an amount in currency units with at most two decimals, as cents.
func (f *Form) Amount(p *int64, name, about string, opts ...Opt) {
	a, v, ok := f.add(Arg{Name: name, About: about, Kind: NumberKind, Places: 2}, opts)
	if !ok {
		return
	}
	if n, ok := f.number(a, v, 2); ok && f.within(a, n, 100) {
		*p = n
	}
}

// number reads a number as whole units of 10^-places.
func (f *Form) number(a Arg, v value, places int) (int64, bool) {
	token := v.text
	if !v.isText {
		if v.json.Kind() != strict.Number {
			f.wrongType(a, v)
			return 0, false
		}
		token = string(v.json.Raw())
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
		f.Refuse("%s: %s has too many decimals; at most %d are kept", a.Name, Quote(token), places)
	case err != nil:
		f.Refuse("%s: %s is not allowed; it takes %s", a.Name, Quote(token), a.wants())
	}
	return n, err == nil
}

func (f *Form) within(a Arg, n, unit int64) bool {
	low := a.Min != nil && wideLess(n, *a.Min, unit)
	high := a.Max != nil && !a.capped && *a.Max < math.MaxInt64/unit && n > *a.Max*unit
	if low || high {
		f.Refuse("%s: %s is out of range; it takes %s", a.Name, exact.Decimal{Unscaled: n, Places: uint8(places(unit))}, a.wants()) // #nosec G115 -- a unit has at most three places
	}
	return !low && !high
}

func wideLess(n, bound, unit int64) bool { return exact.Mul(n, 1).Cmp(exact.Mul(bound, unit)) < 0 }

func places(unit int64) int { return len(strconv.FormatInt(unit, 10)) - 1 }

// Bool binds true or false; in a query and in a cell also 1 or 0.
func (f *Form) Bool(p *bool, name, about string, opts ...Opt) {
	a, v, ok := f.add(Arg{Name: name, About: about, Kind: BoolKind, Default: orNothing(*p)}, opts)
	switch {
	case !ok:
	case !v.isText && v.json.Kind() == strict.Bool:
		*p = v.json.Bool()
	case v.isText && (v.text == "true" || v.text == "1"):
		*p = true
	case v.isText && (v.text == "false" || v.text == "0"):
		*p = false
	case v.isText:
		f.Refuse("%s: %s is not allowed; it takes true (1) or false (0)", a.Name, Quote(v.text))
	default:
		f.wrongType(a, v)
	}
}

// Day binds a calendar day.
func (f *Form) Day(p *exact.Day, name, about string, opts ...Opt) {
	a, v, ok := f.add(Arg{Name: name, About: about, Kind: DayKind}, opts)
	if !ok {
		return
	}
	if s, ok := f.textOf(a, v); ok {
		d, ok := exact.ParseDay(s)
		if !ok {
			f.Refuse("%s: %s is not %s that the calendar has", a.Name, Quote(s), a.wants())
			return
		}
		*p = d
	}
}

// DayPtr binds a calendar day that may be absent: nil then.
func (f *Form) DayPtr(p **exact.Day, name, about string, opts ...Opt) {
	var d exact.Day
	f.Day(&d, name, about, opts...)
	f.ifGiven(name, func() { *p = &d })
}

// Month binds a month.
func (f *Form) Month(p *exact.Month, name, about string, opts ...Opt) {
	a, v, ok := f.add(Arg{Name: name, About: about, Kind: MonthKind}, opts)
	if !ok {
		return
	}
	if s, ok := f.textOf(a, v); ok {
		m, ok := exact.ParseMonth(s)
		if !ok {
			f.Refuse("%s: %s is not %s", a.Name, Quote(s), a.wants())
			return
		}
		*p = m
	}
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
	a, v, ok := f.add(Arg{Name: name, About: about, Kind: RowsKind, Items: item, Most: most}, opts)
	switch {
	case !ok:
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

// Remote gives the client's address.
func (f *Form) Remote(p *string) { *p = f.in.Remote }

// Limit binds how many records a list gives: on REST 500 and at most 1000 (more is
// 1000), for agents 50 and at most 200 (more is refused).
func (f *Form) Limit(p *int64) {
	*p = 500
	if f.surface == Tool {
		*p = 50
		f.Int(p, "limit", "how many records to give at most", Range(1, 200))
		return
	}
	f.Int(p, "limit", "how many records to give at most; over 1000 is taken as 1000", Range(1, 1000), func(a *Arg) { a.capped = true })
}

func (f *Form) textOf(a Arg, v value) (string, bool) {
	if v.isText {
		return v.text, true
	}
	if v.json.Kind() != strict.String {
		f.wrongType(a, v)
		return "", false
	}
	return v.json.Text(), true
}

func (f *Form) wrongType(a Arg, v value) {
	if v.isText {
		f.Refuse("%s: it takes %s", a.Name, a.wants())
		return
	}
	if f.surface == Tool && nested(v.json) && a.Kind != RowsKind {
		f.Refuse("%s is nested (%s); every argument is a single value: it takes %s", a.Name, v.json.Kind(), a.wants())
		return
	}
	f.Refuse("%s is %s; it takes %s", a.Name, v.json.Kind(), a.wants())
}

func nested(v strict.Value) bool { return v.Kind() == strict.Array || v.Kind() == strict.Object }

func (f *Form) ifGiven(name string, set func()) {
	if f.describing || f.err != nil {
		return
	}
	if v, ok := f.find(name); ok && (f.surface != CSV || v.text != "") {
		set()
	}
}

func orNothing[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}
