package page

import (
	"context"

	"github.com/a-h/templ"

	"quartermaster/schema"
	"quartermaster/schema/db"
	"quartermaster/schema/page"
	"quartermaster/store"
)

type mineView struct{ store.Mine }

// PageTitle is what the license is for.
func (v mineView) PageTitle() string { return v.Product }

// sentence is the state of the license in words.
func (v mineView) sentence() string {
	switch v.License.Status {
	case "expired":
		return "It has expired."
	case "suspended":
		return "It is suspended; ask the shop why."
	case "revoked":
		return "It was revoked and no longer works."
	}
	return "It works."
}

func loadMine(s *store.Service) func(*schema.Form) page.Loader[mineView] {
	return func(*schema.Form) page.Loader[mineView] {
		return func(ctx context.Context, who db.Caller) (mineView, error) {
			m, err := s.Mine(ctx, who)
			return mineView{m}, err
		}
	}
}

func mine(s *store.Service) page.Page {
	return page.New(page.Spec[mineView]{
		Area: page.Buyer, Path: "/my", Title: "Your license", Menu: "Your license", Load: loadMine(s),
		View: func(v mineView) templ.Component { return MyLicense(v) },
	})
}

func mineReceipt(s *store.Service) page.Page {
	return page.New(page.Spec[mineView]{
		Area: page.Buyer, Path: "/my/receipt", Title: "Receipt", Plain: true, Load: loadMine(s),
		View: func(v mineView) templ.Component { return Receipt(v.Order, nil) },
	})
}

type redeemView struct{}

// redeem is the page for whoever has a code: no session is needed.
func redeem(*store.Service) page.Page {
	return page.New(page.Spec[redeemView]{
		Area: page.Public, Path: "/my/redeem", Title: "Redeem a code",
		Load: func(*schema.Form) page.Loader[redeemView] {
			return func(context.Context, db.Caller) (redeemView, error) { return redeemView{}, nil }
		},
		View: func(redeemView) templ.Component { return Redeem() },
	})
}
