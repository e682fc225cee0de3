package db

import (
	"strconv"
	"strings"
)

// Columns lists a table's written columns, separated by ", ". INSERT, UPDATE and SELECT are made from it. Beside it are
// the function that returns their values in this order and the one that scans them.
type Columns string

// Of returns the columns with a table's alias: "p.name, p.unit".
func (c Columns) Of(alias string) string {
	return alias + "." + strings.ReplaceAll(string(c), ", ", ", "+alias+".")
}

// InsertRow inserts a row with the columns' values and returns its id.
func (tx *Tx) InsertRow(table string, columns Columns, values ...any) (id int64, err error) {
	return tx.Insert("INSERT INTO "+table+" ("+string(columns)+") VALUES ("+marks(len(values))+")", values...)
}

// UpdateRow sets the columns of the row with the id.
func (tx *Tx) UpdateRow(table string, id int64, columns Columns, values ...any) error {
	_, err := tx.Exec("UPDATE "+table+" SET ("+string(columns)+") = ("+marks(len(values))+") WHERE id = ?",
		append(values, id)...)
	return err
}

// marks is "?, ?, ?" for n values.
func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?, ", n), ", ") }

// NullText is the stored form of a text: nil for "".
func NullText(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// NullID is the stored form of a reference: nil for 0.
func NullID(id int64) *int64 {
	if id == 0 {
		return nil
	}
	return &id
}

// Subject names a record in the audit trail: "work_order:12".
func Subject(noun string, id int64) string { return noun + ":" + strconv.FormatInt(id, 10) }
