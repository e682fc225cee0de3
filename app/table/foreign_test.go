package table

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// wares is a table with a column of each kind that files write differently.
func wares() schema.Table {
	return schema.Table{Name: "wares", Row: func(f *schema.Form) schema.Put {
		var code, name, paid, currency string
		var cents int64
		var qty exact.Milli
		var day exact.Day
		f.Text(&code, "code", "", schema.Required)
		f.Text(&name, "name", "")
		f.Int(&cents, "price_cents", "")
		f.Milli(&qty, "qty", "")
		f.Day(&day, "bought", "")
		f.Text(&paid, "paid_at", "")
		f.Text(&currency, "currency", "")
		return func(*db.Tx) (schema.Outcome, error) { return schema.Outcome{}, nil }
	}}
}

var berlin = func() *time.Location {
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		panic(err)
	}
	return zone
}()

// read returns the rows of a file as "code|name|..." of its columns, or the refusal after the line's number.
func read(t *testing.T, file []byte, r Reading) (rows []string, out *reader) {
	t.Helper()
	assert.OK(t, r.Check(wares()))
	out = assert.Value(InMemory(file).open(wares(), r, shop{zone: berlin, currency: exact.CurrencyOf("EUR")}))(t)
	for {
		row, more, err := out.next()
		assert.OK(t, err)
		if !more {
			return rows, out
		}
		if row.refusal != nil {
			rows = append(rows, strconv.Itoa(row.line)+": "+row.refusal.Detail)
			continue
		}
		rows = append(rows, strings.Join(row.cells, "|"))
	}
}

func mapped(pairs ...string) []Pair {
	var all []Pair
	for _, p := range pairs {
		theirs, ours, _ := strings.Cut(p, "=")
		all = append(all, Pair{Name: theirs, Means: ours})
	}
	return all
}

func TestFilesOfOtherProgramsAreRead(t *testing.T) {
	u16 := func(order func(uint16) []byte, text string) []byte {
		var b []byte
		for _, u := range utf16.Encode([]rune("\ufeff" + text)) {
			b = append(b, order(u)...)
		}
		return b
	}
	little := func(u uint16) []byte { return []byte{byte(u), byte(u >> 8)} }
	big := func(u uint16) []byte { return []byte{byte(u >> 8), byte(u)} }
	for _, c := range []struct {
		name, file string
		how        Reading
		rows       []string
		found      string // delimiter, encoding, header line
	}{
		{"semicolons", "code;name\nA;x,y\n", Reading{}, []string{"A|x,y"}, "; utf-8 1"},
		{"tabs", "code\tname\nA\tx\n", Reading{}, []string{"A|x"}, "tab utf-8 1"},
		{"bars", "code|name\nA|x\n", Reading{}, []string{"A|x"}, "| utf-8 1"},
		{"one column", "code\nA;B\n", Reading{}, []string{"A;B"}, ", utf-8 1"},
		{"a spreadsheet's hint", "sep=;\ncode;name\nA;x\n", Reading{}, []string{"A|x"}, "; utf-8 2"},
		{"a title above", "Report of May\n\ncode,name\nA,x\n", Reading{}, []string{"A|x"}, ", utf-8 3"},
		{"a title that is a column's name", "name\ncode,name\nA,x\n", Reading{}, []string{"A|x"}, ", utf-8 2"},
		{"Windows-1252", "code;name\nA;Gr\xf6\xdfe \x80\n", Reading{}, []string{"A|Größe €"}, "; windows-1252 1"},
		{"UTF-16, little end first", string(u16(little, "code,name\nA,Größe 🙂\n")), Reading{}, []string{"A|Größe 🙂"}, ", utf-16 1"},
		{"UTF-16, big end first", string(u16(big, "code,name\nA,Größe 🙂\n")), Reading{}, []string{"A|Größe 🙂"}, ", utf-16 1"},
		{"UTF-8 with a torn letter", "code,name\nA,Größe\nB,\xf6\n", Reading{}, []string{"A|Größe", "3: name is not valid UTF-8"}, ", utf-8 1"},
		{
			"mapped", "Artikel;Farbe;Preis\nA;rot;1.234,50 €\nB;blau;49\nC;grau;49,00\nD;weiß;49.00\nE;x;1.234\nF;x;0,005\n",
			Reading{Decimal: "comma", Map: mapped("Artikel=code", "Preis=price"), Set: mapped("name=all")},
			[]string{
				"A|123450|all", "B|4900|all", "C|4900|all",
				`5: price_cents: cannot read the amount "49.00". Write it in EUR with at most 2 decimals, such as 49.00`,
				"E|123400|all",
				`7: price_cents: cannot read the amount "0,005". Write it in EUR with at most 2 decimals, such as 49.00`,
			},
			"; utf-8 1",
		},
		{
			"yen have no decimals", "Artikel;Preis;W\nA;49;JPY\nB;1.234;JPY\nC;49.50;JPY\n",
			Reading{Map: mapped("Artikel=code", "Preis=price", "W=currency")},
			[]string{
				"A|49|JPY",
				`3: price_cents: cannot read the amount "1.234". Write it in JPY with at most 0 decimals, such as 4900`,
				`4: price_cents: cannot read the amount "49.50". Write it in JPY with at most 0 decimals, such as 4900`,
			},
			"; utf-8 1",
		},
		{
			"decimal commas", "code;qty\nA;1.234,5\nB;1,5\nC;1.234\nD;1.5\n", Reading{Decimal: "comma"},
			[]string{"A|1234.5", "B|1.5", "C|1234", `5: qty: "1.5" is not a number with a decimal comma, such as 1.234,5`}, "; utf-8 1",
		},
		{
			"days", "code,bought\nA,2026-05-03\nB,2026-05-03 14:00:00\nC,2026-05-03T23:30:00Z\nD,2026-05-03 20:30:00 -0400\nE,03.05.2026\n", Reading{},
			[]string{
				"A|2026-05-03", "B|2026-05-03", "C|2026-05-04", "D|2026-05-04",
				`6: bought: cannot read the date "03.05.2026". Expected YYYY-MM-DD; it is written as DD.MM.YYYY`,
			}, ", utf-8 1",
		},
		{
			"days in a format", "code,bought\nA,03.05.2026\nB,03.05.2026 14:00\nC,31.02.2026\nD,2026-05-03\n", Reading{DateFormat: "DD.MM.YYYY"},
			[]string{
				"A|2026-05-03", "B|2026-05-03", `4: bought: cannot read the date "31.02.2026". Expected DD.MM.YYYY`,
				`5: bought: cannot read the date "2026-05-03". Expected DD.MM.YYYY; it is written as YYYY-MM-DD`,
			},
			", utf-8 1",
		},
		{
			"days of one digit", "code,bought\nA,3.5.2026\nB,3.12.2026 9:05\nC,13.5.2026\nD,3.5.26\nE,.5.2026\n", Reading{DateFormat: "DD.MM.YYYY"},
			[]string{
				"A|2026-05-03", "B|2026-12-03", "C|2026-05-13", `5: bought: cannot read the date "3.5.26". Expected DD.MM.YYYY; it is written as DD.MM.YY`,
				`6: bought: cannot read the date ".5.2026". Expected DD.MM.YYYY`,
			},
			", utf-8 1",
		},
		{
			"days without a sign between", "code,bought\nA,20260503\nB,2026053\n", Reading{DateFormat: "YYYYMMDD"},
			[]string{"A|2026-05-03", `3: bought: cannot read the date "2026053". Expected YYYYMMDD`}, ", utf-8 1",
		},
		{
			"empty columns and rows at the end", "code;name;;\r\nA;x;;\r\nB;y\r\nC;z;;9\r\n;;;\r\n", Reading{},
			[]string{"A|x", "B|y", "4: it has 4 cells, and the header has 2"}, "; utf-8 1",
		},
		{
			"moments", "code,paid_at\nA,2026-05-03\nB,2026-05-03 14:00:00\nC,2026-05-03T14:00:00Z\nD,2026-05-03 14:00:00 -0400\n", Reading{},
			[]string{"A|2026-05-03", "B|2026-05-03T12:00:00Z", "C|2026-05-03T14:00:00Z", "D|2026-05-03T18:00:00Z"}, ", utf-8 1",
		},
		{
			"moments in a format", "code,paid_at\nA,05/03/2026 02:30:00\nB,05/03/2026\n", Reading{DateFormat: "MM/DD/YYYY"},
			[]string{"A|2026-05-03T00:30:00Z", "B|2026-05-02T22:00:00Z"}, ", utf-8 1",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows, out := read(t, []byte(c.file), c.how)
			assert.EqualSlices(t, rows, c.rows, "read\n%s\nwant\n%s", strings.Join(rows, "\n"), strings.Join(c.rows, "\n"))
			f := out.found
			assert.Equal(t, fmt.Sprintf("%s %s %d", f.Delimiter, f.Encoding, f.HeaderLine), c.found, "found")
		})
	}
}

func TestUnknownColumnsAreIgnored(t *testing.T) {
	_, out := read(t, []byte("Art,name,Farbe\nA,x,y\n"), Reading{Map: mapped("Art=code")})
	assert.EqualSlices(t, out.layout.left, []string{"name", "Farbe"}, "left out")
	rows, out := read(t, []byte("code,name,Farbe\nA,x,y\n"), Reading{Set: mapped("qty=2")})
	assert.That(t, slices.Equal(out.layout.left, []string{"Farbe"}) && slices.Equal(rows, []string{"2|A|x"}),
		"left out: %v of %v", out.layout.left, rows)
}

func TestInvalidMappings(t *testing.T) {
	for _, c := range []struct {
		how  Reading
		want string
	}{
		{Reading{Map: mapped("A=colour")}, `map: unknown column "colour"`},
		{Reading{Map: mapped("A=code", "B=code")}, "map: the column code is given twice"},
		{Reading{Map: mapped("A=price", "B=price_cents")}, "map: the column price_cents is given twice"},
		{Reading{Map: mapped("A=code"), Set: mapped("code=x")}, "set: the column code is given twice"},
		{Reading{DateFormat: "DD.MM"}, "date-format: "},
		{Reading{DateFormat: "X.M.YYYY"}, "date-format: "},
		{Reading{Decimal: "dot"}, "decimal: "},
		{Reading{Delimiter: "x"}, "delimiter: "},
		{Reading{Encoding: "latin"}, "encoding: "},
		{Reading{Returns: "net"}, "returns: "},
		{Reading{From: "ebay"}, "from: "},
	} {
		err := c.how.Check(wares())
		assert.That(t, err != nil && strings.HasPrefix(err.Error(), c.want), "%+v: %v, want %s...", c.how, err, c.want)
	}
}

// book makes a workbook of one or two sheets; rows are the XML of the first one's.
func book(t *testing.T, rows string, from1904 bool) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	put := func(name, content string) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(content))
		}
		assert.OK(t, err)
	}
	era := ""
	if from1904 {
		era = `<workbookPr date1904="1"/>`
	}
	put("xl/workbook.xml", `<workbook xmlns:r="x">`+era+`<sheets><sheet name="Ware" sheetId="1" r:id="r1"/><sheet name="More" sheetId="2" r:id="r2"/></sheets></workbook>`)
	put("xl/_rels/workbook.xml.rels", `<Relationships><Relationship Id="r1" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Target="/xl/worksheets/sheet2.xml"/></Relationships>`)
	put("xl/styles.xml", `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[$-407]DD\.MM\.YYYY"/><numFmt numFmtId="165" formatCode="0.00 &quot;days&quot;"/></numFmts>`+
		`<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs></styleSheet>`)
	put("xl/sharedStrings.xml", `<sst><si><t>code</t></si><si><t>name</t></si><si><r><t>Grö</t></r><r><t>ße</t></r><rPh><t>no</t></rPh></si><si><t>bought</t></si><si><t>qty</t></si></sst>`)
	head := `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>3</v></c><c r="D1" t="s"><v>4</v></c></row>`
	put("xl/worksheets/sheet1.xml", `<worksheet><sheetData>`+head+rows+`</sheetData></worksheet>`)
	put("xl/worksheets/sheet2.xml", `<worksheet><sheetData><row><c t="inlineStr"><is><t>code</t></is></c></row><row><c t="str"><v>Z</v></c></row></sheetData></worksheet>`)
	assert.OK(t, z.Close())
	return b.Bytes()
}

func TestWorkbooks(t *testing.T) {
	rows := `<row r="3"><c r="A3" t="s"><v>2</v></c><c r="C3" s="1"><v>45413</v></c><c r="D3"><v>1.1000000000000001</v></c></row>` +
		`<row r="4"><c r="A4"><v>42</v></c><c r="C4" s="2"><v>45413.9999999</v></c><c r="D4" s="3"><v>0.5</v></c></row>` +
		`<row r="5"><c r="A5" t="e"><v>#N/A</v></c></row><row r="6"><c r="A6" t="str"><v></v></c></row>` +
		`<row r="7"><c r="A7" t="b"><v>1</v></c><c r="C7" s="1"><v>60</v></c></row>` +
		`<row r="8"><c r="A8" t="inlineStr"><is><t>a_x000D__x000A_b</t></is></c><c r="E8"><v>9</v></c></row>` +
		`<row r="9"><c r="A9" t="str"><v>J</v></c><c r="B9" t="e"><v>#DIV/0!</v></c></row>`
	want := []string{
		"Größe||2024-05-01|1.1", "42||2024-05-02|0.5", `5: code: the cell in column 1 holds the error "#N/A"`,
		"1||1900-02-29|", "8: it has 5 cells, and the header has 4",
		`9: name: the cell in column 2 holds the error "#DIV/0!"`,
	}
	got, out := read(t, book(t, rows, false), Reading{DateFormat: "DD.MM.YYYY", Decimal: "comma"})
	if !slices.Equal(got, want) || out.found.Sheet != "Ware" || !slices.Equal(out.found.Sheets, []string{"Ware", "More"}) {
		t.Errorf("read %q of %+v", got, out.found)
	}
	f, how := InMemory(book(t, rows, false)), Reading{Map: mapped("code=code", "qty=qty")}
	if got, _ := read(t, book(t, rows, false), how); len(got) != 6 || got[5] != "J|" {
		t.Errorf("an error in a column that is left out: %q", got)
	}
	var back bytes.Buffer
	left, err := WriteRefused(wares(), f, Reading{}, []schema.Refused{{Line: 9, Reason: "mend it"}}, &back)
	if want := "\ufeffcode,name,bought,qty,reason\nJ,#DIV/0!,,,mend it\n"; err != nil || left != 0 || back.String() != want {
		t.Errorf("an error goes back as %q, %d left, %v", back.String(), left, err)
	}
	if got, _ := read(t, book(t, rows, true), Reading{}); got[0] != "Größe||2028-05-02|1.1" {
		t.Errorf("from 1904: %q", got[0])
	}
	if got, _ := read(t, book(t, rows, false), Reading{Sheet: "More"}); !slices.Equal(got, []string{"Z"}) {
		t.Errorf("the second sheet: %q", got)
	}
	_, err = InMemory(book(t, rows, false)).open(wares(), Reading{Sheet: "None"}, testShop)
	assert.That(t, fault.Is(err, fault.Invalid) && strings.Contains(err.Error(), "it has Ware, More"),
		"a sheet that is not there: %v", err)
}

// TestDamagedWorkbooks: a damaged workbook is refused; the program goes on, and so does the rest of the file.
func TestDamagedWorkbooks(t *testing.T) {
	for _, rows := range []string{
		`<row r="2"><c r="A2" t="s"><v>-1</v></c></row>`, `<row r="2"><c r="A2" t="s"><v>99</v></c></row>`,
		`<row r="2"><c r="2" t="n"><v>1</v></c></row>`, `<row r="2"><c r="ZZZZ2"><v>1</v></c></row>`, `<row r="2"><c r="A2">`,
	} {
		f := InMemory(book(t, rows, false))
		out, err := f.open(wares(), Reading{}, testShop)
		for more := true; err == nil && more; {
			_, more, err = out.next()
		}
		assert.That(t, fault.Is(err, fault.Invalid), "%s: %v", rows, err)
	}
	for _, file := range []string{"PK\x03\x04", "PK\x03\x04" + strings.Repeat("x", 100), "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"} {
		_, err := InMemory([]byte(file)).open(wares(), Reading{}, testShop)
		assert.That(t, fault.Is(err, fault.Invalid), "%q: %v", file, err)
	}
}

// TestRefusedFormulasAreExportedGuarded: a foreign file's formula is read as text, exported as text, and imported
// unchanged.
func TestRefusedFormulasAreExportedGuarded(t *testing.T) {
	s := newShelf(t)
	const file = "code,name,count\n=1+1,taken,-5\n-2+3,taken,\n'@c,taken,+7\n+,taken,=9\n"
	out, err := Run(context.Background(), s.db, db.CLI("shelf"), s.table(), InMemory([]byte(file)), Options{}, nil)
	assert.Must(t, err == nil && len(out.Errors) == 4, "%+v, %v", out, err)
	for i := range out.Errors {
		out.Errors[i].Reason = "x"
	}
	var b bytes.Buffer
	_, err = WriteRefused(s.table(), InMemory([]byte(file)), Reading{}, out.Errors, &b)
	assert.OK(t, err)
	want := "\ufeffcode,name,count,reason\n'=1+1,taken,-5,x\n'-2+3,taken,,x\n'@c,taken,+7,x\n+,taken,'=9,x\n"
	assert.That(t, b.String() == want, "gave back\n%swant\n%s", b.String(), want)
	mended := strings.NewReplacer("1,taken", "1,a", "3,taken", "3,b", "c,taken", "c,d", "+,taken,'=9", "+,e,9", "-5", "5", "+7", "7").Replace(b.String())
	_, err = Run(context.Background(), s.db, db.CLI("shelf"), s.table(), InMemory([]byte(mended)), Options{}, nil)
	assert.OK(t, err)
	assert.Equal(t, s.export(t), "code,name,count\n'+,e,9\n'-2+3,b,0\n'=1+1,a,5\n'@c,d,7\n", "stored")
}

func TestRefusedRowsAreExportedAndImportedAgain(t *testing.T) {
	s := newShelf(t)
	const file = "Code;Name;Farbe\na;eins;rot\nb;taken;blau\n;drei;\nd;vier;x;y\n"
	how := Options{Reading: Reading{Map: mapped("Code=code", "Name=name")}}
	f := InMemory([]byte(file))
	out, err := Run(context.Background(), s.db, db.CLI("shelf"), s.table(), f, how, nil)
	assert.Must(t, err == nil && out.Imported == 1 && len(out.Errors) == 3, "%+v, %v", out, err)
	var b bytes.Buffer
	_, err = WriteRefused(s.table(), f, how.Reading, out.Errors, &b)
	assert.OK(t, err)
	want := "\ufeffCode;Name;Farbe;reason\nb;taken;blau;the name is taken\n;drei;;code is missing: a text\nd;vier;x;it has 4 cells, and the header has 3\n"
	assert.That(t, b.String() == want, "gave back\n%swant\n%s", b.String(), want)
	mended := strings.NewReplacer("taken;", "zwei;", "\n;drei", "\nc;drei").Replace(b.String())
	again, err := Run(context.Background(), s.db, db.CLI("shelf"), s.table(), InMemory([]byte(mended)), how, nil)
	assert.That(t, err == nil && again.Imported == 3 && slices.Equal(again.Left, []string{"Farbe"}),
		"came again: %+v, %v", again, err)
	assert.Equal(t, s.export(t), "code,name,count\na,eins,0\nb,zwei,0\nc,drei,0\nd,vier,0\n", "stored")
}

// Files say values in their own words; what is in no list stays, for the table to refuse it.
func TestOtherWordsForValues(t *testing.T) {
	states := schema.Arg{Enum: []string{"operational", "needs-attention", "down", "retired"}}
	for word, want := range map[string]string{
		"in Betrieb": "operational", "Needs attention": "needs-attention", "in Wartung": "needs-attention",
		"Außer Betrieb": "down", "DOWN": "down", "ausgemustert": "retired", "kaputt?": "kaputt?",
		"": "", "überweisung": "überweisung",
	} {
		assert.Equal(t, valueOf(states, word), want, "%q is read as", word)
	}
}
