package store

import (
	"context"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
)

// OrderRefunded is an order after a refund; Full reports whether all of it was given
// back, which revokes its licenses.
type OrderRefunded struct {
	OrderDetail
	Full bool `json:"full"`

	given int64  // cents, now
	rest  bool   // no amount was asked for
	files string // after a full refund: what runs on, in words
}

// will says what the refund does before it is recorded. Without an amount a form may still get a part.
func (o OrderRefunded) will() string {
	text := "This records the refund and moves no money: give it back to " + o.Customer.Email + " yourself."
	total, licenses := inCurrency(o.TotalCents, o.Currency), exact.Plural(len(o.Licenses), "license", "licenses")
	switch {
	case !o.rest:
		text += " " + inCurrency(o.RefundedCents, o.Currency) + " of " + total + " will be refunded in all."
	case o.given < o.TotalCents:
		text += " Without an amount, the " + inCurrency(o.given, o.Currency) + " left of " + total + " will be refunded."
	default:
		text += " Without an amount, all " + total + " will be refunded."
	}
	part := ""
	if o.rest {
		part = " A part changes no license."
	}
	switch {
	case o.Full && o.renewal:
		return text + " The paid period is taken back." + part
	case o.Full && len(o.Licenses) > 0:
		return strings.TrimSpace(text + " " + licenses + " will be revoked for good." + part + " " + o.files)
	case len(o.Licenses) > 0:
		return text + " Licenses stay."
	}
	return text
}

// RefundForAgents is an order after a refund, with what is still to be done.
type RefundForAgents struct {
	Note string `json:"note" about:"where the money is returned"`
	OrderRefunded
}

// refundForAgents is refundOrder with a reason, for the audit trail; ref may be the provider's.
func refundForAgents(tx *db.Tx, ref string, amount *int64, reason string) (RefundForAgents, error) {
	ref, err := orderCalled(&tx.Conn, ref)
	if err != nil {
		return RefundForAgents{}, err
	}
	r, err := refundOrder(tx, ref, amount, reason)
	if err != nil {
		return RefundForAgents{}, err
	}
	return RefundForAgents{noteOf(r.Order, *amount), r}, nil
}

// orderCalled is the order_ref of the order that an agent names by that, or by the provider's.
func orderCalled(c *db.Conn, ref string) (string, error) {
	called, err := ordersCalled(c, ref)
	switch {
	case err != nil:
		return "", err
	case len(called) == 1:
		return called[0].OrderRef, nil
	}
	return "", fault.Fieldf("order",
		"order: there is no order %s; list_orders finds orders by the buyer, the product or the day", schema.Quote(ref))
}

// noteOf says that a refund is only recorded, and where the money goes back.
func noteOf(o Order, cents int64) string {
	where := "by hand"
	if o.Provider != manual {
		where = "at " + o.Provider + ", payment " + o.ProviderRef
	}
	return "The refund is recorded; no money has moved. Return " + inCurrency(cents, o.Currency) + " " + where + "."
}

// refundOrder refunds amount cents of an order, or the rest of it if amount is nil. A full refund makes the order
// refunded and revokes its licenses; a part changes neither. Refused: an unknown order, a refunded one, an amount under
// one cent or over the rest. The reason, if there is one, is kept in the audit trail.
func refundOrder(tx *db.Tx, ref string, amount *int64, reason string) (OrderRefunded, error) {
	d, err := findOrder(&tx.Conn, ref)
	if err != nil {
		return OrderRefunded{}, err
	}
	left, rest := d.TotalCents-d.RefundedCents, amount == nil
	switch {
	case d.Status == statusRefunded:
		return OrderRefunded{}, fault.Conflictf("order %s is refunded already", d.OrderRef)
	case d.Status == statusVoid:
		return OrderRefunded{}, fault.Conflictf("order %s is void: nothing was paid", d.OrderRef)
	case amount == nil:
		amount = &left
	case *amount < 1:
		return OrderRefunded{}, fault.Fieldf("amount_cents", "amount_cents: %d is out of range; it takes at least %d cent",
			fault.CentsIn(*amount, d.Currency), fault.CentsIn(1, d.Currency))
	case *amount > left:
		return OrderRefunded{}, fault.Conflictf("amount_cents: %d are more than the %d that are left of order %s",
			fault.CentsIn(*amount, d.Currency), fault.CentsIn(left, d.Currency), d.OrderRef)
	}
	r, err := refundTo(tx, d, d.RefundedCents+*amount, true)
	if err == nil && reason != "" {
		err = tx.Audit("order.refund_reason", "order:"+d.OrderRef, map[string]string{"reason": reason})
	}
	if err == nil && r.Full {
		r.files, err = runningFiles(&tx.Conn, r.Licenses)
	}
	r.given, r.rest = *amount, rest
	r.OrderDetail = r.shownTo(tx.Who())
	return r, err
}

// refundTo raises a paid order's refunded amount to refunded cents, a running total that is at most the order's. A
// total that is not higher changes nothing, unless it refunds an order of total 0.
func refundTo(tx *db.Tx, d OrderDetail, refunded int64, emit bool) (OrderRefunded, error) {
	r, err := refundAt(tx, d, refunded, tx.Now(), emit)
	if more := r.RefundedCents - d.RefundedCents; err == nil && emit && (more > 0 || r.Status != d.Status) {
		err = mailRefund(tx, r.OrderDetail, more)
	}
	return r, err
}

// refundAt is refundTo for a refund that was made at a time that is past.
func refundAt(tx *db.Tx, d OrderDetail, refunded int64, at exact.Instant, emit bool) (OrderRefunded, error) {
	full := refunded == d.TotalCents
	more := refunded - d.RefundedCents
	if d.Status != statusPaid || more < 0 || more == 0 && !full {
		return OrderRefunded{OrderDetail: d, Full: d.Status == statusRefunded}, nil
	}
	tx.Do("UPDATE store_orders SET refunded_cents = ? WHERE id = ?", refunded, d.id)
	addMoney(tx, refundedCents, d.Currency, more)
	tx.Do("INSERT INTO store_refunds (order_id, at, cents) VALUES (?, ?, ?)", d.id, at, more)
	names, err := paymentNames(&tx.Conn, d.Order)
	if err != nil {
		return OrderRefunded{}, err
	}
	if _, err := deleteUnbooked(tx, d.Provider, names, true); err != nil {
		return OrderRefunded{}, err
	}
	if full {
		if err := closeOrder(tx, d, at); err != nil {
			return OrderRefunded{}, err
		}
	}
	if err := tx.Audit("order.refunded", "order:"+d.OrderRef, map[string]any{
		"amount_cents": more, "refunded_cents": refunded, "currency": d.Currency, "full": full,
	}); err != nil {
		return OrderRefunded{}, err
	}
	if d, err = orderByID(&tx.Conn, d.id); err != nil {
		return OrderRefunded{}, err
	}
	if emit {
		err = tx.Emit("order.refunded", OrderRefunded{OrderDetail: d.masked(), Full: full})
	}
	return OrderRefunded{OrderDetail: d, Full: full}, err
}

// closeOrder makes an order refunded. Its licenses are revoked; those that it renewed
// lose the period that it paid for.
func closeOrder(tx *db.Tx, d OrderDetail, at exact.Instant) error {
	tx.Do("UPDATE store_orders SET status = 'refunded', refunded_at = ? WHERE id = ?", at,
		d.id)
	add(tx, ordersPaid, -1)
	add(tx, ordersRefunded, 1)
	tx.Do("UPDATE store_customers SET paid_orders = paid_orders - 1 WHERE id = ?",
		d.Customer.ID)
	if d.renewal {
		return renew(tx, d.subscription)
	}
	for _, l := range d.Licenses {
		if err := decide(tx, l.ID, stateRevoked); err != nil {
			return err
		}
	}
	return nil
}

// Refund is one refund of an order.
type Refund struct {
	At    exact.Instant `json:"at"`
	Cents int64         `json:"cents"`
}

// Refunds lists an order's refunds, oldest first.
func (s *Service) Refunds(ctx context.Context, ref string) ([]Refund, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) ([]Refund, error) {
		return db.All(c, func(r *db.Row) Refund { return Refund{At: r.Instant(), Cents: r.Int()} },
			"SELECT r.at, r.cents FROM store_orders o CROSS JOIN store_refunds r ON r.order_id = o.id WHERE o.order_ref = ? "+
				"ORDER BY r.at, r.id", ref)
	})
}

// RefundCells returns the refunds of orders as their export has them, by order_ref.
func (s *Service) RefundCells(ctx context.Context, list []Order) (map[string]string, error) {
	return db.Read(ctx, s.db, func(c *db.Conn) (map[string]string, error) {
		cells := map[string]string{}
		for _, o := range list {
			refunds, err := refundsOf(c, o)
			if err != nil {
				return nil, err
			}
			cells[o.OrderRef] = refunds.String()
		}
		return cells, nil
	})
}
