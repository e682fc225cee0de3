package store

import (
	"quartermaster/schema/db"
)

// demoTrouble opens a dispute over one of the latest orders, and makes another the beginning of a
// subscription whose renewal failed.
func demoTrouble(tx *db.Tx, orders []OrderDetail) error {
	acts := []func(*db.Tx, OrderDetail) error{demoDispute, demoPastDue}
	for i := len(orders) - 1; i >= 0 && len(acts) > 0; i-- {
		d, err := orderByID(&tx.Conn, orders[i].id)
		if err != nil {
			return err
		}
		if d.Provider != stripe || d.Status != statusPaid || d.RefundedCents > 0 || len(d.Licenses) == 0 ||
			d.Licenses[0].Status != stateActive {
			continue
		}
		if err := acts[0](tx, d); err != nil {
			return err
		}
		acts = acts[1:]
	}
	return nil
}

func demoEvent(tx *db.Tx, id, kind string) incoming {
	return incoming{provider: stripe, id: id, kind: kind, at: microsOf(tx.Now())}
}

func demoDispute(tx *db.Tx, d OrderDetail) error {
	by := tx.Now() + 12*day
	_, err := bookDispute(tx, demoEvent(tx, "evt_demo_dispute", "charge.dispute.created"), dispute{
		ref: "dp_demo_1", state: disputeOpen, cents: d.TotalCents, currency: d.Currency, reason: "fraudulent", answerBy: &by,
		opened: tx.Now(),
		names:  []string{d.ProviderRef},
	})
	return err
}

func demoPastDue(tx *db.Tx, d OrderDetail) error {
	s, err := ensureSubscription(tx, stripe, "sub_demo_1")
	if err != nil {
		return err
	}
	if _, err = begin(tx, s, d); err != nil {
		return err
	}
	over, next := tx.Now()-day, tx.Now()+2*day
	if _, err := noteInvoice(tx, demoEvent(tx, "evt_demo_invoice", "invoice.paid"), invoice{
		ref: "in_demo_1", payment: d.ProviderRef, names: []string{"in_demo_1", d.ProviderRef}, subscription: s.ref,
		opens:  true,
		period: &over, total: d.TotalCents, tax: d.TaxCents, currency: d.Currency,
	}); err != nil {
		return err
	}
	if err := notePayment(tx, s.id, microsOf(d.PaidAt)); err != nil {
		return err
	}
	_, err = noteFailure(tx, demoEvent(tx, "evt_demo_failed", "invoice.payment_failed"),
		failure{subscription: s.ref, cents: &d.TotalCents, currency: d.Currency, next: &next})
	return err
}
