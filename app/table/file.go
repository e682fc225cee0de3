package table

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// File is a file to import. It is read several times: to detect its format, to preview it, to store it, and to return
// the refused rows.
type File struct {
	at    io.ReaderAt
	size  int64
	spool *tempFile // our own, deleted when the file is closed
}

// Open makes a File from in. A regular file is read in place; anything else, such as a pipe, is first written to a
// temporary file, so that neither memory nor the import's transaction waits for its writer.
func Open(in io.Reader) (*File, error) {
	if f, ok := in.(*os.File); ok {
		if st, err := f.Stat(); err == nil && st.Mode().IsRegular() {
			return &File{at: f, size: st.Size()}, nil
		}
	}
	spool, err := newTempFile()
	if err != nil {
		return nil, err
	}
	f := &File{at: spool, spool: spool}
	if f.size, err = io.Copy(spool, in); err != nil {
		return nil, errors.Join(fmt.Errorf("read the file: %w", err), f.Close())
	}
	return f, nil
}

// InMemory makes a File of bytes.
func InMemory(content []byte) *File {
	return &File{at: bytes.NewReader(content), size: int64(len(content))}
}

// Close removes what Open made. The given file stays open.
func (f *File) Close() error {
	if f.spool == nil {
		return nil
	}
	return f.spool.Close()
}

// Bytes is the file's size.
func (f *File) Bytes() ([]byte, error) { return io.ReadAll(f.whole()) }

func (f *File) whole() *io.SectionReader { return io.NewSectionReader(f.at, 0, f.size) }

// Pair is one entry of a mapping: a column of the file and our column, or our column and a value for all rows.
type Pair struct {
	Name  string `json:"name"`
	Means string `json:"means"`
}

// Reading is a file's format and the meaning of its columns. Empty fields are detected.
type Reading struct {
	Delimiter  string `json:"delimiter,omitempty"` // one of Delimiters
	Encoding   string `json:"encoding,omitempty"`  // one of Encodings
	Sheet      string `json:"sheet,omitempty"`
	Map        []Pair `json:"map,omitempty"`
	Set        []Pair `json:"set,omitempty"`
	DateFormat string `json:"date_format,omitempty"`
	Decimal    string `json:"decimal,omitempty"` // one of Decimals
	HeaderLine int    `json:"header_line,omitempty"`
	Returns    string `json:"returns,omitempty"` // "" or "net"
	// one of Programs, or "none" for a file that only looks like one of theirs
	From  string `json:"from,omitempty"`
	Flags bool   `json:"-"` // refusals name flags, for the command line
}

// Options are the arguments of an import.
type Options struct {
	schema.LoadOptions
	Reading

	Work *db.Work // the import's progress, for one that can be repeated; from Begin
}

// Found is a file's detected format.
type Found struct {
	Format     string   `json:"format"` // csv or xlsx
	Delimiter  string   `json:"delimiter,omitempty"`
	Encoding   string   `json:"encoding,omitempty"`
	Sheet      string   `json:"sheet,omitempty"`
	Sheets     []string `json:"sheets,omitempty"`
	Program    string   `json:"program,omitempty"` // the program that wrote it, if its header shows that
	HeaderLine int      `json:"header_line"`
	Columns    []string `json:"columns"`

	Decimal string `json:"decimal,omitempty"` // "comma" if that is the decimal separator
	// columns of dates in another format than YYYY-MM-DD
	Dates map[string]string `json:"dates,omitempty"`
}

// tell notes how cells are converted.
func (f *Found) tell(c *converter) {
	if c.comma {
		f.Decimal = "comma"
	}
	for column, format := range c.formats {
		if format != dayFormats[0] {
			if f.Dates == nil {
				f.Dates = map[string]string{}
			}
			f.Dates[column] = format.written
		}
	}
}

// Written describes the file's formats of amounts and dates that are not the default.
func (f Found) Written() (how []string) {
	if f.Decimal != "" {
		how = append(how, "decimals behind a "+f.Decimal)
	}
	for _, column := range slices.Sorted(maps.Keys(f.Dates)) {
		how = append(how, column+" as "+f.Dates[column])
	}
	if f.Program != "" {
		how = append(how, "a file of "+f.Program)
	}
	return how
}

// Check refuses options that fit no file.
func (r Reading) Check(t schema.Table) error {
	if r.Delimiter != "" && !slices.Contains(Delimiters, r.Delimiter) {
		return fault.Invalidf("delimiter: %s is not allowed; it takes one of %s", schema.Quote(r.Delimiter),
			joined(Delimiters))
	}
	if r.Encoding != "" && !slices.Contains(Encodings, r.Encoding) {
		return fault.Invalidf("encoding: %s is not allowed; it takes one of %s", schema.Quote(r.Encoding), joined(Encodings))
	}
	if r.Decimal != "" && !slices.Contains(Decimals, r.Decimal) {
		return fault.Fieldf("decimal", "decimal: %s is not allowed; it takes one of %s", schema.Quote(r.Decimal),
			joined(Decimals))
	}
	if r.HeaderLine < 0 {
		return fault.Fieldf("header_line", "header-line: it takes the number of a line, from 1")
	}
	if r.Returns != "" && r.Returns != "net" {
		return fault.Invalidf("returns: %s is not allowed; it takes net", schema.Quote(r.Returns))
	}
	if r.Returns != "" && !netted(t) {
		return fault.Invalidf("returns: the table %s does not take it: only sales have quantities that returns are taken off",
			t.Name)
	}
	if r.DateFormat != "" {
		if _, err := parseDateFormat(r.DateFormat); err != nil {
			return err
		}
	}
	if r.From != "" && r.From != "none" {
		if err := checkProgram(r.From, t); err != nil {
			return err
		}
	}
	return checkMapping(t, r)
}

// source yields the rows of a file, without empty ones.
type source interface {
	// next returns the next row; more is false at the end. Only an unreadable file is an error.
	next() (r record, more bool, err error)
}

// kind is a spreadsheet's type of a cell; in CSV every cell is text.
type kind uint8

const (
	isText   kind = iota
	isNumber      // written as a decimal with a point
	isDay         // written as YYYY-MM-DD, or YYYY-MM-DDThh:mm:ss without a zone
	isError       // "#N/A" and similar: refused in a column that is used
)

// record is one row of a file. An unreadable one has a refusal instead of cells. Cells and kinds are valid until the
// next row is read.
type record struct {
	line    int
	cells   []string
	kinds   []kind // nil: all are text
	refusal *fault.Error
}

func (r record) kind(i int) kind {
	if i >= len(r.kinds) {
		return isText
	}
	return r.kinds[i]
}
