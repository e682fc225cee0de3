package rest

import (
	"bytes"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// apiAnswer is an answer of the License API.
type apiAnswer struct {
	Activated, Valid, Deactivated *bool
	Error                         *string
	LicenseKey                    *struct {
		ID              int64 `json:"id"`
		Status, Key     string
		ActivationLimit *int64  `json:"activation_limit"`
		ActivationUsage int64   `json:"activation_usage"`
		CreatedAt       string  `json:"created_at"`
		ExpiresAt       *string `json:"expires_at"`
		TestMode        *bool   `json:"test_mode"`
	} `json:"license_key"`
	Instance *struct {
		ID, Name  string
		CreatedAt string `json:"created_at"`
	}
	Meta map[string]any

	status int
	raw    string
}

const uuidKey = "38b1460a-5104-4067-a91d-77b872934d51"

// TestLicenseAPIMatchesLemonSqueezy: a program that was built for Lemon Squeezy's License API changes only its
// host, since each body and answer is the same.
func TestLicenseAPIMatchesLemonSqueezy(t *testing.T) {
	t.Parallel()
	c := apptest.Start(t)
	c.MustCLI("store", "product", "save", "ECHO", "--name", "Tape Echo", "--activation-limit", "2", "--tiers", "pro")
	c.MustCLI("store", "provider", "map", "lemonsqueezy", "12345", "ECHO", "--tier", "pro", "--their-product-id", "4711")
	if code, _, told := c.Pipe("license_key,sku,tier,email,name,created_at,provider,provider_ref,expires_at,status\n"+
		uuidKey+",ECHO,pro,ann@example.com,Ann Lee,2025-03-01T10:00:00Z,lemonsqueezy,9,2099-01-01,active\n"+
		"expired-key,ECHO,,ann@example.com,,,,,2025-01-01,active\ndisabled-key,ECHO,,ann@example.com,,,,,2025-01-01,suspended\n", "import", "store", "licenses", "-"); code != 0 {
		t.Fatal(told)
	}
	post := func(path, kind, body string) (a apiAnswer) {
		t.Helper()
		r := assert.Value(http.Post(c.URL("store", "/v1/licenses/"+path), kind, strings.NewReader(body)))(t)
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		assert.Must(t, err == nil && json.Unmarshal(b, &a) == nil &&
			strings.HasPrefix(r.Header.Get("Content-Type"), "application/json"), "%s: %v: %s", path, err, b)
		a.status, a.raw = r.StatusCode, string(b)
		return a
	}
	form := func(pairs ...string) string {
		v := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			v.Set(pairs[i], pairs[i+1])
		}
		return v.Encode()
	}
	const urlencoded = "application/x-www-form-urlencoded"
	refused := func(what string, a apiAnswer, status int, text string) {
		t.Helper()
		if a.status != status || a.Error == nil || *a.Error != text || strings.Contains(a.raw, `"activated":true`) || strings.Contains(a.raw, `"valid":true`) {
			t.Errorf("%s: %d %s, want %d %s", what, a.status, a.raw, status, text)
		}
	}
	refused("off", post("validate", urlencoded, form("license_key", uuidKey)), 404, "Not Found.")
	refused("off, whatever is sent", post("activate", "text/plain", "x"), 404, "Not Found.")
	for _, method := range []string{"GET", "HEAD", "PUT", "DELETE", "OPTIONS"} {
		a := c.Do("store", method, "/v1/licenses/validate", "", "")
		assert.That(t, a.Status == 404 && a.Header.Get("Allow") == "", "%s while off: %d %v", method, a.Status, a.Header)
	}
	assert.Equal(t, c.MustCLI("store", "license-api", "on", "--store-id", "77"), "The License API is on, for store 77.\n",
		"on")

	a := post("activate", urlencoded, form("license_key", " "+strings.ToUpper(uuidKey)+" ", "instance_name", "Test", "nonsense", "1"))
	assert.Must(t, a.status == 200 && a.Activated != nil && *a.Activated && a.Error == nil && a.Instance != nil &&
		a.Instance.Name == "Test", "activate: %d %s", a.status, a.raw)
	k := a.LicenseKey
	assert.That(t, k.Status == "active" && k.Key == uuidKey && *k.ActivationLimit == 2 && k.ActivationUsage == 1 &&
		k.CreatedAt == "2025-03-01T10:00:00.000000Z" && *k.ExpiresAt == "2099-01-01T00:00:00.000000Z" && k.TestMode != nil &&
		!(*k.TestMode), "license_key: %s", a.raw)
	for name, want := range map[string]any{
		"store_id": 77.0, "order_id": 9.0, "product_id": 4711.0, "product_name": "Tape Echo", "variant_id": 12345.0, "variant_name": "pro",
		"customer_id": 1.0, "customer_name": "Ann Lee", "customer_email": "ann@example.com",
	} {
		assert.That(t, a.Meta[name] == want, "meta %s: %v, want %v", name, a.Meta[name], want)
	}
	if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(a.Instance.ID) {
		t.Errorf("instance id %s", a.Instance.ID)
	}
	var multi bytes.Buffer
	w := multipart.NewWriter(&multi)
	assert.Must(t, w.WriteField("license_key", uuidKey) == nil && w.WriteField("instance_name", "Test") == nil &&
		w.Close() == nil, "multipart")
	second := post("activate", w.FormDataContentType(), multi.String())
	assert.That(t, second.status == 200 && second.Instance.ID != a.Instance.ID && second.LicenseKey.ActivationUsage == 2,
		"each activation is a new seat: %s", second.raw)
	full := post("activate", "application/json", `{"license_key":"`+uuidKey+`","instance_name":"Third"}`)
	refused("full", full, 400, "This license key has reached the activation limit.")
	assert.That(t, full.LicenseKey != nil && full.Meta != nil && full.Instance == nil,
		"a refused activation: %s", full.raw)
	v := post("validate", "application/vnd.api+json", `{"license_key":"`+uuidKey+`","instance_id":"`+a.Instance.ID+`"}`)
	assert.That(t, v.status == 200 && *v.Valid && v.Instance != nil && v.Instance.ID == a.Instance.ID && v.Error == nil,
		"validate: %s", v.raw)
	if v := post("validate", "application/json; charset=utf-8", `{"license_key":"`+uuidKey+`","instance_id":null}`); !*v.Valid || !strings.Contains(v.raw, `"instance":null`) {
		t.Errorf("validate without an instance: %s", v.raw)
	}
	unknown := post("validate", urlencoded, form("license_key", "no-such-key"))
	refused("unknown key", unknown, 404, "license_key not found.")
	assert.That(t, strings.Contains(unknown.raw, `"license_key":null`) && strings.Contains(unknown.raw, `"meta":null`) &&
		!strings.Contains(unknown.raw, "no-such-key"), "unknown key: %s", unknown.raw)
	refused("unknown instance", post("validate", urlencoded, form("license_key", uuidKey, "instance_id", "x")), 404, "instance_id not found.")
	refused("no key", post("validate", urlencoded, ""), 422, "The license_key field is required.")
	refused("no name", post("activate", urlencoded, form("license_key", uuidKey)), 422, "The instance_name field is required.")
	refused("no instance", post("deactivate", urlencoded, form("license_key", uuidKey)), 422, "The instance_id field is required.")
	refused("expired", post("activate", urlencoded, form("license_key", "expired-key", "instance_name", "x")), 400, "This license key has expired.")
	refused("disabled before expired", post("activate", urlencoded, form("license_key", "disabled-key", "instance_name", "x")), 400, "This license key is disabled.")
	refused("expired, validated", post("validate", urlencoded, form("license_key", "expired-key")), 200, "license_key is expired.")
	refused("disabled, validated", post("validate", urlencoded, form("license_key", "disabled-key")), 200, "license_key is disabled.")
	for what, x := range map[string]struct {
		kind, body string
		status     int
	}{"media type": {"text/plain", "license_key=x", 415}, "broken JSON": {"application/json", "{", 400}, "too large": {urlencoded, strings.Repeat("x", 9000), 413}} {
		a := post("validate", x.kind, x.body)
		assert.That(t, a.status == x.status && a.Error != nil, "%s: %d %s", what, a.status, a.raw)
	}
	gone := post("deactivate", urlencoded, form("license_key", uuidKey, "instance_id", a.Instance.ID))
	assert.That(t, gone.status == 200 && *gone.Deactivated && gone.LicenseKey.ActivationUsage == 1 &&
		!strings.Contains(gone.raw, `"instance"`) && gone.Meta["order_id"] == 9.0, "deactivate: %s", gone.raw)
	refused("twice", post("deactivate", urlencoded, form("license_key", uuidKey, "instance_id", a.Instance.ID)), 404, "instance_id not found.")
	var limited apiAnswer
	for range 30 {
		if limited = post("validate", urlencoded, form("license_key", "guessed-key")); limited.status == 429 {
			break
		}
	}
	assert.That(t, limited.status == 429 && limited.Error != nil && limited.LicenseKey == nil,
		"wrong keys are counted: %d %s", limited.status, limited.raw)
	c.MustCLI("store", "license-api", "off")
	refused("off again", post("validate", urlencoded, form("license_key", uuidKey)), 404, "Not Found.")
}
