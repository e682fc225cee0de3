package table

import (
	"strings"
	"time"
	"unicode"

	"quartermaster/schema"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// dayFormats are the date formats that are detected, the default first.
var dayFormats = func() (all []*dateFormat) {
	for _, written := range []string{
		"YYYY-MM-DD", "DD.MM.YYYY", "DD/MM/YYYY", "MM/DD/YYYY", "D MMM YYYY", "MMM D, YYYY", "D-MMM-YYYY",
		"DD-MM-YYYY", "MM-DD-YYYY", "YYYY/MM/DD", "YYYY.MM.DD", "DD.MM.YY", "DD/MM/YY", "MM/DD/YY",
		"YYYYMMDD",
	} {
		f, err := parseDateFormat(written)
		if err != nil {
			panic(err)
		}
		all = append(all, f)
	}
	return all
}()

// DateFormats are the names of the detected date formats.
func DateFormats() (all []string) {
	for _, f := range dayFormats {
		all = append(all, f.written)
	}
	return all
}

// dateFormat is a file's date format, in DD MM YYYY hh mm ss; MMM is a month's name.
type dateFormat struct {
	written string
	parts   []datePart
}

// datePart is a run of digits, or a separator between them.
type datePart struct {
	field byte // D M Y h m s, N for a month's name; 0 for a separator
	width int
	sign  string
}

// parseDateFormat parses a format. It has a day, a month and a year, each once.
func parseDateFormat(written string) (*dateFormat, error) {
	f := &dateFormat{written: written}
	refuse := func(why string) error {
		return fault.Fieldf("date_format",
			"date-format: %s %s; write the day as DD, the month as MM, the year as YYYY, and a time as hh mm ss, such as "+
				"DD.MM.YYYY",
			schema.Quote(written), why)
	}
	seen := map[byte]bool{}
	for i := 0; i < len(written); {
		field, width := byte(0), 0
		for _, name := range []string{"YYYY", "YY", "DD", "D", "MMM", "MM", "M", "hh", "mm", "ss"} {
			if strings.HasPrefix(written[i:], name) {
				field, width = name[0], len(name)
				break
			}
		}
		length := width
		if field == 'D' || field == 'M' && width == 1 {
			width = 2
		}
		if field == 0 {
			if c := written[i]; c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' && c != 'T' || c >= '0' && c <= '9' {
				return nil, refuse("has a letter or digit that is not a part of a date")
			}
			f.parts = append(f.parts, datePart{sign: written[i : i+1]})
			i++
			continue
		}
		if seen[field] {
			return nil, refuse("says the same twice")
		}
		seen[field] = true
		if field == 'M' && width == 3 {
			field = 'N'
		}
		f.parts = append(f.parts, datePart{field: field, width: width})
		i += length
	}
	if !seen['D'] || !seen['M'] || !seen['Y'] {
		return nil, refuse("has no whole day")
	}
	return f, nil
}

// read parses the beginning of a text and returns the rest.
func (f *dateFormat) read(text string) (day exact.Day, clock string, rest string, ok bool) {
	n := map[byte]int{}
	for i, p := range f.parts {
		if p.field == 0 {
			if !strings.HasPrefix(text, p.sign) {
				return 0, "", "", false
			}
			text = text[len(p.sign):]
			continue
		}
		if p.field == 'N' {
			if n['M'], text, ok = monthOf(text); !ok {
				return 0, "", "", false
			}
			continue
		}
		width := p.width
		if f.short(i, text) {
			width = 1
		}
		if len(text) < width || !digits(text[:width]) {
			return 0, "", "", false
		}
		for _, c := range text[:width] {
			n[p.field] = n[p.field]*10 + int(c-'0')
		}
		if p.field == 'Y' && p.width == 2 {
			n['Y'] += 2000
		}
		text = text[width:]
	}
	written := exact.DateOf(n['Y'], time.Month(n['M']), n['D'])
	if y, m, d := written.Date(); y != n['Y'] || int(m) != n['M'] || d != n['D'] {
		return 0, "", "", false
	}
	if _, has := n['h']; has {
		if n['h'] > 23 || n['m'] > 59 || n['s'] > 59 {
			return 0, "", "", false
		}
		clock = string([]byte{two(n['h'], 10), two(n['h'], 1), ':', two(n['m'], 10), two(n['m'], 1), ':', two(n['s'], 10),
			two(n['s'], 1)})
	}
	return written, clock, text, true
}

// monthNames are the beginnings of months' names in English, German, French, Spanish and Italian.
var monthNames = [12][]string{
	{"jan", "jän", "ene", "gen"}, {"feb", "fév", "fev"}, {"mar", "mär", "mrz", "maerz"}, {"apr", "avr", "abr"},
	{"may", "mai", "mag"},
	{"jun", "juin", "giu"}, {"jul", "juil", "lug"}, {"aug", "aoû", "ago"}, {"sep", "set"}, {"oct", "okt", "ott"}, {"nov"},
	{"dec", "dez", "déc", "dic"},
}

// monthOf parses a month's name at the beginning of a text, complete or abbreviated.
func monthOf(text string) (month int, rest string, ok bool) {
	end := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
	if end < 0 {
		end = len(text)
	}
	name := strings.ToLower(text[:end])
	for i, starts := range monthNames {
		for _, s := range starts {
			if strings.HasPrefix(name, s) {
				return i + 1, strings.TrimPrefix(text[end:], "."), true
			}
		}
	}
	return 0, "", false
}

// short reports whether the text has one digit for a part of two, as in 3.5.2026: with separators in the format that is
// unambiguous.
func (f *dateFormat) short(part int, text string) bool {
	p := f.parts[part]
	bounded := (part == 0 || f.parts[part-1].field == 0) && (part+1 == len(f.parts) || f.parts[part+1].field == 0)
	return p.field != 'Y' && bounded && text != "" && digits(text[:1]) && (len(text) == 1 || !digits(text[1:2]))
}

func two(n, unit int) byte { return byte('0' + n/unit%10) } // #nosec G115 -- one digit

// moment is a date with an optional time.
type moment struct {
	day   exact.Day
	timed bool
	at    time.Time // if it has a time
}

// parseMoment parses a date, alone or with a time. A time without a zone is the shop's.
func (c *converter) parseMoment(text string, as *dateFormat) (m moment, ok bool) {
	text = strings.TrimSpace(text)
	var clock, rest string
	if as == dayFormats[0] {
		if len(text) < 10 {
			return m, false
		}
		if m.day, ok = exact.ParseDay(text[:10]); !ok {
			return m, false
		}
		rest = text[10:]
	} else if m.day, clock, rest, ok = as.read(text); !ok {
		return m, false
	}
	if clock == "" && rest == "" {
		return m, true
	}
	if clock == "" {
		behind := strings.TrimLeft(rest, "T ,\u00a0\u202f")
		if behind == "" || behind == rest {
			return m, false
		}
		clock, rest = behind, ""
	}
	m.at, ok = clockOn(m.day, clock+rest, c.zone)
	m.timed = ok
	return m, ok
}

// clockOn parses a time of day: 14:05, 14:05:09, with a fraction, am or pm, and with a zone (Z, +01:00, +0100, UTC).
func clockOn(day exact.Day, clock string, zone *time.Location) (time.Time, bool) {
	clock = strings.ToUpper(strings.TrimSpace(clock))
	for _, universal := range []string{"UTC", "GMT"} {
		if rest, is := strings.CutSuffix(clock, universal); is {
			clock = strings.TrimSpace(rest) + "Z"
		}
	}
	text := day.String() + " " + clock
	for _, layout := range []string{"15:04:05", "15:04", "3:04:05 PM", "3:04 PM", "3:04:05PM", "3:04PM"} {
		for _, offset := range []string{"", "Z07:00", " Z07:00", "Z0700", " Z0700", "Z07"} {
			if at, err := time.ParseInLocation("2006-01-02 "+layout+offset, text, zone); err == nil {
				return at, true
			}
		}
	}
	return time.Time{}, false
}

// moment parses a cell of a date or an instant. The default format, and texts in no format, are left to the table,
// which accepts or refuses them.
func (c *converter) moment(name, text string, k kind, plain bool) (m moment, left bool, refusal *fault.Error) {
	as := c.dates
	if as == nil {
		as = c.formats[name]
	}
	if as == nil || k == isDay {
		as = dayFormats[0]
	}
	if plain && as == dayFormats[0] {
		return m, true, nil
	}
	m, ok := c.parseMoment(text, as)
	if ok {
		return m, false, nil
	}
	for _, f := range dayFormats {
		if _, fits := c.parseMoment(text, f); fits {
			return m, false, fault.Fieldf(name, "%s: cannot read the date %s. Expected %s; %s", name, schema.Quote(text),
				as.written,
				c.ask("add --date-format "+f.written, "it is written as "+f.written))
		}
	}
	if as == dayFormats[0] {
		return m, true, nil
	}
	return m, false, fault.Fieldf(name, "%s: cannot read the date %s. Expected %s", name, schema.Quote(text), as.written)
}

// day returns a date column's cell: a time is dropped, after one with a zone was converted to the shop's.
func (c *converter) day(name, text string, k kind) (string, *fault.Error) {
	if c.survey != nil {
		if k != isDay {
			c.survey.day(name, text, c)
		}
		return text, nil
	}
	_, plain := exact.ParseDay(strings.TrimSpace(text))
	m, left, refusal := c.moment(name, text, k, plain)
	switch {
	case refusal != nil:
		return "", refusal
	case left:
		return text, nil
	case m.timed:
		return exact.DayOf(m.at.In(c.zone)).String(), nil
	}
	return m.day.String(), nil
}

// instant returns an instant's cell in UTC: a date is its first instant, and a time without a zone is the shop's.
func (c *converter) instant(name, text string, k kind) (string, *fault.Error) {
	if c.survey != nil {
		if k != isDay {
			c.survey.day(name, text, c)
		}
		return text, nil
	}
	trimmed := strings.TrimSpace(text)
	if _, plain := exact.ParseInstant(trimmed); plain {
		return text, nil
	}
	_, plain := exact.ParseDay(trimmed) // the tables read a date as its first instant
	m, left, refusal := c.moment(name, text, k, plain)
	switch {
	case refusal != nil:
		return "", refusal
	case left:
		return text, nil
	case m.timed:
		return exact.InstantOf(m.at).String(), nil
	}
	return exact.InstantOf(m.day.Time(c.zone)).String(), nil
}
