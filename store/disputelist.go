package store

import (
	"context"
	"io"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// Dispute is a dispute of an order.
type Dispute struct {
	Ref         string         `json:"dispute_ref" about:"the provider's id of it"`
	State       string         `json:"state" enum:"open,won,lost"`
	AmountCents int64          `json:"amount_cents"`
	Currency    string         `json:"currency"`
	Reason      string         `json:"reason" about:"as the provider gives it; may be empty"`
	AnswerBy    *exact.Instant `json:"answer_by" about:"until when it can be answered; null: see the provider"`
	OpenedAt    *exact.Instant `json:"opened_at"`
	ClosedAt    *exact.Instant `json:"closed_at"`
}

// DisputeOf is a dispute with the order that it is of.
type DisputeOf struct {
	Dispute
	Provider string  `json:"provider"`
	OrderRef *string `json:"order_ref" about:"null: its order is not recorded yet"`
	Customer *Buyer  `json:"customer"`
}

// DisputeList is a list of disputes.
type DisputeList struct {
	Disputes []DisputeOf `json:"disputes"`
}

const disputeColumns = "d.ref, d.state, d.cents, d.currency, d.reason, d.answer_by, d.opened_at, d.closed_at"

func scanDisputeTold(r *db.Row) Dispute {
	return Dispute{
		Ref: r.Text(), State: r.Text(), AmountCents: r.Int(), Currency: r.Text(), Reason: r.Text(),
		AnswerBy: r.InstantPtr(), OpenedAt: r.InstantPtr(), ClosedAt: r.InstantPtr(),
	}
}

// Disputes lists the disputes in a state, open, won or lost: earliest due date first.
func (s *Service) Disputes(ctx context.Context, state string) (DisputeList, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (list DisputeList, err error) {
		list.Disputes, err = db.All(c, func(r *db.Row) DisputeOf {
			d := DisputeOf{Dispute: scanDisputeTold(r), Provider: r.Text(), OrderRef: r.TextPtr()}
			if id, email, name := r.IntPtr(), r.Text(), r.Text(); id != nil {
				d.Customer = &Buyer{ID: *id, Email: email, Name: name}
			}
			return d
		}, "SELECT "+disputeColumns+`, d.provider, o.order_ref, c.id, c.email, c.name FROM store_disputes d
			CROSS JOIN store_payments p ON p.id = d.payment_id LEFT JOIN store_orders o ON o.id = p.order_id LEFT
			JOIN store_customers c ON c.id = o.customer_id
			WHERE d.state = ? ORDER BY d.answer_by IS NULL, d.answer_by, d.id`, state)
		return list, err
	})
}

func exampleDispute() Dispute {
	by := exampleInstant + 10*day
	return Dispute{Ref: "dp_1Abc", State: disputeOpen, AmountCents: 4900, Currency: "USD", Reason: "fraudulent",
		AnswerBy: &by, OpenedAt: &exampleInstant}
}

// answerBy is a dispute's due date, in words.
func (d Dispute) answerBy() string {
	if d.AnswerBy == nil {
		return "see there"
	}
	return d.AnswerBy.String()
}

func (s *Service) listDisputes() schema.Op {
	ref := exampleRef
	return schema.Op{
		Name:  "list_disputes",
		About: "Open disputes, the nearest day to answer first; or those that were won or lost.",
		Response: DisputeList{Disputes: []DisputeOf{{Dispute: exampleDispute(), Provider: stripe, OrderRef: &ref,
			Customer: &Buyer{ID: 7, Email: "ann@example.com", Name: "Ann Lee"}}}},
		Example: "store disputes",
		Print: schema.Printed(func(w io.Writer, l DisputeList) {
			schema.Tabulate(w, "DISPUTE|PROVIDER|STATE|AMOUNT|REASON|ANSWER BY|ORDER|BUYER", l.Disputes,
				func(d DisputeOf) []any {
					buyer := ""
					if d.Customer != nil {
						buyer = d.Customer.Email
					}
					return []any{d.Ref, d.Provider, d.State, inCurrency(d.AmountCents, d.Currency), d.Reason, d.answerBy(),
						schema.Cell(d.OrderRef), buyer}
				})
		}),
		Bind: schema.Reads(func(f *schema.Form, state *string) {
			*state = disputeOpen
			f.Enum(state, "state", "only those in this state", []string{disputeOpen, disputeWon, disputeLost})
		}, s.Disputes),
	}
}
