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

// Ledger is a lease with every charge, by due date and then id, and their totals.
type Ledger struct {
	Lease   Lease    `json:"lease"`
	Charges []Charge `json:"charges"`
	Totals  Totals   `json:"totals"`
	Standing
}

// Ledger returns a lease's ledger, in which every billing period due by today is posted.
// An unknown lease is not found.
func (s *Service) Ledger(ctx context.Context, who db.Caller, lease int64) (ledger Ledger, err error) {
	ledger.Standing, err = s.upToDate(ctx, who, func(c *db.Conn, r *reading) (err error) {
		ledger = Ledger{}
		if ledger.Lease, err = leases.ByID(c, lease); err != nil {
			return err
		}
		if ledger.Lease.unposted(c.Today()) && r.await([]int64{lease}) {
			return nil
		}
		ledger.Charges, err = chargesOf(c, lease)
		if err != nil {
			return err
		}
		ledger.Totals, err = totalsOf(c, lease)
		return err
	})
	return ledger, err
}

// chargesOf lists the charges of a lease by due date, then id.
func chargesOf(c *db.Conn, lease int64) ([]Charge, error) {
	all, err := charges.All(c, "WHERE c.lease_id = ?", lease)
	// The index has them by type; sorting an almost ordered list is cheaper than another index for every posted charge.
	slices.SortFunc(all, func(a, b Charge) int {
		return cmp.Or(cmp.Compare(a.DueDate, b.DueDate), cmp.Compare(a.ID, b.ID))
	})
	return all, err
}

func (s *Service) ledger() schema.Op {
	return schema.Op{
		Name: "lease_detail", Print: schema.Printed(printLedger), Example: "rental ledger 'Harbour House/2A'",
		About:    "One lease with its full ledger and current balance. What is due by today is posted first.",
		Response: Ledger{Lease: exampleLease(), Charges: []Charge{exampleCharge()}, Totals: exampleOwed},
		Refuses:  []fault.Kind{fault.NotFound},
		Says:     "Show a lease with its ledger",
		AgentAbout: "One lease with its charges by due date and its latest payments. Totals are of the whole ledger: " +
			"billed = paid + balance, and paid + credit = received + deposits used - " +
			"credit returned. detail short: charge, due date, balance.",
		AgentResponse: LedgerForAgents{Lease: exampleLease(), Charges: schema.Rows([]Charge{exampleCharge()}, false,
			Charge.short), Totals: exampleOwed, Shown: 1, Total: 1,
			Payments: schema.Rows([]LeasePayment{PaidBy{exampleStored(), exampleAllocations()}.ofLease()}, false,
				LeasePayment.short), PaymentsTotal: new(1)},
		Bind: schema.Agents(s.bindLedgerForAgents, schema.Does(func(f *schema.Form, lease *int64) {
			f.ID(lease, "lease_id", "the lease", schema.Positional("LEASE_ID"), schema.InPath("id"), schema.Example(4),
				schema.Lookup(lookupLease), schema.Choices(leaseChoices))
		}, s.Ledger)),
	}
}

// ShortCharge are the few fields of a charge that identify and decide.
type ShortCharge struct {
	ID           int64     `json:"id"`
	DueDate      exact.Day `json:"due_date"`
	BalanceCents int64     `json:"balance_cents"`
}

func (c Charge) short() ShortCharge { return ShortCharge{c.ID, c.DueDate, c.BalanceCents} }

// LedgerForAgents is a lease with a page of its charges, and on the first its latest payments; the
// totals are of all.
type LedgerForAgents struct {
	Lease    Lease                             `json:"lease"`
	Charges  []schema.Row[Charge, ShortCharge] `json:"charges"`
	Totals   Totals                            `json:"totals"`
	Payments []schema.Row[LeasePayment,
		PaidOn] `json:"payments,omitempty" about:"the latest, on the first page, unless open_only; list_payments has all"`
	PaymentsTotal *int    `json:"payments_total,omitempty"`
	Shown         int64   `json:"shown"`
	Total         int64   `json:"total" about:"charges that match"`
	Next          *string `json:"next" about:"pass it as after; null at the end"`
	Standing
}

// LeasePayment is a payment of a lease with what it paid.
type LeasePayment struct {
	PaymentID   int64        `json:"payment_id"`
	PaidDate    exact.Day    `json:"paid_date"`
	AmountCents int64        `json:"amount_cents"`
	CreditCents int64        `json:"credit_cents,omitempty"`
	Method      string       `json:"method"`
	Allocations []Allocation `json:"allocations"`
}

// PaidOn are the few fields of a lease's payment that identify and decide.
type PaidOn struct {
	PaymentID   int64     `json:"payment_id"`
	PaidDate    exact.Day `json:"paid_date"`
	AmountCents int64     `json:"amount_cents"`
}

func (p LeasePayment) short() PaidOn { return PaidOn{p.PaymentID, p.PaidDate, p.AmountCents} }

func (p PaidBy) ofLease() LeasePayment {
	all := p.Allocations
	if all == nil {
		all = []Allocation{}
	}
	return LeasePayment{p.ID, p.PaidDate, p.AmountCents, p.CreditCents, p.Method, all}
}

// paymentsBytes is what of an answer payments get beside charges.
const paymentsBytes = 8 * 1024

// LedgerForAgents returns a page of a lease's charges, all or those of which something is open,
// from a day on. An unknown lease is not found.
func (s *Service) LedgerForAgents(ctx context.Context, who db.Caller, lease int64, open bool, since *exact.Day,
	page schema.Listing) (done LedgerForAgents, err error) {
	l, err := s.Ledger(ctx, who, lease)
	if err != nil {
		return done, err
	}
	kept := []Charge{}
	for _, c := range l.Charges {
		if (!open || !c.Paid) && (since == nil || c.DueDate >= *since) {
			kept = append(kept, c)
		}
	}
	done = LedgerForAgents{Lease: l.Lease, Totals: l.Totals, Total: int64(len(kept)), Standing: l.Standing}
	most := schema.AnswerBytes
	if page.First() && !open {
		paid, err := db.Read(ctx, s.db, func(c *db.Conn) ([]PaidBy, error) { return paidBy(c, lease) })
		if err != nil {
			return done, err
		}
		n, list := len(paid), []LeasePayment{}
		for _, p := range paid {
			if since == nil || p.PaidDate >= *since {
				list = append(list, p.ofLease())
			}
		}
		done.PaymentsTotal, most = &n, most-paymentsBytes
		done.Payments = schema.FitInside(list, page.Short, LeasePayment.short, false, paymentsBytes)
	}
	done.Charges, done.Next = schema.PageInside(kept, page, Charge.short, most)
	done.Shown = int64(len(done.Charges))
	return done, nil
}

func (s *Service) bindLedgerForAgents(f *schema.Form) schema.Handler {
	var lease int64
	var open bool
	var since *exact.Day
	page := schema.Listing{Cursor: schema.First(200)}
	f.ID(&lease, "lease_id", "the lease", schema.Required, schema.Lookup(leaseFor), schema.Example(4))
	f.Bool(&open, "open_only", "true: only open charges, without payments")
	f.DayPtr(&since, "since", "due, or paid, on this day or later")
	page.Asked = f.Int(&page.Limit, "limit", "the most charges to return", schema.Range(1, 200))
	f.After(&page.After)
	f.Short(&page.Short)
	return func(ctx context.Context, who db.Caller) (any, error) {
		return s.LedgerForAgents(ctx, who, lease, open, since, page)
	}
}
