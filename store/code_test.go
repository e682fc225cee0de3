package store

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/assert"
)

func (s *fixture) mint(n int64, batch string) Minted {
	s.T.Helper()
	m, err := do(s, admin, mintCodes, Minting{n, "PLUGIN", "pro", batch})
	assert.OK(s.T, err)
	return m
}

func (s *fixture) redeem(code, email string) (Redeemed, error) {
	return s.RedeemCode(background, code, email, "", "192.0.2.1")
}

func TestMintIsRefused(t *testing.T) {
	s := newFixture(t)
	s.load("products", nil, "sku,active", "OLD,false")
	s.mint(1, "launch")
	for name, c := range map[string]struct {
		count            int
		sku, tier, batch string
		code, says       string
	}{
		"none":            {0, "PLUGIN", "", "", "validation", "1 to 1000"},
		"too many":        {1001, "PLUGIN", "", "", "validation", "1 to 1000"},
		"unknown sku":     {1, "NOPE", "", "", "validation", "sku"},
		"not licensed":    {1, "BOOK", "", "", "validation", "not licensed"},
		"not active":      {1, "OLD", "", "", "validation", "not active"},
		"unknown tier":    {1, "PLUGIN", "gold", "", "validation", "basic, pro"},
		"tier in capital": {1, "YEAR", "Gold", "", "validation", "a-z"},
		"long tier":       {1, "YEAR", strings.Repeat("a", 33), "", "validation", "1 to 32"},
		"batch":           {1, "PLUGIN", "", "a b", "validation", "batch"},
		"long batch":      {1, "PLUGIN", "", strings.Repeat("a", 65), "validation", "1 to 64"},
		"another tier":    {1, "PLUGIN", "", "launch", "conflict", "tier pro"},
		"another sku":     {1, "YEAR", "pro", "launch", "conflict", "PLUGIN"},
	} {
		_, err := s.command(s.mintCodes(), admin, fmt.Sprintf("count=%d", c.count), "sku="+c.sku, "tier="+c.tier, "batch="+c.batch)
		if err == nil {
			t.Errorf("%s: was taken", name)
			continue
		}
		refused(t, err, c.code, c.says)
	}
	equal(t, "codes", s.count("SELECT count(*) FROM store_codes"), int64(1))
	longest := val(do(s, admin, mintCodes, Minting{1, "YEAR", strings.Repeat("a", 32), strings.Repeat("B", 64)}))
	equal(t, "tier", len(*longest.Tier), 32)
}

func TestABatchIsNamedAfterTheTimeAndTheProduct(t *testing.T) {
	s := newFixture(t)
	s.load("products", nil, "sku", "Mein Büchlein/2 mit einem sehr langen Namen für alle Leser")
	for _, c := range []struct{ sku, want string }{
		{"PLUGIN", "20261120-210500-PLUGIN"},
		{"PLUGIN", "20261120-210500-PLUGIN-2"},
		{"PLUGIN", "20261120-210500-PLUGIN-3"},
		{"YEAR", "20261120-210500-YEAR"},
		{"Mein Büchlein/2 mit einem sehr langen Namen für alle Leser", "20261120-210500-Mein-B-chlein-2-mit-einem-sehr-langen-Namen-f-r-"},
	} {
		m := val(do(s, admin, mintCodes, Minting{1, c.sku, "", ""}))
		equal(t, "batch", m.Batch, c.want)
		equal(t, "is a batch name", isBatchName(m.Batch), true)
	}
}

func TestACodeBecomesALicense(t *testing.T) {
	s := newFixture(t)
	m := s.mint(3, "launch")
	written := strings.ToLower(strings.ReplaceAll(m.Codes[0], "-", " ")) // as somebody types it
	written = strings.ReplaceAll(strings.ReplaceAll(written, "0", "o"), "1", "l")
	r := val(s.RedeemCode(background, written, "Kim@Example.com", "Kim", "192.0.2.1"))
	equal(t, "check", s.check(r.License.Key, "").Code, "valid")
	equal(t, "tier", *r.License.Tier, "pro")
	equal(t, "email", r.License.CustomerEmail, "kim@example.com")
	equal(t, "provider", r.Order.Provider, "code")
	equal(t, "provider_ref", r.Order.ProviderRef, r.Order.OrderRef)
	equal(t, "total", r.Order.TotalCents, int64(0))
	equal(t, "status", r.Order.Status, "paid")
	equal(t, "events", s.eventNames(), "code.redeemed")
	for _, secret := range []string{m.Codes[0], strings.ReplaceAll(m.Codes[0], "-", ""), r.License.Key} {
		assert.Lacks(t, s.events()[0].raw, secret, "code.redeemed carries a code or a key")
	}

	_, err := s.redeem(m.Codes[0], "other@example.com")
	equal(t, "to somebody else", refused(t, err, "conflict").Detail, "this code was redeemed before")
	_, err = s.redeem(m.Codes[0], "Kim@example.com")
	refused(t, err, "conflict", "redeemed before, as order "+r.Order.OrderRef)
	_, err = s.redeem(newCode(), "other@example.com")
	unknown := refused(t, err, "not_found")
	_, err = s.redeem("no code at all", "other@example.com")
	equal(t, "ill-formed as unknown", refused(t, err, "not_found").Detail, unknown.Detail)
	_, err = s.redeem(m.Codes[1], "not an address")
	refused(t, err, "validation", "email")

	v := val(do(s, cli, void, "launch"))
	equal(t, "voided", asJSON(v), `{"batch":"launch","sku":"PLUGIN","tier":"pro","total":3,"unused":0,"redeemed":1,"void":2,"created_at":"2026-11-20T21:05:00Z","voided":2}`)
	_, err = s.redeem(m.Codes[1], "other@example.com")
	refused(t, err, "conflict", "void")
	equal(t, "the redeemed one stays", s.check(r.License.Key, "").Code, "valid")
	again := val(do(s, cli, void, "launch"))
	equal(t, "nothing is left to void", again.Voided, int64(0))
	_, err = do(s, cli, void, "nothing")
	refused(t, err, "not_found", "nothing")

	for _, c := range []struct {
		batch, status string
		want          int
	}{
		{"", "", 1}, {"", "void", 1}, {"", "redeemed", 1}, {"", "unused", 0}, {"launch", "void", 1}, {"launch", "unused", 0}, {"nothing", "", 0},
	} {
		p := val(s.Batches(background, c.batch, c.status, schema.Cursor[int64]{}))
		equal(t, fmt.Sprint("batches ", c.batch, " ", c.status), len(p.Batches), c.want)
	}
}

func TestCodeStaysValidAfterItsProductIsRetired(t *testing.T) {
	s := newFixture(t)
	m := s.mint(1, "launch")
	s.load("products", nil, "sku,active,kind", "PLUGIN,false,other")
	r := val(s.redeem(m.Codes[0], "a@b.c"))
	equal(t, "check", s.check(r.License.Key, "").Code, "valid")
}

func TestRedeemingRevealsAndChangesNoName(t *testing.T) {
	s := newFixture(t)
	val(do(s, cli, recordOrder, NewOrder{Email: "ann@example.com", Name: "Ann Lee", SKU: "BOOK"}))
	m := s.mint(2, "launch")
	r := val(s.RedeemCode(background, m.Codes[0], "ann@example.com", "Mallory", ""))
	equal(t, "name told", r.Order.Customer.Name, "Mallory")
	r = val(s.redeem(m.Codes[1], "ann@example.com"))
	equal(t, "name told", r.Order.Customer.Name, "")
	c := val(s.Customers(background, CustomerFilter{}))
	equal(t, "name on record", c.Customers[0].Name, "Ann Lee")
	equal(t, "paid orders", c.Customers[0].PaidOrders, int64(3))
}

func TestGuessingIsSlowedByAddress(t *testing.T) {
	s := newFixture(t)
	good := s.license("PLUGIN")
	code := s.mint(1, "launch").Codes[0]
	const guesser = "203.0.113.7"
	miss := []func() error{
		func() error {
			v, err := s.CheckLicense(background, Asked{Key: newKey(), Remote: guesser})
			assert.That(t, err != nil || v.Code == "not_found", "a guess is %s", v.Code)
			return err
		},
		func() error {
			_, err := s.ActivateLicense(background, Asked{Key: newKey(), Fingerprint: "m", Remote: guesser}, "")
			return err
		},
		func() error { _, err := s.RedeemCode(background, newCode(), "a@b.c", "", guesser); return err },
		func() error {
			_, err := s.DeactivateLicense(background, Asked{Key: newKey(), Fingerprint: "m", Remote: guesser})
			return err
		},
		func() error {
			_, err := s.Activations(background, Asked{Key: newKey(), Remote: guesser}, schema.Cursor[int64]{})
			return err
		},
	}
	for i := range 20 {
		if err := miss[i%len(miss)](); err != nil {
			refused(t, err, "not_found")
		}
		s.pass(10 * time.Second)
	}
	for i := range miss {
		e := refused(t, miss[i](), "rate_limited")
		equal(t, "retry", e.Retry, 10*time.Minute-200*time.Second)
	}

	v := val(s.CheckLicense(background, Asked{Key: good.Key, Remote: guesser}))
	equal(t, "a good key from there", v.Code, "valid")
	val(s.ActivateLicense(background, Asked{Key: good.Key, Fingerprint: "m", Remote: guesser}, ""))
	val(s.RedeemCode(background, code, "a@b.c", "", guesser))
	v = val(s.CheckLicense(background, Asked{Key: newKey(), Remote: "203.0.113.8"}))
	equal(t, "another address", v.Code, "not_found")

	s.pass(400*time.Second - time.Second)
	refused(t, miss[0](), "rate_limited")
	s.pass(time.Second)
	assert.OK(t, miss[0]())
	refused(t, miss[0](), "rate_limited")
}

// TestACodeForADownloadMakesAnOrder: a code for a download becomes an order without a license. A product that is
// neither licensed nor a download has no codes. Codes of a product that became a download become downloads.
func TestACodeForADownloadMakesAnOrder(t *testing.T) {
	s := newFixture(t)
	s.load("products", nil, "sku,name,kind,price_cents", "EBOOK,Mixing at home,download,1900")
	m := val(do(s, cli, mintCodes, Minting{2, "EBOOK", "", "books"}))
	r := val(s.redeem(m.Codes[0], "ann@example.com"))
	assert.That(t, r.License == nil, "a download has the license %v", r.License)
	equal(t, "order", r.Order.Items[0].SKU+" "+r.Order.Provider, "EBOOK code")
	equal(t, "licenses", s.count("SELECT count(*) FROM store_licenses"), int64(0))
	equal(t, "the event", strings.Contains(s.events()[0].raw, `"license":null`), true)
	d := val(do(s, cli, resendOrder, r.Order.OrderRef))
	equal(t, "sent again", s.eventNames(), "code.redeemed code.redeemed")
	equal(t, "by order", d.OrderRef, r.Order.OrderRef)
	_, err := do(s, cli, mintCodes, Minting{1, "BOOK", "", ""})
	refused(t, err, "validation", "sku", "download")

	sold := s.license("PLUGIN")
	codes := s.mint(1, "plugins").Codes
	s.load("products", nil, "sku,kind", "PLUGIN,download")
	r = val(s.redeem(codes[0], "bea@example.com"))
	assert.That(t, r.License == nil, "a code of a product that became a download issued a license")
	equal(t, "licenses sold stay", s.check(sold.Key, "").Code, "valid")
}
