package screen

import (
	"encoding/csv"
	"errors"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"quartermaster/app/table"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/page"
)

// number is a cell that no spreadsheet reads as a formula, although it may begin with a minus.
var number = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?$`)

// sendCSV answers with a list as a file. A text that a spreadsheet would run as a formula is escaped as in exports, and
// times have the shop's offset.
func (x *exchange) sendCSV(sheet page.Sheet) error {
	sheet, exported, err := x.asExport(sheet)
	if err != nil {
		return err
	}
	if !exported {
		inUnits(&sheet, x.shop.currency)
	}
	if at := slices.Index(sheet.Columns, "email"); at >= 0 { // forgotten people are omitted from lists of addresses
		sheet.Rows = slices.DeleteFunc(sheet.Rows, func(row []string) bool { return strings.HasSuffix(row[at], "@invalid") })
	}
	name := sheet.Name + ".csv"
	return x.stream(name, "text/csv; charset=utf-8", func(to io.Writer) error {
		w := csv.NewWriter(to)
		_ = w.Write(sheet.Columns)
		for _, row := range sheet.Rows {
			for i, cell := range row {
				if !number.MatchString(cell) {
					row[i] = table.Safe(exact.Local(cell, x.s.DB.Zone()))
				}
			}
			_ = w.Write(row)
		}
		w.Flush()
		return w.Error()
	})
}

// shownFile answers POST /shown: a one-time secret, which the page sends back, as a file to download.
func shownFile(x *exchange) error {
	in, err := x.receive(mostForm)
	if err != nil {
		return err
	}
	if done, err := x.admit(); done || err != nil {
		return err
	}
	if err := x.needs(page.Member, "the file"); err != nil {
		return err
	}
	sheet := page.Sheet{Name: fileName(in.fields.Get("name")), Columns: strings.Split(in.fields.Get("columns"), "\t")}
	for line := range strings.Lines(in.fields.Get("rows")) {
		sheet.Rows = append(sheet.Rows, strings.Split(strings.TrimSpace(line), "\t"))
	}
	x.w.Header().Set("Cache-Control", "no-store")
	return x.sendCSV(sheet)
}

// fileName reduces a name to characters that every system allows in a file name.
func fileName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '-'
	}, name)
}

// inUnits writes the cents of a list that has no export as amounts. A list in one currency has it in the header:
// "balance_cents" is "balance_EUR".
func inUnits(sheet *page.Sheet, shop string) {
	own := slices.Index(sheet.Columns, "currency")
	sheet.Columns = slices.Clone(sheet.Columns)
	for i, column := range sheet.Columns {
		name, cents := strings.CutSuffix(column, "_cents")
		if !cents {
			continue
		}
		if sheet.Columns[i] = name; own < 0 {
			sheet.Columns[i] += "_" + shop
		}
		for _, row := range sheet.Rows {
			currency := shop
			if own >= 0 {
				currency = row[own]
			}
			if n, err := strconv.ParseInt(row[i], 10, 64); err == nil {
				row[i] = exact.CurrencyOf(currency).Plain(n)
			}
		}
	}
}

// asExport gives a list of a table's records the columns of the table's export, so that it imports again: the records
// are found by the list's identifying columns.
func (x *exchange) asExport(sheet page.Sheet) (out page.Sheet, exported bool, err error) {
	t, ok := x.s.Service.Export(sheet.Name)
	if !ok || t.Secret {
		return sheet, false, nil
	}
	var names []string
	var theirs, ours []int // indexes of the identifying columns
	for i, c := range t.Columns() {
		names = append(names, c.Name)
		if c.Required || c.Name == "id" {
			theirs, ours = append(theirs, slices.Index(sheet.Columns, c.Name)), append(ours, i)
		}
	}
	if slices.Equal(names, sheet.Columns) || len(ours) == 0 || slices.Contains(theirs, -1) {
		return sheet, slices.Equal(names, sheet.Columns), nil
	}
	key := func(cells []string, at []int) string {
		var b strings.Builder
		for _, i := range at {
			b.WriteString(cells[i] + "\x00")
		}
		return b.String()
	}
	records := make(map[string][][]string, len(sheet.Rows))
	for _, row := range sheet.Rows {
		records[key(row, theirs)] = nil
	}
	err = x.s.DB.View(x.r.Context(), func(c *db.Conn) error {
		if t.Written != nil {
			written, err := t.Written(c)
			if err != nil {
				return err
			}
			names = names[:written]
		}
		return t.Export(c, func(cells ...string) error {
			k := key(cells, ours)
			if _, wanted := records[k]; wanted {
				records[k] = append(records[k], slices.Clone(cells[:len(names)]))
			}
			return nil
		})
	})
	out = page.Sheet{Name: sheet.Name, Columns: names}
	for _, row := range sheet.Rows {
		k := key(row, theirs)
		out.Rows = append(out.Rows, records[k]...)
		delete(records, k)
	}
	return out, true, err
}

// stream answers with a download, which is written to its end before the client reads: a slow client holds neither a
// snapshot of the database nor the file in memory.
func (x *exchange) stream(name, kind string, write func(io.Writer) error) (err error) {
	var s table.Spool
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := write(&s); err != nil {
		return err
	}
	h := x.w.Header()
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("Content-Length", strconv.FormatInt(s.Size, 10))
	x.w.WriteHeader(http.StatusOK)
	if x.r.Method != http.MethodHead {
		_ = s.CopyTo(x.w) // a client that went away is no error of ours
	}
	return nil
}

// sendFile answers with a page's value that is not HTML: a download if it has a name.
func (x *exchange) sendFile(f page.File) error {
	if f.Write != nil {
		return x.stream(f.Name, f.Kind, f.Write)
	}
	h := x.w.Header()
	h.Set("Content-Type", f.Kind)
	if f.Name != "" {
		h.Set("Content-Disposition", `attachment; filename="`+f.Name+`"`)
	}
	h.Set("Content-Length", strconv.Itoa(len(f.Body)))
	x.w.WriteHeader(http.StatusOK)
	if x.r.Method != http.MethodHead {
		_, _ = x.w.Write(f.Body)
	}
	return nil
}
