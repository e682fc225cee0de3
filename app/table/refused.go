package table

import (
	"encoding/csv"
	"io"
	"slices"

	"quartermaster/schema"
)

// WriteRefused writes the refused rows of the file unchanged, with a last column of reasons: corrected, the file
// imports with the same options. A cell that a spreadsheet would run as a formula gets a leading ', as in exports. It
// is UTF-8 with a byte order mark, with the file's delimiter, or commas for a workbook. A row whose cells cannot be
// separated is omitted; left is the number of those.
func WriteRefused(t schema.Table, f *File, r Reading, refused []schema.Refused, w io.Writer) (left int, err error) {
	from, err := f.begin(t, r, shop{})
	if err != nil {
		return 0, err
	}
	reasons := make(map[int]string, len(refused))
	for _, e := range refused {
		if _, told := reasons[e.Line]; !told {
			reasons[e.Line] = e.Reason
		}
	}
	if _, err := w.Write(utf8Mark); err != nil {
		return 0, err
	}
	out := csv.NewWriter(w)
	if from.found.Delimiter != "" {
		out.Comma = comma(from.found.Delimiter)
	}
	header, width := from.found.Columns, len(from.found.Columns)
	if width > 0 && header[width-1] == reasonColumn {
		width--
	}
	if err := out.Write(append(slices.Clone(header[:width]), reasonColumn)); err != nil {
		return 0, err
	}
	for {
		rec, more, err := from.src.next()
		if err != nil {
			return 0, err
		}
		if !more {
			break
		}
		reason, is := reasons[rec.line]
		if !is {
			continue
		}
		if rec.refusal != nil {
			left++
			continue
		}
		cells := slices.Clone(rec.cells)
		for i, cell := range cells {
			cells[i] = guarded(cell)
		}
		for len(cells) < width {
			cells = append(cells, "")
		}
		if err := out.Write(append(cells[:width:width], reason)); err != nil {
			return 0, err
		}
	}
	out.Flush()
	return left, out.Error()
}
