package reorder

import (
	"strconv"

	"quartermaster/schema"
)

// field binds one field of a record that is made or edited. A field that is not given
// sets nothing; one that is given empty sets what the variable holds, its default.
func field[T any](f *schema.Form, all *[]func(T), name string, set func(T), bind func(opts ...schema.Opt)) {
	var cleared bool
	bind(schema.Clear(&cleared))
	if f.Given(name) || cleared {
		*all = append(*all, set)
	}
}

func intText(n int64) string { return strconv.FormatInt(n, 10) }

func intOrEmpty(p *int64) string {
	if p == nil {
		return ""
	}
	return intText(*p)
}
