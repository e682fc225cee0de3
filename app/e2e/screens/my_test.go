package screens

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

type boughtOrder struct {
	Ref      string `json:"order_ref"`
	Licenses []struct {
		ID  int64
		Key string `json:"license_key"`
	}
}

// buy records an order as the shop's owner does at the command line.
func buy(t *testing.T, s *apptest.Fixture, args ...string) (o boughtOrder) {
	t.Helper()
	assert.OK(t, json.Unmarshal([]byte(s.MustCLI(append([]string{"store", "order", "record", "--json"}, args...)...)), &o))
	return o
}

func sellPluginsAndBooks(t *testing.T) *apptest.Fixture {
	t.Helper()
	s := apptest.Start(t)
	s.MustCLI("store", "product", "save", "PLUGIN", "--name", "Audio plugin", "--price-cents", "4900", "--activation-limit", "3")
	s.MustCLI("store", "product", "save", "BOOK", "--name", "Mixing at home", "--kind", "download", "--price-cents", "1900",
		"--note", "Fetch it at https://example.com/book?a=1&b=<2>.")
	return s
}

// TestABuyerOpensAnOrder opens an order by its reference and e-mail. Every key of the order is shown in full, each seat
// can be released, and an order without a license opens too. A key opens only its own license.
func TestABuyerOpensAnOrder(t *testing.T) {
	t.Parallel()
	s := sellPluginsAndBooks(t)
	o := buy(t, s, "--email", "ann@example.com", "--line", "PLUGIN=2", "--line", "BOOK")
	a := s.Do("store", "POST", "/license/activate", "", `{"license_key":"`+o.Licenses[1].Key+`","fingerprint":"m-1","label":"Studio"}`)
	assert.Must(t, a.Status == http.StatusCreated, "%v", a.Body)
	v := s.Visitor("store")
	location(t, v.Post("/my", "order_ref", o.Ref, "email", "ANN@example.com"), "/my")
	status(t, v.Get("/my"), http.StatusOK, o.Licenses[0].Key, o.Licenses[1].Key, "Mixing at home", "Studio")
	status(t, v.Get("/my/receipt"), http.StatusOK, o.Ref)
	status(t, v.Post("/my/do/release_seat", "activation_id", "1"), http.StatusOK, "Studio", "in use then: 0 of 3")
	location(t, v.Post("/my/do/release_seat", "activation_id", "1", "confirm", "yes"), "/my")

	byKey := s.Visitor("store")
	location(t, byKey.Post("/my", "license_key", o.Licenses[0].Key), "/my")
	shown := byKey.Get("/my")
	assert.That(t, !strings.Contains(shown.Body, o.Licenses[1].Key) && strings.Contains(shown.Body, o.Licenses[0].Key),
		"by a key, another key than that one is shown")
	assert.Equal(t, byKey.Post("/my/do/release_seat", "activation_id", "1", "confirm", "yes").Status, http.StatusNotFound,
		"by a key, the seat of another license")

	book := buy(t, s, "--email", "bo@example.com", "--sku", "BOOK")
	reader := s.Visitor("store")
	location(t, reader.Post("/my", "order_ref", book.Ref, "email", "bo@example.com"), "/my")
	status(t, reader.Get("/my"), http.StatusOK, "Mixing at home", book.Ref,
		`<a href="https://example.com/book?a=1&amp;b=" rel="noopener noreferrer">https://example.com/book?a=1&amp;b=</a>&lt;2&gt;.`)
	s.MustCLI("store", "customer", "forget", "bo@example.com")
	got := status(t, s.Person("store", "alice", "admin").Get("/customers/2"), http.StatusOK, "forgotten-2")
	assert.Lacks(t, got.Body, "_customer?", "a forgotten customer has acts")
}

// TestOrderLookupIsRateLimited tries order references with addresses. After 20 from one network address the right
// pair is refused too. 20 wrong addresses for one order close that order, from any address. A license key still opens
// its license.
func TestOrderLookupIsRateLimited(t *testing.T) {
	t.Parallel()
	s := sellPluginsAndBooks(t)
	o := buy(t, s, "--email", "ann@example.com", "--sku", "PLUGIN")
	v := s.Visitor("store")
	for n := range 20 {
		status(t, v.Post("/my", "order_ref", o.Ref, "email", fmt.Sprintf("ann%d@example.com", n)), http.StatusNotFound, "Nothing was found")
	}
	right := v.Post("/my", "order_ref", o.Ref, "email", "ann@example.com")
	status(t, right, http.StatusTooManyRequests, "wait 10 minutes", "license key")
	assert.That(t, right.Header.Get("Retry-After") != "", "no Retry-After")
	location(t, v.Post("/my", "license_key", o.Licenses[0].Key), "/my")
}

// TestRedeemingOnAPage redeems without an account. A wrong code returns its form with what was typed; a good one shows
// the shop, the product, the key and a link to it. No public page links to the staff's sign-in.
func TestRedeemingOnAPage(t *testing.T) {
	t.Parallel()
	s := sellPluginsAndBooks(t)
	location(t, s.Person("store", "olga", "admin").Post("/do/set_shop", "shop_name", "Tape & Co", "shop_address", "Main St 1"), "/settings")
	codes := map[string]string{}
	for _, sku := range []string{"PLUGIN", "BOOK"} {
		codes[sku] = strings.TrimSpace(s.MustCLI("store", "codes", "mint", "--count", "1", "--sku", sku))
	}
	v := s.Visitor("store")
	for _, path := range []string{"/my", "/my/redeem"} {
		got := v.Get(path)
		status(t, got, http.StatusOK, "Tape &amp; Co")
		assert.Lacks(t, got.Body, "/login", "%s links the staff's sign-in", path)
	}
	wrong := v.Post("/my/redeem", "code", "AAAA-BBBB-CCCC-DDDD", "email", "kim@example.com", "name", "Kim")
	status(t, wrong, http.StatusNotFound, "AAAA-BBBB-CCCC-DDDD", "kim@example.com", `action="/my/redeem"`,
		"Have a key already?", "check its letters and digits")
	good := v.Post("/my/redeem", "code", codes["PLUGIN"], "email", "kim@example.com")
	assert.That(t, strings.Contains(good.Body, `<code class="strong">`) &&
		!strings.Contains(good.Body, "Your license key: "), "the redeemed key does not stand by itself")
	status(t, good, http.StatusOK, "Tape &amp; Co", "Audio plugin", `href="/my"`)
	assert.That(t, whole.MatchString(good.Body), "the license key is not shown")
	status(t, v.Post("/my/redeem", "code", codes["BOOK"], "email", "kim@example.com"), http.StatusOK, "Mixing at home", "ORD-")
	again := v.Post("/my/redeem", "code", codes["BOOK"], "email", "kim@example.com")
	status(t, again, http.StatusConflict, "kim@example.com", `action="/my/redeem"`)
}

// TestListedLicensesShowTheEndOfTheirKey: a viewer's list shows the last four characters of each license key, and no
// whole key.
func TestListedLicensesShowTheEndOfTheirKey(t *testing.T) {
	t.Parallel()
	s := sellPluginsAndBooks(t)
	o := buy(t, s, "--email", "ann@example.com", "--sku", "PLUGIN", "--qty", "3")
	for _, role := range []string{"viewer", "member"} {
		got := s.Person("store", role+"-l", role).Get("/licenses")
		for _, l := range o.Licenses {
			status(t, got, http.StatusOK, "…"+l.Key[len(l.Key)-4:], "PLUGIN", "ann@example.com")
		}
		assert.That(t, !whole.MatchString(got.Body), "a %s sees a whole key in the list", role)
	}
}
