package store

import (
	"slices"
	"strings"
	"testing"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

func TestExportImportsUnchanged(t *testing.T) {
	s := newStripeFixture(t)
	assert.OK(t, s.demo(background, s.now().Day(time.UTC)))
	s.stripe("session", nil)
	s.stripe("session", map[string]any{".id": "evt_2", "payment_intent": "pi_2", "amount_total": 9999, "total_details.amount_discount": 0, "total_details.amount_tax": 777})
	s.stripe("charge", map[string]any{"amount_refunded": 100})
	m := s.mint(1, "more")
	val(s.RedeemCode(background, m.Codes[0], "kim@example.com", "Kim", ""))

	fresh := emptyFixture(t)
	for _, table := range []string{"products", "customers", "orders"} {
		before, audit := s.dump(table), s.count("SELECT count(*) FROM audit")
		refused := s.load(table, nil, before...)
		assert.That(t, len(refused) == 0, "%s into the same shop: %v", table, refused)
		equal(t, table+" as before", strings.Join(s.dump(table), "\n"), strings.Join(before, "\n"))
		equal(t, table+": nothing was written", s.count("SELECT count(*) FROM audit"), audit)

		if refused := fresh.load(table, nil, before...); len(refused) > 0 {
			t.Errorf("%s into a new shop: %v", table, refused)
		}
		equal(t, table+" in the new shop", strings.Join(fresh.dump(table), "\n"), strings.Join(before, "\n"))
	}
	equal(t, "no event", fresh.eventNames(), "")
	here := val(s.Stats(background))
	there := val(fresh.Stats(background))
	equal(t, "customers", there.Customers, here.Customers)
	for i, r := range here.Revenue {
		equal(t, "gross "+r.Currency, there.Revenue[i].GrossCents, r.GrossCents)
	}
}

// products lists every product by sku.
func (s *fixture) products() []Product {
	s.T.Helper()
	list, err := db.Read(background, s.DB, func(c *db.Conn) ([]Product, error) {
		return products.All(c, "ORDER BY sku")
	})
	assert.OK(s.T, err)
	return list
}

func TestProductRows(t *testing.T) {
	s := newFixture(t)
	refused := s.load("products", nil,
		"sku,name,kind,price_cents,activation_limit,license_days,tiers,active",
		",Nameless,license,1,,,,true",
		"A,,,,,,,",
		"B,B,lease,1,,,,true",
		"C,C,license,-1,,,,true",
		"D,D,license,12.5,,,,true",
		"E,E,license,1,-1,,,true",
		"F,F,license,1,,0,,true",
		"G,G,license,1,,,x|y| z ||,1",
		"H,H,license,1,,,,maybe")
	for line, says := range map[int]string{2: "sku", 4: "kind", 5: "price_cents", 6: "price_cents", 7: "activation_limit", 8: "license_days", 10: "active"} {
		assert.That(t, strings.Contains(refused[line], says), "line %d: %q does not say %q", line, refused[line], says)
	}
	equal(t, "refused", len(refused), 7)
	list := s.products()
	equal(t, "all defaults", asJSON(list[0]), `{"sku":"A","name":"A","kind":"license","price_cents":0,"activation_limit":null,"license_days":null,"tiers":[],"active":true,"offline_days":30,"note":""}`)
	i := slices.IndexFunc(list, func(p Product) bool { return p.SKU == "G" })
	equal(t, "tiers", asJSON(list[i].Tiers), `["x","y","z"]`)

	s.load("products", nil, "sku,price_cents", "PLUGIN,5900")
	s.load("products", nil, "sku,activation_limit,name", "PLUGIN,,")
	list = s.products()
	i = slices.IndexFunc(list, func(p Product) bool { return p.SKU == "PLUGIN" })
	equal(t, "an absent column is left alone, an empty cell is the default", asJSON(list[i]),
		`{"sku":"PLUGIN","name":"PLUGIN","kind":"license","price_cents":5900,"activation_limit":null,"license_days":null,"tiers":["basic","pro"],"active":true,"offline_days":30,"note":""}`)
}

func TestHistoryIsImportedWithItsLicenses(t *testing.T) {
	s := newFixture(t)
	refused := s.load("orders", nil,
		"provider,provider_ref,email,name,sku,tier,qty,unit_cents,discount_cents,tax_cents,currency,paid_at",
		"gumroad,G-1,Ann@Example.com,Ann,YEAR,,2,3000,500,190,eur,2026-01-31T10:00:00Z",
		"gumroad,G-2,bo@example.com,,YEAR,team,,,,,,2024-11-20",
		"gumroad,,bo@example.com,,YEAR,,,,,,,",
		"Gum,G-3,bo@example.com,,YEAR,,,,,,,",
		"gumroad,G-4,,,YEAR,,,,,,,",
		"gumroad,G-5,bo@example.com,,NOPE,,,,,,,",
		"gumroad,G-6,bo@example.com,,PLUGIN,gold,,,,,,",
		"gumroad,G-7,bo@example.com,,YEAR,,0,,,,,",
		"gumroad,G-8,bo@example.com,,YEAR,,1,100,101,,,",
		"gumroad,G-9,bo@example.com,,YEAR,,1,100,,,XXX,",
		"gumroad,G-10,bo@example.com,,YEAR,,1,100,,,,2026-13-01",
		"gumroad,G-11,bo@example.com,,YEAR,,1,100,,,,2026-11-22T00:00:00Z",
		"gumroad,G-12,bo@example.com,,BOOK,,1,100,,,,1969-12-31",
		"gumroad,G-13,bo@example.com,,BOOK,,1000,1000000000000,,,,")
	for line, says := range map[int]string{
		4: "provider_ref", 5: "provider", 6: "email", 7: "sku", 8: "tier", 9: "qty", 10: "discount_cents",
		11: "currency", 12: "paid_at", 13: "paid_at", 14: "paid_at", 15: "comes to",
	} {
		assert.That(t, strings.Contains(refused[line], says), "line %d: %q does not say %q", line, refused[line], says)
	}
	equal(t, "refused", len(refused), 12)
	equal(t, "no event", s.eventNames(), "")
	p := val(s.Orders(background, OrderFilter{}))
	equal(t, "orders", len(p.Orders), 2)
	first := val(s.Order(background, admin, p.Orders[1].OrderRef))
	equal(t, "total", first.TotalCents, int64(5690))
	equal(t, "currency", first.Currency, "EUR")
	equal(t, "licenses", len(first.Licenses), 2)
	equal(t, "expires", first.Licenses[0].ExpiresAt.String(), "2027-01-31T10:00:00Z")
	equal(t, "still good", s.check(first.Licenses[0].Key, "").Code, "valid")
	second := val(s.Order(background, admin, p.Orders[0].OrderRef))
	equal(t, "price", second.TotalCents, int64(3900))
	equal(t, "paid at the day's first instant", second.PaidAt.String(), "2024-11-20T00:00:00Z")
	equal(t, "over", s.check(second.Licenses[0].Key, "").Code, "expired")

	s.load("orders", &schema.LoadOptions{Emit: true}, "provider,provider_ref,email,sku", "gumroad,G-20,bo@example.com,BOOK")
	equal(t, "emitted when asked for", s.eventNames(), "order.paid")
}

func TestAnOrderIsCorrectedByImport(t *testing.T) {
	s := newFixture(t)
	header := "provider,provider_ref,email,name,sku,tier,qty,unit_cents,discount_cents,tax_cents,currency,paid_at"
	s.load("orders", nil, header, "paypal,P-1,typo@example.com,Ann,PLUGIN,pro,2,4900,0,0,USD,2026-11-01T00:00:00Z")
	s.load("orders", nil, "provider,provider_ref,email", "paypal,P-1,Ann@Example.com")
	s.load("orders", nil, "provider,provider_ref,unit_cents,discount_cents,currency", "paypal,P-1,4000,100,EUR")
	p := val(s.Orders(background, OrderFilter{}))
	o := p.Orders[0]
	equal(t, "customer", o.Customer.Email, "ann@example.com")
	equal(t, "total", o.TotalCents, int64(7900))
	stats := val(s.Stats(background))
	equal(t, "revenue", asJSON(stats.Revenue), `[{"currency":"EUR","gross_cents":7900,"refunded_cents":0,"net_cents":7900}]`)
	c := val(s.Customers(background, CustomerFilter{}))
	equal(t, "the other customer", asJSON(c.Customers[1]), `{"id":1,"email":"typo@example.com","name":"Ann","paid_orders":0,"first_order_at":null,"last_order_at":null}`)
	equal(t, "licenses", s.count("SELECT count(*) FROM store_licenses"), int64(2))

	for column, says := range map[string]string{
		"sku": "PLUGIN", "tier": "pro", "qty": "2", "paid_at": "2026-11-01", "email": "address", "currency": "ISO 4217",
	} {
		value := map[string]string{"sku": "YEAR", "tier": "basic", "qty": "3", "paid_at": "2026-11-02", "email": "nobody", "currency": "XXX"}[column]
		refused := s.load("orders", nil, "provider,provider_ref,"+column, "paypal,P-1,"+value)
		assert.That(t, strings.Contains(refused[2], column) && strings.Contains(refused[2], says),
			"%s: refused with %q", column, refused[2])
	}
	val(do3(s, cli, refundOrder, o.OrderRef, amount(5000), ""))
	refused := s.load("orders", nil, "provider,provider_ref,unit_cents", "paypal,P-1,2000")
	assert.Contains(t, refused[2], "5000", "less than was refunded")
	equal(t, "to the cent", len(s.load("orders", nil, "provider,provider_ref,unit_cents,discount_cents", "paypal,P-1,2600,199")), 0)
}
