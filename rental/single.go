package rental

import (
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// SingleTypes are the types of charges that people make; rent is posted automatically, and an opening balance is taken
// over.
var SingleTypes = chargeTypes[1 : len(chargeTypes)-1]

// NewCharge is one charge that is not rent: a deposit, a fee, a repair.
type NewCharge struct {
	Type        string
	AmountCents int64
	DueDate     exact.Day
	Label       string
}

// Charged is the result of making a charge.
type Charged struct {
	LeaseID int64  `json:"lease_id"`
	Charge  Charge `json:"charge"`
	Totals  Totals `json:"totals"`
}

// addCharge charges a lease for something besides its rent, due on any day. An unknown
// lease is not found; rent, an unknown type, an amount out of range and an empty label
// are invalid; a charge of the same type, day and label is a conflict.
func addCharge(tx *db.Tx, lease int64, n NewCharge) (Charged, error) {
	n, err := n.check()
	if err != nil {
		return Charged{}, err
	}
	if _, err := postedLease(tx, lease); err != nil {
		return Charged{}, err
	}
	id, err := insertSingle(tx, lease, n)
	if err != nil {
		return Charged{}, err
	}
	if err := catchUp(tx, lease); err != nil {
		return Charged{}, err
	}
	done := Charged{LeaseID: lease}
	if done.Charge, err = findCharge(&tx.Conn, lease, id); err != nil {
		return Charged{}, err
	}
	done.Totals, err = totalsOf(&tx.Conn, lease)
	return done, err
}

// check refuses an invalid charge, and trims.
func (n NewCharge) check() (NewCharge, error) {
	if n.Type == rent {
		return n, fault.Fieldf("type", "type: rent is posted automatically; choose one of %s",
			strings.Join(SingleTypes, ", "))
	}
	if !slices.Contains(SingleTypes, n.Type) {
		return n, fault.Fieldf("type", "type: %s is not allowed; it takes one of %s", schema.Quote(n.Type),
			strings.Join(SingleTypes, ", "))
	}
	if err := checkCents("amount_cents", n.AmountCents); err != nil {
		return n, err
	}
	if n.DueDate < exact.MinDay || n.DueDate > exact.MaxDay {
		return n, fault.Fieldf("due_date", "due_date: it takes a calendar day as YYYY-MM-DD")
	}
	var err error
	n.Label, err = checkText("label", n.Label, maxName)
	return n, err
}

// findSingle returns the lease's charge of that type, day and label that is not a
// billing period.
func findSingle(c *db.Conn, lease int64, typ string, due exact.Day, label string) (Charge, bool, error) {
	return db.One(c, scanCharge, "SELECT "+chargeColumns+` FROM charges c
		WHERE c.lease_id = ? AND c.type = ? AND c.due_date = ? AND c.label = ? AND c.period_start IS NULL`, lease, typ, due,
		label)
}

func insertSingle(tx *db.Tx, lease int64, n NewCharge) (id int64, err error) {
	was, found, err := findSingle(&tx.Conn, lease, n.Type, n.DueDate, n.Label)
	switch {
	case err != nil:
		return 0, err
	case found:
		return 0, fault.Conflictf("lease %d has this %s charge already: charge %d, due %s, %s; give another label to "+
			"charge it again",
			lease, n.Type, was.ID, n.DueDate, schema.Quote(n.Label))
	}
	id, err = tx.InsertRow("charges", chargeSets, lease, n.Type, n.Label, n.DueDate, n.AmountCents, tx.Now())
	if err != nil {
		return 0, err
	}
	return id, tx.Audit("charge.created", db.Subject("charge", id), struct {
		LeaseID     int64     `json:"lease_id"`
		Type        string    `json:"type"`
		Label       string    `json:"label"`
		DueDate     exact.Day `json:"due_date"`
		AmountCents int64     `json:"amount_cents"`
	}{lease, n.Type, n.Label, n.DueDate, n.AmountCents})
}
