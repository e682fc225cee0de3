package rental

import (
	"cmp"
	"context"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// MoneyIn is a payment that an agent records: on account of a lease, or of one charge.
type MoneyIn struct {
	LeaseID     int64 // 0: the charge's
	ChargeID    int64 // 0: on account
	AmountCents int64
	Currency    string // "" is the shop's
	Method      string // an unknown one is other
	PaidDate    string // an invalid one is today
}

// Owing is what a lease owes and has of credit.
type Owing struct {
	BalanceCents int64 `json:"balance_cents"`
	CreditCents  int64 `json:"credit_cents"`
}

// MoneyRecorded is a payment with the lease's debt before and after it.
type MoneyRecorded struct {
	PaymentID   int64        `json:"payment_id"`
	LeaseID     int64        `json:"lease_id"`
	Unit        string       `json:"unit"`
	Property    string       `json:"property"`
	Tenant      string       `json:"tenant"`
	AmountCents int64        `json:"amount_cents"`
	PaidDate    exact.Day    `json:"paid_date"`
	Method      string       `json:"method"`
	Allocations []Allocation `json:"allocations" about:"the charges that it paid"`
	Before      Owing        `json:"before"`
	After       Owing        `json:"after"`
}

// recordMoney records a payment as receive does for a lease, and recordPayment for a charge.
// A currency that is not the shop's is refused.
func recordMoney(tx *db.Tx, m MoneyIn) (done MoneyRecorded, err error) {
	if err := checkCurrency(&tx.Conn, m.Currency); err != nil {
		return done, err
	}
	if m.LeaseID == 0 {
		lease, found, err := db.One(&tx.Conn, db.Int, "SELECT lease_id FROM charges WHERE id = ?", m.ChargeID)
		if err == nil && !found {
			err = fault.Fieldf("charge_id", "charge_id: there is no charge %d", m.ChargeID)
		}
		if err != nil {
			return done, err
		}
		m.LeaseID = lease
	}
	l, err := postedLease(tx, m.LeaseID)
	if err != nil {
		return done, err
	}
	before, err := totalsOf(&tx.Conn, l.ID)
	if err != nil {
		return done, err
	}
	var p Payment
	if m.ChargeID != 0 {
		p, err = recordPayment(tx, PaymentRequest{LeaseID: l.ID, ChargeID: m.ChargeID, AmountCents: &m.AmountCents,
			Method: m.Method, PaidDate: m.PaidDate})
	} else {
		p, err = receive(tx, ReceiptRequest{LeaseID: l.ID, AmountCents: m.AmountCents, Method: m.Method,
			PaidDate: m.PaidDate})
	}
	if err != nil {
		return done, err
	}
	stored, err := payments.ByID(&tx.Conn, p.PaymentID)
	return MoneyRecorded{PaymentID: p.PaymentID, LeaseID: l.ID, Unit: l.Unit, Property: l.Property, Tenant: l.Tenant,
		AmountCents: p.AmountCents, PaidDate: stored.PaidDate, Method: stored.Method, Allocations: p.Allocations,
		Before: Owing{before.BalanceCents, before.CreditCents},
		After:  Owing{p.Totals.BalanceCents, p.Totals.CreditCents}}, err
}

func checkCurrency(c *db.Conn, said string) error {
	shops, err := c.Currency()
	if err == nil && said != "" && said != shops.Code {
		err = fault.Fieldf("currency", "currency: rents are in %s here, not in %s", shops.Code, schema.Quote(said))
	}
	return err
}

func bindMoney(f *schema.Form, m *MoneyIn) {
	f.ID(&m.LeaseID, "lease_id", "on account of this lease", schema.Lookup(leaseFor), schema.Example(4))
	f.ID(&m.ChargeID, "charge_id", "or of this one charge", schema.Example(41))
	f.Int(&m.AmountCents, "amount_cents", "how much came in", schema.Required, schema.Range(1, maxCents),
		schema.Example(95_000))
	f.Text(&m.Currency, "currency", "refused if it is not the shop's", schema.Most(3))
	bindPaidDate(f, &m.PaidDate, "YYYY-MM-DD; an invalid day counts as today")
	bindMethod(f, &m.Method)
	if !f.Describing() && m.LeaseID == 0 && m.ChargeID == 0 && !f.Given("lease_id") && !f.Given("lease") &&
		!f.Given("charge_id") {
		f.Refuse("lease_id", "lease_id is missing: give it, or lease with the unit or the tenant, or charge_id")
	}
}

func exampleMoney() MoneyRecorded {
	l := exampleLease()
	return MoneyRecorded{PaymentID: 9, LeaseID: l.ID, Unit: l.Unit, Property: l.Property, Tenant: l.Tenant,
		AmountCents: 95_000, PaidDate: exampleDay("2026-11-20"),
		Method: "bank_transfer", Allocations: exampleAllocations(), Before: Owing{BalanceCents: 95_000}}
}

// FoundPayment is a payment of any lease with what it paid.
type FoundPayment struct {
	LeasePayment
	LeaseID  int64  `json:"lease_id"`
	Unit     string `json:"unit"`
	Property string `json:"property"`
	Tenant   string `json:"tenant"`
}

// ShortPayment are the few fields of a payment that identify and decide.
type ShortPayment struct {
	PaymentID   int64     `json:"payment_id"`
	PaidDate    exact.Day `json:"paid_date"`
	AmountCents int64     `json:"amount_cents"`
	Unit        string    `json:"unit"`
	Tenant      string    `json:"tenant"`
}

func (p FoundPayment) short() ShortPayment {
	return ShortPayment{p.PaymentID, p.PaidDate, p.AmountCents, p.Unit, schema.Shorten(p.Tenant, 24)}
}

// FoundPayments is a list of payments for agents.
type FoundPayments struct {
	Payments      []schema.Row[FoundPayment, ShortPayment] `json:"payments"`
	ReceivedCents *int64                                   `json:"received_cents,omitempty" about:"of all that match, on the first page"`
	Shown         int                                      `json:"shown"`
	Total         int                                      `json:"total"`
	Next          *string                                  `json:"next" about:"pass it as after; null at the end"`
}

// PaymentFilter restricts payments; zero values do not.
type PaymentFilter struct {
	LeaseID          int64
	Property, Tenant string // parts of names
	From, To         *exact.Day
}

// FindPayments lists received money, without reversed payments, used deposits and opening balances.
func (s *Service) FindPayments(ctx context.Context, _ db.Caller, f PaymentFilter, l schema.Listing, sort string) (
	found FoundPayments, err error) {
	if err := s.known(ctx, &f.Property, &f.Tenant); err != nil {
		return found, err
	}
	return db.Read(ctx, s.db, func(c *db.Conn) (found FoundPayments, err error) {
		if f.LeaseID != 0 {
			if _, err := leases.ByID(c, f.LeaseID); err != nil {
				return found, err
			}
		}
		all, err := f.read(c)
		if err != nil {
			return found, err
		}
		switch sort {
		case sortOldest:
			slices.Reverse(all)
		case "most":
			slices.SortStableFunc(all, func(a, b FoundPayment) int { return cmp.Compare(b.AmountCents, a.AmountCents) })
		}
		if l.First() {
			sum := int64(0)
			for _, p := range all {
				sum += p.AmountCents
			}
			found.ReceivedCents = &sum
		}
		from := min(l.After, int64(len(all)))
		for i := range all[from:min(from+l.Limit, int64(len(all)))] {
			p := &all[from+int64(i)]
			if p.Allocations, err = allocationsOf(c, p.PaymentID); err != nil {
				return found, err
			}
		}
		found.Payments, found.Next = schema.PageOf(all, l, FoundPayment.short, schema.AnswerBytes)
		found.Shown, found.Total = len(found.Payments), len(all)
		return found, nil
	})
}

// read reads the payments that match, newest first, without what they paid.
func (f PaymentFilter) read(c *db.Conn) ([]FoundPayment, error) {
	var w db.Where
	w.And(f.LeaseID != 0, "m.lease_id = ?", f.LeaseID)
	w.And(f.From != nil, "m.paid_date >= ?", f.From)
	w.And(f.To != nil, "m.paid_date <= ?", f.To)
	in, values := partOf(f.Property, "p.name", "p.id")
	w.And(f.Property != "", in, values...)
	of, values := partOf(f.Tenant, calledLike(f.Tenant), "t.id")
	w.And(f.Tenant != "", "EXISTS (SELECT 1 FROM lease_tenants x JOIN tenants t ON t.id = x.tenant_id "+
		"WHERE x.lease_id = l.id AND "+of+")", values...)
	return db.All(c, func(r *db.Row) FoundPayment {
		m := scanPayment(r)
		p := FoundPayment{LeasePayment: PaidBy{StoredPayment: m}.ofLease(), LeaseID: m.LeaseID, Unit: r.Text(),
			Property: r.Text()}
		p.Tenant, _ = namesOf(parseTenants(r.Text()))
		return p
	}, "SELECT "+paymentColumns+", u.name, p.name, "+tenantsColumn+` FROM payments m CROSS JOIN leases l
		ON l.id = m.lease_id
		`+joinsOfLease+" WHERE m.voided_at IS NULL AND m.method NOT IN ('deposit', 'opening')"+w.Text+
		" ORDER BY m.paid_date DESC, m.id DESC", w.Args...)
}

func (s *Service) listPayments() schema.Op {
	l, cents := exampleLease(), int64(95_000)
	row := FoundPayment{PaidBy{exampleStored(), exampleAllocations()}.ofLease(), l.ID, l.Unit, l.Property, l.Tenant}
	return schema.Op{
		Name: "list_payments", Says: "Which payments came in",
		About: "Payments that came in, newest first, with the charges that they paid; reversed ones are left out. " +
			"received_cents is of all that match. " +
			"detail short: id, day, amount, unit, tenant.",
		Response: FoundPayments{Payments: schema.Rows([]FoundPayment{row}, false, FoundPayment.short), ReceivedCents: &cents,
			Shown: 1, Total: 1},
		Refuses: []fault.Kind{fault.NotFound},
		Bind: schema.Does3(func(f *schema.Form, p *PaymentFilter, l *schema.Listing, sort *string) {
			*sort = sortNewest
			f.ID(&p.LeaseID, "lease_id", "of this lease", schema.Lookup(leaseFor))
			bindFilters(f, &p.Property, &p.Tenant)
			f.DayPtr(&p.From, "from", "paid on this day or later")
			f.DayPtr(&p.To, "to", "paid on this day or before")
			f.Enum(sort, "sort", "most: the largest first", []string{sortNewest, sortOldest, "most"})
			f.Listing(l)
			if p.From != nil && p.To != nil && *p.To < *p.From {
				f.Refuse("to", "to: %s lies before from, %s", p.To, p.From)
			}
		}, s.FindPayments),
	}
}
