package page

import (
	"cmp"
	"context"
	"html"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"

	"quartermaster/schema/exact"
)

// text is a component that is already HTML.
func text(s string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	})
}

// made is a component whose HTML depends on the frame.
func made(make func(f *Frame) string) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		_, err := io.WriteString(w, make(From(ctx)))
		return err
	})
}

// drawn is a component that is written with the frame.
func drawn(draw func(ctx context.Context, f *Frame, b *strings.Builder) error) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		var b strings.Builder
		if err := draw(ctx, From(ctx), &b); err != nil {
			return err
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
}

// data is a figure: value as in REST, and its text for people.
func data(value, shown string) string {
	return `<data value="` + html.EscapeString(value) + `">` + html.EscapeString(shown) + `</data>`
}

// Money is an amount in the shop's currency, with its code: 1,080.39 EUR.
func Money(cents int64) templ.Component {
	return made(func(f *Frame) string {
		return data(strconv.FormatInt(cents, 10), Amount(cents, f.Currency)+"\u00a0"+f.Currency)
	})
}

// MoneyIn is an amount in the named currency; an order has its own.
func MoneyIn(cents int64, currency string) templ.Component {
	return text(data(strconv.FormatInt(cents, 10), Amount(cents, currency)+"\u00a0"+currency))
}

// Cents is an amount in the shop's currency without its code, for a column whose header names it (CurrencyCode).
func Cents(cents int64) templ.Component {
	return made(func(f *Frame) string { return data(strconv.FormatInt(cents, 10), Amount(cents, f.Currency)) })
}

// none marks a missing value, without an element that could be read as one.
var none = text(`<span class="none">–</span>`)

// None marks a missing value.
func None() templ.Component { return none }

// MoneyText is Money as text, for a title or a label.
func MoneyText(ctx context.Context, cents int64) string {
	f := From(ctx)
	return Amount(cents, f.Currency) + "\u00a0" + f.Currency
}

// Mailing reports whether mail is set up, so that its controls are drawn.
func Mailing(ctx context.Context) bool { return From(ctx).Mailing }

// CurrencyCode is the shop's currency, "EUR".
func CurrencyCode(ctx context.Context) string { return From(ctx).Currency }

// Amount writes cents with the currency's decimals and grouped thousands.
func Amount(cents int64, currency string) string { return exact.CurrencyOf(currency).Amount(cents) }

func group(s string) string { return exact.Grouped(s) }

// Qty is a quantity without trailing zeros: 1,250.5.
func Qty(m exact.Milli) templ.Component { return text(data(m.String(), group(m.String()))) }

// QtyText is Qty as text.
func QtyText(m exact.Milli) string { return group(m.String()) }

// Dec is a figure with decimals of its own, as a rate: REST has 4.2333, people read 4.2.
func Dec(d exact.Decimal) templ.Component { return text(data(d.String(), DecText(d))) }

// DecText is Dec as text: rounded to one decimal, to two below 1.
func DecText(d exact.Decimal) string {
	one := int64(1)
	for range d.Places {
		one *= 10
	}
	places := uint8(1)
	if -one < d.Unscaled && d.Unscaled < one {
		places = 2
	}
	if d.Places > places {
		whole := int64(1)
		for range d.Places - places {
			whole *= 10
		}
		d = exact.Decimal{Unscaled: exact.RoundHalfUp(d.Unscaled, whole), Places: places}
	}
	return group(d.String())
}

// Count is a whole number that is also in REST.
func Count[T ~int | ~int64 | ~int32](n T) templ.Component {
	s := strconv.FormatInt(int64(n), 10)
	return text(data(s, group(s)))
}

// CountPtr is Count, or a dash.
func CountPtr[T ~int | ~int64 | ~int32](n *T) templ.Component {
	if n == nil {
		return none
	}
	return Count(*n)
}

// Figure is any number as in REST, and its text for people.
func Figure(value, shown string) templ.Component { return text(data(value, shown)) }

// Day is a calendar day: 1 Nov, with the year if it is not the present one, and in print always.
func Day(d exact.Day) templ.Component {
	return made(func(f *Frame) string {
		shown, year := f.day(d), d.String()[:4]
		if strings.HasSuffix(shown, year) {
			return `<time datetime="` + d.String() + `">` + shown + `</time>`
		}
		return `<time datetime="` + d.String() + `" data-y="` + year + `">` + shown + `</time>`
	})
}

// DayPtr is Day, or a dash.
func DayPtr(d *exact.Day) templ.Component {
	if d == nil {
		return none
	}
	return Day(*d)
}

// DayText is Day as text.
func DayText(ctx context.Context, d exact.Day) string { return From(ctx).day(d) }

func (f *Frame) day(d exact.Day) string {
	y, m, n := d.Date()
	s := strconv.Itoa(n) + "\u00a0" + m.String()[:3]
	if this, _, _ := f.Today.Date(); this != y || f.Today == 0 || f.Years {
		s += "\u00a0" + strconv.Itoa(y)
	}
	return s
}

// LongDay is a day in a letter's format: 1 November 2026.
func LongDay(d exact.Day) templ.Component {
	y, m, n := d.Date()
	return text(`<time datetime="` + d.String() + `">` + strconv.Itoa(n) + "\u00a0" + m.String() + "\u00a0" +
		strconv.Itoa(y) + `</time>`)
}

// Month is a month: November 2026.
func Month(m exact.Month) templ.Component {
	return text(`<time datetime="` + m.String() + `">` + MonthText(m) + `</time>`)
}

// MonthText is Month as text.
func MonthText(m exact.Month) string {
	y, month, _ := m.First().Date()
	return month.String() + " " + strconv.Itoa(y)
}

// InYear is the year of all parts of a strip, to follow its title: ", 2026"; "" if they are of several years, which the
// strip tells.
func InYear(parts []Part) string {
	first, _, _ := parts[0].Day.Date()
	last, _, _ := parts[len(parts)-1].Day.Date()
	if first != last {
		return ""
	}
	return ", " + num(first)
}

// tickOf is what is under a part of a strip: its month where that changes, with the year below the first of it, else
// its day. Of many parts, which are narrow on a phone, it is the month alone, and of many months each third.
func tickOf(parts []Part, i int) string {
	year, month, day := parts[i].Day.Date()
	before, after := 0, year
	if InYear(parts) != "" {
		before = year
	}
	if i > 0 {
		before, _, _ = parts[i-1].Day.Date()
	}
	if i+1 < len(parts) {
		after, _, _ = parts[i+1].Day.Date()
	}
	many, monthly := len(parts) > mostMonths, len(parts) > 1 && parts[0].Day.Month() != parts[1].Day.Month()
	name := month.String()[:3]
	switch {
	case before != year && (i > 0 || after == year): // of two years side by side only the second has room
		return name + "\n" + num(year)
	case i > 0 && parts[i-1].Day.Month() == parts[i].Day.Month():
		if many {
			return ""
		}
		return num(day)
	case many && monthly && month%3 != time.January:
		return ""
	}
	return name
}

// Instant is a moment in the shop's time zone: 20 Nov, 21:05.
func Instant(i exact.Instant) templ.Component {
	return made(func(f *Frame) string {
		return `<time datetime="` + i.String() + `">` + f.instant(i) + `</time>`
	})
}

// Since is Instant, or the day alone where nobody said a time: such a record has the first second of its day.
func Since(i exact.Instant) templ.Component {
	return made(func(f *Frame) string {
		return `<time datetime="` + i.String() + `">` + strings.TrimSuffix(f.instant(i), ",\u00a000:00") + `</time>`
	})
}

// InstantText is Instant as text.
func InstantText(ctx context.Context, i exact.Instant) string { return From(ctx).instant(i) }

// InstantPtr is Instant, or a dash.
func InstantPtr(i *exact.Instant) templ.Component {
	if i == nil {
		return none
	}
	return Instant(*i)
}

// DayOf is the day of a moment, or a dash. The element holds the moment.
func DayOf(i *exact.Instant) templ.Component {
	if i == nil {
		return none
	}
	return made(func(f *Frame) string {
		return `<time datetime="` + i.String() + `">` + f.day(i.Day(f.zone())) + `</time>`
	})
}

func (f *Frame) zone() *time.Location { return cmp.Or(f.Zone, time.UTC) }

func (f *Frame) instant(i exact.Instant) string {
	zone := f.zone()
	return f.day(i.Day(zone)) + ",\u00a0" + time.Unix(int64(i), 0).In(zone).Format("15:04")
}

// Ago is the time since a moment: 2 h, 3 days. The element holds the moment.
func Ago(i exact.Instant) templ.Component {
	return made(func(f *Frame) string {
		return `<time datetime="` + i.String() + `" title="` + f.instant(i) + `">` + span(int64(f.Now-i)) + `</time>`
	})
}

func span(seconds int64) string {
	switch {
	case seconds < 60:
		return "now"
	case seconds < 3600:
		return strconv.FormatInt(seconds/60, 10) + "\u00a0min"
	case seconds < 48*3600:
		return strconv.FormatInt(seconds/3600, 10) + "\u00a0h"
	}
	return strconv.FormatInt(seconds/86400, 10) + "\u00a0days"
}

// Minutes is a time in minutes: 6 h 20 min.
func Minutes[T ~int | ~int64](n T) templ.Component {
	return text(data(strconv.FormatInt(int64(n), 10), MinutesText(n)))
}

// MinutesText is Minutes as text.
func MinutesText[T ~int | ~int64](n T) string {
	shown := strconv.FormatInt(int64(n%60), 10) + "\u00a0min"
	switch {
	case n >= 60 && n%60 == 0:
		shown = strconv.FormatInt(int64(n/60), 10) + "\u00a0h"
	case n >= 60:
		shown = strconv.FormatInt(int64(n/60), 10) + "\u00a0h\u00a0" + shown
	}
	return shown
}

// Grouped is a number such as 40,000.
func Grouped[T ~int | ~int64](n T) string { return group(strconv.FormatInt(int64(n), 10)) }

// Plural is a number with its noun: 1 thing, 2 things.
func Plural[T ~int | ~int64](n T, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Grouped(n) + " " + many
}

// The looks of a state: each has its own shape and colour beside its word.
const (
	Bad   = "bad"   // square, red: someone must act
	Warn  = "warn"  // triangle, amber: soon
	High  = "high"  // arrow up, amber: a priority
	Todo  = "todo"  // hollow square: not begun
	Going = "going" // half-filled dot: begun
	Good  = "good"  // hollow dot: as it should be
	Idle  = "idle"  // dash, grey: none of these
)

// State is a state's badge.
func State(look, word string) templ.Component {
	return text(`<span class="state ` + look + `">` + html.EscapeString(word) + `</span>`)
}

// Word is a value of the program for people: "in_progress" is "In progress".
func Word(s string) string {
	s = strings.ReplaceAll(s, "_", " ")
	switch s {
	case "":
		return s
	case "tls", "starttls":
		return strings.ToUpper(s)
	case "lemonsqueezy":
		return "Lemon Squeezy"
	case "edd":
		return "Easy Digital Downloads"
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// Actor is who did something, for people: the command line and the tenants' portal have no names of their own.
func Actor(name string) string {
	switch name {
	case "cli":
		return "command line"
	case "portal":
		return "tenants' portal"
	}
	return name
}

// ByWhom is who did something, and where: "ann · web".
func ByWhom(actor, via string) string {
	if actor == via {
		return Actor(actor)
	}
	return Actor(actor) + " · " + Actor(via)
}

// Percent is a share of one for people: 0.7143 is 71 %.
func Percent(d exact.Decimal) templ.Component {
	one := int64(1)
	for range d.Places {
		one *= 10
	}
	return Figure(d.String(), strconv.FormatInt((d.Unscaled*100+one/2)/one, 10)+" %")
}

// Share is a part of an amount above 0 in whole percent: 100 only of all of it.
func Share(part, all int64) string {
	n := (part*200 + all) / (2 * all)
	if part < all {
		n = min(n, 99)
	}
	return num(n) + "\u00a0%"
}

// Unit is a unit after a quantity: "bags" after 20. Words that are not known stay as they are.
func Unit(word string, qty exact.Milli) string {
	switch {
	case qty == 1000:
		return word
	case slices.Contains([]string{"box", "pouch", "batch"}, word):
		return word + "es"
	case slices.Contains([]string{"bag", "bottle", "can", "carton", "case", "jar", "pack", "pair", "piece", "roll", "sack",
		"set", "tin", "tube", "unit"}, word):
		return word + "s"
	}
	return word
}
