package rest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// says fails unless the text contains every part.
func says(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		assert.Contains(t, text, p, "%s", what)
	}
}

// refusedWith runs a command that must end with the exit code and say the parts.
func refusedWith(s *apptest.Fixture, code int, parts []string, args ...string) {
	s.T.Helper()
	got, out, errs := s.CLI(args...)
	assert.That(s.T, got == code, "%s: exit %d, want %d\n%s%s", strings.Join(args, " "), got, code, out, errs)
	for _, p := range parts {
		assert.Contains(s.T, errs, p, "%s", strings.Join(args, " "))
	}
}

// TestAnOwnersMonth plays an owner's month through the whole program: lines, search, licenses, figures, unmatched
// payments.
func TestAnOwnersMonth(t *testing.T) {
	t.Parallel()
	s := storefront(t, "--webhook-allow-private", "--metrics-addr", "127.0.0.1:0")
	t.Run("orders of several lines", func(t *testing.T) { ordersOfLines(t, s) })
	t.Run("from Stripe", func(t *testing.T) { linesFromStripe(t, s) })
	t.Run("found", func(t *testing.T) { ordersAreFound(t, s) })
	t.Run("licenses", func(t *testing.T) { licensesAreCaredFor(t, s) })
	t.Run("told again", func(t *testing.T) { ordersAreToldAgain(t, s) })
	t.Run("customers", func(t *testing.T) { customersAreEdited(t, s) })
	t.Run("other currencies", func(t *testing.T) { currenciesHaveTheirDecimals(t, s) })
	t.Run("figures", func(t *testing.T) { figuresAgreeWithStats(t, s) })
	t.Run("lists", func(t *testing.T) { everyListIsPrinted(t, s) })
	s.MustCLI("doctor")
}

func ordersOfLines(t *testing.T, s *apptest.Fixture) {
	var o struct {
		Items []struct {
			SKU   string
			Tier  *string
			Qty   int64
			Total int64 `json:"total_cents"`
		}
		Subtotal int64 `json:"subtotal_cents"`
		Discount int64 `json:"discount_cents"`
		Total    int64 `json:"total_cents"`
		Licenses []any
	}
	apptest.Answer{Body: s.MustCLI("store", "order", "record", "--email", "lin@example.org", "--line", "PLUGIN:pro=2@4500", "--line", "MUG", "--line", "MUG=2",
		"--total", "11000", "--provider", "till", "--provider-ref", "T-1", "--json")}.JSON(t, &o)
	assert.That(t, len(o.Items) == 3 && o.Items[0].Qty == 2 && *o.Items[0].Tier == "pro" && o.Items[2].Total == 1800 &&
		o.Subtotal == 11700 && o.Discount == 700 && o.Total == 11000 && len(o.Licenses) == 2, "recorded %+v", o)
	refusedWith(s, 2, nil, "store", "order", "record", "--email", "a@b.c", "--sku", "MUG", "--sku", "PLUGIN")
	s.MustCLI("store", "product", "save", "CABLE@2", "--name", "Cable, 2 m", "--kind", "other", "--price-cents", "700")
	o.Items = nil
	apptest.Answer{Body: s.MustCLI("store", "order", "record", "--email", "cab@example.org", "--line", "CABLE@2", "--line", "CABLE@2=3", "--line", "CABLE@2=1@650", "--total", "0", "--provider", "till", "--provider-ref", "T-0", "--json")}.JSON(t, &o)
	assert.That(t, len(o.Items) == 3 && o.Items[0].Total == 700 && o.Items[1].Total == 2100 && o.Items[2].Total == 650,
		"a SKU that holds the signs of a line: %+v", o)
	code, _, errs := s.CLI("store", "order", "record", "--email", "a@b.c", "--line", "MUG=0")
	assert.That(t, code == 2 && !strings.Contains(errs, "missing"), "a line that cannot be taken: %d, %s", code, errs)
	refusedWith(s, 2, []string{"sku"}, "store", "order", "record", "--email", "a@b.c")
	refusedWith(s, 1, []string{"NOPE"}, "store", "order", "record", "--email", "a@b.c", "--line", "MUG", "--line", "NOPE")
	const file = "provider,provider_ref,email,sku,qty,unit_cents,discount_cents,currency,paid_at,refunds\n" +
		"till,T-2,lin@example.org,MUG,1,900,100,USD,2026-11-02,2026-11-03=50|2026-11-03=25\ntill,T-3,mo@example.org,NOPE,1,,,,,\ntill,T-2,,TRIAL,1,100,,,,\n"
	preview := func(want string) {
		t.Helper()
		_, out, _ := s.Pipe(file, "import", "store", "orders", "-", "--dry-run", "--json")
		var p map[string]any
		assert.OK(t, json.Unmarshal([]byte(out), &p), "%v", out)
		got := fmt.Sprint(p["new"], p["changed"], p["same"], p["refused"])
		assert.That(t, got == want, "the preview counts %s, want %s: %s", got, want, out)
	}
	preview("2 0 0 1")
	code, out, errs := s.Pipe(file, "import", "store", "orders", "-")
	assert.That(t, code == 1 && strings.Contains(errs, "NOPE"), "exit %d: %s%s", code, out, errs)
	preview("0 0 2 1")
	export := s.MustCLI("export", "store", "orders")
	says(t, "the export", export, "till,T-2,lin@example.org,,MUG,,1,900,100,0,USD,2026-11-02T00:00:00Z,2026-11-03=50|2026-11-03=25", "till,T-2,lin@example.org,,TRIAL,,1,100,0,0,USD,2026-11-02T00:00:00Z,\n")
	code, _, errs = s.Pipe(export, "import", "store", "orders", "-")
	assert.That(t, code == 0 && s.MustCLI("export", "store", "orders") == export, "its own export: exit %d %s", code, errs)
}

func linesFromStripe(t *testing.T, s *apptest.Fixture) {
	const secret = "whsec_month"
	s.MustCLI("store", "provider", "set", "stripe", "--secret", secret)
	metric := func() string {
		resp := assert.Value(http.Get("http://" + s.Server.Addr("metrics") + "/metrics"))(t)
		defer func() { _ = resp.Body.Close() }()
		b, _ := io.ReadAll(resp.Body)
		for line := range strings.SplitSeq(string(b), "\n") {
			if n, ok := strings.CutPrefix(line, "quartermaster_unbooked_payments "); ok {
				return n
			}
		}
		return "none"
	}
	send := func(id, lines string, total int64) {
		t.Helper()
		body := stripeEvent(t, "session", "evt_"+id, map[string]any{"payment_intent": "pi_" + id, "amount_total": total, "currency": "usd",
			"total_details": map[string]any{"amount_tax": 300, "amount_discount": 0}, "metadata": map[string]any{"lines": lines}})
		a := stripeTells(s, secret, body)
		assert.That(t, a.Status == 200, "%s: %d %s", id, a.Status, a.Body)
	}
	send("ok", "PLUGIN:pro=2@4000, MUG;TRIAL=3\n", 9000) // 8000 + 900 + 300 + 300 tax
	var list struct {
		Orders []struct {
			Discount int64 `json:"discount_cents"`
			Tax      int64 `json:"tax_cents"`
			Total    int64 `json:"total_cents"`
			Items    []any
		}
	}
	s.Get("store", "/api/orders?q=pi_ok").JSON(t, &list)
	assert.That(t, len(list.Orders) == 1 && len(list.Orders[0].Items) == 3 && list.Orders[0].Discount == 500 &&
		list.Orders[0].Tax == 300 && list.Orders[0].Total == 9000, "of Stripe: %+v", list)
	staff := s.Person("store", "lea", "member")
	send("less", "MUG TRIAL", 5000) // 1000 and the tax
	assert.Equal(t, metric(), "1", "the metric")
	says(t, "store unbooked", s.MustCLI("store", "unbooked"), "pi_less", "amount_total")
	says(t, "the first page", staff.Get("/").Body, "could not be booked")
	refusedWith(s, 1, nil, "doctor")
	s.MustCLI("store", "order", "record", "--email", "ann@example.org", "--line", "MUG", "--line", "TRIAL", "--total", "5000", "--provider", "stripe", "--provider-ref", "pi_less")
	got := s.MustCLI("store", "unbooked", "--json")
	assert.That(t, got == `{"payments":[]}`+"\n" && metric() == "0", "mended, and still listed: %s", got)
}

func ordersAreFound(t *testing.T, s *apptest.Fixture) {
	refs := func(path string) string {
		t.Helper()
		a := s.Get("store", path)
		var list struct {
			Orders []struct {
				Ref string `json:"provider_ref"`
			}
			Customers []struct{ Email string }
			Licenses  []struct{ ID int64 }
		}
		a.JSON(t, &list)
		var all []string
		for _, o := range list.Orders {
			all = append(all, o.Ref)
		}
		for _, k := range list.Customers {
			all = append(all, k.Email)
		}
		for _, l := range list.Licenses {
			all = append(all, fmt.Sprint(l.ID))
		}
		return strings.Join(all, " ")
	}
	var first struct {
		Ref      string `json:"order_ref"`
		Licenses []struct {
			Key string `json:"license_key"`
		}
	}
	apptest.Answer{Body: s.MustCLI("store", "orders", "list", "--q", "t-1", "--json")}.JSON(t, &struct{ Orders []*struct{} }{})
	var found struct {
		Orders []struct {
			Ref string `json:"order_ref"`
		}
	}
	s.Get("store", "/api/orders?q=T-1").JSON(t, &found)
	s.Get("store", "/api/orders/"+found.Orders[0].Ref).JSON(t, &first)
	key := first.Licenses[0].Key
	for path, want := range map[string]string{
		"/api/orders?q=t-2": "T-2", "/api/orders?q=LIN%40": "T-2 T-1", "/api/orders?email=Lin@Example.org&q=trial": "T-2", "/api/orders?from=2026-11-02&to=2026-11-02": "T-2",
		"/api/orders?to=2026-11-01": "", "/api/orders?q=" + key: "", "/api/customers?q=LIN": "lin@example.org", "/api/customers?q=mug": "",
		"/api/licenses?q=" + strings.ToLower(key): "1", "/api/licenses?q=" + key[:17]: "", "/api/licenses?order_ref=" + first.Ref: "2 1", "/api/licenses?email=LIN@example.org&status=active": "3 2 1",
	} {
		assert.Equal(t, refs(path), want, "%s finds", path)
	}
	for _, path := range []string{"/api/orders?from=tomorrow", "/api/orders?status=lost", "/api/licenses?status=paid", "/api/orders?name=x"} {
		assert.Equal(t, s.Get("store", path).Status, 422, "%s", path)
	}
	says(t, "find by key", s.MustCLI("store", "licenses", "find", strings.ReplaceAll(key, "-", "")), key)
	says(t, "find by address", s.MustCLI("store", "licenses", "find", "LIN@example.org"), key)
	refusedWith(s, 1, []string{"neither a license key nor an e-mail address"}, "store", "licenses", "find", "lin")
	refusedWith(s, 1, []string{"no license"}, "store", "licenses", "find", "nobody@example.org")
}

func licensesAreCaredFor(t *testing.T, s *apptest.Fixture) {
	forever := sell(s, "--sku", "PLUGIN", "--tier", "pro").Licenses[0]
	trial := sell(s, "--sku", "TRIAL", "--email", "tri@example.org").Licenses[0]
	id := fmt.Sprint(trial.ID)
	buyer(s, "/license/activate", `{"license_key":"`+trial.Key+`","fingerprint":"one"}`)
	refusedWith(s, 1, []string{"never"}, "store", "license", "extend", fmt.Sprint(forever.ID), "--days", "3")
	says(t, "30 + 10 days", s.MustCLI("store", "license", "extend", id, "--days", "10", "--json"), `"expires_at":"2026-12-30T12:00:00Z"`)
	says(t, "to the end of a day", s.MustCLI("store", "license", "extend", id, "--until", "2027-01-31", "--json"), `"expires_at":"2027-01-31T23:59:59Z"`)
	refusedWith(s, 1, nil, "store", "license", "extend", id, "--until", "2026-12-01")
	refusedWith(s, 1, nil, "store", "license", "extend", id)
	newKey := strings.TrimSpace(s.MustCLI("store", "license", "rotate", trial.Key))
	old := buyer(s, "/license/check", `{"license_key":"`+trial.Key+`","fingerprint":"one"}`).Map(t)
	assert.That(t, old["code"] == "not_found", "the old key: %v", old)
	now := buyer(s, "/license/check", `{"license_key":"`+newKey+`","fingerprint":"one"}`).Map(t)
	assert.That(t, now["code"] == "valid", "the new key: %v", now)
	var detail struct{ Activations []struct{ ID int64 } }
	apptest.Answer{Body: s.MustCLI("store", "licenses", "show", id, "--json")}.JSON(t, &detail)
	s.MustCLI("store", "license", "release", id, fmt.Sprint(detail.Activations[0].ID))
	now = buyer(s, "/license/check", `{"license_key":"`+newKey+`","fingerprint":"one"}`).Map(t)
	assert.That(t, now["code"] == "not_activated", "its seat was released: %v", now)
}

func ordersAreToldAgain(t *testing.T, s *apptest.Fixture) {
	o := sell(s, "--sku", "PLUGIN", "--tier", "basic")
	code := strings.TrimSpace(s.MustCLI("store", "codes", "mint", "--count", "1", "--sku", "PLUGIN", "--tier", "basic", "--batch", "again"))
	redeemed := buyer(s, "/license/redeem", `{"code":"`+code+`","email":"red@example.org"}`).Map(t)
	ref, _ := redeemed["order"].(map[string]any)["order_ref"].(string)
	receiver := hook(s, "store", "")
	for name, order := range map[string]string{"order.paid": o.Ref, "code.redeemed": ref} {
		s.MustCLI("store", "resend", order)
		d := receiver.Next(t)
		says(t, "resent", d.Body, `"event":"`+name+`","resent":true`)
		if full := strings.Contains(d.Body, o.Licenses[0].Key); full != (name == "order.paid") || strings.Contains(d.Body, code) {
			t.Errorf("%s holds what it should not: %s", name, d.Body)
		}
	}
	refusedWith(s, 1, []string{"ORD-0000000000"}, "store", "resend", "ORD-0000000000")
	sold := sell(s, "--sku", "PLUGIN", "--tier", "basic")
	says(t, "order.paid", receiver.Next(t).Body, sold.Ref, `"buyer_url":"`+s.URL("store", "/my")+`"`)
	for name, key := range map[string]string{"an admin": s.Keys["store"], "a viewer": s.Key("store", "vera", "viewer", "full"), "a reading key": s.Key("store", "rita", "member", "read")} {
		shown := s.Do("store", "GET", "/api/orders/"+sold.Ref, key, "").Body
		got, want := strings.Contains(shown, `"buyer_url":"`+s.URL("store", "/my")+`"`), name == "an admin"
		assert.That(t, got == want && strings.Contains(shown, sold.Licenses[0].Key) == want, "%s is shown %s", name, shown)
	}
}

func customersAreEdited(t *testing.T, s *apptest.Fixture) {
	s.MustCLI("store", "customer", "save", "new@example.org", "--name", "New Person")
	refusedWith(s, 1, []string{"lin@example.org", "New Person"}, "store", "customer", "email", "new@example.org", "LIN@example.org")
	s.MustCLI("store", "customer", "email", "new@example.org", "newer@example.org")
	says(t, "shown", s.MustCLI("store", "customers", "show", "newer@example.org"), "New Person")
	s.MustCLI("store", "product", "save", "STICKER", "--name", "Sticker", "--kind", "other", "--price-cents", "150")
	s.MustCLI("store", "product", "save", "STICKER", "--price-cents", "175")
	says(t, "the product", s.MustCLI("store", "products", "show", "STICKER"), "Sticker", "1.75 USD")
	var would struct {
		Would []struct {
			Record, Field string
			Before, After any
		}
	}
	apptest.Answer{Body: s.MustCLI("store", "product", "save", "STICKER", "--price-cents", "200", "--dry-run", "--json")}.JSON(t, &would)
	assert.That(t, len(would.Would) == 1 && would.Would[0].Field == "price_cents" && would.Would[0].Before == 175.0 &&
		would.Would[0].After == 200.0, "the dry run: %+v", would)
	says(t, "unchanged", s.MustCLI("store", "products", "show", "STICKER"), "1.75 USD")
}

func currenciesHaveTheirDecimals(t *testing.T, s *apptest.Fixture) {
	for currency, shown := range map[string]string{"JPY": "1234 JPY", "KWD": "1.234 KWD", "EUR": "12.34 EUR"} {
		o := sell(s, "--sku", "MUG", "--total", "1234", "--currency", currency)
		says(t, currency, s.MustCLI("store", "orders", "show", o.Ref), shown)
	}
	staff := s.Person("store", "curt", "member")
	for currency, typed := range map[string][3]string{
		"JPY": {"1200", "500", "total 1200 JPY, refunded 500\n"}, "KWD": {"1.234", "0,5", "total 1.234 KWD, refunded 0.500\n"}, "EUR": {"12.34", "5", "total 12.34 EUR, refunded 5.00\n"},
	} {
		email := strings.ToLower(currency) + "@typed.example"
		if got := staff.Post("/do/record_order", "email", email, "currency", currency, "lines.0.sku", "MUG", "lines.0.unit", typed[0], "total", typed[0]); got.Status != http.StatusSeeOther {
			t.Errorf("%s typed: %d %s", currency, got.Status, got.Body)
			continue
		}
		ref := strings.Split(s.MustCLI("store", "orders", "list", "--q", email, "--csv"), "\n")[1][:len("ORD-0123456789")]
		staff.Post("/do/refund_order", "order_ref", ref, "amount", typed[1], "confirm", "yes")
		says(t, currency+" typed", s.MustCLI("store", "orders", "show", ref), typed[2])
	}
	got := staff.Post("/do/record_order", "email", "yen@typed.example", "currency", "JPY", "sku", "MUG", "total", "12.50")
	assert.That(t, got.Status == http.StatusUnprocessableEntity, "a part of a yen: %d", got.Status)
}

// everyListIsPrinted prints each list and record as a table, JSON and CSV.
func everyListIsPrinted(t *testing.T, s *apptest.Fixture) {
	var orders struct {
		Orders []struct {
			Ref string `json:"order_ref"`
		}
	}
	s.Get("store", "/api/orders").JSON(t, &orders)
	for command, column := range map[string]string{
		"store orders list": "customer_email", "store orders show " + orders.Orders[0].Ref: "unit_cents", "store licenses list": "license_key", "store licenses show 1": "fingerprint",
		"store customers list": "paid_orders", "store customers show 1": "order_ref", "store products list": "tiers", "store products show MUG": "price_cents",
		"store batches list": "unused", "store batches show again": "unused", "store stats": "net_cents", "store unbooked": "mend",
		"store figures": "sold_cents", "store figures --by month": "month", "store figures --by product": "sku", "status": "figure",
		"reorder skus list": "unit_cost_cents", "reorder sales list": "qty", "reorder suppliers list": "min_order_cents", "reorder po list": "total_cents",
		"reorder report": "suggested_qty", "reorder figures": "value_cents",
	} {
		args := strings.Fields(command)
		if out := s.MustCLI(args...); out == "" && command != "store unbooked" {
			t.Errorf("%s prints nothing", command)
		}
		out := s.MustCLI(append(args, "--json")...)
		assert.That(t, json.Valid([]byte(out)), "%s --json: %s", command, out)
		head, _, _ := strings.Cut(s.MustCLI(append(args, "--csv")...), "\n")
		assert.Contains(t, ","+head+",", ","+column+",", "%s --csv: its header is %s", command, head)
	}
	s.MustCLI("store", "customer", "save", "sum@example.org", "--name", "=SUM(A1)")
	says(t, "a formula", s.MustCLI("store", "customers", "list", "--csv"), ",'=SUM(A1),")
	says(t, "a formula on a page's file", s.Person("store", "pia", "viewer").Get("/customers?format=csv").Body, "'=SUM(A1)")
}
