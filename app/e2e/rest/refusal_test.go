package rest

import (
	"strings"
	"testing"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestUnknownArguments: an unknown argument is refused by name, at any place and with any name.
func TestUnknownArguments(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	key := s.Keys["maintenance"]
	for _, c := range []struct {
		name, method, path, body string
		want                     string
	}{
		{"no name", "POST", "/api/work-orders", `{"":1,"asset_id":1,"description":"x"}`, `unknown field ""; the fields are asset_id`},
		{"no name before another", "POST", "/api/work-orders", `{"":{},"bogus":1,"asset_id":1,"description":"x"}`, `unknown field ""`},
		{"another before no name", "POST", "/api/work-orders", `{"bogus":1,"":{},"asset_id":1,"description":"x"}`, `unknown field "bogus"`},
		{"a parameter without a name", "GET", "/api/pm-due?=x", "", `unknown query parameter ""; the query parameters are status`},
		{"a parameter of no list", "GET", "/api/work-orders?=x&status=open", "", `unknown query parameter ""; the query parameters are status`},
		{"a parameter beside a body", "POST", "/api/work-orders?asset_id=1", `{"asset_id":1,"description":"x"}`,
			`unknown query parameter "asset_id"; this request takes none: send its fields in the body`},
		{"a parameter without a name beside a body", "POST", "/api/work-orders?=1", `{"asset_id":1,"description":"x"}`, `unknown query parameter ""`},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := s.Do("maintenance", c.method, c.path, key, c.body)
			if detail, _ := a.Map(t)["detail"].(string); a.Status != 422 || !strings.HasPrefix(detail, c.want) {
				t.Errorf("%d %s, want 422 and %s", a.Status, a.Body, c.want)
			}
		})
	}
	for args, want := range map[string]string{
		`{"":[1]}`: `unknown argument ""`, `{"":1,"overdue_only":true}`: `unknown argument ""`, `{"overdue_only":true,"x":1}`: `unknown argument "x"`,
	} {
		_, refusal := s.Tool("maintenance", "pm_due", args)
		assert.That(t, strings.HasPrefix(refusal, want), "%s: %q, want %s", args, refusal, want)
	}
}

func TestAllowNamesWhatIsAllowed(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	for path, want := range map[string]string{
		"/api/assets/1/readings": "POST", "/api/work-orders/1/status": "POST", "/api/pm-due": "GET, HEAD", "/api/work-orders": "GET, HEAD, POST",
	} {
		for _, method := range []string{"OPTIONS", "DELETE"} {
			a := s.Do("maintenance", method, path, s.Keys["maintenance"], "")
			detail, _ := a.Map(t)["detail"].(string)
			assert.That(t, a.Status == 405 && a.Header.Get("Allow") == want && strings.HasSuffix(detail, "allowed: "+want),
				"%s %s: %d, Allow %q, %q; want %q", method, path, a.Status, a.Header.Get("Allow"), detail, want)
		}
	}
}

// TestLimitIsCapped: a limit above the largest becomes the largest.
func TestLimitIsCapped(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	for limit, status := range map[string]int{
		"1": 200, "1000": 200, "1001": 200, "9223372036854775807": 200, "99999999999999999999": 200, "1e30": 200,
		"0": 422, "-1": 422, "-99999999999999999999": 422, "1.5": 422, "many": 422, "": 422,
	} {
		a := s.Get("maintenance", "/api/assets?limit="+limit)
		if a.Status != status || status == 422 && !strings.Contains(a.Body, "a whole number of at least 1; over 1000 is taken as 1000") {
			t.Errorf("limit=%s: %d %s, want %d", limit, a.Status, a.Body, status)
		}
	}
}

// TestControlCharacters: newline and tab are the only control characters that a text may contain, also beyond ASCII.
func TestControlCharacters(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t)
	for text, good := range map[string]bool{
		`a\tb\nc`: true, `a\u00a0b`: true, `a\u0000b`: false, `a\rb`: false, `a\u007fb`: false, `a\u0080b`: false, `a\u0085b`: false, `a\u009fb`: false,
	} {
		a := s.Post("maintenance", "/api/work-orders", `{"asset_id":1,"description":"`+text+`"}`)
		assert.That(t, good == (a.Status == 404) && (good ||
			strings.Contains(a.Body, "description holds a control character")), "%s: %d %s", text, a.Status, a.Body)
	}
}
