package record

import (
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
)

// Column is one column of a noun's list; see the package's comment.
type Column[T any] struct {
	name   string
	stored string // its name in the table
	from   string // the expression that reads it
	bound  bool   // people can set it

	id, key, told, once, inFile, fileOnly bool

	nullable bool // an Edit form may empty it

	els   func(*T)
	shown func(any) any

	scan  func(*db.Row, *T)
	bind  func(f *schema.Form, t *T, more ...schema.Opt) bool
	value func(*T) any
	plain func(*T) any
	cell  func(*T) string
	lay   func(held, now *T) (was, is any, differ bool)
}

// Of makes a column of any type by its kind. at returns its place in a record. With an empty about it is in no form.
func Of[T, V any](name string, at func(*T) *V, k *Kind[V], about string, opts ...schema.Opt) Column[T] {
	c := Column[T]{
		name: name, stored: name, bound: about != "", nullable: k.Nullable,
		scan:  func(r *db.Row, t *T) { *at(t) = k.Scan(r) },
		plain: func(t *T) any { return *at(t) },
		value: func(t *T) any { return *at(t) },
		cell:  func(t *T) string { return k.Cell(*at(t)) },
		lay: func(held, now *T) (was, is any, differ bool) {
			h, v := at(held), *at(now)
			if k.Same(*h, v) {
				return nil, nil, false
			}
			was, *h = *h, v
			return was, v, true
		},
	}
	if k.Value != nil {
		c.value = func(t *T) any { return k.Value(*at(t)) }
	}
	if c.bound {
		c.bind = func(f *schema.Form, t *T, more ...schema.Opt) bool {
			return k.Bind(f, at(t), name, about, slices.Concat(opts, more)...)
		}
	}
	return c
}

// Key marks the column that identifies a record for people: an edit does not change it.
func (c Column[T]) Key() Column[T] { c.key = true; return c }

// Told adds the column to the audit entry of a new record.
func (c Column[T]) Told() Column[T] { c.told = true; return c }

// Else sets the column's default from the columns before it.
func (c Column[T]) Else(set func(*T)) Column[T] { c.els = set; return c }

// Stored gives the column another name in the table.
func (c Column[T]) Stored(name string) Column[T] { c.stored = name; return c }

// From reads the column by the expression; it is never written.
func (c Column[T]) From(expression string) Column[T] { c.from = expression; return c }

// Once writes the column with a new record only.
func (c Column[T]) Once() Column[T] { c.once = true; return c }

// InFile adds a column that people do not set to the CSV file.
func (c Column[T]) InFile() Column[T] { c.inFile = true; return c }

// FileOnly excludes the column from the forms of Form: operations of its own set it.
func (c Column[T]) FileOnly() Column[T] { c.fileOnly = true; return c }

// Field binds the column by bind instead of its kind.
func (c Column[T]) Field(bind func(f *schema.Form, t *T, more ...schema.Opt) bool) Column[T] {
	c.bind, c.bound = bind, true
	return c
}

// Shown formats the column's value in audit entries.
func (c Column[T]) Shown(show func(any) any) Column[T] { c.shown = show; return c }

// inserts, sets and files report whether INSERT writes the column, whether an edit does, and
// whether the CSV file has it.
func (c *Column[T]) inserts() bool { return c.from == "" }
func (c *Column[T]) sets() bool    { return c.from == "" && !c.once && !c.key && !c.id }
func (c *Column[T]) files() bool   { return c.inFile || c.bound }

// show is a value in the audit entry's format.
func (c *Column[T]) show(v any) any {
	if c.shown == nil {
		return v
	}
	return c.shown(v)
}
