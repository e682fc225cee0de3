package store

import (
	"context"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// ShortSubscription is what identifies a subscription and decides about it.
type ShortSubscription struct {
	Ref         string         `json:"subscription_ref"`
	State       string         `json:"state"`
	Customer    *ShortBuyer    `json:"customer,omitempty"`
	Product     *string        `json:"product,omitempty"`
	RenewsAt    *exact.Instant `json:"renews_at,omitempty"`
	EndsAt      *exact.Instant `json:"ends_at,omitempty"`
	PaidCents   *int64         `json:"paid_cents,omitempty"`
	Currency    *string        `json:"currency,omitempty"`
	FailedAt    *exact.Instant `json:"failed_at,omitempty"`
	FailedCents *int64         `json:"failed_cents,omitempty"`
	NextTryAt   *exact.Instant `json:"next_try_at,omitempty"`
}

func (x Subscription) short() ShortSubscription {
	s := ShortSubscription{Ref: x.Ref, State: x.State, Product: x.Product, RenewsAt: x.RenewsAt, EndsAt: x.EndsAt,
		PaidCents: x.PaidCents, Currency: x.Currency,
		FailedAt: x.FailedAt, FailedCents: x.FailedCents, NextTryAt: x.NextTryAt}
	if x.Customer != nil {
		s.Customer = &ShortBuyer{x.Customer.Email}
	}
	return s
}

// FoundSubscriptions is a page of subscriptions for agents.
type FoundSubscriptions struct {
	Subscriptions []schema.Row[Subscription, ShortSubscription] `json:"subscriptions"`
	Shown         int                                           `json:"shown"`
	Total         int64                                         `json:"total"`
	Next          *string                                       `json:"next" about:"pass it as after; null at the end"`
	Near          []string                                      `json:"near,omitempty" about:"customers and products similar to q, if nothing matches"`
}

// FindSubscriptions is Subscriptions for agents.
func (s *Service) FindSubscriptions(ctx context.Context, f SubscriptionFilter, l schema.Listing) (FoundSubscriptions,
	error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (found FoundSubscriptions, err error) {
		f.Cursor = l.Cursor
		page, err := f.page(c)
		if err != nil {
			return found, err
		}
		rows := schema.Fit(page.Subscriptions, l.Short, Subscription.short, l.Asked, schema.AnswerBytes)
		if n := len(rows); n < len(page.Subscriptions) {
			page.Next = &page.Subscriptions[n-1].ID
		}
		found = FoundSubscriptions{Subscriptions: rows, Shown: len(rows), Total: page.Total, Next: schema.NextText(page.Next)}
		if f.Q != "" && found.Total == 0 {
			found.Near, err = likeGoods(c, f.Q)
		}
		return found, err
	})
}

func (s *Service) bindFoundSubscriptions(f *schema.Form) schema.Handler {
	var x SubscriptionFilter
	var l schema.Listing
	f.Text(&x.Q, "q", "words of the subscription, buyer, order or product", schema.Most(200))
	x.Bind(f)
	x.Sort = sortTrouble
	f.Enum(&x.Sort, "sort", "next: first what renews or ends next", []string{sortTrouble, sortNext})
	f.Listing(&l)
	return func(ctx context.Context, _ db.Caller) (any, error) { return s.FindSubscriptions(ctx, x, l) }
}
