package table

import (
	"archive/zip"
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/fault"
)

// packed makes a workbook of its parts, without empty ones.
func packed(t testing.TB, parts map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(parts)) { // the same bytes each time
		content := parts[name]
		if len(content) == 0 {
			continue
		}
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(content)
		}
		assert.OK(t, err)
	}
	assert.OK(t, z.Close())
	return b.Bytes()
}

const (
	wholeBook   = `<workbook xmlns:r="x"><workbookPr date1904="0"/><sheets><sheet name="Ware" sheetId="1" r:id="r1"/></sheets></workbook>`
	wholeLinks  = `<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/></Relationships>`
	wholeStyles = `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[$-407]DD\.MM\.YYYY"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/></cellXfs></styleSheet>`
	wholeTexts  = `<sst><si><t>code</t></si><si><r><t>Gr</t></r><rPh><t>no</t></rPh></si></sst>`
	wholeHead   = `<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>name</t></is></c></row>`
	wholeTail   = `</sheetData></worksheet>`
)

// FuzzWorkbook reads any parts of a workbook. Each row is refused or fits the header, line numbers rise, and an
// unreadable workbook is refused.
func FuzzWorkbook(f *testing.F) {
	seed := func(book, links, styles, texts, sheet string) {
		f.Add([]byte(book), []byte(links), []byte(styles), []byte(texts), []byte(sheet))
	}
	rows := func(rows string) { seed(wholeBook, wholeLinks, wholeStyles, wholeTexts, wholeHead+rows+wholeTail) }
	for _, r := range []string{
		``, `<row r="2"><c r="A2" t="s"><v>1</v></c></row>`, `<row r="2"><c r="A2" t="s"><v>-1</v></c></row>`, `<row r="2"><c r="A2" t="s"><v>99</v></c></row>`,
		`<row r="2"><c r="A2" s="1"><v>60</v></c></row>`, `<row r="2"><c r="A2" s="2"><v>45413.5</v></c></row>`, `<row r="2"><c r="A2" s="1"><v>NaN</v></c></row>`,
		`<row r="2"><c r="A2" s="1"><v>1e308</v></c></row>`, `<row r="2"><c r="A2" s="-1"><v>7</v></c></row>`, `<row r="9"/><row r="3"><c r="A3"><v>1</v></c></row>`,
		`<row r="2"><c r="XFE2"><v>1</v></c></row>`, `<row r="2"><c r="B2"><v>1</v></c><c r="A2"><v>2</v></c></row>`, `<row r="2"><c r="AAAAAAAAAAAAAAA2"><v>1</v></c></row>`,
		`<row><c><v>1</v></c><c/></row>`, `<row r="2"><c r="A2" t="e"><v>#N/A</v></c></row>`, `<row r="2"><c r="A2" t="b"><v>1</v></c></row>`,
		`<row r="2"><c r="A2" t="inlineStr"><is><t>a_x000D__x000A_b</t></is></c></row>`, `<row r="2"><c r="A2"><f>A1</f><v>3</v></c></row>`,
		`<row r="2"><c r="A2"><v>1</v>`, `<row r="2"><c r="A2"><v>1</v></row>`, `<!-- < --><row r="2"><c r="A2"><v><![CDATA[<1>]]></v></c></row>`,
		`<row r="-5"><c r="A1"><v>1</v></c></row>`, `<row r="99999999999999999999"><c r="A1"><v>1</v></c></row>`,
	} {
		rows(r)
	}
	whole := wholeHead + wholeTail
	seed(`<workbook/>`, wholeLinks, "", "", whole)
	seed(wholeBook, "", "", "", whole)
	seed(wholeBook, `<Relationships><Relationship Id="r1" Target="../../etc/passwd"/></Relationships>`, "", "", whole)
	seed(wholeBook, wholeLinks, `<styleSheet><cellXfs><xf numFmtId="x"/></cellXfs></styleSheet>`, "", whole)
	seed(wholeBook, wholeLinks, "", `<sst><si><t>never closed`, whole)
	seed(strings.Replace(wholeBook, `"0"`, `"true"`, 1), wholeLinks, wholeStyles, wholeTexts, wholeHead+`<row r="2"><c r="A2" s="1"><v>0</v></c></row>`+wholeTail)
	table := (&shelf{}).table()
	f.Fuzz(func(t *testing.T, book, links, styles, texts, sheet []byte) {
		file := packed(t, map[string][]byte{
			"xl/workbook.xml": book, "xl/_rels/workbook.xml.rels": links, "xl/styles.xml": styles, "xl/sharedStrings.xml": texts, "xl/worksheets/sheet1.xml": sheet,
		})
		r, err := InMemory(file).open(table, Reading{}, testShop)
		last := 0
		for err == nil {
			l, more, failed := r.next()
			if err = failed; failed != nil || !more {
				break
			}
			assert.Must(t, l.line > last, "line %d comes after line %d", l.line, last)
			last = l.line
			if l.refusal != nil {
				assert.Must(t, l.refusal.Detail != "", "refused without a reason")
				continue
			}
			if cells := slices.Clone(l.cells); slices.ContainsFunc(cells, func(c string) bool { return c != "" }) {
				put, err := table.Decode(r.byName(cells), schema.LoadOptions{})
				assert.Must(t, (put == nil) != (err == nil), "bound to %v, %v", put == nil, err)
			}
		}
		if err != nil {
			_, is := fault.As(err)
			assert.Must(t, is, "%v is no refusal", err)
		}
	})
}

// TestWorkbooksThatSwell: kilobytes that unpack to gigabytes are refused before they fill the memory.
func TestWorkbooksThatSwell(t *testing.T) {
	for name, c := range map[string]struct{ before, filling, after string }{
		"a text":       {`<row r="2"><c r="A2" t="inlineStr"><is><t>`, "aaaaaaaa", `</t></is></c></row>`},
		"an attribute": {`<row r="2"><c r="A2" x="`, "aaaaaaaa", `"/></row>`},
		"a comment":    {`<!-- `, "<a> <b> ", ` -->`},
		"data":         {`<row r="2"><c r="A2"><v><![CDATA[`, "<a> <b> ", `]]></v></c></row>`},
		"many runs":    {`<row r="2"><c r="A2" t="inlineStr"><is>`, "<t>aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa</t>", `</is></c></row>`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sheet := wholeHead + c.before + strings.Repeat(c.filling, 3*maxPart/len(c.filling)) + c.after + wholeTail
			file := packed(t, map[string][]byte{"xl/workbook.xml": []byte(wholeBook), "xl/_rels/workbook.xml.rels": []byte(wholeLinks), "xl/sharedStrings.xml": []byte(wholeTexts), "xl/worksheets/sheet1.xml": []byte(sheet)})
			assert.Must(t, len(file) <= 200<<10, "the archive is %d bytes", len(file))
			r, err := InMemory(file).open((&shelf{}).table(), Reading{}, testShop)
			for more := err == nil; more; {
				_, more, err = r.next()
			}
			_, is := fault.As(err)
			assert.That(t, is && strings.Contains(err.Error(), "8 MiB"), "%v", err)
		})
	}
}
