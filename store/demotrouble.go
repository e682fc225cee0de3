package store

import (
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// demoTrouble opens a dispute over one of the latest orders, and makes two others the beginning of
// subscriptions: the renewal of one failed, the other renews tomorrow.
func demoTrouble(tx *db.Tx, orders []OrderDetail) error {
	acts := []func(*db.Tx, OrderDetail) error{demoDispute, demoPastDue, demoRenews}
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

// demoSubscription begins a subscription with the order, which paid it until then.
func demoSubscription(tx *db.Tx, d OrderDetail, n string, until exact.Instant) (subscription, error) {
	s, err := ensureSubscription(tx, stripe, "sub_demo_"+n)
	if err != nil {
		return s, err
	}
	if _, err = begin(tx, s, d); err != nil {
		return s, err
	}
	if _, err := noteInvoice(tx, demoEvent(tx, "evt_demo_invoice_"+n, "invoice.paid"), invoice{
		ref: "in_demo_" + n, payment: d.ProviderRef, names: []string{"in_demo_" + n, d.ProviderRef}, subscription: s.ref,
		opens:  true,
		period: &until, total: d.TotalCents, tax: d.TaxCents, currency: d.Currency,
	}); err != nil {
		return s, err
	}
	notePayment(tx, s.id, microsOf(d.PaidAt))
	return s, nil
}

func demoRenews(tx *db.Tx, d OrderDetail) error {
	renews := tx.Now() + day
	if _, err := demoSubscription(tx, d, "2", renews); err != nil {
		return err
	}
	e := demoEvent(tx, "evt_demo_renews", "customer.subscription.updated")
	_, err := tell(tx, e, "sub_demo_2", standing{state: subscriptionActive, at: e.at, renews: &renews})
	return err
}

func demoPastDue(tx *db.Tx, d OrderDetail) error {
	s, err := demoSubscription(tx, d, "1", tx.Now()-day)
	if err != nil {
		return err
	}
	next := tx.Now() + 2*day
	_, err = noteFailure(tx, demoEvent(tx, "evt_demo_failed", "invoice.payment_failed"),
		failure{subscription: s.ref, cents: &d.TotalCents, currency: d.Currency, next: &next})
	return err
}
