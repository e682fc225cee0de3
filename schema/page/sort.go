package page

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"quartermaster/schema"
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
	return func(a, b T) int { return compareFolded(key(a), key(b)) }
}

// compareFolded compares two texts in lower case. It only makes them so from the first character beyond ASCII.
func compareFolded(a, b string) int {
	for i := range min(len(a), len(b)) {
		x, y := a[i], b[i]
		if x >= utf8.RuneSelf || y >= utf8.RuneSelf {
			return cmp.Compare(strings.ToLower(a[i:]), strings.ToLower(b[i:]))
		}
		if 'A' <= x && x <= 'Z' {
			x += 'a' - 'A'
		}
		if 'A' <= y && y <= 'Z' {
			y += 'a' - 'A'
		}
		if x != y {
			return cmp.Compare(x, y)
		}
	}
	return cmp.Compare(len(a), len(b))
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

// Start is After of a list that goes on after an id or a number of rows; 0 is its beginning.
func (p *Paging) Start() int64 {
	n, err := strconv.ParseInt(p.After, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Cursor is the part of the list to read: of one to sort all rows, and one more than can be sorted.
func (p *Paging) Cursor() schema.Cursor[int64] {
	if p.Sorted() {
		return schema.First(MostSorted + 1)
	}
	return schema.Cursor[int64]{After: p.Start(), Limit: p.Limit}
}

// Arranged makes rows and then those of the page, of a list that was read by Cursor: one that is not sorted by a column
// stays. err is of the reading.
func Arranged[T any](p Paging, rows *[]T, total int64, then **int64, by Sorts[T], err error) error {
	if err != nil || !p.Sorted() {
		return err
	}
	if err := p.Sortable(total); err != nil {
		return err
	}
	*rows, *then = Arrange(p, *rows, by)
	return nil
}

// ArrangedBy is Arranged of a list that goes on after a key.
func ArrangedBy[T any](p Paging, rows *[]T, total int64, then **string, by Sorts[T], err error) error {
	var next *int64
	if err = Arranged(p, rows, total, &next, by, err); err == nil && p.Sorted() {
		*then = schema.NextText(next)
	}
	return err
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
	from := min(max(p.Start(), 0), int64(len(all)))
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
