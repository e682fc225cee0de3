package agents

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"quartermaster/app/apptest"
	"slices"
	"strconv"
	"strings"
)

// spoil makes a request surely invalid and returns the statuses that may refuse it. A path without a record comes
// before the fields.
func (f *fuzzer) spoil(r *request, members []member) {
	unknown := []int{422, 404}
	if r.method == "GET" {
		join := "?"
		if strings.Contains(r.path, "?") {
			join = "&"
		}
		switch f.g.IntN(3) {
		case 0:
			r.path, r.want, r.spoiled = r.path+join+"nonsense=1", unknown, "unknown parameter"
		case 1:
			r.path, r.want, r.spoiled = r.path+join+"limit=%zz", unknown, "percent sign"
		default:
			r.path, r.want, r.spoiled = r.path+join+"x=1&x=2", unknown, "parameter twice"
		}
		return
	}
	if r.target.signed {
		return // the signature covers any body
	}
	switch f.g.IntN(11) {
	case 0:
		r.body, r.spoiled = objectText(append(members, member{"nonsense", "1"})), "unknown field"
		r.want = unknown
	case 1:
		f.missing(r, members)
	case 2:
		twice := append(slices.Clone(members), member{"same", "1"}, member{"same", "1"})
		r.body, r.want, r.spoiled = objectText(twice), []int{400}, "a name twice"
	case 3:
		r.body, r.want, r.spoiled = pick(f.g, []string{"[]", "null", "7", `"x"`, "true", "[" + r.body + "]"}), []int{400}, "no object"
	case 4:
		r.body, r.want, r.spoiled = r.body+pick(f.g, []string{"{}", "x", ",", "\x00", "]"}), []int{400}, "trailing data"
	case 5:
		r.body, r.want, r.spoiled = `{"a":"`+pick(f.g, []string{"\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80"})+`"}`, []int{400}, "invalid UTF-8"
	case 6:
		depth := pick(f.g, []int{32, 33, 10_000, 500_000})
		r.body, r.want, r.spoiled = `{"a":`+strings.Repeat("[", depth)+strings.Repeat("]", depth)+`}`, []int{400}, "nested too deep"
	case 7:
		r.body, r.want, r.spoiled = pick(f.g, []string{"{", `{"a"`, `{"a":}`, `{"a":1,}`, `{a:1}`, `{"a":01}`, `{"a":"` + "\n" + `"}`, "\ufeff{}", `{"a":+1}`, `{"a":.5}`, " "}), []int{400}, "no JSON"
	case 8:
		r.heads = append(r.heads, "Content-Type: "+pick(f.g, []string{"text/plain", "application/x-www-form-urlencoded", "application/json; charset=latin1", "multipart/form-data", "application/", "x"}))
		r.want, r.spoiled = []int{415}, "media type"
	case 9:
		r.path, r.want, r.spoiled = r.path+"?nonsense=1", unknown, "a query"
	case 10:
		r.heads = append(r.heads, "Idempotency-Key: "+strings.Repeat("k", 201))
		if r.target.writes && !r.target.open {
			r.body, r.want, r.spoiled = "{}", unknown, "Idempotency-Key too long"
		}
	}
}

// missing omits a required field.
func (f *fuzzer) missing(r *request, members []member) {
	required, _ := r.target.body["required"].([]any)
	if len(required) == 0 {
		return
	}
	name, _ := pick(f.g, required).(string)
	left := slices.DeleteFunc(slices.Clone(members), func(m member) bool { return m.name == name })
	r.body, r.want, r.spoiled = objectText(left), []int{422, 404}, name+" is missing"
}

// header is a value for one of the operation's own headers.
func (f *fuzzer) header(string) string {
	return pick(f.g, []string{"x", "t=1,v1=00", "t=,v1=", ",,,=", "t=99999999999999999999,v1=" + strings.Repeat("a", 64)})
}

// hint makes requests that would too seldom name the right record by chance.
func (f *fuzzer) hint(target *target, r *request, members []member) []member {
	if f.g.strange > 0 || f.g.one(2) {
		return members
	}
	switch target.path {
	case "/license/deactivate", "/license/file":
		if f.seat != nil { // without a product, which would have to be the license's
			members = append(slices.Clone(f.seat), slices.DeleteFunc(members, func(m member) bool {
				return m.name == "sku" || m.name == "license_key" || m.name == "fingerprint"
			})...)
		}
	case "/api/leases/{id}/payments":
		f.hintCharge(r, members)
	}
	return members
}

// hintCharge lets a payment pay an unpaid charge of the lease, which only a ledger shows.
func (f *fuzzer) hintCharge(r *request, members []member) {
	path := "/api/leases/" + strconv.Itoa(1+f.g.IntN(11))
	i := slices.IndexFunc(members, func(m member) bool { return m.name == "charge_id" })
	a := f.s.Get("rental", path+"/ledger")
	if a.Status != 200 || i < 0 {
		return
	}
	var ledger struct {
		Charges []struct {
			ID   int64
			Paid bool
		}
	}
	a.JSON(f.t, &ledger)
	for _, c := range ledger.Charges {
		if !c.Paid {
			r.path, members[i].value = path+"/payments", strconv.FormatInt(c.ID, 10)
			return
		}
	}
}

// remember keeps what a hint needs of a successful request.
func (f *fuzzer) remember(r request) {
	if r.target.path != "/license/activate" {
		return
	}
	var taken struct {
		LicenseKey  string `json:"license_key"`
		Fingerprint string `json:"fingerprint"`
	}
	if json.Unmarshal([]byte(r.body), &taken) == nil {
		f.seat = []member{{"license_key", apptest.JSONText(taken.LicenseKey)}, {"fingerprint", apptest.JSONText(taken.Fingerprint)}}
	}
}

// tillSecret signs as the fuzzer's payment providers.
const tillSecret = "whsec_fuzzed"

// stripeEvents describes Stripe's events, as far as the store reads them.
var stripeEvents = eventSchema(`{"type":"object","required":["id","type","data"],"properties":{
		"id":{"enum":["evt_1","evt_2","evt_3","evt_4","evt_5","evt_6","evt_7","evt_8","evt_9"]},
		"type":{"enum":["checkout.session.completed","checkout.session.completed","checkout.session.async_payment_succeeded","charge.refunded","charge.refunded","invoice.paid"]},
		"data":{"type":"object","required":["object"],"properties":{"object":{"type":"object","required":["id","payment_intent","payment_status","currency","amount_total","amount","amount_refunded","metadata","customer_details"],"properties":{
			"id":{"enum":["cs_1","cs_2","ch_1","ch_2"]},"payment_intent":{"enum":["pi_1","pi_2","pi_3","pi_4","pi_5","pi_6",null]},
			"payment_status":{"enum":["paid","paid","paid","unpaid","no_payment_required"]},"mode":{"enum":["payment","subscription"]},
			"currency":{"enum":["usd","eur","jpy","xxx"]},"amount_total":{"type":"integer","minimum":0,"maximum":100000},"amount":{"type":"integer","minimum":0,"maximum":100000},
			"amount_refunded":{"type":"integer","minimum":0,"maximum":100000},"refunded":{"type":"boolean"},"payment_link":{"enum":["plink_1",null]},
			"customer_details":{"type":"object","required":["email"],"properties":{"email":{"enum":["a@example.com","B@Example.com","no address"]},"name":{"type":"string"}}},
			"metadata":{"type":"object","properties":{"sku":{"type":"string"},"tier":{"type":"string"},"qty":{"enum":["1","2","0","x"]}}},
			"total_details":{"type":"object","properties":{"amount_discount":{"type":"integer"},"amount_tax":{"type":"integer"}}}
		}}}}}}`)

// sellerEvents describe the events of Lemon Squeezy and Polar, as far as the store reads them.
var sellerEvents = map[string]jsonSchema{
	"/providers/lemonsqueezy/webhook": eventSchema(`{"type":"object","required":["meta","data"],"properties":{
		"meta":{"type":"object","required":["event_name"],"properties":{"test_mode":{"type":"boolean"},"event_name":{"enum":["order_created","order_created",
			"order_refunded","subscription_created","subscription_updated","subscription_cancelled","subscription_expired","subscription_payment_success",
			"subscription_payment_failed","subscription_payment_refunded","license_key_created"]}}},
		"data":{"type":"object","required":["id","type","attributes"],"properties":{"id":{"enum":["1","2","3","4"]},"type":{"enum":["orders","subscriptions"]},
			"attributes":{"type":"object","required":["status","user_email","currency","total","tax","created_at","updated_at","first_order_item"],"properties":{
			"status":{"enum":["paid","paid","pending","refunded","active","past_due","cancelled","expired"]},"user_email":{"enum":["a@example.com","no address"]},
			"user_name":{"type":"string"},"currency":{"enum":["USD","EUR","JPY","XXX"]},"total":{"type":"integer","minimum":0,"maximum":100000},
			"tax":{"type":"integer"},"discount_total":{"type":"integer"},"refunded_amount":{"type":"integer"},"order_id":{"enum":[1,2,3,null]},
			"subscription_id":{"enum":[1,2,3]},"billing_reason":{"enum":["initial","renewal","updated"]},
			"created_at":{"enum":["2026-11-20T10:00:00.000000Z","x"]},"updated_at":{"enum":["2026-11-20T10:00:00.000000Z","2026-11-21T10:00:00.000000Z"]},
			"renews_at":{"enum":["2026-12-20T10:00:00.000000Z",null]},"ends_at":{"enum":["2026-12-20T10:00:00.000000Z",null]},
			"first_order_item":{"type":"object","properties":{"variant_id":{"enum":[555,556]},"quantity":{"enum":[1,2,0]},"product_name":{"type":"string"}}}
		}}}}}}`),
	"/providers/polar/webhook": eventSchema(`{"type":"object","required":["type","timestamp","data"],"properties":{
		"type":{"enum":["order.paid","order.paid","order.refunded","subscription.created","subscription.updated","subscription.canceled","subscription.revoked","other"]},
		"timestamp":{"enum":["2026-11-20T10:00:00Z","2026-11-21T10:00:00Z"]},
		"data":{"type":"object","required":["id","product_id","total_amount","tax_amount","currency","customer"],"properties":{
			"id":{"enum":["o_1","o_2","s_1","s_2"]},"product_id":{"enum":["prod_1","prod_2"]},"seats":{"enum":[1,2,null]},"total_amount":{"type":"integer"},
			"tax_amount":{"type":"integer"},"refunded_amount":{"type":"integer"},"refunded_tax_amount":{"type":"integer"},
			"currency":{"enum":["usd","eur","xxx"]},"customer":{"type":"object","properties":{"email":{"enum":["a@example.com","no address"]},"name":{"type":"string"}}},
			"billing_reason":{"enum":["purchase","subscription_create","subscription_cycle","subscription_update"]},"subscription_id":{"enum":["s_1","s_2",null]},
			"status":{"enum":["paid","active","past_due","canceled"]},"current_period_end":{"enum":["2026-12-20T10:00:00Z",null]},
			"cancel_at_period_end":{"type":"boolean"},"created_at":{"enum":["2026-11-20T10:00:00Z"]}
		}}}}`),
}

func eventSchema(text string) (s jsonSchema) {
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		panic(err)
	}
	return s
}

// sign makes a request a payment provider's: its event, mostly with a valid signature.
func (f *fuzzer) sign(r *request) {
	events, other := sellerEvents[r.target.path]
	if !other {
		events = stripeEvents
	}
	r.body = f.g.object(events)
	if f.g.one(6) {
		return // with random headers
	}
	at := strconv.FormatInt(f.s.Clock.Now().Unix(), 10)
	sum := func(before string) []byte {
		mac := hmac.New(sha256.New, []byte(tillSecret))
		mac.Write([]byte(before + r.body))
		return mac.Sum(nil)
	}
	switch r.target.path {
	case "/providers/lemonsqueezy/webhook":
		r.heads = []string{"X-Signature: " + hex.EncodeToString(sum(""))}
	case "/providers/polar/webhook":
		id := "msg_" + strconv.Itoa(f.g.IntN(9))
		r.heads = []string{"webhook-id: " + id, "webhook-timestamp: " + at, "webhook-signature: v1," + base64.StdEncoding.EncodeToString(sum(id+"."+at+"."))}
	default:
		r.heads = append(r.heads, "Stripe-Signature: t="+at+",v1="+hex.EncodeToString(sum(at+".")))
	}
}
