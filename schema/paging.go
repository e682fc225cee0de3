package schema

import (
	"cmp"
	"math"
	"strconv"
)

// Cursor asks for one page of a list: at most Limit records behind the one whose key is
// After, which the page before gave as next. What is zero does not narrow: the list from
// its start, or all of it.
type Cursor[K cmp.Ordered] struct {
	After K
	Limit int64
}

// First asks for the first n records of a list by id.
func First(n int64) Cursor[int64] { return Cursor[int64]{Limit: n} }

// Fetch is how many records to read: one more than the page holds shows whether there is a
// next one.
func (c Cursor[K]) Fetch() int64 {
	if c.Limit <= 0 {
		return math.MaxInt64
	}
	return c.Limit + 1
}

// Cut leaves the records of one page of a list that was read with one record more than the
// limit, and gives the key after which the next page begins, nil at the end. Limit 0 is all.
func Cut[T, K any](list []T, limit int64, key func(T) K) ([]T, *K) {
	if limit <= 0 || int64(len(list)) <= limit {
		return list, nil
	}
	list = list[:limit]
	next := key(list[limit-1])
	return list, &next
}

// NextText is where the next page begins as agents pass it on, nil at the end.
func NextText(next *int64) *string {
	if next == nil {
		return nil
	}
	text := strconv.FormatInt(*next, 10)
	return &text
}

// After binds where a page begins: the id that the page before gave as next, which agents
// pass on as text.
func (f *Form) After(after *int64, opts ...Opt) {
	if f.Surface() != Tool {
		f.ID(after, "after", "next of the page before", opts...)
		return
	}
	var text string
	if f.Text(&text, "after", "next of the page before", Most(20)) && text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 1 {
			f.Refuse("after", "after: %s did not come from an answer's next", Quote(text))
		}
		*after = n
	}
}

// Listing is how an agent wants a list: which page of it, how long, how short its rows.
type Listing struct {
	Cursor[int64] // After counts the rows given before
	Asked, Short  bool
}

// Listing binds it. A list goes on behind the rows given before.
func (f *Form) Listing(l *Listing) {
	l.Asked = f.Limit(&l.Limit)
	f.After(&l.After)
	f.Short(&l.Short)
}

// First reports whether it is the list's first page.
func (l Listing) First() bool { return l.After == 0 }

// PageOf makes the rows of a page of all there are, which ends before it holds more than most
// bytes unless its length was asked for, and tells where the next begins, nil at the end.
func PageOf[F, S any](all []F, l Listing, shorten func(F) S, most int) (rows []Row[F, S], next *string) {
	return pageOf(all, l, Rows(pageRows(all, l), l.Short, shorten), most)
}

// PageInside is PageOf for the rows of one record, whose text is the answer as it stands.
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

// pageRows are the rows of the page, as far as their number goes.
func pageRows[F any](all []F, l Listing) []F {
	from := min(l.After, int64(len(all)))
	all = all[from:]
	if l.Limit > 0 {
		all = all[:min(l.Limit, int64(len(all)))]
	}
	return all
}
