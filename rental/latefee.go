package rental

import (
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

const lateFee = "late_fee"

// LateFee is a property's fee for late rent: cents, or a percentage of what was open after the days of grace, for rent
// due on or after a day.
type LateFee struct {
	GraceDays int64        `json:"grace_days" about:"days of grace after the due date"`
	Cents     *int64       `json:"cents"`
	Percent   *exact.Milli `json:"percent" about:"of what was open then, with two decimals"`
	From      exact.Day    `json:"from"`
}

// of is the fee for what was open at the end of the grace.
func (f LateFee) of(open int64) int64 {
	switch {
	case open <= 0:
		return 0
	case f.Cents != nil:
		return *f.Cents
	}
	return exact.Mul(open, int64(*f.Percent)).DivRound(100_000)
}

// feeDay is the day on which the fee for rent that is due on a day is due.
// #nosec G115 -- at most a year
func (f LateFee) feeDay(due exact.Day) exact.Day { return due + exact.Day(f.GraceDays) + 1 }

const lateFeeColumns = "f.grace_days, f.cents, f.percent, f.from_day"

func scanLateFee(r *db.Row) LateFee {
	f := LateFee{GraceDays: r.Int(), Cents: r.IntPtr()}
	if hundredths := r.IntPtr(); hundredths != nil {
		f.Percent = new(exact.Milli(*hundredths * 10))
	}
	f.From = r.Day()
	return f
}

// feeFor returns the late fee rule for a lease's rent due on a day, if there is one.
func feeFor(c *db.Conn, lease int64, due exact.Day) (LateFee, bool, error) {
	return db.One(c, scanLateFee, "SELECT "+lateFeeColumns+` FROM leases l CROSS JOIN units u ON u.id = l.unit_id
		CROSS JOIN late_fees f ON f.property_id = u.property_id WHERE l.id = ? AND f.from_day <= ?
		ORDER BY f.from_day DESC LIMIT 1`, lease, due)
}

// feeLabel names the late fee for the rent that was due on a day.
func feeLabel(due exact.Day) string { return feeLabelFor + due.String() }

const feeLabelFor = "Late fee for rent due "

// rentFee is a rent charge with what its late fee depends on.
type rentFee struct {
	id, lease, amount int64
	due               exact.Day
	feeDay            *exact.Day
}

// refreshFees sets right the late fees of rent charges after their payments changed, and
// of the rent of late fees that changed: an unpaid fee becomes what it is by the days of
// the payments, a paid one stays, and the charge's fee_day says when one is due.
func refreshFees(tx *db.Tx, charges ...int64) error {
	for _, id := range charges {
		x, found, err := db.One(&tx.Conn, scanRentFee, `SELECT r.id, r.lease_id, r.amount_cents, r.due_date, r.fee_day
			FROM charges c
			CROSS JOIN charges r ON r.id = iif(c.type = 'rent', c.id, c.fee_of) WHERE c.id = ?`, id)
		if err != nil {
			return err
		}
		if found {
			if err := refreshFee(tx, x); err != nil {
				return err
			}
		}
	}
	return nil
}

func scanRentFee(r *db.Row) rentFee {
	return rentFee{id: r.Int(), lease: r.Int(), amount: r.Int(), due: r.Day(), feeDay: r.DayPtr()}
}

// owedFee is the late fee of a rent charge by the days of its payments, and the day on which it is due: 0 if there is
// none.
func owedFee(c *db.Conn, x rentFee) (cents int64, on exact.Day, err error) {
	f, found, err := feeFor(c, x.lease, x.due)
	if err != nil || !found {
		return 0, 0, err
	}
	_, voided, err := db.One(c, db.Int, "SELECT 1 FROM late_fee_voids WHERE lease_id = ? AND rent_due = ?", x.lease, x.due)
	if err != nil || voided {
		return 0, 0, err
	}
	on = f.feeDay(x.due)
	intime, err := db.Number(c, `SELECT coalesce(sum(a.amount_cents), 0) FROM allocations a CROSS JOIN payments m
		ON m.id = a.payment_id
		WHERE a.charge_id = ? AND m.paid_date < ?`, x.id, on)
	return f.of(x.amount - intime), on, err
}

func refreshFee(tx *db.Tx, x rentFee) error {
	cents, on, err := owedFee(&tx.Conn, x)
	if err != nil {
		return err
	}
	fee, posted, err := charges.One(&tx.Conn, "WHERE c.fee_of = ?", x.id)
	if err != nil {
		return err
	}
	var day *exact.Day
	switch {
	case posted && fee.Paid:
	case posted && (cents == 0 || on > tx.Today()):
		if err = withdrawFee(tx, fee); cents > 0 { // it comes on its day
			day = &on
		}
	case posted && (cents != fee.AmountCents || on != fee.DueDate):
		err = changeFee(tx, fee, cents, on)
	case !posted && cents > 0:
		day = &on
	}
	if err != nil || ptrEqual(day, x.feeDay) {
		return err
	}
	tx.Do("UPDATE charges SET fee_day = ? WHERE id = ?", day, x.id)
	return nil
}

// withdrawFee deletes an unpaid late fee; what was paid of it becomes credit.
func withdrawFee(tx *db.Tx, fee Charge) error {
	if err := release(tx, fee.ID, fee.PaidCents); err != nil {
		return err
	}
	tx.Do("DELETE FROM charges WHERE id = ?", fee.ID)
	return tx.AuditSystem("late_fee.withdrawn", db.Subject("charge", fee.ID),
		map[string]any{"label": fee.Label, "amount_cents": fee.AmountCents})
}

func changeFee(tx *db.Tx, fee Charge, cents int64, on exact.Day) error {
	if fee.PaidCents > cents {
		if err := release(tx, fee.ID, fee.PaidCents-cents); err != nil {
			return err
		}
	}
	tx.Do("UPDATE charges SET amount_cents = ?, due_date = ? WHERE id = ?", cents, on, fee.ID)
	recount(tx, fee.ID)
	return tx.AuditSystem("late_fee.changed", db.Subject("charge", fee.ID),
		map[string]any{"amount_cents": [2]int64{fee.AmountCents, cents}, "due_date": [2]exact.Day{fee.DueDate, on}})
}

// postFees posts the late fees of a lease that are due on a day. One that came from a file is not posted again.
func postFees(tx *db.Tx, lease int64, on exact.Day) error {
	late, err := db.All(&tx.Conn, scanRentFee,
		"SELECT id, lease_id, amount_cents, due_date, fee_day FROM charges WHERE lease_id = ? AND fee_day = ? ORDER BY "+
			"due_date, id", lease, on)
	if err != nil {
		return err
	}
	for _, x := range late {
		cents, _, err := owedFee(&tx.Conn, x)
		if err != nil {
			return err
		}
		if _, err := tx.Exec("UPDATE charges SET fee_day = NULL WHERE id = ?", x.id); err != nil {
			return err // else the next event would be this one again
		}
		was, found, err := findSingle(&tx.Conn, lease, lateFee, on, feeLabel(x.due))
		switch {
		case err != nil:
			return err
		case found:
			tx.Do("UPDATE charges SET fee_of = ? WHERE id = ?", x.id, was.ID)
			if err := refreshFees(tx, x.id); err != nil {
				return err
			}
			continue
		}
		id, err := tx.InsertRow("charges", chargeSets+", fee_of", lease, "late_fee", feeLabel(x.due), on, cents, tx.Now(),
			x.id)
		if err != nil {
			return err
		}
		err = tx.AuditSystem("late_fee.posted", db.Subject("charge", id),
			map[string]any{"lease_id": lease, "rent_charge_id": x.id, "amount_cents": cents, "due_date": on})
		if err != nil {
			return err
		}
	}
	return nil
}

// PropertyLateFee is the answer of set_late_fee.
type PropertyLateFee struct {
	PropertyID int64    `json:"property_id"`
	Property   string   `json:"property"`
	LateFee    *LateFee `json:"late_fee" about:"null: none from then on"`

	from    exact.Day
	charged int64 // how many late fees more or less there are at once
}

// setFee sets the fee for late rent due on or after f.From. Unpaid late fees are updated.
func setFee(tx *db.Tx, property int64, f LateFee) (PropertyLateFee, error) {
	name, err := propertyName(&tx.Conn, property)
	if err != nil {
		return PropertyLateFee{}, err
	}
	before, err := feesIn(&tx.Conn, property)
	if err != nil {
		return PropertyLateFee{}, err
	}
	if err := setLateFee(tx, property, f); err != nil {
		return PropertyLateFee{}, err
	}
	after, err := feesIn(&tx.Conn, property)
	if err != nil {
		return PropertyLateFee{}, err
	}
	now, err := feeOf(&tx.Conn, property)
	return PropertyLateFee{PropertyID: property, Property: name, LateFee: now, from: f.From, charged: after - before}, err
}

// feesIn counts the late fees charged in a property.
func feesIn(c *db.Conn, property int64) (int64, error) {
	return db.Number(c, `SELECT count(*) FROM units u CROSS JOIN leases l ON l.unit_id = u.id
		CROSS JOIN charges c ON c.lease_id = l.id WHERE u.property_id = ? AND c.fee_of IS NOT NULL`, property)
}

// feeOf is the property's latest late fee, nil if there is none that costs anything.
func feeOf(c *db.Conn, property int64) (*LateFee, error) {
	f, found, err := db.One(c, scanLateFee, "SELECT "+lateFeeColumns+
		" FROM late_fees f WHERE f.property_id = ? ORDER BY f.from_day DESC LIMIT 1", property)
	if err != nil || !found || f.Cents != nil && *f.Cents == 0 || f.Percent != nil && *f.Percent == 0 {
		return nil, err
	}
	return &f, nil
}

func setLateFee(tx *db.Tx, property int64, f LateFee) error {
	if (f.Cents == nil) == (f.Percent == nil) {
		return fault.Fieldf("cents", "cents or percent: give one of them; cents 0 means no late fee from then on")
	}
	leases, err := db.All(&tx.Conn, db.Int,
		"SELECT l.id FROM units u CROSS JOIN leases l ON l.unit_id = u.id WHERE u.property_id = ? ORDER BY l.id", property)
	if err != nil {
		return err
	}
	if err := post(tx, leases...); err != nil { // by the former rule
		return err
	}
	var percent *int64
	if f.Percent != nil {
		percent = new(int64(*f.Percent) / 10)
	}
	tx.Do("DELETE FROM late_fees WHERE property_id = ? AND from_day >= ?", property, f.From)
	tx.Do("INSERT INTO late_fees (property_id, from_day, grace_days, cents, percent) VALUES (?, ?, ?, ?, ?)",
		property, f.From, f.GraceDays, f.Cents, percent)
	if err := tx.Audit("property.late_fee", db.Subject("property", property), f); err != nil {
		return err
	}
	for _, lease := range leases {
		rents, err := db.All(&tx.Conn, db.Int,
			"SELECT id FROM charges WHERE lease_id = ? AND type = 'rent' AND due_date >= ?", lease, f.From)
		if err != nil {
			return err
		}
		if err := refreshFees(tx, rents...); err != nil {
			return err
		}
		if err := catchUp(tx, lease); err != nil {
			return err
		}
	}
	return nil
}
