package table

import (
	"slices"
	"strings"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// signs are columns that give the sign of the amount beside them.
var signs = []string{"s/h", "soll/haben", "soll haben kennzeichen", "af bij", "debit/credit", "credit/debit", "dr/cr",
	"cr/dr", "+/"}

// Sheet reads a whole file for a table that stores nothing: each row by the table's columns, dates as YYYY-MM-DD and
// amounts in the smallest unit of the currency, with its line. The first refused row refuses the file.
func Sheet(content []byte, t schema.Table, r Reading, currency exact.Currency) (
	rows []map[string]string, lines []int, err error) {
	rows, lines, err = readSheet(content, t, r, currency)
	if e, ok := fault.As(err); ok && t.Sheet && len(e.Fields) > 0 && e.Fields[0].Field == "map" {
		err = withColumns(e, content, t, r)
	}
	return rows, lines, err
}

// Remembered is how the last file with this header was read, or r if there was none.
func Remembered(c *db.Conn, service string, content []byte, t schema.Table, r Reading) (Reading, error) {
	how, found, err := suggested(c, service, t.Name, header(content, t, r))
	if err != nil || !found {
		return r, err
	}
	return how, nil
}

// RememberSheet stores how a file was read, for the next one with its header.
func RememberSheet(tx *db.Tx, service string, content []byte, t schema.Table, r Reading) error {
	return remember(tx, service, t.Name, header(content, t, r), r)
}

// header are the names of the file's columns; nil if there are none.
func header(content []byte, t schema.Table, r Reading) []string {
	r.Map = nil
	in, _ := InMemory(content).begin(t, r, shop{zone: time.UTC})
	if in == nil {
		return nil
	}
	return in.found.Columns
}

// gives reports whether a column of the file means ours.
func (r *reader) gives(column string) bool {
	return slices.ContainsFunc(r.layout.targets, func(t target) bool { return t.arg.Name == column })
}

// AskColumns is a refusal that asks for what each column means.
func AskColumns(content []byte, t schema.Table, r Reading) error {
	return withColumns(fault.Fieldf("map", "map: say what each column of the file means"), content, t, r)
}

// withColumns adds the file's columns to a refusal of their meanings: each with the one given, or the probable one.
func withColumns(e *fault.Error, content []byte, t schema.Table, r Reading) error {
	columns := header(content, t, r)
	if columns == nil {
		return e
	}
	look := Look{Found: Found{Columns: columns}, Targets: Targets(t)}
	for i, means := range meanings(t, r, look) {
		if name := look.Columns[i]; name != "" {
			e.Fields[0].Columns = append(e.Fields[0].Columns,
				fault.Column{Name: name, Means: strings.TrimSuffix(means, "_cents")})
		}
	}
	return e
}

func readSheet(content []byte, t schema.Table, r Reading, currency exact.Currency) (
	rows []map[string]string, lines []int, err error) {
	if err := checkMapping(t, r); err != nil {
		return nil, nil, err
	}
	f, s := InMemory(content), shop{zone: time.UTC, currency: currency}
	in, err := f.open(t, r, s)
	if err != nil && len(r.Map) == 0 {
		if first, _ := f.begin(t, r, s); first != nil && len(first.found.Columns) > 0 {
			if t.Sheet {
				return nil, nil, fault.Fieldf("map", "map: say what the file's columns mean; it needs a day, and an amount or "+
					"money in and out")
			}
			return nil, nil, fault.Fieldf("map", "map: say what the file's columns mean, as \"Date=day\" and "+
				"\"Amount=amount\"; they are %s", joined(first.found.Columns))
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if t.Sheet && !in.gives("amount_cents") && !in.gives("in_cents") && !in.gives("out_cents") {
		return nil, nil, fault.Fieldf("map", "map: say what the file's columns mean; it needs a day, and an amount or "+
			"money in and out")
	}
	for _, name := range in.found.Columns {
		if len(r.Map) == 0 && slices.Contains(signs, plainName(name)) {
			return nil, nil, fault.Fieldf("map", "map: the column %s says whether money came in or went out, which is not "+
				"read; ask the bank for CAMT or MT940, or for a column of amounts with their sign", schema.Quote(name))
		}
	}
	for {
		row, more, err := in.next()
		switch {
		case err != nil || !more:
			return rows, lines, err
		case row.refusal != nil:
			return nil, nil, fault.Fieldf("file", "file: line %d: %s", row.line, row.refusal.Detail)
		}
		rows, lines = append(rows, in.byName(row.cells)), append(lines, row.line)
	}
}
