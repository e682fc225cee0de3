package rest

import (
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// secret is a planted secret, with the only places that may hold it.
type secret struct {
	what, value string
	may         []string
}

// secretsDay is a day's work with secrets, and the places where they may appear.
type secretsDay struct {
	*apptest.Fixture
	t      *testing.T
	all    []secret
	places map[string]string
}

// mark makes a unique word and notes it as a secret.
func (d *secretsDay) mark(what string, may ...string) string {
	word := "mark" + strings.ToLower(rand.Text())
	d.keep(what, word, may...)
	return word
}

func (d *secretsDay) keep(what, value string, may ...string) {
	d.all = append(d.all, secret{what, value, may})
}

// note adds to a place.
func (d *secretsDay) note(place, text string) { d.places[place] += text + "\n" }

// ask sends a request and keeps a refusal.
func (d *secretsDay) ask(service, method, path, key, body string, heads ...string) apptest.Answer {
	d.t.Helper()
	a := d.Do(service, method, path, key, body, heads...)
	if a.Status >= 400 {
		d.note("refusals", a.Body)
		for name, values := range a.Header {
			d.note("refusals", name+": "+strings.Join(values, ", "))
		}
	}
	return a
}

// run runs a command and keeps its output, with stderr as part of the log.
func (d *secretsDay) run(place string, args ...string) string {
	d.t.Helper()
	_, out, errs := d.CLI(append([]string{"--log-level", "debug"}, args...)...)
	d.note("log", errs)
	if place != "" {
		d.note(place, out)
	}
	return out
}

const backup = "backup"

// licensesOut is the one export with keys: it is for admins who typed their password.
const licensesOut = "the export of licenses"

// TestSecretsStayWhereTheyBelong plants every kind of secret, does a day's work with them at the highest log level,
// failures included, and searches everything that the appliance writes and answers.
func TestSecretsStayWhereTheyBelong(t *testing.T) {
	t.Parallel()
	d := &secretsDay{t: t, places: map[string]string{}}
	d.Fixture = apptest.StartFilled(t, "--log-level", "debug", "--metrics-addr", "127.0.0.1:0", "--webhook-allow-private")
	for service, key := range d.Keys {
		d.keep("the API key of "+service, key)
		d.keep("the API key's digits of "+service, strings.TrimPrefix(key, "apk_"))
	}
	receiver := d.receivers()
	d.keysAndRefusals()
	d.storesDay()
	d.othersDay()
	d.rawRequests()
	d.delivered(receiver)
	d.collect()
	d.Down() // what is written at the stop counts too
	d.note("log", d.Log.String())
	for _, path := range []string{d.Path, d.Path + "-wal", d.Path + "-shm", filepath.Join(filepath.Dir(d.Path), backup)} {
		b, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		d.note("database", string(b))
	}
	d.search()
}

// search looks for every secret in every place.
func (d *secretsDay) search() {
	d.t.Helper()
	for _, place := range []string{"log", "metrics", "refusals", "audit", "exports", "doctor", "webhooks", "deliveries", "keys", "events", "database"} {
		assert.That(d.t, d.places[place] != "", "the place %s is empty", place)
	}
	for _, s := range d.all {
		for place, text := range d.places {
			i := strings.Index(text, s.value)
			switch {
			case i >= 0 && !slices.Contains(s.may, place):
				d.t.Errorf("%s has %s: ...%s...", place, s.what, text[max(0, i-100):min(len(text), i+len(s.value)+40)])
			case i < 0 && slices.Contains(s.may, place):
				d.t.Errorf("%s lacks %s, so that nothing is proven", place, s.what)
			}
		}
	}
}

// receivers adds one receiver that accepts everything and others that fail in every way, all with tokens in their URLs.
func (d *secretsDay) receivers() *apptest.Receiver {
	d.t.Helper()
	good := apptest.Receive(d.t)
	dead := assert.Value(net.Listen("tcp", "127.0.0.1:0"))(d.t)
	refusing := "http://" + dead.Addr().String()
	dead.Close()
	odd := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "/elsewhere?"+r.URL.RawQuery)
		w.WriteHeader(http.StatusFound)
		_, _ = io.WriteString(w, r.URL.String()) // a receiver that repeats its request
	}))
	d.t.Cleanup(odd.Close)
	for _, service := range []string{"store", "maintenance", "rental", "reorder"} {
		for _, base := range []string{good.URL, refusing, odd.URL, "http://receiver.invalid", "https://" + strings.TrimPrefix(odd.URL, "http://"), "http://169.254.169.254"} {
			given := d.mark("an endpoint's secret", "database")
			url := base + "/" + d.mark("a token in a URL's path", "webhooks", "database") + "?token=" + d.mark("a token in a URL's query", "webhooks", "database")
			d.MustCLI("webhook", "add", "--service", service, "--url", url, "--secret", given)
		}
	}
	var made struct {
		ID     int64
		Secret string
	}
	apptest.Answer{Body: d.MustCLI("webhook", "add", "--service", "rental", "--url", good.URL, "--json")}.JSON(d.t, &made)
	d.keep("a generated secret", made.Secret, "database")
	apptest.Answer{Body: d.MustCLI("webhook", "rotate", fmt.Sprint(made.ID), "--json")}.JSON(d.t, &made)
	d.keep("a rotated secret", made.Secret, "database")
	for _, wrong := range []string{"ftp://", "http://user:" + d.mark("a URL's password") + "@", "http://\x7f", "http://[::1", "http://%zz"} {
		d.run("", "webhook", "add", "--service", "rental", "--url", wrong+"example.com/"+d.mark("a refused URL's path")+"?t="+d.mark("a refused URL's query"))
	}
	return good
}

// keysAndRefusals uses keys in every way that is refused.
func (d *secretsDay) keysAndRefusals() {
	d.MustCLI("user", "add", "kim", "--role", "member")
	key := strings.TrimSpace(d.MustCLI("key", "create", "--service", "reorder", "--user", "kim", "--label", "a label"))
	d.keep("a new API key", key)
	d.ask("reorder", "GET", "/api/ping", key, "")
	d.MustCLI("key", "revoke", apptest.KeyIDOf(d.Fixture, "kim", "reorder"))
	unknown := "apk_" + strings.ToLower(rand.Text() + rand.Text())[:40]
	d.keep("an unknown API key", unknown)
	var address apptest.From
	for _, service := range []string{"store", "maintenance", "rental", "reorder"} {
		for _, header := range []string{"Bearer " + unknown, "Bearer " + key, "Basic " + d.mark("a password"), d.mark("a bare key"), "Bearer " + strings.Repeat(d.mark("a long key"), 20)} {
			d.ask(service, "GET", "/api/ping", "", "", "Authorization: "+header, address.Next())
			d.ask(service, "POST", "/mcp", "", "{}", "Authorization: "+header, address.Next())
		}
		full := d.Keys[service]
		d.ask(service, "GET", "/api/ping?key="+full, "", "")
		d.ask(service, "GET", "/api/ping?access_token="+full, full, "")
		// the refusal shows the caller its own path
		d.Do(service, "GET", "/api/"+full, full, "", "Cookie: session="+d.mark("a cookie"))
		d.ask(service, "POST", "/api/nothing?token="+d.mark("a token in a query"), full, d.mark("a body nobody reads"))
		d.ask(service, "GET", "/api/openapi.json", "", "", "X-Request-Id: not one "+d.mark("what is no request id"))
	}
}

var licenseKey = regexp.MustCompile(`[0-9A-Z]{5}(-[0-9A-Z]{5}){4}`)

// storesDay sells, mints and redeems.
func (d *secretsDay) storesDay() {
	d.t.Helper()
	key := d.Keys["store"]
	d.MustCLI("store", "provider", "set", "stripe", "--secret", "whsec_"+d.mark("the payment provider's secret", "database"))
	d.ask("store", "POST", "/providers/stripe/webhook", "", `{"id":"`+d.mark("an unsigned event")+`"}`, "Stripe-Signature: t=1,v1="+d.mark("a signature"))
	minted := d.ask("store", "POST", "/api/redeem-codes", key, `{"count":5,"sku":"PLUGIN","batch":"secrets"}`, "Idempotency-Key: "+d.mark("an Idempotency-Key", "database"))
	var batch struct{ Codes []string }
	minted.JSON(d.t, &batch)
	assert.Must(d.t, len(batch.Codes) == 5, "%v", minted.Body)
	for _, code := range batch.Codes {
		d.keep("a redeem code", code)
		d.keep("a redeem code in one word", strings.ReplaceAll(code, "-", ""))
	}
	var redeemed struct {
		License struct {
			LicenseKey string `json:"license_key"`
		}
	}
	redeem := `{"code":"` + batch.Codes[0] + `","email":"` + d.mark("a buyer's address", "database", "exports", "events", licensesOut) + `@example.com"}`
	d.ask("store", "POST", "/license/redeem", "", redeem).JSON(d.t, &redeemed)
	d.ask("store", "POST", "/license/redeem", "", redeem) // again
	d.ask("store", "POST", "/license/redeem", "", `{"code":"`+d.mark("a code that is none")+`","email":"a@example.com"}`)
	out := d.run("", "store", "order", "record", "--email", "b@example.com", "--sku", "PLUGIN", "--json")
	keys := licenseKey.FindAllString(redeemed.License.LicenseKey+" "+out, -1)
	assert.Must(d.t, len(keys) == 2, "license keys %v out of %s", keys, out)
	d.keep("a redeemed license key", keys[0], "database", licensesOut)
	d.keep("a sold license key", keys[1], "database", "events", licensesOut) // order.paid: the receiver mails it
	for _, license := range keys {
		for _, path := range []string{"activate", "check", "deactivate", "deactivate", "activations"} {
			body := `{"license_key":"` + license + `","fingerprint":"fp"}`
			if path == "activations" {
				body = `{"license_key":"` + license + `"}`
			}
			d.ask("store", "POST", "/license/"+path, "", body)
		}
		d.ask("store", "POST", "/license/activate", "", `{"license_key":"`+license+`","fingerprint":7}`)
		d.Do("store", "POST", "/license/"+license, "", "{}") // these refusals show the caller its own path
		d.ask("store", "GET", "/api/licenses?sku="+license, key, "")
		d.Do("store", "GET", "/api/orders/"+license, key, "")
	}
	d.ask("store", "POST", "/license/check", "", `{"license_key":"`+d.mark("a license key that is none")+`"}`)
}

// othersDay writes bodies with secrets in them, accepted and refused.
func (d *secretsDay) othersDay() {
	d.t.Helper()
	word := func(what string) string { return d.mark(what, "database", "audit", "exports", "events") }
	post := func(service, path, body string, heads ...string) {
		d.t.Helper()
		d.ask(service, "POST", path, d.Keys[service], body, heads...)
	}
	idem := "Idempotency-Key: " + d.mark("another Idempotency-Key", "database")
	post("maintenance", "/api/work-orders", `{"asset_id":1,"description":"`+word("a description")+`"}`, idem)
	post("rental", "/api/maintenance", `{"unit_id":1,"title":"`+word("a title")+`"}`)
	d.Tool("maintenance", "create_workorder", `{"asset_id":1,"description":"`+word("an agent's text")+`"}`)
	for _, body := range []string{
		`{"asset_id":1,"description":"%s","secret":1}`, `{"asset_id":1,"description":"%s"`, `{"asset_id":"%s","description":"x"}`, `{"asset_id":9999,"description":"%s"}`,
	} {
		post("maintenance", "/api/work-orders", strings.Replace(body, "%s", d.mark("a refused body"), 1))
	}
	post("rental", "/api/maintenance/1/status", `{"status":"open","note":"`+d.mark("an unknown field")+`"}`)
	d.Tool("rental", "create_ticket", `{"unit_id":1,"title":["`+d.mark("an agent's nested text")+`"]}`)
	d.Tool("reorder", "adjust_stock", `{"sku":"`+d.mark("an agent's unknown SKU")+`","delta":1}`)
	d.ask("reorder", "GET", "/api/skus?q="+d.mark("a search"), d.Keys["reorder"], "")
	d.ask("reorder", "POST", "/api/sales-history", d.Keys["reorder"], `{"rows":[{"date":"2026-11-19","sku":"`+d.mark("a refused row")+`","qty":1}]}`)
	d.Tool("reorder", "adjust_stock", `{"sku":"TEA-EARLGREY-100","set_to":0,"reason":"alarm"}`)
}

// rawRequests are refused, or may be logged, by net/http itself.
func (d *secretsDay) rawRequests() {
	d.t.Helper()
	for _, text := range []string{
		"GET /?token=%s HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\nAuth %s\r\n\r\n", "%s\r\n\r\n", "\x16\x03\x01%s\r\n\r\n",
		"POST /api/work-orders HTTP/1.1\r\nHost: x\r\nContent-Length: %s\r\n\r\n", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: %s\r\n\r\n",
		"GET /%%zz%s HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.1\r\nHost: %s\xff\r\nX: \x01\r\n\r\n",
	} {
		conn, err := net.Dial("tcp", d.Server.Addr("maintenance"))
		assert.OK(d.t, err)
		_, err = fmt.Fprintf(conn, text, d.mark("a request that is none"))
		assert.OK(d.t, err)
		b := assert.Value(io.ReadAll(conn))(d.t)
		conn.Close()
		d.note("refusals", string(b))
	}
}

// delivered waits until no delivery is pending, resends failed ones, and keeps what arrived.
func (d *secretsDay) delivered(good *apptest.Receiver) {
	d.t.Helper()
	quiet := func() bool {
		out := d.MustCLI("webhook", "deliveries", "--limit", "1000", "--json")
		return !strings.Contains(out, `"pending"`) && !strings.Contains(out, `"sending"`)
	}
	apptest.Await(d.t, "every delivery to be tried", quiet)
	d.run("deliveries", "webhook", "resend", "--failed", "--webhook-allow-private")
	apptest.Await(d.t, "every resend to be tried", quiet)
	for _, e := range good.All() {
		d.note("events", e.Body)
	}
}

// collect reads everything that the appliance shows its operator.
func (d *secretsDay) collect() {
	d.t.Helper()
	d.run("webhooks", "webhook", "list", "--json")
	d.run("webhooks", "webhook", "list")
	d.run("deliveries", "webhook", "deliveries", "--limit", "1000")
	d.run("deliveries", "webhook", "deliveries", "--limit", "1000", "--json")
	for _, as := range [][]string{nil, {"--json"}} {
		d.run("audit", append([]string{"audit", "--limit", "1000"}, as...)...)
		d.run("doctor", append([]string{"doctor"}, as...)...)
		d.run("keys", append([]string{"key", "list"}, as...)...)
		d.run("keys", append([]string{"user", "list"}, as...)...)
		d.run("keys", append([]string{"migrate", "status"}, as...)...)
	}
	for _, service := range d.Server.Declared() {
		for _, table := range service.Tables {
			place := "exports"
			if table.Secret {
				place = "the export of " + table.Name
			}
			d.run(place, "export", service.Name, table.Name)
		}
	}
	resp := assert.Value(http.Get("http://" + d.Server.Addr("metrics") + "/metrics"))(d.t)
	defer resp.Body.Close()
	b := assert.Value(io.ReadAll(resp.Body))(d.t)
	d.note("metrics", string(b))
	d.MustCLI("backup", filepath.Join(filepath.Dir(d.Path), backup))
}

// TestOnlyWritersSeeLicenseKeys reads all answers of the services as every kind of permitted caller. Only a full-access
// key of a member or an admin sees a whole license key.
func TestOnlyWritersSeeLicenseKeys(t *testing.T) {
	t.Parallel()
	s := apptest.StartFilled(t)
	for _, service := range s.Server.Declared() {
		for _, c := range apptest.CallersOf(s, service.Name) {
			seen := 0
			for _, op := range service.Ops {
				if !c.Reads || op.Public || op.Method() != http.MethodGet {
					continue
				}
				path := samplePath(op)
				if strings.HasSuffix(op.Path(), "/:ref") {
					path = strings.TrimSuffix(op.Path(), ":ref") + orderRef(s)
				}
				a := s.Do(service.Name, "GET", path, "", "", "Authorization: "+c.Header)
				assert.Must(t, a.Status == 200, "%s: %d %s", path, a.Status, a.Body)
				seen += len(licenseKey.FindAllString(a.Body, -1))
			}
			assert.That(t, (seen > 0) == (c.Writes && service.Name == "store"),
				"%s %s sees %d license keys", service.Name, c.Name, seen)
		}
	}
}

// orderRef is an order with licenses.
func orderRef(s *apptest.Fixture) string {
	s.T.Helper()
	var list struct {
		Licenses []struct {
			OrderRef string `json:"order_ref"`
		}
	}
	s.Get("store", "/api/licenses").JSON(s.T, &list)
	return list.Licenses[0].OrderRef
}
