package store

import (
	"fmt"
	"strings"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// The states of a dispute. An inquiry (warning_...) is none.
const (
	disputeOpen = "open"
	disputeWon  = "won"
	disputeLost = "lost"
)

// dispute is a payment that its buyer disputes.
type dispute struct {
	id                 int64
	ref, state         string
	cents              int64
	currency           string
	booked             bool
	event              string
	reason             string
	answerBy           *exact.Instant // nil: unknown
	opened             exact.Instant
	names              []string // of the payment, from events
	inquiry, malformed bool
}

// readDispute reads a dispute out of charge.dispute.created, updated or closed.
func readDispute(e incoming) dispute {
	v := e.object
	p := dispute{
		ref: textAt(v, "id"), state: disputeOpen, currency: strings.ToUpper(textAt(v, "currency")),
		reason: textAt(v, "reason"),
		names:  []string{idAt(v, "payment_intent"), idAt(v, "charge")}, answerBy: secondsAt(v, "evidence_details", "due_by"),
		opened: e.at.instant(),
	}
	if created := secondsAt(v, "created"); created != nil {
		p.opened = *created
	}
	status := textAt(v, "status")
	p.inquiry = strings.HasPrefix(status, "warning_")
	isOver := status == disputeWon || status == disputeLost
	if e.kind != "charge.dispute.created" && isOver {
		p.state = status
	}
	p.malformed = e.kind == "charge.dispute.closed" && !isOver
	var err error
	p.cents, err = centsAt(v, "amount")
	p.malformed = p.malformed || err != nil || p.ref == "" || p.names[0] == "" && p.names[1] == ""
	return p
}

// bookDispute stores a dispute and applies it to its order; one before its payment waits. A closed one is not opened
// again.
func bookDispute(tx *db.Tx, e incoming, p dispute) (Received, error) {
	if p.malformed {
		return recordUnbooked(tx, e, Unbooked{Ref: firstOf(p.names[0], p.names[1], e.id), Refund: true,
			Cause:  causeUnreadable,
			Reason: "the dispute's id, status, amount or payment cannot be read; see the provider's dashboard"})
	}
	payment, _, err := gatherPayment(tx, e.provider, p.names, 0, true)
	if err != nil {
		return Received{}, err
	}
	changed, err := tx.Exec(`INSERT INTO store_disputes (provider, ref, payment_id, state, cents, currency, event_id, at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (provider, ref) DO UPDATE SET state = excluded.state, cents = excluded.cents, booked = 0,
		event_id = excluded.event_id
		WHERE state = 'open' AND excluded.state <> 'open'`, e.provider, p.ref, payment, p.state, p.cents, p.currency, e.id,
		tx.Now())
	if err != nil {
		return Received{}, err
	}
	p.tell(tx, e)
	order, err := orderOf(&tx.Conn, e.provider, p.names)
	switch {
	case err != nil:
		return Received{}, err
	case order == 0:
		setWaiting(tx, payment, changed > 0)
		return e.done(tx, outcomeKept, "no order has this payment yet; the dispute is kept until one does")
	}
	d, err := orderByID(&tx.Conn, order)
	if err != nil {
		return Received{}, err
	}
	if d, err = reconcile(tx, d, payment, true); err != nil {
		return Received{}, err
	}
	return e.done(tx, outcomeRecorded, fmt.Sprintf("order %s: the dispute over %s of %s is %s",
		d.OrderRef, inCurrency(p.cents, p.currency), inCurrency(d.TotalCents, d.Currency), p.state))
}

// tell stores the provider's data of a dispute: the newest reason and due date, when it was opened and when it was
// closed.
func (p dispute) tell(tx *db.Tx, e incoming) {
	tx.Do(`UPDATE store_disputes SET opened_at = min(ifnull(opened_at, ?1), ?1),
			closed_at = CASE WHEN ?2 <> 'open' THEN min(ifnull(closed_at, ?3), ?3) ELSE closed_at END
		WHERE provider = ?4 AND ref = ?5`, p.opened, p.state, e.at.instant(), e.provider, p.ref)
	tx.Do(
		"UPDATE store_disputes SET reason = ?1, answer_by = ?2, told_us = ?3 WHERE provider = ?4 AND ref = ?5 AND told_us "+
			"<= ?3",
		p.reason, p.answerBy, int64(e.at), e.provider, p.ref)
}

func scanDispute(r *db.Row) dispute {
	return dispute{id: r.Int(), ref: r.Text(), state: r.Text(), cents: r.Int(), currency: r.Text(), booked: r.Bool(),
		event: r.Text()}
}

// disputesOf lists the disputes of an order's payment. One in another currency is reported to the owner and does not
// count.
func disputesOf(tx *db.Tx, d OrderDetail, payment int64) ([]dispute, error) {
	list, err := db.All(&tx.Conn, scanDispute,
		"SELECT id, ref, state, cents, currency, booked, event_id FROM store_disputes WHERE payment_id = ? ORDER BY id",
		payment)
	if err != nil {
		return nil, err
	}
	good := list[:0]
	for _, p := range list {
		if p.currency == d.Currency {
			good = append(good, p)
			continue
		}
		if p.booked {
			continue
		}
		tx.Do("UPDATE store_disputes SET booked = 1 WHERE id = ?", p.id)
		t := Unbooked{Provider: d.Provider, Ref: d.ProviderRef, Event: p.event, Refund: true, Cause: causeCurrency,
			OrderRef:    &d.OrderRef,
			AmountCents: &p.cents, Currency: db.NullText(p.currency), Reason: fmt.Sprintf("a dispute (%s) over %s arrived, "+
				"but order %s is in %s: "+
				"see it in the provider's dashboard", p.ref, inCurrency(p.cents, p.currency), d.OrderRef, d.Currency)}
		if err := t.insert(tx); err != nil {
			return nil, err
		}
	}
	return good, nil
}

// book suspends the order's licenses while the dispute is open, and resumes them when it is closed.
func (p dispute) book(tx *db.Tx, d OrderDetail) error {
	var held []int64
	var err error
	if p.state == disputeOpen {
		for _, l := range d.Licenses {
			tx.Do("INSERT OR IGNORE INTO store_holds (license_id, dispute_id) VALUES (?, ?)", l.ID,
				p.id)
			held = append(held, l.ID)
		}
	} else {
		if held, err = db.All(&tx.Conn, db.Int, "SELECT license_id FROM store_holds WHERE dispute_id = ?", p.id); err != nil {
			return err
		}
		tx.Do("DELETE FROM store_holds WHERE dispute_id = ?", p.id)
	}
	for _, id := range held {
		if err := applyState(tx, id); err != nil {
			return err
		}
	}
	tx.Do("UPDATE store_disputes SET booked = 1 WHERE id = ?", p.id)
	return tx.Audit("order.disputed", "order:"+d.OrderRef, map[string]any{"dispute": p.ref, "state": p.state,
		"amount_cents": p.cents, "currency": p.currency})
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
