package store

import (
	"encoding/json"
	"slices"
	"sort"
	"strings"
	"testing"

	"quartermaster/schema"
	"quartermaster/schema/assert"
	"quartermaster/schema/db"
	"quartermaster/schema/fault"
	"quartermaster/schema/strict"
)

func TestSurface(t *testing.T) {
	d := newFixture(t).Declare()
	var got, tools []string
	for _, op := range d.Ops {
		line := op.Route
		if op.Public {
			line += " open"
		}
		if op.Writes {
			line += " writes"
		}
		if op.Route != "" {
			got = append(got, line)
		}
		assert.That(t, op.Name != "", "%s has no name", op.Route)
		if op.Tool != "" {
			var args []string
			for _, a := range op.Args(schema.Tool) {
				args = append(args, a.Name)
			}
			tools = append(tools, strings.TrimSpace(op.Tool+" "+strings.Join(args, " ")))
		}
		assert.That(t, op.About != "" && op.Response != nil, "%s is not told whole", op.Route)
	}
	want := []string{
		"GET /api/orders", "GET /api/orders/:ref", "GET /api/customers", "GET /api/licenses", "GET /api/redeem-codes",
		"POST /api/redeem-codes writes", "GET /api/stats",
		"POST /license/check open", "POST /license/activate open writes", "POST /license/deactivate open writes",
		"POST /license/activations open", "POST /license/redeem open writes",
		"POST /license/file open writes", "GET /license/keys open", "POST /providers/stripe/webhook open writes", "POST /providers/lemonsqueezy/webhook open writes", "POST /providers/polar/webhook open writes",
		"POST /v1/licenses/activate open writes", "POST /v1/licenses/validate open", "POST /v1/licenses/deactivate open writes",
	}
	equal(t, "operations", strings.Join(got, "\n"), strings.Join(want, "\n"))
	equal(t, "tools", strings.Join(tools, "\n"), strings.Join([]string{
		"list_orders q customer_id customer status provider from to sort limit after detail",
		"find_customer q sort limit after detail",
		"needs_attention",
		"license_action license customer_id customer action until seat request_key",
		"refund_order order amount_cents reason request_key",
		"resend_order order request_key",
		"customer_detail customer_id customer limit after detail",
		"list_subscriptions q state provider sort limit after detail",
		"revenue_report from to by sort limit after detail",
	}, "\n"))
	var names []string
	for _, e := range d.Events {
		names = append(names, e.Name)
	}
	equal(t, "events", strings.Join(names, " "), "order.paid order.refunded code.redeemed license.activated")
	equal(t, "versions", d.Ping+d.Health+d.Document, "4.1.04.1.04.1.0")
}

// call calls an operation as REST does.
func (s *fixture) call(route, path, body string, query map[string][]string, who db.Caller) (any, error) {
	s.T.Helper()
	i := slices.IndexFunc(s.ops(), func(op schema.Op) bool { return op.Route == route })
	assert.Must(s.T, i >= 0, "no operation %s", route)
	in := schema.Input{
		Surface: schema.REST, Path: func(string) string { return path }, Query: query,
		Header: func(string) string { return "" }, Remote: "192.0.2.1", Raw: []byte(body),
	}
	if body != "" {
		v, err := strict.Parse([]byte(body), strict.MaxDepth)
		assert.OK(s.T, err)
		in.Body, in.HasBody = v, true
	}
	do, err := s.ops()[i].Decode(in)
	if err != nil {
		return nil, err
	}
	return do(background, who)
}

func TestEventsMatchTheirSchema(t *testing.T) {
	s := newFixture(t)
	l := s.license("PLUGIN")
	val(s.activate(l.Key, "m"))
	val(s.redeem(s.mint(1, "launch").Codes[0], "a@b.c"))
	val(do3(s, cli, refundOrder, l.OrderRef, nil, ""))
	told := map[string]string{}
	for _, e := range s.Declare().Events {
		told[e.Name] = members(t, []byte(asJSON(e.Data)))
	}
	for _, e := range s.events() {
		equal(t, e.Event, members(t, e.Data), told[e.Event])
		delete(told, e.Event)
	}
	equal(t, "events that did not happen", len(told), 0)
}

// members lists every path of names in a JSON object.
func members(t *testing.T, raw []byte) string {
	t.Helper()
	var v any
	assert.OK(t, json.Unmarshal(raw, &v))
	var paths []string
	var walk func(at string, v any)
	walk = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, inner := range v {
				paths = append(paths, at+"."+name)
				walk(at+"."+name, inner)
			}
		case []any:
			if len(v) > 0 {
				walk(at, v[0])
			}
		}
	}
	walk("", v)
	sort.Strings(paths)
	return strings.Join(paths, "\n")
}

func TestFieldsThatAreRefused(t *testing.T) {
	s := newFixture(t)
	for _, c := range []struct {
		route, body string
		query       map[string][]string
		says        string
	}{
		{"GET /api/orders", "", map[string][]string{"status": {"open"}}, "paid, refunded"},
		{"GET /api/orders", "", map[string][]string{"limit": {"0"}}, "limit"},
		{"GET /api/orders", "", map[string][]string{"after": {"x"}}, "after"},
		{"GET /api/orders", "", map[string][]string{"page": {"2"}}, "page"},
		{"GET /api/redeem-codes", "", map[string][]string{"status": {"used"}}, "unused, redeemed, void"},
		{"GET /api/stats", "", map[string][]string{"x": {"2"}}, "x"},
		{"POST /api/redeem-codes", `{"sku": "PLUGIN"}`, nil, "count"},
		{"POST /api/redeem-codes", `{"count": 1}`, nil, "sku"},
		{"POST /api/redeem-codes", `{"count": 2.5, "sku": "PLUGIN"}`, nil, "count"},
		{"POST /api/redeem-codes", `{"count": "2", "sku": "PLUGIN"}`, nil, "count"},
		{"POST /api/redeem-codes", `{"count": 1001, "sku": "PLUGIN"}`, nil, "1 to 1000"},
		{"POST /api/redeem-codes", `{"count": 1, "sku": "PLUGIN", "quantity": 2}`, nil, "quantity"},
		{"POST /license/check", `{}`, nil, "license_key"},
		{"POST /license/check", `{"license_key": 5}`, nil, "license_key"},
		{"POST /license/check", `{"license_key": ""}`, nil, "license_key"},
		{"POST /license/activate", `{"license_key": "x"}`, nil, "fingerprint"},
		{"POST /license/activate", `{"license_key": "x", "fingerprint": "` + strings.Repeat("f", 201) + `"}`, nil, "fingerprint"},
		{"POST /license/deactivate", `{"license_key": "x", "fingerprint": " "}`, nil, "fingerprint"},
		{"POST /license/redeem", `{"code": "x"}`, nil, "email"},
		{"POST /license/redeem", `{"code": "x", "email": "a at b"}`, nil, "email"},
	} {
		_, err := s.call(c.route, "", c.body, c.query, admin)
		if err == nil {
			t.Errorf("%s %s %v: was taken", c.route, c.body, c.query)
			continue
		}
		refused(t, err, fault.Invalid.String(), c.says)
	}
}
