package rental

import (
	"slices"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/record"
)

// The types of charges. Rent is posted from the lease's terms by the system itself,
// and by no other code.
const rent = "rent"

var chargeTypes = []string{rent, "deposit", "late_fee", "utility", "repair", "other", openingType}

// Charge is one amount that a lease owes or owed. It may be paid in parts.
type Charge struct {
	ID           int64       `json:"id"`
	Type         string      `json:"type" enum:"rent,deposit,late_fee,utility,repair,other,opening"`
	Period       exact.Month `json:"period" about:"the month of the due date"`
	Label        string      `json:"label"`
	DueDate      exact.Day   `json:"due_date"`
	AmountCents  int64       `json:"amount_cents"`
	Paid         bool        `json:"paid" about:"nothing of it is open, and a payment was recorded"`
	PaidDate     *exact.Day  `json:"paid_date" about:"the day of the last payment, when it is paid"`
	Method       *string     `json:"method" enum:"cash,bank_transfer,card,check,direct_debit,online,other,deposit,opening"`
	PeriodStart  *exact.Day  `json:"period_start" about:"the first day that a rent charge is for; null for other types"`
	PeriodEnd    *exact.Day  `json:"period_end" about:"the last day that a rent charge is for; null for other types"`
	PaidCents    int64       `json:"paid_cents"`
	BalanceCents int64       `json:"balance_cents" about:"what is open: amount_cents - paid_cents"`

	rent      int64  // the rent of a whole period that a rent charge was computed from
	recurring *int64 // the recurring charge that it was posted for
	feeOf     *int64 // of a late fee: the rent charge
	opening   bool   // it was taken over with the lease
	lease     int64
}

// chargeColumns reads a charge c.
const chargeColumns = `c.id, c.type, c.label, c.due_date, c.amount_cents, c.paid_date, c.method, c.period_start, c.period_end, c.rent_cents,
	c.paid_cents, c.recurring_id, c.fee_of, c.opening, c.lease_id`

// chargeSets are the columns of a charge that is given or posted by a rule; rent is posted by
// insertRent, which has its period besides.
const chargeSets db.Columns = "lease_id, type, label, due_date, amount_cents, posted_at"

var charges = record.Read("charge", "c", chargeColumns, "charges c", scanCharge)

func scanCharge(r *db.Row) Charge {
	c := Charge{ID: r.Int(), Type: r.Text(), Label: r.Text(), DueDate: r.Day(), AmountCents: r.Int(),
		PaidDate: r.DayPtr(), Method: r.TextPtr(), PeriodStart: r.DayPtr(), PeriodEnd: r.DayPtr(), rent: r.Int(),
		PaidCents: r.Int(), recurring: r.IntPtr(), feeOf: r.IntPtr(), opening: r.Bool(), lease: r.Int()}
	c.Period = c.DueDate.Month()
	c.Paid = c.PaidDate != nil
	c.BalanceCents = c.AmountCents - c.PaidCents
	return c
}

// Totals sum a lease's charges and money, in cents. Always billed = paid + balance, and
// paid + credit = received + deposits used + opening credit - credit returned.
type Totals struct {
	BilledCents        int64 `json:"billed_cents"`
	PaidCents          int64 `json:"paid_cents"`
	BalanceCents       int64 `json:"balance_cents"`
	CreditCents        int64 `json:"credit_cents" about:"what was received and is not used yet"`
	DepositHeldCents   int64 `json:"deposit_held_cents" about:"deposits paid, less what was used and returned of them"`
	OpeningCreditCents int64 `json:"opening_credit_cents,omitempty" about:"what was paid ahead and held as deposit when the lease was taken over"`
}

// totalsOf sums the charges and the money of a lease.
func totalsOf(c *db.Conn, lease int64) (t Totals, err error) {
	t, _, err = db.One(c, func(r *db.Row) Totals {
		return Totals{BilledCents: r.Int(), PaidCents: r.Int(), DepositHeldCents: r.Int(), CreditCents: r.Int(),
			OpeningCreditCents: r.Int()}
	}, `SELECT coalesce(sum(amount_cents), 0), coalesce(sum(paid_cents), 0),
		coalesce(sum(iif(type = 'deposit', paid_cents, 0)), 0) - (`+depositOut+"), "+credit+`,
		(SELECT coalesce(sum(amount_cents), 0) FROM payments WHERE lease_id = ?1 AND method = 'opening')
		FROM charges WHERE lease_id = ?1`, lease)
	t.BalanceCents = t.BilledCents - t.PaidCents
	return t, err
}

// credit is what the payments of lease ?1 have that no charge has taken, depositOut what was used and returned of its
// deposits.
const (
	credit     = "(SELECT coalesce(sum(credit_cents), 0) FROM payments WHERE lease_id = ?1 AND credit_cents > 0)"
	depositOut = `(SELECT coalesce(sum(amount_cents), 0) FROM payments WHERE lease_id = ?1 AND method = 'deposit'
		AND voided_at IS NULL)
		+ (SELECT coalesce(sum(amount_cents), 0) FROM payouts WHERE lease_id = ?1 AND kind = 'deposit')`
)

func creditOf(c *db.Conn, lease int64) (int64, error) { return db.Number(c, "SELECT "+credit, lease) }

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
	if _, err := leases.ByID(&tx.Conn, lease); err != nil {
		return Charged{}, err
	}
	var id int64
	done := Charged{LeaseID: lease}
	done.Totals, err = acted(tx, lease, func() (err error) { id, err = insertSingle(tx, lease, n); return err })
	if err != nil {
		return done, err
	}
	done.Charge, err = findCharge(&tx.Conn, lease, id)
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
	if err := within("amount_cents", n.AmountCents, 0, maxCents); err != nil {
		return n, err
	}
	if n.DueDate < exact.MinDay || n.DueDate > exact.MaxDay {
		return n, fault.Fieldf("due_date", "due_date: it takes a calendar day as YYYY-MM-DD")
	}
	if n.Label = strings.TrimSpace(n.Label); n.Label == "" {
		return n, fault.Fieldf("label", "label is empty: a text is needed")
	}
	return n, schema.CheckText("label", n.Label, maxName)
}

// findSingle returns the lease's charge of that type, day and label that is not a
// billing period.
func findSingle(c *db.Conn, lease int64, typ string, due exact.Day, label string) (Charge, bool, error) {
	return charges.One(c, `WHERE c.lease_id = ? AND c.type = ? AND c.due_date = ? AND c.label = ?
		AND c.period_start IS NULL`, lease, typ, due, label)
}

func insertSingle(tx *db.Tx, lease int64, n NewCharge) (id int64, err error) {
	was, found, err := findSingle(&tx.Conn, lease, n.Type, n.DueDate, n.Label)
	switch {
	case err != nil:
		return 0, err
	case found && tx.Who().Via == "web":
		return 0, fault.Conflictf("label: %s, due %s, is charged already, %d. Give another label to charge it again",
			schema.Quote(n.Label), n.DueDate, fault.Cents(was.AmountCents)).At("label")
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
