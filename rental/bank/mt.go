package bank

import (
	"regexp"
	"strings"

	"quartermaster/schema/exact"
)

// The lines of MT940 and MT942.
var (
	mtTag     = regexp.MustCompile(`^:(\d{2}[A-Z]?|NS):`)
	mtBalance = regexp.MustCompile(`^([CD])(\d{6})([A-Z]{3})?([\d,.]+)`)
	mtLine    = regexp.MustCompile(`^(\d{6})(\d{4})?(R?[CD])([A-Z])?\s?(\d[\d,.]*)\s?([A-Z][A-Z0-9 ]{3})?([^\n]*)`)
	mtFloor   = regexp.MustCompile(`^([A-Z]{3})`)
	mtMark    = regexp.MustCompile(`[A-Z]{4}\+`)
	mtSlash   = regexp.MustCompile(`/[A-Z]{3,4}/`)
	mtParts   = regexp.MustCompile(`^[0-9A-Z ]{0,4}([?<>~^])[0-9]{2}`)
)

func isMT(text string) bool {
	return strings.Contains(text, ":25:") && (strings.Contains(text, ":20:") || strings.Contains(text, ":60") ||
		strings.Contains(text, ":61:")) ||
		strings.HasPrefix(strings.TrimSpace(text), ":")
}

// mtField is one field of a message with the line on which it begins.
type mtField struct {
	tag, text string
	line      int
}

// mtFields cuts a file into its fields. What is before the first and behind a message's end is no part of one.
func mtFields(text string) (all []mtField) {
	open := false
	for i, line := range strings.Split(text, "\n") {
		if at := strings.Index(line, "{4:"); at >= 0 {
			line = line[at+3:]
			open = false
		}
		tag := mtTag.FindString(line)
		switch {
		case tag != "":
			all = append(all, mtField{strings.Trim(tag, ":"), line[len(tag):], i + 1})
			open = true
		case strings.TrimSpace(line) == "-", strings.HasPrefix(line, "-}"):
			open = false
		case open:
			all[len(all)-1].text += "\n" + line
		}
	}
	return all
}

// mtReader reads the fields of the messages in turn.
type mtReader struct {
	all      []Statement
	now      *Statement
	detailed bool
}

func readMT(text string) ([]Statement, error) {
	r := &mtReader{}
	for _, f := range mtFields(text) {
		f.text = strings.TrimRight(f.text, "\n ")
		if err := r.field(f); err != nil {
			return nil, err
		}
	}
	r.close()
	return r.all, nil
}

func (r *mtReader) field(f mtField) error {
	if f.tag != "86" {
		r.detailed = f.tag == "61"
	}
	switch {
	case f.tag == "20":
		r.close()
		r.now = &Statement{Kind: "mt942"}
	case f.tag == "25", f.tag == "25P":
		if r.now == nil || len(r.now.Numbers) > 0 {
			r.close()
			r.now = &Statement{Kind: "mt942"}
		}
		number, _, _ := strings.Cut(f.text, "\n")
		r.now.Numbers = []string{strings.TrimSpace(number)}
	case f.tag == "61" && (r.now == nil || len(r.now.Numbers) == 0):
		return badLine(f.line, f.text, "a booking without an account (:25:) before it")
	case r.now == nil:
	case f.tag == "34F":
		if m := mtFloor.FindString(f.text); m != "" && r.now.Currency == "" {
			r.now.Currency = m
		}
	case strings.HasPrefix(f.tag, "60"), strings.HasPrefix(f.tag, "62"):
		return r.balance(f)
	case f.tag == "61":
		return r.booking(f)
	case f.tag == "86" && r.detailed && len(r.now.Lines) > 0:
		r.now.Lines[len(r.now.Lines)-1].details(f.text)
		r.detailed = false
	}
	return nil
}

// close ends a statement. One without an account is no statement.
func (r *mtReader) close() {
	if s := r.now; s != nil && len(s.Numbers) > 0 {
		s.span()
		if s.Kind == "mt940" || len(s.Lines) > 0 || s.Currency != "" {
			r.all = append(r.all, *s)
		}
	}
	r.now = nil
}

func (r *mtReader) balance(f mtField) error {
	m := mtBalance.FindStringSubmatch(strings.ReplaceAll(f.text, "\n", ""))
	if m == nil {
		return badLine(f.line, f.text, "not a balance")
	}
	on, ok := shortDay(m[2])
	if !ok {
		return badLine(f.line, f.text, "it has no valid day")
	}
	r.now.Kind = "mt940"
	if r.now.Currency == "" {
		r.now.Currency = m[3]
	}
	n, why := cents(m[4], r.now.Currency)
	if why != "" {
		return badLine(f.line, f.text, why)
	}
	if m[1] == "D" {
		n = -n
	}
	if f.tag[1] == '2' {
		r.now.ClosingCents, r.now.To = &n, &on
	} else if r.now.OpeningCents == nil {
		r.now.OpeningCents = &n
	}
	return nil
}

// shortDay reads YYMMDD; a day past its month's end is its last.
func shortDay(t string) (exact.Day, bool) {
	century := "20"
	if t[0] >= '8' {
		century = "19"
	}
	return clipped(century+t[:2], t[2:4], t[4:6])
}

func clipped(year, month, d string) (exact.Day, bool) {
	m, ok := exact.ParseMonth(year + "-" + month)
	n := int(d[0]-'0')*10 + int(d[1]-'0')
	if !ok || n < 1 || n > 31 {
		return 0, false
	}
	return m.Day(n), true // which clips
}

// near is the day MMDD in the year in which it is nearest to the other day.
func near(mmdd string, to exact.Day) (best exact.Day, ok bool) {
	year, _, _ := to.Date()
	for y := year - 1; y <= year+1; y++ {
		d, fine := clipped(exact.DateOf(y, 1, 1).String()[:4], mmdd[:2], mmdd[2:])
		if fine && (!ok || distance(d, to) < distance(best, to)) {
			best, ok = d, true
		}
	}
	return best, ok
}

func distance(a, b exact.Day) int { return int(max(a, b) - min(a, b)) }

func (r *mtReader) booking(f mtField) error {
	head, _, _ := strings.Cut(f.text, "\n")
	m := mtLine.FindStringSubmatch(head)
	if m == nil {
		return badLine(f.line, f.text, "not a booking")
	}
	on, ok := shortDay(m[1])
	if ok && m[2] != "" {
		on, ok = near(m[2], on)
	}
	if !ok {
		return badLine(f.line, f.text, "it has no valid day")
	}
	n, why := cents(m[5], r.now.Currency)
	if why != "" {
		return badLine(f.line, f.text, why)
	}
	l := Line{Day: on, AmountCents: n, Returned: m[3] == "RC"}
	if m[3] == "D" || m[3] == "RC" {
		l.AmountCents = -n
	}
	ours, theirs, _ := strings.Cut(m[7], "//")
	if l.Reference = plain(ours); strings.EqualFold(l.Reference, "NONREF") {
		l.Reference = ""
	}
	if l.BankReference = plain(theirs); strings.EqualFold(l.BankReference, "NONREF") {
		l.BankReference = "" // else all such lines of a day and an amount would be one
	}
	r.now.Lines = append(r.now.Lines, l)
	return nil
}

// details reads the field that says what a booking is for.
func (l *Line) details(text string) {
	body := strings.ReplaceAll(text, "\n", "")
	if m := mtParts.FindStringSubmatch(body); m != nil {
		l.structured(body, m[1])
		return
	}
	if strings.Contains(body, "/REMI/") {
		l.slashes(body)
		return
	}
	l.marked(strings.ReplaceAll(text, "\n", " "))
}

// structured reads ?20 and its kin; banks of Poland and the Netherlands write another sign for the question mark.
func (l *Line) structured(body, sign string) {
	var purpose, name strings.Builder
	for _, part := range strings.Split(body, sign)[1:] {
		if len(part) < 2 || !isDigit(part[0]) || !isDigit(part[1]) {
			if purpose.Len() > 0 && part != "" { // a sign of the text
				purpose.WriteString(sign + part)
			}
			continue
		}
		switch code, text := part[:2], part[2:]; {
		case code >= "20" && code <= "29", code >= "60" && code <= "63":
			purpose.WriteString(text)
		case code == "31":
			l.PayerAccount = plain(text)
		case code == "32", code == "33":
			name.WriteString(text)
		}
	}
	l.PayerName = plain(name.String())
	l.marked(purpose.String())
}

// marked takes the purpose and the reference out of a text with marks, SVWZ+ and EREF+.
func (l *Line) marked(text string) {
	if end, ok := markedPart(text, "EREF+"); ok && end != "" && !strings.EqualFold(end, "NOTPROVIDED") {
		l.Reference = end
	}
	if purpose, ok := markedPart(text, "SVWZ+"); ok {
		text = purpose
	}
	l.Text = plain(text)
}

// markedPart is what stands behind a mark, up to the next one of four capitals and a plus.
func markedPart(text, mark string) (string, bool) {
	_, rest, found := strings.Cut(text, mark)
	if !found {
		return "", false
	}
	if at := mtMark.FindStringIndex(rest); at != nil {
		rest = rest[:at[0]]
	}
	return plain(rest), true
}

// slashes reads /REMI/ and its kin.
func (l *Line) slashes(body string) {
	part := func(code string) string {
		_, rest, found := strings.Cut(body, code)
		if !found {
			return ""
		}
		if at := mtSlash.FindStringIndex(rest); at != nil {
			rest = rest[:at[0]]
		}
		return plain(strings.TrimSuffix(rest, "/"))
	}
	l.Text = strings.TrimPrefix(part("/REMI/"), "USTD//")
	l.PayerName, l.PayerAccount = part("/NAME/"), part("/IBAN/")
	if party := strings.Split(part("/CNTP/"), "/"); len(party) > 2 { // account, bank, name
		l.PayerAccount, l.PayerName = party[0], party[2]
	}
	if end := part("/EREF/"); end != "" && !strings.EqualFold(end, "NOTPROVIDED") {
		l.Reference = end
	}
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
