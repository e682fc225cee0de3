package mail

import (
	"html"
	"regexp"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/fault"
)

const (
	mostSubject = 200
	mostBody    = 10_000
)

// part is a piece of a line: literal words, or a field.
type part struct {
	words string
	field string
}

// line is a line of a text; block is the field of a block, alone on its line.
type line struct {
	parts []part
	block string
}

// Template is a parsed text: paragraphs of lines.
type Template struct {
	subject    []part
	paragraphs [][]line
}

// Parse parses a kind's text and refuses one that cannot be filled in. The fields of its refusals are subject and body.
func Parse(k Kind, subject, body string) (*Template, error) {
	body = strings.ReplaceAll(body, "\r\n", "\n")
	if err := lengths(subject, body); err != nil {
		return nil, err
	}
	t := &Template{}
	one, err := k.line("subject", subject)
	if err != nil {
		return nil, err
	}
	if one.block != "" {
		return nil, fault.Fieldf("subject", "subject: {%s} has several lines and cannot be in the subject", one.block)
	}
	t.subject = one.parts
	var paragraph []line
	end := func() {
		if len(paragraph) > 0 {
			t.paragraphs = append(t.paragraphs, paragraph)
		}
		paragraph = nil
	}
	for text := range strings.SplitSeq(body, "\n") {
		if strings.TrimSpace(text) == "" {
			end()
			continue
		}
		l, err := k.line("body", text)
		if err != nil {
			return nil, err
		}
		paragraph = append(paragraph, l)
	}
	end()
	return t, k.complete(t)
}

func lengths(subject, body string) error {
	if strings.TrimSpace(subject) == "" {
		return fault.Fieldf("subject", "subject is empty: a text is needed")
	}
	if strings.ContainsAny(subject, "\r\n") {
		return fault.Fieldf("subject", "subject has several lines; one is allowed")
	}
	if err := schema.CheckText("subject", subject, mostSubject); err != nil {
		return fault.Fieldf("subject", "%s", err)
	}
	if strings.TrimSpace(body) == "" {
		return fault.Fieldf("body", "body is empty: a text is needed")
	}
	if err := schema.CheckText("body", body, mostBody); err != nil {
		return fault.Fieldf("body", "%s", err)
	}
	return nil
}

// complete refuses a text without a mandatory field.
func (k Kind) complete(t *Template) error {
	has := map[string]bool{}
	for _, p := range t.paragraphs {
		for _, l := range p {
			has[l.block] = true
			for _, x := range l.parts {
				has[x.field] = true
			}
		}
	}
	for _, f := range k.Fields {
		if f.Must && !has[f.Name] {
			return fault.Fieldf("body", "body: it must contain {%s}%s", f.Name, alone(f))
		}
	}
	return nil
}

func alone(f Field) string {
	if f.Block {
		return ", alone on a line"
	}
	return ""
}

// line parses one line. {{ is a brace; }} and a closing brace after {{ stand for themselves.
func (k Kind) line(arg, text string) (l line, err error) {
	var words strings.Builder
	open := 0 // braces opened by {{
	for rest := text; rest != ""; {
		i := strings.IndexAny(rest, "{}")
		if i < 0 {
			words.WriteString(rest)
			break
		}
		words.WriteString(rest[:i])
		rest = rest[i:]
		switch {
		case strings.HasPrefix(rest, "{{"):
			words.WriteByte('{')
			open++
			rest = rest[2:]
		case rest[0] == '}':
			if open == 0 && !strings.HasPrefix(rest, "}}") {
				return l, loneBrace(arg, text)
			}
			words.WriteByte('}')
			if open > 0 {
				open--
			}
			rest = strings.TrimPrefix(rest[1:], map[bool]string{true: "}"}[strings.HasPrefix(rest, "}}")])
		default:
			name, after, closed := strings.Cut(rest[1:], "}")
			if !closed || strings.Contains(name, "{") {
				return l, loneBrace(arg, text)
			}
			f, err := k.field(arg, name)
			if err != nil {
				return l, err
			}
			if f.Block {
				if strings.TrimSpace(text) != "{"+name+"}" {
					return l, fault.Fieldf(arg, "%s: {%s} is several lines; put it alone on a line", arg, name)
				}
				return line{block: name}, nil
			}
			l.parts = append(l.parts, part{words: words.String()}, part{field: name})
			words.Reset()
			rest = after
		}
	}
	l.parts = append(l.parts, part{words: words.String()})
	return l, nil
}

func loneBrace(arg, text string) error {
	return fault.Fieldf(arg, "%s: there is a single brace in %s; write {{ for a brace", arg, schema.Quote(text))
}

func (k Kind) field(arg, name string) (Field, error) {
	var names []string
	for _, f := range k.All() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Field{}, fault.Fieldf(arg, "%s: there is no field {%s}; did you mean {%s}? There are {%s}", arg, name,
		schema.Nearest(name, names, 1)[0], strings.Join(names, "}, {"))
}

// Written is a filled-in text.
type Written struct {
	Subject string  `json:"subject"`
	Text    string  `json:"text"`
	HTML    string  `json:"html"`
	Pieces  []Piece `json:"-"` // the body for a page or a letter
}

// Printed is a letter: a filled-in text, and today's date in the letter's format.
type Printed struct {
	Written
	Today string
}

// Piece is lines of a paragraph, or the rows of a block.
type Piece struct {
	Lines []string
	Rows  [][]string
}

// Write fills in the text. A paragraph whose fields are all empty is dropped.
func (t *Template) Write(values map[string]Value) Written {
	var w Written
	for _, p := range t.subject {
		w.Subject += p.words + values[p.field].Text
	}
	w.Subject = OneLine(w.Subject)
	var text, markup []string
	for _, p := range t.paragraphs {
		if blank(p, values) {
			continue
		}
		plain, rich, pieces := writeParagraph(p, values)
		if plain != "" {
			text, markup, w.Pieces = append(text, plain), append(markup, rich), append(w.Pieces, pieces...)
		}
	}
	w.Text = strings.Join(text, "\n\n") + "\n"
	w.HTML = "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>" + html.EscapeString(w.Subject) +
		"</title></head><body>\n" + strings.Join(markup, "\n") + "\n</body></html>\n"
	return w
}

// blank reports whether the paragraph has fields, all of them empty.
func blank(p []line, values map[string]Value) bool {
	fields := 0
	for _, l := range p {
		for _, x := range append(l.parts, part{field: l.block}) {
			if x.field == "" {
				continue
			}
			if !values[x.field].empty() {
				return false
			}
			fields++
		}
	}
	return fields > 0
}

// writeParagraph returns the paragraph as plain text, as HTML and in pieces.
func writeParagraph(p []line, values map[string]Value) (plain, rich string, pieces []Piece) {
	var lines, markup, run []string
	flush := func() {
		if len(run) > 0 {
			markup = append(markup, "<p>"+strings.Join(run, "<br>\n")+"</p>")
			pieces = append(pieces, Piece{Lines: lines[len(lines)-len(run):]})
		}
		run = nil
	}
	for _, l := range p {
		if l.block != "" {
			flush()
			rows := values[l.block].Rows
			lines = append(lines, plainRows(rows)...)
			markup = append(markup, table(rows))
			pieces = append(pieces, Piece{Rows: rows})
			continue
		}
		var words, html strings.Builder
		for _, x := range l.parts {
			words.WriteString(x.words + values[x.field].Text)
			html.WriteString(linked(x.words) + linkedValue(values[x.field].Text))
		}
		lines = append(lines, strings.TrimRight(words.String(), " "))
		run = append(run, strings.ReplaceAll(html.String(), "\n", "<br>\n"))
	}
	flush()
	return strings.Join(lines, "\n"), strings.Join(markup, "\n"), pieces
}

func plainRows(rows [][]string) (lines []string) {
	for _, row := range rows {
		lines = append(lines, strings.Join(filled(row), " | "))
	}
	return lines
}

// filled are the non-empty cells.
func filled(row []string) (cells []string) {
	for _, c := range row {
		if c != "" {
			cells = append(cells, c)
		}
	}
	return cells
}

func table(rows [][]string) string {
	if len(rows) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("<table>\n")
	for _, row := range rows {
		b.WriteString("<tr>")
		for _, c := range filled(row) {
			b.WriteString("<td>" + strings.ReplaceAll(html.EscapeString(c), "\n", "<br>") + "</td>")
		}
		b.WriteString("</tr>\n")
	}
	return b.String() + "</table>"
}

var address = regexp.MustCompile(`https?://[^\s<>"']+`)

// linked escapes the shop's own words and links the addresses in them.
func linked(s string) string {
	var b strings.Builder
	end := 0
	for _, at := range address.FindAllStringIndex(s, -1) {
		b.WriteString(html.EscapeString(s[end:at[0]]) + anchor(s[at[0]:at[1]]))
		end = at[1]
	}
	return b.String() + html.EscapeString(s[end:])
}

// linkedValue escapes a value, and links it if it is an address and nothing else.
func linkedValue(s string) string {
	if s != "" && address.FindString(s) == s {
		return anchor(s)
	}
	return html.EscapeString(s)
}

// anchor is a link; a masked one leads nowhere.
func anchor(url string) string {
	if strings.Contains(url, Mask) {
		return html.EscapeString(url)
	}
	return `<a href="` + html.EscapeString(url) + `">` + html.EscapeString(url) + `</a>`
}

// OneLine is a text on one line: each line break and control character is a space.
func OneLine(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\u0085' || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ReplaceAll(s, "\r\n", " ")))
}

// ParseWords parses the shop's words, one per line: "Rent = Miete".
func ParseWords(body string, ours []string) (map[string]string, error) {
	words := map[string]string{}
	for text := range strings.SplitSeq(body, "\n") {
		if strings.TrimSpace(text) == "" {
			continue
		}
		word, own, is := strings.Cut(text, "=")
		word, own = strings.TrimSpace(word), strings.TrimSpace(own)
		known := false
		for _, o := range ours {
			known = known || o == word
		}
		switch {
		case !is || own == "":
			return nil, fault.Fieldf("body", "body: %s is no line such as \"%s = ...\"", schema.Quote(text), ours[0])
		case !known:
			return nil, fault.Fieldf("body", "body: %s is none of the words; did you mean %s? There are %s",
				schema.Quote(word), schema.Quote(schema.Nearest(word, ours, 1)[0]), strings.Join(ours, ", "))
		}
		words[word] = own
	}
	return words, nil
}
