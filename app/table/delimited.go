package table

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"quartermaster/schema/fault"
)

// Delimiters are the possible separators of cells.
var Delimiters = []string{",", ";", "tab", "|"}

// sampled is the size of the text that is searched for the delimiter.
const sampled = 64 << 10

func comma(delimiter string) rune {
	if delimiter == "tab" {
		return '\t'
	}
	return rune(delimiter[0])
}

// delimited is a file of separated cells.
type delimited struct {
	csv     *csv.Reader
	decoded bool // from another encoding: U+FFFD replaces invalid bytes
}

// openDelimited opens a file of separated cells; known reports whether the import can use a column's name.
func openDelimited(f *File, r Reading, known func(string) bool, found *Found) (source, error) {
	text, encoding, err := f.text(r.Encoding)
	if err != nil {
		return nil, fmt.Errorf("read the file: %w", err)
	}
	in := bufio.NewReaderSize(text, sampled)
	head, err := in.Peek(sampled)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read the file: %w", err)
	}
	sample, said := separatorLine(string(head))
	found.Format, found.Encoding, found.Delimiter = "csv", encoding, r.Delimiter
	switch {
	case r.Delimiter != "":
	case said != "":
		found.Delimiter = said
	default:
		found.Delimiter = likeliest(sample, known)
	}
	d := &delimited{csv: newCSV(in, found.Delimiter), decoded: encoding != utf8Name}
	if said != "" {
		if _, err := d.csv.Read(); err != nil { // the line that names the separator
			return nil, fmt.Errorf("read the file: %w", err)
		}
	}
	return d, nil
}

func newCSV(in io.Reader, delimiter string) *csv.Reader {
	c := csv.NewReader(in)
	c.Comma = comma(delimiter)
	c.FieldsPerRecord = -1 // rows of another width are refused one by one
	c.ReuseRecord = true
	return c
}

// separatorLine removes the line "sep=;" that spreadsheets read, and returns its value.
func separatorLine(sample string) (rest, delimiter string) {
	line, rest, _ := strings.Cut(sample, "\n")
	line = strings.TrimSuffix(line, "\r")
	if says, is := strings.CutPrefix(line, "sep="); is {
		if says == "\t" {
			return rest, "tab"
		}
		if slices.Contains(Delimiters, says) {
			return rest, says
		}
	}
	return sample, ""
}

// likeliest is the delimiter that gives the most known names in the header; among those the one with the most columns
// that the following rows share.
func likeliest(sample string, known func(string) bool) string {
	best, bestNames, bestCells := ",", -1, 0
	for _, d := range Delimiters {
		names, cells := tried(sample, d, known)
		if names > bestNames || names == bestNames && cells > bestCells {
			best, bestNames, bestCells = d, names, cells
		}
	}
	return best
}

// tried reads the sample's beginning with the delimiter. It returns the most names in one of its rows, and how many
// columns that row and most rows below it have.
func tried(sample, delimiter string, known func(string) bool) (names, columns int) {
	const rows = 30
	c := newCSV(strings.NewReader(sample), delimiter)
	var widths []int
	at := 0
	for len(widths) < rows {
		cells, err := c.Read()
		if err != nil {
			break
		}
		n := 0
		for _, cell := range cells {
			if known(strings.TrimSpace(cell)) {
				n++
			}
		}
		if n > names {
			names, at = n, len(widths)
		}
		widths = append(widths, len(cells))
	}
	if len(widths) == 0 {
		return -1, 0
	}
	columns = widths[at]
	same := 0
	for _, w := range widths[at:] {
		if w == columns {
			same++
		}
	}
	if 2*same < len(widths[at:]) {
		columns = 1
	}
	return names, columns
}

func (d *delimited) next() (record, bool, error) {
	cells, err := d.csv.Read()
	for err == nil && len(cells) > 1 && blank(cells) { // a spreadsheet's line of an emptied row
		cells, err = d.csv.Read()
	}
	var parse *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return record{}, false, nil
	case errors.As(err, &parse):
		return record{line: parse.StartLine, refusal: fault.Invalidf("%s", broken(parse))}, true, nil
	case err != nil:
		return record{}, false, fmt.Errorf("read the file: %w", err)
	}
	line, _ := d.csv.FieldPos(0)
	for i, cell := range cells {
		if d.decoded && strings.ContainsRune(cell, utf8.RuneError) {
			cells[i] = strings.ReplaceAll(cell, string(utf8.RuneError), "\xff") // refuses the cell
		}
	}
	return record{line: line, cells: cells}, true, nil
}

// blank reports whether all cells are empty.
func blank(cells []string) bool {
	return !slices.ContainsFunc(cells, func(cell string) bool { return strings.TrimSpace(cell) != "" })
}

// broken explains the wrong quotes of a record, and which lines are lost with it.
func broken(e *csv.ParseError) string {
	if errors.Is(e.Err, csv.ErrBareQuote) {
		return fmt.Sprintf("a quote is inside a cell without quotes (character %d): put the cell in quotes and double the "+
			"quote", e.Column)
	}
	if e.Line > e.StartLine {
		return fmt.Sprintf("a quoted cell begins here and has no closing quote; lines %d to %d were skipped", e.StartLine,
			e.Line)
	}
	return "a quoted cell has no closing quote: double each quote inside it, and end it before a comma or the line's end"
}

func joined(names []string) string { return strings.Join(names, ", ") }
