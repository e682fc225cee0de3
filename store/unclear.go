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
func unclear(tx *db.Tx, e stripeEvent, u trouble) (Received, error) {
	u.provider, u.event = stripe, e.id
	err := u.note(tx)
	got := e.answer(wasUnclear, u.whatToDo())
	got.notice = got.Detail
	return got, err
}

// trouble is a payment, or the refund of one, that cannot be booked.
type trouble struct {
	provider, ref, event string
	refund               bool
	reason               string
}

// note puts it on doctor's list.
func (u trouble) note(tx *db.Tx) error {
	_, err := tx.Exec(`INSERT INTO store_unclear (provider, provider_ref, event_id, refund, reason, at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (provider, provider_ref, refund) DO UPDATE SET event_id = excluded.event_id, reason = excluded.reason, at = excluded.at`,
		u.provider, u.ref, u.event, u.refund, u.reason, tx.Now())
	if err != nil {
		return err
	}
	return tx.Audit("payment.unclear", "payment:"+u.provider+":"+u.ref, map[string]string{"event": u.event, "reason": u.reason})
}

// cleared takes a payment off the list, as one that a person or an event has dealt
// with.
func cleared(tx *db.Tx, provider, ref string) error {
	_, err := tx.Exec("DELETE FROM store_unclear WHERE provider = ? AND provider_ref = ?", provider, ref)
	return err
}

// paid takes a payment that is booked now off the list; a refund of it that cannot be
// booked stays there.
func paid(tx *db.Tx, provider, ref string) error {
	_, err := tx.Exec("DELETE FROM store_unclear WHERE provider = ? AND provider_ref = ? AND refund = 0", provider, ref)
	return err
}

const unclearQuery = "SELECT provider, provider_ref, event_id, refund, reason FROM store_unclear"

func scanTrouble(r *db.Row) trouble {
	return trouble{provider: r.Text(), ref: r.Text(), event: r.Text(), refund: r.Bool(), reason: r.Text()}
}

// whatToDo tells the owner. About a refund the reason says what to do.
func (u trouble) whatToDo() string {
	if u.refund {
		return fmt.Sprintf("a refund of %s payment %s (event %s) could not be booked: %s", u.provider, u.ref, u.event, u.reason)
	}
	return fmt.Sprintf("%s payment %s (event %s) could not be booked: %s. Mend that and resend the event from the provider's dashboard, or record it by hand with "+
		"`store order record --provider %s --provider-ref %s --email E --sku S --total CENTS --currency C`", u.provider, u.ref, u.event, u.reason, u.provider, u.ref)
}

// unclearPayments tells of every payment that came in and could not be booked.
func unclearPayments(c *db.Conn) ([]string, error) {
	return db.All(c, func(r *db.Row) string { return scanTrouble(r).whatToDo() }, unclearQuery+" ORDER BY at, provider_ref, refund")
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
