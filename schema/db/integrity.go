package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"zombiezen.com/go/sqlite"
)

// A Check looks at one thing in a view of the database and lists what is wrong with it.
type Check func(*Conn) (problems []string, err error)

// Found is the outcome of a check.
type Found struct {
	Problems []string
	Err      error // the check could not be made
}

// checkWorkers is how many checks run at once: each has a connection with its page cache.
const checkWorkers = 2

// checkAll runs the checks on so many connections, each of which view opens, and returns the
// outcomes in the order of the checks. done, if not nil, is increased as each one ends.
func checkAll(view func(func(*Conn) error) error, workers int, checks []Check, done *atomic.Int64) []Found {
	found, errs := make([]Found, len(checks)), make([]error, workers)
	ran := make([]bool, len(checks))
	var next atomic.Int64
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			errs[w] = view(func(c *Conn) error {
				for {
					i := int(next.Add(1)) - 1
					if i >= len(checks) {
						return nil
					}
					found[i], ran[i] = outcome(checks[i](c)), true
					if done != nil {
						done.Add(1)
					}
				}
			})
		})
	}
	group.Wait()
	for i := range found { // the end of a view of a damaged file may fail after all was looked at
		if !ran[i] {
			found[i] = outcome(nil, cmp.Or(errs...))
		}
	}
	return found
}

// outcome makes a finding of what the engine cannot read.
func outcome(problems []string, err error) Found {
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultCorrupt, sqlite.ResultNotADB:
		problems, err = append(problems, fmt.Sprintf("the file cannot be read to its end: %v", cmp.Or(errors.Unwrap(err), err))), nil
	}
	return Found{problems, failed(err)}
}

// CheckAll runs the checks, checkWorkers at a time, and returns their outcomes in the same
// order. done, if not nil, is increased as each one ends.
func (d *DB) CheckAll(ctx context.Context, checks []Check, done *atomic.Int64) []Found {
	return checkAll(func(look func(*Conn) error) error { return d.View(ctx, look) }, checkWorkers, checks, done)
}

// Integrity lists what is wrong with the pages, the references and the schema. It reads on
// one connection, so that a server can answer meanwhile.
func (d *DB) Integrity(ctx context.Context) (problems []string, err error) {
	view := func(look func(*Conn) error) error { return d.View(ctx, look) }
	all := Joined(checkAll(view, 1, integrityChecks(view), nil))
	return all.Problems, all.Err
}

// IntegrityChecks returns the checks that together find what is wrong with the pages, the
// references and the schema. They may run at once.
func (d *DB) IntegrityChecks(ctx context.Context) []Check {
	return integrityChecks(func(look func(*Conn) error) error { return d.View(ctx, look) })
}

// Joined returns the problems of all outcomes, each once, and the first error.
func Joined(all []Found) (one Found) {
	for _, f := range all {
		for _, problem := range f.Problems {
			if !slices.Contains(one.Problems, problem) { // what cannot be read at all is found by each check
				one.Problems = append(one.Problems, problem)
			}
		}
		one.Err = cmp.Or(one.Err, f.Err)
	}
	return one
}

// integrityChecks returns what `PRAGMA integrity_check` is, as a check for each table with its
// indexes, the largest first, and one of what no check of a table sees: the list of free
// pages, and that every page is used once. References and schema are checked, too.
func integrityChecks(view func(func(*Conn) error) error) []Check {
	_, _ = declaredNow() // before the pages are read, which takes its memory again; checkMeaning reports its error
	var tables []string
	pages := checkAll(view, 1, []Check{func(c *Conn) (problems []string, err error) {
		tables, problems, err = checkPages(c)
		return problems, err
	}}, nil)[0]
	checks := []Check{func(*Conn) ([]string, error) { return pages.Problems, pages.Err }, checkMeaning}
	for _, t := range tables {
		checks = append(checks, checkTable(t))
	}
	return checks
}

// checkTable returns the engine's check of a table with its indexes, or of the whole file for
// "". The one of sqlite_schema includes the list of free pages.
func checkTable(name string) Check {
	return func(c *Conn) ([]string, error) {
		found := outcome(All(c, Text, "SELECT integrity_check FROM pragma_integrity_check(?)", NullText(name)))
		if len(found.Problems) == 1 && found.Problems[0] == "ok" {
			found.Problems = nil
		}
		for i, problem := range found.Problems {
			found.Problems[i] = cmp.Or(name, "the file") + ": " + problem
		}
		return found.Problems, found.Err
	}
}

// checkMeaning lists what is wrong with the references and the schema.
func checkMeaning(c *Conn) ([]string, error) {
	loose, err := All(c, func(r *Row) string {
		table, row, parent := r.Text(), r.Int(), r.Text()
		return fmt.Sprintf("row %d of %s points at a row of %s that is not there", row, table, parent)
	}, "PRAGMA foreign_key_check")
	if err != nil {
		return nil, err
	}
	schema, err := schemaProblems(c)
	return append(loose, schema...), err
}

// checkPages lists pages that are used twice or never, and returns the tables, the largest
// first. A file that keeps pages of another kind is one table, "".
func checkPages(c *Conn) (tables, problems []string, err error) {
	if moves, _, err := One(c, Int, "PRAGMA auto_vacuum"); err != nil || moves != 0 {
		return []string{""}, nil, err
	}
	owner, sizes := map[string]string{}, map[string]int{"sqlite_schema": 0}
	err = Each(c, func(r *Row) error {
		name, table, virtual := r.Text(), r.Text(), r.Bool()
		owner[name] = table
		sizes[table] = max(sizes[table], 0)
		if virtual { // its pages are those of other tables, and its own check takes longer than theirs
			sizes[table] = math.MaxInt
		}
		return nil
	}, "SELECT name, tbl_name, rootpage = 0 FROM sqlite_schema WHERE type IN ('table', 'index')")
	if err != nil {
		return nil, nil, err
	}
	uses, err := countUses(c, func(tree string) { sizes[cmp.Or(owner[tree], tree)]++ })
	if err == nil {
		problems = uses.problems()
	}
	bySize := func(a, b string) int { return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b)) }
	return slices.SortedFunc(maps.Keys(sizes), bySize), problems, err
}

// pageUses counts how often each page of a file is used.
type pageUses struct {
	pages  int64
	used   pageSet
	once   int64
	twice  int64 // or more often
	second int64 // the first that is used twice
}

// lockByte is where locks are taken: the page that it is in holds nothing.
const lockByte = 1 << 30

// countUses walks every tree of the file, telling of each page which it belongs to, and the list
// of free pages.
func countUses(c *Conn, of func(tree string)) (u pageUses, err error) {
	size, _, err := One(c, Int, "PRAGMA page_size")
	if err != nil {
		return u, err
	}
	if u.pages, _, err = One(c, Int, "PRAGMA page_count"); err != nil {
		return u, err
	}
	u.used = newPageSet(u.pages)
	if lock := lockByte/size + 1; lock <= u.pages {
		u.use(lock)
	}
	free, err := freePages(c.c)
	if err != nil {
		return u, err
	}
	for page := range u.pages {
		if free.trunks.has(page+1) || free.leaves.has(page+1) {
			u.use(page + 1)
		}
	}
	return u, Each(c, func(r *Row) error {
		of(r.Text())
		u.use(r.Int())
		return nil
	}, "SELECT name, pageno FROM dbstat")
}

func (u *pageUses) use(page int64) {
	switch {
	case !u.used.has(page):
		u.used.add(page)
		u.once++
	case u.twice == 0:
		u.second = page
		fallthrough
	default:
		u.twice++
	}
}

func (u *pageUses) problems() (problems []string) {
	if u.twice > 0 {
		problems = append(problems, fmt.Sprintf("page %d is used twice; times that a page is used again: %d", u.second, u.twice))
	}
	if never := u.pages - u.once; never > 0 {
		page := int64(1)
		for u.used.has(page) {
			page++
		}
		problems = append(problems, fmt.Sprintf("page %d is never used; pages that are never used: %d", page, never))
	}
	return problems
}
