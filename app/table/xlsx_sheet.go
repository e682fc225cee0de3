package table

import (
	"encoding/xml"
	"math"
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema/fault"
)

// sheet reads one sheet row by row.
type sheet struct {
	book  *workbook
	xml   *xml.Decoder
	line  int
	rows  int
	cells []string
	kinds []kind
	ended bool
}

func (s *sheet) next() (record, bool, error) {
	for !s.ended {
		t, err := s.xml.Token()
		if err != nil {
			return record{}, false, damaged("the sheet ends early: %s", unexpected(err))
		}
		switch e := t.(type) {
		case xml.StartElement:
			if e.Name.Local == "row" {
				if s.rows++; s.rows > maxRows {
					return record{}, false, fault.Invalidf("the sheet has more than %d rows; save the table as CSV", maxRows)
				}
				if s.rows%1000 == 0 {
					if err := s.book.inTime(); err != nil {
						return record{}, false, err
					}
				}
				r, filled, err := s.row(e)
				if err != nil || filled {
					return r, filled, err
				}
			}
		case xml.EndElement:
			s.ended = e.Name.Local == "sheetData"
		}
	}
	return record{}, false, nil
}

// row reads a row; filled is false if all its cells are empty.
func (s *sheet) row(start xml.StartElement) (r record, filled bool, err error) {
	s.line++
	if n, err := strconv.Atoi(attr(start, "r")); err == nil && n > s.line { // line numbers rise, whatever the file says
		s.line = n
	}
	s.cells, s.kinds = s.cells[:0], s.kinds[:0]
	r.line = s.line
	size := 0
	for {
		t, err := s.xml.Token()
		if err != nil {
			return r, false, damaged("the sheet ends early: %s", unexpected(err))
		}
		switch e := t.(type) {
		case xml.StartElement:
			if e.Name.Local != "c" {
				continue
			}
			at, err := s.place(e)
			if err != nil {
				return r, false, err
			}
			if size += len(s.cells[at]); size > maxPart {
				return r, false, damaged("row %d is longer than 8 MiB", s.line)
			}
		case xml.EndElement:
			if e.Name.Local != "row" {
				continue
			}
			for len(s.cells) > 0 && s.cells[len(s.cells)-1] == "" {
				s.cells = s.cells[:len(s.cells)-1]
			}
			r.cells, r.kinds = s.cells, s.kinds[:len(s.cells)]
			return r, len(s.cells) > 0, nil
		}
	}
}

// place reads a cell into its column.
func (s *sheet) place(e xml.StartElement) (at int, err error) {
	at, ok := column(attr(e, "r"), len(s.cells))
	if !ok {
		return 0, damaged("row %d has a cell without a column", s.line)
	}
	for len(s.cells) <= at {
		s.cells, s.kinds = append(s.cells, ""), append(s.kinds, isText)
	}
	return at, s.cell(e, at)
}

func attr(e xml.StartElement, name string) string {
	i := slices.IndexFunc(e.Attr, func(a xml.Attr) bool { return a.Name.Local == name })
	if i < 0 {
		return ""
	}
	return e.Attr[i].Value
}

// column is the index of a cell by its reference, "AB12"; without one it is the next.
func column(reference string, next int) (int, bool) {
	if reference == "" {
		return next, next < maxColumns
	}
	n := 0
	for i := 0; i < len(reference) && reference[i] >= 'A' && reference[i] <= 'Z' && n <= maxColumns; i++ {
		n = n*26 + int(reference[i]-'A') + 1
	}
	return n - 1, n > 0 && n <= maxColumns
}

// cell reads one cell into its place.
func (s *sheet) cell(start xml.StartElement, at int) error {
	typ, style := attr(start, "t"), attr(start, "s")
	value, err := s.value()
	if err != nil {
		return damaged("the sheet ends early: %s", err)
	}
	switch typ {
	case "inlineStr", "str":
		s.cells[at] = unescape(value)
	case "s":
		i, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil || i < 0 || i >= len(s.book.strings) {
			return damaged("row %d refers to a text that is missing", s.line)
		}
		s.cells[at] = s.book.strings[i]
	case "b":
		s.cells[at] = strings.TrimSpace(value)
	case "d":
		s.cells[at], s.kinds[at] = strings.TrimSpace(value), isDay
	case "e":
		s.cells[at], s.kinds[at] = value, isError
	default:
		n, _ := strconv.Atoi(style)
		s.cells[at], s.kinds[at] = s.book.number(strings.TrimSpace(value), s.book.days[n])
	}
	return nil
}

// value reads a cell to its end: its <v>, or its inline text.
func (s *sheet) value() (string, error) {
	var b strings.Builder
	in := false
	for {
		t, err := s.xml.Token()
		if err != nil {
			return "", unexpected(err)
		}
		switch e := t.(type) {
		case xml.StartElement:
			switch e.Name.Local {
			case "v":
				in = true
			case "is":
				text, err := runs(s.xml, "is")
				if err != nil {
					return "", err
				}
				b.WriteString(text)
			}
		case xml.EndElement:
			switch e.Name.Local {
			case "v":
				in = false
			case "c":
				return b.String(), nil
			}
		case xml.CharData:
			if in {
				b.Write(e)
			}
		}
		if b.Len() > maxPart {
			return "", errLongToken
		}
	}
}

// number writes a number: as a date if its style is one, else as the shortest decimal of the same value.
func (w *workbook) number(text string, day bool) (string, kind) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) {
		return text, isText
	}
	if !day {
		return strconv.FormatFloat(v, 'f', -1, 64), isNumber
	}
	return w.day(v), isDay
}
