package page

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"quartermaster/schema/fault"
)

// MostSorted is the most rows that a list sorts by a column, since all are read for it.
const MostSorted = 10_000

// Sorts are a list's sortable columns, each with its comparison of two rows.
type Sorts[T any] map[string]func(a, b T) int

// Names are the columns' names, for Paging.Bind.
func (c Sorts[T]) Names() []string { return slices.Sorted(maps.Keys(c)) }

// By compares rows by a value.
func By[T any, K cmp.Ordered](key func(T) K) func(a, b T) int {
	return func(a, b T) int { return cmp.Compare(key(a), key(b)) }
}

// ByText compares rows by a text, in any case.
func ByText[T any](key func(T) string) func(a, b T) int {
	return func(a, b T) int { return cmp.Compare(strings.ToLower(key(a)), strings.ToLower(key(b))) }
}

// ByPtr compares rows by an optional value; rows without it come last.
func ByPtr[T any, K cmp.Ordered](key func(T) *K) func(a, b T) int {
	return func(a, b T) int {
		switch x, y := key(a), key(b); {
		case x == nil && y == nil:
			return 0
		case x == nil:
			return 1
		case y == nil:
			return -1
		default:
			return cmp.Compare(*x, *y)
		}
	}
}

// Sorted reports whether the list is sorted by a column: then all matches are read, and Arrange returns the page.
func (p *Paging) Sorted() bool { return p.Sort != "" }

// Sortable refuses to sort a list of more than MostSorted rows.
func (p *Paging) Sortable(total int64) error {
	if !p.Sorted() || total <= MostSorted {
		return nil
	}
	return fault.Fieldf("sort", "sort: %s rows match, and at most %s can be sorted by a column; search or filter "+
		"first", group(Num(total)), group(Num(int64(MostSorted))))
}

// Arrange sorts all rows by the requested column. It returns the page of them and the number of rows up to its end; nil
// at the end of the list.
func Arrange[T any](p Paging, all []T, by Sorts[T]) (rows []T, next *int64) {
	column, falling := p.Column()
	if compare := by[column]; compare != nil {
		order := arranged(len(all), falling, func(i, j int) int { return compare(all[i], all[j]) })
		sorted := make([]T, len(all))
		for to, from := range order {
			sorted[to] = all[from]
		}
		all = sorted
	}
	from, err := strconv.ParseInt(p.After, 10, 64)
	if err != nil {
		from = 0
	}
	from = min(max(from, 0), int64(len(all)))
	to := from + min(p.Limit, int64(len(all))-from)
	if to < int64(len(all)) {
		next = &to
	}
	return all[from:to], next
}

// arranged returns the indexes of n rows in order. It does not depend on the rows' type, so that the sort is compiled
// once, not per list.
func arranged(n int, falling bool, compare func(i, j int) int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		if falling {
			return compare(j, i)
		}
		return compare(i, j)
	})
	return order
}
