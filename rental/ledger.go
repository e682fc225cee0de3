package rental

import (
	"cmp"
	"context"
	"slices"

	"quartermaster/schema"
	"quartermaster/schema/db"
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
		if ledger.Lease, err = findLease(c, lease); err != nil {
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
	all, err := db.All(c, scanCharge, "SELECT "+chargeColumns+" FROM charges c WHERE c.lease_id = ?", lease)
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
