package maintenance

import "quartermaster/schema"

// edit lays one row of a file over a record, column by column. A column that the file
// lacks is left alone; what changes is kept for the audit trail.
type edit struct {
	row     *schema.Form
	changes map[string][2]any // a column's old and new value
}

func newEdit(row *schema.Form) *edit { return &edit{row: row, changes: map[string][2]any{}} }

// nothing tells that the row says what the record holds already.
func (e *edit) nothing() bool { return len(e.changes) == 0 }

// set lays a column's value over what is held.
func set[T comparable](e *edit, column string, held *T, value T) {
	if e.row.Given(column) && *held != value {
		e.changes[column] = [2]any{*held, value}
		*held = value
	}
}

// setPtr is set for what may be unset.
func setPtr[T comparable](e *edit, column string, held **T, value *T) {
	if !e.row.Given(column) || *held == value || *held != nil && value != nil && **held == *value {
		return
	}
	e.changes[column] = [2]any{*held, value}
	*held = value
}
