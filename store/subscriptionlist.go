package store

import (
	"context"
	"fmt"
	"io"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
)

// Subscription is what a provider collects time and again, and what it renews here.
type Subscription struct {
	ID          int64          `json:"id"`
	Provider    string         `json:"provider"`
	Ref         string         `json:"subscription_ref" about:"the provider's id of it"`
	State       string         `json:"state" enum:"past_due,active,cancelled,ended"`
	Customer    *Buyer         `json:"customer" about:"null until its checkout comes"`
	OrderRef    *string        `json:"order_ref" about:"the order that it began with"`
	Product     *string        `json:"product" about:"the name of what it renews, as it was sold"`
	Licenses    []int64        `json:"licenses" about:"the ids of the licenses that it renews"`
	RenewsAt    *exact.Instant `json:"renews_at" about:"as the provider last reported it; null if it does not renew, or is unknown"`
	EndsAt      *exact.Instant `json:"ends_at" about:"when it is cancelled: the day on which it ends"`
	PaidAt      *exact.Instant `json:"paid_at" about:"of the last recorded payment"`
	PaidCents   *int64         `json:"paid_cents"`
	Currency    *string        `json:"currency" about:"of the last payment"`
	FailedAt    *exact.Instant `json:"failed_at" about:"when a payment failed, while it is past due"`
	FailedCents *int64         `json:"failed_cents"`
	FailedIn    *string        `json:"failed_currency"`
	NextTryAt   *exact.Instant `json:"next_try_at" about:"when the provider tries it again"`
}

// SubscriptionFilter restricts the list of subscriptions; an empty field does not.
type SubscriptionFilter struct {
	State, Provider string
	Q               string // words of the provider's id of it, the buyer, the order, the product
	Sort            string // sortTrouble, which is the default, or sortNext
	schema.Cursor[int64]
}

// SubscriptionPage is one page of subscriptions.
type SubscriptionPage struct {
	Subscriptions []Subscription `json:"subscriptions"`
	Next          *int64         `json:"next" about:"send this as after for the next page; null at the end"`
	Total         int64          `json:"total" about:"how many there are, on all pages"`
}

const (
	subscriptionTables = ` FROM store_subscriptions s LEFT JOIN store_orders o ON o.id = s.order_id LEFT
		JOIN store_customers c ON c.id = o.customer_id`
	selectSubscription = `SELECT s.id, s.provider, s.ref, ` + subscriptionState + `, c.id, c.email, c.name, o.order_ref,
		(SELECT i.product_name FROM store_order_lines i WHERE i.order_id = o.id ORDER BY i.line LIMIT 1),
		s.renews_on, s.ends_on, s.failed_us / 1000000, s.failed_cents, s.failed_currency, s.next_try_at` + subscriptionTables
	isPastDueFirst = `CASE ` + subscriptionState + ` WHEN 'past_due' THEN 0 ELSE 1 END`
	nextFirst      = `ifnull(CASE WHEN ` + subscriptionState +
		` IN ('cancelled', 'ended') THEN s.ends_on ELSE s.renews_on END, 1 << 60)`
)

// Orders of the list: those past due first, or those first that renew or end soonest.
const (
	sortTrouble = "past_due"
	sortNext    = "next"
)

func scanSubscription(r *db.Row) Subscription {
	x := Subscription{ID: r.Int(), Provider: r.Text(), Ref: r.Text(), State: r.Text()}
	buyer, email, name := r.IntPtr(), r.Text(), r.Text()
	if buyer != nil {
		x.Customer = &Buyer{ID: *buyer, Email: email, Name: name}
	}
	x.OrderRef, x.Product, x.RenewsAt, x.EndsAt = r.TextPtr(), r.TextPtr(), r.InstantPtr(), r.InstantPtr()
	failed, cents, currency, next := r.Instant(), r.IntPtr(), r.TextPtr(), r.InstantPtr()
	if x.State == subscriptionPastDue && failed != 0 {
		x.FailedAt, x.FailedCents, x.FailedIn, x.NextTryAt = &failed, cents, currency, next
	}
	if x.State == subscriptionCancelled || x.State == subscriptionEnded {
		x.RenewsAt = nil
	} else {
		x.EndsAt = nil
	}
	return x
}

// load adds the licenses that it renews and its last payment.
func (x *Subscription) load(c *db.Conn) (err error) {
	if x.Licenses, err = db.All(c, db.Int, "SELECT id FROM store_licenses WHERE subscription_id = ? ORDER BY id",
		x.ID); err != nil {
		return err
	}
	_, _, err = db.One(c, func(r *db.Row) struct{} {
		x.PaidAt, x.PaidCents, x.Currency = r.InstantPtr(), r.IntPtr(), r.TextPtr()
		return struct{}{}
	}, "SELECT paid_at, total_cents, currency FROM store_orders WHERE subscription_id = ? AND status <> 'void' ORDER BY "+
		"paid_at DESC, id DESC LIMIT 1", x.ID)
	return err
}

// Subscriptions lists subscriptions, those past due first, newest first.
func (s *Service) Subscriptions(ctx context.Context, f SubscriptionFilter) (SubscriptionPage, error) {
	return db.Read(ctx, s.db, f.page)
}

func (f SubscriptionFilter) page(c *db.Conn) (page SubscriptionPage, err error) {
	where, args := "1", []any{}
	and := func(condition string, value any) {
		where += " AND " + condition
		args = append(args, value)
	}
	if f.State != "" {
		and(subscriptionState+" = ?", f.State)
	}
	if f.Provider != "" {
		and("s.provider = ?", f.Provider)
	}
	if f.Q != "" {
		and(`has_words(?, s.ref, ifnull(c.email, ''), ifnull(c.name, ''), ifnull(o.order_ref, ''),
				ifnull((SELECT group_concat(i.product_name || char(10) || p.sku, char(10)) FROM store_order_lines i
					JOIN store_products p ON p.id = i.product_id WHERE i.order_id = o.id), ''))`, f.Q)
	}
	if page.Total, _, err = db.One(c, db.Int, "SELECT count(*)"+subscriptionTables+" WHERE "+where, args...); err != nil {
		return page, err
	}
	first := isPastDueFirst
	if f.Sort == sortNext {
		first = nextFirst
	}
	if f.After > 0 {
		where += " AND (" + first + ", -s.id) > (SELECT " + first + ", -s.id FROM store_subscriptions s WHERE s.id = ?)"
		args = append(args, f.After)
	}
	page.Subscriptions, err = db.All(c, scanSubscription,
		selectSubscription+" WHERE "+where+" ORDER BY "+first+", s.id DESC LIMIT ?", append(args, f.Fetch())...)
	if err != nil {
		return page, err
	}
	page.Subscriptions, page.Next = schema.Cut(page.Subscriptions, f.Limit, func(x Subscription) int64 { return x.ID })
	for i := range page.Subscriptions {
		if err := page.Subscriptions[i].load(c); err != nil {
			return page, err
		}
	}
	return page, nil
}

// Bind binds what narrows the list.
func (f *SubscriptionFilter) Bind(form *schema.Form) {
	form.Enum(&f.State, "state", "only those in this state", subscriptionStates)
	form.Text(&f.Provider, "provider", "only those of this provider", schema.Most(32), schema.Label("Provider"))
}

func exampleSubscription() Subscription {
	cents, currency, order, product := int64(4900), "USD", exampleRef, "Audio plugin"
	renews := exampleInstant + 30*day
	return Subscription{
		ID: 3, Provider: stripe, Ref: "sub_1Abc", State: subscriptionActive, Customer: &Buyer{ID: 7, Email: "ann@example.com",
			Name: "Ann Lee"},
		OrderRef: &order, Product: &product, Licenses: []int64{12}, RenewsAt: &renews, PaidAt: &exampleInstant,
		PaidCents: &cents, Currency: &currency,
	}
}

func (s *Service) listSubscriptions() schema.Op {
	next := int64(3)
	return schema.Op{
		Name: "list_subscriptions", About: "Subscriptions, those past due first, then the newest first.",
		Says: "Which subscriptions there are",
		AgentAbout: "Subscriptions, those past due first, then the newest. past_due: a renewal failed; cancelled: it ends " +
			"on ends_at. " +
			"detail short: reference, state, buyer, product, when it renews or ends, last payment, failure.",
		AgentResponse: FoundSubscriptions{Subscriptions: schema.Rows([]Subscription{exampleSubscription()}, false,
			Subscription.short), Shown: 1, Total: 1},
		Response: SubscriptionPage{Subscriptions: []Subscription{exampleSubscription()}, Next: &next, Total: 41},
		Example:  "store subscriptions --state past_due",
		Print: schema.Printed(func(w io.Writer, p SubscriptionPage) {
			schema.Tabulate(w, "SUBSCRIPTION|PROVIDER|STATE|BUYER|PRODUCT|RENEWS OR ENDS|LAST PAYMENT", p.Subscriptions,
				func(x Subscription) []any {
					buyer := ""
					if x.Customer != nil {
						buyer = x.Customer.Email
					}
					return []any{x.Ref, x.Provider, x.State, buyer, schema.Cell(x.Product), x.until(), x.lastPayment()}
				})
		}),
		Bind: func(f *schema.Form) schema.Handler {
			if f.Surface() == schema.Tool {
				return s.bindFoundSubscriptions(f)
			}
			var x SubscriptionFilter
			x.Bind(f)
			f.Text(&x.Q, "q", "words of the subscription, the buyer, the order or the product", schema.Most(200))
			f.After(&x.After)
			f.Limit(&x.Limit)
			return func(ctx context.Context, _ db.Caller) (any, error) { return s.Subscriptions(ctx, x) }
		},
	}
}

func (x Subscription) until() string {
	if x.RenewsAt != nil {
		return x.RenewsAt.String()
	}
	if x.EndsAt != nil {
		return x.EndsAt.String()
	}
	return ""
}

func (x Subscription) lastPayment() string {
	if x.PaidAt == nil {
		return ""
	}
	return fmt.Sprintf("%s, %s", inCurrency(*x.PaidCents, *x.Currency), x.PaidAt)
}
