package rest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"quartermaster/app/apptest"
	"quartermaster/schema/assert"
)

// TestOlderDatabaseGivesTheSameAnswers: this program answers and exports a database of an older version exactly as that
// version did, to the cent and the second, and continues from there.
func TestOlderDatabaseGivesTheSameAnswers(t *testing.T) {
	t.Parallel()
	script := assert.Value(os.ReadFile("../../../testdata/released/before-month.sql"))(t)
	golden := assert.Value(os.ReadFile("../../../testdata/released/before-month.json"))(t)
	var told map[string]any
	assert.OK(t, json.Unmarshal(golden, &told))
	now, _ := told["now"].(float64)
	s := &apptest.Fixture{T: t, Path: filepath.Join(t.TempDir(), "shop.db"), Clock: &apptest.Clock{}, Log: &apptest.Buffer{}, Keys: map[string]string{}}
	s.Clock.Set(time.Unix(int64(now), 0).UTC())
	c := assert.Value(sqlite.OpenConn(s.Path, sqlite.OpenReadWrite|sqlite.OpenCreate))(t)
	assert.OK(t, sqlitex.ExecuteScript(c, string(script), nil))
	assert.OK(t, c.Close())
	s.Up()
	defer s.Down()
	for _, service := range []string{"store", "reorder"} {
		s.Keys[service] = s.Key(service, "old", "admin", "full")
	}
	answers, exports := 0, 0
	for name, was := range told {
		words := strings.Fields(name)
		switch words[0] {
		case "GET":
			var is any
			s.Get(words[1], words[2]).JSON(t, &is)
			told, _ := json.Marshal(was)
			got := gone(was, is, "")
			assert.That(t, got == "", "%s: %s\nwas %s", name, got, told)
			answers++
		case "export":
			text, _ := was.(string)
			sameColumns(t, name, s.MustCLI(words...), text)
			exports++
		case "reorder":
			var is any
			apptest.Answer{Body: s.MustCLI("reorder", "po", "list", "--json")}.JSON(t, &is)
			assert.Equal(t, gone(was, is, ""), "", "%s", name)
		}
	}
	assert.That(t, answers >= 18 && exports == 6, "only %d answers and %d exports were compared", answers, exports)
	unbooked := func(want ...string) {
		t.Helper()
		code, out, errs := s.CLI("doctor")
		for _, w := range want {
			assert.Contains(t, out+errs, w, "doctor")
		}
		lines := strings.Count(out+errs, "could not be booked")
		assert.That(t, lines == len(want) && (code != 0) == (len(want) > 0), "doctor: exit %d: %s%s", code, out, errs)
	}
	unbooked("pi_3")
	figuresAgreeWithStats(t, s)
	goesOn(t, s, told["code"])
	unbooked("pi_3")
}

// gone returns the first value of an old answer that the new one lacks or changed; new fields are ignored.
func gone(was, is any, at string) string {
	switch was := was.(type) {
	case map[string]any:
		now, _ := is.(map[string]any)
		for name, v := range was {
			if got := gone(v, now[name], at+"."+name); got != "" {
				return got
			}
		}
	case []any:
		now, _ := is.([]any)
		if len(now) != len(was) {
			return fmt.Sprintf("%s has %d entries, it had %d", at, len(now), len(was))
		}
		for i, v := range was {
			if got := gone(v, now[i], fmt.Sprintf("%s[%d]", at, i)); got != "" {
				return got
			}
		}
	default:
		if !reflect.DeepEqual(was, is) {
			return fmt.Sprintf("%s is %v, it was %v", at, is, was)
		}
	}
	return ""
}

// sameColumns compares an export with an older one, which may lack the last columns.
func sameColumns(t *testing.T, name, is, was string) {
	t.Helper()
	now, before := strings.Split(is, "\n"), strings.Split(was, "\n")
	if len(now) != len(before) {
		t.Errorf("%s: %d lines, it had %d", name, len(now), len(before))
		return
	}
	for i := range now {
		assert.That(t, strings.HasPrefix(now[i], before[i]), "%s: line %d is %s, it was %s", name, i+1, now[i], before[i])
	}
}

func figuresAgreeWithStats(t *testing.T, s *apptest.Fixture) {
	t.Helper()
	type row struct {
		Currency string
		Sold     int64 `json:"sold_cents"`
		Gross    int64 `json:"gross_cents"`
		Refunded int64 `json:"refunded_cents"`
		Net      int64 `json:"net_cents"`
	}
	var stats struct{ Revenue []row }
	s.Get("store", "/api/stats").JSON(t, &stats)
	for _, by := range []string{"day", "month", "product"} {
		var figures struct{ Rows, Totals []row }
		apptest.Answer{Body: s.MustCLI("store", "figures", "--by", by, "--json")}.JSON(t, &figures)
		sums := map[string]row{}
		for _, r := range figures.Rows {
			sum := sums[r.Currency]
			sums[r.Currency] = row{r.Currency, sum.Sold + r.Sold, 0, sum.Refunded + r.Refunded, sum.Net + r.Net}
		}
		assert.That(t, len(figures.Totals) == len(stats.Revenue),
			"by %s: %d totals of %d currencies", by, len(figures.Totals), len(stats.Revenue))
		for i, r := range stats.Revenue {
			want := row{r.Currency, r.Gross, 0, r.Refunded, r.Net}
			assert.That(t, sums[r.Currency] == want && (i >= len(figures.Totals) || figures.Totals[i] == want),
				"by %s in %s: rows %+v and the total %+v, stats %+v", by, r.Currency, sums[r.Currency], figures.Totals, r)
		}
	}
}

// goesOn finishes what was begun in the older program: a code is redeemed, a waiting refund meets its payment, refunds
// add up, a delivery arrives.
func goesOn(t *testing.T, s *apptest.Fixture, code any) {
	t.Helper()
	a := buyer(s, "/license/redeem", fmt.Sprintf(`{"code":%q,"email":"new@example.com"}`, code))
	assert.That(t, a.Status == 201, "its code: %d %s", a.Status, a.Body)
	const secret = "whsec_test"
	stripeTells(s, secret, stripeEvent(t, "session", "evt_later", map[string]any{
		"payment_intent": "pi_2", "currency": "eur", "metadata": map[string]any{"sku": "PLUGIN", "tier": "pro"},
	}))
	stripeTells(s, secret, `{"id":"evt_more","object":"event","type":"charge.refunded","data":{"object":{"id":"ch_1","payment_intent":"pi_1","currency":"eur","amount_refunded":2000}}}`)
	refunded := map[string]int64{}
	var list struct {
		Orders []struct {
			Ref   string `json:"provider_ref"`
			Cents int64  `json:"refunded_cents"`
		}
	}
	s.Get("store", "/api/orders?provider=stripe").JSON(t, &list)
	for _, o := range list.Orders {
		refunded[o.Ref] = o.Cents
	}
	want := map[string]int64{"pi_1": 2000, "pi_2": 555}
	assert.That(t, reflect.DeepEqual(refunded, want), "refunds are %v, want %v", refunded, want)
	s.MustCLI("reorder", "po", "receive", "PO-000001")
	figuresAgreeWithStats(t, s)
}
