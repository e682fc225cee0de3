package rental

import (
	"context"
	"strconv"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// upToDate calls read in a view of the database until read finds no lease with billing
// periods to post among those that its answer covers; what it finds is posted in
// between, by the system itself, so that a viewer's question is answered from complete
// ledgers too. What read last saw is of one instant, and nothing in it is half-posted.
// With nothing to post it is one read transaction, and no write lock is taken.
func (s *Service) upToDate(ctx context.Context, who db.Caller, read func(*db.Conn) (unposted []int64, err error)) error {
	for range 5 { // one round more for each midnight that passes in between
		var unposted []int64
		err := s.db.View(ctx, func(c *db.Conn) (err error) {
			unposted, err = read(c)
			return err
		})
		if err != nil || len(unposted) == 0 {
			return err
		}
		err = db.Exec(ctx, s.db, db.System(who), func(tx *db.Tx) error { return post(tx, unposted...) })
		if err != nil {
			return err
		}
	}
	return fault.Unavailablef(nil, "the clock moves too fast to tell what is due today: try again")
}

// page cuts what was read with one record more than the limit down to the limit, and
// gives the id after which the next page begins, nil at the end.
func page[T any](all []T, limit int64, id func(T) int64) ([]T, *int64) {
	if int64(len(all)) <= limit {
		return all, nil
	}
	all = all[:limit]
	next := id(all[limit-1])
	return all, &next
}

// asText is a number as agents pass it on.
func asText(n *int64) *string {
	if n == nil {
		return nil
	}
	t := strconv.FormatInt(*n, 10)
	return &t
}

// bindAfter binds where a page begins, as agents pass it on: the text of a next.
func bindAfter(f *schema.Form, after *int64) {
	var text string
	f.Text(&text, "after", "the `next` of the answer before", schema.Most(40))
	if text == "" {
		return
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 1 {
		f.Refuse("after", "after: %s is not the `next` of an answer", schema.Quote(text))
	}
	*after = n
}

// pages binds what every list takes.
func pages(f *schema.Form, limit, after *int64) {
	f.Limit(limit)
	if f.Surface() != schema.Command { // there a list is complete
		f.ID(after, "after", "the `next` of the page before", schema.Example(500))
	}
}
