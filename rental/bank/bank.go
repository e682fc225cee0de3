// Package bank reads the banks' statements: CAMT, MT940 and MT942, OFX, and archives of them. It recognises a file by
// its content. It stores nothing, and knows nothing of accounts and leases.
package bank

import (
	"archive/zip"
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// The limits of a file.
const (
	MaxBytes    = 16 << 20 // as it comes
	MaxUnpacked = 64 << 20 // of an archive, in all
	MaxLines    = 20_000   // bookings
	maxDigits   = 15       // of an amount in the smallest unit
)

// Kinds are the files that Read knows, as people call them.
const Kinds = "CAMT.052, 053 or 054, MT940, MT942, OFX, a ZIP of these, CSV or XLSX"

// Statement is the content of a file for one account. A balance missing in the file is nil.
type Statement struct {
	Kind         string // camt.053, mt940, ofx ...
	Numbers      []string
	Currency     string
	From, To     *exact.Day
	OpeningCents *int64
	ClosingCents *int64
	Lines        []Line
}

// Line is one booking; received amounts are above 0.
type Line struct {
	Number        int // in the file, from 1
	Day           exact.Day
	AmountCents   int64
	PayerName     string // the other party, also of a debit
	PayerAccount  string
	Text          string
	Reference     string
	BankReference string
	Returned      bool

	// Of a line that is a part of a booking: the booking's index in the file, its reference and its amount.
	Entry          int
	EntryReference string
	EntryCents     int64
}

// IsZIP reports whether the file is an archive or a workbook.
func IsZIP(data []byte) bool { return bytes.HasPrefix(data, []byte("PK\x03\x04")) }

// Read reads a file; known is false for one that is none of the kinds, which may be a table. A file without a
// statement, an unreadable line and a too large file are refused.
func Read(data []byte) (statements []Statement, known bool, err error) {
	if len(data) > MaxBytes {
		return nil, true, fault.New(fault.TooLarge, "the file has %d bytes; at most %d are read", len(data), MaxBytes)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, true, fault.Fieldf("file", "file: it is empty; it takes %s", Kinds)
	}
	if IsZIP(data) {
		statements, known, err = readArchive(data)
	} else {
		statements, known, err = readOne(data)
	}
	if err != nil || !known {
		return nil, known, err
	}
	n := 0
	for i := range statements {
		for j := range statements[i].Lines {
			n++
			statements[i].Lines[j].Number = n
		}
	}
	switch {
	case len(statements) == 0:
		return nil, true, fault.Fieldf("file", "file: there is no statement of an account in it; it takes %s", Kinds)
	case n > MaxLines:
		return nil, true, fault.New(fault.TooLarge, "the file has %d bookings; at most %d are read at once", n, MaxLines)
	}
	return statements, true, nil
}

func readOne(data []byte) ([]Statement, bool, error) {
	text := Text(data)
	start := strings.TrimSpace(text[:min(len(text), 4096)])
	switch upper := strings.ToUpper(start); {
	case strings.HasPrefix(upper, "OFXHEADER"), strings.Contains(upper, "<OFX>"), strings.HasPrefix(upper, "<?OFX"):
		all, err := readOFX(text)
		return all, true, err
	case strings.HasPrefix(start, "<"):
		return readCAMT(text)
	case isMT(text):
		all, err := readMT(text)
		return all, true, err
	}
	return nil, false, nil
}

// readArchive reads the files of an archive, in its order. A workbook is none that it knows.
func readArchive(data []byte) (all []Statement, known bool, err error) {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, true, fault.Fieldf("file", "file: the archive is damaged: %v", err)
	}
	for _, f := range archive.File {
		if f.Name == "[Content_Types].xml" {
			return nil, false, nil
		}
	}
	left := int64(MaxUnpacked)
	for _, f := range archive.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		content, err := unpack(f, left)
		if err != nil {
			return nil, true, err
		}
		left -= int64(len(content))
		if strings.HasPrefix(f.Name, "__MACOSX/") {
			continue
		}
		one, ok, err := readOne(content)
		if err == nil && !ok {
			err = fault.Fieldf("file", "file: %q in the archive is not a statement; an archive may hold CAMT, MT940, MT942 "+
				"and OFX", f.Name)
		}
		if err != nil {
			return nil, true, err
		}
		all = append(all, one...)
	}
	return all, true, nil
}

func unpack(f *zip.File, most int64) ([]byte, error) {
	in, err := f.Open()
	if err != nil {
		return nil, fault.Fieldf("file", "file: %q in the archive cannot be unpacked: %v", f.Name, err)
	}
	defer in.Close()
	content, err := io.ReadAll(io.LimitReader(in, most+1))
	switch {
	case int64(len(content)) > most:
		return nil, fault.New(fault.TooLarge, "the archive unpacks to more than %d bytes", MaxUnpacked)
	case err != nil:
		return nil, fault.Fieldf("file", "file: %q in the archive cannot be unpacked: %v", f.Name, err)
	}
	return content, nil
}

// Text is a file's text, with line ends of LF: UTF-8, else Windows-1252.
func Text(data []byte) string {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	text := string(data)
	if !utf8.Valid(data) {
		decoded, err := charmap.Windows1252.NewDecoder().Bytes(data)
		if err == nil {
			text = string(decoded)
		}
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}

// cents parses digits with at most one decimal separator, a comma or a point. More decimals than the currency has are
// refused unless they are 0.
func cents(text, currency string) (int64, string) {
	t := strings.TrimSpace(text)
	negative := strings.HasPrefix(t, "-")
	t = strings.TrimPrefix(strings.TrimPrefix(t, "-"), "+")
	if at := strings.LastIndexAny(t, ",."); at >= 0 {
		groups := strings.NewReplacer(",", "", ".", "").Replace(t[:at])
		if groups != t[:at] && strings.Contains(t[:at], t[at:at+1]) {
			return 0, "not an amount"
		}
		t = groups + "." + t[at+1:]
	}
	whole, decimals, _ := strings.Cut(t, ".")
	if whole+decimals == "" || strings.Trim(whole+decimals, "0123456789") != "" {
		return 0, "not an amount"
	}
	c := exact.CurrencyOf(currency)
	decimals = strings.TrimRight(decimals, "0")
	whole = strings.TrimLeft(whole, "0")
	switch {
	case len(decimals) > c.Places:
		return 0, "the amount has more decimals than " + c.Code
	case len(whole)+c.Places > maxDigits:
		return 0, "the amount is too large"
	}
	n := int64(0)
	for _, r := range whole + decimals + strings.Repeat("0", c.Places-len(decimals)) {
		n = n*10 + int64(r-'0')
	}
	if negative {
		n = -n
	}
	return n, ""
}

// day reads YYYYMMDD or YYYY-MM-DD at the beginning of a text.
func day(text string) (exact.Day, bool) {
	t := strings.TrimSpace(text)
	if len(t) >= 10 && t[4] == '-' {
		return exact.ParseDay(t[:10])
	}
	if len(t) < 8 {
		return 0, false
	}
	return exact.ParseDay(t[:4] + "-" + t[4:6] + "-" + t[6:8])
}

// plain is a text in one line: printable, without blanks in a row.
func plain(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// span sets a statement's missing days to those of its lines.
func (s *Statement) span() {
	for _, l := range s.Lines {
		if s.From == nil || l.Day < *s.From {
			s.From = new(l.Day)
		}
		if s.To == nil || l.Day > *s.To {
			s.To = new(l.Day)
		}
	}
}

func badLine(line int, text, why string) error {
	return fault.Fieldf("file", "file: line %d: %s: %q", line, why, cut(text, 80))
}

// cut is at most n bytes of a text, whole characters.
func cut(s string, n int) string {
	for len(s) > n {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}
