package server

import (
	"slices"
	"strings"

	"quartermaster/app/table"
	"quartermaster/rental"
	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// ours is a column's name from its label: "Payer name" is payer_name.
func ours(said string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(said)), " ", "_")
}

// bankSheets reads the banks' tables like imports.
func bankSheets(tx *db.Tx, data []byte, t schema.Table, m rental.Mapping, currency exact.Currency) (
	[]map[string]string, []int, error) {
	r := table.Reading{DateFormat: m.DateFormat, Decimal: m.Decimal, Delimiter: m.Delimiter, Encoding: m.Encoding,
		Sheet: m.Sheet, HeaderLine: int(m.HeaderLine), From: "none"}
	if slices.Equal(m.Map, []string{"?"}) {
		return nil, nil, table.AskColumns(data, t, r)
	}
	for _, text := range m.Map {
		at := strings.LastIndexByte(text, '=')
		if at < 0 {
			return nil, nil, fault.Fieldf("map", "map: %s is not as \"Their column=ours\"", schema.Quote(text))
		}
		r.Map = append(r.Map, table.Pair{Name: strings.TrimSpace(text[:at]), Means: ours(text[at+1:])})
	}
	if len(r.Map) > 0 {
		if err := table.RememberSheet(tx, "rental", data, t, r); err != nil {
			return nil, nil, err
		}
	} else if t.Sheet {
		var err error
		if r, err = table.Remembered(&tx.Conn, "rental", data, t, r); err != nil {
			return nil, nil, err
		}
	}
	return table.Sheet(data, t, r, currency)
}
