package db

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"zombiezen.com/go/sqlite"
)

// Check examines one aspect of a view of the database and lists problems.
type Check func(*Conn) (problems []string, err error)

// Found is the result of a check.
type Found struct {
	Problems []string
	Err      error // the check could not be made
}

// checkAll runs the checks one by one on a connection of view, so that they share one page cache, and returns their
// results in order. done, if not nil, is increased after each.
func checkAll(view func(func(*Conn) error) error, checks []Check, done *atomic.Int64) []Found {
	found, ran := make([]Found, len(checks)), 0
	err := view(func(c *Conn) error {
		return c.Spilling(func() error {
			for ran < len(checks) {
				found[ran] = outcome(checks[ran](c))
				ran++
				if done != nil {
					done.Add(1)
				}
			}
			return nil
		})
	})
	for ; ran < len(checks); ran++ { // closing the view of a damaged file may fail after the checks
		found[ran] = outcome(nil, err)
	}
	return found
}

// Spilling runs work whose sorts go to a file: a check or an export of a million rows takes no more memory than one of
// a thousand. A connection that has used temporary tables keeps them in memory, and sorts there.
func (c *Conn) Spilling(work func() error) error {
	if run(c.c, "PRAGMA temp_store = FILE") != nil {
		return work()
	}
	defer func() { _ = run(c.c, "PRAGMA temp_store = MEMORY") }() // refused within a transaction that sorted in a file
	return work()
}

// outcome makes a finding of what the engine cannot read.
func outcome(problems []string, err error) Found {
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultCorrupt, sqlite.ResultNotADB:
		problems, err = append(problems, fmt.Sprintf("the file cannot be read to its end: %v",
			cmp.Or(errors.Unwrap(err), err))), nil
	}
	return Found{problems, failed(err)}
}

// CheckAll runs the checks one by one and returns their results in order. done, if not nil, is increased after each.
func (d *DB) CheckAll(ctx context.Context, checks []Check, done *atomic.Int64) []Found {
	return checkAll(func(look func(*Conn) error) error { return d.View(ctx, look) }, checks, done)
}

// Joined returns the problems of all results, each once, and the first error.
func Joined(all []Found) (one Found) {
	for _, f := range all {
		for _, problem := range f.Problems {
			if !slices.Contains(one.Problems, problem) { // every check finds what is unreadable
				one.Problems = append(one.Problems, problem)
			}
		}
		one.Err = cmp.Or(one.Err, f.Err)
	}
	return one
}

// IntegrityChecks are the checks of pages, references and schema.
func IntegrityChecks() []Check { return []Check{checkPages, checkMeaning} }

// treeOf matches the engine's name of a broken table or index: its root page.
var treeOf = regexp.MustCompile(`\bTree (\d+)\b`)

// checkPages is the engine's check of every page, table and index.
func checkPages(c *Conn) ([]string, error) { return pagesBy(c, "PRAGMA integrity_check") }

// checkUse is checkPages without the comparison of each index with its table.
func checkUse(c *Conn) ([]string, error) { return pagesBy(c, "PRAGMA quick_check") }

// pagesBy lists the findings of an engine's check, with the names of tables and indexes.
func pagesBy(c *Conn, query string) ([]string, error) {
	found := outcome(All(c, Text, query))
	if len(found.Problems) == 1 && found.Problems[0] == "ok" {
		found.Problems = nil
	}
	for i, problem := range found.Problems {
		found.Problems[i] = treeOf.ReplaceAllStringFunc(strings.TrimPrefix(problem, "*** in database main ***\n"),
			func(tree string) string {
				name, _, err := One(c, Text, "SELECT name FROM sqlite_schema WHERE rootpage = ?", strings.TrimPrefix(tree, "Tree "))
				if err != nil || name == "" {
					return tree
				}
				return name
			})
	}
	return found.Problems, found.Err
}

// checkMeaning lists problems of references and schema.
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
