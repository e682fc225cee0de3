package rental

import (
	"fmt"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// byOpening is the method of a payment that was taken over, and openingType the type of such a charge: no money was
// received, and nothing was billed here.
const (
	byOpening   = "opening"
	openingType = "opening"
)

// Opening takes a lease over from another book: rent, recurring charges and late fees due before Day
// are not posted. What was owed (above 0) or paid ahead (below 0) and the deposit that was held are
// entries of the day before. Without a day the lease has none.
type Opening struct {
	LeaseID      int64
	Day          *exact.Day
	PaidUpTo     *exact.Day // in place of Day: the last day of a period, the day after it is Day
	BalanceCents int64
	DepositCents int64
}

// OpeningsDone is the result of setting openings.
type OpeningsDone struct {
	Leases []OpeningDone `json:"leases"`
}

// OpeningDone is the result of setting one lease's opening.
type OpeningDone struct {
	LeaseID        int64      `json:"lease_id"`
	Property       string     `json:"property"`
	Unit           string     `json:"unit"`
	OpeningDay     *exact.Day `json:"opening_day"`
	Withdrawn      int        `json:"withdrawn" about:"how many charges due before the day were withdrawn"`
	WithdrawnCents int64      `json:"withdrawn_cents"`
	Posted         int        `json:"posted" about:"how many periods were posted again, since an earlier opening day held them back"`
	PostedCents    int64      `json:"posted_cents"`
	Totals         Totals     `json:"totals"`
}

// setOpenings sets the openings of leases, all or none. Unpaid rent, recurring charges and late fees
// due before the day are withdrawn; what an opening that is there made is replaced. It is invalid with
// a payment, a payout or a paid charge before the day, with a day that no period ends before, and with
// less than is paid of it.
func setOpenings(tx *db.Tx, all []Opening) (done OpeningsDone, err error) {
	for _, o := range all {
		one, err := setOpening(tx, o)
		if err != nil {
			return done, err
		}
		if err := catchUp(tx, o.LeaseID); err != nil {
			return done, err
		}
		if one.Totals, err = totalsOf(&tx.Conn, o.LeaseID); err != nil {
			return done, err
		}
		done.Leases = append(done.Leases, one)
	}
	return done, nil
}

// setOpening sets the opening of one lease. The caller then posts what is due.
func setOpening(tx *db.Tx, o Opening) (done OpeningDone, err error) {
	l, err := leases.ByID(&tx.Conn, o.LeaseID)
	if err != nil {
		return done, err
	}
	done = OpeningDone{LeaseID: l.ID, Property: l.Property, Unit: l.Unit}
	if done.OpeningDay, err = o.check(tx, l); err != nil {
		return done, err
	}
	if err := takeOpeningBack(tx, l, o); err != nil {
		return done, err
	}
	if done.OpeningDay != nil {
		if err := withdrawBefore(tx, l, *done.OpeningDay, &done); err != nil {
			return done, err
		}
	}
	if err := keepOpening(tx, l.ID, done.OpeningDay, o); err != nil {
		return done, err
	}
	if l, err = leases.ByID(&tx.Conn, l.ID); err != nil {
		return done, err
	}
	if err := postMissing(tx, l, &done); err != nil {
		return done, err
	}
	return done, tx.Audit("lease.opening", db.Subject("lease", l.ID), map[string]any{"opening_day": done.OpeningDay,
		"balance_cents": o.BalanceCents, "deposit_cents": o.DepositCents, "withdrawn": done.Withdrawn,
		"withdrawn_cents": done.WithdrawnCents})
}

// day is the requested opening day; nil if there is none. A refusal on a page names the lease.
func (o Opening) day(l Lease, onPage bool) (*exact.Day, error) {
	switch {
	case o.Day != nil && o.PaidUpTo != nil:
		return nil, fault.Fieldf("paid_up_to",
			"paid_up_to: give the opening day or the day up to which rent is paid, not both")
	case o.PaidUpTo == nil:
		return o.Day, nil
	}
	next := *o.PaidUpTo + 1
	if next <= l.StartDate {
		return &next, nil
	}
	t := l.terms()
	if !t.covers(*o.PaidUpTo) {
		return &next, nil
	}
	p := t.from(*o.PaidUpTo)
	if p.Last != *o.PaidUpTo {
		before, which := max(p.FullFirst, l.StartDate)-1, fmt.Sprintf("lease %d", l.ID)
		if onPage {
			which = leaseName(l)
		}
		return nil, fault.Fieldf("paid_up_to", "paid_up_to: no period of %s ends on %s; the nearest end on %s and %s",
			which, o.PaidUpTo, before, p.Last)
	}
	return &next, nil
}

// check refuses an opening that the lease cannot have, and returns its day.
func (o Opening) check(tx *db.Tx, l Lease) (*exact.Day, error) {
	c := &tx.Conn
	day, err := o.day(l, tx.Who().Via == "web")
	if err != nil {
		return nil, err
	}
	name := "day"
	if o.PaidUpTo != nil {
		name = "paid_up_to"
	}
	switch {
	case day == nil && (o.BalanceCents != 0 || o.DepositCents != 0):
		return nil, fault.Fieldf("day", "day is missing: balance and deposit need the day")
	case day == nil:
		return nil, nil
	case *day < l.StartDate || *day > c.Today()+366:
		return nil, fault.Fieldf(name, "%s: lease %d can be taken over on a day from %s, its first, to %s", name, l.ID,
			l.StartDate, c.Today()+366)
	}
	if err := mustBeOpen(c, name, *day); err != nil {
		return nil, err
	}
	return day, o.nothingBefore(c, l, *day, name)
}

// nothingBefore refuses a day before which money was received or paid.
func (o Opening) nothingBefore(c *db.Conn, l Lease, day exact.Day, name string) error {
	m, found, err := payments.One(c, `WHERE m.lease_id = ? AND m.voided_at IS NULL AND m.method <> 'opening'
		AND m.paid_date < ? LIMIT 1`, l.ID, day)
	if err != nil {
		return err
	}
	if found {
		return fault.Fieldf(name, "%s: payment %d over %d of %s lies before %s; reverse it first, or choose an earlier day",
			name, m.ID, fault.Cents(m.AmountCents), m.PaidDate, day)
	}
	payout, found,
		err := db.One(c, func(r *db.Row) Payout { return Payout{ID: r.Int(), AmountCents: r.Int(), Day: r.Day()} },
		"SELECT id, amount_cents, day FROM payouts WHERE lease_id = ? AND day < ? LIMIT 1", l.ID, day)
	if err != nil {
		return err
	}
	if found {
		return fault.Fieldf(name, "%s: %d were returned on %s (payout %d), before %s; choose an earlier day", name,
			fault.Cents(payout.AmountCents), payout.Day, payout.ID, day)
	}
	charge, found, err := charges.One(c, `WHERE c.lease_id = ?
		AND c.opening = 0 AND c.due_date < ?
		AND (c.paid_cents > 0 OR c.paid_date IS NOT NULL) AND NOT (SELECT min(m.method = 'opening') FROM allocations a CROSS
		JOIN payments m ON m.id = a.payment_id
			WHERE a.charge_id = c.id) ORDER BY c.due_date LIMIT 1`, l.ID, day)
	if err == nil && found {
		err = fault.Fieldf(name,
			"%s: charge %d (%s), due on %s, is paid; reverse that payment first, or choose an earlier day", name, charge.ID,
			charge.Label, charge.DueDate)
	}
	return err
}

// withdrawBefore deletes the rent, recurring charges and late fees due before the day, which are unpaid: check has made
// sure of that.
func withdrawBefore(tx *db.Tx, l Lease, day exact.Day, done *OpeningDone) error {
	due, err := charges.All(&tx.Conn, `WHERE c.lease_id = ?
		AND c.due_date < ?
		AND (c.type = 'rent' OR c.recurring_id IS NOT NULL OR c.fee_of IS NOT NULL) ORDER BY c.due_date, c.id`, l.ID, day)
	if err != nil {
		return err
	}
	for _, c := range due {
		if c.feeOf != nil {
			continue // it goes with its rent
		}
		sum, _, err := db.One(&tx.Conn, func(r *db.Row) [2]int64 { return [2]int64{r.Int(), r.Int()} },
			"SELECT count(*), coalesce(sum(amount_cents), 0) FROM charges WHERE id = ?1 OR fee_of = ?1", c.ID)
		if err != nil {
			return err
		}
		if err := withdraw(tx, "day", c); err != nil {
			return err
		}
		done.Withdrawn += int(sum[0])
		done.WithdrawnCents += sum[1]
	}
	return nil
}

// keepOpening stores the opening and its entries, of the day before.
func keepOpening(tx *db.Tx, lease int64, day *exact.Day, o Opening) error {
	if day == nil {
		tx.Do("UPDATE leases SET opening_day = NULL, opening_cents = NULL, opening_deposit_cents = NULL WHERE id = ?", lease)
		return nil
	}
	tx.Do("UPDATE leases SET opening_day = ?, opening_cents = ?, opening_deposit_cents = ? WHERE id = ?", day,
		o.BalanceCents, o.DepositCents, lease)
	before := *day - 1
	charge := func(typ, label string, cents int64) (int64, error) {
		return tx.InsertRow("charges", chargeSets+", opening", lease, typ, label+" on "+day.String(), before, cents, tx.Now(), 1)
	}
	if o.BalanceCents > 0 {
		if _, err := charge(openingType, "Balance", o.BalanceCents); err != nil {
			return err
		}
	}
	if o.DepositCents > 0 {
		held, err := charge("deposit", "Deposit held", o.DepositCents)
		if err != nil {
			return err
		}
		if _, err := payParts(tx, nil, lease, o.DepositCents, byOpening, before, paidPart{held, o.DepositCents}); err != nil {
			return err
		}
	}
	if o.BalanceCents < 0 {
		_, err := insertPayment(tx, nil, lease, -o.BalanceCents, byOpening, before)
		return err
	}
	return nil
}

// postMissing posts the periods from where the lease's postings now begin up to the posted ones, and notes where they
// continue.
func postMissing(tx *db.Tx, l Lease, done *OpeningDone) error {
	t := l.terms()
	begin := t.begin(l.OpeningDay)
	first, posted, err := charges.One(&tx.Conn, "WHERE c.lease_id = ? AND c.type = 'rent' ORDER BY c.period_start LIMIT 1",
		l.ID)
	if err != nil {
		return err
	}
	if !posted {
		tx.Do("UPDATE leases SET next_post_day = ? WHERE id = ?", t.remaining(begin), l.ID)
		return nil
	}
	if *first.PeriodStart <= begin {
		return nil
	}
	if err := tx.CheckClock(); err != nil {
		return err
	}
	p, next, err := newPoster(tx, l.ID)
	if err != nil {
		return err
	}
	if _, err := p.rents(begin, *first.PeriodStart-1); err != nil {
		return err
	}
	done.Posted, done.PostedCents = p.done.Charges, p.done.AmountCents
	tx.Do("UPDATE leases SET next_post_day = ? WHERE id = ?", next, l.ID)
	return nil
}

// openAsFile sets, and says so, the opening that a file's row asks for, if it is another than the lease has. A lease
// of which nothing is posted stays so: other files may say what its rent was.
func openAsFile(tx *db.Tx, lease int64, o *Opening) (set bool, err error) {
	l, err := leases.ByID(&tx.Conn, lease)
	if o == nil || err != nil {
		return false, err
	}
	o.LeaseID = lease
	day, err := o.check(tx, l)
	if err != nil || ptrEqual(day, l.OpeningDay) && o.BalanceCents == l.OpeningBalanceCents &&
		o.DepositCents == l.OpeningDepositCents {
		return false, err
	}
	if _, err := setOpening(tx, *o); err != nil {
		return true, err
	}
	_, posted, err := lastPosted(&tx.Conn, lease)
	if err != nil {
		return true, err
	}
	if posted {
		return true, catchUp(tx, lease)
	}
	p, next, err := newPoster(tx, lease)
	if err != nil {
		return true, err
	}
	event, err := p.nextEvent(next)
	if err != nil {
		return true, err
	}
	return true, p.finish(event)
}

// begin is the first day of the first period that is posted: of the first one that starts on the
// opening day or later.
func (t *terms) begin(opening *exact.Day) exact.Day {
	if opening == nil || *opening <= t.Start {
		return t.Start
	}
	first, last := t.around(*opening)
	if first == *opening {
		return first
	}
	return last + 1
}
