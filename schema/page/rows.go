package page

import (
	"context"
	"regexp"
	"strings"

	"github.com/a-h/templ"
)

// Cell is an input in a row of a Bulk form. After a refusal it has what was typed, and why that was refused.
type Cell struct {
	Op, Name, Label, Value string
	Class                  string // beside that of all cells
	Next                   bool   // Enter goes to the next cell
}

// RowKey is the hidden field that names a row of a Bulk form; it precedes the row's cells.
func RowKey(op, name, value string) templ.Component {
	return made(func(f *Frame) string {
		f.rowSent = f.Sent != nil && f.Sent.Op == op && f.Sent.Fields.Get(name) == value
		f.rowsKeyed, f.rowsSent = true, f.rowsSent || f.rowSent
		return `<input type="hidden" form="bulk-` + op + `" name="` + esc(name) + `" value="` + esc(value) + `">`
	})
}

// Input draws the cell.
func (c Cell) Input() templ.Component {
	return made(func(f *Frame) string {
		s := `<input class="` + strings.TrimSpace("qty "+c.Class) + `" size="9" inputmode="decimal" autocomplete="off"`
		if c.Next {
			f.counting = c.Op
			s += ` data-next`
		}
		value, why := c.Value, ""
		if sent := f.Sent; sent != nil && sent.Op == c.Op && (f.rowSent || !f.rowsKeyed) && sent.Fields.Has(c.Name) {
			value, why = sent.Fields.Get(c.Name), withoutRow(sent.Refused[c.Name])
		}
		s += ` form="bulk-` + c.Op + `" name="` + esc(c.Name) + `" aria-label="` + esc(c.Label) + `"`
		if value != "" {
			s += ` value="` + esc(value) + `"`
		}
		if why == "" {
			return s + `>`
		}
		id := strings.ReplaceAll(c.Name, ".", "-") + "-why"
		f.cellsWrong++
		return s + ` aria-invalid="true" autofocus aria-describedby="` + id + `"><p class="why" id="` + id +
			`" role="alert">` + esc(sentence(why)) + `</p>`
	})
}

// rowOf is how a refusal names a field of a row: "Counts.1.Counted".
var rowOf = regexp.MustCompile(`\b[A-Za-z]\w*\.\d+\.`)

func withoutRow(refusal string) string { return rowOf.ReplaceAllString(refusal, "") }

// rowsBack returns the refusal of the Bulk form of this page's rows, "" if it was not refused or its cells say why.
func (f *Frame) rowsBack(op string) string {
	s := f.Sent
	if s == nil || s.Back || s.Op != op || f.rowsKeyed && !f.rowsSent {
		return ""
	}
	if s.Back = true; f.cellsWrong > 0 && f.cellsWrong == len(s.Refused) {
		return ""
	}
	return `<div class="note bad" role="alert"><p>` + esc(sentence(withoutRow(s.Text))) + `</p></div>`
}

// Typed is what a refused form of this operation had in a field, for controls that a page draws itself.
func Typed(ctx context.Context, op, name string) string {
	if s := From(ctx).Sent; s != nil && s.Op == op {
		return s.Fields.Get(name)
	}
	return ""
}
