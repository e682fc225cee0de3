package page

import (
	"context"

	"github.com/a-h/templ"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/exact"
	"quartermaster/schema/page"
	"quartermaster/store"
)

type mineView struct{ store.Mine }

// PageTitle is what was bought.
func (v mineView) PageTitle() string {
	if len(v.Orders) > 0 {
		return "Your purchases"
	}
	return items(v.Order)
}

// undone ends the line of an order that no longer counts.
func undone(o store.Order) string {
	if o.Status == "refunded" || o.Status == "void" {
		return ", " + o.Status
	}
	return ""
}

// renewal is what becomes of a subscription; a moment follows where it ends in a space.
func renewal(x store.Subscription) string {
	switch {
	case x.State == "past_due":
		return "The last payment of your subscription failed. Check how you pay at " + page.Word(x.Provider) + "."
	case x.State == "active" && x.RenewsAt != nil:
		return "Your subscription renews "
	case x.State == "active":
		return "Your subscription runs."
	case x.EndsAt == nil:
		return "Your subscription is " + x.State + "."
	case x.State == "ended":
		return "Your subscription ended "
	}
	return "Your subscription is cancelled and ends "
}

// stopAfter ends the sentence after its moment.
func stopAfter(x store.Subscription) string {
	if x.State == "active" && x.RenewsAt != nil || x.NextTryAt != nil || x.EndsAt != nil {
		return "."
	}
	return ""
}

type myLicense struct{ store.MyLicense }

// heading names the license by its product, which the page's title says where it is alone.
func (l myLicense) heading(alone bool) string {
	if alone {
		return "License" + tierOf(l.Tier)
	}
	return l.Product + tierOf(l.Tier)
}

// sentence is the state of the license in words.
func (l myLicense) sentence() string {
	switch l.Status {
	case "expired":
		return "It ended "
	case "suspended":
		return "It is suspended; ask the shop why."
	case "revoked":
		return "It was revoked and no longer works."
	}
	if l.ExpiresAt == nil {
		return "It works and never ends."
	}
	return "It works until "
}

// until is the end that the sentence speaks of, nil where it speaks of none.
func (l myLicense) until() *exact.Instant {
	if l.Status == "suspended" || l.Status == "revoked" {
		return nil
	}
	return l.ExpiresAt
}

// close ends the sentence after its day.
func (l myLicense) close() string {
	if l.until() == nil {
		return ""
	}
	return "."
}

// ShowsSecret reports whether the page shows license keys.
func (v mineView) ShowsSecret() bool { return len(v.Licenses) > 0 }

func mine(s *store.Service) page.Page {
	return page.New(page.Spec[mineView]{
		Area: page.Buyer, Path: "/my", Title: "Your purchase", Menu: "Your purchase",
		Load: page.Always(func(ctx context.Context, who db.Caller) (mineView, error) {
			m, err := s.Mine(ctx, who)
			return mineView{m}, err
		}),
		View: MyPurchase,
	})
}

func mineReceipt(s *store.Service) page.Page {
	return page.New(page.Spec[store.Order]{
		Area: page.Buyer, Path: "/my/receipt", Title: "Receipt", Plain: true,
		Load: func(f *schema.Form) page.Loader[store.Order] {
			var ref string
			f.Text(&ref, "order_ref", "the order (default: the newest)", schema.Most(100))
			return func(ctx context.Context, who db.Caller) (store.Order, error) { return s.MyOrder(ctx, who, ref) }
		},
		View: func(v store.Order) templ.Component { return Receipt(v, nil) },
	})
}

// redeem is the page for the holder of a code: no session is needed.
func redeem(*store.Service) page.Page {
	return page.New(page.Spec[struct{}]{
		Area: page.Public, Path: "/my/redeem", Title: "Redeem a code",
		Load: page.Always(func(context.Context, db.Caller) (struct{}, error) { return struct{}{}, nil }),
		View: func(struct{}) templ.Component { return Redeem() },
	})
}
