package screens

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
)

// TestAMistypedOrderAsksFirst records an order of 5900 for a product of 59.00: the number is asked about, in full, and
// is recorded once it is confirmed. Up to three times the price nothing is asked.
func TestAMistypedOrderAsksFirst(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("store", "olga", "admin")
	s.MustCLI("store", "product", "save", "ECHO", "--name", "Tape Echo", "--price-cents", "5900")
	order := func(total string) apptest.Sheet {
		return v.Post("/do/record_order", "sku", "ECHO", "email", "ann@example.com", "total", total)
	}
	status(t, order("177.00"), http.StatusSeeOther)
	asked := status(t, order("5900"), http.StatusOK, "Record 5,900.00 USD?", "By the prices it is 59.00 USD.", "Keep it")
	assert.Lacks(t, v.Get("/orders").Body, "5,900.00", "the order is recorded before it is confirmed")
	status(t, post(v, "/do/record_order", sentBy(t, asked, "/do/record_order")), http.StatusSeeOther)
	status(t, v.Get("/orders"), http.StatusOK, "5,900.00")
}

// TestQuestionsNameWhatTheyAreAbout asks about a seat, which is named by its machine, and about two customers, who are
// both named.
func TestQuestionsNameWhatTheyAreAbout(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("store", "olga", "admin")
	s.MustCLI("store", "product", "save", "ECHO", "--name", "Tape Echo", "--price-cents", "5900")
	key := strings.Fields(s.MustCLI("store", "order", "record", "--email", "ann@old.example", "--sku", "ECHO"))
	s.MustCLI("store", "order", "record", "--email", "ann@example.com", "--sku", "ECHO")
	s.Visitor("store").Send("/license/activate", strings.NewReader(`{"license_key":"`+key[len(key)-1]+
		`","fingerprint":"f-1","label":"studio"}`), "application/json")
	status(t, v.Post("/do/release_seat", "license_id", "1", "activation_id", "1"), http.StatusOK,
		"Release the seat studio of ann@old.example?", "Seats in use then: 0")
	status(t, v.Post("/do/merge_customers", "from", "1", "into", "2"), http.StatusOK,
		"Merge ann@old.example into ann@example.com?", "1 order of ann@old.example")
	status(t, v.Get("/licenses/1"), http.StatusOK, `href="/customers?q=ann%40old.example"`)

	list := status(t, v.Get("/orders"), http.StatusOK)
	ref := list.Body[strings.Index(list.Body, "ORD-"):][:14]
	status(t, v.Get("/orders/"+ref), http.StatusOK, ">Void order</a>",
		"with the key, or with the order&#39;s number and the e-mail address.")
	status(t, v.Get("/do/refund_order?"+url.Values{"order_ref": {ref}}.Encode()), http.StatusOK,
		"Give the money back yourself, at the provider or by your bank.", "This records the refund and moves no money")
}

// TestFoundOrdersAreToldApart finds two orders of one product and buyer: their amounts, days and states differ. A list
// without orders leads to the import, a search that finds nothing back to all orders.
func TestFoundOrdersAreToldApart(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("store", "olga", "admin")
	status(t, v.Get("/orders"), http.StatusOK, "No order yet.", `href="/import/orders"`)
	status(t, v.Get("/orders?q=anna"), http.StatusOK, "No order matches.", "All orders")
	s.MustCLI("store", "product", "save", "ECHO", "--name", "Tape Echo", "--price-cents", "5900")
	for _, total := range []string{"5900", "4900"} {
		s.MustCLI("store", "order", "record", "--email", "anna@example.com", "--name", "Anna Müller", "--sku", "ECHO",
			"--total-cents", total)
	}
	ref := orderOf(s, "anna@example.com")
	s.MustCLI("store", "order", "void", ref, "--reason", "twice")
	status(t, v.Get("/orders/"+ref), http.StatusOK, "It is void: twice")
	status(t, v.Get("/search?q=mull"), http.StatusOK, "12:00, 59.00 USD<", "12:00, 49.00 USD, void<")
	status(t, v.Get("/keys"), http.StatusOK, "Create API key")
	status(t, v.Get("/do/create_key?service=store"), http.StatusOK, "<h1>Create API key</h1>")
	status(t, v.Post("/do/set_provider", "provider", "stripe", "secret", "whsec_1"), http.StatusSeeOther)
	status(t, v.Get("/providers"), http.StatusOK, "The secret of Stripe is set.")
}

// TestAnUnbookedPaymentShowsItsNextStep lists a payment of an unknown product and one without an address. Each row has
// one act beside "More", and says its reason once.
func TestAnUnbookedPaymentShowsItsNextStep(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("store", "olga", "admin")
	s.MustCLI("store", "provider", "set", "lemonsqueezy", "--secret", lemonSecret)
	for id, email := range map[string]string{"900": "sue@example.org", "901": ""} {
		lemonSays(t, s, lemonSecret, "order_created", "orders", id, fmt.Sprintf(`"status":"paid","user_name":"Sue Seller",
			"user_email":%q,"currency":"EUR","tax":190,"total":1190,"created_at":"2026-11-20T10:00:00Z",
			"updated_at":"2026-11-20T10:00:00Z",
			"first_order_item":{"variant_id":555,"product_name":"Echo","quantity":1}`, email))
	}
	page := status(t, v.Get("/unbooked"), http.StatusOK, "Its product is not mapped yet", "It has no e-mail address",
		"Which product?", "Record order",
		`/do/dismiss_payment?provider=lemonsqueezy&amp;provider_ref=900&amp;then=%2Funbooked`)
	assert.Lacks(t, page.Body, "email is missing", "the reason is said twice, once with the argument's name")
	assert.Equal(t, strings.Count(page.Body, `<summary class="btn quiet down">More</summary>`), 2,
		"rows of 2 fold their other acts")
}

// TestARefusedFormFoldsWhatItFolded refuses a new product. What nobody touched stays under More.
func TestARefusedFormFoldsWhatItFolded(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("store", "olga", "admin")
	const folded = "<summary>More <small>Tiers, Active, Offline days</small></summary>"
	fields := sentBy(t, status(t, v.Get("/do/save_product"), http.StatusOK, folded), "/do/save_product")
	fields.Set("sku", "ECHO")
	fields.Set("price", "49,000")
	status(t, post(v, "/do/save_product", fields), http.StatusUnprocessableEntity, "can be read in two ways", folded)
}

// TestMailShowsTheTextsOfTheServicesThatAreOn opens the mail settings of a shop that only uses the store.
func TestMailShowsTheTextsOfTheServicesThatAreOn(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("store", "olga", "admin")
	status(t, v.Get("/settings/mail"), http.StatusOK, "Replaced key", "Late rent, first letter")
	assert.OK(t, db.Exec(t.Context(), s.Server.DB(), db.Bookkeeping(), func(tx *db.Tx) error {
		return tx.SetSetting(db.SettingServices, "store")
	}))
	assert.Lacks(t, status(t, v.Get("/settings/mail"), http.StatusOK, "Replaced key").Body, "Late rent",
		"the texts of the rental are listed, which is off")
}

// TestACommandChangesOnlyWhatItNames saves a product by three fields, then one of them by command and one by request:
// what is not named stays.
func TestACommandChangesOnlyWhatItNames(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	s.MustCLI("store", "product", "save", "ECHO", "--name", "Tape Echo", "--price-cents", "5900", "--activation-limit", "3")
	s.MustCLI("store", "product", "save", "ECHO", "--price-cents", "6100")
	list := s.MustCLI("store", "products", "list")
	for _, stays := range []string{"Tape Echo", "61.00", " 3 "} {
		assert.Contains(t, list, stays, "is gone")
	}
	v := s.Person("store", "olga", "admin")
	status(t, v.Get("/do/save_product?sku=ECHO"), http.StatusOK, `value="Tape Echo"`, `value="61.00"`)
}

// TestARefundIsTypedInTheOrdersCurrency opens and is refused a refund of an order in EUR in a shop of USD: the amount's
// field says EUR. The license's acts say until when it lasts, and what stays.
func TestARefundIsTypedInTheOrdersCurrency(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("store", "olga", "admin")
	s.MustCLI("store", "product", "save", "ECHO", "--name", "Tape Echo", "--price-cents", "5900", "--license-days", "30")
	s.MustCLI("store", "order", "record", "--email", "ann@example.com", "--sku", "ECHO", "--currency", "EUR")
	list := status(t, v.Get("/orders"), http.StatusOK)
	ref := list.Body[strings.Index(list.Body, "ORD-"):][:14]
	const inEuros = `<span aria-hidden="true">EUR</span>`
	status(t, v.Get("/do/refund_order?order_ref="+ref), http.StatusOK, inEuros)
	status(t, v.Post("/do/refund_order", "order_ref", ref, "amount", "999"), http.StatusConflict, inEuros)

	location(t, v.Post("/do/suspend_license", "license_id", "1"), "/licenses/1")
	assert.Contains(t, apptest.Text(v.Get("/licenses/1").Doc), "Suspended, end: ",
		"a suspended license lasts until its end")
	location(t, v.Post("/do/extend_license", "license_id", "1", "days", "30"), "/licenses/1")
	status(t, v.Get("/licenses/1"), http.StatusOK, "now lasts until")
	status(t, v.Get("/do/rotate_license_key?license_id=1"), http.StatusOK, "0 seats stay.")
}

// TestFormsOfferWhatTheShopHas opens the forms of a shop of the store alone: a key is for a service that is on, and the
// mail server and the sender are not called optional.
func TestFormsOfferWhatTheShopHas(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	v := s.Person("store", "olga", "admin")
	assert.OK(t, db.Exec(t.Context(), s.Server.DB(), db.Bookkeeping(), func(tx *db.Tx) error {
		return tx.SetSetting(db.SettingServices, "store")
	}))
	assert.Lacks(t, status(t, v.Get("/do/create_key"), http.StatusOK).Body, `value="rental"`,
		"a key of a service that is off is offered")
	text := apptest.Text(v.Get("/settings/mail").Doc)
	assert.That(t, !strings.Contains(text, "Mail server optional") && !strings.Contains(text, "From optional"),
		"the mail server and the sender are called optional")
}
