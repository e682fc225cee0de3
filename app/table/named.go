package table

import (
	"strings"

	"quartermaster/schema"
)

// NamesOf are the first two filled cells of lines of the file, by line: by them people know the rows. Rows that give
// access have none.
func NamesOf(t schema.Table, f *File, r Reading, lines []int) (map[int]string, error) {
	names := make(map[int]string, len(lines))
	if t.Secret || len(lines) == 0 {
		return names, nil
	}
	from, err := f.begin(t, r, shop{})
	if err != nil {
		return nil, err
	}
	wanted := make(map[int]bool, len(lines))
	for _, line := range lines {
		wanted[line] = true
	}
	for len(names) < len(wanted) {
		rec, more, err := from.src.next()
		if err != nil || !more {
			return names, err
		}
		if wanted[rec.line] {
			names[rec.line] = firstCells(rec.cells, 2)
		}
	}
	return names, nil
}

func firstCells(cells []string, most int) string {
	var filled []string
	for _, cell := range cells {
		if cell = strings.TrimSpace(cell); cell != "" && len(filled) < most {
			filled = append(filled, cell)
		}
	}
	return strings.Join(filled, ", ")
}
