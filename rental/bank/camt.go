package bank

import (
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"quartermaster/schema/fault"
)

// What is read of a CAMT file, of any version: names alone count, not their space.
type (
	camtFile struct {
		Statements []camtStatement `xml:"BkToCstmrStmt>Stmt"`
		Reports    []camtStatement `xml:"BkToCstmrAcctRpt>Rpt"`
		Notices    []camtStatement `xml:"BkToCstmrDbtCdtNtfctn>Ntfctn"`
	}
	camtStatement struct {
		Account  camtAccount   `xml:"Acct"`
		From     string        `xml:"FrToDt>FrDtTm"`
		FromDay  string        `xml:"FrToDt>FrDt"`
		To       string        `xml:"FrToDt>ToDtTm"`
		ToDay    string        `xml:"FrToDt>ToDt"`
		Balances []camtBalance `xml:"Bal"`
		Entries  []camtEntry   `xml:"Ntry"`
	}
	camtAccount struct {
		IBAN     string `xml:"Id>IBAN"`
		BBAN     string `xml:"Id>BBAN"`
		Other    string `xml:"Id>Othr>Id"`
		Own      string `xml:"Id>PrtryAcct>Id"`
		Currency string `xml:"Ccy"`
	}
	camtAmount struct {
		Currency string `xml:"Ccy,attr"`
		Text     string `xml:",chardata"`
	}
	camtDay struct {
		Day    string `xml:"Dt"`
		Moment string `xml:"DtTm"`
	}
	camtBalance struct {
		Code   string     `xml:"Tp>CdOrPrtry>Cd"`
		Old    string     `xml:"Tp>Cd"`
		Amount camtAmount `xml:"Amt"`
		Sign   string     `xml:"CdtDbtInd"`
		Day    camtDay    `xml:"Dt"`
	}
	camtEntry struct {
		Amount   camtAmount `xml:"Amt"`
		Sign     string     `xml:"CdtDbtInd"`
		Reversal string     `xml:"RvslInd"`
		Status   struct {
			Text string `xml:",chardata"`
			Code string `xml:"Cd"`
		} `xml:"Sts"`
		Booked    camtDay    `xml:"BookgDt"`
		Value     camtDay    `xml:"ValDt"`
		Reference string     `xml:"AcctSvcrRef"`
		Info      string     `xml:"AddtlNtryInf"`
		Details   []camtPart `xml:"NtryDtls>TxDtls"`
		Old       []camtPart `xml:"TxDtls"`
	}
	camtPart struct {
		EndToEnd  string     `xml:"Refs>EndToEndId"`
		Reference string     `xml:"Refs>AcctSvcrRef"`
		Amount    camtAmount `xml:"Amt"`
		Own       camtAmount `xml:"AmtDtls>TxAmt>Amt"`
		Sign      string     `xml:"CdtDbtInd"`
		Debtor    camtParty  `xml:"RltdPties>Dbtr"`
		DebtorAt  camtNumber `xml:"RltdPties>DbtrAcct"`
		Creditor  camtParty  `xml:"RltdPties>Cdtr"`
		PaidTo    camtNumber `xml:"RltdPties>CdtrAcct"`
		Purpose   []string   `xml:"RmtInf>Ustrd"`
		Given     []string   `xml:"RmtInf>Strd>CdtrRefInf>Ref"`
		Older     []string   `xml:"RmtInf>Strd>CdtrRefInf>CdtrRef"`
		Return    *struct{}  `xml:"RtrInf"`
		Info      string     `xml:"AddtlTxInf"`
	}
	camtParty struct {
		Name  string `xml:"Nm"`
		Party string `xml:"Pty>Nm"`
	}
	camtNumber struct {
		IBAN  string `xml:"Id>IBAN"`
		Other string `xml:"Id>Othr>Id"`
		Own   string `xml:"Id>PrtryAcct>Id"`
	}
)

// readCAMT reads a statement, a report or a notice, alone or in an envelope; any other XML is none that is known.
func readCAMT(text string) (all []Statement, known bool, err error) {
	d := xml.NewDecoder(strings.NewReader(text))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it is UTF-8 by now
	d.Entity = map[string]string{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all, known, nil
		}
		tag, begins := token.(xml.StartElement)
		if err == nil && begins && tag.Name.Local == "Document" {
			var some []Statement
			some, err = camtDocument(d, tag)
			all, known = append(all, some...), true
		}
		if _, refused := fault.As(err); refused {
			return nil, true, err
		}
		if err != nil {
			line, _ := d.InputPos()
			return nil, true, fault.Fieldf("file", "file: line %d: the XML cannot be read: %v", line, err)
		}
	}
}

func camtDocument(d *xml.Decoder, tag xml.StartElement) (all []Statement, err error) {
	var f camtFile
	if err := d.DecodeElement(&f, &tag); err != nil {
		return nil, err
	}
	for _, kind := range []struct {
		name string
		all  []camtStatement
	}{{"camt.053", f.Statements}, {"camt.052", f.Reports}, {"camt.054", f.Notices}} {
		for _, in := range kind.all {
			s, err := in.statement(kind.name)
			if err != nil {
				return nil, err
			}
			all = append(all, s)
		}
	}
	return all, nil
}

func (in camtStatement) statement(kind string) (s Statement, err error) {
	a := in.Account
	s = Statement{Kind: kind, Numbers: []string{plain(cmp.Or(a.IBAN, a.Other, a.Own, a.BBAN))},
		Currency: strings.TrimSpace(a.Currency)}
	for _, b := range in.Balances {
		s.Currency = cmp.Or(s.Currency, strings.TrimSpace(b.Amount.Currency))
	}
	for _, e := range in.Entries {
		s.Currency = cmp.Or(s.Currency, strings.TrimSpace(e.Amount.Currency))
	}
	if on, ok := day(cmp.Or(in.From, in.FromDay)); ok {
		s.From = &on
	}
	if on, ok := day(cmp.Or(in.To, in.ToDay)); ok {
		s.To = &on
	}
	if err := in.balances(&s); err != nil {
		return s, err
	}
	for i, e := range in.Entries {
		if !e.booked() {
			continue
		}
		lines, err := e.lines(s.Currency, i+1)
		if err != nil {
			return s, err
		}
		s.Lines = append(s.Lines, lines...)
	}
	s.span()
	return s, nil
}

// balances returns the first booked balance and the last: opening and closing, else the interim ones, if there are two.
func (in camtStatement) balances(s *Statement) error {
	of := map[string][]int64{}
	for _, b := range in.Balances {
		n, err := signed(b.Amount, b.Sign, s.Currency, "a balance")
		if err != nil {
			return err
		}
		code := strings.TrimSpace(cmp.Or(b.Code, b.Old))
		of[code] = append(of[code], n)
		if on, ok := day(cmp.Or(b.Day.Day, b.Day.Moment)); ok && s.To == nil && code == "CLBD" {
			s.To = &on
		}
	}
	between := of["ITBD"]
	for _, code := range []string{"OPBD", "PRCD"} {
		if all := of[code]; len(all) > 0 && s.OpeningCents == nil {
			s.OpeningCents = &all[0]
		}
	}
	if s.OpeningCents == nil && len(between) > 1 {
		s.OpeningCents, between = &between[0], between[1:]
	}
	if all := of["CLBD"]; len(all) > 0 {
		s.ClosingCents = &all[len(all)-1]
	} else if s.OpeningCents != nil && len(between) > 0 {
		s.ClosingCents = &between[len(between)-1]
	}
	return nil
}

func signed(a camtAmount, sign, currency, what string) (int64, error) {
	n, why := cents(a.Text, cmp.Or(strings.TrimSpace(a.Currency), currency))
	switch sign = strings.TrimSpace(sign); {
	case why != "":
		return 0, fault.Fieldf("file", "file: %s of %q: %s", what, cut(plain(a.Text), 40), why)
	case sign == "DBIT":
		return -n, nil
	case sign != "CRDT":
		return 0, fault.Fieldf("file", "file: %s of %q is neither CRDT nor DBIT: %q", what, cut(plain(a.Text), 40),
			cut(sign, 40))
	}
	return n, nil
}

func (e camtEntry) booked() bool {
	status := strings.TrimSpace(e.Status.Text) + strings.TrimSpace(e.Status.Code)
	return status == "" || status == "BOOK"
}

// lines are a booking's lines: one, or one for each part if two or more parts add up to it.
func (e camtEntry) lines(currency string, number int) ([]Line, error) {
	total, err := signed(e.Amount, e.Sign, currency, "an entry")
	if err != nil {
		return nil, err
	}
	on, ok := day(cmp.Or(e.Booked.Day, e.Booked.Moment, e.Value.Day, e.Value.Moment))
	if !ok {
		return nil, fault.Fieldf("file", "file: an entry of %s has no day", plain(e.Amount.Text))
	}
	whole := Line{Day: on, AmountCents: total, BankReference: plain(e.Reference), Text: plain(e.Info),
		Returned: truth(e.Reversal),
		Entry:    number, EntryReference: plain(e.Reference), EntryCents: total}
	parts := append(e.Details, e.Old...)
	var lines []Line
	var sum int64
	for _, p := range parts {
		n, ok := p.cents(e, currency)
		l := whole
		l.AmountCents = n
		if ref := plain(p.Reference); ref != "" {
			l.BankReference = ref
		}
		p.fill(&l)
		if lines = append(lines, l); !ok {
			sum = total + 1 // never adds up
			break
		}
		sum += n
	}
	if len(lines) > 1 && sum == total {
		return lines, nil
	}
	for i, p := range parts {
		whole.Returned = whole.Returned || p.Return != nil
		if i == 0 && len(parts) == 1 {
			whole.BankReference = cmp.Or(whole.BankReference, plain(p.Reference))
			p.fill(&whole)
		}
	}
	return []Line{whole}, nil
}

// cents is the part's amount in the currency of the entry, if it has one.
func (p camtPart) cents(e camtEntry, currency string) (int64, bool) {
	in := cmp.Or(strings.TrimSpace(e.Amount.Currency), currency)
	for _, a := range []camtAmount{p.Own, p.Amount} {
		if strings.TrimSpace(a.Text) == "" || cmp.Or(strings.TrimSpace(a.Currency), in) != in {
			continue
		}
		n, err := signed(a, cmp.Or(strings.TrimSpace(p.Sign), e.Sign), in, "a part")
		return n, err == nil
	}
	return 0, false
}

// fill sets what a part tells of its line: the other party, the purpose and the reference.
func (p camtPart) fill(l *Line) {
	party, number := p.Debtor, p.DebtorAt
	if l.AmountCents < 0 {
		party, number = p.Creditor, p.PaidTo
	}
	l.PayerName = plain(cmp.Or(party.Name, party.Party))
	l.PayerAccount = plain(cmp.Or(number.IBAN, number.Other, number.Own))
	if text := plain(strings.Join(p.Purpose, " ")); text != "" {
		l.Text = text
	} else if text := plain(p.Info); text != "" {
		l.Text = text
	}
	l.Reference = plain(strings.Join(append(p.Given, p.Older...), " "))
	if end := plain(p.EndToEnd); l.Reference == "" && !strings.EqualFold(strings.ReplaceAll(end, " ", ""), "NOTPROVIDED") {
		l.Reference = end
	}
	l.Returned = l.Returned || p.Return != nil
}

func truth(s string) bool { s = strings.TrimSpace(s); return s == "true" || s == "1" }
