package rental

import (
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// The types of charges. Rent is posted from the lease's terms by the system itself,
// and by nobody else.
const rent = "rent"

var chargeTypes = []string{rent, "deposit", "late_fee", "utility", "repair", "other"}

// Charge is one amount that a lease owes or owed.
type Charge struct {
	ID          int64       `json:"id"`
	Type        string      `json:"type" enum:"rent,deposit,late_fee,utility,repair,other"`
	Period      exact.Month `json:"period" about:"the month of the due date"`
	Label       string      `json:"label"`
	DueDate     exact.Day   `json:"due_date"`
	AmountCents int64       `json:"amount_cents"`
	Paid        bool        `json:"paid"`
	PaidDate    *exact.Day  `json:"paid_date"`
	Method      *string     `json:"method" enum:"cash,bank_transfer,card,check,direct_debit,online,other"`
	PeriodStart *exact.Day  `json:"period_start" about:"the first day that a rent charge is for; null for other types"`
	PeriodEnd   *exact.Day  `json:"period_end" about:"the last day that a rent charge is for; null for other types"`

	rent int64 // the rent of a whole period that a rent charge was computed from
}

// chargeColumns reads a charge c.
const chargeColumns = "c.id, c.type, c.label, c.due_date, c.amount_cents, c.paid_date, c.method, c.period_start, c.period_end, c.rent_cents"

func scanCharge(r *db.Row) Charge {
	c := Charge{ID: r.Int(), Type: r.Text(), Label: r.Text(), DueDate: r.Day(), AmountCents: r.Int(),
		PaidDate: r.DayPtr(), Method: r.TextPtr(), PeriodStart: r.DayPtr(), PeriodEnd: r.DayPtr(), rent: r.Int()}
	c.Period = c.DueDate.Month()
	c.Paid = c.PaidDate != nil
	return c
}

// Totals sum a lease's charges: billed = paid + balance, in cents.
type Totals struct {
	BilledCents  int64 `json:"billed_cents"`
	PaidCents    int64 `json:"paid_cents"`
	BalanceCents int64 `json:"balance_cents"`
}

func (t *Totals) add(c Charge) {
	t.BilledCents += c.AmountCents
	if c.Paid {
		t.PaidCents += c.AmountCents
	} else {
		t.BalanceCents += c.AmountCents
	}
}

// totalsOf sums the charges of a lease.
func totalsOf(c *db.Conn, lease int64) (Totals, error) {
	t, _, err := db.One(c, func(r *db.Row) Totals { return Totals{r.Int(), r.Int(), r.Int()} },
		`SELECT coalesce(sum(amount_cents), 0), coalesce(sum(iif(paid_date IS NULL, 0, amount_cents)), 0),
			coalesce(sum(iif(paid_date IS NULL, amount_cents, 0)), 0) FROM charges WHERE lease_id = ?`, lease)
	return t, err
}
