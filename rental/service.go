// Package rental is the rental service: what each tenant owes, what was paid, and
// who is behind. Properties hold units, a lease lets a unit to a tenant, and its
// billing periods are posted as charges when the ledger is read; every amount is an
// integer number of cents.
package rental

import (
	"context"
	"fmt"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
)

// Service is the rental service over its database. REST, agents and the command line call its exported functions; each
// opens its own view or transaction.
type Service struct {
	db *db.DB

	Letter WriteLetter // writes a kind's text for a letter; nil: letters cannot be printed
	Sheets ReadSheet   // reads banks' tables; nil: they cannot be read
}

// WriteLetter writes the text of a kind of messages for a letter, with what fill reads.
type WriteLetter func(c *db.Conn, kind string, fill func(*mail.Writer) (mail.Content, error)) (mail.Printed, error)

// New is the service over an open database.
func New(d *db.DB) *Service { return &Service{db: d} }

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

func bindCursor(f *schema.Form, page *schema.Cursor[int64]) {
	f.Limit(&page.Limit)
	if f.Surface() != schema.Command { // a list is complete there
		f.After(&page.After, schema.Example(500))
	}
}

// Begun reports whether there is a property, a unit, a tenant and a lease.
func (s *Service) Begun(ctx context.Context) ([]bool, error) {
	return db.Some(ctx, s.db, "properties", "units", "tenants", "leases")
}

// Sentence says how many tenants are behind, by the charges that are posted.
func (s *Service) Sentence(ctx context.Context) (string, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (string, error) {
		n, err := db.Number(c, `SELECT count(DISTINCT x.tenant_id) FROM charges c INDEXED BY charges_unpaid
			CROSS JOIN lease_tenants x ON x.lease_id = c.lease_id AND x.position = 1 WHERE c.paid_date IS NULL
			AND c.due_date < ?`, c.Today())
		return exact.Plural(n, "tenant", "tenants") + " behind", err
	})
}

// The trial's names of the service's rows, and the kinds of their columns.
func init() {
	db.Describe(db.Naming{
		Tables: map[string]db.Rows{
			"due_marks":  {Noun: "reminder"},
			"late_marks": {Noun: "reminder"},
		},
		Columns: map[string]db.Kind{
			"bank_lines.payer_key":         db.Derived,
			"charges.period_end":           db.DayNumber,
			"charges.period_start":         db.DayNumber,
			"late_fee_voids.rent_due":      db.DayNumber,
			"payment_return_parts.counted": db.DayNumber,
			"allocations.counted":          db.DayNumber,
			"leases.due_day":               db.Plain, // of the month
			"charges.fee_day":              db.Derived,
			"leases.last_day":              db.Derived,
			"leases.next_event_day":        db.Derived,
			"leases.next_post_day":         db.Derived,
			"leases.late_mailed_on":        db.DayNumber,
			"leases.paused_until":          db.DayNumber,
		},
	})
}
