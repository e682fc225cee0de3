package table

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/fault"
)

// reader reads one file of a table line by line.
type reader struct {
	csv     *csv.Reader
	columns []string // as the header names them, in the file's order
	place   []int    // where each of them stands among the table's columns
	width   int      // how many columns the table has
}

// line is one line of the file. A line that cannot be read carries its refusal
// instead of cells.
type line struct {
	number  int
	cells   []string // in the file's order; valid until the next line is read
	refusal *fault.Error
}

// newReader reads the header. A header that does not fit the table refuses the file.
func newReader(t schema.Table, in io.Reader) (*reader, error) {
	buffered := bufio.NewReaderSize(in, 64<<10)
	if err := mark(buffered); err != nil {
		return nil, err
	}
	r := &reader{csv: csv.NewReader(buffered)}
	r.csv.FieldsPerRecord = -1 // rows of another width are refused one by one
	r.csv.ReuseRecord = true
	columns := t.Columns()
	r.width = len(columns)
	header, err := r.csv.Read()
	var parse *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return nil, fault.Invalidf("the file is empty: its first line names the columns; %s", listed(t, columns))
	case errors.As(err, &parse):
		return nil, fault.Invalidf("the header on line %d cannot be read: %s", parse.StartLine, broken(parse))
	case err != nil:
		return nil, fmt.Errorf("read the file: %w", err)
	}
	for i, cell := range header {
		name := strings.TrimSpace(cell)
		if err := r.addColumn(t, columns, name, i); err != nil {
			return nil, err
		}
	}
	for _, c := range columns {
		if c.Required && !slices.Contains(r.columns, c.Name) {
			return nil, fault.Invalidf("the column %s is missing, which names the record; %s", c.Name, listed(t, columns))
		}
	}
	return r, nil
}

// mark drops the byte order mark that spreadsheets put before UTF-8, and refuses the
// ones of UTF-16, whose cells could only be misread.
func mark(r *bufio.Reader) error {
	head, _ := r.Peek(3) // a shorter file shows itself when it is read
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		_, err := r.Discard(3)
		return err
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return fault.Invalidf("the file is UTF-16; save it as CSV in UTF-8")
	}
	return nil
}

func (r *reader) addColumn(t schema.Table, columns []schema.Arg, name string, i int) error {
	at := slices.IndexFunc(columns, func(c schema.Arg) bool { return c.Name == name })
	switch {
	case name == "":
		return fault.Invalidf("column %d has no name; %s", i+1, listed(t, columns))
	case at < 0 && i == 0 && strings.ContainsAny(name, ";\t"):
		return fault.Invalidf("unknown column %s; cells are separated by commas, and %s", schema.Quote(name), listed(t, columns))
	case at < 0:
		return fault.Invalidf("unknown column %s; %s", schema.Quote(name), listed(t, columns))
	case slices.Contains(r.columns, name):
		return fault.Invalidf("the column %s stands in the header twice; %s", name, listed(t, columns))
	}
	r.columns = append(r.columns, name)
	r.place = append(r.place, at)
	return nil
}

func listed(t schema.Table, columns []schema.Arg) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
	}
	return fmt.Sprintf("the columns of %s are %s", t.Name, strings.Join(names, ", "))
}

// next reads the next line that is not empty; more is false at the end of the file.
// Only a file that cannot be read on is an error.
func (r *reader) next() (l line, more bool, err error) {
	cells, err := r.csv.Read()
	var parse *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return line{}, false, nil
	case errors.As(err, &parse):
		return line{number: parse.StartLine, refusal: fault.Invalidf("%s", broken(parse))}, true, nil
	case err != nil:
		return line{}, false, fmt.Errorf("read the file: %w", err)
	}
	l.number, _ = r.csv.FieldPos(0)
	if len(cells) != len(r.columns) {
		l.refusal = fault.Invalidf("it has %d cells, and the header has %d", len(cells), len(r.columns))
		return l, true, nil
	}
	for i, cell := range cells {
		if e, bad := fault.As(schema.CheckText(r.columns[i], cell, math.MaxInt)); bad {
			l.refusal = e
			return l, true, nil
		}
	}
	l.cells = cells
	return l, true, nil
}

// broken says what is wrong with the quotes of a record, and which lines went with it.
func broken(e *csv.ParseError) string {
	if errors.Is(e.Err, csv.ErrBareQuote) {
		return fmt.Sprintf("a quote stands inside a cell that does not begin with one (character %d): put the cell in quotes and double the quote", e.Column)
	}
	if e.Line > e.StartLine {
		return fmt.Sprintf("a quoted cell that begins here is not closed rightly; lines %d to %d were left out", e.StartLine, e.Line)
	}
	return "a quoted cell is not closed rightly: a quote inside it is doubled, and after the closing one comes a comma or the line's end"
}

// byName gives the line's cells by their columns, as Table.Bind takes them. It is a
// new map each time: what a row's Put keeps of it is its own.
func (r *reader) byName(cells []string) map[string]string {
	named := make(map[string]string, len(cells))
	for i, cell := range cells {
		named[r.columns[i]] = cell
	}
	return named
}

// inOrder gives the line's cells in the order of the table's columns, as Table.Load
// takes them.
func (r *reader) inOrder(cells []string) []string {
	ordered := make([]string, r.width)
	for i, cell := range cells {
		ordered[r.place[i]] = cell
	}
	return ordered
}
