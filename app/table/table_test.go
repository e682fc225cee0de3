package table

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/db/dbtest"
	"quartermaster/schema/fault"
)

// shelf is a small service of the tests: things with a code, a name and a count.
type shelf struct{ db *db.DB }

func newShelf(t *testing.T) *shelf {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shelf.db")
	dbtest.Create(t, path)
	d, err := db.Open(path, db.Options{})
	assert.OK(t, err)
	t.Cleanup(func() {
		assert.NoError(t, d.Close())
	})
	s := &shelf{db: d}
	err = db.Exec(context.Background(), d, db.Bookkeeping(), func(tx *db.Tx) error {
		_, err := tx.Exec("CREATE TABLE things (code TEXT PRIMARY KEY, name TEXT NOT NULL, count INTEGER NOT NULL) STRICT")
		return err
	})
	assert.OK(t, err)
	return s
}

// table refuses a used name, as a service would, and fails on "broken".
func (s *shelf) table() schema.Table {
	return schema.Table{
		Name: "things",
		Row: func(f *schema.Form) schema.Put {
			var code, name string
			var count int64
			f.Text(&code, "code", "", schema.Required, schema.Most(10))
			f.Text(&name, "name", "", schema.Most(100))
			f.Int(&count, "count", "", schema.Range(0, 1000))
			return func(tx *db.Tx) (o schema.Outcome, err error) {
				if f.Given("name") && name == "" {
					name = "nameless"
				}
				_, err = tx.Exec(`INSERT INTO things VALUES (?, ?, ?) ON CONFLICT (code) DO UPDATE SET
					name = iif(?, excluded.name, name), count = iif(?, excluded.count, count)`,
					code, name, count, f.Given("name"), f.Given("count"))
				if err != nil {
					return o, err
				}
				if err := tx.Audit("thing.imported", "thing:"+code, nil); err != nil {
					return o, err
				}
				switch name { // after the writes, so that they must be rolled back
				case "taken":
					return o, fault.Conflictf("the name is taken")
				case "broken":
					return o, errors.New("broken")
				case "full":
					return o, fault.Unavailablef(nil, "the disk is full")
				}
				return schema.Outcome{New: true}, nil
			}
		},
		Export: func(c *db.Conn, emit func(cells ...string) error) error {
			return db.Each(c, func(r *db.Row) error {
				return emit(r.Text(), r.Text(), strconv.FormatInt(r.Int(), 10))
			}, "SELECT code, name, count FROM things ORDER BY code")
		},
	}
}

func (s *shelf) load(file string, o schema.LoadOptions) (schema.Loaded, error) {
	return Import(context.Background(), s.db, db.CLI("shelf"), s.table(), strings.NewReader(file), o, nil)
}

func (s *shelf) mustLoad(t *testing.T, file string) schema.Loaded {
	t.Helper()
	done := assert.Value(s.load(file, schema.LoadOptions{}))(t)
	return done
}

func (s *shelf) export(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	assert.OK(t, Export(context.Background(), s.db, s.table(), &b))
	return b.String()
}

// audited counts the entries of the audit trail.
func (s *shelf) audited(t *testing.T) (n int64) {
	t.Helper()
	err := s.db.View(context.Background(), func(c *db.Conn) (err error) {
		n, _, err = db.One(c, db.Int, "SELECT count(*) FROM audit")
		return err
	})
	assert.OK(t, err)
	return n
}

func TestExportImportsUnchanged(t *testing.T) {
	s := newShelf(t)
	names := []string{
		`plain`, `with, comma`, `with "quotes"`, "two\nlines", "=SUM(A1:A9)", "@cmd", "-1", "+1", "tab\tinside", `\.`, "é漢字🙂", "# no comment",
		"'=1",
	}
	var file strings.Builder
	file.WriteString("code,name,count\n")
	for i, name := range names {
		file.WriteString("c" + strconv.Itoa(10+i) + `,"` + strings.ReplaceAll(Safe(name), `"`, `""`) + `",` + strconv.Itoa(i) + "\n")
	}
	done := s.mustLoad(t, file.String())
	assert.Must(t, done.Imported == len(names) && len(done.Errors) == 0, "imported %+v", done)
	first := s.export(t)
	other := newShelf(t)
	done = other.mustLoad(t, first)
	assert.Must(t, done.Imported == len(names) && len(done.Errors) == 0, "imported again %+v", done)
	again := other.export(t)
	assert.That(t, again == first, "exported\n%s\nand after importing it\n%s", first, again)
	for _, cell := range []string{"\nc14,'=SUM(A1:A9),4\n", "\nc15,'@cmd,5\n", "\nc16,'-1,6\n", "\nc17,'+1,7\n", "\nc22,''=1,12\n"} {
		assert.Contains(t, first, cell, "a spreadsheet would run what was")
	}
	for _, text := range []string{"\t=1", "\r=1"} { // spreadsheets skip what is before the sign
		assert.That(t, Safe(text) == "'"+text, "%q is exported as %q", text, Safe(text))
	}
}

func TestHeaderRefusesTheWholeFile(t *testing.T) {
	const columns = "the columns of things are code, name, count"
	for _, c := range []struct{ name, file, want string }{
		{"empty", "", "the file is empty: its first line names the columns; " + columns},
		{"only a mark", "\xef\xbb\xbf", "the file is empty: its first line names the columns; " + columns},
		{"blank lines only", "\n\r\n\n", "the file is empty: its first line names the columns; " + columns},
		{"unknown", "code,colour\na,red\n", `unknown column "colour"; ` + columns},
		{"another case", "code,Name\na,red\n", `unknown column "Name"; ` + columns},
		{"twice", "code,name, code\na,b,a\n", "the column code is in the header twice; " + columns},
		{"nameless", "code,,name\na,b,c\n", "column 2 has no name; " + columns},
		{"empty cells only", ",,\n, ,\n", "the file is empty: its first line names the columns; " + columns},
		{"no identifier", "name,count\na,1\n", "the column code, which identifies the record, is missing; " + columns},
		{"semicolons", "code;colour;count\na;b;1\n", `unknown column "colour"; ` + columns},
		{"UTF-16", "\xff\xfec\x00o\x00", `unknown column "co"; ` + columns},
		{"a quote", "code,na\"me\na,b\n", "the header on line 1 cannot be read: a quote is inside a cell without quotes (character 8): put the cell in quotes and double the quote"},
		{"a control character", "code,na\x00me\na,b\n", `unknown column "na?me"; ` + columns},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newShelf(t)
			_, err := s.load(c.file, schema.LoadOptions{})
			e, ok := fault.As(err)
			assert.That(t, ok && e.Kind == fault.Invalid && e.Detail == c.want, "got  %v\nwant %s", err, c.want)
			assert.Equal(t, s.export(t), "code,name,count\n", "something was written")
		})
	}
}

func TestRowsAreRefusedByLine(t *testing.T) {
	s := newShelf(t)
	file := strings.Join([]string{
		"\xef\xbb\xbf code ,count,name\r",   // 1
		"a,1,first\r",                       // 2
		"\r",                                // 3: skipped
		"b,x,bad count",                     // 4
		"c,1",                               // 5: too few
		"d,1,too,many",                      // 6
		"e,1,\"two",                         // 7
		"lines\"",                           // 8
		"f,1001,out of range",               // 9
		"g,1,taken",                         // 10
		"h,1,a\x01b",                        // 11
		"i,1,\xff",                          // 12
		"j,1,bare \"quote",                  // 13
		",1,no code",                        // 14
		"k,1,\"closed\" wrongly",            // 15
		"l,2,good after all that",           // 16
		"m,1," + strings.Repeat("x", 101),   // 17
		"\"n\",\"1\",\"over\r\ntwo lines\"", // 18
		"o,5,\"never closed",                // 20
		"p,1,lost",                          // 21
		"q,1,lost too",                      // 22
	}, "\n")
	done := s.mustLoad(t, file)
	want := []schema.Refused{
		{Line: 4, Reason: `count: "x" is not allowed; it takes a whole number from 0 to 1000`},
		{Line: 5, Reason: "it has 2 cells, and the header has 3"},
		{Line: 6, Reason: "it has 4 cells, and the header has 3"},
		{Line: 9, Reason: "count: 1001 is out of range; it takes a whole number from 0 to 1000"},
		{Line: 10, Reason: "the name is taken"},
		{Line: 11, Reason: "name holds a control character; only newline and tab are allowed"},
		{Line: 12, Reason: "name is not valid UTF-8"},
		{Line: 13, Reason: "a quote is inside a cell without quotes (character 10): put the cell in quotes and double the " +
			"quote"},
		{Line: 14, Reason: "code is missing: a text"},
		{Line: 15, Reason: "a quoted cell has no closing quote: double each quote inside it, and end it before a comma or " +
			"the line's end"},
		{Line: 17, Reason: "name has 101 characters; at most 100 are allowed"},
		{Line: 20, Reason: "a quoted cell begins here and has no closing quote; lines 20 to 22 were skipped"},
	}
	for i := range done.Errors {
		done.Errors[i].Column = ""
	}
	if !slices.Equal(done.Errors, want) {
		t.Errorf("refused")
		for _, e := range done.Errors {
			t.Errorf("  line %d: %s", e.Line, e.Reason)
		}
	}
	assert.That(t, done.Imported == 4, "imported %d, want 4", done.Imported)
	const rows = "code,name,count\na,first,1\ne,\"two\nlines\",1\nl,good after all that,2\nn,\"over\ntwo lines\",1\n"
	assert.Equal(t, s.export(t), rows, "stored")
	assert.Equal(t, s.audited(t), 4, "audit entries for 4 rows")
}

func TestAbsentColumnAndEmptyCell(t *testing.T) {
	s := newShelf(t)
	s.mustLoad(t, "code,name,count\na,one,1\nb,two,2\n")
	s.mustLoad(t, "code,count\na,7\n")
	assert.Equal(t, s.export(t), "code,name,count\na,one,7\nb,two,2\n", "an absent column changed something")
	s.mustLoad(t, "name,code,count\n,b,\n")
	assert.Equal(t, s.export(t), "code,name,count\na,one,7\nb,nameless,0\n", "an empty cell")
}

// Import stores the rows of a file from its first byte, as the command does.
func Import(ctx context.Context, d *db.DB, who db.Caller, t schema.Table, in io.Reader, o schema.LoadOptions, progress func(rows int)) (schema.Loaded, error) {
	if err := who.MayWrite("import"); err != nil {
		return schema.Loaded{}, err
	}
	f, err := Open(in)
	if err != nil {
		return schema.Loaded{}, err
	}
	defer func() { _ = f.Close() }() // it is only read
	how := Options{LoadOptions: o}
	if o.Add && !o.DryRun {
		if how.Work, err = Begin(ctx, d, who, t, f, how, "", ""); err == nil && how.Work.Answer != nil {
			err = fault.Conflictf("this file was added before")
		}
		if err != nil {
			how.Work.Close()
			return schema.Loaded{}, err
		}
	}
	out, err := Run(ctx, d, who, t, f, how, progress)
	if err != nil {
		how.Work.Close()
		return schema.Loaded{}, err
	}
	return out.Loaded, how.Work.Drop(ctx)
}
