package table

import (
	"context"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Sheet reads a whole file for a table that stores nothing: each row by the table's columns, dates as YYYY-MM-DD and
// amounts in the smallest unit of the currency, with its line. The first refused row refuses the file.
func Sheet(ctx context.Context, content []byte, t schema.Table, r Reading, currency exact.Currency) (
	rows []map[string]string, lines []int, err error) {
	if err := checkMapping(t, r); err != nil {
		return nil, nil, err
	}
	f, s := InMemory(content), shop{zone: time.UTC, currency: currency}
	in, err := f.open(t, r, s)
	if err != nil && len(r.Map) == 0 {
		if first, _ := f.begin(t, r, s); first != nil && len(first.found.Columns) > 0 {
			return nil, nil, fault.Fieldf("map", "map: say what the file's columns mean, as \"Date=day\" and "+
				"\"Amount=amount\"; they are %s", joined(first.found.Columns))
		}
	}
	if err != nil {
		return nil, nil, err
	}
	for {
		row, more, err := in.next()
		switch {
		case err != nil || !more:
			return rows, lines, err
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case row.refusal != nil:
			return nil, nil, fault.Fieldf("file", "file: line %d: %s", row.line, row.refusal.Detail)
		}
		rows, lines = append(rows, in.byName(row.cells)), append(lines, row.line)
	}
}
