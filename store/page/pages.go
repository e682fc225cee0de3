// Package page is the store's screens: today, orders, customers, licenses, redeem codes,
// products, figures, and the buyer's own page. Loaders call the service's exported
// functions; the templates are markup and nothing else.
package page

import (
	"context"

	"github.com/a-h/templ"

	"quartermaster/schema"
	"quartermaster/schema/page"
	"quartermaster/store"
)

// Pages are the pages of the service.
func Pages(s *store.Service) []page.Page {
	return []page.Page{
		today(s), // /
		orders(s),
		order(s),
		receipt(s),
		customers(s),
		customer(s),
		licenses(s),
		license(s),
		batches(s),
		batch(s),
		products(s), product(s),
		figures(s),
		unbooked(s),
		subscriptions(s),
		disputes(s),
		providers(s),
		mine(s), // /my
		mineReceipt(s),
		redeem(s),
		signingKeys(s),
	}
}

// Once are the answers that are shown once: minted codes, also as cards to print.
func Once() []page.Once {
	return []page.Once{page.OnceOf("mint_codes", func(m store.Minted) templ.Component { return Cards(m) })}
}

// inAll is how many records a filter keeps. They are only counted if there are others than the n that were read.
func inAll[F any](ctx context.Context, count func(context.Context, F) (int64, error), filter F, at schema.Cursor[int64],
	n int, next *int64) (int64, error) {
	if at.After == 0 && next == nil {
		return int64(n), nil
	}
	return count(ctx, filter)
}

func orderState(status string) templ.Component {
	switch status {
	case "refunded":
		return page.State(page.Idle, "Refunded")
	case "void":
		return page.State(page.Idle, "Void")
	}
	return page.State(page.Good, "Paid")
}

func licenseState(status string) templ.Component {
	look := map[string]string{"active": page.Good, "expired": page.Idle, "suspended": page.Warn,
		"revoked": page.Bad}[status]
	return page.State(look, page.Word(status))
}
