package agents

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// wholeKey matches a license key that shows more than its last four characters.
var wholeKey = regexp.MustCompile(`[0-9A-Z]{5}-[0-9A-Z]{5}`)

// storeAgent calls the store's tools.
type storeAgent struct {
	t *testing.T
	s *apptest.Fixture
}

// ask calls a tool that must succeed. No answer may show a whole key.
func (a storeAgent) ask(tool, args string) string {
	a.t.Helper()
	got := a.s.Post("store", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+args+`}}`).Body
	assert.Must(a.t, strings.Contains(got, `"isError":false`), "%s %s: %s", tool, args, got)
	assert.Equal(a.t, wholeKey.FindString(got), "", "%s %s shows", tool, args)
	_, got, _ = strings.Cut(got, `"structuredContent":`)
	return got
}

func (a storeAgent) refused(tool, args string, says ...string) {
	a.t.Helper()
	_, refusal := a.s.Tool("store", tool, args)
	for _, say := range says {
		assert.That(a.t, strings.Contains(refusal, say), "%s %s: %q does not say %q", tool, args, refusal, say)
	}
}

func (a storeAgent) holds(answer string, parts ...string) {
	a.t.Helper()
	for _, part := range parts {
		assert.Contains(a.t, answer, part)
	}
}

// TestAgentsOfTheStore solves a buyer's problem with the tools alone.
func TestAgentsOfTheStore(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	a := storeAgent{t, s}
	s.MustCLI("store", "product", "save", "PLUGIN", "--name", "Tape Echo", "--kind", "license", "--price-cents", "4900", "--activation-limit", "2", "--license-days", "365")
	order := regexp.MustCompile(`ORD-\w+`).FindString(s.MustCLI("store", "order", "record", "--email", "ann@example.com", "--name", "Ann Lee", "--sku", "PLUGIN",
		"--provider", "paypal", "--provider-ref", "8XY12345", "--currency", "EUR"))
	s.MustCLI("store", "order", "record", "--email", "anna@example.com", "--name", "Anna Berg", "--sku", "PLUGIN")
	key := regexp.MustCompile(`(\w{5}-){4}\w{5}`).FindString(s.MustCLI("store", "licenses", "find", "ann@example.com"))
	last := key[len(key)-4:]
	for _, label := range []string{"laptop", "studio"} {
		s.Do("store", "POST", "/license/activate", "", fmt.Sprintf(`{"license_key":%q,"fingerprint":"f-%s","label":%q}`, key, label, label))
	}
	for _, q := range []string{"ann lee", "ANN@example", order, strings.ToLower(order), "8xy12345", last, "..." + strings.ToLower(last), key} {
		a.holds(a.ask("find_customer", fmt.Sprintf(`{"q":%q}`, q)), `"email":"ann@example.com"`)
	}
	a.holds(a.ask("find_customer", fmt.Sprintf(`{"q":%q}`, last)), `"matched":"license #1, ...`+last+`, PLUGIN"`)
	a.holds(a.ask("find_customer", `{"q":"Annn Leee"}`), `"total":0`, `"near":["Ann`)
	a.holds(a.ask("find_customer", `{"q":"qqqqqqq"}`), `"total":0,"next":null}`)
	a.refused("customer_detail", `{"customer":"example.com"}`, "several customers", "Ann Lee <ann@example.com> (#1)")
	a.refused("customer_detail", `{"customer":"zzzzz"}`, "no customer is called")
	a.holds(a.ask("customer_detail", `{"customer":"ann lee"}`), `"orders_total":1`, `"label":"studio"`, `-*`+last+`"`)

	act := func(rest string) string { return fmt.Sprintf(`{"license":%q,"customer":"ann lee",%s}`, last, rest) }
	a.holds(a.ask("license_action", act(`"action":"release","seat":"Laptop"`)), `"activation_count":1`)
	a.refused("license_action", act(`"action":"release","seat":"laptop"`), "none called", "there is only studio")
	a.holds(a.ask("license_action", act(`"action":"suspend"`)), `"status":"suspended"`)
	a.refused("license_action", act(`"action":"suspend"`), "suspended")
	a.holds(a.ask("license_action", `{"license":"#1","action":"resume"}`), `"status":"active"`)
	a.holds(a.ask("license_action", act(`"action":"extend","until":"2031-06-30"`)), `"expires_at":"2031-06-30T`)
	a.refused("license_action", act(`"action":"extend"`), "until is missing")
	a.refused("license_action", fmt.Sprintf(`{"license":%q,"action":"suspend"}`, last), "customer is missing")
	a.refused("license_action", `{"license":"#1","customer":"anna berg","action":"suspend"}`, "is not anna@example.com's")
	a.refused("license_action", `{"license":"ZZZZ","customer":"ann lee","action":"suspend"}`, "none whose key ends with", "..."+last)
	a.refused("license_action", act(`"action":"revoke"`), "suspend, resume, extend, release")

	list := a.s.Do("store", "POST", "/mcp", s.Keys["store"], `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`).Body
	assert.That(t, !strings.Contains(list, "resend_order") && len(list)/4 <= 5000,
		"tools/list names resend_order without mail, or is too long: %d bytes", len(list))
	a.refused("resend_order", fmt.Sprintf(`{"order":%q}`, order), "mail is not set up")

	refund := func(rest string) string { return fmt.Sprintf(`{"order":%q,%s}`, order, rest) }
	a.refused("refund_order", refund(`"amount_cents":500`), "reason")
	a.refused("refund_order", refund(`"reason":"broken"`), "amount_cents")
	a.refused("refund_order", refund(`"amount_cents":4901,"reason":"broken"`), "more than the 4900")
	a.holds(a.ask("refund_order", refund(`"amount_cents":500,"reason":"broken","request_key":"r1"`)),
		`"note":"The refund is recorded; no money has moved. Return 5.00 EUR at paypal, payment 8XY12345."`, `"refunded_cents":500`, `"full":false`)
	a.holds(a.ask("refund_order", refund(`"amount_cents":500,"reason":"broken","request_key":"r1"`)), `"refunded_cents":500`)
	a.holds(s.MustCLI("audit", "--service", "store", "--json"), `broken`)
	a.holds(a.ask("list_orders", `{"q":"tape"}`), `"total":0`)
	a.holds(a.ask("list_orders", `{"customer":"ann lee","detail":"short"}`), `"total":1`, `"currency":"EUR"`, `"sums":[{"currency":"EUR","orders":1,"total_cents":4900,"refunded_cents":500}]`)
	a.holds(a.ask("list_orders", `{"q":"plugin","sort":"oldest","limit":1}`), `"next":"1"`, order)
	next := a.ask("list_orders", `{"sort":"oldest","limit":1,"after":"1"}`)
	assert.That(t, !strings.Contains(next, "sums") && !strings.Contains(next, order), "the second page: %s", next)
	a.holds(a.ask("revenue_report", `{"by":"provider"}`), `"currency":"EUR","orders":1,"sold_cents":4900,"tax_cents":0,"refunded_cents":500,"net_cents":4400,"provider":"paypal"`)
	a.holds(a.ask("needs_attention", `{}`), `"unbooked_total":0`)

	mailed, _ := apptest.MailShop(t)
	a = storeAgent{t, mailed}
	order = regexp.MustCompile(`ORD-\w+`).FindString(mailed.MustCLI("store", "orders", "list"))
	a.holds(mailed.Do("store", "POST", "/mcp", mailed.Keys["store"], `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`).Body, `"name":"resend_order"`)
	if order != "" {
		a.ask("resend_order", fmt.Sprintf(`{"order":%q}`, order))
	}
}
