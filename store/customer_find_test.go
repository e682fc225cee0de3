package store

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// undone is the error of a transaction that is rolled back at its end.
func undone(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// TestCustomersAreFoundByWhatPeopleSend: by name, address, reference and the end of a key, each customer once, page by
// page.
func TestCustomersAreFoundByWhatPeopleSend(t *testing.T) {
	s := newFixture(t)
	l := s.license("PLUGIN")
	for i := range 5 {
		s.sell("BOOK", strings.Repeat("x", i+1)+".smith@example.com", 1)
	}
	page := schema.Listing{Cursor: schema.First(2)}
	found := val(s.FindCustomers(background, "smith", page, "found"))
	equal(t, "of the first page", found.Shown, 2)
	equal(t, "in all", found.Total, 5)
	page.After = 4
	found = val(s.FindCustomers(background, "smith", page, "found"))
	equal(t, "of the last page", found.Shown, 1)
	equal(t, "goes on", found.Next == nil, true)
	page.After = 0
	for _, q := range []string{l.Key, l.Key[len(l.Key)-4:], l.OrderRef} {
		found = val(s.FindCustomers(background, q, page, "found"))
		equal(t, q, found.Customers[0].Full.Email, l.CustomerEmail)
	}
	assert.OK(t, undone(db.Exec(background, s.DB, db.Bookkeeping(),
		func(tx *db.Tx) error { // one order in forty has no digit in its reference
			val(tx.Exec("UPDATE store_orders SET order_ref = 'ORD-ABCDEFGHJK' WHERE order_ref = ?", l.OrderRef))
			for _, q := range []string{"ORD-ABCDEFGHJK", "ord-abcde fghjk", "abcdefghjk"} {
				list := val(ordersCalled(&tx.Conn, strings.ReplaceAll(q, " ", "-")))
				equal(t, q, len(list), 1)
			}
			return context.Canceled
		})))
	found = val(s.FindCustomers(background, "smitt", page, "found"))
	equal(t, "found by a slip", found.Total, 0)
	val(s.CustomerForAgents(background, 1, page))
	for _, sort := range []string{sortNewest, sortOldest, sortMost} {
		orders := val(s.FindOrders(background, OrderFilter{}, 0, page, sort))
		equal(t, sort, orders.Total, int64(6))
	}
	val(s.NeedsAttention(background))
	val(do(s, admin, s.actOnLicense, LicenseAct{License: l.Key[len(l.Key)-4:], Customer: 1, Action: actSuspend}))
}

// TestForeignKeysAreFoundByTheirEnd: the last four characters, in any case and script, find a license together
// with its customer only.
func TestForeignKeysAreFoundByTheirEnd(t *testing.T) {
	s := newFixture(t)
	s.moveIn("license_key,sku,email", uuidKey+",PLUGIN,ann@example.com", "\u043a\u043b\u044e\u0447-\u043d\u043e\u043c\u0435\u0440,PLUGIN,bo@example.com",
		"\u5e8f\u5217\u53f7\u7801\u5e8f\u5217\u53f7\u7801,PLUGIN,cy@example.com")
	for end, email := range map[string]string{
		"4d51": "ann@example.com", "...4D51": "ann@example.com", "\u043e\u043c\u0435\u0440": "bo@example.com", "\u5e8f\u5217\u53f7\u7801": "cy@example.com",
	} {
		found := val(s.FindCustomers(background, end, schema.Listing{Cursor: schema.First(2)}, "found"))
		assert.That(t, found.Total == 1 && found.Customers[0].Full.Email == email &&
			utf8.ValidString(found.Customers[0].Full.Matched), "%s found %+v", end, found.Customers)
		_, err := do(s, admin, s.actOnLicense, LicenseAct{License: end, Action: actSuspend})
		equal(t, end+" without a customer", codeOf(err), "validation")
	}
	val(do(s, admin, s.actOnLicense, LicenseAct{License: uuidKey, Action: actSuspend}))
}
