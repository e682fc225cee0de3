package store

import (
	"cmp"

	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// The states of a subscription.
const (
	subscriptionActive    = "active"
	subscriptionPastDue   = "past_due"
	subscriptionCancelled = "cancelled"
	subscriptionEnded     = "ended"
)

var subscriptionStates = []string{subscriptionPastDue, subscriptionActive, subscriptionCancelled, subscriptionEnded}

// subscriptionState is the state of the subscription s as SQL; NULL without one. The newest report by the provider's
// clock counts: an end until a later payment; a failed or due payment until it is paid; at the same moment the payment
// is the newest.
const subscriptionState = `CASE WHEN s.id IS NULL THEN NULL
	WHEN s.told = 'ended' AND s.told_us >= s.paid_us THEN 'ended'
	WHEN s.failed_us > s.paid_us OR s.told = 'past_due' AND s.told_us > s.paid_us THEN 'past_due'
	WHEN s.told = 'cancelled' OR s.told = 'past_due' AND s.ends_on IS NOT NULL THEN 'cancelled' ELSE 'active' END`

// standing is what a provider tells of a subscription.
type standing struct {
	state        string
	at           micros
	ends, renews *exact.Instant
	period       *exact.Instant // the end of the period that runs; nil is not told
	order        string         // the provider's id of the order that it began with; "" is not told
}

// compare orders what was told: by the provider's clock, at one moment the graver state last.
func (t standing) compare(o standing) int {
	rank := map[string]int{subscriptionActive: 0, subscriptionPastDue: 1, subscriptionCancelled: 2, subscriptionEnded: 3}
	return cmp.Or(cmp.Compare(t.at, o.at), cmp.Compare(rank[t.state], rank[o.state]),
		cmp.Compare(orZero(t.ends), orZero(o.ends)), cmp.Compare(orZero(t.renews), orZero(o.renews)))
}

func orZero(at *exact.Instant) exact.Instant {
	if at == nil {
		return 0
	}
	return *at
}

// tell notes what a provider told of a subscription. It moves no license but by the end of a period
// that is paid for.
func tell(tx *db.Tx, e incoming, ref string, t standing) (Received, error) {
	s, err := ensureSubscription(tx, e.provider, ref)
	if err != nil {
		return Received{}, err
	}
	was, _, err := db.One(&tx.Conn, func(r *db.Row) standing {
		return standing{state: r.Text(), at: micros(r.Int()), ends: r.InstantPtr(), renews: r.InstantPtr()}
	}, "SELECT told, told_us, ends_on, renews_on FROM store_subscriptions WHERE id = ?", s.id)
	if err != nil {
		return Received{}, err
	}
	if t.compare(was) > 0 {
		tx.Do("UPDATE store_subscriptions SET told = ?, told_us = ?, ends_on = ?, renews_on = ? WHERE id = ?",
			t.state, int64(t.at), t.ends, t.renews, s.id)
	}
	if t.period != nil {
		tx.Do("INSERT OR IGNORE INTO store_told_periods (subscription_id, ends_at) VALUES (?, ?)", s.id,
			*t.period)
	}
	if t.order != "" {
		if err := tieToOrder(tx, s, e.provider, t.order); err != nil {
			return Received{}, err
		}
	}
	if err := renew(tx, s.id); err != nil {
		return Received{}, err
	}
	detail := "the subscription is " + map[string]string{subscriptionActive: "active", subscriptionPastDue: "past due",
		subscriptionCancelled: "cancelled; its licenses end by themselves", subscriptionEnded: "ended; its licenses end " +
			"by themselves"}[t.state]
	return e.done(tx, outcomeRecorded, detail)
}

// failure is a payment of a subscription that failed.
type failure struct {
	subscription string
	cents        *int64 // nil: not told
	currency     string
	next         *exact.Instant // when it is tried again; nil: not told
}

// noteFailure notes that a payment failed. It moves no license.
func noteFailure(tx *db.Tx, e incoming, f failure) (Received, error) {
	s, err := ensureSubscription(tx, e.provider, f.subscription)
	if err != nil {
		return Received{}, err
	}
	tx.Do(`UPDATE store_subscriptions SET failed_us = ?1, failed_cents = ?2, failed_currency = ?3,
		next_try_at = ?4
		WHERE id = ?5 AND (failed_us < ?1 OR failed_us = ?1 AND ifnull(next_try_at, 0) < ifnull(?4, 0))`,
		int64(e.at), f.cents, db.NullText(f.currency), f.next, s.id)
	return e.done(tx, outcomeRecorded, "a payment of the subscription failed; its licenses work until the paid period "+
		"ends")
}

// notePayment notes when a subscription was paid for last.
func notePayment(tx *db.Tx, subscription int64, at micros) {
	tx.Do("UPDATE store_subscriptions SET paid_us = ?1 WHERE id = ?2 AND paid_us < ?1", int64(at),
		subscription)
}

// notePaid notes when a payment was made, by the provider's clock; 0 is not told.
func notePaid(tx *db.Tx, payment int64, at micros) {
	if at == 0 {
		return
	}
	tx.Do("UPDATE store_payments SET paid_at = ?1 WHERE id = ?2 AND (paid_at IS NULL OR paid_at > ?1)",
		at.instant(), payment)
}
