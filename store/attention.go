package store

import (
	"context"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/exact"
)

// NeedsAttention is what waits for a person: open disputes, failed renewals, and unmatched payments.
type NeedsAttention struct {
	Today         exact.Day           `json:"today"`
	Disputes      []DisputeOf         `json:"disputes" about:"those that are open, the nearest day to answer first"`
	DisputesTotal int                 `json:"disputes_total"`
	FailedRenewal []ShortSubscription `json:"failed_renewals" about:"subscriptions that are past due"`
	FailedTotal   int64               `json:"failed_renewals_total"`
	Unbooked      []WaitingPayment    `json:"unbooked" about:"payments that could not be booked, the oldest first"`
	UnbookedTotal int                 `json:"unbooked_total"`
}

// WaitingPayment is an unmatched payment as agents see it.
type WaitingPayment struct {
	Provider    string        `json:"provider"`
	Ref         string        `json:"provider_ref"`
	Refund      bool          `json:"refund"`
	Cause       string        `json:"cause"`
	Buyer       *string       `json:"buyer_email"`
	AmountCents *int64        `json:"amount_cents"`
	Currency    *string       `json:"currency"`
	At          exact.Instant `json:"at"`
	Remedy      string        `json:"mend" about:"what happened and how to fix it"`
}

// mostAttention is how many of each kind an answer names.
const mostAttention = 15

// NeedsAttention lists what waits for a person.
func (s *Service) NeedsAttention(ctx context.Context) (n NeedsAttention, err error) {
	n = NeedsAttention{Today: s.Today(ctx), FailedRenewal: []ShortSubscription{}, Unbooked: []WaitingPayment{}}
	open, err := s.Disputes(ctx, disputeOpen)
	if err != nil {
		return n, err
	}
	n.Disputes, n.DisputesTotal = open.Disputes[:min(mostAttention, len(open.Disputes))], len(open.Disputes)
	failed, err := s.Subscriptions(ctx, SubscriptionFilter{State: subscriptionPastDue,
		Cursor: schema.First(mostAttention)})
	if err != nil {
		return n, err
	}
	for _, x := range failed.Subscriptions {
		n.FailedRenewal = append(n.FailedRenewal, x.short())
	}
	n.FailedTotal = failed.Total
	unbooked, err := s.Unbooked(ctx)
	for _, u := range unbooked.Payments[:min(mostAttention, len(unbooked.Payments))] {
		n.Unbooked = append(n.Unbooked, WaitingPayment{u.Provider, u.Ref, u.Refund, u.Cause, u.BuyerEmail, u.AmountCents,
			u.Currency, u.At, u.Remedy})
	}
	n.UnbookedTotal = len(unbooked.Payments)
	return n, err
}

func (s *Service) needsAttention() schema.Op {
	ref := exampleRef
	return schema.Op{
		Name: "needs_attention", Says: "What waits for a person",
		About: "What waits for a person: open disputes with their answer day, failed renewals, and payments that could " +
			"not be booked, " +
			"each with how to fix it. At most 15 of a kind are listed; the totals count all.",
		Response: NeedsAttention{Today: exampleInstant.Day(time.UTC), DisputesTotal: 1, FailedRenewal: []ShortSubscription{},
			Unbooked: []WaitingPayment{},
			Disputes: []DisputeOf{{Dispute: exampleDispute(), Provider: stripe, OrderRef: &ref,
				Customer: &Buyer{ID: 7, Email: "ann@example.com", Name: "Ann Lee"}}}},
		Bind: schema.Asks(s.NeedsAttention),
	}
}
