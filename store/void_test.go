package store

import (
	"strings"
	"testing"
	"time"

	"quartermaster/schema/assert"
	"quartermaster/schema/exact"
)

// TestAVoidOrderIsInNoFigure: a voided order leaves the figures, the totals and its customer's counts, and its licenses
// are revoked. It stays readable and cannot be refunded, sent, exported or corrected.
func TestAVoidOrderIsInNoFigure(t *testing.T) {
	s := newFixture(t)
	s.sell("BOOK", "ann@example.com", 1)
	before := val(s.Stats(background))
	by := FiguresOf{By: byProduct}
	figures := val(s.Figures(background, by))
	exported := len(s.dump("orders"))

	o := s.sell("PLUGIN", "ann@example.com", 2)
	val(do3(s, cli, refundOrder, o.OrderRef, amount(700), ""))
	_, err := do2(s, viewer, voidOrder, o.OrderRef, "mistake")
	refused(t, err, "forbidden")
	d := val(do2(s, cli, voidOrder, o.OrderRef, "recorded twice"))
	equal(t, "status", d.Status, "void")
	equal(t, "licenses", d.Licenses[0].Status+" "+d.Licenses[1].Status, "revoked revoked")

	after := val(s.Stats(background))
	after.Licenses.Revoked -= 2
	equal(t, "stats", asJSON(after), asJSON(before))
	again := val(s.Figures(background, by))
	equal(t, "figures", asJSON(again), asJSON(figures))
	k := val(s.Customers(background, CustomerFilter{}))
	equal(t, "paid orders", k.Customers[0].PaidOrders, int64(1))
	n := val(s.CountOrders(background, OrderFilter{}))
	equal(t, "orders that are listed", n, int64(2))
	list := val(s.Orders(background, OrderFilter{Status: "void"}))
	equal(t, "listed as void", len(list.Orders), 1)
	equal(t, "exported", len(s.dump("orders")), exported)

	_, err = do2(s, cli, voidOrder, o.OrderRef, "again")
	refused(t, err, "conflict", "void already")
	_, err = do3(s, cli, refundOrder, o.OrderRef, nil, "")
	refused(t, err, "conflict", "is void")
	_, err = do(s, cli, resendOrder, o.OrderRef)
	refused(t, err, "conflict", "is void")
	_, err = do(s, cli, recordOrder, NewOrder{Email: "a@b.c", SKU: "BOOK", Provider: "manual", ProviderRef: o.ProviderRef})
	refused(t, err, "conflict", "another reference")
	errs := s.load("orders", nil, "provider,provider_ref,email,sku,qty", "manual,"+o.ProviderRef+",ann@example.com,PLUGIN,2")
	assert.Contains(t, errs[2], "is void", "an import of it is refused with")
	paid := s.Sell(NewOrder{Email: "a@b.c", SKU: "BOOK", Provider: "paypal", ProviderRef: "8XY"})
	_, err = do2(s, cli, voidOrder, paid.OrderRef, "mistake")
	refused(t, err, "conflict", "paypal", "refund it")
	_, err = do2(s, cli, voidOrder, "ORD-0000000000", "mistake")
	refused(t, err, "not_found")
}

func (s *fixture) Sell(n NewOrder) Recorded {
	s.T.Helper()
	r, err := do(s, cli, recordOrder, n)
	assert.OK(s.T, err)
	return r
}

// TestBackdatedOrder: it counts on that day, and its licenses begin there.
func TestBackdatedOrder(t *testing.T) {
	s := newFixture(t)
	today := exact.DayOf(s.Now())
	last := today - 30
	r := s.Sell(NewOrder{Email: "ann@example.com", SKU: "YEAR", PaidAt: &last})
	equal(t, "paid", r.PaidAt.Day(time.UTC), last)
	equal(t, "license ends", *r.Licenses[0].ExpiresAt, r.PaidAt+365*day)
	f := val(s.Figures(background, FiguresOf{From: &last, To: &last, By: byDay}))
	equal(t, "figures of that day", f.Totals[0].Orders, int64(1))
	equal(t, "today is now", s.Sell(NewOrder{Email: "ann@example.com", SKU: "YEAR", PaidAt: &today}).PaidAt, s.now())
	latest := val(s.Latest(background, 2))
	equal(t, "paid last", latest[0].PaidAt, s.now())
	equal(t, "paid before, recorded before", latest[1].OrderRef, r.OrderRef)
	older := s.Sell(NewOrder{Email: "bo@example.com", SKU: "BOOK", PaidAt: &last})
	if latest, err := s.Latest(background, 1); err != nil || latest[0].OrderRef == older.OrderRef {
		t.Errorf("an order that was paid 30 days ago is the latest: %v", err)
	}
	tomorrow := today + 1
	_, err := do(s, cli, recordOrder, NewOrder{Email: "ann@example.com", SKU: "YEAR", PaidAt: &tomorrow})
	refused(t, err, "validation", "paid_at", "up to today")
}

// TestCustomersAreMerged: two records of one person become one. Everything moves, the audit trail says so, and
// forgetting the person later forgets both names and addresses.
func TestCustomersAreMerged(t *testing.T) {
	s := newFixture(t)
	old := s.Sell(NewOrder{Email: "ann@old.example", Name: "Ann Oldname", SKU: "PLUGIN"})
	s.pass(time.Hour)
	kept := s.Sell(NewOrder{Email: "ann@new.example", Name: "Ann Newname", SKU: "BOOK"})
	code := s.mint(1, "gift").Codes[0]
	val(s.redeem(code, "ann@old.example"))
	from, into := old.Customer.ID, kept.Customer.ID
	_, err := do2(s, cli, mergeCustomers, from, from)
	refused(t, err, "validation", "into")
	_, err = do2(s, cli, mergeCustomers, from, 99)
	refused(t, err, "not_found")
	m := val(do2(s, cli, mergeCustomers, from, into))
	equal(t, "orders", m.Orders, 2)
	equal(t, "paid orders", m.PaidOrders, int64(3))
	equal(t, "the first order", *m.FirstOrderAt, old.PaidAt)
	_, err = s.CustomerDetail(background, cli, from)
	refused(t, err, "not_found")
	found := val(s.Licenses(background, admin, LicenseFilter{Email: "ann@new.example"}))
	equal(t, "licenses", len(found.Licenses), 2)
	equal(t, "found by the address now", strings.Count(s.foundBy(OrderFilter{Q: "ann@new"}), "ORD-"), 3)
	equal(t, "by the one before", s.foundBy(OrderFilter{Q: "ann@old"}), s.foundBy(OrderFilter{Q: "no such words"}))
	stats := val(s.Stats(background))
	equal(t, "customers", stats.Customers, int64(1))

	val(do(s, cli, forgetCustomer, into))
	for _, mark := range []string{"Oldname", "Newname", "old.example", "new.example"} {
		equal(t, mark+" in events", s.count("SELECT count(*) FROM events WHERE instr(CAST(body AS TEXT), ?) > 0", mark), int64(0))
		equal(t, mark+" in the trail", s.count("SELECT count(*) FROM audit WHERE instr(subject || changes, ?) > 0", mark), int64(0))
	}
	other := s.Sell(NewOrder{Email: "bo@example.com", SKU: "BOOK"})
	_, err = do2(s, cli, mergeCustomers, other.Customer.ID, into)
	refused(t, err, "conflict", "forgotten")
}
