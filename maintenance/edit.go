package maintenance

// edit applies the fields of a call, or the cells of a row, to a record. Fields that were not given stay; changes are
// noted for the audit trail.
type edit struct {
	given   func(column string) bool
	changes map[string][2]any // a column's old and new value
}

func newEdit(given func(column string) bool) *edit {
	return &edit{given: given, changes: map[string][2]any{}}
}

// nothing reports whether the record has all given values already.
func (e *edit) nothing() bool { return len(e.changes) == 0 }

// set applies a column's value.
func set[T comparable](e *edit, column string, held *T, value T) {
	if e.given(column) && *held != value {
		e.changes[column] = [2]any{*held, value}
		*held = value
	}
}

// setPtr is set for an optional value.
func setPtr[T comparable](e *edit, column string, held **T, value *T) {
	if !e.given(column) || *held == value || *held != nil && value != nil && **held == *value {
		return
	}
	e.changes[column] = [2]any{*held, value}
	*held = value
}
