// Package page is the store's screens: today, orders, customers, licenses, redeem codes,
// products, figures, and the buyer's own page. Loaders call the service's exported
// functions; the templates are markup and nothing else.
package page

import (
	"strconv"

	"github.com/a-h/templ"

	"quartermaster/schema"
	"quartermaster/schema/exact"
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

// place reads where a page of a list begins, and how many it has.
func place(p page.Paging) schema.Cursor[int64] {
	after, err := strconv.ParseInt(p.After, 10, 64)
	if err != nil {
		after = 0
	}
	if p.All || p.Sorted() {
		return schema.Cursor[int64]{After: after}
	}
	return schema.Cursor[int64]{After: after, Limit: p.Limit}
}

func next(n *int64) string {
	if n == nil {
		return ""
	}
	return page.Num(*n)
}

// noun is the word that follows a number.
func noun(n int64, one, many string) string {
	if n == 1 {
		return one
	}
	return many
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

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// stamp is an instant as CSV has it.
func stamp(i *exact.Instant) string {
	if i == nil {
		return ""
	}
	return i.String()
}
