package schema

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
)

// written returns an argument's text from a command or a page.
func (f *Form) written(a Arg) (value, bool) {
	all, ok := f.in.Values[f.field(a)]
	if !ok || len(all) == 0 {
		return value{}, false
	}
	text := all[len(all)-1]
	if f.surface == Page && !a.Secret {
		text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
	}
	if len(all) > 1 && (f.surface != Page || a.Kind != BoolKind) && a.Kind != ListKind {
		f.refuse(a, " is given %d times; give it once", len(all))
	}
	return value{text: text, isText: true}, true
}

// field is the argument's name in Input.Values.
func (f *Form) field(a Arg) string {
	if f.surface == Page {
		return PageField(a.Name)
	}
	return a.Name
}

// unknownValue is the first field of a page's form, by name, without an argument.
func (f *Form) unknownValue() (name string, found bool) {
	for n := range f.in.Values {
		if !f.knowsField(n) && (!found || n < name) {
			name, found = n, true
		}
	}
	return name, found
}

func (f *Form) knowsField(name string) bool {
	return slices.ContainsFunc(f.args, func(a Arg) bool {
		if a.Header != "" {
			return false
		}
		field := f.field(a)
		return field == name || (a.Kind == TableKind || a.Kind == RowsKind) && strings.HasPrefix(name, field+".")
	})
}

// decimal turns a number as people write it into a JSON number. The decimal separator is a point or a comma. Spaces and
// ' group thousands, and so does a point or comma that is repeated, or before the other one, or in money before exactly
// three last digits.
func decimal(s string, money bool) (string, bool) {
	s = strings.TrimSpace(s)
	sign := ""
	if rest, ok := strings.CutPrefix(s, "-"); ok {
		sign, s = "-", strings.TrimSpace(rest)
	}
	whole, fraction, ok := splitDecimal(s, money)
	if !ok {
		return "", false
	}
	whole, ok = ungroup(whole)
	if !ok {
		return "", false
	}
	if fraction != "" {
		return sign + whole + "." + fraction, true
	}
	return sign + whole, true
}

// splitDecimal separates the digits before the decimal separator, still grouped, from those after it.
func splitDecimal(s string, money bool) (whole, fraction string, ok bool) {
	points, commas := strings.Count(s, "."), strings.Count(s, ",")
	last := strings.LastIndexAny(s, ".,")
	behind := ""
	if last >= 0 {
		behind = s[last+1:]
	}
	switch {
	case last < 0:
		return s, "", true
	case points > 0 && commas > 0:
		if strings.Count(s, s[last:last+1]) > 1 {
			return "", "", false // both would group
		}
	case points+commas > 1:
		return s, "", true
	case money && len(behind) == 3 && last > 0 && allDigits(behind):
		return s, "", true
	}
	return s[:last], behind, allDigits(behind) && last > 0
}

// ungroup removes thousands separators. Groups have three digits, after a first one of one to three, and one separator.
func ungroup(s string) (string, bool) {
	sign := ""
	var b strings.Builder
	group, groups := 0, 0
	for _, r := range s {
		switch {
		case r >= '0' && r <= '9':
			b.WriteRune(r)
			group++
			continue
		case strings.ContainsRune(" \u00a0\u202f\u2009'\u2019.,", r):
		default:
			return "", false
		}
		if sign != "" && sign != string(r) || group == 0 || group > 3 || groups > 0 && group != 3 {
			return "", false
		}
		sign, group, groups = string(r), 0, groups+1
	}
	digits := b.String()
	if digits == "" || groups > 0 && (group != 3 || digits[0] == '0') {
		return "", false
	}
	if digits = strings.TrimLeft(digits, "0"); digits == "" {
		digits = "0"
	}
	return digits, true
}

func allDigits(s string) bool {
	for _, r := range s {
		if r < '0' || r > '9' {
			return false
		}
	}
	return s != ""
}

// money parses an amount of a page in currency units.
func (f *Form) money(a Arg, text string) (int64, bool) {
	currency := f.currency()
	if whole, cut, two := readTwice(text, currency.Places); two {
		either := whole
		if cut != "" {
			either += " or " + cut
		}
		f.Refuse(a.Name, "%s: %s can be read in two ways. Write %s.", f.shown(a), Quote(text), either)
		return 0, false
	}
	token, ok := decimal(text, currency.Places != 3) // with three decimals, three digits are no group
	n, err := int64(0), exact.ErrNotNumber
	if ok {
		n, err = currency.Parse(token)
	}
	if err != nil {
		f.Refuse(a.Name, "%s: %s is not an amount. Write it in %s with at most %d decimals, for example %s.",
			f.shown(a), Quote(text), currency.Code, currency.Places, currency.Plain(123456))
		return 0, false
	}
	return n, true
}

// Cents parses the texts of a list as amounts: whole cents; on pages as people type them. Any other text is refused.
func (f *Form) Cents(name string, texts []string) []int64 {
	all := make([]int64, 0, len(texts))
	for _, t := range texts {
		if f.surface == Page {
			n, _ := f.money(Arg{Name: name}, t)
			all = append(all, n)
			continue
		}
		n, err := strconv.ParseInt(t, 10, 64)
		if err != nil {
			f.Refuse(name, "%s: %s is not a whole number of cents", name, Quote(t))
		}
		all = append(all, n)
	}
	return all
}

// readTwice reports whether an amount is ambiguous: one separator with exactly three digits after it. whole is one
// reading, and cut, "" in a currency without decimals, the other with as many decimals as the currency has.
func readTwice(text string, places int) (whole, cut string, two bool) {
	text = strings.TrimSpace(text)
	sign := ""
	if rest, ok := strings.CutPrefix(text, "-"); ok {
		sign, text = "-", strings.TrimSpace(rest)
	}
	at := strings.IndexAny(text, ".,")
	if places == 3 || at < 1 || len(text)-at != 4 || !allDigits(text[:at]) || !allDigits(text[at+1:]) || text[0] == '0' {
		return "", "", false
	}
	whole = sign + text[:at] + text[at+1:]
	if places > 0 {
		cut = sign + text[:at] + "." + text[at+1:at+1+places]
	}
	return whole, cut, true
}

// currency is the currency of a page's amounts.
func (f *Form) currency() exact.Currency {
	if f.in.Currency.Code == "" {
		return exact.CurrencyOf("USD")
	}
	return f.in.Currency
}

// Currency takes the currency of a page's amounts from a field, if it is not the shop's: an order has its own. code
// returns the currency's code for the field's text, "" for the shop's. It is called before the amounts are bound.
func (f *Form) Currency(field string, code func(c *db.Conn, text string) (string, error)) {
	values := f.in.Values[field]
	if f.surface != Page || f.describing || f.in.View == nil || len(values) == 0 {
		return
	}
	err := f.in.View(func(c *db.Conn) error {
		found, err := code(c, strings.TrimSpace(values[len(values)-1]))
		if found != "" {
			f.in.Currency = exact.CurrencyOf(found)
		}
		return err
	})
	if err != nil && f.failure == nil {
		f.failure = err
	}
}

// CurrencyFor is the currency of a page's amounts: that of the record that in names, else the shop's.
func (o Op) CurrencyFor(in Input) exact.Currency {
	f := &Form{surface: in.Surface, in: in}
	o.Bind(f)
	return f.currency()
}

// id parses the id by which a command or a page names a record: its name, #12, or its digits.
func (f *Form) id(a Arg, text string) (int64, bool) {
	text = strings.TrimSpace(text)
	digits, marked := strings.CutPrefix(text, "#")
	n, err := strconv.ParseInt(digits, 10, 64)
	number := err == nil && n > 0
	nameFirst := a.NameFirst && (f.surface != Page || a.choices == nil) // a page's select sends ids
	if number && (marked || a.lookup == nil || !nameFirst) {
		return n, true
	}
	// 0 and numbers beyond any id are not names where digits are an id
	digital := err == nil || errors.Is(err, strconv.ErrRange)
	if digital && (marked || !nameFirst) || a.lookup == nil || f.in.View == nil {
		f.refuse(a, ": %s is not allowed; it takes %s", Quote(text), f.wants(a))
		return 0, false
	}
	found := int64(0)
	err = f.in.View(func(c *db.Conn) (err error) {
		found, err = a.lookup(c, text)
		return err
	})
	if number && fault.Is(err, fault.NotFound) {
		return n, true
	}
	of := f.surface == Page || f.surface == Tool
	if e, refused := fault.As(err); refused && of && (e.Kind == fault.Invalid || e.Kind == fault.NotFound) {
		f.Refuse(a.Name, "%s: %s", f.shown(a), e.Detail)
		return 0, false
	}
	if err != nil && f.failure == nil {
		f.failure = err
	}
	return found, err == nil
}

// rowsOf turns a page's fields rows.0.sku, rows.0.qty ... into JSON, or returns the JSON of a command or one field.
func (f *Form) rowsOf(a Arg) (strict.Value, bool) {
	if v, ok := f.written(a); ok && v.text != "" {
		rows, err := strict.Parse([]byte(v.text), maxDepth)
		if err != nil || rows.Kind() != strict.Array {
			f.refuse(a, ": it takes %s, as JSON", f.wants(a))
			return strict.Value{}, false
		}
		return rows, true
	}
	_, records := f.records(a)
	if len(records) == 0 {
		return strict.Value{}, false
	}
	b := []byte{'['}
	for i, record := range records {
		if i > 0 {
			b = append(b, ',')
		}
		b = rowJSON(b, ShapeOf(a.Items), record)
	}
	rows, err := strict.Parse(append(b, ']'), maxDepth)
	f.refuseErr(a, err)
	return rows, err == nil
}

const maxDepth = 32

func rowJSON(b []byte, shape *Shape, record map[string][]string) []byte {
	b = append(b, '{')
	first := true
	for _, name := range slices.Sorted(mapsKeys(record)) {
		text := strings.TrimSpace(record[name][0])
		if text == "" {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(strict.AppendText(b, name), ':')
		number := slices.ContainsFunc(shape.Fields, func(x Field) bool {
			return x.Name == name && (x.Shape.Type == "number" || x.Shape.Type == "integer")
		})
		if token, ok := decimal(text, false); number && ok {
			b = append(b, token...)
		} else {
			b = strict.AppendText(b, text)
		}
	}
	return append(b, '}')
}
