package store

import (
	"context"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// NeedsAttention is what waits for a person: disputes that are open, renewals that failed, and
// payments that could not be booked.
type NeedsAttention struct {
	Today         exact.Day      `json:"today"`
	Disputes      []OpenDispute  `json:"disputes" about:"those that are open, the nearest day to answer first"`
	DisputesTotal int            `json:"disputes_total"`
	PastDue       []Subscription `json:"past_due" about:"subscriptions whose renewal failed, the newest first"`
	PastDueTotal  int64          `json:"past_due_total"`
	Unbooked      []Unbooked     `json:"unbooked" about:"payments that could not be booked, the oldest first"`
	UnbookedTotal int            `json:"unbooked_total"`
}

// OpenDispute is a payment that its buyer called back.
type OpenDispute struct {
	OrderRef    string         `json:"order_ref"`
	Email       string         `json:"customer_email"`
	Provider    string         `json:"provider"`
	DisputeRef  string         `json:"dispute_ref"`
	AmountCents int64          `json:"amount_cents"`
	Currency    string         `json:"currency"`
	AnswerBy    *exact.Instant `json:"answer_by" about:"until when it can be answered; null: the provider does not tell, see there"`
	OpenedAt    exact.Instant  `json:"opened_at"`
}

// mostAttention is how many of each kind an answer names.
const mostAttention = 30

// NeedsAttention lists what waits for a person.
func (s *Service) NeedsAttention(ctx context.Context) (NeedsAttention, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (n NeedsAttention, err error) {
		n.Today = c.Today()
		unbooked, err := unbookedPayments(c)
		if err != nil {
			return n, err
		}
		n.Unbooked, n.UnbookedTotal = unbooked.Payments[:min(mostAttention, len(unbooked.Payments))], len(unbooked.Payments)
		open, err := openDisputes(c)
		if err != nil {
			return n, err
		}
		n.Disputes, n.DisputesTotal = open[:min(mostAttention, len(open))], len(open)
		due, err := SubscriptionFilter{State: subscriptionPastDue, Cursor: schema.First(mostAttention)}.page(c)
		n.PastDue, n.PastDueTotal = due.Subscriptions, due.Total
		return n, err
	})
}

func openDisputes(c *db.Conn) ([]OpenDispute, error) {
	return db.All(c, func(r *db.Row) OpenDispute {
		return OpenDispute{OrderRef: r.Text(), Email: r.Text(), Provider: r.Text(), DisputeRef: r.Text(), AmountCents: r.Int(), Currency: r.Text(), AnswerBy: r.InstantPtr(), OpenedAt: r.Instant()}
	}, `SELECT o.order_ref, k.email, d.provider, d.ref, d.cents, d.currency, d.answer_by, ifnull(d.opened_at, d.at) FROM store_disputes d
		CROSS JOIN store_payments p ON p.id = d.payment_id CROSS JOIN store_orders o ON o.id = p.order_id
		CROSS JOIN store_customers k ON k.id = o.customer_id WHERE d.state = 'open' ORDER BY d.answer_by IS NULL, d.answer_by, d.id`)
}

func (s *Service) needsAttention() schema.Op {
	example := NeedsAttention{
		Today: exampleInstant.Day(time.UTC), Disputes: []OpenDispute{{OrderRef: exampleRef, Email: "ann@example.com", Provider: stripe,
			DisputeRef: "dp_1PqX2L", AmountCents: 4900, Currency: "USD", OpenedAt: exampleInstant}}, DisputesTotal: 1, PastDue: []Subscription{}, Unbooked: []Unbooked{},
	}
	return schema.Op{
		Name: "needs_attention", Says: "What waits for a person",
		About:    "What waits for a person: open disputes with the day to answer, subscriptions whose renewal failed, and payments that came in and could not be booked, each with what mends it. The totals count those that are not named too.",
		Response: example,
		Bind: func(*schema.Form) schema.Handler {
			return func(ctx context.Context, _ db.Caller) (any, error) { return s.NeedsAttention(ctx) }
		},
	}
}
