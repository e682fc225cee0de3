package screen

import (
	"net/http"
	"strconv"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/page"
	"quartermaster/schema/strict"
	"quartermaster/schema/wire"
)

// answerOf answers GET /do/:name of an operation that only reads: its answer as a table, and the form to repeat it.
func (x *exchange) answerOf(op schema.Op, in *sent) error {
	i := x.inputOf(in.fields, true)
	v := doView{op: op, given: in.fields}
	status := http.StatusOK
	var rows strict.Value
	handle, err := op.Decode(i)
	if err == nil {
		var answer any
		if answer, err = handle(x.r.Context(), x.who()); err == nil {
			if l, is := answer.(schema.Lister); is && in.format == "csv" {
				answer = l.AsList()
			}
			rows, err = valueOf(answer)
		}
	}
	if err != nil && len(in.fields) > 0 {
		v.refusal = x.faultOf(err)
		status = wire.Status(v.refusal.Kind)
	}
	if err != nil && x.faultOf(err).Kind == 0 {
		return err
	}
	f := x.frame()
	f.Filters = op.Args(schema.Page)
	if err == nil && in.format == "csv" {
		return x.sendCSV(sheetOf(op.Name, rows))
	}
	return x.show(status, op.PageTitle(), false, f, answerPage(&v, rows, err == nil))
}

// valueOf is an answer as ordered JSON.
func valueOf(answer any) (strict.Value, error) {
	b, err := strict.Marshal(answer)
	if err != nil {
		return strict.Value{}, err
	}
	return strict.Parse(b, 32)
}

// sheetOf is the first list of an answer as a file; an answer without a list is one row.
func sheetOf(name string, v strict.Value) page.Sheet {
	sheet := page.Sheet{Name: name}
	list := v
	for _, x := range v.Fields {
		if x.Kind() == strict.Array {
			list = x
			break
		}
	}
	rows := []strict.Value{list}
	if list.Kind() == strict.Array {
		rows = nil
		for _, x := range list.Items {
			rows = append(rows, x)
		}
	}
	for _, row := range rows {
		var cells []string
		if row.Kind() != strict.Object {
			sheet.Columns, cells = []string{name}, []string{plain(row)}
		} else {
			var columns []string
			for field, x := range row.Fields {
				columns, cells = append(columns, string(field)), append(cells, plain(x))
			}
			sheet.Columns = columns
		}
		sheet.Rows = append(sheet.Rows, cells)
	}
	return sheet
}

func plain(v strict.Value) string {
	switch v.Kind() {
	case strict.String:
		return v.Text()
	case strict.Null:
		return ""
	}
	return string(v.Raw())
}

// isDayText reports whether a text is a date or an instant, which belong in a time element.
func isDayText(s string) bool {
	return len(s) >= 10 && s[4] == '-' && s[7] == '-' && (len(s) == 10 || len(s) == 20 && s[10] == 'T' && s[19] == 'Z') &&
		strings.IndexFunc(s[:4], func(r rune) bool { return r < '0' || r > '9' }) < 0
}

// columnsOf are the names of the fields of a list's rows.
func columnsOf(list strict.Value) []string {
	for _, row := range list.Items {
		var names []string
		for name := range row.Fields {
			names = append(names, string(name))
		}
		return names
	}
	return nil
}

func cell(row strict.Value, name string) strict.Value {
	v, _ := row.Get(name)
	return v
}

// rowID identifies a row.
func rowID(row strict.Value) string {
	for _, name := range []string{"id", "sku", "order_ref", "number", "batch", "name"} {
		if v, ok := row.Get(name); ok {
			return plain(v)
		}
	}
	return ""
}

// showOnce answers with a one-time secret: never cached, never in a page that GET returns.
func (x *exchange) showOnce(op schema.Op, in *sent, answer any) error {
	v, err := valueOf(answer)
	if err != nil {
		return err
	}
	x.w.Header().Set("Cache-Control", "no-store")
	if in.format == "csv" {
		return x.sendCSV(sheetOf(op.Name, v))
	}
	f := x.frame()
	for _, once := range x.s.Once {
		if once.Op != op.Name {
			continue
		}
		if body := once.Draw(answer); body != nil {
			return x.show(http.StatusOK, op.PageTitle(), true, f, body)
		}
	}
	body := oncePage(didText(op, answer, x.shop), v, x.leads(op, in, answer))
	return x.show(http.StatusOK, op.PageTitle(), true, f, body)
}

// centsOf reports a whole number of cents, by its field's name.
func centsOf(name string, v strict.Value) (int64, bool) {
	if !strings.HasSuffix(name, "_cents") {
		return 0, false
	}
	n, err := strconv.ParseInt(string(v.Raw()), 10, 64)
	return n, err == nil
}
