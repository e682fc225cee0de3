package rental

import (
	"context"
	"errors"
	"fmt"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// WouldPost is what the leases of a file would post at the next read.
type WouldPost struct {
	Leases       int64 `json:"leases"`
	Charges      int64 `json:"charges"`
	AmountCents  int64 `json:"amount_cents"`
	OverdueCents int64 `json:"overdue_cents"`
}

var errForeseen = errors.New("nothing of it is kept")

// foreseePosting stores a file's leases in a trial and returns what those that are fully posted before would post.
func (s *Service) foreseePosting(ctx context.Context, who db.Caller, store func() error) (f schema.Foreseen,
	err error) {
	pending := map[int64]bool{}
	err = s.db.View(ctx, func(c *db.Conn) error {
		ids, err := toPost(c)
		for _, id := range ids {
			pending[id] = true
		}
		return err
	})
	if err != nil {
		return f, err
	}
	if err := store(); err != nil {
		return f, err
	}
	var sum WouldPost
	err = db.Exec(ctx, s.db, db.System(who), func(tx *db.Tx) error {
		ids, err := toPost(&tx.Conn)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if pending[id] {
				continue
			}
			if err := sum.add(tx, id); err != nil {
				return err
			}
		}
		return errForeseen
	})
	if !errors.Is(err, errForeseen) {
		return f, err
	}
	if sum.Charges == 0 {
		return f, nil
	}
	f = schema.Foreseen{WouldPost: sum, Text: func(m schema.Money) string {
		return fmt.Sprintf("This file would post %s, %s, of it %s overdue", exact.Plural(sum.Charges, "charge", "charges"),
			m(sum.AmountCents), m(sum.OverdueCents))
	}}
	if sum.OverdueCents > 0 {
		f.Column, f.Label = "opening_day", "Take these leases over from"
	}
	return f, nil
}

// add posts a lease up to today, and adds what that posted.
func (w *WouldPost) add(tx *db.Tx, lease int64) error {
	newest, _, err := db.One(&tx.Conn, db.Int, "SELECT coalesce(max(id), 0) FROM charges")
	if err != nil {
		return err
	}
	if err := catchUp(tx, lease); err != nil {
		return err
	}
	posted, _, err := db.One(&tx.Conn, func(r *db.Row) WouldPost {
		return WouldPost{Charges: r.Int(), AmountCents: r.Int(), OverdueCents: r.Int()}
	},
		"SELECT count(*), coalesce(sum(amount_cents), 0), coalesce(sum(iif(due_date < ?3, amount_cents - paid_cents, 0)), "+
			"0) FROM charges WHERE lease_id = ?1 AND id > ?2",
		lease, newest, tx.Today())
	if err != nil || posted.Charges == 0 {
		return err
	}
	w.Leases++
	w.Charges += posted.Charges
	w.AmountCents += posted.AmountCents
	w.OverdueCents += posted.OverdueCents
	return nil
}
