package screen

import (
	"bytes"
	"encoding/csv"
	"net/http"
	"strconv"

	"quartermaster/schema/page"
)

// sendCSV answers with a list as a file.
func (x *exchange) sendCSV(sheet page.Sheet) error {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(sheet.Columns)
	_ = w.WriteAll(sheet.Rows)
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
