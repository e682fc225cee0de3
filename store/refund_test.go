package store

import (
	"testing"
	"time"

	"quartermaster/schema/assert"
)

func amount(n int64) *int64 { return &n }

func TestAPartialRefundKeepsTheLicenses(t *testing.T) {
	s := newFixture(t)
	o := s.sell("PLUGIN", "a@b.c", 1)
	key := o.Licenses[0].Key
	r := val(do3(s, cli, refundOrder, o.OrderRef, amount(1000), ""))
	equal(t, "full", r.Full, false)
	equal(t, "status", r.Status, "paid")
	equal(t, "refunded", r.RefundedCents, int64(1000))
	assert.That(t, r.RefundedAt == nil, "an order that is refunded in part has a refunded_at")
	equal(t, "check", s.check(key, "").Code, "valid")

	for _, wrong := range []struct {
		cents int64
		code  string
	}{{0, "validation"}, {-5, "validation"}, {3901, "conflict"}, {1 << 62, "conflict"}} {
		_, err := do3(s, cli, refundOrder, o.OrderRef, &wrong.cents, "")
		refused(t, err, wrong.code, "amount")
	}
	r = val(do3(s, cli, refundOrder, o.OrderRef, amount(3899), ""))
	equal(t, "one cent is left", r.Status, "paid")
	r = val(do3(s, cli, refundOrder, o.OrderRef, amount(1), ""))
	equal(t, "the last cent", r.Status, "refunded")
	equal(t, "check", s.check(key, "").Code, "revoked")
	equal(t, "events", s.eventNames(), "order.paid order.refunded order.refunded order.refunded")
}

func TestFailedOrderCanBeReversed(t *testing.T) {
	s := newFixture(t)
	r := val(do(s, cli, recordOrder, NewOrder{Email: "a@b.c", SKU: "PLUGIN", Total: amount(0)}))
	_, err := do3(s, cli, refundOrder, r.OrderRef, amount(1), "")
	refused(t, err, "conflict")
	back := val(do3(s, cli, refundOrder, r.OrderRef, nil, ""))
	equal(t, "status", back.Status, "refunded")
	equal(t, "check", s.check(r.Licenses[0].Key, "").Code, "revoked")
	_, err = do3(s, cli, refundOrder, "ORD-NONE", nil, "")
	refused(t, err, "not_found", "ORD-NONE")
}

func TestLicensesAreSuspendedResumedAndRevoked(t *testing.T) {
	s := newFixture(t)
	l := s.license("PLUGIN")
	suspended := val(do2(s, cli, moveLicense, l.ID, stateSuspended))
	equal(t, "status", suspended.Status, "suspended")
	equal(t, "check", s.check(l.Key, "").Code, "suspended")
	_, err := s.activate(l.Key, "m")
	refused(t, err, "suspended")
	_, err = do2(s, cli, moveLicense, l.ID, stateSuspended)
	refused(t, err, "validation", "active, revoked")
	val(do2(s, cli, moveLicense, l.ID, stateActive))
	equal(t, "check", s.check(l.Key, "").Code, "valid")
	_, err = do2(s, cli, moveLicense, l.ID, stateActive)
	refused(t, err, "validation")
	val(do2(s, cli, moveLicense, l.ID, stateRevoked))
	equal(t, "check", s.check(l.Key, "").Code, "revoked")
	for _, move := range []func() error{
		func() error { _, err := do2(s, cli, moveLicense, l.ID, stateActive); return err },
		func() error { _, err := do2(s, cli, moveLicense, l.ID, stateSuspended); return err },
		func() error { _, err := do2(s, cli, moveLicense, l.ID, stateRevoked); return err },
	} {
		refused(t, move(), "validation", "final")
	}
	_, err = do2(s, cli, moveLicense, 99, stateSuspended)
	refused(t, err, "not_found", "99")
}

func TestStatsCountEverythingAndNeverAddTwoCurrencies(t *testing.T) {
	s := newFixture(t)
	empty := val(s.Stats(background))
	equal(t, "empty", asJSON(empty), `{"orders_paid":0,"orders_refunded":0,"customers":0,"licenses":{"active":0,"expired":0,"suspended":0,"revoked":0},`+
		`"activations":0,"codes":{"unused":0,"redeemed":0,"void":0},"revenue":[]}`)

	dollars := s.sell("PLUGIN", "a@b.c", 2)
	year := s.sell("YEAR", "b@b.c", 3)
	euro := val(do(s, cli, recordOrder, NewOrder{Email: "a@b.c", SKU: "BOOK", Currency: "eur", Total: amount(700)}))
	val(do3(s, cli, refundOrder, euro.OrderRef, amount(200), ""))
	val(do3(s, cli, refundOrder, dollars.OrderRef, nil, ""))
	val(do2(s, cli, moveLicense, year.Licenses[0].ID, stateSuspended))
	val(s.activate(year.Licenses[1].Key, "m"))
	minted := val(do(s, admin, mintCodes, Minting{5, "PLUGIN", "", "one"}))
	val(s.RedeemCode(background, minted.Codes[0], "c@b.c", "", ""))
	val(do(s, admin, mintCodes, Minting{2, "YEAR", "", "two"}))
	val(do(s, cli, void, "two"))

	at := func() string {
		got := val(s.Stats(background))
		return asJSON(got)
	}
	money := `"revenue":[{"currency":"EUR","gross_cents":700,"refunded_cents":200,"net_cents":500},` +
		`{"currency":"USD","gross_cents":21500,"refunded_cents":9800,"net_cents":11700}]}`
	rest := `"activations":1,"codes":{"unused":4,"redeemed":1,"void":2},` + money
	equal(t, "stats", at(), `{"orders_paid":3,"orders_refunded":1,"customers":3,"licenses":{"active":3,"expired":0,"suspended":1,"revoked":2},`+rest)

	// The year's licenses end at the exact second; a suspended one does not expire.
	ends := int64(*year.Licenses[0].ExpiresAt)
	for _, c := range []struct{ at, active, expired int64 }{
		{ends - 1, 3, 0}, {ends, 1, 2}, {ends + 1, 1, 2}, {ends + 12*3600, 1, 2}, {ends + 40*86400, 1, 2},
	} {
		s.At(time.Unix(c.at, 0).UTC())
		got := val(s.Stats(background))
		assert.That(t, got.Licenses.Active == c.active && got.Licenses.Expired == c.expired,
			"%d seconds after the end: %+v, want %d active, %d expired", c.at-ends, got.Licenses, c.active, c.expired)
	}
}
