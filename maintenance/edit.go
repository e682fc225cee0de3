package maintenance

// edit lays the fields of a call, or the cells of a row, over a record. A field that was
// not given is left alone; what changes is kept for the audit trail.
type edit struct {
	given   func(column string) bool
	changes map[string][2]any // a column's old and new value
}

func newEdit(given func(column string) bool) *edit {
	return &edit{given: given, changes: map[string][2]any{}}
}

// nothing reports whether all that was given is what the record holds already.
func (e *edit) nothing() bool { return len(e.changes) == 0 }

// set lays a column's value over what is held.
func set[T comparable](e *edit, column string, held *T, value T) {
	if e.given(column) && *held != value {
		e.changes[column] = [2]any{*held, value}
		*held = value
	}
}

// setPtr is set for what may be unset.
func setPtr[T comparable](e *edit, column string, held **T, value *T) {
	if !e.given(column) || *held == value || *held != nil && value != nil && **held == *value {
		return
	}
	e.changes[column] = [2]any{*held, value}
	*held = value
}
