package rental

import (
	"context"
	"fmt"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// Statement is what a lease was charged and what came in, in a year. The balances are of
// its account: closing = opening + charged - received - deposits used + credit returned;
// less than nothing is in the tenant's favour.
type Statement struct {
	Lease               Lease           `json:"lease"`
	Year                int64           `json:"year"`
	From                exact.Day       `json:"from"`
	To                  exact.Day       `json:"to"`
	OpeningBalanceCents int64           `json:"opening_balance_cents"`
	Charges             []Charge        `json:"charges" about:"by due date"`
	Payments            []StoredPayment `json:"payments" about:"by paid date, deposits that were used among them"`
	ChargedCents        int64           `json:"charged_cents"`
	ReceivedCents       int64           `json:"received_cents" about:"money that came in"`
	DepositUsedCents    int64           `json:"deposit_used_cents"`
	CreditReturnedCents int64           `json:"credit_returned_cents"`
	ClosingBalanceCents int64           `json:"closing_balance_cents"`
	CreditCents         int64           `json:"credit_cents" about:"the lease's credit now"`
	DepositHeldCents    int64           `json:"deposit_held_cents" about:"the deposit held now"`
	DepositReturned     int64           `json:"-"`
	Today               exact.Day       `json:"-"`
	PayTo               *PayTo          `json:"-"`
	Standing
}

func yearDays(year int64) (first, last exact.Day) {
	return exact.DateOf(int(year), 1, 1), exact.DateOf(int(year), 12, 31)
}

// LeaseStatement returns a lease's statement of a year, in which everything due by today is
// posted. An unknown lease is not found.
func (s *Service) LeaseStatement(ctx context.Context, who db.Caller, lease, year int64) (st Statement, err error) {
	st.Standing, err = s.upToDate(ctx, who, func(c *db.Conn, r *reading) error {
		l, err := leases.ByID(c, lease)
		if err != nil {
			return err
		}
		if l.unposted(c.Today()) && r.await([]int64{lease}) {
			return nil
		}
		st, err = statementOf(c, l, year)
		return err
	})
	return st, err
}

func statementOf(c *db.Conn, l Lease, year int64) (Statement, error) {
	st := Statement{Lease: l, Year: year, Today: c.Today(), Charges: []Charge{}, Payments: []StoredPayment{}}
	st.From, st.To = yearDays(year)
	if l.OpeningDay != nil && st.To < *l.OpeningDay {
		return st, fault.Fieldf("year", "year: lease %d was taken over on %s; it has no statement of an earlier year", l.ID,
			l.OpeningDay)
	}
	// What was taken over is the balance at the beginning. A payment of the day before is not: its tenant made it.
	charges, err := chargesOf(c, l.ID)
	if err != nil {
		return st, err
	}
	for _, x := range charges {
		switch {
		case x.opening || x.DueDate < st.From:
			st.OpeningBalanceCents += x.AmountCents
		case x.DueDate <= st.To:
			st.Charges = append(st.Charges, x)
			st.ChargedCents += x.AmountCents
		}
	}
	payments, err := paymentsOf(c, l.ID)
	if err != nil {
		return st, err
	}
	for _, m := range payments {
		switch {
		case m.Method == byOpening || m.PaidDate < st.From:
			st.OpeningBalanceCents -= m.AmountCents
			continue
		case m.PaidDate > st.To:
			continue
		case m.Method == byDeposit:
			st.DepositUsedCents += m.AmountCents
		default:
			st.ReceivedCents += m.AmountCents
		}
		st.Payments = append(st.Payments, m)
	}
	type out struct {
		day    exact.Day
		cents  int64
		credit bool
	}
	returned, err := db.All(c, func(r *db.Row) out { return out{r.Day(), r.Int(), r.Bool()} },
		"SELECT day, amount_cents, kind = 'credit' FROM payouts WHERE lease_id = ?", l.ID)
	if err != nil {
		return st, err
	}
	for _, o := range returned {
		switch {
		case o.credit && o.day < st.From:
			st.OpeningBalanceCents += o.cents
		case o.credit && o.day <= st.To:
			st.CreditReturnedCents += o.cents
		case o.day >= st.From && o.day <= st.To:
			st.DepositReturned += o.cents
		}
	}
	st.ClosingBalanceCents = st.OpeningBalanceCents + st.ChargedCents - st.ReceivedCents - st.DepositUsedCents +
		st.CreditReturnedCents
	t, err := totalsOf(c, l.ID)
	st.CreditCents, st.DepositHeldCents = t.CreditCents, t.DepositHeldCents
	return st, err
}

// paymentsOf lists the payments of a lease, without reversed ones, by day.
func paymentsOf(c *db.Conn, lease int64) ([]StoredPayment, error) {
	return payments.All(c, "WHERE m.lease_id = ? AND m.voided_at IS NULL ORDER BY m.paid_date, m.id", lease)
}

// TypeReceived is the sum received for one type of charges.
type TypeReceived struct {
	Type          string `json:"type"`
	ReceivedCents int64  `json:"received_cents"`
}

// UnitReceived is the sum received for one unit.
type UnitReceived struct {
	UnitID        int64  `json:"unit_id"`
	Unit          string `json:"unit"`
	ReceivedCents int64  `json:"received_cents"`
}

// PropertyStatement is the money that came in for a property in a year: by what it paid,
// and what of it is not used yet.
type PropertyStatement struct {
	PropertyID          int64          `json:"property_id"`
	Property            string         `json:"property"`
	Year                int64          `json:"year"`
	ReceivedCents       int64          `json:"received_cents"`
	ByType              []TypeReceived `json:"by_type"`
	Units               []UnitReceived `json:"units"`
	CreditCents         int64          `json:"credit_cents" about:"of it, not yet used"`
	CreditReturnedCents int64          `json:"credit_returned_cents" about:"of it, paid out again"`
	Standing
}

// PropertyStatement returns a property's statement of a year.
func (s *Service) PropertyStatement(ctx context.Context, who db.Caller, property, year int64) (st PropertyStatement,
	err error) {
	st.Standing, err = s.allPosted(ctx, who, func(c *db.Conn) error {
		st = PropertyStatement{PropertyID: property, Year: year}
		if st.Property, err = propertyName(c, property); err != nil {
			return err
		}
		return st.read(c)
	})
	return st, err
}

// read adds the year up. What was received and is credit comes from the index of payments alone; of
// what it went to, all but rent is looked up, and rent is the rest.
func (st *PropertyStatement) read(c *db.Conn) error {
	first, last := yearDays(st.Year)
	const came = "m.voided_at IS NULL AND m.method NOT IN ('deposit', 'opening') AND m.paid_date BETWEEN ?2 AND ?3"
	type sum struct{ cents, credit int64 }
	byUnit := map[int64]sum{}
	err := db.Each(c, func(r *db.Row) error {
		unit := r.Int()
		byUnit[unit] = sum{r.Int(), r.Int()}
		return nil
	}, "SELECT u.id, sum(m.amount_cents), sum(m.credit_cents) FROM units u CROSS JOIN leases l ON l.unit_id = u.id "+
		"CROSS JOIN payments m ON m.lease_id = l.id AND "+came+
		" WHERE u.property_id = ?1 GROUP BY u.id", st.PropertyID, first, last)
	if err != nil {
		return err
	}
	st.Units, err = db.All(c, func(r *db.Row) UnitReceived {
		u := UnitReceived{UnitID: r.Int(), Unit: r.Text()}
		u.ReceivedCents = byUnit[u.UnitID].cents
		st.ReceivedCents += u.ReceivedCents
		st.CreditCents += byUnit[u.UnitID].credit
		return u
	}, "SELECT id, name FROM units WHERE property_id = ? ORDER BY name", st.PropertyID)
	if err != nil {
		return err
	}
	st.CreditReturnedCents, err = db.Number(c, `SELECT coalesce(sum(a.amount_cents), 0) FROM units u CROSS
		JOIN leases l ON l.unit_id = u.id
		CROSS JOIN payouts o ON o.lease_id = l.id CROSS JOIN allocations a ON a.payout_id = o.id CROSS JOIN payments m
		ON m.id = a.payment_id AND `+came+`
		WHERE u.property_id = ?1`, st.PropertyID, first, last)
	if err != nil {
		return err
	}
	ofRent := st.ReceivedCents - st.CreditCents - st.CreditReturnedCents
	byType := map[string]int64{}
	err = db.Each(c, func(r *db.Row) error {
		typ, cents := r.Text(), r.Int()
		byType[typ] += cents
		ofRent -= cents
		return nil
	}, `SELECT ch.type, a.amount_cents FROM units u CROSS JOIN leases l ON l.unit_id = u.id
		CROSS JOIN charges ch ON ch.lease_id = l.id AND ch.type IN ('deposit', 'late_fee', 'utility', 'repair', 'other',
		'opening')
		CROSS JOIN allocations a ON a.charge_id = ch.id CROSS JOIN payments m ON m.id = a.payment_id AND `+came+
		" WHERE u.property_id = ?1", st.PropertyID, first, last)
	if err != nil {
		return err
	}
	if ofRent != 0 {
		byType[rent] = ofRent
	}
	st.ByType = []TypeReceived{}
	for _, typ := range chargeTypes {
		if cents, have := byType[typ]; have {
			st.ByType = append(st.ByType, TypeReceived{typ, cents})
		}
	}
	return nil
}

// Receipt is one payment with what it paid.
type Receipt struct {
	Lease       Lease         `json:"lease"`
	Payment     StoredPayment `json:"payment"`
	Allocations []Allocation  `json:"allocations"`
}

// LeaseReceipt returns the receipt of a payment. An unknown payment is not found, and one
// that was reversed has none.
func (s *Service) LeaseReceipt(ctx context.Context, payment int64) (Receipt, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (Receipt, error) { return receiptOf(c, payment) })
}

func receiptOf(c *db.Conn, payment int64) (r Receipt, err error) {
	if r.Payment, err = payments.ByID(c, payment); err != nil {
		return r, err
	}
	if r.Payment.VoidedAt != nil {
		return r, fault.Conflictf("payment %d was reversed: it has no receipt", payment)
	}
	if r.Lease, err = leases.ByID(c, r.Payment.LeaseID); err != nil {
		return r, err
	}
	r.Allocations, err = allocationsOf(c, payment)
	return r, err
}

func bindYear(f *schema.Form, p *int64) {
	f.Int(p, "year", "the calendar year", schema.Required, schema.Range(1900, 9999), schema.Example(2026))
}

func exampleStored() StoredPayment {
	return StoredPayment{ID: 9, LeaseID: 4, AmountCents: 95_000, Method: "bank_transfer",
		PaidDate: exampleDay("2026-11-20"), RecordedAt: exact.Instant(1_795_209_900)}
}

func (s *Service) leaseStatement() schema.Op {
	st := Statement{Lease: exampleLease(), Year: 2026, From: exampleDay("2026-01-01"), To: exampleDay("2026-12-31"),
		Charges:  []Charge{examplePaid()},
		Payments: []StoredPayment{exampleStored()}, ChargedCents: 95_000, ReceivedCents: 95_000}
	return schema.Op{
		Name: "lease_statement", About: "What a lease was charged and what came in, in a year.", Response: st,
		Refuses: []fault.Kind{fault.NotFound},
		Bind: schema.Does2(func(f *schema.Form, lease, year *int64) {
			bindLeaseID(f, lease)
			bindYear(f, year)
		}, s.LeaseStatement),
		Print: schema.Printed(printStatement), Example: "rental statement 'Harbour House/2A' --year 2026",
	}
}

func (s *Service) propertyStatement() schema.Op {
	st := PropertyStatement{PropertyID: 1, Property: "Harbour House", Year: 2026, ReceivedCents: 95_000,
		ByType: []TypeReceived{{rent, 95_000}}, Units: []UnitReceived{{2, "2A", 95_000}}}
	return schema.Op{
		Name: "property_statement", About: "The money that came in for a property in a year, by type of charge and by unit.",
		Response: st, Refuses: []fault.Kind{fault.NotFound},
		Bind: schema.Does2(func(f *schema.Form, property, year *int64) {
			f.ID(property, "property_id", "the property", schema.Required, schema.Example(1), schema.Lookup(lookupProperty),
				schema.Choices(propertyChoices), schema.NameFirst)
			bindYear(f, year)
		}, s.PropertyStatement),
		Print: schema.Printed(printPropertyStatement), Example: "rental property-statement 'Harbour House' --year 2026",
	}
}

func (s *Service) leaseReceipt() schema.Op {
	return schema.Op{
		Name: "lease_receipt", About: "The receipt of a payment.", Response: Receipt{Lease: exampleLease(),
			Payment: exampleStored(), Allocations: exampleAllocations()},
		Refuses: []fault.Kind{fault.NotFound, fault.Conflict},
		Bind: schema.Reads(func(f *schema.Form, payment *int64) {
			f.ID(payment, "payment_id", "the payment", schema.Positional("PAYMENT_ID"), schema.Required, schema.Example(9),
				schema.Choices(paymentChoices))
		}, s.LeaseReceipt),
		Print: schema.Printed(printReceipt), Example: "rental receipt 9",
	}
}

// Years are those of which a lease has something to state, the last first.
func (l Lease) Years(today exact.Day) (years []int64) {
	start := schema.Or(l.OpeningDay, l.StartDate)
	first, _, _ := start.Date()
	last, _, _ := max(today, start).Date()
	for y := first; y <= last; y++ {
		years = append(years, int64(y))
	}
	slices.Reverse(years)
	return years
}

// Today is the shop's day.
func (s *Service) Today(ctx context.Context) (exact.Day, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (exact.Day, error) { return c.Today(), nil })
}

// MoneyYears are the years from the first money of a property, or of all for 0, to this one, latest first; only this
// one if there is none.
func (s *Service) MoneyYears(ctx context.Context, property int64) ([]int64, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (years []int64, err error) {
		query := `SELECT min(d), max(d) FROM (SELECT min(paid_date) AS d FROM payments WHERE voided_at IS NULL UNION ALL
			SELECT max(paid_date) FROM payments WHERE voided_at IS NULL
			UNION ALL SELECT min(day) FROM expenses UNION ALL SELECT max(day) FROM expenses)`
		if property != 0 {
			query = `SELECT min(d), max(d) FROM (SELECT m.paid_date AS d FROM units u CROSS JOIN leases l ON l.unit_id = u.id
				CROSS JOIN payments m ON m.lease_id = l.id WHERE u.property_id = ?1 AND m.voided_at IS NULL
				UNION ALL SELECT day FROM expenses WHERE property_id = ?1)`
		}
		var args []any
		if property != 0 {
			args = append(args, property)
		}
		this := yearOf(c.Today())
		first, last := this, this
		_, _, err = db.One(c, func(r *db.Row) bool {
			if from, to := r.DayPtr(), r.DayPtr(); from != nil && to != nil {
				first, last = min(this, yearOf(*from)), max(this, yearOf(*to))
			}
			return true
		}, query, args...)
		for y := last; y >= first; y-- {
			years = append(years, y)
		}
		return years, err
	})
}

func (p StoredPayment) String() string { return fmt.Sprintf("payment %d", p.ID) }
