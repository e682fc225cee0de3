package rest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// stripeTells sends an event of Stripe with a valid signature.
func stripeTells(s *apptest.Fixture, secret, body string) apptest.Answer {
	s.T.Helper()
	mac, at := hmac.New(sha256.New, []byte(secret)), s.Clock.Now().Unix()
	fmt.Fprintf(mac, "%d.%s", at, body)
	return s.Do("store", "POST", "/providers/stripe/webhook", "", body, fmt.Sprintf("Stripe-Signature: t=%d,v1=%s", at, hex.EncodeToString(mac.Sum(nil))))
}

// TestForgottenCustomerIsErased: a forgotten customer is in no record, event, delivery, cached answer, audit entry,
// page, search or backup, and in no byte of the file. Sums stay, as do people whose names and addresses contain theirs.
func TestForgottenCustomerIsErased(t *testing.T) {
	t.Parallel()
	s := storefront(t, "--webhook-allow-private")
	receiver := hook(s, "store", "")
	const secret = "whsec_forget"
	s.MustCLI("store", "provider", "set", "stripe", "--secret", secret)
	person := []string{"--name", "Zuzanna Quellenstein", "--email", "zuzka@quell.example"}
	plugin := sell(s, append(person, "--sku", "PLUGIN", "--tier", "pro")...)
	sell(s, append(person, "--line", "MUG=3@777", "--line", "TRIAL", "--total", "2000")...)
	var ids struct {
		Orders []struct{ Customer struct{ ID int64 } }
	}
	s.Get("store", "/api/orders").JSON(t, &ids)
	id := fmt.Sprint(ids.Orders[0].Customer.ID)
	if a := stripeTells(s, secret, stripeEvent(t, "session", "evt_z", map[string]any{
		"metadata": map[string]any{"sku": "PLUGIN", "tier": "pro"}, "payment_intent": "pi_z",
		"customer_details": map[string]any{"email": "ZUZKA@quell.example", "name": "Zuzanna Quellenstein-Braun"},
	})); a.Status != 200 {
		t.Fatal(a.Body)
	}
	buyer(s, "/license/activate", `{"license_key":"`+plugin.Licenses[0].Key+`","fingerprint":"mac","label":"the Mac of Zuzanna Quellenstein"}`)
	for fingerprint, label := range map[string]string{"desk": "Zuzka's <desk> & co", "sofa": "Omas Sofa"} {
		buyer(s, "/license/activate", `{"license_key":"`+plugin.Licenses[0].Key+`","fingerprint":"`+fingerprint+`","label":"`+label+`"}`)
	}
	buyer(s, "/license/deactivate", `{"license_key":"`+plugin.Licenses[0].Key+`","fingerprint":"sofa"}`)
	s.MustCLI("store", "customer", "save", "zuzka@quell.example", "--name", "Zuzanna Sonnenquell")
	s.MustCLI("store", "customer", "email", "zuzka@quell.example", "zuzanna@sonnen.example")
	s.MustCLI("store", "resend", plugin.Ref)
	s.MustCLI("store", "order", "refund", plugin.Ref, "--amount", "1234")
	neighbour := sell(s, "--sku", "MUG", "--name", "Zuzanna Sonnenquellner", "--email", "meine.zuzka@quell.example")
	staff := s.Person("store", "vera", "admin")
	got := staff.Post("/do/record_order", "email", "zuzanna@sonnen.example", "name", "Zuzanna Sonnenquell", "sku", "MUG")
	assert.Must(t, got.Status == http.StatusSeeOther, "an order by form: %d %s", got.Status, got.Body)
	staff.Get("/") // which shows the message, once
	if got := staff.Upload("/import/customers", nil, "file", "people.csv", "email,name\nzuzanna@sonnen.example,Zuzanna Sonnenquell\n"); got.Status != http.StatusSeeOther {
		t.Fatalf("a file that waits: %d %s", got.Status, got.Body)
	}
	for name, text := range map[string]string{"wide.csv": utf16LE("email,name\nzuzanna@sonnen.example,Zuzanna Sonnenquell\n"), "latin.csv": "email,name\nzuzanna@sonnen.example,Zuzanna Sonnenquell \xfc\n"} {
		got := staff.Upload("/import/customers", nil, "file", name, text)
		assert.Must(t, got.Status == http.StatusSeeOther, "%s waits: %d %s", name, got.Status, got.Body)
	}
	for range 9 {
		receiver.Next(t)
	}
	stats := s.Get("store", "/api/stats").Body
	s.MustCLI("store", "customer", "forget", "zuzanna@sonnen.example", "--yes")

	marks := []string{"zuzka@quell", "zuzanna@sonnen", "quellenstein", "sonnenquell", "zuzka's", "omas sofa"}
	look := func(where, text string) {
		t.Helper()
		text = strings.ToLower(strings.NewReplacer("meine.zuzka@quell", "", "Zuzanna Sonnenquellner", "", `meine.zuzka%40quell`, "").Replace(text))
		for _, mark := range marks {
			at := strings.Index(text, mark)
			assert.That(t, at < 0, "%s: %q, in %q", where, mark, text[max(0, at-60):min(len(text), at+60)])
		}
	}
	for _, path := range []string{"/api/orders", "/api/orders/" + plugin.Ref, "/api/customers", "/api/licenses", "/api/customers?q=zuzanna", "/api/orders?email=zuzanna@sonnen.example"} {
		look(path, s.Get("store", path).Body)
	}
	for _, path := range []string{
		"/", "/orders", "/orders/" + plugin.Ref, "/orders/" + plugin.Ref + "/receipt", "/customers", "/customers/" + id, "/licenses", "/audit",
		"/webhooks", "/orders?format=csv", "/customers?format=csv", "/export/orders", "/export/customers",
	} {
		got := staff.Get(path)
		assert.That(t, got.Status == 200, "%s: %d", path, got.Status)
		look(path, got.Body)
	}
	for _, args := range [][]string{
		{"audit", "--json"}, {"webhook", "deliveries", "--json"}, {"store", "orders", "list", "--json"}, {"store", "customers", "show", id, "--json"},
		{"export", "store", "orders"}, {"export", "store", "customers"}, {"store", "licenses", "show", "1", "--json"},
	} {
		look(strings.Join(args, " "), s.MustCLI(args...))
	}
	if m := s.Get("store", "/api/customers").Body; !strings.Contains(m, `"email":"forgotten-`+id+`@invalid","name":"forgotten-`+id+`"`) {
		t.Errorf("the customer is not forgotten-%s: %s", id, m)
	}
	if got := s.Get("store", "/api/orders/"+neighbour.Ref).Body; !strings.Contains(got, `"meine.zuzka@quell.example","name":"Zuzanna Sonnenquellner"`) {
		t.Errorf("somebody else was touched: %s", got)
	}
	if got := s.Get("store", "/api/stats").Body; got != stats {
		t.Errorf("sums: %s, before %s", got, stats)
	}
	if list := s.MustCLI("store", "orders", "list", "--q", "zuzanna", "--json"); strings.Count(list, `"order_ref"`) != 1 {
		t.Errorf("a search for the name finds more than the neighbour: %s", list)
	}
	s.MustCLI("webhook", "deliveries")
	before := len(receiver.All())
	s.MustCLI("webhook", "resend", "1", "--webhook-allow-private")
	if again := receiver.All()[before:]; len(again) != 1 {
		t.Errorf("%d deliveries of a resend", len(again))
	} else {
		look("a resend", again[0].Body)
	}
	backup := filepath.Join(t.TempDir(), "copy.db")
	s.MustCLI("backup", backup)
	s.MustCLI("doctor")
	for _, path := range []string{s.Path, s.Path + "-wal", backup} {
		content, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		look(filepath.Base(path), string(content))
		for _, mark := range append(marks, "Zuzanna Sonnenquell", "Quellenstein") {
			wide := utf16LE(mark)[2:]
			assert.That(t, !strings.Contains(string(content), wide), "%s: %q in UTF-16", filepath.Base(path), mark)
		}
	}
}

// TestAnOldFileDoesNotBringAForgottenCustomerBack imports orders again after their buyer was forgotten.
func TestAnOldFileDoesNotBringAForgottenCustomerBack(t *testing.T) {
	t.Parallel()
	s := storefront(t)
	old := filepath.Join(t.TempDir(), "old.csv")
	assert.OK(t, os.WriteFile(old,
		[]byte("provider,provider_ref,email,name,sku,qty\nfair,F-1,zuzka@quell.example,Zuzanna Quell,MUG,1\n"), 0o600))
	s.MustCLI("import", "store", "orders", old)
	s.MustCLI("store", "customer", "forget", "zuzka@quell.example", "--yes")
	s.MustCLI("import", "store", "orders", old)
	assert.Lacks(t, s.Get("store", "/api/customers").Body+s.Get("store", "/api/orders").Body, "uell",
		"the person is back")
}

// utf16LE is a text as some spreadsheets save it, with its byte order mark.
func utf16LE(s string) string {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}
