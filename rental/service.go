package rental

import (
	"context"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Service is the rental service over its database. Its exported functions are what
// REST, agents and the command line call; each opens its own view or transaction.
type Service struct{ db *db.DB }

// New is the service over an open database.
func New(d *db.DB) *Service { return &Service{db: d} }

// maxCents bounds every amount, in cents.
const maxCents = 1_000_000_000_000

// maxName and maxText bound texts, in characters.
const (
	maxName = 200
	maxText = 10_000
)

// settled calls read in a view of the database until read finds no lease with billing
// periods to post among those that its answer covers; what it finds is posted in
// between, by the system itself, so that a viewer's question is answered from complete
// ledgers too. What read last saw is of one instant, and nothing in it is half-posted.
// With nothing to post it is one read transaction, and no write lock is taken.
func (s *Service) settled(ctx context.Context, who db.Caller, read func(*db.Conn) (unposted []int64, err error)) error {
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

// pages binds what every list takes.
func pages(f *schema.Form, limit, after *int64) {
	f.Limit(limit)
	f.ID(after, "after", "the `next` of the page before", schema.Example(500))
}

// unset is nil for an empty text.
func unset(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func set(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// cell is how a day that may be missing stands in CSV.
func cell(d *exact.Day) string {
	if d == nil {
		return ""
	}
	return d.String()
}

// checkText refuses a text that is empty after trimming, too long or not printable,
// and gives it trimmed. It is for texts that come through no form.
func checkText(name, s string, most int) (string, error) {
	if s = strings.TrimSpace(s); s == "" {
		return "", fault.Invalidf("%s is empty: a text is needed", name)
	}
	return s, schema.CheckText(name, s, most)
}

func checkCents(name string, cents int64) error {
	if cents < 0 || cents > maxCents {
		return fault.Invalidf("%s: %d is out of range; it takes cents from 0 to %d", name, cents, int64(maxCents))
	}
	return nil
}
