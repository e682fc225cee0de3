package mail

import (
	"strconv"
	"strings"
	"time"

	"quartermaster/schema/exact"
)

// Locale is the format of dates and amounts in messages and letters.
type Locale struct {
	Name    string // "de-DE"
	day     string // a layout of package time
	decimal string
	group   string
}

const narrow = "\u202f" // a narrow no-break space

// locales are all locales, the default first.
var locales = []Locale{
	{"en-GB", "2 January 2006", ".", ","},
	{"en-US", "January 2, 2006", ".", ","},
	{"iso", "2006-01-02", ".", ","},
	{"sv-SE", "2006-01-02", ",", narrow},
	{"de-DE", "02.01.2006", ",", "."},
	{"de-CH", "02.01.2006", ".", "'"},
	{"pl-PL", "02.01.2006", ",", narrow},
	{"fr-FR", "02/01/2006", ",", narrow},
	{"es-ES", "02/01/2006", ",", "."},
	{"it-IT", "02/01/2006", ",", "."},
	{"nl-NL", "02-01-2006", ",", "."},
}

// LocaleNames are the names of the locales, the default first.
func LocaleNames() (names []string) {
	for _, l := range locales {
		names = append(names, l.Name)
	}
	return names
}

// LocaleOf is the locale of a name; the default for an unknown one.
func LocaleOf(name string) Locale {
	for _, l := range locales {
		if l.Name == name {
			return l
		}
	}
	return locales[0]
}

// Day writes a day: "1 December 2026".
func (l Locale) Day(d exact.Day) string { return d.Time(time.UTC).Format(l.day) }

// Money writes an amount with its currency: "1,200.00 EUR", with a no-break space.
func (l Locale) Money(units int64, in exact.Currency) string {
	return l.number(in.Plain(units)) + "\u00a0" + in.Code
}

// Qty writes a quantity: "2.5".
func (l Locale) Qty(m exact.Milli) string { return l.number(m.String()) }

// Count writes a whole number without groups, such as days or seats.
func (l Locale) Count(n int64) string { return strconv.FormatInt(n, 10) }

// number writes a decimal number with groups of three.
func (l Locale) number(plain string) string {
	sign := ""
	if strings.HasPrefix(plain, "-") {
		sign, plain = "-", plain[1:]
	}
	whole, decimals, has := strings.Cut(plain, ".")
	var b strings.Builder
	b.WriteString(sign)
	for i, r := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteString(l.group)
		}
		b.WriteRune(r)
	}
	if has {
		b.WriteString(l.decimal + decimals)
	}
	return b.String()
}
