package table

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"strconv"
	"strings"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/fault"
)

// A workbook is parsed row by row, so that memory does not grow with them, and any fault in it is a refusal. Its
// unpacked size is bounded.
const (
	maxPart    = 8 << 20  // bytes of each part that describes the workbook
	maxStrings = 64 << 20 // bytes of its shared texts
	maxColumns = 16_384   // the limit of spreadsheets
	maxRows    = 1_048_576
	maxTexts   = 1_000_000 // of its shared texts: an empty one takes a few bytes of the file and more of memory
	maxEntries = 10_000    // of the archive
)

// maxReading is the time limit for reading a workbook, so that one that unpacks slowly is refused.
const maxReading = 60 * time.Second

// workbook is an XLSX file.
type workbook struct {
	parts    map[string]*zip.File
	names    []string          // of the sheets, in order
	sheets   map[string]string // their parts
	strings  []string
	days     map[int]bool // styles that show a number as a date
	from1904 bool
	until    time.Time // when the time limit ends
}

// inTime refuses a workbook that takes too long to read.
func (w *workbook) inTime() error {
	if time.Now().After(w.until) {
		return fault.Invalidf("the workbook takes longer than %d seconds to read; save the table as CSV",
			int(maxReading.Seconds()))
	}
	return nil
}

func openWorkbook(f *File, r Reading, found *Found) (source, error) {
	w, err := readWorkbook(f)
	if err != nil {
		return nil, err
	}
	found.Format, found.Sheets = "xlsx", w.names
	found.Sheet = r.Sheet
	if r.Sheet == "" {
		found.Sheet = w.names[0]
	}
	part, ok := w.sheets[found.Sheet]
	if !ok {
		return nil, fault.Invalidf("sheet: the workbook has no sheet %s; it has %s", schema.Quote(r.Sheet), joined(w.names))
	}
	z := w.parts[part]
	if z == nil {
		return nil, damaged("the sheet %s is missing", schema.Quote(found.Sheet))
	}
	in, err := z.Open()
	if err != nil {
		return nil, damaged("%s", err)
	}
	return &sheet{book: w, xml: xml.NewDecoder(&bounded{in: in})}, nil
}

func damaged(format string, args ...any) error {
	return fault.Invalidf("the workbook cannot be read: "+format+
		"; open it in a spreadsheet and save it again as XLSX or CSV", args...)
}

func readWorkbook(f *File) (*workbook, error) {
	z, err := zip.NewReader(f.at, f.size)
	if err != nil {
		return nil, damaged("%s", err)
	}
	if len(z.File) > maxEntries {
		return nil, fault.Invalidf("the workbook has %d parts; at most %d are accepted. Save the table as CSV", len(z.File),
			maxEntries)
	}
	w := &workbook{until: time.Now().Add(maxReading), parts: map[string]*zip.File{}, sheets: map[string]string{},
		days: map[int]bool{}}
	for _, part := range z.File {
		w.parts[strings.TrimPrefix(part.Name, "/")] = part
	}
	if err := w.readSheets(); err != nil {
		return nil, err
	}
	if err := w.readStyles(); err != nil {
		return nil, err
	}
	return w, w.readStrings()
}

// part reads one of the parts that describe the workbook; a missing one is empty.
func (w *workbook) part(name string, into any) error {
	z := w.parts[name]
	if z == nil {
		return nil
	}
	in, err := z.Open()
	if err != nil {
		return damaged("%s", err)
	}
	defer in.Close()
	content, err := io.ReadAll(io.LimitReader(in, maxPart+1))
	switch {
	case err != nil:
		return damaged("%s", err)
	case len(content) > maxPart:
		return damaged("%s is too large", name)
	}
	if err := xml.Unmarshal(content, into); err != nil {
		return damaged("%s", err)
	}
	return nil
}

func (w *workbook) readSheets() error {
	const root = "xl/workbook.xml"
	var book struct {
		Properties struct {
			From1904 string `xml:"date1904,attr"`
		} `xml:"workbookPr"`
		Sheets []struct {
			Name  string     `xml:"name,attr"`
			Attrs []xml.Attr `xml:",any,attr"`
		} `xml:"sheets>sheet"`
	}
	if w.parts[root] == nil {
		return fault.Invalidf("the file is a ZIP archive, but not an XLSX workbook; save the table as XLSX or CSV")
	}
	if err := w.part(root, &book); err != nil {
		return err
	}
	w.from1904 = book.Properties.From1904 == "1" || book.Properties.From1904 == "true"
	var links struct {
		Links []struct {
			ID     string `xml:"Id,attr"`
			Target string `xml:"Target,attr"`
		} `xml:"Relationship"`
	}
	if err := w.part("xl/_rels/workbook.xml.rels", &links); err != nil {
		return err
	}
	targets := map[string]string{}
	for _, l := range links.Links {
		target := path.Join("xl", l.Target)
		if strings.HasPrefix(l.Target, "/") {
			target = strings.TrimPrefix(l.Target, "/")
		}
		targets[l.ID] = target
	}
	for _, s := range book.Sheets {
		for _, a := range s.Attrs {
			if a.Name.Local == "id" {
				w.sheets[s.Name] = targets[a.Value]
			}
		}
		w.names = append(w.names, s.Name)
	}
	if len(w.names) == 0 {
		return damaged("it has no sheets")
	}
	return nil
}

func (w *workbook) readStyles() error {
	var styles struct {
		Formats []struct {
			ID   int    `xml:"numFmtId,attr"`
			Code string `xml:"formatCode,attr"`
		} `xml:"numFmts>numFmt"`
		Cells []struct {
			Format int `xml:"numFmtId,attr"`
		} `xml:"cellXfs>xf"`
	}
	if err := w.part("xl/styles.xml", &styles); err != nil {
		return err
	}
	own := map[int]bool{}
	for _, f := range styles.Formats {
		own[f.ID] = showsDay(f.Code)
	}
	for i, c := range styles.Cells {
		is, said := own[c.Format]
		if !said { // one of the built-in ones
			is = c.Format >= 14 && c.Format <= 22 || c.Format >= 27 && c.Format <= 36 || c.Format >= 45 && c.Format <= 47 ||
				c.Format >= 50 && c.Format <= 58
		}
		w.days[i] = is
	}
	return nil
}

// showsDay recognises a number format of dates and times by its letters, outside of quotes, brackets and after a
// backslash.
func showsDay(code string) bool {
	quoted, bracket := false, false
	for i := 0; i < len(code); i++ {
		switch c := code[i]; {
		case quoted:
			quoted = c != '"'
		case bracket:
			bracket = c != ']'
		case c == '"':
			quoted = true
		case c == '[':
			bracket = !elapsed(code[i:])
		case c == '\\', c == '_', c == '*':
			i++
		case c == ';':
			return false // the first section is for positive numbers, such as dates
		case strings.IndexByte("dmyhsDMYHS", c) >= 0:
			return true
		}
	}
	return false
}

// elapsed distinguishes [h], [mm] and the like, which show a time, from a colour or a currency.
func elapsed(code string) bool {
	inside, _, _ := strings.Cut(code[1:], "]")
	return inside != "" && strings.Trim(strings.ToLower(inside), inside[:1]) == "" &&
		strings.Contains("hmsHMS", inside[:1])
}

func (w *workbook) readStrings() error {
	z := w.parts["xl/sharedStrings.xml"]
	if z == nil {
		return nil
	}
	in, err := z.Open()
	if err != nil {
		return damaged("%s", err)
	}
	defer in.Close()
	limited := &io.LimitedReader{R: in, N: maxStrings}
	d := xml.NewDecoder(&bounded{in: limited})
	for {
		t, err := d.Token()
		switch {
		case limited.N == 0:
			return fault.Invalidf("the workbook's texts are more than %d MiB; save the table as CSV", maxStrings>>20)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return damaged("%s", err)
		}
		if s, is := t.(xml.StartElement); is && s.Name.Local == "si" {
			text, err := runs(d, "si")
			if err != nil {
				return damaged("%s", err)
			}
			if w.strings = append(w.strings, text); len(w.strings) > maxTexts {
				return fault.Invalidf("the workbook has more than %d texts; save the table as CSV", maxTexts)
			}
			if len(w.strings)%1000 == 0 {
				if err := w.inTime(); err != nil {
					return err
				}
			}
		}
	}
}

// runs returns the text of an element: of all its <t>, except those of a phonetic reading.
func runs(d *xml.Decoder, end string) (string, error) {
	var b bytes.Buffer
	inText, phonetic := false, false
	for {
		t, err := d.Token()
		if err != nil {
			return "", unexpected(err)
		}
		switch e := t.(type) {
		case xml.StartElement:
			inText = inText || e.Name.Local == "t"
			phonetic = phonetic || e.Name.Local == "rPh"
		case xml.EndElement:
			switch e.Name.Local {
			case "t":
				inText = false
			case "rPh":
				phonetic = false
			case end:
				return unescape(b.String()), nil
			}
		case xml.CharData:
			if inText && !phonetic {
				b.Write(e)
			}
			if b.Len() > maxPart {
				return "", errLongToken
			}
		}
	}
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// unescape returns the characters that XML cannot contain, which XLSX writes as _x000D_. A carriage return before a
// newline is dropped: in CSV a line of a cell also ends in one character.
func unescape(s string) string {
	if !strings.Contains(s, "_x") {
		return strings.ReplaceAll(s, "\r\n", "\n")
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if i+7 <= len(s) && s[i] == '_' && s[i+1] == 'x' && s[i+6] == '_' {
			if n, err := strconv.ParseUint(s[i+2:i+6], 16, 16); err == nil {
				b.WriteRune(rune(n))
				i += 7
				continue
			}
		}
		b.WriteByte(s[i])
		i++
	}
	return strings.ReplaceAll(b.String(), "\r\n", "\n")
}
