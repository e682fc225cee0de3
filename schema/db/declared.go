package db

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"zombiezen.com/go/sqlite"
)

// object is one entry of a file's schema, without those that the engine makes by itself.
type object struct{ kind, name, table, sql string }

func objects(c *Conn) (map[string]object, error) {
	all := map[string]object{}
	err := Each(c, func(r *Row) error {
		o := object{r.Text(), r.Text(), r.Text(), r.Text()}
		all[o.name] = o
		return nil
	}, "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
	return all, err
}

// declared is the schema that the migrations make in an empty database.
func declared(steps []Migration) (map[string]object, error) {
	opened, err := sqlite.OpenConn(":memory:", sqlite.OpenReadWrite|sqlite.OpenMemory)
	if err != nil {
		return nil, err
	}
	c := &handle{Conn: opened}
	for _, m := range steps {
		if err := apply(c, m, 1); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	made, err := objects(&Conn{c: c})
	return made, errors.Join(err, c.Close())
}

var declaredNow = sync.OnceValues(func() (map[string]object, error) {
	all, err := known()
	if err != nil {
		return nil, err
	}
	return declared(all)
})

// schemaProblems compares the file's tables, indexes and triggers with those of its migrations: missing, foreign or
// changed. Without a trigger, counts go wrong unnoticed; a foreign one may do anything.
func schemaProblems(c *Conn) ([]string, error) {
	all, err := applied(c)
	if err != nil {
		return nil, err
	}
	var want map[string]object
	if done := slices.DeleteFunc(slices.Clone(all), func(m Migration) bool { return m.AppliedAt == nil }); len(
		done) == len(all) {
		want, err = declaredNow()
	} else if want, err = declared(done); err != nil {
		return nil, nil //nolint:nilerr // they are not in their order, and one that is missing is told elsewhere
	}
	if err != nil {
		return nil, err
	}
	have, err := objects(c)
	if err != nil {
		return nil, err
	}
	var found []string
	for name, w := range want {
		if h, there := have[name]; !there {
			found = append(found, fmt.Sprintf("the %s %s is missing", w.kind, name))
		} else if h != w {
			found = append(found, fmt.Sprintf("the %s %s is not as the program made it", h.kind, name))
		}
	}
	for name, h := range have {
		if _, known := want[name]; !known {
			found = append(found, fmt.Sprintf("the %s %s (of %s) is not the program's", h.kind, name, h.table))
		}
	}
	slices.Sort(found)
	return found, nil
}
