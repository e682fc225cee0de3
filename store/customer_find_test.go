package store

import (
	"strings"
	"testing"

	"quartermaster/schema"
)

// TestCustomersAreFoundByWhatPeopleSend: by name, address, reference and the end of a key, each
// customer once, a page after the other.
func TestCustomersAreFoundByWhatPeopleSend(t *testing.T) {
	s := newFixture(t)
	l := s.license("PLUGIN")
	for i := range 5 {
		s.sell("BOOK", strings.Repeat("x", i+1)+".smith@example.com", 1)
	}
	page := schema.Listing{Cursor: schema.First(2)}
	found, err := s.FindCustomers(background, "smith", page, "found")
	must(t, err)
	equal(t, "of the first page", found.Shown, 2)
	equal(t, "in all", found.Total, 5)
	page.After = 4
	found, err = s.FindCustomers(background, "smith", page, "found")
	must(t, err)
	equal(t, "of the last page", found.Shown, 1)
	equal(t, "goes on", found.Next == nil, true)
	page.After = 0
	for _, q := range []string{l.Key, l.Key[len(l.Key)-4:], l.OrderRef} {
		found, err = s.FindCustomers(background, q, page, "found")
		must(t, err)
		equal(t, q, found.Customers[0].Full.Email, l.CustomerEmail)
	}
	found, err = s.FindCustomers(background, "smitt", page, "found")
	must(t, err)
	equal(t, "found by a slip", found.Total, 0)
	_, err = s.CustomerForAgents(background, 1, page)
	must(t, err)
	for _, sort := range []string{sortNewest, sortOldest, sortMost} {
		orders, err := s.FindOrders(background, OrderFilter{}, 0, page, sort)
		must(t, err)
		equal(t, sort, orders.Total, int64(6))
	}
	_, err = s.NeedsAttention(background)
	must(t, err)
	_, err = s.ActOnLicense(background, admin, LicenseAct{License: l.Key[len(l.Key)-4:], Customer: 1, Action: actSuspend})
	must(t, err)
}
