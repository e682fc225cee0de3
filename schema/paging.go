package schema

import (
	"cmp"
	"math"
	"strconv"
)

// Cursor requests one page of a list: at most Limit records after the one whose key is After, the previous page's next.
// Zero values do not restrict: the list from its start, or all of it.
type Cursor[K cmp.Ordered] struct {
	After K
	Limit int64
}

// First requests the first n records of a list by id.
func First(n int64) Cursor[int64] { return Cursor[int64]{Limit: n} }

// Fetch is the number of records to read: one more than the page holds, to see whether there is a next page.
func (c Cursor[K]) Fetch() int64 {
	if c.Limit <= 0 {
		return math.MaxInt64
	}
	return c.Limit + 1
}

// Cut returns the records of one page of a list that was read with one record too many, and the key after which the
// next page begins, nil at the end. Limit 0 is all.
func Cut[T, K any](list []T, limit int64, key func(T) K) ([]T, *K) {
	if limit <= 0 || int64(len(list)) <= limit {
		return list, nil
	}
	list = list[:limit]
	next := key(list[limit-1])
	return list, &next
}

// NextText is the start of the next page as agents send it, nil at the end.
func NextText(next *int64) *string {
	if next == nil {
		return nil
	}
	text := strconv.FormatInt(*next, 10)
	return &text
}

// After binds the start of a page: the previous page's next, which agents send as text.
func (f *Form) After(after *int64, opts ...Opt) {
	if f.Surface() != Tool {
		f.ID(after, "after", "next of the previous page", opts...)
		return
	}
	var text string
	if f.Text(&text, "after", "next of the previous page", Most(20)) && text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			f.Refuse("after", "after: %s did not come from an answer's next", Quote(text))
		}
		*after = n
	}
}

// Listing is an agent's request for a list: which page, its length, and short rows or full ones.
type Listing struct {
	Cursor[int64] // After counts the rows of earlier pages
	Asked, Short  bool
}

// Listing binds it. A list continues after the rows of earlier pages.
func (f *Form) Listing(l *Listing) {
	l.Asked = f.Limit(&l.Limit)
	f.After(&l.After)
	f.Short(&l.Short)
}

// First reports whether it is the list's first page.
func (l Listing) First() bool { return l.After == 0 }

// PageOf returns a page's rows of all rows, and the start of the next page, nil at the end. The page ends before it
// exceeds most bytes unless its length was requested.
func PageOf[F, S any](all []F, l Listing, shorten func(F) S, most int) (rows []Row[F, S], next *string) {
	return pageOf(all, l, Rows(pageRows(all, l), l.Short, shorten), most)
}

// PageInside is PageOf for the rows of one record, whose text is the whole answer.
func PageInside[F, S any](all []F, l Listing, shorten func(F) S, most int) (rows []Row[F, S], next *string) {
	return pageOf(all, l, plain(Rows(pageRows(all, l), l.Short, shorten)), most)
}

func pageOf[F, S any](all []F, l Listing, page []Row[F, S], most int) (rows []Row[F, S], next *string) {
	rows = fit(page, l.Asked, most)
	if to := min(l.After, int64(len(all))) + int64(len(rows)); to < int64(len(all)) {
		next = NextText(&to)
	}
	return rows, next
}

// pageRows are the page's rows by number.
func pageRows[F any](all []F, l Listing) []F {
	from := min(l.After, int64(len(all)))
	all = all[from:]
	if l.Limit > 0 {
		all = all[:min(l.Limit, int64(len(all)))]
	}
	return all
}
