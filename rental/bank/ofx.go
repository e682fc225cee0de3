package bank

import (
	"html"
	"strings"
)

// ofxReader reads OFX 1, whose values have no end tags, and OFX 2, which is XML, alike: tag by tag, each with
// the text behind it.
type ofxReader struct {
	all    []Statement
	now    *Statement
	line   *Line
	within map[string]bool // of the parts that are told apart
	values map[string]string
	at     int // line of the file
}

// readOFX reads the statements of banks and cards; others are left out.
func readOFX(text string) ([]Statement, error) {
	r := &ofxReader{within: map[string]bool{}, at: 1}
	for {
		start := strings.IndexByte(text, '<')
		if start < 0 {
			break
		}
		r.at += strings.Count(text[:start], "\n")
		text = text[start+1:]
		end := strings.IndexByte(text, '>')
		if end < 0 {
			return nil, badLine(r.at, text, "a tag has no end")
		}
		tag := strings.ToUpper(strings.TrimSpace(text[:end]))
		r.at += strings.Count(text[:end], "\n")
		text = text[end+1:]
		value := text
		if next := strings.IndexByte(text, '<'); next >= 0 {
			value = text[:next]
		}
		if err := r.tag(tag, plain(html.UnescapeString(value))); err != nil {
			return nil, err
		}
	}
	r.close()
	return r.all, nil
}

func (r *ofxReader) tag(tag, value string) error {
	if dot := strings.LastIndexByte(tag, '.'); dot >= 0 && !strings.HasPrefix(tag, "/") {
		return nil // an extension of a program
	}
	switch tag {
	case "STMTRS", "CCSTMTRS":
		r.close()
		r.now = &Statement{Kind: "ofx"}
		r.values = map[string]string{}
	case "/STMTRS", "/CCSTMTRS":
		r.close()
	case "STMTTRN":
		r.values = map[string]string{}
		r.line = &Line{}
	case "/STMTTRN":
		return r.booking()
	case "LEDGERBAL":
		r.within["LEDGERBAL"] = true
	case "/LEDGERBAL", "AVAILBAL":
		r.within["LEDGERBAL"] = false
	case "BANKACCTFROM", "CCACCTFROM":
		r.values = map[string]string{}
	case "/BANKACCTFROM", "/CCACCTFROM":
		r.account()
	default:
		return r.value(tag, value)
	}
	return nil
}

func (r *ofxReader) value(tag, value string) error {
	if r.now == nil || value == "" || strings.HasPrefix(tag, "/") {
		return nil
	}
	switch {
	case r.line != nil:
		if r.values[tag] == "" {
			r.values[tag] = value
		}
	case tag == "CURDEF":
		r.now.Currency = strings.ToUpper(value)
	case tag == "DTSTART", tag == "DTEND":
		if on, ok := day(value); ok && tag == "DTSTART" {
			r.now.From = &on
		} else if ok {
			r.now.To = &on
		}
	case tag == "BALAMT" && r.within["LEDGERBAL"]:
		n, why := cents(value, r.now.Currency)
		if why != "" {
			return badLine(r.at, value, why)
		}
		r.now.ClosingCents = &n
	case r.values != nil && (tag == "ACCTID" || tag == "BANKID"):
		r.values[tag] = value
		r.account()
	}
	return nil
}

// account notes the numbers by which the account may be known.
func (r *ofxReader) account() {
	if id := r.values["ACCTID"]; r.now != nil && r.line == nil && id != "" {
		r.now.Numbers = []string{id}
		if bank := r.values["BANKID"]; bank != "" {
			r.now.Numbers = append(r.now.Numbers, bank+id)
		}
	}
}

func (r *ofxReader) booking() error {
	if r.line == nil || r.now == nil {
		return nil
	}
	v := r.values
	on, ok := day(v["DTPOSTED"])
	if !ok {
		return badLine(r.at, v["DTPOSTED"], "a booking has no valid day")
	}
	n, why := cents(v["TRNAMT"], r.now.Currency)
	if why != "" {
		return badLine(r.at, v["TRNAMT"], why)
	}
	r.now.Lines = append(r.now.Lines, Line{Day: on, AmountCents: n, PayerName: v["NAME"], PayerAccount: v["ACCTID"],
		Text:      v["MEMO"],
		Reference: v["REFNUM"], BankReference: v["FITID"]})
	r.line = nil
	return nil
}

func (r *ofxReader) close() {
	if r.now != nil && len(r.now.Numbers) > 0 {
		r.now.span()
		r.all = append(r.all, *r.now)
	}
	r.now, r.line = nil, nil
	r.within = map[string]bool{}
}
