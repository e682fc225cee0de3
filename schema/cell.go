package schema

import "fmt"

// Cell is an optional value as a file's cell or a form's field has it: none is empty.
func Cell[T any](value *T) string {
	if value == nil {
		return ""
	}
	return fmt.Sprint(*value)
}
