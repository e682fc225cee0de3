package schema

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Plain is a refusal in the words of the operation's form: the field's label or ordinary words replace the technical
// names of arguments, flags and values. Typed text, which is in quotes, stays.
func (o Op) Plain(e *fault.Error) *fault.Error { return PlainBy(o.Args(Page), e) }

// PlainBy is Plain with the arguments of a page.
func PlainBy(args []Arg, e *fault.Error) *fault.Error {
	plain := *e
	plain.Detail = plainText(args, e.Detail)
	plain.Fields = nil
	for _, f := range e.Fields {
		f.Detail = plainText(args, f.Detail)
		plain.Fields = append(plain.Fields, f)
	}
	return &plain
}

// machine matches names of arguments and values, and flags.
var machine = regexp.MustCompile(`--[a-z][a-z0-9-]*|\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b`)

// commands matches what sends a reader to the command line, a tool or an address of REST.
var commands = regexp.MustCompile("[,;:] (?:see |use |or with )?`quartermaster [^`]*`[^;.]*" +
	"|;[^;`]*(?:\\blist_[a-z_]+|`[a-z]+ [^`]*`|GET /api)[^;.]*")

// numbered matches an asset's number before its name: "asset 3 (Van 1)".
var numbered = regexp.MustCompile(`\basset [0-9]+ \(([^()]*)\)`)

// ofValues match encodings of values.
var ofValues = strings.NewReplacer("a whole number of cents", "an amount", ", in cents", "", " in cents", "",
	"in-progress", "in progress", "needs-attention", "needs attention",
	"true (1) or false (0)", "Yes or No", "true or false", "Yes or No",
	"; it takes one as YYYY-MM-DD", "; choose one", "it takes an amount", "enter an amount",
	"cents or percent: give one of them; cents 0 means", "Enter an amount or a percent, not both; 0 means", "as YYYY-MM-DD", "with its year", "YYYY-MM-DD", "day, month and year")

// begins matches the name at the beginning of a refusal: "delta: ...", "lines.0.qty is ...".
var begins = regexp.MustCompile(`^[a-z][a-z0-9_]*(?:[.\[][0-9]+\]?\.[a-z0-9_]+)?(: | is | has | must | may )`)

// ofLine matches what a list's line puts before a refusal that names its field already: "lines.0.Quantity: ...".
var ofLine = regexp.MustCompile(`^[a-z_]+\.[0-9]+\.([A-Z])`)

// isMissing finds the name before what is to be marked.
var isMissing = regexp.MustCompile(`\b[a-zA-Z_]+ is missing: mark at least one`)

// refusedMove finds what Transitions.Check says.
var refusedMove = regexp.MustCompile(`status: an? ([a-z ]+) that is ([\w-]+) cannot move to ([\w-]+)` +
	`(?:; allowed from [\w-]+: ([\w, -]+)|: [\w-]+ is final, no move is allowed from it)`)

// moveInWords says it in the words of pages: "This purchase order has already been ordered."
func moveInWords(refusal string) string {
	m := refusedMove.FindStringSubmatch(refusal)
	noun, from, to, next := m[1], m[2], m[3], m[4]
	switch {
	case from == to && strings.HasSuffix(from, "ed"):
		return fmt.Sprintf("This %s has already been %s.", noun, from)
	case from == to:
		return fmt.Sprintf("This %s is already %s.", noun, from)
	case next == "":
		return fmt.Sprintf("This %s is %s for good and cannot become %s.", noun, from, to)
	}
	if at := strings.LastIndex(next, ", "); at >= 0 {
		next = next[:at] + " or " + next[at+2:]
	}
	return fmt.Sprintf("This %s is %s. It cannot become %s now, only %s.", noun, from, to, next)
}

func plainText(args []Arg, text string) string {
	text = isMissing.ReplaceAllString(refusedMove.ReplaceAllStringFunc(text, moveInWords), "Mark at least one")
	text = ofLine.ReplaceAllString(text, "$1")
	if found := begins.FindStringSubmatch(text); found != nil {
		name := strings.TrimSuffix(found[0], found[1])
		if a, ok := argOf(args, name[strings.LastIndexByte(name, '.')+1:]); ok {
			rest := text[len(found[0]):]
			if found[1] == ": " {
				rest = sentenceOf(rest)
			}
			text = a.Label() + found[1] + rest
		}
	}
	parts := strings.Split(text, `"`)
	for i := 0; i < len(parts); i += 2 {
		parts[i] = numbered.ReplaceAllString(commands.ReplaceAllString(parts[i], ""), "$1")
		parts[i] = machine.ReplaceAllStringFunc(parts[i], func(name string) string { return wordOf(args, name) })
		parts[i] = ofValues.Replace(parts[i])
	}
	return sentenceOf(DaysInWords(strings.Join(parts, `"`)))
}

// dated finds days and moments as programs write them.
var dated = regexp.MustCompile(`[\w.-]*[12]\d{3}-[01]\d-[0-3]\d[\w:-]*`)

// DaysInWords is a text whose days are as people read them, 31 Dec 2026 for 2026-12-31, but for those in quotes.
func DaysInWords(text string) string { return inWords(text, nil) }

// MomentsInWords is DaysInWords with its moments in the zone: 31 Dec 2026, 13:00.
func MomentsInWords(text string, zone *time.Location) string { return inWords(text, zone) }

func inWords(text string, zone *time.Location) string {
	parts := strings.Split(text, `"`)
	for i := 0; i < len(parts); i += 2 {
		parts[i] = dated.ReplaceAllStringFunc(parts[i], func(s string) string {
			if d, ok := exact.ParseDay(strings.TrimSuffix(s, ":")); ok {
				return d.Words() + strings.TrimPrefix(s, d.String())
			}
			if len(s) == len("2026-12-31T12:00:00Z") {
				if at, err := time.Parse(time.RFC3339, s); err == nil && zone != nil {
					return at.In(zone).Format("2 Jan 2006, 15:04")
				} else if err == nil {
					return at.Format("2 Jan 2006, 15:04 UTC")
				}
			}
			return s
		})
	}
	return strings.Join(parts, `"`)
}

// wordOf is the label of an argument or a value.
func wordOf(args []Arg, name string) string {
	flag, is := strings.CutPrefix(name, "--")
	if is {
		name = strings.ReplaceAll(flag, "-", "_")
	}
	if a, ok := argOf(args, name); ok {
		label := a.Label()
		if len(label) > 1 && label[1] >= 'a' && label[1] <= 'z' {
			label = strings.ToLower(label[:1]) + label[1:]
		}
		return label
	}
	words := strings.Fields(strings.ReplaceAll(strings.TrimSuffix(PageField(name), "_id"), "_", " "))
	for i, w := range words {
		if s := short[w]; s != "" {
			words[i] = s
		}
	}
	return strings.Join(words, " ")
}

func argOf(args []Arg, name string) (Arg, bool) {
	for _, a := range args {
		if a.Name == name || PageField(a.Name) == name {
			return a, true
		}
		if inner, ok := argOf(a.Fields, name); ok {
			return inner, true
		}
	}
	return Arg{}, false
}

func sentenceOf(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// missing is the refusal of an empty field on a page.
func (a Arg) missing() string {
	label := a.Label()
	lower := label
	if len(label) > 1 && label[1] >= 'a' && label[1] <= 'z' {
		lower = strings.ToLower(label[:1]) + label[1:]
	}
	article := "a "
	if strings.ContainsRune("aeio", rune((lower + " ")[0])) {
		article = "an "
	}
	switch {
	case a.cents():
		if lower == "amount" || lower == "cents" {
			return "Enter an amount, for example 12.50."
		}
		return label + ": enter an amount, for example 12.50."
	case a.Kind == ListKind:
		return "Mark or choose at least one of the " + lower + "."
	case a.choices != nil || a.lookup != nil || a.Kind == EnumKind:
		return "Choose " + article + lower + "."
	case a.Kind == DayKind:
		return label + " is required: choose a day."
	case a.Kind == FileKind:
		return "Choose " + article + lower + "."
	case a.Kind == RowsKind, a.Kind == TableKind:
		return "Fill in at least one line."
	case a.Kind == IntKind, a.Kind == NumberKind:
		return label + " is required: enter a number."
	}
	return label + " is required."
}

// unbounded is a limit that no shop reaches.
const unbounded = 1_000_000_000

// boundsInWords are the bounds that a reader of a page must know.
func (a Arg) boundsInWords() string {
	high := a.Max == nil || *a.Max >= unbounded
	switch {
	case a.Min != nil && *a.Min > -unbounded && high:
		return fmt.Sprintf(" of %d or more", *a.Min)
	case high:
		return ""
	}
	return a.bounds()
}

// wantsWritten says what a page's field accepts, in ordinary words.
func (a Arg) wantsWritten() string {
	switch a.Kind {
	case IntKind:
		if a.cents() {
			return "an amount, for example 12.50"
		}
		if a.lookup != nil || a.choices != nil {
			return "one from the list"
		}
		return "a whole number" + a.boundsInWords()
	case NumberKind:
		return "a number" + a.boundsInWords()
	case BoolKind:
		return "Yes or No"
	case EnumKind:
		words := Map(a.Enum, func(v string) string { return strings.NewReplacer("_", " ", "-", " ").Replace(v) })
		return "one of " + strings.Join(words, ", ")
	case DayKind:
		return "a day"
	case MonthKind:
		return "a month, for example 2026-11"
	case RefKind, TextKind, LooseKind:
		return "a text"
	case RowsKind, TableKind:
		return "a line for each"
	case ListKind:
		return "one or more from the list"
	}
	return a.wants()
}
