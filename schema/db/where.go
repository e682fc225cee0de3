package db

// Where is the conditions of a list, with their arguments.
type Where struct {
	Text string // " AND ..." for each
	Args []any
}

// And adds a condition if it is wanted.
func (w *Where) And(wanted bool, condition string, args ...any) {
	if wanted {
		w.Text, w.Args = w.Text+" AND "+condition, append(w.Args, args...)
	}
}
