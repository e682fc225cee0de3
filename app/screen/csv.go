package screen

import (
	"bytes"
	"encoding/csv"
	"net/http"
	"regexp"
	"strconv"

	"quartermaster/app/table"
	"quartermaster/schema/page"
)

// number is a cell that no spreadsheet takes for a formula, although it may begin with a
// minus.
var number = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// sendCSV answers with a list as a file. A text that a spreadsheet would run as a formula
// is written as exports write it.
func (x *exchange) sendCSV(sheet page.Sheet) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(sheet.Columns)
	for _, row := range sheet.Rows {
		for i, cell := range row {
			if !number.MatchString(cell) {
				row[i] = table.Safe(cell)
			}
		}
		_ = w.Write(row)
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	return x.sendFile(sheet.Name+".csv", "text/csv; charset=utf-8", b.Bytes())
}

// sendFile answers with a file to keep.
func (x *exchange) sendFile(name, kind string, body []byte) error {
	h := x.w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w := &counted{x}
	w.WriteHeader(http.StatusOK)
	if x.r.Method != http.MethodHead {
		_, _ = w.Write(body)
	}
	return nil
}

// sendRaw answers with a page's value that is no page.
func (x *exchange) sendRaw(f page.File) error {
	if f.Name != "" {
		return x.sendFile(f.Name, f.Kind, f.Body)
	}
	h := x.w.Header()
	h.Set("Content-Type", f.Kind)
	h.Set("Content-Length", strconv.Itoa(len(f.Body)))
	w := &counted{x}
	w.WriteHeader(http.StatusOK)
	if x.r.Method != http.MethodHead {
		_, _ = w.Write(f.Body)
	}
	return nil
}
