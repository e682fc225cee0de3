package table

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

func TestDryRunReportsTheSameAndWritesNothing(t *testing.T) {
	s := newShelf(t)
	const file = "code,name\na,one\nb,taken\nc,three\n"
	dry := assert.Value(s.load(file, schema.LoadOptions{DryRun: true}))(t)
	got := s.export(t)
	assert.That(t, got == "code,name,count\n" && s.audited(t) == 0, "a dry run wrote %s", got)
	real := s.mustLoad(t, file)
	assert.That(t, dry.Imported == 2 && dry.Imported == real.Imported && slices.Equal(dry.Errors, real.Errors) &&
		len(dry.Errors) == 1, "dry run said %+v, the import %+v", dry, real)
	assert.Equal(t, s.export(t), "code,name,count\na,one,0\nc,three,0\n", "imported")
}

func TestErrorOutsideARowWritesNothing(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"an internal error", "code,name\na,one\nb,broken\nc,three\n", "line 3: broken"},
		{"the machine's refusal", "code,name\na,one\nb,full\nc,three\n", "line 3: the disk is full"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newShelf(t)
			done, err := s.load(c.file, schema.LoadOptions{})
			assert.That(t, err != nil && (err.Error() == c.want || strings.HasSuffix(err.Error(), c.want)),
				"got %+v, %v; want the error %q", done, err, c.want)
			got := s.export(t)
			assert.That(t, got == "code,name,count\n" && s.audited(t) == 0, "half an import was kept:\n%s", got)
		})
	}
}

func TestUnreadableFileWritesNothing(t *testing.T) {
	s := newShelf(t)
	lost := errors.New("the stick was pulled")
	in := io.MultiReader(strings.NewReader("code,name\na,one\n"), iotest.ErrReader(lost))
	_, err := Import(context.Background(), s.db, db.CLI("shelf"), s.table(), in, schema.LoadOptions{}, nil)
	assert.That(t, errors.Is(err, lost), "got %v", err)
	assert.Equal(t, s.export(t), "code,name,count\n", "half a file was kept")
}

func TestCallersWhoMayNotWriteImportNothing(t *testing.T) {
	s := newShelf(t)
	for _, who := range []db.Caller{
		{Service: "shelf", User: "vera", Role: "viewer", Scope: "full", Via: "cli"},
		{Service: "shelf", User: "rea", Role: "admin", Scope: "read", Via: "cli"},
		{Service: "shelf", User: "nobody", Scope: "full", Via: "cli"},
	} {
		_, err := Import(context.Background(), s.db, who, s.table(), strings.NewReader("code\na\n"), schema.LoadOptions{}, nil)
		assert.That(t, fault.Is(err, fault.Forbidden), "%s: got %v", who.User, err)
	}
	assert.Equal(t, s.export(t), "code,name,count\n", "written")
}

func TestTheImporterIsTheActor(t *testing.T) {
	s := newShelf(t)
	who := db.Caller{Service: "shelf", User: "mo", Role: "member", Scope: "full", Via: "cli"}
	if _, err := Import(context.Background(), s.db, who, s.table(), strings.NewReader("code\na\n"), schema.LoadOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	var got string
	err := s.db.View(context.Background(), func(c *db.Conn) (err error) {
		got, _, err = db.One(c, db.Text, "SELECT actor || ' ' || via || ' ' || service || ' ' || action || ' ' || subject FROM audit")
		return err
	})
	assert.That(t, err == nil && got == "mo cli shelf thing.imported thing:a", "audited %q, %v", got, err)
}

// TestManyRows: a file of many batches keeps its order and line numbers. After an abort in the middle the same file
// completes the import.
func TestManyRows(t *testing.T) {
	s := newShelf(t)
	const n = 7*batchRows + 3
	var file strings.Builder
	file.WriteString("code,name,count\n")
	for i := range n {
		name := fmt.Sprintf("round %d", i/10)
		if i%100 == 99 {
			name = "taken"
		}
		fmt.Fprintf(&file, "c%d,%s,%d\n", i%1000, name, i%1000) // later rows update earlier ones
	}
	var told []int
	done, err := Import(context.Background(), s.db, db.CLI("shelf"), s.table(), strings.NewReader(file.String()), schema.LoadOptions{},
		func(rows int) { told = append(told, rows) })
	assert.OK(t, err)
	refused := n / 100
	assert.Must(t, done.Imported == n-refused && len(done.Errors) == refused,
		"imported %d, refused %d of %d", done.Imported, len(done.Errors), n)
	for i, e := range done.Errors {
		want := 2 + 100*i + 99
		assert.Must(t, e.Line == want, "refusal %d is of line %d, want %d", i, e.Line, want)
	}
	assert.That(t, slices.IsSorted(told) && told[len(told)-1] == n, "progress was told as %v", told)
	if got := s.export(t); !strings.Contains(got, "c500,round 350,500\n") || !strings.Contains(got, "c502,round 350,502\n") || !strings.Contains(got, "c503,round 250,503\n") {
		t.Error("the last row of an identifier did not win")
	}
	before := s.export(t)
	_, err = s.load(file.String()+"z,broken,1\n", schema.LoadOptions{})
	assert.That(t, err != nil, "a broken last row was accepted")
	_, err = s.load(file.String(), schema.LoadOptions{})
	assert.That(t, err == nil && s.export(t) == before, "the same import again after one that broke at its end: %v", err)
}

// TestCancelledContextStopsAnImport: a cancelled import keeps what was committed, from the file's beginning without
// gaps, and stops.
func TestCancelledContextStopsAnImport(t *testing.T) {
	s := newShelf(t)
	ctx, cancel := context.WithCancel(context.Background())
	var file strings.Builder
	file.WriteString("code,name\n")
	for i := range 20 * batchRows {
		fmt.Fprintf(&file, "c%d,x\n", i)
	}
	_, err := Import(ctx, s.db, db.CLI("shelf"), s.table(), strings.NewReader(file.String()), schema.LoadOptions{}, func(int) { cancel() })
	assert.That(t, err != nil, "the import went on")
	out := s.export(t)
	kept := strings.Count(out, "\n") - 1
	for i := range kept {
		assert.Must(t, strings.Contains(out, fmt.Sprintf("\nc%d,x,", i)), "%d rows were kept, and not row %d", kept, i)
	}
	assert.That(t, kept != 20*batchRows, "all rows were kept")
}

func TestImportFromFileAndPipe(t *testing.T) {
	s := newShelf(t)
	path := filepath.Join(t.TempDir(), "things.csv")
	assert.OK(t, os.WriteFile(path, []byte("code,name\na,one\n"), 0o600))
	f, err := os.Open(path)
	assert.OK(t, err)
	defer f.Close()
	from, to, err := os.Pipe()
	assert.OK(t, err)
	defer from.Close()
	_, err = to.WriteString("code,name\nb,two\n")
	assert.OK(t, err)
	assert.OK(t, to.Close())
	for _, in := range []io.Reader{f, from} {
		_, err := Import(context.Background(), s.db, db.CLI("shelf"), s.table(), in, schema.LoadOptions{}, nil)
		assert.OK(t, err)
	}
	assert.Equal(t, s.export(t), "code,name,count\na,one,0\nb,two,0\n", "imported")
}

func TestATableThatLoadsManyRows(t *testing.T) {
	s := newShelf(t)
	table := s.table()
	table.Together = []string{"code"}
	var got []schema.Line
	var with schema.LoadOptions
	table.Load = func(_ context.Context, _ *db.DB, _ db.Caller, lines []schema.Line, o schema.LoadOptions) (schema.Loaded, error) {
		got, with = lines, o
		return schema.Loaded{Imported: 1, Errors: []schema.Refused{{Line: 2, Reason: "unknown"}}}, nil
	}
	const file = "count,code\n1,a\n\nx,y,z\n\"2\",\"b\nc\"\n"
	done, err := Import(context.Background(), s.db, db.CLI("shelf"), table, strings.NewReader(file), schema.LoadOptions{Add: true, DryRun: true}, nil)
	assert.OK(t, err)
	assert.That(t, len(got) == 2 && got[0].Number == 2 && slices.Equal(got[0].Cells, []string{"a", "", "1"}) &&
		got[1].Number == 5 && slices.Equal(got[1].Cells, []string{"b\nc", "", "2"}), "it was given %+v", got)
	if !with.Add || with.DryRun || with.Emit { // a trial around it rolls it back
		t.Errorf("with the options %+v", with)
	}
	assert.That(t, done.Imported == 1 && len(done.Errors) == 2 && done.Errors[0].Line == 2 && done.Errors[1].Line == 4,
		"the import said %+v", done)
}

func TestNoRowsIsNoError(t *testing.T) {
	s := newShelf(t)
	done := s.mustLoad(t, "code")
	assert.That(t, done.Imported == 0 && done.Errors != nil && len(done.Errors) == 0, "got %+v", done)
}

func TestExportOfAnotherWidthIsAnError(t *testing.T) {
	s := newShelf(t)
	table := s.table()
	table.Export = func(_ *db.Conn, emit func(cells ...string) error) error { return emit("a", "b") }
	err := Export(context.Background(), s.db, table, io.Discard)
	assert.That(t, err != nil, "two cells went out under three columns")
}

func TestExportReportsAFailingWriter(t *testing.T) {
	s := newShelf(t)
	s.mustLoad(t, "code\na\n")
	r, w := io.Pipe()
	r.Close()
	err := Export(context.Background(), s.db, s.table(), w)
	assert.That(t, errors.Is(err, io.ErrClosedPipe), "got %v", err)
}

var testShop = shop{zone: time.UTC, currency: exact.CurrencyOf("USD")}

// FuzzImport reads any file. Each line is refused with a reason, or its cells fit the header and are the same after
// writing and reading them again.
func FuzzImport(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "code", "code,name,count\na,b,1\n", "\xef\xbb\xbfcode\r\na\r\n", "code,name\n\"a\",\"b\"\"c\nd\"\n",
		"code\n\"never closed\na\n", "code,name\na,b\"c\nd,e\n", "name,count\nx,1\n", "code;name\na;b\n", "code,code\na,a\n",
		"code,name\na\nb,c,d\n\ne,f\n", "code\n\x00\n\xff\n\r\n \n", "\xff\xfec\x00", "code,count\na,99999999999999999999\n", "code,name\n\"a\"b,c\n",
	} {
		f.Add([]byte(seed))
	}
	table := (&shelf{}).table()
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := InMemory(file).open(table, Reading{}, testShop)
		if err != nil {
			_, is := fault.As(err)
			assert.Must(t, is, "the header is refused with %v, which is no refusal", err)
			return
		}
		last := 0
		for {
			l, more, err := r.next()
			assert.OK(t, err)
			if !more {
				return
			}
			assert.Must(t, l.line > last, "line %d comes after line %d", l.line, last)
			last = l.line
			if l.refusal != nil {
				assert.Must(t, l.refusal.Detail != "", "refused without a reason")
				continue
			}
			readsBack(t, table, r.columns(), slices.Clone(l.cells))
			put, err := table.Decode(r.byName(l.cells), schema.LoadOptions{})
			assert.Must(t, (put == nil) != (err == nil), "bound to %v, %v", put == nil, err)
		}
	})
}

func readsBack(t *testing.T, table schema.Table, columns, cells []string) {
	t.Helper()
	if len(cells) == 1 && cells[0] == "" {
		return // an empty line is no row
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	safe := make([]string, len(cells))
	for i, c := range cells {
		safe[i] = Safe(c)
	}
	assert.OK(t, w.WriteAll([][]string{columns, safe}))
	r, err := InMemory([]byte(b.String())).open(table, Reading{Delimiter: ","}, testShop)
	assert.OK(t, err)
	l, more, err := r.next()
	assert.Must(t, err == nil && more && l.refusal == nil && slices.Equal(l.cells, cells),
		"%q was written as %q and read as %q (%v, %v)", cells, b.String(), l.cells, l.refusal, err)
}
