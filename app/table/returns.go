package table

import (
	"fmt"
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/exact"
)

// netted reports whether returns are subtracted in the table: one of days, SKUs and quantities.
func netted(t schema.Table) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(t.Columns(), func(a schema.Arg) bool { return a.Name == name })
	}
	return has("date") && has("sku") && has("qty")
}

// returns subtracts the negative quantities of a file from the others of their day, SKU and channel, never below 0.
type returns struct {
	qty, date, sku, channel int // indexes of a row's cells; -1: missing
	owed                    map[[3]string]exact.Milli
	rows                    int
}

// collect reads the whole file for its returns.
func collect(from *reader) (*returns, error) {
	columns := from.columns()
	back := &returns{
		qty: slices.Index(columns, "qty"), date: slices.Index(columns, "date"), sku: slices.Index(columns, "sku"),
		channel: slices.Index(columns, "channel"), owed: map[[3]string]exact.Milli{},
	}
	for {
		row, more, err := from.next()
		if err != nil || !more {
			return back, err
		}
		if row.refusal != nil {
			continue
		}
		if n, ok := back.negative(row.cells); ok {
			back.owed[back.key(row.cells)] += n
			back.rows++
		}
	}
}

func (b *returns) key(cells []string) [3]string {
	k := [3]string{strings.TrimSpace(cells[b.date]), strings.TrimSpace(cells[b.sku]), ""}
	if b.channel >= 0 {
		k[2] = strings.TrimSpace(cells[b.channel])
	}
	return k
}

// negative returns the quantity of a return.
func (b *returns) negative(cells []string) (exact.Milli, bool) {
	rest, is := strings.CutPrefix(strings.TrimSpace(cells[b.qty]), "-")
	if !is {
		return 0, false
	}
	n, err := exact.ParseMilli(rest)
	return n, err == nil && n > 0
}

// takes nets a row: a return is dropped, another one loses what was returned.
func (b *returns) takes(r *row) (drop bool) {
	if _, is := b.negative(r.cells); is {
		return true
	}
	k := b.key(r.cells)
	owed := b.owed[k]
	n, err := exact.ParseMilli(strings.TrimSpace(r.cells[b.qty]))
	if owed == 0 || err != nil || n < 0 {
		return false
	}
	off := min(owed, n)
	b.owed[k] = owed - off
	r.cells[b.qty] = (n - off).String()
	return false
}

// told lists what was netted, and returns without a sale.
func (b *returns) told() []string {
	if b.rows == 0 {
		return nil
	}
	notes := []string{exact.Plural(b.rows, "row of returns was", "rows of returns were") +
		" subtracted from the sales of their SKU and day"}
	var left [][3]string
	for k, n := range b.owed {
		if n > 0 {
			left = append(left, k)
		}
	}
	slices.SortFunc(left, func(a, b [3]string) int {
		return strings.Compare(strings.Join(a[:], "\x00"), strings.Join(b[:], "\x00"))
	})
	for i, k := range left {
		if i == 10 && len(left) > 11 {
			notes = append(notes, fmt.Sprintf("... and %d more days with more returns than sales", len(left)-i))
			break
		}
		notes = append(notes, fmt.Sprintf("%s more of %s were returned on %s than sold in the file: the day counts 0",
			b.owed[k], schema.Quote(k[1]), k[0]))
	}
	return notes
}
