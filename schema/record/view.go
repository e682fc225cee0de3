package record

import "quartermaster/schema/db"

// View reads records that have no form and no file of their own.
type View[T any] struct {
	noun, alias, selects string
	scan                 func(*db.Row) T
}

// Read is the view of a noun's columns, which scan reads, from its table under the alias: "makers m".
func Read[T any](noun, alias, columns, from string, scan func(*db.Row) T) View[T] {
	return View[T]{noun, alias, "SELECT " + columns + " FROM " + from + " ", scan}
}

// One returns the first record of rest ("WHERE m.id = ?"), and whether there is one.
func (v View[T]) One(c *db.Conn, rest string, args ...any) (T, bool, error) {
	return db.One(c, v.scan, v.selects+rest, args...)
}

// ByID returns the record with the number; without one the refusal is "there is no maker 4".
func (v View[T]) ByID(c *db.Conn, id int64) (T, error) {
	return db.ByID(c, v.scan, v.noun, v.selects+"WHERE "+v.alias+".id = ?", id)
}

// All returns the records of rest ("WHERE ... ORDER BY ...").
func (v View[T]) All(c *db.Conn, rest string, args ...any) ([]T, error) {
	return db.All(c, v.scan, v.selects+rest, args...)
}

// Each calls fn for every record of rest.
func (v View[T]) Each(c *db.Conn, fn func(T) error, rest string, args ...any) error {
	return db.Each(c, func(r *db.Row) error { return fn(v.scan(r)) }, v.selects+rest, args...)
}
