package store

import (
	"encoding/csv"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// moveIn imports lines of licenses and returns the result.
func (s *fixture) moveIn(lines ...string) schema.Loaded {
	s.T.Helper()
	tab, _ := s.Declare().Table("licenses")
	header := s.cells(lines[0])
	var rows []schema.Line
	for i, line := range lines[1:] {
		cells := s.cells(line)
		ordered := make([]string, len(tab.Columns()))
		for n, c := range tab.Columns() {
			if at := slices.Index(header, c.Name); at >= 0 {
				ordered[n] = cells[at]
			}
		}
		rows = append(rows, schema.Line{Number: i + 2, Cells: ordered})
	}
	out, err := tab.Load(background, s.DB, cli, rows, schema.LoadOptions{Columns: header})
	assert.OK(s.T, err)
	return out
}

// cameOf is an import's result, in a line.
func cameOf(l schema.Loaded) string {
	text := fmt.Sprintf("%d new, %d changed, %d same", l.New, l.Changed, l.Same)
	for _, c := range l.Changes {
		text += fmt.Sprintf("; %d: %s", c.Line, strings.Join(c.Fields, " "))
	}
	for _, r := range l.Remarks {
		text += fmt.Sprintf("; %d %s %v", r.Rows, r.Text, r.Lines)
	}
	for _, e := range l.Errors {
		text += fmt.Sprintf("; %d refused: %s", e.Line, e.Reason)
	}
	return text
}

// csvLine writes cells as a line of CSV.
func csvLine(cells ...string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(cells)
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}

func (s *fixture) byKey(key string) License {
	s.T.Helper()
	list, err := s.FindLicenses(background, cli, key)
	assert.OK(s.T, err)
	return list.Licenses[0]
}

const uuidKey = "38b1460a-5104-4067-a91d-77b872934d51"

// TestKeyImportsWithItsOrderAndSeats is the contract's example: limit empty, 4 seats, disabled, order 9 of Lemon
// Squeezy. A second import changes nothing.
func TestKeyImportsWithItsOrderAndSeats(t *testing.T) {
	s := newFixture(t)
	file := []string{
		"license_key,sku,email,name,status,activation_limit,created_at,provider,provider_ref,seats",
		csvLine(uuidKey, "PLUGIN", "Ann@Example.com", "Ann Lee", "disabled", "", "2025-03-01T10:00:00Z", "lemonsqueezy", "9",
			`[{"fingerprint":"a","label":"studio","created_at":"2025-03-02T10:00:00Z"},{"fingerprint":"b"},{"fingerprint":"c"},{"fingerprint":"d"}]`),
	}
	equal(t, "first", cameOf(s.moveIn(file...)), "1 new, 0 changed, 0 same")
	l := s.byKey(uuidKey)
	equal(t, "license", l.Status+" "+seats(l)+" "+l.CustomerEmail+" "+l.CreatedAt.String(), "suspended 4 of 3 ann@example.com 2025-03-01T10:00:00Z")
	d := val(s.Order(background, admin, l.OrderRef))
	equal(t, "order", fmt.Sprint(d.Provider, " ", d.ProviderRef, " ", d.TotalCents, " ", d.PaidAt, " ", d.Items[0].Qty, " ", d.Customer.Name), "lemonsqueezy 9 0 2025-03-01T10:00:00Z 1 Ann Lee")
	equal(t, "no event", s.eventNames(), "")
	equal(t, "no mail", s.count("SELECT count(*) FROM mails"), int64(0))
	audits, seen := s.count("SELECT count(*) FROM audit"), strings.Join(s.dump("licenses"), "\n")
	equal(t, "again", cameOf(s.moveIn(file...)), "0 new, 0 changed, 1 same")
	equal(t, "nothing written", s.count("SELECT count(*) FROM audit"), audits)
	equal(t, "the same", strings.Join(s.dump("licenses"), "\n"), seen)
	n := s.count("SELECT count(*) FROM audit WHERE changes LIKE '%' || ? || '%'", uuidKey)
	assert.That(t, n == 0, "the trail has the key %d times", n)
	val(do2(s, cli, moveLicense, l.ID, stateActive))
	equal(t, "a machine that moved", s.check(uuidKey, "d").Code, isValid)
	_, err := s.activate(uuidKey, "e")
	refused(t, err, atLimit)

	s.load("orders", nil, "provider,provider_ref,unit_cents", "lemonsqueezy,9,4900")
	d = val(s.Order(background, admin, l.OrderRef))
	equal(t, "an import of orders corrects its amount", d.TotalCents, int64(4900))
	equal(t, "a further key of the order", cameOf(s.moveIn("license_key,sku,email,provider,provider_ref", "other-key-of-9,PLUGIN,ann@example.com,lemonsqueezy,9",
		"third-key-of-9,YEAR,ann@example.com,lemonsqueezy,9", "fourth-key-9,YEAR,ann@example.com,lemonsqueezy,9")), "3 new, 0 changed, 0 same")
	d = val(s.Order(background, admin, l.OrderRef))
	equal(t, "its lines", linesOf(d.Items)+fmt.Sprint(" ", d.TotalCents, " ", len(d.Licenses)), "PLUGIN=1 PLUGIN=1 YEAR=2 4900 4")
}

func TestRowsOfLicensesAreRefusedByName(t *testing.T) {
	s := newFixture(t)
	l := s.license("PLUGIN")
	spelled := strings.ReplaceAll(strings.ToLower(l.Key), "-", " ")
	sold := s.sell("PLUGIN", "ann@example.com", 2)
	s.moveIn("license_key,sku,email,provider,provider_ref", "given-back,YEAR,ann@example.com,manual,R-1")
	val(do3(s, cli, refundOrder, s.byKey("given-back").OrderRef, nil, ""))
	equal(t, "a revoked one", cameOf(s.moveIn("license_key,sku,email,provider,provider_ref,status", "given-back-2,YEAR,ann@example.com,manual,R-1,revoked")), "1 new, 0 changed, 0 same")
	out := s.moveIn("license_key,sku,email,provider,provider_ref,seats,activation_limit,expires_at,created_at,tier,status",
		"short,PLUGIN,a@example.com,,,,,,,,",
		strings.Repeat("k", 1001)+",PLUGIN,a@example.com,,,,,,,,",
		spelled+",PLUGIN,ann@example.com,,,,,,,,",
		"no-email-here,PLUGIN,,,,,,,,,",
		"no-such-product,ECHO,a@example.com,gumroad,,,,,,,",
		"no-such-product-2,,a@example.com,,,,,,,,",
		"no-licenses-come,BOOK,a@example.com,,,,,,,,",
		csvLine("ill-seats-1", "PLUGIN", "a@example.com", "", "", `[{"label":"x"}]`, "", "", "", "", ""),
		csvLine("ill-seats-2", "PLUGIN", "a@example.com", "", "", `[{"fingerprint":"a","machine":1}]`, "", "", "", "", ""),
		csvLine("ill-seats-3", "PLUGIN", "a@example.com", "", "", strings.Repeat("f", 201), "", "", "", "", ""),
		"all-at-once,NOPE,nobody,Gum,,,-2,soon,2099-01-01,,",
		"twice-in-file,PLUGIN,a@example.com,,,,,,,,",
		"twice-in-file,PLUGIN,a@example.com,,,,,,,,",
		"in-a-stored-order,PLUGIN,ann@example.com,manual,"+sold.ProviderRef+",,,,,,",
		"of-another-buyer,YEAR,bo@example.com,manual,R-1,,,,,,revoked",
		"refunded-and-alive,YEAR,ann@example.com,manual,R-1,,,,,,active",
		l.Key+",YEAR,ann@example.com,,,,,,,,",
		"ill-tier-here,PLUGIN,a@example.com,,,,,,,gold,",
		"ill-status-here,PLUGIN,a@example.com,,,,,,,,broken",
	)
	by := map[int]string{}
	for _, e := range out.Errors {
		by[e.Line] = e.Column + "| " + e.Reason
		for _, key := range []string{l.Key, spelled, "no-email-here", "all-at-once"} {
			assert.Lacks(t, e.Reason, key, "line %d: the reason has the key", e.Line)
		}
	}
	for line, says := range map[int]string{
		2: "license_key| license_key: it has 5 characters; a key has at least 8", 3: "at most 1,000", 4: "has the same " +
			"key in another spelling", 5: "email| email is missing",
		6: "ECHO of gumroad is not a product here", 7: "sku is missing", 8: "BOOK is not licensed; its kind is other",
		9: "seats| seats: seat 1 has no fingerprint", 10: "not a JSON list", 11: "at most 200",
		14: "line 13 has the same key", 15: sold.OrderRef + " (manual " + sold.ProviderRef + ") has 2 licenses of PLUGIN=1", 16: "belongs to ann@example.com",
		17: "is refunded: it accepts only revoked licenses", 18: "license 1 is recorded with PLUGIN, not YEAR", 19: "basic, pro", 20: "status",
	} {
		assert.Contains(t, strings.ReplaceAll(by[line], `"`, ""), says, "line %d: %s", line, by[line])
	}
	for _, says := range []string{"email", "provider", "activation_limit", "expires_at", "created_at", "sku"} {
		assert.Contains(t, by[12], says, "line 12")
	}
	equal(t, "taken", out.New, 1)
	equal(t, "unknown names", fmt.Sprint(out.Unknown[0].Name, out.Unknown[0].Rows, out.Unknown[0].Fields), "ECHO1 map[payment_link:ECHO provider:gumroad]")
}

func (s *fixture) orders() []Order {
	s.T.Helper()
	p, err := s.Orders(background, OrderFilter{})
	assert.OK(s.T, err)
	return p.Orders
}

// TestImportedKeyReplacesAHistoricLicense: an imported key replaces a license that an import of orders made and nobody
// has received.
func TestImportedKeyReplacesAHistoricLicense(t *testing.T) {
	s := newFixture(t)
	s.load("orders", nil, "provider,provider_ref,email,sku,tier,qty,paid_at", "gumroad,G-1,ann@example.com,PLUGIN,pro,3,2025-01-01")
	d := s.orders()[0]
	whole := val(s.Order(background, admin, d.OrderRef))
	s.check(whole.Licenses[0].Key, "") // its time is not stored yet
	val(s.activate(whole.Licenses[1].Key, "m"))
	rows := []string{"license_key,sku,email,tier,provider,provider_ref,expires_at", "first-key-1,PLUGIN,ann@example.com,pro,gumroad,G-1,2030-01-01", "second-key-2,PLUGIN,ann@example.com,pro,gumroad,G-1,"}
	out := s.moveIn(rows...)
	equal(t, "one is free", fmt.Sprint(out.New, len(out.Errors)), "1 1")
	assert.Contains(t, out.Errors[0].Reason, d.OrderRef+" (gumroad G-1) has 3 licenses of PLUGIN:pro=1", "refused with")
	l := s.byKey("FIRST KEY 1")
	equal(t, "which", l.ID, whole.Licenses[2].ID)
	equal(t, "end", l.ExpiresAt.String(), "2030-01-01T00:00:00Z")
	equal(t, "imported", l.Imported(), true)
	equal(t, "its old key", s.check(whole.Licenses[2].Key, "").Code, isNotFound)
	shown := val(s.License(background, cli, l.ID))
	equal(t, "its page", shown.Origin(), "Imported")
	assert.OK(t, errOf(do(s, cli, rotateLicenseKey, l.ID)))
	shown = val(s.License(background, cli, l.ID))
	equal(t, "its page with another key", shown.Origin(), "Imported; its key was replaced here")
	equal(t, "units", s.orders()[0].Items[0].Qty, int64(3))

	s.load("orders", &schema.LoadOptions{Emit: true}, "provider,provider_ref,email,sku,qty", "gumroad,G-2,bo@example.com,PLUGIN,1")
	if out := s.moveIn("license_key,sku,email,provider,provider_ref", "third-key-3,PLUGIN,bo@example.com,gumroad,G-2"); len(out.Errors) != 1 {
		t.Errorf("a license that a receiver was told of is replaced: %s", cameOf(out))
	}
}

// TestAKnownKeyIsChangedByTheGivenColumns: given columns change a known license; absent ones do not.
func TestAKnownKeyIsChangedByTheGivenColumns(t *testing.T) {
	s := newFixture(t)
	s.moveIn("license_key,sku,email,tier,activation_limit,expires_at,seats", "known-key-1,PLUGIN,ann@example.com,basic,unlimited,2027-01-01,a", "known-key-2,PLUGIN,ann@example.com,,5,,")
	change := func(header string, cells ...string) string {
		t.Helper()
		return cameOf(s.moveIn("license_key,"+header, csvLine(append([]string{"known-key-1"}, cells...)...)))
	}
	equal(t, "nothing given", change("sku", "PLUGIN"), "0 new, 0 changed, 1 same")
	equal(t, "limit", change("activation_limit", "2"), "0 new, 1 changed, 0 same; 2: activation_limit")
	equal(t, "limit goes", change("activation_limit", ""), "0 new, 1 changed, 0 same; 2: activation_limit")
	equal(t, "end", change("expires_at,created_at", "2028-01-01", "2025-01-01"), "0 new, 1 changed, 0 same; 2: created_at expires_at")
	equal(t, "never", change("expires_at", ""), "0 new, 1 changed, 0 same; 2: expires_at")
	equal(t, "expired", change("status,expires_at", "Expired", "2029-01-01"), "0 new, 1 changed, 0 same; 2: expires_at; 1 "+remarkEnded+" [2]")
	s.pass(time.Hour)
	equal(t, "expired before", change("status,expires_at", "expired", ""), "0 new, 0 changed, 1 same")
	equal(t, "status", change("status,expires_at", "", ""), "0 new, 1 changed, 0 same; 2: expires_at")
	equal(t, "seats are added", change("seats", "b\n\n a \nc"), "0 new, 1 changed, 0 same; 2: seats")
	equal(t, "and never taken", change("seats", ""), "0 new, 0 changed, 1 same")
	equal(t, "tier", change("tier", "pro"), "0 new, 1 changed, 0 same; 2: tier")
	equal(t, "buyer", change("email,name", "Bo@Example.com", "Bo"), "0 new, 1 changed, 0 same; 2: email name")
	equal(t, "another payment", change("provider", "paypal"), "0 new, 0 changed, 0 same; 2 refused: provider: license "+
		"1 is recorded with \"import\", not \"paypal\"; an import cannot move a key")
	equal(t, "revoked", change("status", "revoked"), "0 new, 1 changed, 0 same; 2: status")
	equal(t, "stays", change("status", "active"), "0 new, 0 changed, 1 same; 1 "+remarkRevoked+" [2]")
	l := s.byKey("known-key-1")
	equal(t, "in all", l.Status+" "+seats(l)+" "+schema.Cell(l.Tier)+" "+l.CustomerEmail, "revoked 3 of 3 pro bo@example.com")
	equal(t, "its order's line", linesOf(s.order(l.OrderRef).Items), "PLUGIN:pro=1")
	equal(t, "the other one", s.byKey("known-key-2").CustomerEmail, "ann@example.com")

	equal(t, "alike", cameOf(s.moveIn("license_key,sku,email", "AbCd-1234,PLUGIN,ann@example.com", "abcd-1234,PLUGIN,ann@example.com")),
		"2 new, 0 changed, 0 same; 1 must be typed exactly: another key differs only in capitals, spaces or hyphens [3]")
	equal(t, "each finds itself", fmt.Sprint(s.byKey("AbCd-1234").ID != s.byKey("abcd-1234").ID, s.check("ABCD-1234", "").Code), "truenot_found")
}

func (s *fixture) order(ref string) OrderDetail {
	s.T.Helper()
	d, err := s.Order(background, admin, ref)
	assert.OK(s.T, err)
	return d
}

// TestNamesOfOtherProgramsMeanProducts: another program's product name is found by SKU, by mapping, or by the only
// product's name.
func TestNamesOfOtherProgramsMeanProducts(t *testing.T) {
	s := newFixture(t)
	row := func(sku, their string) string {
		t.Helper()
		key := fmt.Sprintf("key-%d-%s", s.count("SELECT count(*) FROM store_licenses"), "xxxxxxxx")
		out := s.moveIn("license_key,sku,product_name,email,provider", csvLine(key, sku, their, "ann@example.com", "lemonsqueezy"))
		if len(out.Errors) > 0 {
			return out.Errors[0].Reason
		}
		l := s.byKey(key)
		return goods(l.SKU, schema.Cell(l.Tier), 1)
	}
	equal(t, "its name in any case", row("AUDIO Plugin", ""), "PLUGIN=1")
	equal(t, "the name beside a number", row("4711", "one year"), "YEAR=1")
	assert.OK(t, errOf(do(s, admin, mapProvider,
		Link{Provider: "lemonsqueezy", Link: "88", SKU: "PLUGIN", Tier: db.NullText("basic"), TheirProduct: amount(4711)})))
	assert.OK(t, errOf(do(s, admin, mapProvider,
		Link{Provider: "lemonsqueezy", Link: "89", SKU: "PLUGIN", Tier: db.NullText("pro"), TheirProduct: amount(4711)})))
	equal(t, "the variant", row("88", ""), "PLUGIN:basic=1")
	equal(t, "the product's number, mapped last", row("4711", "one year"), "PLUGIN:pro=1")
	s.load("products", nil, "sku,name", "YEAR2,One Year")
	assert.Contains(t, row("one year", ""), "store provider map lemonsqueezy", "two of that name")
}

var demoSubscription = regexp.MustCompile(`,sub_demo_\d+,`)

func errOf[T any](_ T, err error) error { return err }

// TestLicensesExportAndImportCompletely: an export makes the same licenses elsewhere, after the exports of products,
// customers and orders.
func TestLicensesExportAndImportCompletely(t *testing.T) {
	s := newFixture(t)
	assert.OK(t, s.demo(background, s.now().Day(time.UTC)))
	s.moveIn("license_key,sku,email,tier,activation_limit,expires_at,seats,status,provider,provider_ref",
		csvLine(uuidKey, "PLUGIN", "ann@example.com", "pro", "unlimited", "2030-01-01", "a\nb", "suspended", "gumroad", "G-1"),
		csvLine("=a-formula-key", "PLUGIN", "ann@example.com", "pro", "0", "", "", "revoked", "gumroad", "G-1"), csvLine("eight888", "YEAR", "bo@example.com", "", "", "", "", "expired", "", ""))
	before := s.dump("licenses")
	equal(t, "into the same shop", cameOf(s.moveIn(before...)), fmt.Sprintf("0 new, 0 changed, %d same", len(before)-1))
	for i := range before { // only a backup moves a subscription
		before[i] = demoSubscription.ReplaceAllString(before[i], ",,")
	}
	fresh := emptyFixture(t)
	for _, table := range []string{"products", "customers", "orders"} {
		fresh.load(table, nil, s.dump(table)...)
	}
	if out := fresh.moveIn(before...); len(out.Errors)+len(out.Remarks) > 0 {
		t.Errorf("into a new shop: %s", cameOf(out))
	}
	equal(t, "in the new shop", sorted(fresh.dump("licenses")), sorted(before))
	equal(t, "orders too", sorted(fresh.dump("orders")), sorted(s.dump("orders")))
	equal(t, "no event", fresh.eventNames(), "")
}

func sorted(lines []string) string {
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
