package table

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// shop are the shop's settings that affect how cells are read.
type shop struct {
	zone     *time.Location
	currency exact.Currency
	mail     bool // it is set up
}

// row is one row of a file with its cells in the tables' format, in the order of the layout's targets, valid until the
// next row is read. A refused one has none.
type row struct {
	line    int
	cells   []string
	refusal *fault.Error
}

// reader reads a file row by row in a table's format.
type reader struct {
	src       source
	found     Found
	layout    *layout
	convert   converter
	translate *translation // of another program's file; nil: the layout suffices
	returns   *returns     // nil: quantities stay unchanged
	scratch   []string
	whole     bool // rows may be shorter than the header, like a spreadsheet's
	mapped    bool // the columns are another program's
	total     int  // the last line, which is a total and no row

	tags map[string]tagged // assets of another program's file, by their tags
}

// tagged is where an asset's tag stood, and with which serial number.
type tagged struct {
	line   int
	serial string
}

// tagTwice refuses a tag of another program's file that stood with another serial number before: there a tag is a
// name, and two machines may have the same.
func (r *reader) tagTwice(line int, cells []string) *fault.Error {
	column := func(name string) int {
		return slices.IndexFunc(r.layout.targets, func(t target) bool { return t.arg.Name == name })
	}
	tag, serial := column("asset_tag"), column("serial_number")
	if tag < 0 || serial < 0 || cells[tag] == "" || cells[serial] == "" || r.convert.survey != nil {
		return nil
	}
	if at := r.layout.targets[tag].at; r.translate == nil && (at < 0 || r.found.Columns[at] == "asset_tag") {
		return nil
	}
	before, known := r.tags[cells[tag]]
	switch {
	case known && before.serial != cells[serial]:
		return fault.Fieldf("asset_tag",
			"asset_tag: %s is on line %d too, with the serial number %s; give each asset a tag of its own",
			schema.Quote(cells[tag]), before.line, before.serial)
	case r.tags == nil:
		r.tags = map[string]tagged{}
	}
	r.tags[cells[tag]] = tagged{line, cells[serial]}
	return nil
}

// open opens the file for the table. It reads it once before, to detect the formats of its cells; what that leaves open
// is refused, naming the missing option. A header that does not fit refuses the file.
func (f *File) open(t schema.Table, r Reading, in shop) (*reader, error) {
	first, err := f.begin(t, r, in)
	if err != nil {
		return nil, err
	}
	s := &survey{days: map[string]*dayVotes{}, unnamed: first.layout.unnamed}
	s.own = len(r.Map) == 0 && first.translate == nil && first.found.Delimiter == ","
	first.convert.survey = s
	for more := true; more; {
		if _, more, err = first.next(); err != nil {
			return nil, err
		}
	}
	if s.filled > 0 {
		return nil, fault.Invalidf("column %d has no name; %s", s.filled, listed(t, t.Columns()))
	}
	out, err := f.begin(t, r, in)
	if err == nil {
		out.total, err = s.total, s.settle(&out.convert, r)
		out.found.tell(&out.convert)
	}
	return out, err
}

// begin opens the file at the row below its header.
func (f *File) begin(t schema.Table, r Reading, in shop) (*reader, error) {
	out := &reader{convert: converter{Reading: r, formats: map[string]*dateFormat{}, zone: in.zone, currency: in.currency}}
	if r.DateFormat != "" {
		dates, err := parseDateFormat(r.DateFormat)
		if err != nil {
			return nil, err
		}
		out.convert.dates = dates
	}
	if err := out.start(f, t, r, wanted(t, r)); err != nil {
		return nil, err
	}
	header := out.found.Columns
	out.mapped = len(r.Map) > 0
	var err error
	if p := programOf(t, r, header); p != nil {
		out.mapped, out.found.Program = true, p.name
		out.translate, out.layout, err = p.begin(t, r, header, &out.convert)
		return out, err
	}
	out.layout, err = layOut(t, r, header)
	return out, err
}

// next reads the next row that gives a row of ours; more is false at the end.
func (r *reader) next() (row, bool, error) {
	for {
		rec, more, err := r.src.next()
		if err != nil || !more {
			return row{}, false, err
		}
		if r.convert.survey != nil {
			r.convert.survey.line(rec, len(r.found.Columns), r.mapped)
		}
		if rec.line == r.total {
			continue
		}
		out := row{line: rec.line, refusal: rec.refusal}
		if out.refusal == nil {
			out.refusal = r.width(&rec)
		}
		if out.refusal == nil && r.translate != nil {
			var skip bool
			if rec, skip, out.refusal = r.translate.row(rec); skip {
				continue
			}
		}
		if out.refusal == nil {
			out.cells, out.refusal = r.convert.row(r.layout, rec, r.scratch)
			r.scratch = out.cells
		}
		if out.refusal == nil {
			out.refusal = r.tagTwice(out.line, out.cells)
		}
		if out.refusal == nil && r.returns != nil && r.returns.takes(&out) {
			continue
		}
		return out, true, nil
	}
}

// width refuses a row with another number of cells than the header; empty ones at its end do not count.
func (r *reader) width(rec *record) *fault.Error {
	width := len(r.found.Columns)
	if len(rec.cells) > width && blank(rec.cells[width:]) {
		rec.cells = rec.cells[:width]
	}
	if len(rec.cells) == width || r.whole && len(rec.cells) < width {
		return nil
	}
	return fault.Invalidf("it has %d cells, and the header has %d", len(rec.cells), width)
}

// byName returns a row's cells by our columns, for Table.Decode. It is a new map each time, which a row's Put may keep.
func (r *reader) byName(cells []string) map[string]string {
	named := make(map[string]string, len(cells))
	for i, cell := range cells {
		named[r.layout.targets[i].arg.Name] = cell
	}
	return named
}

// inOrder returns a row's cells in the order of the table's columns, for Table.Load.
func (r *reader) inOrder(cells []string) []string {
	ordered := make([]string, len(r.layout.order))
	for i, at := range r.layout.order {
		if at >= 0 {
			ordered[i] = cells[at]
		}
	}
	return ordered
}

// columns are our columns of the file's rows.
func (r *reader) columns() []string {
	return schema.Map(r.layout.targets, func(t target) string { return t.arg.Name })
}

// Template writes an empty file of the table: its header.
func Template(t schema.Table, w io.Writer) error {
	names := make([]string, 0, 16)
	for _, c := range t.Columns() {
		name := c.Name
		if t.Sheet && stem(name) != "" {
			name = stem(name)
		}
		names = append(names, name)
	}
	_, err := fmt.Fprintln(w, strings.Join(names, ","))
	return err
}
