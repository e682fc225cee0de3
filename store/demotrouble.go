package store

import (
	"fmt"
	"slices"

	"quartermaster/schema/exact"
)

// trouble opens a dispute over one of the latest orders of annual licenses. The renewal of one subscription failed, another renews
// tomorrow, and some more run.
func (d *demoShop) trouble() error {
	if err := d.pastDue(d.began[demoFailed]); err != nil {
		return err
	}
	if err := d.renewing(d.began[demoRenews], 2); err != nil {
		return err
	}
	disputed, running := false, 3
	for i, o := range slices.Backward(d.orders) {
		if o.Provider != stripe || o.Items[0].SKU != d.products[1].SKU || d.tx.Now()-o.PaidAt < day {
			continue
		}
		o, err := orderByID(&d.tx.Conn, o.id)
		switch {
		case err != nil:
			return err
		case o.Status != statusPaid || o.RefundedCents > 0 || o.Licenses[0].Status != stateActive || o.Subscription != nil:
		case !disputed:
			disputed = true
			err = d.dispute(o)
		case running < 12 && i%3 == 0:
			err = d.renewing(o, running)
			running++
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func demoEvent(id, kind string, at exact.Instant) incoming {
	return incoming{provider: stripe, id: id, kind: kind, at: microsOf(at)}
}

func (d *demoShop) dispute(o OrderDetail) error {
	by := d.tx.Now() + 12*day
	_, err := bookDispute(d.tx, demoEvent("evt_demo_dispute", "charge.dispute.created", d.tx.Now()), dispute{
		ref: "dp_demo_1", state: disputeOpen, cents: o.TotalCents, currency: o.Currency, reason: "fraudulent", answerBy: &by,
		opened: d.tx.Now(),
		names:  []string{o.ProviderRef},
	})
	return err
}

// subscription begins a subscription with the order, which paid it until then.
func (d *demoShop) subscription(o OrderDetail, n int, until exact.Instant) (subscription, error) {
	s, err := ensureSubscription(d.tx, stripe, fmt.Sprint("sub_demo_", n))
	if err != nil {
		return s, err
	}
	if _, err = begin(d.tx, s, o); err != nil {
		return s, err
	}
	ref := fmt.Sprint("in_demo_", n)
	if _, err := noteInvoice(d.tx, demoEvent("evt_"+ref, "invoice.paid", o.PaidAt), invoice{
		ref: ref, payment: o.ProviderRef, names: []string{ref, o.ProviderRef}, subscription: s.ref,
		opens:  true,
		period: &until, total: o.TotalCents, tax: o.TaxCents, currency: o.Currency,
	}); err != nil {
		return s, err
	}
	notePayment(d.tx, s.id, microsOf(o.PaidAt))
	return s, nil
}

func (d *demoShop) renewing(o OrderDetail, n int) error {
	renews := o.PaidAt + demoYear*day
	s, err := d.subscription(o, n, renews)
	if err != nil {
		return err
	}
	e := demoEvent("evt_renews_"+s.ref, "customer.subscription.updated", o.PaidAt)
	_, err = tell(d.tx, e, s.ref, standing{state: subscriptionActive, at: e.at, renews: &renews})
	return err
}

func (d *demoShop) pastDue(o OrderDetail) error {
	ended := o.PaidAt + demoYear*day
	s, err := d.subscription(o, 1, ended)
	if err != nil {
		return err
	}
	next := d.tx.Now() + 2*day
	_, err = noteFailure(d.tx, demoEvent("evt_demo_failed", "invoice.payment_failed", ended),
		failure{subscription: s.ref, cents: &o.TotalCents, currency: o.Currency, next: &next})
	return err
}
