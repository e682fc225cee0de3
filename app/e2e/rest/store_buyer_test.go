package rest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// storefront is a shop that sells one licensed product with two tiers and three seats, one product without license, and
// a license that lasts 30 days.
func storefront(t *testing.T, args ...string) *apptest.Fixture {
	t.Helper()
	s := apptest.Start(t, args...)
	const products = "sku,name,kind,price_cents,activation_limit,license_days,tiers,active\n" +
		"PLUGIN,Tape Echo,license,4900,3,,basic|pro,1\n" +
		"TRIAL,Trial,license,100,1,30,,1\n" +
		"MUG,Mug,other,900,,,,1\n"
	code, _, errs := s.Pipe(products, "import", "store", "products", "-")
	assert.Must(t, code == 0, "%v", errs)
	return s
}

type soldOrder struct {
	Ref      string `json:"order_ref"`
	Status   string
	Licenses []struct {
		ID  int64
		Key string `json:"license_key"`
	}
}

// sell records an order at the command line.
func sell(s *apptest.Fixture, args ...string) soldOrder {
	s.T.Helper()
	var o soldOrder
	if !slices.Contains(args, "--email") {
		args = append(args, "--email", "Ann@Example.org")
	}
	apptest.Answer{Body: s.MustCLI(append([]string{"store", "order", "record", "--json"}, args...)...)}.JSON(s.T, &o)
	return o
}

// buyer calls the buyer's interface, without an API key.
func buyer(s *apptest.Fixture, path, body string) apptest.Answer {
	s.T.Helper()
	return s.Do("store", "POST", path, "", body)
}

func TestCheckReportsInItsOrder(t *testing.T) {
	t.Parallel()
	s := storefront(t)
	o := sell(s, "--sku", "PLUGIN", "--tier", "pro")
	trial := sell(s, "--sku", "TRIAL")
	key := o.Licenses[0].Key
	check := func(body, want string) {
		t.Helper()
		a := buyer(s, "/license/check", body)
		m := a.Map(t)
		if a.Status != 200 || m["code"] != want || m["valid"] != (want == "valid") || m["detail"] == "" || (m["license"] == nil) != (want == "not_found" || want == "product_mismatch") {
			t.Errorf("check %s: %d %s, want %s", body, a.Status, a.Body, want)
		}
		assert.Lacks(t, strings.ToLower(a.Body), "example.org", "a check tells the customer: %s", a.Body)
	}
	written := strings.ToLower(strings.ReplaceAll(key, "-", " "))
	check(`{"license_key":"`+key+`"}`, "valid")
	check(`{"license_key":"`+written+`"}`, "valid")
	check(`{"license_key":"nonsense"}`, "not_found")
	check(`{"license_key":"`+key+`","sku":"TRIAL"}`, "product_mismatch")
	check(`{"license_key":"`+key+`","fingerprint":"laptop"}`, "not_activated")
	a := buyer(s, "/license/activate", `{"license_key":"`+key+`","fingerprint":"laptop","label":"Ann's"}`)
	assert.Must(t, a.Status == 201, "%v", a.Body)
	check(`{"license_key":"`+key+`","fingerprint":"laptop"}`, "valid")
	id := fmt.Sprint(o.Licenses[0].ID)
	s.MustCLI("store", "license", "suspend", id)
	check(`{"license_key":"`+key+`","fingerprint":"laptop"}`, "suspended")
	check(`{"license_key":"`+key+`","sku":"TRIAL"}`, "product_mismatch")
	for sku, want := range map[string]string{"TRIAL": "422 product_mismatch", "PLUGIN": "403 suspended"} {
		a := buyer(s, "/license/activate", `{"license_key":"`+key+`","fingerprint":"laptop","sku":"`+sku+`"}`)
		assert.Equal(t, fmt.Sprint(a.Status, " ", a.Map(t)["error"]), want, "activated for %s", sku)
	}
	s.MustCLI("store", "license", "resume", id)
	check(`{"license_key":"`+key+`"}`, "valid")
	s.MustCLI("store", "license", "revoke", id)
	check(`{"license_key":"`+key+`","fingerprint":"other"}`, "revoked")
	a = buyer(s, "/license/deactivate", `{"license_key":"`+key+`","fingerprint":"laptop"}`)
	assert.That(t, a.Status == 200, "a seat of a revoked license: %d %s", a.Status, a.Body)
	tk := trial.Licenses[0].Key
	s.Clock.Set(s.Clock.Now().AddDate(0, 0, 30))
	check(`{"license_key":"`+tk+`"}`, "expired")
	check(`{"license_key":"`+tk+`","sku":"PLUGIN"}`, "product_mismatch")
	if a := buyer(s, "/license/activate", `{"license_key":"`+tk+`","fingerprint":"x"}`); a.Status != 403 || a.Map(t)["error"] != "expired" {
		t.Errorf("an expired license activates: %d %s", a.Status, a.Body)
	}
	for _, act := range [][2]string{{"suspend", "suspended"}, {"revoke", "revoked"}} { // both come before expired
		s.MustCLI("store", "license", act[0], fmt.Sprint(trial.Licenses[0].ID))
		check(`{"license_key":"`+tk+`"}`, act[1])
	}
	for body, want := range map[string]int{`{}`: 422, `{"license_key":7}`: 422, `{"license_key":"x","extra":1}`: 422, `[]`: 400} {
		a := buyer(s, "/license/check", body)
		assert.That(t, a.Status == want, "%s: %d %s, want %d", body, a.Status, a.Body, want)
	}
}

func TestSeatsAreTakenOnceAndFreed(t *testing.T) {
	t.Parallel()
	s := storefront(t, "--webhook-allow-private")
	receiver := hook(s, "store", "license.activated")
	key := sell(s, "--sku", "PLUGIN", "--tier", "basic").Licenses[0].Key
	activate := func(print string) apptest.Answer {
		return buyer(s, "/license/activate", `{"license_key":"`+key+`","fingerprint":"`+print+`"}`)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	statuses := map[int]int{}
	for i := range 100 {
		wg.Go(func() {
			a := activate(fmt.Sprint("machine-", i))
			mu.Lock()
			defer mu.Unlock()
			statuses[a.Status]++
		})
	}
	wg.Wait()
	assert.Must(t, statuses[201] == 3 && statuses[409] == 97, "100 racing activations of 3 seats: %v", statuses)
	full := activate("one-more")
	if m := full.Map(t); m["error"] != "activation_limit" || fmt.Sprint(m["limit"], m["used"]) != "3 3" {
		t.Errorf("past the limit: %s", full.Body)
	}
	var seats struct {
		Activations []struct{ Fingerprint string }
	}
	buyer(s, "/license/activations", `{"license_key":"`+key+`"}`).JSON(t, &seats)
	assert.Must(t, len(seats.Activations) == 3, "%d seats", len(seats.Activations))
	mine := seats.Activations[0].Fingerprint
	a := activate(mine)
	assert.That(t, a.Status == 200 && a.Map(t)["already_activated"] == true, "a reinstall: %d %s", a.Status, a.Body)
	a = buyer(s, "/license/deactivate", `{"license_key":"`+key+`","fingerprint":"`+mine+`"}`)
	assert.That(t, a.Status == 200, "deactivate: %d %s", a.Status, a.Body)
	a = buyer(s, "/license/deactivate", `{"license_key":"`+key+`","fingerprint":"`+mine+`"}`)
	assert.That(t, a.Status == 404, "deactivate again: %d %s", a.Status, a.Body)
	a = activate("new-machine")
	assert.That(t, a.Status == 201, "the freed seat: %d %s", a.Status, a.Body)
	for range 4 {
		d := receiver.Next(t)
		assert.That(t, d.Header.Get("X-Store-Event") == "license.activated" && !strings.Contains(d.Body, key),
			"event %v %s", d.Header, d.Body)
	}
	s.MustCLI("doctor")
	assert.Equal(t, len(receiver.All()), 4, "events for 4 new seats")
}

func TestCodesAreMintedOnceAndRedeemedOnce(t *testing.T) {
	t.Parallel()
	s := storefront(t, "--webhook-allow-private")
	receiver := hook(s, "store", "")
	var minted struct {
		Batch, SKU string
		Count      int
		Codes      []string
	}
	body := `{"count":2,"sku":"PLUGIN","tier":"pro","batch":"launch"}`
	first := s.Do("store", "POST", "/api/redeem-codes", s.Keys["store"], body, "Idempotency-Key: mint-1")
	first.JSON(t, &minted)
	assert.Must(t, first.Status == 201 && len(minted.Codes) == 2 && minted.Batch == "launch",
		"%d %s", first.Status, first.Body)
	again := s.Do("store", "POST", "/api/redeem-codes", s.Keys["store"], body, "Idempotency-Key: mint-1")
	if m := again.Map(t); again.Status != 201 || len(m["codes"].([]any)) != 0 || again.Header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("a replay: %d %s", again.Status, again.Body)
	}
	for body, want := range map[string]int{
		`{"count":0,"sku":"PLUGIN","tier":"pro"}`: 422, `{"count":1001,"sku":"PLUGIN","tier":"pro"}`: 422, `{"count":1.5,"sku":"PLUGIN","tier":"pro"}`: 422,
		`{"count":1,"sku":"NOPE"}`: 422, `{"count":1,"sku":"MUG"}`: 422, `{"count":1,"sku":"PLUGIN","tier":"gold"}`: 422,
		`{"count":1,"sku":"PLUGIN","tier":"pro","batch":"a b"}`: 422, `{"count":1,"sku":"TRIAL","batch":"launch"}`: 409,
	} {
		a := s.Post("store", "/api/redeem-codes", body)
		assert.That(t, a.Status == want, "%s: %d %s, want %d", body, a.Status, a.Body, want)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	statuses := map[int]int{}
	var key string
	for i := range 50 {
		wg.Go(func() {
			a := buyer(s, "/license/redeem", fmt.Sprintf(`{"code":%q,"email":"Buyer%d@Example.org","name":"B"}`, strings.ToLower(minted.Codes[0]), i))
			mu.Lock()
			defer mu.Unlock()
			statuses[a.Status]++
			if a.Status == 201 {
				var won struct {
					License struct {
						Key string `json:"license_key"`
					}
					Order struct {
						Provider string
						Total    int64 `json:"total_cents"`
					}
				}
				a.JSON(t, &won)
				key = won.License.Key
				assert.That(t, won.Order.Provider == "code" && won.Order.Total == 0, "redeemed: %s", a.Body)
			}
		})
	}
	wg.Wait()
	assert.Must(t, statuses[201] == 1 && statuses[201]+statuses[409]+statuses[429] == 50,
		"50 racing redemptions of one code: %v", statuses)
	a := buyer(s, "/license/check", `{"license_key":"`+key+`"}`)
	assert.That(t, a.Map(t)["code"] == "valid", "the redeemed license: %s", a.Body)
	d := receiver.Next(t)
	assert.That(t, d.Header.Get("X-Store-Event") == "code.redeemed" && !strings.Contains(d.Body, minted.Codes[0]),
		"event %s %s", d.Header.Get("X-Store-Event"), d.Body)
	s.MustCLI("store", "codes", "void", "launch")
	var batches struct {
		Batches []struct{ Total, Unused, Redeemed, Void int }
	}
	s.Get("store", "/api/redeem-codes?batch=launch").JSON(t, &batches)
	assert.That(t, fmt.Sprint(batches.Batches) == "[{2 0 1 1}]", "batches: %v", batches.Batches)
	if out := s.MustCLI("export", "store", "orders") + s.MustCLI("audit", "--json", "--limit", "1000"); strings.Contains(out, minted.Codes[0]) || strings.Contains(out, minted.Codes[1]) {
		t.Error("a code stands in an export or in the audit trail")
	}
	s.MustCLI("doctor")
}

func TestGuessingIsSlowedAndRevealsNothing(t *testing.T) {
	t.Parallel()
	s := storefront(t)
	key := sell(s, "--sku", "PLUGIN", "--tier", "pro").Licenses[0].Key
	guess := func(i int) apptest.Answer {
		return buyer(s, "/license/check", fmt.Sprintf(`{"license_key":"AAAAA-BBBBB-CCCCC-DDDDD-%05d"}`, i))
	}
	for i := range 20 {
		a := guess(i)
		assert.Must(t, a.Status == 200 && a.Map(t)["code"] == "not_found", "guess %d: %d %s", i, a.Status, a.Body)
	}
	if a := guess(20); a.Status != http.StatusTooManyRequests || a.Header.Get("Retry-After") == "" || a.Map(t)["error"] != "rate_limited" {
		t.Errorf("the 21st: %d %s", a.Status, a.Body)
	}
	a := buyer(s, "/license/check", `{"license_key":"`+key+`"}`)
	assert.That(t, a.Status == 200 && a.Map(t)["code"] == "valid", "a valid key from there: %d %s", a.Status, a.Body)
}

// hook adds a receiver of one of the service's events, or of all if event is empty.
func hook(s *apptest.Fixture, service, event string) *apptest.Receiver {
	s.T.Helper()
	receiver := apptest.Receive(s.T)
	args := []string{"webhook", "add", "--service", service, "--url", receiver.URL, "--json"}
	if event != "" {
		args = append(args, "--event", event)
	}
	var made struct{ ID int64 }
	err := json.Unmarshal([]byte(s.MustCLI(args...)), &made)
	assert.Must(s.T, err == nil && made.ID != 0, "%v", err)
	return receiver
}
