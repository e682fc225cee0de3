package store

import (
	"fmt"
	"strings"
	"testing"

	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// foundBy returns the references of the orders that match a filter, in a line.
func (s *fixture) foundBy(f OrderFilter) string {
	s.T.Helper()
	page, err := s.Orders(background, f)
	assert.OK(s.T, err)
	n, err := s.CountOrders(background, f)
	assert.OK(s.T, err)
	refs := make([]string, len(page.Orders))
	for i, o := range page.Orders {
		refs[i] = o.ProviderRef
	}
	assert.That(s.T, int(n) == len(refs), "%+v: %d are counted, %d listed", f, n, len(refs))
	return strings.Join(refs, " ")
}

// TestFind: parts of a reference, address, name or SKU find orders and customers, in any order and case, with or
// without diacritics. A whole license key, in any spelling, finds its license alone.
func TestFind(t *testing.T) {
	s := newFixture(t)
	sell := func(ref, email, name string, skus ...string) OrderDetail {
		t.Helper()
		n := NewOrder{Email: email, Name: name, Provider: "paypal", ProviderRef: ref}
		for _, sku := range skus {
			n.Lines = append(n.Lines, NewLine{SKU: sku, Qty: 1})
		}
		r := val(do(s, cli, recordOrder, n))
		return r.OrderDetail
	}
	first := sell("P-100", "ann.lee@example.com", "Ann Lee", "YEAR", "BOOK")
	sell("P-200", "joann@sample.org", "Jo Ann O'Neil", "BOOK")
	sell("Z-100", "bö@exämple.com", "Bö Ünal", "YEAR")
	for q, want := range map[string]string{
		"ann": "P-200 P-100", "ANN.LEE": "P-100", "lee@EX": "P-100", "o'neil": "P-200", "-100": "Z-100 P-100", "year": "Z-100 P-100", "book": "P-200 P-100",
		"bö": "Z-100 P-200 P-100", "ÜNAL": "Z-100", "unal": "Z-100", "unal bo": "Z-100", "lee ann": "P-100", "ann book -200": "P-200", "oann": "P-200", "%": "", `"`: "", "nobody at all": "", strings.ToLower(first.OrderRef[2:9]): "P-100",
		"ann lee": "P-100", first.Licenses[0].Key: "", first.Licenses[0].Key[:5]: "",
	} {
		equal(t, q, s.foundBy(OrderFilter{Q: q}), want)
	}
	equal(t, "with an address", s.foundBy(OrderFilter{Q: "P-", Email: "JOANN@sample.org"}), "P-200")
	equal(t, "by address", s.foundBy(OrderFilter{Email: "Ann.Lee@Example.com"}), "P-100")
	today := s.now().Day(s.DB.Zone())
	tomorrow := today + 1
	equal(t, "on the day", s.foundBy(OrderFilter{From: &today, To: &today}), "Z-100 P-200 P-100")
	equal(t, "after it", s.foundBy(OrderFilter{From: &tomorrow}), "")
	equal(t, "of the day", s.foundBy(OrderFilter{Q: "ann", To: &today, Provider: "paypal", Status: "paid"}), "P-200 P-100")

	customers := func(q string) string {
		page := val(s.Customers(background, CustomerFilter{Q: q}))
		n := val(s.CountCustomers(background, CustomerFilter{Q: q}))
		equal(t, "counted", int(n), len(page.Customers))
		names := make([]string, len(page.Customers))
		for i, k := range page.Customers {
			names[i] = k.Name
		}
		return strings.Join(names, ", ")
	}
	for q, want := range map[string]string{"ann": "Jo Ann O'Neil, Ann Lee", "SAMPLE": "Jo Ann O'Neil", "Ünal": "Bö Ünal", "P-100": "", "BOOK": ""} {
		equal(t, q, customers(q), want)
	}

	key := first.Licenses[0].Key
	licenses := func(f LicenseFilter) int {
		page := val(s.Licenses(background, admin, f))
		return len(page.Licenses)
	}
	for q, want := range map[string]int{
		key: 1, strings.ToLower(strings.ReplaceAll(key, "-", " ")): 1, strings.NewReplacer("0", "o", "1", "l").Replace(key): 1, key[:23]: 0, key[24:]: 0, "ann": 1, "year": 2, "P-100": 1,
	} {
		equal(t, "licenses "+q, licenses(LicenseFilter{Q: q}), want)
	}
	equal(t, "of a buyer", licenses(LicenseFilter{Email: "ANN.lee@example.com"}), 1)
	equal(t, "of an order", licenses(LicenseFilter{OrderRef: first.OrderRef}), 1)
	equal(t, "of a status", licenses(LicenseFilter{Status: "suspended"}), 0)

	val(do2(s, cli, nameCustomer, "ann.lee@example.com", "Anna Leander"))
	equal(t, "by the new name", s.foundBy(OrderFilter{Q: "leander"}), "P-100")
	val(do2(s, cli, nameCustomer, "joann@sample.org", "Jo Ann Smith"))
	equal(t, "by the old name", s.foundBy(OrderFilter{Q: "o'neil"}), "")
}

// TestFindAmongManyAlike: matches beyond the trigrams that are tried first are found too.
func TestFindAmongManyAlike(t *testing.T) {
	s := newFixture(t)
	assert.OK(t, db.Exec(background, s.DB, db.Bookkeeping(), func(tx *db.Tx) error {
		for i := range fewCandidates + 300 {
			name := "Alma Alikesson"
			if i%100 == 7 {
				name = "Alma Alikessen"
			}
			if _, err := saveCustomer(tx, fmt.Sprintf("%d@x.y", i), name, true); err != nil {
				return err
			}
		}
		return nil
	}))
	for q, want := range map[string]int64{"alma alikesson": fewCandidates + 300 - 13, "alma alikessen": 13, "ALMA": fewCandidates + 300, "alma alikessan": 0} {
		n := val(s.CountCustomers(background, CustomerFilter{Q: q}))
		equal(t, q, n, want)
		page := val(s.Customers(background, CustomerFilter{Q: q}))
		equal(t, q+", listed", int64(len(page.Customers)), want)
	}
}
