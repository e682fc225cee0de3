package store

import (
	"fmt"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// Retried is what came of reading the event of a payment again that could not be booked.
type Retried struct {
	Provider    string  `json:"provider"`
	ProviderRef string  `json:"provider_ref"`
	Booked      bool    `json:"booked" about:"whether it left the list"`
	OrderRef    *string `json:"order_ref" about:"the order that has it now"`
	Detail      string  `json:"detail" about:"what became of it, or why it still cannot be booked"`
}

// retryPayment reads the event of a payment again that could not be booked, now that its cause is
// mended. Refused: a payment that is not on the list (not found), one whose event was not kept.
func retryPayment(tx *db.Tx, provider, ref string) (Retried, error) {
	list, err := db.All(&tx.Conn, scanUnbooked, selectUnbooked+" WHERE provider = ? AND provider_ref = ? ORDER BY refund",
		provider, ref)
	if err != nil {
		return Retried{}, err
	}
	if len(list) == 0 {
		return Retried{}, fault.NotFoundf("no payment %s of %s waits to be booked", schema.Quote(ref),
			schema.Quote(provider))
	}
	var got Retried
	for _, u := range list {
		if len(u.body) == 0 {
			return got, fault.Conflictf("the event of %s payment %s was not kept: resend it from the provider's dashboard",
				provider, ref)
		}
		if got, err = retry(tx, u); err != nil || !got.Booked {
			return got, err
		}
	}
	return got, nil
}

// retry handles the event that could not be booked once more, as if it came now.
func retry(tx *db.Tx, u Unbooked) (Retried, error) {
	got := Retried{Provider: u.Provider, ProviderRef: u.Ref}
	t, known := tillOf(u.Provider)
	if !known {
		return got, fmt.Errorf("the provider %s of payment %s is not supported", u.Provider, u.Ref)
	}
	e, err := t.parse(u.body, u.Event)
	if err != nil {
		return got, err
	}
	if e.at == 0 {
		e.at = microsOf(u.At)
	}
	handle, why := t.handler(e)
	if handle == nil {
		return got, fault.Conflictf("%s payment %s cannot be booked: %s", u.Provider, u.Ref, why)
	}
	r, err := handle(tx)
	if err != nil {
		return got, err
	}
	_, waits, err := db.One(&tx.Conn, db.Int,
		"SELECT 1 FROM store_unbooked WHERE provider = ? AND provider_ref = ? AND refund = ?", u.Provider, u.Ref, u.Refund)
	if err != nil {
		return got, err
	}
	if waits && r.Outcome != outcomeUnclear { // it is dealt with: a refund that was unreadable
		tx.Do("DELETE FROM store_unbooked WHERE provider = ? AND provider_ref = ? AND refund = ?", u.Provider,
			u.Ref, u.Refund)
		waits = false
	}
	got.Booked, got.Detail = !waits, r.Detail
	d, found, err := findPayment(&tx.Conn, u.Provider, u.Ref)
	if err == nil && found {
		got.OrderRef = &d.OrderRef
	}
	if err != nil {
		return got, err
	}
	return got, tx.Audit("payment.retried", "payment:"+u.Provider+":"+u.Ref, got)
}
