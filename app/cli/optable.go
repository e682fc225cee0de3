package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"quartermaster/app/table"
	"quartermaster/schema"
	"quartermaster/schema/strict"
)

// column is a column of a list: where its value is in a row. The members of an object within a row have a column each,
// named after both: customer_email.
type column struct {
	name string
	path []string
	wide bool // of an inner object or list: for a file, not for a terminal
}

func columnsOf(prefix []string, fields []schema.Field) (all []column) {
	for _, f := range fields {
		path := append(slices.Clone(prefix), f.Name)
		switch {
		case f.Shape.Type == "object" && len(prefix) == 0 && len(f.Shape.Fields) > 0:
			all = append(all, columnsOf(path, f.Shape.Fields)...)
		case f.Shape.Type == "object", f.Shape.Type == "array" && (f.Shape.Items == nil || f.Shape.Items.Type != "string"):
		default:
			all = append(all, column{strings.Join(path, "_"), path, len(path) > 1 || f.Shape.Type == "array"})
		}
	}
	return all
}

// of is the column's value in a row, as a cell, and whether it is a text, which a spreadsheet may read as a formula.
func (c column) of(row map[string]json.RawMessage) (cell string, isText bool) {
	v := row[c.path[0]]
	for _, name := range c.path[1:] {
		var inner map[string]json.RawMessage
		if json.Unmarshal(v, &inner) != nil {
			return "", false
		}
		v = inner[name]
	}
	var texts []string
	if json.Unmarshal(v, &texts) == nil {
		return strings.Join(texts, "|"), true
	}
	return plain(v), len(v) > 0 && v[0] == '"'
}

// listOf finds the one named array of an answer that is a list: its rows, and the columns with a single value. An
// answer without one is itself a row.
func listOf(answer any) (all []column, rows []map[string]json.RawMessage, err error) {
	b, err := strict.Marshal(answer)
	if err != nil {
		return nil, nil, err
	}
	shape := schema.ShapeOf(answer)
	if shape.Type != "object" || len(shape.Fields) == 0 {
		return nil, nil, nil
	}
	var whole map[string]json.RawMessage
	if err := json.Unmarshal(b, &whole); err != nil {
		return nil, nil, err
	}
	for _, f := range shape.Fields {
		if f.Shape.Type == "array" && f.Shape.Items != nil && f.Shape.Items.Type == "object" {
			return columnsOf(nil, f.Shape.Items.Fields), rows, json.Unmarshal(whole[f.Name], &rows)
		}
	}
	return columnsOf(nil, shape.Fields), []map[string]json.RawMessage{whole}, nil
}

// writeCSV writes a list's rows, with the columns of single values.
func writeCSV(w io.Writer, answer any) error {
	if l, is := answer.(schema.Lister); is {
		answer = l.AsList()
	}
	heads, rows, err := listOf(answer)
	if err != nil {
		return err
	}
	out := csv.NewWriter(w)
	cells := schema.Map(heads, func(h column) string { return h.name })
	if err := out.Write(cells); err != nil {
		return err
	}
	for _, row := range rows {
		for i, h := range heads {
			text, isText := h.of(row)
			if isText {
				text = table.Safe(text)
			}
			cells[i] = text
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// writeTable shows an answer without its own text.
func writeTable(w io.Writer, answer any) {
	heads, rows, err := listOf(answer)
	if err != nil {
		fmt.Fprintln(w, err)
		return
	}
	heads = slices.DeleteFunc(heads, func(c column) bool { return c.wide })
	upper := schema.Map(heads, func(h column) string { return strings.ToUpper(strings.ReplaceAll(h.name, "_", " ")) })
	schema.Tabulate(w, strings.Join(upper, "|"), rows, func(row map[string]json.RawMessage) []any {
		cells := make([]any, len(heads))
		for i, h := range heads {
			cells[i], _ = h.of(row)
		}
		return cells
	})
}

// plain is a JSON value as a cell.
func plain(v json.RawMessage) string {
	var text string
	switch {
	case string(v) == "null":
		return ""
	case json.Unmarshal(v, &text) == nil:
		return text
	}
	return string(v)
}

// cell is a changed value for people.
func cell(v any) string {
	if v == nil || reflect.ValueOf(v).Kind() == reflect.Pointer && reflect.ValueOf(v).IsNil() {
		return "-"
	}
	b, err := strict.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return plain(b)
}

// groups are the descriptions of the commands that only contain others.
var groups = map[string]string{
	"store":                   "Run the store: orders, licenses, codes, payment providers, settings",
	"store order":             "Record and refund orders",
	"store license":           "Suspend, resume or revoke licenses",
	"store codes":             "Mint and void redeem codes",
	"store provider":          "Set up payment providers",
	"store batches":           "List batches of redeem codes",
	"store customer":          "Create, merge or forget customers",
	"store customers":         "List and show customers",
	"store licenses":          "Find, list and show licenses",
	"store orders":            "List and show orders",
	"store product":           "Create or change products",
	"store products":          "List and show products",
	"store signing-key":       "The keys that sign license files",
	"store subscription":      "Link licenses with subscriptions",
	"maintenance":             "Run the workshop: bulk moves, parts, photos, plans, the labor rate",
	"maintenance photo":       "Keep photos with work orders",
	"maintenance assets":      "List, create, change or remove assets",
	"maintenance meters":      "Create or change meters of assets",
	"maintenance parts":       "List, create, change or remove spare parts",
	"maintenance plans":       "List, create or change maintenance plans",
	"maintenance work-orders": "List, open, change and move work orders",
	"rental":                  "Run the rent: leases, tenants, ledgers, payments, arrears, tickets",
	"rental bank":             "Bank accounts, bank files and their lines",
	"rental expense":          "Enter and reverse expenses",
	"rental expenses":         "List expenses",
	"rental lease":            "Create or change leases",
	"rental leases":           "List and show leases",
	"rental properties":       "List and show properties",
	"rental property":         "Create, change or rename properties",
	"rental tenant":           "Create, change, invite or forget tenants",
	"rental tenants":          "List and show tenants",
	"rental ticket":           "Open, assign and move tickets",
	"rental tickets":          "List and show tickets",
	"rental unit":             "Create, change or rename units",
	"rental units":            "List and show units",
	"reorder":                 "What to buy and what is in stock",
	"reorder po":              "Keep purchase orders: create, order, receive, cancel, suggest",
	"reorder sales":           "Store and list daily sales",
	"reorder skus":            "List, create or change SKUs",
	"reorder suppliers":       "List, create or change suppliers",
	"mail":                    "Set up mail, and see what was sent",
	"mail text":               "Change the texts of messages",
	"settings":                "The shop's settings",
	"user":                    "People and what they may do",
	"key":                     "API keys",
	"webhook":                 "Receivers of events and their deliveries",
}
