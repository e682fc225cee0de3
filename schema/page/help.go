package page

import (
	"regexp"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"quartermaster/schema"
	"quartermaster/schema/exact"
)

// factOf is a shown value: for a record its choice's text.
func (f *Frame) factOf(e entry) string {
	shown := e.value()
	if shown == "" {
		return ""
	}
	if day, ok := exact.ParseDay(shown); ok && e.arg.Kind == schema.DayKind {
		shown = day.Words()
	}
	if e.arg.HasChoices() {
		held, found, err := f.named(e, nil)
		if err != nil {
			return ""
		}
		if found {
			shown = held.Whole()
		}
	}
	return `<p class="fact"><span>` + esc(e.arg.Label()) + `</span> <b>` + esc(shown) + `</b></p>`
}

// Named draws the facts that name a question's record.
func Named(op schema.Op, fm Form) templ.Component {
	return made(func(f *Frame) string {
		var b strings.Builder
		for _, a := range op.Args(schema.Page) {
			name := schema.PageField(a.Name)
			if values, _ := fm.given(name); slices.Contains(fm.Facts, name) {
				b.WriteString(f.factOf(entry{arg: a, name: name, values: values}))
			}
		}
		return b.String()
	})
}

// help is the text below the field: Help, else About if it says more than the label and has no technical words.
func (e entry) help() string {
	if e.arg.Help != "" {
		return e.arg.Help
	}
	about := e.arg.About
	if e.arg.Today || e.usual() != "" { // the field itself says it
		about = without.ReplaceAllString(about, "")
	}
	about = People(strings.NewReplacer(", in cents", "", " in cents", "", "true (1): ", "").Replace(about))
	if len(e.arg.Enum) > 0 { // which are listed above
		about, _, _ = strings.Cut(about, ": "+e.arg.Enum[0])
	}
	label := strings.Fields(strings.ToLower(e.arg.Label()))
	more := slices.ContainsFunc(strings.Fields(strings.ToLower(about)), func(word string) bool {
		return !slices.Contains(label, strings.Trim(word, ",;:.'s")) && !slices.Contains(label, word) &&
			!slices.Contains(articles, word)
	})
	few := len(strings.Fields(about)) <= fewWords && !strings.ContainsAny(about, ":(0123456789")
	if !more || few {
		return ""
	}
	return besideLabel(e.arg.Label(), about)
}

// without matches what a description says of an empty field.
var without = regexp.MustCompile(` \(default: ([^)]*)\)$`)

// usual is the number that an empty field stands for, as its description tells it.
func (e entry) usual() string {
	if m := without.FindStringSubmatch(e.arg.About); m != nil && strings.Trim(m[1], "0123456789") == "" {
		return m[1]
	}
	return ""
}

// besideLabel leaves out the label's own words at a description's beginning, where what is behind them says enough:
// below "Mail server" it is "Such as smtp.example.com".
func besideLabel(label, about string) string {
	for _, article := range []string{"the ", "its ", "your ", ""} {
		begin := article + strings.ToLower(label)
		if len(about) <= len(begin) || !strings.EqualFold(about[:len(begin)], begin) {
			continue
		}
		rest := strings.TrimLeft(about[len(begin):], " ,;")
		if inner, all := strings.CutPrefix(rest, "("); all && strings.HasSuffix(inner, ")") {
			return strings.TrimSuffix(inner, ")")
		}
		if strings.HasPrefix(rest, "such as ") {
			return rest
		}
	}
	return about
}

// People is a shared description's text for people: the sentences without technical words.
func People(about string) string {
	var kept []string
	for _, sentence := range strings.SplitAfter(about, ". ") {
		if !machineWords.MatchString(sentence) {
			kept = append(kept, strings.ReplaceAll(strings.TrimSpace(sentence), "needs-attention", "needs attention"))
		}
	}
	return strings.Join(kept, " ")
}

// machineWords match technical words that no page shows: names of arguments, flags, commands, statuses, encodings.
var machineWords = regexp.MustCompile(
	`[a-z]_[a-z]|--[a-z]|Webhook receivers|\b(cents?|true|false|null|JSON|ids?|UTF-8|REST|agents?|fired|in-progress|[45]0[0-9]|[45]22)\b|YYYY|\(1\)|quartermaster [a-z]`)

// fewWords of a description that is not for pages only name the field again: "who does it".
const fewWords = 5

var articles = []string{"the", "a", "an", "its", "of", "it", "new", "only", "this", "is", "whose", "what"}
