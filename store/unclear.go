package store

import (
	"context"
	"fmt"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
)

// unclear notes a payment that came in and cannot be booked, or a refund that cannot,
// with why. The event is not marked as done: sent again, after the cause was mended,
// it is booked.
func unclear(tx *db.Tx, e stripeEvent, ref, reason string) (Received, error) {
	_, err := tx.Exec(`INSERT INTO store_unclear (provider, provider_ref, event_id, reason, at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (provider, provider_ref) DO UPDATE SET event_id = excluded.event_id, reason = excluded.reason, at = excluded.at`,
		stripe, ref, e.id, reason, tx.Now())
	if err != nil {
		return Received{}, err
	}
	if err := tx.Audit("payment.unclear", "payment:"+stripe+":"+ref, map[string]string{"event": e.id, "reason": reason}); err != nil {
		return Received{}, err
	}
	told, _, err := db.One(&tx.Conn, whatToDo, unclearQuery+" WHERE u.provider = ? AND u.provider_ref = ?", stripe, ref)
	return e.answer(wasUnclear, told), err
}

// cleared takes a payment off the list, as one that a person or an event has dealt
// with.
func cleared(tx *db.Tx, provider, ref string) error {
	_, err := tx.Exec("DELETE FROM store_unclear WHERE provider = ? AND provider_ref = ?", provider, ref)
	return err
}

const unclearQuery = `SELECT u.provider, u.provider_ref, u.event_id, u.reason,
	EXISTS (SELECT 1 FROM store_orders o WHERE o.provider = u.provider AND o.provider_ref = u.provider_ref) FROM store_unclear u`

// whatToDo tells the owner of a payment that could not be booked. One that has an
// order is about a refund, for which the reason says what to do.
func whatToDo(r *db.Row) string {
	provider, ref, event, reason, refund := r.Text(), r.Text(), r.Text(), r.Text(), r.Bool()
	told := fmt.Sprintf("%s payment %s (event %s) could not be booked: %s", provider, ref, event, reason)
	if refund {
		return told
	}
	return told + fmt.Sprintf(". Mend that and resend the event from the provider's dashboard, or record it by hand with "+
		"`store order record --provider %s --provider-ref %s --email E --sku S --total CENTS --currency C`", provider, ref)
}

// unclearPayments tells of every payment that came in and could not be booked.
func unclearPayments(c *db.Conn) ([]string, error) {
	return db.All(c, whatToDo, unclearQuery+" ORDER BY u.at, u.provider_ref")
}

// Dismissed is a payment that doctor no longer lists.
type Dismissed struct {
	Provider    string `json:"provider"`
	ProviderRef string `json:"provider_ref"`
	Reason      string `json:"reason" about:"why it could not be booked"`
}

// DismissPayment takes a payment that could not be booked off the list, as one that
// has nothing to do with the store. One that is not on the list is refused as not
// found.
func (s *Service) DismissPayment(ctx context.Context, who db.Caller, provider, ref string) (Dismissed, error) {
	return db.Update(ctx, s.db, who, func(tx *db.Tx) (Dismissed, error) {
		d := Dismissed{Provider: provider, ProviderRef: ref}
		reason, found, err := db.One(&tx.Conn, db.Text, "SELECT reason FROM store_unclear WHERE provider = ? AND provider_ref = ?", provider, ref)
		if err == nil && !found {
			err = fault.NotFoundf("no payment %s of %s waits to be booked", schema.Quote(ref), schema.Quote(provider))
		}
		if err != nil {
			return d, err
		}
		d.Reason = reason
		if err := cleared(tx, provider, ref); err != nil {
			return d, err
		}
		return d, tx.Audit("payment.dismissed", "payment:"+provider+":"+ref, d)
	})
}
