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

// File is a file to import. It is read more than once: to find out how it is written,
// to preview it, to store it, and to give the refused rows back.
type File struct {
	at    io.ReaderAt
	size  int64
	spool *tempFile // of our own, gone when the file is closed
}

// Open makes a File of what is read from in. A regular file is read where it is;
// anything else, such as a pipe, is first written to a temporary file, so that neither
// memory nor the import's transaction waits for who writes into it.
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

// InMemory makes a File of its bytes.
func InMemory(content []byte) *File {
	return &File{at: bytes.NewReader(content), size: int64(len(content))}
}

// Close removes what Open made. The file that it was given stays open.
func (f *File) Close() error {
	if f.spool == nil {
		return nil
	}
	return f.spool.Close()
}

// Bytes is what the file holds.
func (f *File) Bytes() ([]byte, error) { return io.ReadAll(f.whole()) }

func (f *File) whole() *io.SectionReader { return io.NewSectionReader(f.at, 0, f.size) }

// Pair is one entry of a mapping: a column of the file and the one of ours that it
// means, or a column of ours and the value that all rows get.
type Pair struct {
	Name  string `json:"name"`
	Means string `json:"means"`
}

// Reading says how a file is written and what its columns mean. What is empty is found
// out.
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

// Options are what an import was told.
type Options struct {
	schema.LoadOptions
	Reading

	Work *db.Work // how far the import came, for one that is asked for again; from Begin
}

// Found tells how a file is written.
type Found struct {
	Format     string   `json:"format"` // csv or xlsx
	Delimiter  string   `json:"delimiter,omitempty"`
	Encoding   string   `json:"encoding,omitempty"`
	Sheet      string   `json:"sheet,omitempty"`
	Sheets     []string `json:"sheets,omitempty"`
	Program    string   `json:"program,omitempty"` // the one that wrote it, where its header tells
	HeaderLine int      `json:"header_line"`
	Columns    []string `json:"columns"`

	Decimal string `json:"decimal,omitempty"` // "comma" where decimals stand behind one
	// columns of days that are not written YYYY-MM-DD, with their format
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

// Written says in words how the file writes amounts and days, where that is not the plain way.
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

// Check refuses options that no file could be read with.
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

// source gives the rows of a file one after another, without those that are empty.
type source interface {
	// next returns the next row; more is false at the end. Only a file that cannot be
	// read on is an error.
	next() (r record, more bool, err error)
}

// kind is what a spreadsheet says of a cell; in CSV every cell is text.
type kind uint8

const (
	isText   kind = iota
	isNumber      // written as a decimal with a point
	isDay         // written as YYYY-MM-DD, or YYYY-MM-DDThh:mm:ss without a zone
	isError       // "#N/A" and its kin: refused where the cell means something
)

// record is one row of a file. One that cannot be read carries its refusal instead of
// cells. Cells and kinds are valid until the next row is read.
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
