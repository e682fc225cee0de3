package db

import "strings"

// Where is the conditions of a list, with their arguments.
type Where struct {
	Text string // " AND ..." for each
	Args []any
}

// SQL is the conditions as a clause; "" without any.
func (w Where) SQL() string { return strings.Replace(w.Text, " AND ", " WHERE ", 1) }

// And adds a condition if it is wanted.
func (w *Where) And(wanted bool, condition string, args ...any) {
	if wanted {
		w.Text, w.Args = w.Text+" AND "+condition, append(w.Args, args...)
	}
}
