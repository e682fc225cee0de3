package rental

import (
	"context"
	"fmt"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// Standing says whether the ledgers of an answer are complete.
type Standing struct {
	Unposted string `json:"unposted,omitempty" about:"why what is due is not posted; absent when it is"`
}

// Notice is the warning above a page.
func (s Standing) Notice() string {
	if s.Unposted == "" {
		return ""
	}
	return "This is not complete: " + s.Unposted + "."
}

// reading is one read of ledgers that must be complete first.
type reading struct {
	Standing
	unposted []int64 // leases, found by await
	why      string  // why nothing can be posted; usually ""
}

// await reports whether the answer must wait for postings of the leases, and notes them. While nothing can be posted it
// waits for none, and the answer says so.
func (r *reading) await(leases []int64) bool {
	if r.why != "" && len(leases) > 0 {
		r.Unposted = fmt.Sprintf("the due charges of %d leases could not be posted: %s", len(leases), r.why)
		return false
	}
	r.unposted = leases
	return len(leases) > 0
}

// upToDate calls read in a view of the database until read awaits no lease with billing
// periods to post among those that its answer covers; what it awaits is posted in
// between, by the system itself, so that a viewer's question is answered from complete
// ledgers too. What read last saw is of one instant, and nothing in it is half-posted.
// With nothing to post it is one read transaction, and no write lock is taken. Where the
// disk takes no writes, read gives what is stored, and the Standing says why.
func (s *Service) upToDate(ctx context.Context, who db.Caller, read func(*db.Conn, *reading) error) (Standing, error) {
	for range 5 { // one more round for each midnight that passes meanwhile
		var r reading
		view := func(c *db.Conn) error { return read(c, &r) }
		if err := s.db.View(ctx, view); err != nil || len(r.unposted) == 0 {
			return r.Standing, err
		}
		err := db.Exec(ctx, s.db, db.System(who), func(tx *db.Tx) error { return post(tx, r.unposted...) })
		if why, is := db.Unwritable(err); is {
			s.db.Touch() // the next request may post it
			r = reading{why: why}
			err = s.db.View(ctx, view)
			return r.Standing, err
		}
		if err != nil {
			return Standing{}, err
		}
	}
	return Standing{}, fault.Unavailablef(nil, "the clock is changing; try again")
}

// allPosted is upToDate for an answer that covers all leases.
func (s *Service) allPosted(ctx context.Context, who db.Caller, read func(*db.Conn) error) (Standing, error) {
	return s.upToDate(ctx, who, func(c *db.Conn, r *reading) error {
		leases, err := toPost(c)
		if err != nil || r.await(leases) {
			return err
		}
		return read(c)
	})
}

// bindCursor binds the page of a list.
func bindCursor(f *schema.Form, page *schema.Cursor[int64]) {
	f.Limit(&page.Limit)
	if f.Surface() != schema.Command { // a list is complete there
		f.After(&page.After, schema.Example(500))
	}
}
