package store

import (
	"quartermaster/schema"
	"quartermaster/schema/assert"
	"strings"
	"testing"
)

func TestAnOrderIssuesALicenseAUnit(t *testing.T) {
	s := newFixture(t)
	r := val(do(s, cli, recordOrder, NewOrder{Email: " Ann@Example.COM ", Name: "Ann", SKU: "PLUGIN", Tier: "pro", Qty: 3}))
	o := r.OrderDetail
	equal(t, "email", o.Customer.Email, "ann@example.com")
	equal(t, "licenses", len(o.Licenses), 3)
	equal(t, "total", o.TotalCents, 3*4900)
	equal(t, "currency", o.Currency, "USD")
	equal(t, "provider", o.Provider, "manual")
	equal(t, "provider_ref", o.ProviderRef, o.OrderRef)
	assert.That(t, len(o.OrderRef) == 14 && strings.HasPrefix(o.OrderRef, "ORD-"), "order_ref %q", o.OrderRef)
	seen := map[string]bool{}
	for _, l := range o.Licenses {
		seen[l.Key] = true
		assert.That(t, len(l.Key) == 29 && strings.Count(l.Key, "-") == 4, "license key %q", l.Key)
		equal(t, "tier", schema.Cell(l.Tier), "pro")
		equal(t, "status", l.Status, "active")
		equal(t, "check", s.check(l.Key, "").Code, "valid")
	}
	equal(t, "different keys", len(seen), 3)

	equal(t, "books come without", len(s.sell("BOOK", "ann@example.com", 2).Licenses), 0)
	equal(t, "events", s.eventNames(), "order.paid order.paid")
	for _, l := range o.Licenses {
		assert.Contains(t, s.events()[0].raw, l.Key, "order.paid")
	}
}

func TestTotalsAddUpToTheCent(t *testing.T) {
	cents := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		price, qty     int64
		total          *int64
		unit, discount int64
	}{
		{4900, 1, nil, 4900, 0},
		{4900, 3, nil, 4900, 0},
		{4900, 1, cents(4900), 4900, 0},
		{4900, 1, cents(4899), 4900, 1},
		{4900, 1, cents(4901), 4901, 0},
		{4900, 2, cents(0), 4900, 9800},
		{0, 3, cents(100), 34, 2},
		{0, 1, cents(0), 0, 0},
		{10, 3, cents(31), 11, 2},
		{10, 3, cents(30), 10, 0},
		{10, 3, cents(29), 10, 1},
	} {
		lines := []line{{product: Product{PriceCents: c.price}, qty: c.qty, unit: c.price}}
		discount := int64(0)
		if c.total != nil {
			discount = priceTo(lines, *c.total)
		}
		unit := lines[0].unit
		assert.That(t, unit == c.unit && discount == c.discount,
			"priced(%d, %d, %v) = %d, %d, want %d, %d", c.price, c.qty, c.total, unit, discount, c.unit, c.discount)
		if c.total != nil && unit*c.qty-discount != *c.total {
			t.Errorf("%d x %d - %d is not %d", c.qty, unit, discount, *c.total)
		}
	}
}

func TestOrdersThatAreRefused(t *testing.T) {
	s := newFixture(t)
	far := int64(maxPrice + 1)
	below := int64(-1)
	for name, c := range map[string]struct {
		order NewOrder
		says  string
	}{
		"no address":      {NewOrder{SKU: "PLUGIN"}, "email"},
		"no address at":   {NewOrder{Email: "ann", SKU: "PLUGIN"}, "email"},
		"two addresses":   {NewOrder{Email: "a@b.c,d@e.f", SKU: "PLUGIN"}, "email"},
		"unknown sku":     {NewOrder{Email: "a@b.c", SKU: "PLUG"}, "sku"},
		"unknown tier":    {NewOrder{Email: "a@b.c", SKU: "PLUGIN", Tier: "gold"}, "basic, pro"},
		"free tier":       {NewOrder{Email: "a@b.c", SKU: "YEAR", Tier: "Gold!"}, "a-z"},
		"qty":             {NewOrder{Email: "a@b.c", SKU: "PLUGIN", Qty: 1001}, "1 to 1000"},
		"negative qty":    {NewOrder{Email: "a@b.c", SKU: "PLUGIN", Qty: -1}, "1 to 1000"},
		"total":           {NewOrder{Email: "a@b.c", SKU: "PLUGIN", Total: &far}, "total"},
		"negative total":  {NewOrder{Email: "a@b.c", SKU: "PLUGIN", Total: &below}, "total"},
		"currency":        {NewOrder{Email: "a@b.c", SKU: "PLUGIN", Currency: "EUT"}, "ISO 4217"},
		"part of the ISO": {NewOrder{Email: "a@b.c", SKU: "PLUGIN", Currency: "D A"}, "ISO 4217"},
		"provider":        {NewOrder{Email: "a@b.c", SKU: "PLUGIN", Provider: "PayPal"}, "provider"},
		"control":         {NewOrder{Email: "a@b.c", SKU: "PLUGIN", ProviderRef: "a\x00b"}, "provider_ref"},
	} {
		_, err := do(s, cli, recordOrder, c.order)
		if err == nil {
			t.Errorf("%s: was taken", name)
			continue
		}
		refused(t, err, "validation", c.says)
	}
	equal(t, "orders", s.count("SELECT count(*) FROM store_orders"), int64(0))
	equal(t, "customers", s.count("SELECT count(*) FROM store_customers"), int64(0))
	equal(t, "events", s.eventNames(), "")
}

func TestCustomersCountTheirPaidOrders(t *testing.T) {
	s := newFixture(t)
	first := s.sell("PLUGIN", "a@b.c", 1)
	s.pass(3600e9)
	s.sell("BOOK", "A@B.C", 1)
	val(do3(s, cli, refundOrder, first.OrderRef, nil, ""))
	s.load("customers", nil, "email,name", "New@B.C,Newcomer")
	p := val(s.Customers(background, CustomerFilter{}))
	equal(t, "customers", len(p.Customers), 2)
	equal(t, "newest first", p.Customers[0].Email, "new@b.c")
	assert.That(t, p.Customers[0].FirstOrderAt == nil, "a customer without orders has a first one")
	c := p.Customers[1]
	equal(t, "paid orders", c.PaidOrders, int64(1))
	equal(t, "first", *c.FirstOrderAt, first.PaidAt)
	equal(t, "last", *c.LastOrderAt, s.now())
}
