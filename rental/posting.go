package rental

import (
	"slices"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// posted is what the audit trail says of one lease's posting.
type posted struct {
	Charges     int       `json:"charges"`
	From        exact.Day `json:"from"`
	To          exact.Day `json:"to"`
	AmountCents int64     `json:"amount_cents"`
}

// post writes every billing period of the leases that is due by today and not posted
// yet, all of them or, on a fault, none, with one audit entry a lease by the actor
// "system". It is the only place where time makes charges. That a period is posted
// once is held by next_post_day, read in the transaction that moves it, and in the end
// by the unique key over lease, type and period_start.
func post(tx *db.Tx, leases ...int64) error {
	today := tx.Today()
	find, err := tx.Prepare(`SELECT start_date, end_date, frequency, due_day, rent_cents, proration, next_post_day
		FROM leases WHERE id = ?1 AND next_post_day <= ?2`)
	if err != nil {
		return err
	}
	for _, lease := range leases {
		if err := find.Ints(lease, int64(today)); err != nil {
			return err
		}
		row, err := find.Step()
		if err != nil {
			return err
		}
		if row == nil {
			continue // nothing is due, or another request posted it meanwhile
		}
		t := terms{Start: row.Day(), End: row.DayPtr(), Frequency: row.Text(), DueDay: row.Int(), Rent: row.Int(), Proration: row.Text()}
		next := row.Day()
		find.Reset()
		if err := postLease(tx, lease, &t, next, today); err != nil {
			return err
		}
	}
	return nil
}

// postLease writes the periods of one lease that are due by last, from the one that
// begins on next. While the clock cannot be right nothing is posted: unavailable.
func postLease(tx *db.Tx, lease int64, t *terms, next, last exact.Day) error {
	insert, err := tx.Change(insertRent)
	if err != nil {
		return err
	}
	if next <= last {
		if err := tx.CheckClock(); err != nil {
			return err
		}
	}
	done := posted{From: next}
	for next <= last && t.covers(next) {
		p := t.from(next)
		amount := t.charge(p)
		if err := write(tx, insert, lease, t, p, amount); err != nil {
			return err
		}
		done.Charges++
		done.To = p.Last
		done.AmountCents += amount
		next = resume(p, amount, t.Rent)
	}
	if done.Charges == 0 {
		return nil
	}
	if err := postNext(tx, lease, t, next); err != nil {
		return err
	}
	return tx.AuditSystem("lease.posted", subject("lease", lease), done)
}

const insertRent = `INSERT INTO charges (lease_id, type, due_date, amount_cents, period_start, period_end, rent_cents, posted_at, label)
	VALUES (?1, 'rent', ?2, ?3, ?2, ?4, ?5, ?6, ?7)`

// write runs the prepared insertRent for one period. It boxes nothing: a first look at
// the arrears may post hundreds of thousands of them.
func write(tx *db.Tx, insert *db.Stmt, lease int64, t *terms, p period, amount int64) error {
	err := insert.Ints(lease, int64(p.First), amount, int64(p.Last), t.Rent, int64(tx.Now()))
	if err != nil {
		return err
	}
	insert.Text(7, t.label(p))
	return insert.Run()
}

// postNext notes where the posting of a lease goes on.
func postNext(tx *db.Tx, lease int64, t *terms, next exact.Day) error {
	_, err := tx.Exec("UPDATE leases SET next_post_day = ? WHERE id = ?", t.comes(next), lease)
	return err
}

// comes is next where the lease still runs then, else nil: no more will be posted.
func (t *terms) comes(next exact.Day) *exact.Day {
	if !t.covers(next) {
		return nil
	}
	return &next
}

// toPost lists the leases that have periods due by today to post, by id.
func toPost(c *db.Conn) ([]int64, error) {
	ids, err := db.All(c, db.Int, "SELECT id FROM leases WHERE next_post_day <= ?", c.Today())
	slices.Sort(ids)
	return ids, err
}

// posted gives the period that a rent charge was posted for.
func (t *terms) posted(c Charge) period {
	p := period{First: *c.PeriodStart, Last: *c.PeriodEnd}
	p.FullFirst, p.FullLast = t.around(p.First)
	return p
}
