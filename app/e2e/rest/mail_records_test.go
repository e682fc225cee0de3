package rest

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// lists expects a record's page to list the messages with these ids.
func lists(t *testing.T, v *apptest.Visitor, path string, ids ...int64) {
	t.Helper()
	got := v.Get(path)
	for _, id := range ids {
		if link := fmt.Sprintf(`href="/mail/%d"`, id); got.Status != http.StatusOK || !strings.Contains(got.Body, link) {
			t.Errorf("%s: %d, no %s", path, got.Status, link)
		}
	}
}

// TestRecordsListTheirMail: the pages of an order, its license and its customer list the newest messages to
// members, not to viewers.
func TestRecordsListTheirMail(t *testing.T) {
	t.Parallel()
	s, to := apptest.MailShop(t)
	s.MustCLI("store", "product", "save", "PLUGIN", "--note", "Unpack it into plugins.\nhttps://shop.example/get")
	ref, key := record(s, "--email", "ann@example.com")
	settled(s, in("sent"))
	assert.Contains(t, letter(t, to.Got()[0]), key+" | 3 seats | Unpack it into plugins.")
	out := s.MustCLI("export", "store", "products")
	assert.That(t, strings.HasPrefix(out, "sku,") && strings.Contains(strings.SplitN(out, "\n", 2)[0], ",note"), "%v", out)
	s.MustCLI("user", "add", "vic", "--role", "viewer", "--service", "store")
	vera, vic := s.Person("store", "vera", "member"), s.Invited("store", "vic")
	for _, path := range []string{"/orders/" + ref, "/licenses/1", "/customers/1"} {
		lists(t, vera, path, 1)
		if got := vic.Get(path); got.Status != http.StatusOK || strings.Contains(got.Body, `href="/mail/1"`) {
			t.Errorf("a viewer, %s: %d", path, got.Status)
		}
	}
}

// TestImportsMailNobody: not even a refund that waited for the payment in a file, with its events. The preview says so.
func TestImportsMailNobody(t *testing.T) {
	t.Parallel()
	s, _ := apptest.MailShop(t)
	file := "provider,provider_ref,email,sku,qty,currency,paid_at,refunds\n" +
		"paypal,P-1,ann@example.com,PLUGIN,1,USD,2026-11-01,2026-11-02=4900\n"
	if code, out, errs := s.Pipe(file, "import", "store", "orders", "-", "--emit",
		"--dry-run"); code != 0 || !strings.Contains(out+errs, "an import sends no mail") {
		t.Errorf("%d %s %s", code, out, errs)
	}
	code, out, errs := s.Pipe(file, "import", "store", "orders", "-", "--emit")
	assert.That(t, code == 0, "%s %s", out, errs)
	vera := s.Person("store", "vera", "admin")
	got := vera.Upload("/import/customers", nil, "file", "c.csv", "email,name\nbo@example.com,Bo\n")
	for range 3 {
		if got.Status == http.StatusSeeOther {
			got = vera.Get(strings.TrimPrefix(got.Header.Get("Location"), s.URL("store", "")))
		}
	}
	assert.Contains(t, got.Body, "n import sends no mail", "%d", got.Status)
	all := mails(s)
	assert.That(t, len(all) == 0, "%+v", all)
}
