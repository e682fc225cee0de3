package cli

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/strict"
)

// listOf finds the one named array of an answer that is a list: its rows, and the
// columns that have a single value.
func listOf(answer any) (columns []string, rows []map[string]json.RawMessage, err error) {
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
		if f.Shape.Type != "array" || f.Shape.Items == nil || f.Shape.Items.Type != "object" {
			continue
		}
		for _, c := range f.Shape.Items.Fields {
			if c.Shape.Type != "array" && c.Shape.Type != "object" {
				columns = append(columns, c.Name)
			}
		}
		return columns, rows, json.Unmarshal(whole[f.Name], &rows)
	}
	for _, f := range shape.Fields {
		columns = append(columns, f.Name)
	}
	return columns, []map[string]json.RawMessage{whole}, nil
}

// writeCSV writes a list's rows, the columns that have a single value.
func writeCSV(w io.Writer, answer any) error {
	heads, rows, err := listOf(answer)
	if err != nil {
		return err
	}
	out := csv.NewWriter(w)
	if err := out.Write(heads); err != nil {
		return err
	}
	for _, row := range rows {
		cells := make([]string, len(heads))
		for i, name := range heads {
			cells[i] = plain(row[name])
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// writeTable shows an answer that has no words of its own.
func writeTable(w io.Writer, answer any) {
	heads, rows, err := listOf(answer)
	if err != nil {
		fmt.Fprintln(w, err)
		return
	}
	upper := make([]string, len(heads))
	for i, h := range heads {
		upper[i] = strings.ToUpper(strings.ReplaceAll(h, "_", " "))
	}
	columns(w, upper, rows, func(row map[string]json.RawMessage) []string {
		cells := make([]string, len(heads))
		for i, name := range heads {
			cells[i] = plain(row[name])
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

// cell is a value of a change as people read it.
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

// groups are the short texts of the commands that only hold others.
var groups = map[string]string{
	"store":             "Run the store: orders, licenses, codes, payment providers, settings",
	"store order":       "Record and refund orders",
	"store license":     "Suspend, resume or revoke licenses",
	"store codes":       "Take redeem codes back",
	"store provider":    "Set up who takes payments",
	"maintenance":       "Run the workshop: bulk moves, parts, photos, plans, the labor rate",
	"maintenance photo": "Keep photos with work orders",
	"rental":            "What leases owe: further charges, payments taken back, leases that end early",
	"reorder":           "What to buy and what is in stock",
	"reorder po":        "Keep purchase orders: create, order, receive, cancel, suggest",
	"user":              "People and what they may do",
	"key":               "API keys",
	"webhook":           "Receivers of events, and what was delivered to them",
}
