package page

import (
	"context"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/page"
	"quartermaster/store"
)

func subscriptions(s *store.Service) page.Page {
	return page.New(page.Spec[store.SubscriptionPage]{
		Path: "/subscriptions", Title: "Subscriptions", Menu: "Subscriptions", Key: "s",
		Load: func(f *schema.Form) page.Loader[store.SubscriptionPage] {
			var x store.SubscriptionFilter
			var p page.Paging
			p.Bind(f)
			x.Bind(f)
			x.Q, x.Cursor = p.Q, p.Cursor()
			return func(ctx context.Context, _ db.Caller) (store.SubscriptionPage, error) {
				return s.Subscriptions(ctx, x)
			}
		},
		View: Subscriptions,
		CSV: func(v store.SubscriptionPage) page.Sheet {
			return page.SheetOf("subscriptions", []string{"provider", "subscription_ref", "state", "email",
				"name", "product", "order_ref",
				"renews_at", "ends_at", "paid_at", "paid_cents", "currency"}, v.Subscriptions, func(x store.Subscription) []string {
				return []string{x.Provider, x.Ref, x.State, buyerOf(x).Email, buyerOf(x).Name,
					schema.Cell(x.Product), schema.Cell(x.OrderRef),
					schema.Cell(x.RenewsAt), schema.Cell(x.EndsAt), schema.Cell(x.PaidAt), schema.Cell(x.PaidCents), schema.Cell(x.Currency)}
			})
		},
	})
}

// buyerOf is whose subscription it is; nobody until its checkout comes.
func buyerOf(x store.Subscription) store.Buyer {
	if x.Customer == nil {
		return store.Buyer{}
	}
	return *x.Customer
}

func subscriptionState(state string) templ.Component {
	look := map[string]string{"active": page.Good, "past_due": page.Bad, "cancelled": page.Warn, "ended": page.Idle}[state]
	return page.State(look, page.Word(state))
}

func disputes(s *store.Service) page.Page {
	return page.New(page.Spec[store.DisputeList]{
		Path: "/disputes", Title: "Disputes",
		Load: page.Always(func(ctx context.Context, _ db.Caller) (store.DisputeList, error) {
			return s.Disputes(ctx, "open")
		}),
		View: Disputes,
	})
}

// answerOf begins the words of when a dispute is to be answered.
func answerOf(d store.DisputeOf) string {
	if d.AnswerBy == nil {
		return ", answer it; the provider shows the day"
	}
	return ", answer by "
}

// renewalNote says whose renewal failed, or how many did.
func renewalNote(w store.NeedsAttention) string {
	text := page.Plural(w.FailedTotal, "renewal", "renewals") + " failed"
	if w.FailedTotal != 1 || len(w.FailedRenewal) == 0 {
		return text + "."
	}
	x := w.FailedRenewal[0]
	if x.Customer != nil {
		text += ": " + x.Customer.Email
	}
	if x.FailedCents != nil && x.Currency != nil {
		text += ", " + exact.CurrencyOf(*x.Currency).Plain(*x.FailedCents) + " " + *x.Currency
	}
	return text
}

type providersView struct{ store.TillList }

func providers(s *store.Service) page.Page {
	return page.New(page.Spec[providersView]{
		Path: "/providers", Title: "Payment providers", Setting: true,
		Load: page.Always(func(ctx context.Context, _ db.Caller) (providersView, error) {
			list, err := s.Tills(ctx)
			return providersView{list}, err
		}),
		View: Providers,
	})
}

func (v providersView) title() string {
	set, sends := 0, ""
	for _, t := range v.Providers {
		if t.SecretSet {
			set++
		} else if t.LastAt != nil {
			sends = t.Title
		}
	}
	switch {
	case set == 0 && sends != "":
		return sends + " sent payments, but its secret is not set"
	case set == 0:
		return "No provider sends payments here yet"
	case set == 1:
		return "1 provider sends payments here"
	}
	return strconv.Itoa(set) + " providers send payments here"
}

// cause says in plain words why a payment is unmatched.
func cause(u store.Unbooked) string {
	if text, known := map[string]string{
		"no_product": "It names no product", "unknown_product": "Its product is not mapped yet",
		"price":    "The amounts are wrong",
		"no_buyer": "It has no e-mail address", "nothing_paid": "Nothing was paid", "no_checkout": "Its checkout never " +
			"arrived",
		"currency": "It is in another currency than its order",
	}[u.Cause]; known {
		return text
	}
	return "It cannot be read"
}

// told is why a payment is unmatched, without the command that mends it: a button does the same.
func told(reason string) string {
	why, _, _ := strings.Cut(reason, ": `")
	why, _, _ = strings.Cut(why, ": set it with `")
	return why
}

// reasonOf is what the cause does not say yet.
func reasonOf(u store.Unbooked) string {
	switch {
	case u.Cause == "unknown_product" && u.TheirProduct != nil, u.Cause == "no_buyer" && u.BuyerEmail == nil,
		u.Cause == "no_product", u.Cause == "nothing_paid":
		return ""
	}
	return told(u.Reason)
}

// mends are the actions on an unmatched payment; the first is the remedy.
func mends(u store.Unbooked) (acts []page.Action) {
	payment := []string{"provider", u.Provider, "provider_ref", u.Ref}
	switch {
	case u.Cause == "unknown_product" && u.TheirProduct != nil:
		acts = append(acts, page.Open("Which product?", "map_provider", "provider", u.Provider, "payment_link",
			*u.TheirProduct).Then("/unbooked"))
	case u.Cause == "no_checkout" && u.Subscription != nil:
		acts = append(acts, page.Open("Which license?", "link_subscription", "provider", u.Provider, "subscription_ref",
			*u.Subscription).Then("/unbooked"))
	case u.OrderRef != nil:
		acts = append(acts, page.Link("Open the order", page.Path("orders", *u.OrderRef)))
	}
	if !u.Refund {
		acts = append(acts, page.Open("Record order", "record_order", recorded(u)...))
	}
	if u.CanRetry() {
		acts = append(acts, page.Do("Try again", "retry_payment", payment...).Quiet().Then("/unbooked"))
	}
	acts = append(acts, page.Open("Dismiss", "dismiss_payment", payment...).Quiet().Then("/unbooked"))
	for n := range acts {
		acts[n] = acts[n].Named(u.Ref)
	}
	return acts
}

// recorded fills the form of an order with what is known of the payment.
func recorded(u store.Unbooked) []string {
	fields := []string{"provider", u.Provider, "provider_ref", u.Ref, "paid_at", u.PaidOn}
	for name, value := range map[string]*string{"email": u.BuyerEmail, "name": u.BuyerName, "currency": u.Currency,
		"sku": u.SKU} {
		if value != nil {
			fields = append(fields, name, *value)
		}
	}
	if u.AmountCents != nil {
		fields = append(fields, "total", exact.CurrencyOf(schema.Cell(u.Currency)).Plain(*u.AmountCents))
	}
	if u.Qty != nil {
		fields = append(fields, "qty", page.Num(*u.Qty))
	}
	return fields
}

// unbookedOf is who paid, as far as it is known.
func unbookedOf(u store.Unbooked) string {
	switch {
	case u.BuyerEmail == nil:
		return "Buyer unknown"
	case u.BuyerName == nil:
		return *u.BuyerEmail
	}
	return *u.BuyerName + ", " + *u.BuyerEmail
}

// theirs is what was bought in the provider's words.
func theirs(u store.Unbooked) string {
	if u.TheirName != nil {
		return *u.TheirName + " (" + *u.TheirProduct + ")"
	}
	return *u.TheirProduct
}
