package store

import (
	"context"
	"fmt"
	"strings"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/fault"
	"quartermaster/schema/mail"
)

// Unbooked is an unmatched payment, or a refund or dispute of one.
type Unbooked struct {
	Provider     string        `json:"provider"`
	Ref          string        `json:"provider_ref" about:"the provider's id of the payment"`
	Event        string        `json:"event" about:"the provider's latest event about it"`
	Refund       bool          `json:"refund" about:"whether it is a refund or dispute that could not be booked"`
	Cause        string        `json:"cause" enum:"no_product,unknown_product,price,no_buyer,nothing_paid,no_checkout,currency,unreadable"`
	Reason       string        `json:"reason"`
	BuyerEmail   *string       `json:"buyer_email" about:"null: the event does not say; likewise below"`
	BuyerName    *string       `json:"buyer_name"`
	AmountCents  *int64        `json:"amount_cents"`
	Currency     *string       `json:"currency"`
	Qty          *int64        `json:"qty"`
	TheirProduct *string       `json:"their_product" about:"the provider's id of what was bought, as map_provider takes it"`
	TheirName    *string       `json:"their_name" about:"what the provider calls it"`
	Subscription *string       `json:"subscription_ref"`
	OrderRef     *string       `json:"order_ref" about:"the order that a refund or dispute in another currency is of"`
	At           exact.Instant `json:"at"`
	Remedy       string        `json:"mend" about:"what happened and how to fix it"`

	body []byte // of the event; nil is not kept

	PaidOn string  `json:"-"` // the day on which it came, in the shop's zone
	SKU    *string `json:"-"` // the product that their name is mapped to, where it is
}

// CanRetry reports whether its event was kept, and so can be read again.
func (u Unbooked) CanRetry() bool { return len(u.body) > 0 }

// The causes of an unmatched payment, and so its remedies.
const (
	causeNoProduct      = "no_product"      // nothing names what was bought
	causeUnknownProduct = "unknown_product" // what names it is mapped to nothing
	causePrice          = "price"           // the amounts are no sale
	causeNoBuyer        = "no_buyer"        // without an address that can be written to
	causeNothingPaid    = "nothing_paid"
	causeNoCheckout     = "no_checkout" // of a subscription or payment without an order
	causeCurrency       = "currency"    // a refund or dispute in another currency than its order
	causeUnreadable     = "unreadable"
)

// because gives a refusal its cause; nil stays nil.
func because(cause string, err error) error {
	why, refused := fault.As(err)
	if !refused || why.Code != "" {
		return err
	}
	with := *why
	with.Kind, with.Code = fault.Invalid, cause
	return &with
}

func causeOf(why *fault.Error) string { return firstOf(why.Code, causeUnreadable) }

// UnbookedList is every payment that waits for a person.
type UnbookedList struct {
	Payments []Unbooked `json:"payments"`
}

// mostBody is how much of an event is kept to read it again.
const mostBody = 64 << 10

// recordUnbooked stores an unmatched payment or refund, with the reason. The event is stored, not marked as done: read
// again after the cause was corrected, it is booked.
func recordUnbooked(tx *db.Tx, e incoming, u Unbooked) (Received, error) {
	u.Provider, u.Event = e.provider, e.id
	if len(e.body) <= mostBody {
		u.body = e.body
	}
	err := u.insert(tx)
	got := e.answer(outcomeUnclear, u.whatToDo())
	got.notice = got.Detail
	return got, err
}

// unreadable handles an event that cannot be read.
func (e incoming) unreadable(ref string, refund bool, reason string) handler {
	return func(tx *db.Tx) (Received, error) {
		return recordUnbooked(tx, e, Unbooked{Ref: ref, Refund: refund, Cause: causeUnreadable, Reason: reason})
	}
}

const unbookedColumns = `provider, provider_ref, event_id, refund, cause, reason, buyer_email, buyer_name, amount_cents, currency, qty,
	their_product, their_name, subscription_ref, order_ref, at`

// insert puts it on the list.
func (u Unbooked) insert(tx *db.Tx) error {
	tx.Do(`INSERT OR REPLACE INTO store_unbooked (`+unbookedColumns+`, body)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		u.Provider, u.Ref, u.Event, u.Refund, u.Cause, u.Reason, u.BuyerEmail, u.BuyerName, u.AmountCents, u.Currency, u.Qty,
		u.TheirProduct, u.TheirName, u.Subscription, u.OrderRef, tx.Now(), u.body)
	subject := "payment:" + u.Provider + ":" + u.Ref
	if err := tx.Audit("payment.unclear", subject, map[string]string{"event": u.Event, "reason": u.Reason}); err != nil {
		return err
	}
	return mail.Notify(tx, mail.Told{Notice: "payments", Service: "store", Role: "member", Subject: subject,
		Record: u.Provider + " " + u.Ref})
}

// unbookedTitle is the notice's title, which the shop may put into its own words.
const unbookedTitle = "A payment could not be booked"

// Notices are what users of the service can be mailed of.
func (s *Service) Notices() []mail.Notice {
	return []mail.Notice{{Name: "payments", Service: "store", Title: unbookedTitle, Tell: tellUnbooked}}
}

func tellUnbooked(c *db.Conn, _ *mail.Writer, r mail.Row, _ string) ([]string, string, bool, error) {
	provider, ref, _ := strings.Cut(strings.TrimPrefix(r.Subject, "payment:"), ":")
	u, found, err := db.One(c, scanUnbooked, selectUnbooked+" WHERE provider = ? AND provider_ref = ? LIMIT 1", provider,
		ref)
	return []string{u.Provider, u.Ref, u.Reason}, "/unbooked", found, err
}

// deleteUnbooked takes a payment off the list: one that is booked, or one that a person or an event has dealt with,
// then with its refund.
func deleteUnbooked(tx *db.Tx, provider string, names []string, refunds bool) (removed int, err error) {
	for _, name := range names {
		n, err := tx.Exec("DELETE FROM store_unbooked WHERE provider = ? AND provider_ref = ? AND (refund = 0 OR ?)",
			provider, name, refunds)
		if err != nil {
			return 0, err
		}
		removed += n
	}
	return removed, nil
}

const selectUnbooked = "SELECT " + unbookedColumns + ", body FROM store_unbooked"

func scanUnbooked(r *db.Row) Unbooked {
	u := Unbooked{
		Provider: r.Text(), Ref: r.Text(), Event: r.Text(), Refund: r.Bool(), Cause: r.Text(), Reason: r.Text(),
		BuyerEmail: r.TextPtr(), BuyerName: r.TextPtr(), AmountCents: r.IntPtr(), Currency: r.TextPtr(), Qty: r.IntPtr(),
		TheirProduct: r.TextPtr(), TheirName: r.TextPtr(), Subscription: r.TextPtr(), OrderRef: r.TextPtr(), At: r.Instant(),
		body: r.Bytes(),
	}
	u.Remedy = u.whatToDo()
	return u
}

// whatToDo tells the owner. About a refund the reason says what to do.
func (u Unbooked) whatToDo() string {
	if u.Refund {
		return fmt.Sprintf("a refund of %s payment %s (event %s) could not be booked: %s", u.Provider, u.Ref, u.Event,
			u.Reason)
	}
	return fmt.Sprintf("%s payment %s (event %s) could not be booked: %s. Fix that and retry with "+
		"`store provider retry %s %s`, or record it by hand with "+
		"`store order record --provider %s --provider-ref %s --email E --sku S --total-cents CENTS --currency C`",
		u.Provider, u.Ref, u.Event, u.Reason, u.Provider, u.Ref, u.Provider, u.Ref)
}

// Unbooked lists the payments that could not be booked, oldest first.
func (s *Service) Unbooked(ctx context.Context) (UnbookedList, error) {
	return db.Read(ctx, s.db, unbookedPayments)
}

func unbookedPayments(c *db.Conn) (list UnbookedList, err error) {
	if list.Payments, err = db.All(c, scanUnbooked, selectUnbooked+" ORDER BY at, provider_ref, refund"); err != nil {
		return list, err
	}
	waiting, err := db.All(c, scanWaiting, selectWaiting, c.Now()-waitsAtMost)
	list.Payments = append(list.Payments, waiting...)
	for i := range list.Payments {
		u := &list.Payments[i]
		u.PaidOn = u.At.Day(c.Zone()).String()
		if u.TheirProduct == nil {
			continue
		}
		if l, mapped, err := findLink(c, u.Provider, *u.TheirProduct); err != nil {
			return list, err
		} else if mapped {
			u.SKU = &l.SKU
		}
	}
	return list, err
}

// waitsAtMost is how long a refund or dispute waits for the order of its payment before a person is asked: events of
// one payment come within minutes of each other, in any order.
const waitsAtMost exact.Instant = day

// setWaiting notes that what is known of a payment waits for its order from now on, or that nothing does. An earlier
// wait keeps its beginning.
func setWaiting(tx *db.Tx, payment int64, waits bool) {
	query := "UPDATE store_payments SET waits_from = NULL WHERE id = ?1"
	args := []any{payment}
	if waits {
		query = "UPDATE store_payments SET waits_from = ifnull(waits_from, ?2) WHERE id = ?1"
		args = append(args, tx.Now())
	}
	tx.Do(query, args...)
}

// selectWaiting selects the payments whose refunds or disputes have waited since an instant for an
// order.
const selectWaiting = `SELECT p.provider, (SELECT n.name FROM store_payment_names n WHERE n.payment_id = p.id
		ORDER BY n.name LIKE 'pi\_%' ESCAPE '\' DESC, n.name LIMIT 1),
	p.refunded_cents, ifnull(p.refund_currency, ''), ifnull(p.refund_event, ''), p.waits_from,
	ifnull((SELECT d.event_id FROM store_disputes d WHERE d.payment_id = p.id ORDER BY d.id DESC LIMIT 1), '')
	FROM store_payments p WHERE p.order_id IS NULL AND p.waits_from <= ? ORDER BY p.waits_from, p.id`

func scanWaiting(r *db.Row) Unbooked {
	u := Unbooked{Provider: r.Text(), Ref: r.Text(), Refund: true, Cause: causeNoCheckout}
	cents, currency, refund := r.Int(), r.Text(), r.Text()
	u.At = r.Instant()
	what := "a dispute over it"
	u.Event = r.Text()
	if cents > 0 {
		u.Event, what = refund, "a refund of "+inCurrency(cents, currency)
		u.AmountCents, u.Currency = &cents, &currency
	}
	u.Reason = what + " has waited for more than a day without an order for this payment: resend the payment's events " +
		"(for a subscription invoice.paid and invoice_payment.paid) from the provider's dashboard, or refund its order by " +
		"hand with " +
		"`store order refund`, and dismiss this with `store provider dismiss`"
	u.Remedy = u.whatToDo()
	return u
}

// CountUnbooked reports how many there are, for the metrics.
func (s *Service) CountUnbooked(ctx context.Context) (int64, error) {
	list, err := s.Unbooked(ctx)
	return int64(len(list.Payments)), err
}

// CountWaiting counts what waits for a person: open disputes, failed renewals, and unmatched payments.
func (s *Service) CountWaiting(ctx context.Context) (int64, error) {
	unbooked, err := s.CountUnbooked(ctx)
	if err != nil {
		return 0, err
	}
	more, err := db.Read(ctx, s.db, func(c *db.Conn) (int64, error) {
		n, _, err := db.One(c, db.Int, "SELECT (SELECT count(*) FROM store_disputes WHERE state = 'open') + "+
			"(SELECT count(*) FROM store_subscriptions s INDEXED BY store_subscriptions_state WHERE "+
			subscriptionState+" = 'past_due')")
		return n, err
	})
	return unbooked + more, err
}

// checkUnbooked tells doctor of every payment that came in and could not be booked.
func checkUnbooked(c *db.Conn) ([]string, error) {
	list, err := unbookedPayments(c)
	return schema.Map(list.Payments, func(u Unbooked) string { return u.Remedy }), err
}

// Dismissed is a payment that is no longer listed.
type Dismissed struct {
	Provider    string `json:"provider"`
	ProviderRef string `json:"provider_ref"`
	Reason      string `json:"reason" about:"why it could not be booked"`
}

// dismissPayment removes an unmatched payment that does not concern the store from the list. One that is not on the
// list is refused as not found.
func dismissPayment(tx *db.Tx, provider, ref string) (Dismissed, error) {
	d := Dismissed{Provider: provider, ProviderRef: ref}
	reason, found,
		err := db.One(&tx.Conn, db.Text, "SELECT reason FROM store_unbooked WHERE provider = ? AND provider_ref = ?",
		provider, ref)
	if err != nil {
		return d, err
	}
	waiting, err := tx.Exec(`UPDATE store_payments SET waits_from = NULL WHERE order_id IS NULL AND waits_from IS NOT NULL
		AND id = (SELECT payment_id FROM store_payment_names WHERE provider = ? AND name = ?)`, provider, ref)
	if err != nil {
		return d, err
	}
	switch {
	case !found && waiting == 0:
		return d, fault.NotFoundf("no payment %s of %s waits to be booked", schema.Quote(ref), schema.Quote(provider))
	case !found:
		reason = "its refund or dispute waited for an order"
	}
	d.Reason = reason
	if _, err := deleteUnbooked(tx, provider, []string{ref}, true); err != nil {
		return d, err
	}
	return d, tx.Audit("payment.dismissed", "payment:"+provider+":"+ref, d)
}
